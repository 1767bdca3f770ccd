// Measures how busy other programs keep the machine during a run.
#ifndef TAMIS_BENCH_SUITE_OTHER_LOAD_H_
#define TAMIS_BENCH_SUITE_OTHER_LOAD_H_

#include <optional>

namespace tamis::bench {

// Measures the load by other programs. Counts from construction.
class OtherLoad {
 public:
  OtherLoad();

  // Returns the mean number of processors that other programs have used since construction. Returns
  // nothing if the system does not report it.
  std::optional<double> Processors() const;

 private:
  struct Times {
    std::optional<double> all;
    double own = 0;
    double wall = 0;
  };
  static Times Now();

  Times begin_;
};

// Returns true if other programs used more than an idle system does.
constexpr bool IsBusy(double other_processors, unsigned processors) {
  return other_processors > 0.1 + 0.01 * processors;
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_OTHER_LOAD_H_
