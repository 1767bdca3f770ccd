#include "tools/options/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <tamis/filters/split_block_filter.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/system_faults.h"
#include "tests/tools/command_test.h"

namespace tamis::tools::signals_test {

class SignalsTest : public CommandTest {
 protected:
  void SetUp() override { TAMIS_SKIP_ON_WINDOWS("Windows has no signals between processes"); }

  // Starts a child that saves to "f", with unnamed files disabled, and that blocks in the middle of
  // saving.
  pid_t SaveForever(int ready) const {
    const pid_t child = fork();
    if (child != 0) return child;
    RemoveTemporaryFilesOnSignals();
    SystemFaults faults;
    faults.openat = [](int flags) { return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : 0; };
    faults.write = [&]() -> std::optional<ssize_t> {
      close(ready);
      for (;;) pause();
    };
    try {
      SplitBlockBloomFilter({.capacity = 1}).Save(Path("f"));
    } catch (...) {
    }
    _exit(1);
  }

  // Returns the wait status of a child that gets a signal while it saves.
  int StatusAfter(int number) const {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = SaveForever(pipe_ends[1]);
    close(pipe_ends[1]);
    char none;
    EXPECT_EQ(read(pipe_ends[0], &none, 1), 0);  // until the child closes its end
    close(pipe_ends[0]);
    EXPECT_EQ(NumFiles(), 1u);
    EXPECT_EQ(kill(child, number), 0);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
};

TEST_F(SignalsTest, EndTheProcessAndLeaveNoTemporaryFiles) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    const int status = StatusAfter(number);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_EQ(NumFiles(), 0u) << number;
  }
}

class ShardSignalsTest : public SignalsTest {
 protected:
  static constexpr size_t kShards = 40;

  // Returns what a child prints that saves shards, with unnamed files disabled, and gets `number`
  // when it makes its `n`th call of linkat, or when it synchronizes the last shard.
  std::string SaidAfter(int number, size_t n) const {
    const pid_t child = fork();
    if (child == 0) {
      const int said = open(Path("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(said, STDERR_FILENO);
      RemoveTemporaryFilesOnSignals();
      SayIfSavedOnSignals(Path("f.0000"));
      SystemFaults faults;
      faults.openat = [](int flags) { return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : 0; };
      size_t synchronized = 0, named = 0;
      faults.fsync = [&](int) {
        if (++synchronized == kShards && n == 0) raise(number);
        return 0;
      };
      faults.linkat = [&] {
        if (++named == n) raise(number);
        return 0;
      };
      SplitBlockBloomFilter({.bytes = kShards * 65'000})
          .Save(Path("f.0000"), {.shard_bytes = 1 << 16});
      _exit(1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    const std::string said = Read("said");
    std::filesystem::remove(Path("said"));
    return said;
  }
};

TEST_F(ShardSignalsTest, AnyNumberOfTemporaryFilesIsRemoved) {
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_EQ(SaidAfter(number, 0), "tamis: interrupted; " + Path("f.0000") + " was not written\n");
    EXPECT_EQ(NumFiles(), 0u);
  }
}

TEST_F(ShardSignalsTest, ShardsThatAreLeftAreReported) {
  EXPECT_EQ(SaidAfter(SIGINT, 1), "tamis: interrupted; " + Path("f.0000") + " was not written\n");
  EXPECT_EQ(NumFiles(), 0u);
  const std::string incomplete = "tamis: interrupted; " + Path("f.0000") +
                                 " was not written; remove .0001 and all other shards\n";
  EXPECT_EQ(SaidAfter(SIGTERM, 4), incomplete);
  EXPECT_EQ(NumFiles(), 3u);
  Ok("rm f.0001 f.0002 f.0003");
  EXPECT_EQ(SaidAfter(SIGINT, kShards), incomplete);
  EXPECT_EQ(NumFiles(), kShards - 1);
}

TEST_F(SignalsTest, TheOutputIsAsItWas) {
  Write("keys", "1\n2\n");
  Ok("tamis build -q -o f --kind cuckoo16 keys && cp f before && mkfifo pipe");
  struct Case {
    const char* command;
    const char* message;
  };
  const Case cases[] = {
      {"build -n 10 -o f pipe", "tamis: interrupted; f is unchanged\n"},
      {"build -n 10 -o new pipe", "tamis: interrupted; new was not written\n"},
      {"erase f pipe", "tamis: interrupted; f is unchanged\n"},
      {"erase f -o new pipe", "tamis: interrupted; new was not written\n"},
      {"query f --bitmap before pipe", "tamis: interrupted; before is unchanged\n"},
      {"query f pipe", ""},
  };
  for (const Case& c : cases) {
    // `exec` returns when the command has opened the pipe. The command then waits for more input.
    const CommandResult result = Sh("exec_tamis " + std::string(c.command) +
                                    " 2> said & pid=$!; exec 3> pipe; echo 1 >&3; kill -TERM $pid\n"
                                    "wait $pid");
    EXPECT_EQ(result.status, 128 + SIGTERM) << c.command;
    EXPECT_EQ(Read("said"), c.message) << c.command;
    EXPECT_FALSE(Exists("new"));
    Ok("cmp f before");
  }
}

TEST_F(SignalsTest, TheOutputIsSaved) {
  Write("keys", "1\n2\n");
  Ok("mkfifo out");
  struct Case {
    const char* command;
    const char* output;
  };
  const Case cases[] = {
      {"build --json -n 10 -o f keys", "f"},
      {"demo phones -q --numbers 1000 --save demo.tamis", "demo.tamis"},
  };
  for (const Case& c : cases) {
    // The command waits for a reader of its report.
    const CommandResult result =
        Sh("exec 3<>out\n"
           "dd if=/dev/zero of=out oflag=nonblock bs=4096 2> dd\n"
           "exec_tamis " +
           std::string(c.command) +
           " > out 2> said & pid=$!\n"
           "for i in $(seq 600); do\n"  // until it is in write(1, ...)
           "  grep -Eq '^(1|64) 0x1 ' /proc/$pid/syscall && break\n"
           "  sleep 0.05\n"
           "done\n"
           "kill -TERM $pid; wait $pid");
    EXPECT_EQ(result.status, 128 + SIGTERM) << c.command;
    EXPECT_EQ(Read("said"), "tamis: interrupted; " + std::string(c.output) + " is saved\n");
  }
  Ok("tamis verify f demo.tamis");
}

TEST_F(SignalsTest, EndTheProcessIfNobodyReadsItsMessages) {
  // `exec` returns when the command has opened the pipe. The command then waits for more input.
  const std::string interrupt = "exec 4> pipe; exec 3<&$kept; kill -TERM $pid; wait $pid";
  Ok("mkfifo pipe err");
  EXPECT_EQ(Sh("exec 3<>err; kept=3; dd if=/dev/zero of=err oflag=nonblock bs=1 2> dd\n"
               "exec_tamis build -q -n 10 -o new pipe 2> err & pid=$!\n" +
               interrupt)
                .status,
            128 + SIGTERM)
      << "nobody reads a pipe that is full";
  EXPECT_EQ(Sh("exec 3<>err; kept=-\n"
               "exec_tamis build -q -n 10 -o new pipe 2> err 3>&- & pid=$!\n" +
               interrupt)
                .status,
            128 + SIGTERM)
      << "nobody has it open";
  EXPECT_FALSE(Exists("new"));
}

// The terminal has room for a part of the message. A process that wrote the whole message would
// block until someone reads.
TEST_F(SignalsTest, EndTheProcessIfNobodyReadsItsTerminal) {
  std::vector<int> opened;
  const auto filled_with = [&](size_t most) {
    opened.push_back(posix_openpt(O_RDWR | O_NOCTTY));
    const char* const terminal = unlockpt(opened.back()) == 0 ? ptsname(opened.back()) : nullptr;
    opened.push_back(terminal == nullptr ? -1 : open(terminal, O_RDWR | O_NOCTTY | O_NONBLOCK));
    size_t size = 0;
    while (size < most && write(opened.back(), "x", 1) == 1) ++size;
    return size;
  };
  // Terminals differ in the number of bytes that they accept.
  const size_t all = filled_with(SIZE_MAX);
  if (opened.back() == -1) GTEST_SKIP() << "no pseudo-terminals here";
  pollfd room = {};
  for (int i = 0; i < 100 && room.revents != POLLOUT; ++i) {
    filled_with(all - 20);
    room = {opened.back(), POLLOUT, 0};
    poll(&room, 1, 0);
  }
  ASSERT_EQ(room.revents, POLLOUT);
  ASSERT_EQ(fcntl(room.fd, F_SETFL, 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(room.fd, STDERR_FILENO);
    RemoveTemporaryFilesOnSignals();
    SayIfSavedOnSignals(std::string(PIPE_BUF, 'x'));
    raise(SIGTERM);
    _exit(1);
  }
  int status = 0;
  for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(10'000);
  kill(child, SIGKILL);  // does nothing if the child has ended
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  for (const int fd : opened) close(fd);
}

// The whole message must fit into a pipe; otherwise the handler would block until someone reads.
TEST_F(SignalsTest, TheirMessageIsShort) {
  Ok("mkfifo pipe err");
  const std::string name(200, '\1');  // each byte is shown as four characters
  std::string folder;
  for (int depth = 0; depth < 6; ++depth) folder += name + "/";
  const CommandResult result =
      Sh("mkdir -p '" + folder + "'; exec 3<>err\n" + "exec_tamis build -q -n 10 -o '" + folder +
         "new' pipe 2> err & pid=$!\n"
         "exec 4> pipe; kill -TERM $pid; wait $pid; dd if=err iflag=nonblock bs=8192 2> dd");
  EXPECT_EQ(result.out.size(), size_t{PIPE_BUF});
  EXPECT_EQ(result.out.substr(0, 23), "tamis: interrupted; ...");
  EXPECT_TRUE(result.out.ends_with("/new was not written\n"));
  // Cut between two letters, because the seventh omitted byte is inside a letter.
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += "\xC3\xA9";
  folder.clear();
  for (int depth = 0; depth < 20; ++depth) folder += letters + "/";
  folder += letters.substr(0, 40) + "/";
  const CommandResult named =
      Sh("mkdir -p '" + folder + "'; exec 3<>err\n" + "exec_tamis build -q -n 10 -o '" + folder +
         "no' pipe 2> err & pid=$!\n"
         "exec 4> pipe; kill -TERM $pid; wait $pid; dd if=err iflag=nonblock bs=8192 2> dd");
  EXPECT_EQ(named.out.substr(0, 25), "tamis: interrupted; ...\xC3\xA9");
  EXPECT_EQ(named.out.size(), size_t{PIPE_BUF} - 1);
}

// The bitmap is larger than the buffer, so a part of it is in the file when the signal comes. How
// large the first part is depends on the machine: the buffer is written before the batch that would
// overfill it.
TEST_F(SignalsTest, AnIncompleteBitmapIsDiscarded) {
  Write("keys", "1\n2\n");
  Ok("tamis build -q -o f keys; mkfifo pipe");
  const auto end_while_writing = [&](const std::string& bitmap) {
    return Sh("exec_tamis query f --u64 --any-type --count --bitmap " + bitmap +
              " pipe 2> said & pid=$!; exec 3> pipe; head -c 100000000 /dev/zero >&3\n"
              "for i in $(seq 600); do\n"
              "  [ $(wc -c < " +
              bitmap +
              ") -lt 100000 ] || break\n"
              "  sleep 0.05\n"
              "done\n"
              "wc -c < " +
              bitmap + "; kill -TERM $pid; wait $pid");
  };
  const CommandResult made = end_while_writing("new");
  EXPECT_EQ(made.status, 128 + SIGTERM);
  EXPECT_GE(std::stoul(made.out), 100'000u) << "not interrupted in the middle";
  EXPECT_LT(std::stoul(made.out), 100'000'000u / 64) << "not interrupted in the middle";
  EXPECT_EQ(Read("said"), "tamis: interrupted; new was not written\n");
  EXPECT_FALSE(Exists("new"));
  Write("old", "of before");
  EXPECT_EQ(end_while_writing("old").status, 128 + SIGTERM);
  EXPECT_EQ(Read("old").size(), 0u);
}

// The limit is 2 KiB (4 blocks of 512 bytes). Every output here is longer.
TEST_F(SignalsTest, OutputPastTheLimitOfAFilesSize_IsAnError) {
  Write("keys", Numbers(1, 20'000));
  Ok("tamis build -q -o f keys; mkdir empty; cp keys empty; cp f empty");
  struct Case {
    const char* command;
    const char* error;
  };
  const Case cases[] = {
      {"build -q -o new keys", "new: cannot write: File too large"},
      {"merge -o new f f", "new: cannot write: File too large"},
      {"query f keys --bitmap new -q", "File too large"},
      {"dedup -q keys > out", "cannot write standard output: File too large"},
      {"dedup -q --filter new keys > /dev/null", "new: cannot write: File too large"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh("cd empty; (ulimit -f 4; tamis " + std::string(c.command) +
                                    ") 2> ../said; echo $?; rm -f out; ls -A");
    EXPECT_EQ(result.out, "3\nf\nkeys\n") << c.command << "\n" << Read("said");
    EXPECT_NE(Read("said").find(c.error), std::string::npos) << c.command << "\n" << Read("said");
  }
}

TEST_F(SignalsTest, IgnoredOnesStayIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  RemoveTemporaryFilesOnSignals();
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

}  // namespace tamis::tools::signals_test
