// Saves and reads files, and tests errors of the operating system. contract_file_test.cc tests that
// filters of every kind come back unchanged.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory_resource>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/file/file_checks.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"

namespace tamis::file_test {

namespace fs = std::filesystem;

SplitBlockBloomFilter MakeFilter(uint64_t bytes) {
  SplitBlockBloomFilter filter({.capacity = 1 + bytes / 2, .bytes = bytes});
  for (uint64_t key = 0; key < bytes / 2; ++key) filter.Insert(key);
  return filter;
}

bool SamePayload(const Filter& a, const Filter& b) {
  return a.bytes() == b.bytes() &&
         std::memcmp(a.payload().data(), b.payload().data(), a.bytes()) == 0;
}

// Returns every way to read a file.
std::vector<std::function<void(const fs::path&)>> Readers() {
  return {[](const fs::path& path) { ReadHeader(path); },
          [](const fs::path& path) { VerifyFile(path); },
          [](const fs::path& path) { SplitBlockBloomFilter::Load(path); },
          [](const fs::path& path) { SplitBlockBloomFilter::Map(path); },
          [](const fs::path& path) { Load(path); },
          [](const fs::path& path) { Map(path); }};
}

using FileRoundTripTest = FileTest;

TEST_F(FileRoundTripTest, LoadUsesTheMemoryResource) {
  const auto path = folder_ / "f.tamis";
  MakeFilter(320).Save(path);
  alignas(64) std::byte room[1024];
  std::pmr::monotonic_buffer_resource resource(room, sizeof(room),
                                               std::pmr::null_memory_resource());
  const auto loaded = SplitBlockBloomFilter::Load(path, {.memory = {.resource = &resource}});
  EXPECT_GE(loaded.payload().data(), room);
  EXPECT_LT(loaded.payload().data(), room + sizeof(room));
}

using FileReadErrorTest = FileTest;

TEST_F(FileReadErrorTest, MissingFile) {
  for (const auto& read : Readers()) {
    ExpectError([&] { read(folder_ / "none"); }, ErrorCode::kIo,
                "none: cannot open: No such file or directory");
    ExpectError([&] { read(""); }, ErrorCode::kIo, "No such file or directory");
  }
}

TEST_F(FileReadErrorTest, Directory) {
  for (const auto& read : Readers()) {
    ExpectError([&] { read(folder_.path()); }, ErrorCode::kIo, "cannot read: Is a directory");
  }
}

TEST_F(FileReadErrorTest, NoPermission) {
  const auto path = folder_ / "f.tamis";
  MakeFilter(320).Save(path);
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  AsOrdinaryUser([&] {
    for (const auto& read : Readers()) {
      ExpectError([&] { read(path); }, ErrorCode::kIo, "cannot open: Permission denied");
    }
  });
}

// Opening a pipe must not wait for a writer.
TEST_F(FileReadErrorTest, NotARegularFile) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& read : Readers()) {
    ExpectError([&] { read(pipe); }, ErrorCode::kIo, "not a regular file");
    ExpectError([&] { read("/dev/null"); }, ErrorCode::kIo, "not a regular file");
  }
}

using FileSaveTest = FileTest;

TEST_F(FileSaveTest, ReplacesAFileAndLeavesMappingsOfItAlone) {
  const auto path = folder_ / "f.tamis";
  MakeFilter(320).Save(path);
  const auto mapped = SplitBlockBloomFilter::Map(path);
  const auto larger = MakeFilter(6400);
  larger.Save(path);
  EXPECT_TRUE(SamePayload(mapped, MakeFilter(320)));
  EXPECT_TRUE(SamePayload(SplitBlockBloomFilter::Load(path), larger));
  SplitBlockBloomFilter::Map(path).Save(path);  // from a mapping of the file that it replaces
  EXPECT_TRUE(SamePayload(SplitBlockBloomFilter::Load(path), larger));
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileSaveTest, GivesThePermissionsOfANewFile) {
  const auto path = folder_ / "f.tamis";
  for (const mode_t mask : {mode_t{022}, mode_t{077}, mode_t{0}}) {
    fs::remove(path);
    const mode_t old = umask(mask);
    MakeFilter(32).Save(path);
    umask(old);
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  }
}

TEST_F(FileSaveTest, TakesRelativePathsAndTheLongestNames) {
  const std::string name(255, 'n');
  MakeFilter(32).Save(folder_ / name);
  VerifyFile(folder_ / name);

  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  MakeFilter(32).Save("f.tamis");
  fs::current_path(before);
  VerifyFile(folder_ / "f.tamis");
}

TEST_F(FileSaveTest, RefusesPathsThatAreNotFiles) {
  const auto filter = MakeFilter(32);
  fs::create_directory(folder_ / "folder");
  ExpectError([&] { filter.Save(folder_ / "folder"); }, ErrorCode::kIo, "Is a directory");
  ExpectError([&] { filter.Save(folder_ / "folder/"); }, ErrorCode::kIo, "Is a directory");
  ExpectError([&] { filter.Save(""); }, ErrorCode::kIo, "No such file or directory");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  ExpectError([&] { filter.Save(folder_ / "pipe"); }, ErrorCode::kIo, "not a regular file");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_TRUE(fs::is_empty(folder_ / "folder"));
  EXPECT_EQ(folder_.NumFiles(), 2u);
}

TEST_F(FileSaveTest, RefusesAMissingOrReadOnlyFolder) {
  const auto filter = MakeFilter(32);
  ExpectError([&] { filter.Save(folder_ / "none" / "f.tamis"); }, ErrorCode::kIo,
              "No such file or directory");
  const auto locked = folder_ / "locked";
  fs::create_directory(locked);
  ASSERT_EQ(chmod(locked.c_str(), 0555), 0);
  AsOrdinaryUser([&] {
    ExpectError([&] { filter.Save(locked / "f.tamis"); }, ErrorCode::kIo, "Permission denied");
  });
  EXPECT_TRUE(fs::is_empty(locked));
}

// A limit to the size of files stands for a full disk.
TEST_F(FileSaveTest, LeavesNothingBehindWhenWritingFails) {
  const auto path = folder_ / "f.tamis";
  const auto old = MakeFilter(320);
  const auto larger = MakeFilter(1 << 20);
  old.Save(path);

  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{500000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  ExpectError([&] { larger.Save(path); }, ErrorCode::kIo, "f.tamis: cannot write: File too large");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(folder_.NumFiles(), 1u);
  EXPECT_TRUE(SamePayload(SplitBlockBloomFilter::Load(path), old));
}

TEST_F(FileSaveTest, ReadersSeeOneWholeFileOrTheOther) {
  const auto path = folder_ / "f.tamis";
  const auto a = MakeFilter(32000);
  const auto b = MakeFilter(64000);
  a.Save(path);
  std::jthread writer([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      b.Save(path);
      a.Save(path);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto got = SplitBlockBloomFilter::Load(path);
    EXPECT_TRUE(SamePayload(got, a) || SamePayload(got, b));
  }
}

// Memory that cuts a file short when it is requested, which is after Load has checked the length.
class CuttingResource : public std::pmr::memory_resource {
 public:
  CuttingResource(fs::path path, uint64_t length) : path_(std::move(path)), length_(length) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    fs::resize_file(path_, length_);
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  fs::path path_;
  uint64_t length_;
};

TEST_F(FileReadErrorTest, FileCutShortWhileItIsRead) {
  const auto path = folder_ / "f.tamis";
  for (const uint64_t length : {0, 128, 1000, 500000, 999999}) {
    MakeFilter(1000000).Save(path);
    CuttingResource resource(path, length);
    ExpectFormatError(
        [&] { SplitBlockBloomFilter::Load(path, {.memory = {.resource = &resource}}); },
        "file length", length);
  }
}

}  // namespace tamis::file_test
