#include "parquet/src/known_faults.h"

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace tamis::parquet {
namespace {

enum class Wrong : uint8_t {
  kBounds,    // values may be outside the bounds
  kPrefixes,  // values may be outside the bounds: see Statistics::prefixes_are_outside
  kNulls,     // the number of nulls may be wrong
};

struct Version {
  unsigned major = 0;
  unsigned minor = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

struct KnownFault {
  std::string_view writer;  // the first word of created_by
  Version first_sound;
  bool (*concerns)(const Column& column);
  Wrong wrong;
  const char* reason;
};

bool IsAnything(const Column&) { return true; }
bool IsBytes(const Column& column) { return column.physical == PhysicalType::kByteArray; }
bool IsFixedDecimal(const Column& column) {
  return column.physical == PhysicalType::kFixedLenByteArray &&
         column.logical.kind == LogicalType::Kind::kDecimal;
}
bool IsFloating(const Column& column) {
  return column.physical == PhysicalType::kFloat || column.physical == PhysicalType::kDouble;
}
bool IsUnsigned(const Column& column) {
  return column.logical.kind == LogicalType::Kind::kInteger && !column.logical.is_signed;
}

// Polars states its version since 2.0. tests/parquet/writers has a file for each row, and a file
// from the first version without the fault.
constexpr KnownFault kKnownFaults[] = {
    // Found in 1.10.0, 1.36.1 and 1.44.2; gone in 2.0.0.
    {"Polars",
     {2, 0},
     IsFixedDecimal,
     Wrong::kBounds,
     "Polars before 2.0 states wrong bounds for decimals of more than 18 digits"},
    // Found in 1.10.0 and 1.36.1: two bounds of pages are compared only up to the length of the
    // shorter bound. Gone in 1.37.0, but files of 1.37.0 do not state the version.
    {"Polars",
     {2, 0},
     IsBytes,
     Wrong::kPrefixes,
     "Polars up to 1.36 states bounds that exclude prefixes of the minimum, and values that begin "
     "with the maximum"},
    // https://github.com/pola-rs/polars/issues/29321. Found in 1.38.1 to 1.44.2: the nulls of a
    // column chunk are counted once for each of its pages.
    {"Polars",
     {2, 0},
     IsAnything,
     Wrong::kNulls,
     "Polars 1.38 to 1.44 counts nulls more than once"},
    // Found in 1.10.0, 1.36.1, 1.44.2 and 2.0.0: the bounds of pages are compared as signed
    // numbers.
    {"Polars",
     {2, 1},
     IsUnsigned,
     Wrong::kBounds,
     "Polars before 2.1 states wrong bounds for unsigned integers"},
    // Found in the same versions: a page that begins with not-a-number has no bounds.
    {"Polars",
     {2, 1},
     IsFloating,
     Wrong::kBounds,
     "Polars before 2.1 states wrong bounds for columns with not-a-number"},
    // Found in 10.0.1, with a dictionary of Arrow in two chunks; gone in 11.0.0.
    {"parquet-cpp-arrow",
     {11, 0},
     IsBytes,
     Wrong::kBounds,
     "Arrow before 11 states the bounds of only the first chunk of a dictionary"},
    // Older versions of Arrow have this name, and the same fault.
    {"parquet-cpp",
     {11, 0},
     IsBytes,
     Wrong::kBounds,
     "Arrow before 11 states the bounds of only the first chunk of a dictionary"},
};

// Removes a number from the start of `text` and returns it. Returns 0 if there is no number.
unsigned TakeNumber(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc{} ? number : 0;
}

// Returns 0.0, older than all versions, if the text contains no version.
Version VersionIn(std::string_view created_by) {
  constexpr std::string_view kWord = " version ";
  const size_t at = created_by.find(kWord);
  if (at == std::string_view::npos) return {};
  created_by.remove_prefix(at + kWord.size());
  Version version;
  version.major = TakeNumber(created_by);
  if (created_by.starts_with('.')) {
    created_by.remove_prefix(1);
    version.minor = TakeNumber(created_by);
  }
  return version;
}

bool Matches(const KnownFault& fault, std::string_view created_by) {
  return created_by.substr(0, created_by.find(' ')) == fault.writer &&
         VersionIn(created_by) < fault.first_sound;
}

}  // namespace

void IgnoreKnownFaults(std::string_view created_by, const Column& column, Statistics& statistics) {
  for (const KnownFault& fault : kKnownFaults) {
    if (!Matches(fault, created_by) || !fault.concerns(column)) continue;
    switch (fault.wrong) {
      case Wrong::kBounds:
        if (!statistics.min && !statistics.max) continue;
        statistics.min.reset();
        statistics.max.reset();
        break;
      case Wrong::kPrefixes:
        if (!statistics.min && !statistics.max) continue;
        statistics.prefixes_are_outside = true;
        break;
      case Wrong::kNulls:
        if (!statistics.nulls) continue;
        statistics.nulls.reset();
        break;
    }
    statistics.ignored.push_back(fault.reason);
  }
}

}  // namespace tamis::parquet
