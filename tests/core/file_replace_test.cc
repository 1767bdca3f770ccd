// The replacement of a file, and the effects on it and its directory: permissions, links, locks,
// and errors of the operating system.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/src/file/shards.h"
#include "core/src/os/posix/save_target_state.h"
#include "tamis/file/file_checks.h"
#include "tamis/file/saving.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/system_faults.h"

namespace tamis::file_replace_test {

namespace fs = std::filesystem;

SplitBlockBloomFilter FilterOf(uint64_t keys) {
  SplitBlockBloomFilter filter({.capacity = 1000});
  for (uint64_t key = 0; key < keys; ++key) filter.Insert(key);
  return filter;
}

struct stat StatusOf(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status;
}

mode_t ModeOf(const fs::path& path) { return StatusOf(path).st_mode & 07777; }

uint64_t KeysIn(const fs::path& path) { return VerifyFile(path).inserted; }

class FileReplaceTest : public FileTest {
 protected:
  FileReplaceTest() { FilterOf(1).Save(path_); }

  void Chmod(const fs::path& path, mode_t mode) const {
    ASSERT_EQ(chmod(path.c_str(), mode), 0) << path;
  }

  const fs::path path_ = folder_ / "f.tamis";
};

// If several threads or processes save to one file at the same time, all of them succeed.
TEST_F(FileReplaceTest, AnotherSaveBetweenTwoChecksOfTheFile) {
  FilterOf(2).Save(folder_ / "other");
  int looks = 0;
  SystemFaults faults;
  faults.lstat = [&] {
    if (looks++ == 0) fs::rename(folder_ / "other", path_);
    return 0;
  };
  FilterOf(3).Save(path_);
  EXPECT_GE(looks, 2);
  EXPECT_EQ(KeysIn(path_), 3u);
}

// Tests every mode, and users whose class differs between the old and the new file.
TEST(KeptModeTest, NoClassOfUsersGetsMoreRights) {
  for (mode_t mode = 0; mode < 01000; ++mode) {
    EXPECT_EQ(os::KeptMode(mode | 06000, true, true), mode);
    const auto class_of = [](mode_t bits, int shift) { return (bits >> shift) & 7; };
    const auto within = [](mode_t now, mode_t before) { return (now & ~before) == 0; };
    const mode_t other_group = os::KeptMode(mode, true, false);
    EXPECT_EQ(class_of(other_group, 6), class_of(mode, 6));
    for (const int now : {3, 0}) {  // the new group and all others, of any class before
      for (const int before : {3, 0}) {
        EXPECT_TRUE(within(class_of(other_group, now), class_of(mode, before))) << mode;
      }
    }
    const mode_t other_owner = os::KeptMode(mode, false, true);
    for (const int now : {3, 0}) {
      EXPECT_TRUE(within(class_of(other_owner, now), class_of(mode, now))) << mode;
      EXPECT_TRUE(within(class_of(other_owner, now), class_of(mode, 6))) << mode;
    }
    const mode_t both = os::KeptMode(mode, false, false);
    EXPECT_TRUE(within(both, other_owner) && within(both, other_group)) << mode;
  }
}

TEST_F(FileReplaceTest, KeepsTheMode) {
  const mode_t old = umask(022);
  for (const mode_t mode : {0600, 0640, 0664, 0666, 0755}) {
    Chmod(path_, mode);
    FilterOf(2).Save(path_);
    EXPECT_EQ(ModeOf(path_), mode);
    EXPECT_EQ(ReadHeader(path_).inserted, 2u);
  }
  Chmod(path_, 06755);
  FilterOf(3).Save(path_);
  EXPECT_EQ(ModeOf(path_), mode_t{0755}) << "what is written loses its set-user-ID";
  umask(old);
}

TEST_F(FileReplaceTest, KeepsOwnerAndGroupWhereAllowed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(chown(path_.c_str(), 65534, 12345), 0);
  Chmod(path_, 0640);
  FilterOf(2).Save(path_);
  EXPECT_EQ(StatusOf(path_).st_uid, 65534u);
  EXPECT_EQ(StatusOf(path_).st_gid, 12345u);
  EXPECT_EQ(ModeOf(path_), mode_t{0640});
}

TEST_F(FileReplaceTest, AnotherOwnerGivesNobodyMore) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Chmod(folder_.path(), 0777);
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  Chmod(path_, 0662);  // anybody may write, and only the owner and the group may read
  AsOrdinaryUser([&] { FilterOf(2).Save(path_); });
  EXPECT_EQ(StatusOf(path_).st_uid, 65534u);
  EXPECT_EQ(ModeOf(path_), mode_t{0622}) << "the new group could not read";
  EXPECT_EQ(KeysIn(path_), 2u);
}

// The entries of acl(5): version 2, then tag, permissions and id of each entry.
std::vector<uint16_t> AccessList() {
  constexpr uint16_t kNone = 0xFFFF;
  return {2,    0, 0x01,  6,     kNone, kNone,  // the owner: rw
          0x02, 6, 4242,  0,                    // one more user: rw
          0x04, 0, kNone, kNone,                // the group: none
          0x10, 6, kNone, kNone,                // at most rw
          0x20, 0, kNone, kNone};               // others: none
}

TEST_F(FileReplaceTest, KeepsTheAccessList) {
  constexpr char kName[] = "system.posix_acl_access";
  const std::vector<uint16_t> list = AccessList();
  const size_t bytes = list.size() * sizeof(list[0]);
  if (setxattr(path_.c_str(), kName, list.data(), bytes, 0) != 0) {
    GTEST_SKIP() << "no access lists here";
  }
  ASSERT_EQ(ModeOf(path_), mode_t{0660}) << "which would give the group what only one user has";
  FilterOf(2).Save(path_);
  std::vector<uint16_t> kept(list.size());
  EXPECT_EQ(getxattr(path_.c_str(), kName, kept.data(), bytes), static_cast<ssize_t>(bytes));
  EXPECT_EQ(kept, list);

  // The default list of the directory does not apply if the old file had no list.
  fs::remove(path_);
  FilterOf(1).Save(path_);
  Chmod(path_, 0660);
  ASSERT_EQ(setxattr(folder_.path().c_str(), "system.posix_acl_default", list.data(), bytes, 0), 0);
  FilterOf(2).Save(path_);
  EXPECT_LT(getxattr(path_.c_str(), kName, nullptr, 0), 0);
  EXPECT_EQ(ModeOf(path_), mode_t{0660});
  FilterOf(2).Save(folder_ / "new");
  EXPECT_EQ(getxattr((folder_ / "new").c_str(), kName, nullptr, 0), static_cast<ssize_t>(bytes));
}

TEST_F(FileReplaceTest, RefusesAReadOnlyFileByDefault) {
  Chmod(path_, 0444);  // also for root
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo,
              "f.tamis: cannot write: it is read-");
  ExpectError([&] { RequireSavable(path_); }, ErrorCode::kIo, "it is read-only");
  EXPECT_EQ(KeysIn(path_), 1u);
  RequireSavable(path_, {.replace_read_only = true});
  FilterOf(2).Save(path_, {.replace_read_only = true});
  EXPECT_EQ(KeysIn(path_), 2u);
  EXPECT_EQ(ModeOf(path_), mode_t{0444});
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileReplaceTest, RefusesAFileThatIsReadOnlyForThisProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Chmod(folder_.path(), 0777);
  Chmod(path_, 0644);
  AsOrdinaryUser(
      [&] { ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo, "it is read-only"); });
  EXPECT_EQ(KeysIn(path_), 1u);
}

TEST_F(FileReplaceTest, FollowsLinks) {
  fs::create_directory(folder_ / "d");
  fs::create_symlink("../f.tamis", folder_ / "d" / "one");
  fs::create_symlink(folder_ / "d" / "one", folder_ / "two");
  for (const fs::path& link : {folder_ / "d" / "one", folder_ / "two"}) {
    const uint64_t keys = KeysIn(path_) + 1;
    RequireSavable(link);
    FilterOf(keys).Save(link);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::is_symlink(path_));
    EXPECT_EQ(KeysIn(path_), keys);
  }
  EXPECT_EQ(folder_.NumFiles(), 3u);
}

TEST_F(FileReplaceTest, CreatesTheTargetOfALink) {
  fs::create_directory(folder_ / "d");
  fs::create_symlink("d/new", folder_ / "link");
  FilterOf(5).Save(folder_ / "link");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(KeysIn(folder_ / "d" / "new"), 5u);
}

TEST_F(FileReplaceTest, RefusesLinksThatLeadNowhere) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  fs::create_symlink("none/f", folder_ / "far");
  fs::create_symlink("none/", folder_ / "folder");
  fs::create_symlink("/dev/null", folder_ / "null");
  const auto filter = FilterOf(2);
  ExpectError([&] { filter.Save(folder_ / "a"); }, ErrorCode::kIo, std::strerror(ELOOP));
  ExpectError([&] { filter.Save(folder_ / "far"); }, ErrorCode::kIo, "No such file");
  ExpectError([&] { filter.Save(folder_ / "folder"); }, ErrorCode::kIo, "Is a directory");
  ExpectError([&] { filter.Save(folder_ / "null"); }, ErrorCode::kIo, "not a regular file");
  EXPECT_EQ(folder_.NumFiles(), 6u);
}

TEST_F(FileReplaceTest, OtherHardLinksKeepTheOldFile) {
  fs::create_hard_link(path_, folder_ / "other");
  FilterOf(2).Save(path_);
  EXPECT_EQ(KeysIn(path_), 2u);
  EXPECT_EQ(KeysIn(folder_ / "other"), 1u);
}

TEST_F(FileReplaceTest, ADirectoryThatCannotBeListedWillDo) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.path().c_str(), 65534, 65534), 0);
  }
  Chmod(folder_.path(), 0300);
  AsOrdinaryUser([&] {
    RequireSavable(folder_ / "new");
    FilterOf(2).Save(folder_ / "new");
    EXPECT_EQ(KeysIn(folder_ / "new"), 2u);
  });
  Chmod(folder_.path(), 0700);
  EXPECT_EQ(folder_.NumFiles(), 2u);
}

TEST_F(FileReplaceTest, ReportsAReadOnlyDirectoryInAdvance) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.path().c_str(), 65534, 65534), 0);
  }
  Chmod(folder_.path(), 0500);
  AsOrdinaryUser([&] {
    ExpectError([&] { RequireSavable(folder_ / "new"); }, ErrorCode::kIo,
                "cannot make a file in the directory: Permission denied");
  });
  ExpectError([&] { RequireSavable(folder_ / "none" / "f"); }, ErrorCode::kIo, "No such file");
  Chmod(folder_.path(), 0700);
}

// Like /tmp: anybody may make files there, and nobody may replace the files of others.
TEST_F(FileReplaceTest, ReportsAFileOfAnotherUserInAStickyDirectoryInAdvance) {
  if (geteuid() != 0) GTEST_SKIP() << "files of two users need root";
  Chmod(folder_.path(), 01777);
  Chmod(path_, 0666);
  AsOrdinaryUser([&] {
    ExpectError([&] { RequireSavable(path_); }, ErrorCode::kIo,
                "f.tamis: cannot write: it belongs to another user");
    ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo, "Operation not permitted");
    RequireSavable(folder_ / "new");
    FilterOf(2).Save(folder_ / "new");
    RequireSavable(folder_ / "new");
  });
  RequireSavable(path_);
  EXPECT_EQ(KeysIn(path_), 1u);
}

using FileFaultTest = FileReplaceTest;

bool IsDirectory(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

TEST_F(FileFaultTest, ASaveThatMayNotLastSaysThatItHappened) {
  SystemFaults faults;
  faults.fsync = [](int fd) { return IsDirectory(fd) ? EIO : 0; };
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kNotDurable,
              "f.tamis: saved, but not known to be durable: cannot synchronize the directory: ");
  EXPECT_EQ(KeysIn(path_), 2u);
  faults.fsync = [](int fd) { return IsDirectory(fd) ? 0 : EIO; };
  ExpectError([&] { FilterOf(3).Save(path_); }, ErrorCode::kIo, "cannot synchronize");
  EXPECT_EQ(KeysIn(path_), 2u);
  faults.fsync = [](int fd) { return IsDirectory(fd) ? EINVAL : 0; };  // not required
  FilterOf(4).Save(path_);
  EXPECT_EQ(KeysIn(path_), 4u);
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

int RefuseUnnamed(int flags) { return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : 0; }

TEST_F(FileFaultTest, WithoutUnnamedFilesThereAreNamedOnes) {
  SystemFaults faults;
  faults.openat = RefuseUnnamed;
  FilterOf(2).Save(path_);
  EXPECT_EQ(KeysIn(path_), 2u);
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileFaultTest, AFileThatCannotBeNamedIsWrittenAgain) {
  Chmod(path_, 0640);
  SystemFaults faults;
  for (const int error : {EPERM, EACCES, ENOENT, EXDEV}) {
    faults.linkat = [=] { return error; };
    const uint64_t keys = KeysIn(path_) + 1;
    FilterOf(keys).Save(path_);
    EXPECT_EQ(KeysIn(path_), keys) << error;
  }
  EXPECT_EQ(ModeOf(path_), mode_t{0640});
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileFaultTest, AWriteOfZeroBytesIsAnError) {
  SystemFaults faults;
  int calls = 0;
  faults.write = [&]() -> std::optional<ssize_t> {
    if (++calls < 100) return 0;
    errno = EDOM;  // ends an otherwise endless loop
    return -1;
  };
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo,
              std::string("cannot write: ") + std::strerror(EIO));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(KeysIn(path_), 1u);
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileFaultTest, TemporaryFilesCanBeRemovedAtAnyMoment) {
  SystemFaults faults;
  faults.openat = RefuseUnnamed;
  size_t before = 0, after = 0;
  faults.write = [&]() -> std::optional<ssize_t> {
    if (before == 0) {
      before = folder_.NumFiles();
      RemoveTemporaryFiles();
      after = folder_.NumFiles();
    }
    return std::nullopt;
  };
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo, "rename the temporary file");
  EXPECT_EQ(before, 2u);
  EXPECT_EQ(after, 1u);
  EXPECT_EQ(KeysIn(path_), 1u);
  RemoveTemporaryFiles();
  faults.write = nullptr;
  for (int i = 0; i < 100; ++i) FilterOf(2).Save(path_);  // more files than there is room for names
  EXPECT_EQ(KeysIn(path_), 2u);
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(FileFaultTest, ATemporaryFileCanBeRemovedAsSoonAsItExists) {
  SystemFaults faults;
  faults.openat = RefuseUnnamed;
  size_t before = 0, after = 0;
  faults.opened = [&](int flags) {
    if ((flags & O_CREAT) == 0) return;
    before = folder_.NumFiles();
    RemoveTemporaryFiles();
    after = folder_.NumFiles();
  };
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo, "rename the temporary file");
  EXPECT_EQ(before, 2u);
  EXPECT_EQ(after, 1u);
}

// The error is not mistaken for a change by another program.
TEST_F(FileFaultTest, AStatusThatCannotBeReadIsReportedUnchanged) {
  SystemFaults faults;
  faults.lstat = [] { return EIO; };
  ExpectError([&] { FilterOf(2).Save(path_); }, ErrorCode::kIo,
              std::string("cannot write: ") + std::strerror(EIO));
  faults.lstat = nullptr;
  faults.stat = [] { return EIO; };
  ExpectError([&] { const FileLock lock(path_); }, ErrorCode::kIo,
              std::string("f.tamis: cannot read its status: ") + std::strerror(EIO));
  faults.stat = nullptr;
  const FileLock lock(path_);
  faults.stat = [] { return EACCES; };
  ExpectError([&] { lock.RequireUnchanged(); }, ErrorCode::kIo, "Permission denied");
}

class ShardFaultTest : public FileTest {
 protected:
  static constexpr uint64_t kNumShards = 5;

  // Saves a filter in five shards.
  void Save() const {
    SplitBlockBloomFilter({.bytes = 320'000}).Save(first_, {.shard_bytes = 1 << 16});
  }
  fs::path Shard(uint64_t i) const { return detail::ShardPath(first_, i); }

  const fs::path first_ = folder_ / "f.tamis.0000";
};

// Another program makes a shard just before the library gives its name to a file.
TEST_F(ShardFaultTest, ShardThatExistsByNow_LeavesNoOther) {
  for (const bool unnamed : {true, false}) {
    for (uint64_t taken = 0; taken < kNumShards; ++taken) {
      SystemFaults faults;
      if (!unnamed) faults.openat = RefuseUnnamed;
      uint64_t left = kNumShards * (unnamed ? 2 : 1);  // calls, first for temporary names
      faults.linkat = [&] {
        --left;
        EXPECT_FALSE(fs::exists(first_)) << "the first shard is the last to get its name";
        if (left >= kNumShards) return 0;
        // Shards 1, 2, ... get their names, and then shard 0.
        EXPECT_TRUE(left == kNumShards - 1 || fs::exists(Shard(kNumShards - left - 1)));
        if ((kNumShards - left) % kNumShards == taken) WriteBytes(Shard(taken), {'x'});
        return 0;
      };
      ExpectError([&] { Save(); }, ErrorCode::kBusy, Shard(taken).string() + ": it has been made");
      EXPECT_EQ((kNumShards - left) % kNumShards, taken);
      EXPECT_EQ(ReadBytes(Shard(taken)), Bytes{'x'});
      EXPECT_EQ(folder_.NumFiles(), 1u);
      fs::remove(Shard(taken));
    }
  }
}

TEST_F(ShardFaultTest, FullDisk_LeavesNothing) {
  int good = 0;
  for (bool saved = false; !saved; ++good) {
    SystemFaults faults;
    int left = good;
    faults.write = [&]() -> std::optional<ssize_t> {
      if (left-- > 0) return std::nullopt;
      errno = ENOSPC;
      return -1;
    };
    try {
      Save();
      saved = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_EQ(folder_.NumFiles(), 0u);
    }
  }
  EXPECT_GT(good, 5);
  EXPECT_EQ(folder_.NumFiles(), kNumShards);
}

TEST_F(ShardFaultTest, UnnamedFilesThatCannotBeNamed_AreWrittenAgain) {
  SystemFaults faults;
  faults.linkat = [] { return EPERM; };
  Save();
  VerifyFile(first_);
  EXPECT_EQ(folder_.NumFiles(), kNumShards);
}

TEST_F(ShardFaultTest, OfSeveralThatSaveShards_AtMostOneSucceeds) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> saved = 0;
    {
      std::barrier start(4);
      std::vector<std::jthread> threads;
      for (uint64_t i = 1; i <= 4; ++i) {
        threads.emplace_back([&, i] {
          const SplitBlockBloomFilter filter({.bytes = i << 17});
          start.arrive_and_wait();
          try {
            filter.Save(first_, {.shard_bytes = 1 << 16});
            ++saved;
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kBusy) << error.what();
          }
        });
      }
    }
    ASSERT_LE(saved, 1);
    if (saved == 1) VerifyFile(first_);
    EXPECT_EQ(folder_.NumFiles() == 0, saved == 0);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
      fs::remove(entry.path());
    }
  }
}

TEST_F(ShardFaultTest, PipeInPlaceOfAShard_IsRefused) {
  Save();
  fs::remove(Shard(2));
  ASSERT_EQ(mkfifo(Shard(2).c_str(), 0600), 0);
  ExpectError([&] { ReadHeader(first_); }, ErrorCode::kIo, "f.tamis.0002: cannot read: not a regu");
}

using FileLockTest = FileReplaceTest;

TEST_F(FileLockTest, OnlyOneHasIt) {
  {
    const FileLock lock(path_);
    ExpectError([&] { FileLock again(path_); }, ErrorCode::kBusy, "f.tamis: it is locked");
    fs::create_symlink("f.tamis", folder_ / "link");
    ExpectError([&] { FileLock again(folder_ / "link"); }, ErrorCode::kBusy, "it is locked");
    FilterOf(2).Save(path_, {.lock = &lock});
    EXPECT_EQ(KeysIn(path_), 2u);
    const FileLock of_the_new_one(path_);
  }
  const FileLock free_again(path_);
  ExpectError([&] { FileLock none(folder_ / "none"); }, ErrorCode::kIo, "No such file");
}

// NFS refuses exclusive locks of files that are open for reading only.
TEST_F(FileLockTest, OnlyOneHasItOnNfs) {
  SystemFaults faults;
  faults.flock = [](int fd) { return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0; };
  {
    const FileLock lock(path_);
    ExpectError([&] { FileLock second(path_); }, ErrorCode::kBusy, "it is locked");
  }
  const FileLock free_again(path_);
}

TEST_F(FileReplaceTest, OnlyANewFileIsMadeIfThatIsMeant) {
  ExpectError([&] { FilterOf(2).Save(path_, {.only_new = true}); }, ErrorCode::kBusy,
              "f.tamis: it has been made in the meantime; nothing was saved");
  EXPECT_EQ(KeysIn(path_), 1u);
  ExpectError([&] { RequireSavable(path_, {.only_new = true}); }, ErrorCode::kBusy,
              "f.tamis: it exists, and must be a new file");
  fs::create_symlink("nowhere", folder_ / "link");
  RequireSavable(folder_ / "link", {.only_new = true});
  FilterOf(2).Save(folder_ / "link", {.only_new = true});
  EXPECT_EQ(KeysIn(folder_ / "nowhere"), 2u);
}

TEST_F(FileReplaceTest, OfSeveralThatMakeAFileOneSucceeds) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 50; ++round) {
    const fs::path path = folder_ / ("new" + std::to_string(round));
    std::atomic<int> made = 0, refused = 0;
    {
      std::barrier start(kThreads);
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
          const SplitBlockBloomFilter filter = FilterOf(3);
          start.arrive_and_wait();
          try {
            filter.Save(path, {.only_new = true});
            ++made;
          } catch (const Error& error) {
            refused += error.code() == ErrorCode::kBusy;
          }
        });
      }
    }
    ASSERT_EQ(made, 1);
    ASSERT_EQ(refused, kThreads - 1);
    ASSERT_EQ(KeysIn(path), 3u);
  }
  EXPECT_EQ(folder_.NumFiles(), 51u) << "and nothing temporary";
}

TEST_F(FileLockTest, AFileThatIsAnotherByNowIsNotReplaced) {
  const FileLock lock(path_);
  RequireSavable(path_, {.lock = &lock});
  FilterOf(2).Save(path_);  // a writer that has not read the file needs no lock
  ExpectError([&] { RequireSavable(path_, {.lock = &lock}); }, ErrorCode::kBusy,
              "f.tamis: it has been replaced in the meantime; nothing was saved");
  ExpectError([&] { FilterOf(3).Save(path_, {.lock = &lock}); }, ErrorCode::kBusy,
              "f.tamis: it has been replaced in the meantime; nothing was saved");
  EXPECT_EQ(KeysIn(path_), 2u);
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

}  // namespace tamis::file_replace_test
