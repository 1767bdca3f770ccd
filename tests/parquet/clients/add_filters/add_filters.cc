// Adds filters like `tamis parquet add`, which may be built without Arrow.
//
// Usage: add_filters --column C[,D] [--fpr P] [--force] [--replace] FILE -o NEW
#include <tamis/error.h>
#include <tamis/parquet/add.h>
#include <tamis/parquet/arrow_values.h>

#include <cstdio>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  tamis::parquet::AddOptions options;
  std::string from, to;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--force") {
      options.force = true;
    } else if (word == "--replace") {
      options.replace = true;
    } else if (word == "--fpr" && i + 1 < argc) {
      options.fpr = std::stod(argv[++i]);
    } else if (word == "--column" && i + 1 < argc) {
      std::istringstream columns(argv[++i]);
      for (std::string column; std::getline(columns, column, ',');) {
        options.columns.push_back(column);
      }
    } else if (word == "-o" && i + 1 < argc) {
      to = argv[++i];
    } else {
      from = word;
    }
  }
  try {
    tamis::parquet::AddFilters(from, to, tamis::parquet::OpenArrowValues, options);
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
