// Children of fork, which have a copy of every engine, but not its threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/file/file.h"
#include "tamis/file/saving.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/fork_util.h"
#include "tests/system_faults.h"
#include "tests/test_util.h"

namespace tamis::fork_test {

// Threads of the parent do not exist in a child, and their locks are never released there.
class ForkTest : public FileTest {
 protected:
  ForkTest() { filter_.Insert(keys_); }

  EngineOptions OnThreads(unsigned threads) const {
    EngineOptions options{.threads = threads};
    options.pin = CallRoute{.backend = &Backends()[0], .threads = threads};
    return options;
  }
  bool FindsAll(const Engine& engine) const { return engine.Count(filter_, keys_) == keys_.size(); }

  const std::vector<uint64_t> keys_ = RandomKeys(20'000, /*seed=*/1);
  SplitBlockBloomFilter filter_{{.capacity = 20'000}};
};

TEST_F(ForkTest, AChildLooksUpMakesEnginesAndEndsThem) {
  auto engine = std::make_unique<Engine>(OnThreads(4));
  ASSERT_TRUE(FindsAll(*engine));  // its threads are running
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(InChild([&] {
                if (i % 2 == 0 && !FindsAll(*engine)) return 1;
                engine.reset();
                const Engine own(OnThreads(3));
                return FindsAll(own) ? 0 : 2;
              }),
              0)
        << i;
  }
  EXPECT_TRUE(FindsAll(*engine));
}

// Runs the handlers of exit and the destructors of static objects.
TEST_F(ForkTest, AChildExits) {
  static std::optional<Engine> engine;
  engine.emplace(OnThreads(4));
  ASSERT_TRUE(FindsAll(*engine));
  ASSERT_EQ(InChild([&] {
              std::atexit([] { engine.reset(); });
              std::exit(FindsAll(*engine) ? 0 : 1);
              return 2;
            }),
            0);
  engine.reset();
}

TEST_F(ForkTest, AChildOfAChild) {
  const Engine engine(OnThreads(3));
  ASSERT_TRUE(FindsAll(engine));
  EXPECT_EQ(InChild([&] {
              if (!FindsAll(engine)) return 1;
              return InChild([&] { return FindsAll(engine) ? 0 : 2; });
            }),
            0);
}

// At the time of the fork, other threads of the parent may hold locks, or be in a call.
TEST_F(ForkTest, WhileCallsAreUnderWay) {
  const Engine engine(OnThreads(3));
  std::atomic<bool> stop{false};
  std::vector<std::jthread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      while (!stop) EXPECT_TRUE(FindsAll(engine));
    });
  }
  int failed = 0;
  for (int i = 0; i < 100; ++i) {
    failed += InChild([&] { return FindsAll(engine) ? 0 : 1; }) != 0;
  }
  stop = true;
  EXPECT_EQ(failed, 0);
}

TEST_F(ForkTest, AChildDoesNotKeepTheLockOfItsParent) {
  const std::filesystem::path path = folder_ / "f";
  filter_.Save(path);
  std::optional<FileLock> lock(path);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    pause();
    _exit(0);
  }
  ExpectError([&] { FileLock second(path); }, ErrorCode::kBusy, "it is locked for a change");
  lock.reset();
  EXPECT_NO_THROW(FileLock second(path));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// The parent's temporary files belong to the parent: even a child that removes its own does not
// touch them.
TEST_F(ForkTest, AChildDoesNotRemoveTheTemporaryFilesOfItsParent) {
  SystemFaults faults;
  faults.openat = [](int flags) { return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : 0; };
  bool in_child = false;
  std::vector<size_t> files;
  faults.write = [&]() -> std::optional<ssize_t> {
    if (!in_child && files.empty()) {
      files.push_back(folder_.NumFiles());
      EXPECT_EQ(InChild([&] {
                  in_child = true;
                  RemoveTemporaryFiles();
                  if (folder_.NumFiles() != files[0]) return 1;
                  // The child can remove the files that it saves itself.
                  faults.write = [&]() -> std::optional<ssize_t> {
                    RemoveTemporaryFiles();
                    _exit(folder_.NumFiles() == files[0] ? 0 : 2);
                  };
                  filter_.Save(folder_ / "of_the_child");
                  return 3;
                }),
                0);
      files.push_back(folder_.NumFiles());
    }
    return std::nullopt;
  };
  filter_.Save(folder_ / "f");
  EXPECT_EQ(files, (std::vector<size_t>{1, 1}));
  EXPECT_EQ(SplitBlockBloomFilter::Load(folder_ / "f").inserted_count(), keys_.size());
}

TEST_F(ForkTest, WhileOthersAskForStats) {
  const Engine engine(OnThreads(2));
  std::atomic<bool> stop{false};
  std::jthread asks([&] {
    while (!stop) engine.stats();
  });
  int failed = 0;
  for (int i = 0; i < 100 && failed == 0; ++i) {
    failed += InChild([&] { return engine.stats().uploads != 0; }) != 0;
  }
  stop = true;
  EXPECT_EQ(failed, 0);
}

}  // namespace tamis::fork_test
