// Defines the functions of parquet.cc if the library is built without Parquet. All of them fail.
#include "bindings/c/src/guard.h"
#include "tamis/c/parquet.h"

namespace {

template <typename Argument>
tamis_status Without(Argument* argument, const char* name) {
  return tamis::c::Guard([&] {
    tamis::c::Required(argument, name);
    tamis::c::Refuse("this library was built without Parquet", tamis::ErrorCode::kUnsupported);
  });
}

}  // namespace

struct tamis_parquet_pruner {};

tamis_status tamis_parquet_info_json(const char*, double, char** out) {
  return Without(out, "out");
}

tamis_status tamis_parquet_pruner_create(const tamis_keys*, const tamis_parquet_options*,
                                         tamis_parquet_pruner** out) {
  return Without(out, "out");
}

void tamis_parquet_pruner_free(tamis_parquet_pruner*) {}

tamis_status tamis_parquet_pruner_run(const tamis_parquet_pruner* pruner, const char* const*,
                                      uint64_t, tamis_parquet_take, void*) {
  return Without(pruner, "pruner");
}

tamis_status tamis_parquet_pruner_types_json(const tamis_parquet_pruner*, char** out) {
  return Without(out, "out");
}
