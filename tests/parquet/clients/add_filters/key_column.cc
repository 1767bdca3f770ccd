// Writes the keys of a column of a Parquet file, each followed by a NUL byte.
//
// Usage: key_column FILE COLUMN (counted from 0)
#include <tamis/error.h>
#include <tamis/parquet/arrow_values.h>
#include <tamis/parquet/key_column.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const tamis::parquet::KeyColumn keys = tamis::parquet::ReadKeyColumn(
        argv[1], std::stoul(argv[2]), tamis::parquet::OpenArrowValues);
    for (const std::string_view text : keys.texts()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fputc(0, stdout);
    }
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
