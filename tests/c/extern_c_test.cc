// Includes the header within extern "C", as C++ programs do for C headers without their own.
extern "C" {
#include "tamis/c.h"
}

#include <gtest/gtest.h>

namespace tamis::extern_c_test {

TEST(CHeaderTest, WithinExternC) {
  auto options = TAMIS_INIT(tamis_filter_options);
  EXPECT_EQ(options.struct_bytes, sizeof(options));
  options.capacity = 10;
  tamis_filter* filter = nullptr;
  ASSERT_EQ(tamis_filter_create(TAMIS_SPLIT_BLOCK, &options, &filter), TAMIS_OK)
      << tamis_last_error();
  tamis_filter_free(filter);
}

}  // namespace tamis::extern_c_test
