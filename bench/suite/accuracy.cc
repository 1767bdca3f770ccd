#include "bench/suite/accuracy.h"

#include "bench/suite/turns.h"
#include "bench/suite/verify.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kFprQueries = uint64_t{4} << 20;
constexpr uint64_t kBytes = uint64_t{3} << 19;  // 12 bits for each of 1 Mi keys
constexpr double kSizesInBitsPerKey[] = {6, 8, 10, 12, 14, 16, 20, 24};

}  // namespace

MeasuredFpr MeasureFpr(Subject& subject, Way way, SuiteKeys& keys, Answers& answers) {
  MeasuredFpr measured;
  uint64_t hits = 0;
  for (size_t i = 0; measured.queries < kFprQueries; ++i) {
    const Keys absent = keys.Absent(i);
    subject.Ask(Operation::kContains, absent, way, answers);
    hits += CountHits(subject, answers, absent.size());
    measured.queries += absent.size();
  }
  measured.fpr = static_cast<double>(hits) / static_cast<double>(measured.queries);
  return measured;
}

std::vector<Accuracy> MeasureAccuracy(Subject& subject, Way way) {
  Arena arena(ArenaBytes(kBytes));
  SuiteKeys keys(kBytes, 1);
  Answers answers(keys.num_queries(KeyType::kU64));
  std::vector<Accuracy> points;
  const auto measure = [&](double bits_per_key) {
    subject.Open(arena, kBytes);
    const double bits = 8 * static_cast<double>(subject.bytes());
    const uint64_t n =
        bits_per_key > 0 ? static_cast<uint64_t>(bits / bits_per_key) : subject.capacity();
    InsertIntegers(subject, keys, n, way);
    const MeasuredFpr measured = MeasureFpr(subject, way, keys, answers);
    points.push_back(
        {.kind = subject.kind(),
         .library = subject.library(),
         .bits_per_key = 8 * static_cast<double>(subject.bytes()) / static_cast<double>(n),
         .num_keys = n,
         .queries = measured.queries,
         .fpr = measured.fpr,
         .expected_fpr = subject.expected_fpr()});
    subject.Close();
  };
  if (subject.reinserts()) {
    for (const double bits : kSizesInBitsPerKey) measure(bits);
  } else {
    measure(0);
  }
  return points;
}

}  // namespace tamis::bench
