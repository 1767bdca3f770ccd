// A watched file: every way in which it is replaced, and every way in which it can be bad.
#include "tamis/live/watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/core/file_test_util.h"
#include "tests/live/live_test_util.h"
#include "tests/test_util.h"

namespace tamis::watch_test {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

class WatchTest : public testing::Test {
 protected:
  using Blocks = SplitBlockBloomFilter;

  // All files have the same size, like files that are rebuilt every night.
  void Save(uint64_t key) const { SaveWatched(FilterOf<Blocks>({1, key}), path_); }
  Bytes BytesOf(uint64_t key) const {
    FilterOf<Blocks>({1, key}).Save(folder_ / "other.tamis");
    return ReadBytes(folder_ / "other.tamis");
  }
  // Replaces the file like another process.
  void Rename(const Bytes& bytes) const {
    WriteBytes(folder_ / "new", bytes);
    fs::rename(folder_ / "new", path_);
  }

  // Only CheckNow looks at the file.
  static WatchOptions<Blocks> Seldom() { return {.interval = hours(1)}; }

  void ExpectServing(uint64_t generation, uint64_t key) {
    EXPECT_EQ(live_.Read().generation(), generation);
    ASSERT_TRUE(live_.Read());
    EXPECT_TRUE(live_.Read()->Contains(uint64_t{1}));
    EXPECT_TRUE(live_.Read()->Contains(key));
  }
  void ExpectRefused(const Watch<Blocks>& watch, const std::string& text, ErrorCode code) {
    const WatchStatus status = watch.status();
    EXPECT_EQ(status.file, WatchedFile::kRefused);
    ASSERT_TRUE(status.failure);
    EXPECT_NE(status.failure->text.find(text), std::string::npos) << status.failure->text;
    EXPECT_EQ(status.failure->code, code);
    ASSERT_TRUE(live_.status().failure) << "and in that of the live filter";
    EXPECT_EQ(live_.status().failure->text, status.failure->text);
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "watched.tamis";
  Live<Blocks> live_;
};

TEST_F(WatchTest, PublishesAtOnceAndWhenTheFileIsReplaced) {
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  ExpectServing(1, 2);
  EXPECT_FALSE(watch.CheckNow()) << "it is the same";
  Save(3);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(2, 3);
  EXPECT_FALSE(live_.Read()->Contains(uint64_t{2}));
  const WatchStatus status = watch.status();
  EXPECT_EQ(status.file, WatchedFile::kServing);
  EXPECT_EQ(status.checks, 3u);
  EXPECT_EQ(status.published, 2u);
  EXPECT_EQ(status.failures, 0u);
}

TEST_F(WatchTest, LooksByItself) {
  Watch<Blocks> watch(live_, path_, {.interval = milliseconds(2)});
  EXPECT_FALSE(live_.Read());
  for (const uint64_t key : {5, 6}) {
    Save(key);
    for (int i = 0; i < 2000 && !(live_.Read() && live_.Read()->Contains(key)); ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    ASSERT_TRUE(live_.Read() && live_.Read()->Contains(key));
  }
}

// If the watch waited for its next check, ending would take an hour.
TEST_F(WatchTest, EndsPromptly) {
  Save(2);
  { const Watch<Blocks> watch(live_, path_, Seldom()); }
  ExpectServing(1, 2);
}

TEST_F(WatchTest, AMissingFileIsAState) {
  Watch<Blocks> watch(live_, path_, Seldom());
  EXPECT_EQ(watch.status().file, WatchedFile::kMissing);
  EXPECT_FALSE(watch.status().failure);
  EXPECT_FALSE(live_.Read());
  Save(2);
  EXPECT_TRUE(watch.CheckNow());
  fs::remove(path_);
  EXPECT_FALSE(watch.CheckNow());
  EXPECT_EQ(watch.status().file, WatchedFile::kMissing);
  ExpectServing(1, 2);
  Save(3);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(2, 3);
  Watch<Blocks> nowhere(live_, folder_ / "none" / "f.tamis", Seldom());
  EXPECT_EQ(nowhere.status().file, WatchedFile::kMissing);
}

TEST_F(WatchTest, AnyFilterIsOfWhateverKindTheFileHas) {
  Live<AnyFilter> live;
  Save(2);
  Watch<AnyFilter> watch(live, path_, {.interval = hours(1)});
  EXPECT_EQ(live.Read()->kind(), FilterKind::kSplitBlock);
  FilterOf<CuckooFilter<12>>({4}).Save(path_);
  EXPECT_TRUE(watch.CheckNow());
  EXPECT_EQ(live.Read()->kind(), FilterKind::kCuckoo12);
}

TEST_F(WatchTest, AFileCanBeMapped) {
  Save(2);
  WatchOptions<Blocks> options = Seldom();
  options.load = [](const fs::path& path) { return Blocks::Map(path, {.verify = Verify::kFull}); };
  Watch<Blocks> watch(live_, path_, options);
  EXPECT_TRUE(live_.Read()->read_only());
  Save(3);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(2, 3);
}

TEST_F(WatchTest, AFileThatIsDamagedIsNotPublished) {
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  const Bytes good = BytesOf(3);
  uint64_t generation = 1;
  uint64_t refused = 0;
  for (const size_t at : {size_t{0}, size_t{20}, size_t{100}, good.size() / 2, good.size() - 1}) {
    Bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Rename(bad);
    EXPECT_FALSE(watch.CheckNow()) << at;
    ExpectServing(generation, 2);
    EXPECT_EQ(watch.status().file, WatchedFile::kRefused) << at;
    EXPECT_TRUE(watch.status().failure) << at;
    EXPECT_EQ(watch.status().failures, ++refused);
    Save(2);
    EXPECT_TRUE(watch.CheckNow());
    ExpectServing(++generation, 2);
    EXPECT_FALSE(watch.status().failure);
    EXPECT_FALSE(live_.status().failure);
  }
}

TEST_F(WatchTest, ATruncatedFileIsNotPublished) {
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  const Bytes good = BytesOf(3);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{127}, size_t{500}, good.size() - 1}) {
    Rename(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)));
    EXPECT_FALSE(watch.CheckNow()) << bytes;
    ExpectServing(1, 2);
    ExpectRefused(watch, path_.string(), ErrorCode::kCorrupt);
  }
  Rename(good);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(2, 3);
}

TEST_F(WatchTest, AFileOfAnotherKindIsNotPublished) {
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  FilterOf<CuckooFilter<8>>({3}).Save(path_);
  EXPECT_FALSE(watch.CheckNow());
  ExpectServing(1, 2);
  ExpectRefused(watch, "cuckoo8", ErrorCode::kUnsupported);
}

TEST_F(WatchTest, AFileThatCannotBeReadIsTriedAgain) {
  Save(2);
  WatchOptions<Blocks> options = Seldom();
  std::atomic<bool> broken = false;
  options.load = [&](const fs::path& path) {
    if (broken) throw Error(ErrorCode::kIo, "the disk is broken");
    return Blocks::Load(path);
  };
  Watch<Blocks> watch(live_, path_, options);
  broken = true;
  Save(3);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(watch.CheckNow());
    ExpectServing(1, 2);
    ExpectRefused(watch, "the disk is broken", ErrorCode::kIo);
  }
  broken = false;
  EXPECT_TRUE(watch.CheckNow()) << "the same file";
  ExpectServing(2, 3);

  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_FALSE(watch.CheckNow());
  ExpectServing(2, 3);
  EXPECT_EQ(watch.status().file, WatchedFile::kRefused);
}

// No file can be opened while one of these exists.
struct NoDescriptors {
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }

  rlimit before = {};
};

// The watch must not mistake the file for a new file, although its last check could not open it.
TEST_F(WatchTest, AFileThatServesIsNotPublishedAgainAfterItCouldNotBeOpened) {
#if defined(__clang__) && defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "clang's check of types opens a pipe, and fails where it cannot";
#endif
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  {
    const NoDescriptors none;
    EXPECT_FALSE(watch.CheckNow());
  }
  ExpectServing(1, 2);
  ExpectRefused(watch, std::generic_category().message(EMFILE), ErrorCode::kIo);
  EXPECT_FALSE(watch.CheckNow());
  ExpectServing(1, 2);
  EXPECT_EQ(watch.status().file, WatchedFile::kServing);
  EXPECT_FALSE(watch.status().failure);
}

TEST_F(WatchTest, ADamagedFileIsReadThriceAndThenWhenItChanges) {
  Bytes bad = BytesOf(3);
  bad.back() = static_cast<char>(bad.back() ^ 1);
  Rename(bad);
  int loads = 0;
  WatchOptions<Blocks> options = Seldom();
  options.load = [&](const fs::path& path) {
    ++loads;
    return Blocks::Load(path);
  };
  Watch<Blocks> watch(live_, path_, options);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(watch.CheckNow());
  EXPECT_EQ(loads, 3);
  EXPECT_EQ(watch.status().file, WatchedFile::kRefused);
  Rename(bad);
  EXPECT_FALSE(watch.CheckNow());
  EXPECT_EQ(loads, 4);
  Save(4);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(1, 4);
}

// A replacement within a tick of the clock: the same inode, length and time.
TEST_F(WatchTest, SeesAFileThatLooksLikeTheOldOne) {
  const auto overwrite = [&](const Bytes& bytes) {
    struct stat before = {}, after = {};
    ASSERT_EQ(stat(path_.c_str(), &before), 0);
    ASSERT_EQ(bytes.size(), static_cast<size_t>(before.st_size));
    WriteBytes(path_, bytes);
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    ASSERT_EQ(stat(path_.c_str(), &after), 0);
    ASSERT_EQ(after.st_ino, before.st_ino);
    ASSERT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  };
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  overwrite(BytesOf(2));
  EXPECT_FALSE(watch.CheckNow()) << "it is the same";
  overwrite(BytesOf(3));
  EXPECT_TRUE(watch.CheckNow()) << "it has other contents";
  ExpectServing(2, 3);
  // A key that is inserted twice counts twice, and sets no other bit.
  FilterOf<Blocks>({1, 3, 3}).Save(folder_ / "twice.tamis");
  overwrite(ReadBytes(folder_ / "twice.tamis"));
  EXPECT_TRUE(watch.CheckNow()) << "it has another header";
  EXPECT_EQ(live_.Read()->inserted_count(), 3u);
}

TEST_F(WatchTest, AFileOfTheSeventeenthCenturyIsOld) {
  Save(2);
  const timespec written = {-8'800'000'000, 0};  // in 1691
  const timespec times[2] = {written, written};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  struct stat status = {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  if (status.st_mtim.tv_sec != written.tv_sec) GTEST_SKIP() << "the file system has no such time";
  Watch<Blocks> watch(live_, path_, Seldom());
  EXPECT_EQ(live_.Read().age() / hours(24 * 365), 292);
}

TEST_F(WatchTest, AgeCountsFromWhenTheFileWasWritten) {
  Save(2);
  fs::last_write_time(path_, fs::file_time_type::clock::now() - hours(30));
  Watch<Blocks> watch(live_, path_, Seldom());
  EXPECT_GE(live_.Read().age(), hours(30));
  EXPECT_LT(live_.Read().age(), hours(31));
  fs::last_write_time(path_, fs::file_time_type::clock::now() + hours(30));
  EXPECT_TRUE(watch.CheckNow());
  EXPECT_LT(live_.Read().age(), hours(1)) << "not less than 0";
}

TEST_F(WatchTest, WaitsForARebuildToEnd) {
  Save(2);
  Watch<Blocks> watch(live_, path_, Seldom());
  Save(3);
  live_.Rebuild({[&](RebuildContext&) {
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(watch.CheckNow());
    ExpectRefused(watch, "while a rebuild is running", ErrorCode::kBusy);
    return FilterOf<Blocks>({1, 9});
  }});
  ExpectServing(2, 9);
  EXPECT_TRUE(watch.CheckNow());
  ExpectServing(3, 3);
}

TEST_F(WatchTest, ExceptionsOfALoaderEndNoThread) {
  Save(2);
  std::atomic<int> loads = 0;
  WatchOptions<Blocks> options = {.interval = milliseconds(1)};
  options.load = [&](const fs::path& path) -> Blocks {
    if (++loads < 5) throw loads.load();
    return Blocks::Load(path);
  };
  Watch<Blocks> watch(live_, path_, options);
  for (int i = 0; i < 2000 && !live_.Read(); ++i) std::this_thread::sleep_for(milliseconds(5));
  ExpectServing(1, 2);
  EXPECT_EQ(watch.status().failures, 4u);
}

TEST_F(WatchTest, RefusesAnIntervalOfZero) {
  ExpectError([&] { Watch<Blocks> watch(live_, path_, {.interval = milliseconds(0)}); },
              ErrorCode::kInvalidArgument, "the interval of a watch is 0 ns; allowed: more than 0");
}

// Good and bad files come and go while readers query. Keys in all good files are always found.
TEST_F(WatchTest, ReadersAlwaysHaveAGoodFilter) {
  Save(2);
  const Bytes a = BytesOf(3), b = BytesOf(4);
  Bytes bad = a;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 4);
  Watch<Blocks> watch(live_, path_, {.interval = milliseconds(1)});
  std::atomic<uint64_t> missed = 0, read = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++read) missed += !live_.Read()->Contains(uint64_t{1});
    });
  }
  for (int i = 0; i < 100 || read < 1000; ++i) {
    Rename(a);
    Rename(bad);
    watch.CheckNow();
    Rename(b);
    WriteBytes(path_, bad);  // which no program should do
  }
  Rename(b);
  for (int i = 0; i < 2000 && !live_.Read()->Contains(uint64_t{4}); ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  readers.clear();
  EXPECT_EQ(missed, 0u);
  EXPECT_TRUE(live_.Read()->Contains(uint64_t{4}));
}

}  // namespace tamis::watch_test
