#include "bench/suite/beside_writer.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/suite/verify.h"
#include "bench/workload.h"

namespace tamis::bench {

std::function<double()> BesideWriter(Subject& subject, SuiteKeys& keys, const Keys& asked, Way way,
                                     Answers& answers) {
  const uint64_t n = keys.NumIntegers(subject.capacity(), TakesStrings(subject));
  if (!subject.reinserts()) {
    const Keys written = keys.Last(n, KeyType::kU64);
    return [&subject, &answers, asked, written] {
      return subject.AskBesideWriter(asked, written, answers);
    };
  }
  const auto written = std::make_shared<std::vector<uint64_t>>();
  for (uint64_t i = n / 2; i < n; ++i) written->push_back(KeyAt(i));
  return [&subject, &keys, &answers, asked, way, n, written] {
    subject.Clear();
    keys.ForEachSlice(n / 2, [&](const Keys& slice) { subject.Insert(slice, way); });
    return subject.AskBesideWriter(asked, *written, answers);
  };
}

}  // namespace tamis::bench
