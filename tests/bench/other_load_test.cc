// The CPU time that other programs use.
#include "bench/suite/other_load.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "bench/os/proc_stat.h"

namespace tamis::bench::other_load_test {

TEST(BusySecondsTest, CountEverythingButIdle) {
  // User, nice, system, idle, I/O wait, two kinds of interrupts, stolen; guests are part of the
  // first two.
  EXPECT_EQ(os::BusySecondsIn("cpu  100 20 30 9000 800 4 5 6 70 8\ncpu0 1 2 3\n", 100), 1.65);
  EXPECT_EQ(os::BusySecondsIn("", 100), std::nullopt);
  EXPECT_EQ(os::BusySecondsIn("cpu  100 20 thirty\n", 100), std::nullopt);
  EXPECT_EQ(os::BusySecondsIn("processor 1 2 3 4 5 6 7 8\n", 100), std::nullopt);
}

TEST(OtherLoadTest, SeesAProgramThatRuns) {
  const OtherLoad load;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    volatile unsigned i = 0;
    for (;;) i = i + 1;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::optional<double> others = load.Processors();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (!others || *others == 0) GTEST_SKIP() << "/proc/stat does not count here";
  EXPECT_GT(*others, 0.1);
}

TEST(OtherLoadTest, BusyIsMoreThanASystemUses) {
  EXPECT_FALSE(IsBusy(0.05, 2));
  EXPECT_TRUE(IsBusy(0.5, 2));
  EXPECT_FALSE(IsBusy(0.5, 128));
}

}  // namespace tamis::bench::other_load_test
