#include "bench/comparison.h"

#include <algorithm>
#include <stdexcept>

#include "bench/limits.h"
#include "bench/timing.h"
#include "bench/workload.h"

namespace tamis::bench {
namespace {

// A repetition of one contender does this many keys at least, so that a sample is not one
// interrupt.
constexpr uint64_t kKeysPerSample = 16'000'000;

int Passes(uint64_t keys) {
  return static_cast<int>(std::clamp<uint64_t>(kKeysPerSample / keys, 1, 100));
}

class Round {
 public:
  Round(const SizePlan& plan, Arena& arena)
      : arena_(arena),
        filter_bytes_(FilterBytes(plan.keys)),
        keys_(MakeKeys(plan.keys)),
        queries_(MakeQueries(plan.keys, plan.queries, 50)),
        lines_(filter_bytes_, plan.queries),
        answers_(plan.queries) {}

  std::string MeasureLimit(Row& row) const {
    const LineLimit limit = lines_.Measure(arena_.memory(), Passes(queries_.keys.size()));
    row.lookup_ns.push_back(limit.ns);
    return std::string(limit.method);
  }

  void Measure(Contender& contender, Row& row) {
    const Time time = contender.threads() == 1 ? Time::kThread : Time::kWall;
    const auto num_keys = static_cast<double>(keys_.size());
    const auto num_queries = static_cast<double>(queries_.keys.size());
    contender.Open(arena_, filter_bytes_, keys_.size());
    row.bits_per_key = 8 * static_cast<double>(contender.bytes()) / num_keys;

    const auto build = [&] { contender.Build(keys_); };
    row.first_build_ns.push_back(Nanoseconds(time, build) / num_keys);
    row.build_ns.push_back(MedianNanoseconds(time, Passes(keys_.size()), build) / num_keys);

    std::fill(answers_.bits.begin(), answers_.bits.end(), 0);
    std::fill(answers_.bytes.begin(), answers_.bytes.end(), 0);
    const auto lookup = [&] { contender.Lookup(queries_.keys, answers_); };
    lookup();
    row.lookup_ns.push_back(MedianNanoseconds(time, Passes(queries_.keys.size()), lookup) /
                            num_queries);
    contender.Close();
    row.fpr = CheckedFpr(contender);
  }

 private:
  double CheckedFpr(const Contender& contender) const {
    size_t absent = 0, false_positives = 0;
    for (size_t i = 0; i < queries_.keys.size(); ++i) {
      const bool answer = contender.answers_in_bits() ? (answers_.bits[i / 64] >> (i % 64)) & 1
                                                      : answers_.bytes[i] != 0;
      if (queries_.present[i] && !answer) {
        throw std::runtime_error(contender.name() + " gave a false negative for query " +
                                 std::to_string(i));
      }
      absent += !queries_.present[i];
      false_positives += !queries_.present[i] && answer;
    }
    return absent == 0 ? 0 : static_cast<double>(false_positives) / static_cast<double>(absent);
  }

  Arena& arena_;
  uint64_t filter_bytes_;
  HugeVector<uint64_t> keys_;
  Queries queries_;
  RandomLines lines_;
  Answers answers_;
};

}  // namespace

SizeResult Compare(const SizePlan& plan, const Contenders& contenders, Arena& arena,
                   const Pinning& pinning) {
  Round round(plan, arena);
  SizeResult result{plan.keys, plan.queries, std::vector<Row>(contenders.size() + 1), {}, 0};
  result.rows[0].name = kLineLimit;
  for (size_t i = 0; i < contenders.size(); ++i) result.rows[i + 1].name = contenders[i]->name();

  double wall_ns = 0, thread_ns = 0;  // of turns with one thread
  for (size_t repetition = 0; repetition < static_cast<size_t>(plan.repetitions); ++repetition) {
    for (size_t turn = 0; turn < result.rows.size(); ++turn) {
      const size_t i = (repetition + turn) % result.rows.size();
      const unsigned threads = i == 0 ? 1 : contenders[i - 1]->threads();
      const double wall_start = NowNs(Time::kWall), thread_start = NowNs(Time::kThread);
      pinning.PinTo(threads);
      if (i == 0) {
        result.limit_methods.push_back(round.MeasureLimit(result.rows[0]));
      } else {
        round.Measure(*contenders[i - 1], result.rows[i]);
      }
      pinning.PinTo(1);
      if (threads > 1) continue;
      wall_ns += NowNs(Time::kWall) - wall_start;
      thread_ns += NowNs(Time::kThread) - thread_start;
    }
  }
  result.processor_share = thread_ns / wall_ns;
  return result;
}

}  // namespace tamis::bench
