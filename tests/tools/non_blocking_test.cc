// Standard streams that another process has made non-blocking.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tools/os/file.h"

namespace tamis::tools {
namespace {

using std::chrono::milliseconds;

class NonBlockingTest : public testing::Test {
 protected:
  NonBlockingTest() {
    EXPECT_EQ(pipe(ends_), 0);
    for (const int end : ends_) EXPECT_EQ(fcntl(end, F_SETFL, O_NONBLOCK), 0);
  }
  ~NonBlockingTest() override {
    for (const int end : ends_) close(end);
  }

  int ends_[2];
};

TEST_F(NonBlockingTest, Read_WithoutInput_Waits) {
  std::thread writer([&] {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(write(ends_[1], "key", 3), 3);
  });
  char bytes[8];
  EXPECT_EQ(os::Read(ends_[0], bytes, sizeof(bytes)), 3);
  writer.join();
}

TEST_F(NonBlockingTest, Write_WithoutRoom_Waits) {
  const std::string block(4096, 'x');
  while (write(ends_[1], block.data(), block.size()) > 0) {
  }
  std::thread reader([&] {
    std::this_thread::sleep_for(milliseconds(50));
    std::string room(size_t{1} << 20, '\0');
    EXPECT_GT(read(ends_[0], room.data(), room.size()), 0);
  });
  EXPECT_GT(os::Write(ends_[1], block.data(), block.size()), 0);
  reader.join();
}

}  // namespace
}  // namespace tamis::tools
