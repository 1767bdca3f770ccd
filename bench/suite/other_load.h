// How busy other programs keep the machine during a run.
#ifndef TAMIS_BENCH_SUITE_OTHER_LOAD_H_
#define TAMIS_BENCH_SUITE_OTHER_LOAD_H_

#include <optional>
#include <string_view>

namespace tamis::bench {

// Returns the processor seconds since boot that all programs used, plus those that a hypervisor
// gave to other machines. `stat` is the text of /proc/stat. Returns nothing for any other text.
std::optional<double> BusySeconds(std::string_view stat, double ticks_per_second);

// Begins to count when it is made.
class OtherLoad {
 public:
  OtherLoad();

  // Processors that other programs have used since then, on average. Nothing if the system does not
  // say.
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
