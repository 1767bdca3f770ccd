// tamis build: every form of keys, sizes, and messages about bad input.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::build_test {

class BuildTest : public CommandTest {};

TEST_F(BuildTest, EveryKeyIsFoundAgainAndFewOthersAre) {
  Write("keys", Numbers(1, 20000));
  Write("others", Numbers(100000, 20000));
  const CommandResult build = Ok("tamis build -o f.tamis keys");
  EXPECT_TRUE(build.ErrHas("counted 20,000 keys")) << build.err;
  EXPECT_EQ(Ok("tamis query f.tamis keys").out, Read("keys"));
  const size_t wrong = Ok("tamis query f.tamis others").NumLines();
  EXPECT_GT(wrong, 100U);  // 200 are expected
  EXPECT_LT(wrong, 300U);
}

TEST_F(BuildTest, InputFormsGiveTheSameFilter) {
  Write("lines", Numbers(5, 1000));
  std::string csv = "id,name\r\n";
  std::string tsv;
  std::vector<uint64_t> values;
  for (uint64_t i = 5; i < 1005; ++i) {
    csv += "\"" + std::to_string(i) + "\",x\r\n";
    tsv += "x\t" + std::to_string(i) + "\n";
    values.push_back(i);
  }
  Write("keys.csv", csv);
  Write("keys.tsv", tsv);
  WriteU64("keys.u64", values);
  const std::string build = "tamis build -q --capacity 1000 ";
  Ok(build + "-o strings lines");
  Ok(build + "-o csv --csv --header keys.csv");
  Ok(build + "-o csv_name --csv --column id keys.csv");
  Ok(build + "-o tsv --tsv --column 2 keys.tsv");
  Ok(build + "-o integers --integers lines");
  Ok(build + "-o integers_csv --integers --csv --column id keys.csv");
  Ok(build + "-o u64 --u64 keys.u64");
  Ok("cmp strings csv && cmp strings csv_name && cmp strings tsv");
  Ok("cmp integers integers_csv && cmp integers u64");
  EXPECT_NE(Sh("cmp strings integers").status, 0);
}

TEST_F(BuildTest, NegativeIntegersAreTheirTwosComplement) {
  Write("lines", "-1\n-9223372036854775808\n18446744073709551615\n0\n");
  WriteU64("u64", std::vector<uint64_t>{~uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}, 0});
  Ok("tamis build -o a --integers lines && tamis build -o b --u64 u64 && cmp a b");
}

TEST_F(BuildTest, LineEndsAndByteOrderMarksAreNotPartOfKeys) {
  Write("lf", "ab\ncd\nef\n");
  Write("crlf",
        "\xEF\xBB\xBF"
        "ab\r\ncd\r\nef");
  Ok("tamis build -o a lf && tamis build -o b crlf && cmp a b");
}

TEST_F(BuildTest, FilesAreNotJoined) {
  Write("one", "ab\ncd");  // no line end
  Write("two", "ef\n");
  Write("all", "ab\ncd\nef\n");
  Ok("tamis build -o a one two && tamis build -o b all && cmp a b");
}

TEST_F(BuildTest, StandardInputStreams) {
  // Several blocks of 8 MiB. Lines cross the ends of blocks.
  Ok("seq 1 2500000 > keys && tamis build -o a keys");
  Ok("cat keys | tamis build -o b --capacity 2_500_000");
  Ok("cat keys | tamis build -o c --capacity 2.5M -");
  Ok("cmp a b && cmp a c");
  EXPECT_EQ(Ok("cat keys | tamis query a --count").out, "2500000/2500000\n");
}

TEST_F(BuildTest, StandardInputNeedsACapacity) {
  const CommandResult result = Sh("seq 10 | tamis build -o f");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("--capacity")) << result.err;
  EXPECT_FALSE(Exists("f"));
}

TEST_F(BuildTest, BackendsAndThreadsGiveTheSameFile) {
  Write("keys", Numbers(1, 100000));
  Ok("tamis build -o a keys");
  Ok("tamis build -o b --backend portable --threads 1 keys && cmp a b");
  Ok("tamis build -o c --threads 5 --no-huge-pages --interleave keys && cmp a c");
}

TEST_F(BuildTest, EmptyInputMakesAnEmptyFilterIfThatIsMeant) {
  Write("keys", "");
  Ok("tamis build -o f --allow-empty keys");
  EXPECT_EQ(Ok("seq 1000 | tamis query f --count").out, "0/1000\n");
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 0);
}

TEST_F(BuildTest, BadLinesAreReportedWithTheirNumbers) {
  Write("keys", "1\n\nthree\n4\n99999999999999999999\n+6\n 7\n8 \n0x9\n10");
  const CommandResult result = Sh("tamis build -o f --integers --max-bad 6 keys");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("keys:2: an empty key")) << result.err;
  EXPECT_TRUE(result.ErrHas("keys:3: not a decimal integer: \"three\"")) << result.err;
  EXPECT_TRUE(result.ErrHas("keys:5: an integer of more than 64 bits")) << result.err;
  EXPECT_TRUE(result.ErrHas("7 bad lines skipped, 1 of them empty (the first 5 are shown)"))
      << result.err;
  EXPECT_FALSE(result.ErrHas("keys:9")) << "only the first few: " << result.err;
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 3);
}

TEST_F(BuildTest, StrictEndsAtTheFirstBadLine) {
  Write("keys", "1\n2\nthree\n");
  for (const char* options : {"", "--capacity 10 "}) {
    const CommandResult result =
        Sh("tamis build -o f --strict --integers " + std::string(options) + "keys");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.ErrHas("keys:3: not a decimal integer: \"three\"")) << result.err;
    EXPECT_EQ(NumFiles(), 1U) << "nothing is saved";
  }
}

TEST_F(BuildTest, BytesOfAnIncompleteIntegerAreBad) {
  Write("keys", std::string(19, 'x'));
  const CommandResult result = Sh("tamis build -o f --u64 --max-bad 1 keys");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("keys: offset 16: ")) << result.err;
  EXPECT_TRUE(result.ErrHas("1 bad line skipped")) << result.err;
  EXPECT_EQ(Sh("tamis build -o f --u64 --strict keys").status, 2);
}

TEST_F(BuildTest, TooManyKeysGiveAWarningWithTheRate) {
  Write("keys", Numbers(1, 5000));
  const CommandResult refused = Sh("tamis build -o f --capacity 1000 keys");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.ErrHas("5,000 keys in a filter for 1,000 make its false-positive rate 8"))
      << refused.err;
  EXPECT_FALSE(Exists("f"));
  const CommandResult result = Sh("tamis build -o f --capacity 1000 --overfull keys");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("warning: 5,000 keys were inserted into a filter for 1,000"))
      << result.err;
  // (1 - (31/32)^119)^8 for 5000 keys in 42 blocks.
  EXPECT_TRUE(result.ErrHas("false-positive rate is 8")) << result.err;
  EXPECT_EQ(Sh("tamis build -o f --capacity 3000 keys").status, 0) << "not ten times the rate";

  // The requested rate is the default. The only block of a filter for 10 keys has a far lower rate.
  Write("few", Numbers(1, 20));
  EXPECT_EQ(Sh("tamis build -o f --capacity 10 few").status, 0);
  EXPECT_EQ(Sh("tamis build -o f --capacity 10 --for-bank few").status, 0);
  EXPECT_TRUE(Sh("tamis build -o f --capacity 10 keys").ErrHas("and 1.000% was requested"));
}

TEST_F(BuildTest, SizeAndHashAreAsAskedFor) {
  Write("keys", Numbers(1, 10));
  const auto info = [&](const std::string& options) {
    return Ok("tamis build -q -o f " + options + " keys && tamis info f --json --header").Json();
  };
  EXPECT_EQ(info("--bytes 1000")["bytes"], 992);  // whole blocks
  EXPECT_EQ(info("--bytes 64KiB")["bytes"], 65536);
  EXPECT_EQ(info("--bytes 64kB")["bytes"], 64000);
  EXPECT_EQ(info("--capacity 1e6")["capacity"], 1000000);
  EXPECT_LT(info("--capacity 1e6 --fpr 0.1%")["fpr_at_capacity"], 0.001);
  EXPECT_GT(info("--capacity 1e6 --fpr 0.001")["fpr_at_capacity"], 0.00099);
  EXPECT_EQ(info("")["hash"], "xxh3");
  EXPECT_EQ(info("--hash xxh64")["hash"], "xxh64");
  EXPECT_EQ(info("--seed 0xFFFFFFFFFFFFFFFF")["seed"], ~uint64_t{0});
  EXPECT_NE(info("--seed random")["seed"], info("--seed random")["seed"]);
}

TEST_F(BuildTest, ReportsInJson) {
  Write("keys", Numbers(1, 1000) + "\n");
  const CommandResult result = Sh("tamis build -o f --capacity 1000 --json --threads 2 keys");
  ASSERT_EQ(result.status, 0);
  const nlohmann::json json = result.Json();
  EXPECT_EQ(json["inserted"], 1000);
  EXPECT_EQ(json["bad_lines"], 1);
  EXPECT_EQ(json["empty_lines"], 1);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_LE(json["fpr_if_distinct"].get<double>(), 0.01);
  EXPECT_GT(json["fpr_if_distinct"].get<double>(), 0.009);  // 42 whole blocks for 41.1
}

TEST_F(BuildTest, LeavesNothingWhenItIsStopped) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  const CommandResult result =
      Sh("mkfifo pipe\n"
         "exec_tamis build -o f --capacity 1000 pipe & child=$!\n"
         "exec 3> pipe; seq 100 >&3; sleep 0.3\n"
         "kill -TERM $child; wait $child");
  EXPECT_EQ(result.status, 128 + 15) << result.err;
  EXPECT_EQ(NumFiles(), 1U);
}

// The script kills the command as soon as it starts to write. Writing takes a while.
TEST_F(BuildTest, LeavesNothingWhenItIsKilledWhileSaving) {
  TAMIS_SKIP_ON_WINDOWS("files without names need Linux");
  if (Sh("test -d /proc/self/fd").status != 0) GTEST_SKIP() << "no /proc to see the writing by";
#ifdef O_TMPFILE
  const int unnamed = open(Path(".").c_str(), O_TMPFILE | O_WRONLY, 0600);
#else
  const int unnamed = -1;
#endif
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without names";
  close(unnamed);
  const CommandResult result =
      Sh("echo 1 > keys\n"
         "exec_tamis build -o f --bytes 256M keys & child=$!\n"
         "while kill -0 $child && ! ls -l /proc/$child/fd | grep -q \"$PWD/[#.]\"; do :; done\n"
         "kill -KILL $child; wait $child; ls -A");
  if (result.out != "keys\n") {
    EXPECT_EQ(result.out, "f\nkeys\n") << "saved before it could be killed";
  }
}

TEST_F(BuildTest, KeepsTheOldFileWhenItFails) {
  Write("f", "precious");
  Write("keys", "x\n");
  EXPECT_EQ(Sh("tamis build -o f --strict --integers keys").status, 2);
  EXPECT_EQ(Sh("tamis build -o f missing").status, 3);
  EXPECT_EQ(Read("f"), "precious");
  EXPECT_EQ(Sh("tamis build -o keys keys").status, 2) << "the output is an input";
  EXPECT_EQ(Read("keys"), "x\n");
}

TEST_F(BuildTest, ShardsAreOpenedByTheFirst) {
  Write("keys", Numbers(1, 200000));
  Ok("tamis build -q -o whole.tamis keys");
  Ok("tamis build -q -o f.tamis.0000 --shard 64K keys && cat f.tamis.???? | cmp - whole.tamis");
  Ok("split -b 192K -d -a 4 whole.tamis split.tamis. && tamis verify split.tamis.0000");
  for (const char* const file : {"f.tamis.0000", "split.tamis.0000"}) {
    EXPECT_EQ(Ok(std::string("tamis query --no-map ") + file + " keys").out, Read("keys"));
    if (IsForWindows()) continue;
    EXPECT_EQ(Ok(std::string("tamis query ") + file + " keys").out, Read("keys"));
  }
  Ok("tamis merge -q -o m.tamis.0000 --shard 64K f.tamis.0000 whole.tamis");
  EXPECT_EQ(Ok("tamis query --no-map m.tamis.0000 keys").out, Read("keys"));
  const CommandResult again = Sh("tamis build -q -o f.tamis.0000 --shard 64K keys");
  EXPECT_TRUE(again.ErrHas("f.tamis.0000: it exists")) << again.err;
  Ok("cat f.tamis.???? | cmp - whole.tamis");
  Ok("rm f.tamis.0002");
  const CommandResult missing = Sh("tamis query --no-map f.tamis.0000 keys");
  EXPECT_TRUE(missing.ErrHas("f.tamis.0002: cannot open")) << missing.err;
}

// 40 shards need 40 descriptors and a few others.
TEST_F(BuildTest, ShardsFitTheLimitOfOpenFiles) {
  TAMIS_SKIP_ON_WINDOWS("Windows has no such limit");
  Write("keys", Numbers(1, 10));
  const std::string build = "tamis build -q --bytes 2600K -n 1000 --shard 64K ";
  Ok("ulimit -n 60; " + build +
     "-o f.tamis.0000 keys && test -e f.tamis.0040 && "
     "tamis query --count f.tamis.0000 keys && tamis verify f.tamis.0000");
  // Found before the keys are read: nobody writes to the pipe.
  Ok("mkfifo pipe");
  const CommandResult many = Sh("ulimit -n 50; exec 3<>pipe; " + build + "-o g.tamis.0000 pipe");
  EXPECT_EQ(many.status, 2);
  EXPECT_TRUE(many.ErrHas("the filter would have 41 shards")) << many.err;
  EXPECT_TRUE(many.ErrHas("may have 50 files open (see `ulimit -n`)")) << many.err;
#if !defined(__SANITIZE_ADDRESS__)  // a sanitizer needs descriptors itself
  const CommandResult opened = Sh("ulimit -n 30; tamis query --count f.tamis.0000 keys");
  EXPECT_TRUE(opened.ErrHas(": cannot open: ") && opened.ErrHas(" (`ulimit -n` ")) << opened.err;
#endif
  Ok("tamis build -q -o whole --bytes 2600K -n 1000 keys");
  for (const char* const script : {"merge -q -o g.tamis.0000 --shard 64K whole whole",
                                   "bank build -q -o g.tamis.0000 --shard 64K whole"}) {
    const CommandResult other = Sh("ulimit -n 50; tamis " + std::string(script));
    EXPECT_TRUE(other.ErrHas("the filter would have 41 shards")) << other.err;
  }
}

TEST_F(BuildTest, AbsurdSizesAreReportedWithABetterKind) {
  Write("keys", Numbers(1, 1000));
  const CommandResult absurd = Sh("tamis build -o f.tamis --kind cuckoo8 --fpr 0.1% keys");
  EXPECT_EQ(absurd.status, 0);
  EXPECT_TRUE(absurd.ErrHas("warning: at 0.1% a cuckoo8 filter takes ")) << absurd.err;
  EXPECT_TRUE(absurd.ErrHas("a cuckoo16 filter can do the same and takes ")) << absurd.err;
  Ok("tamis build -o f.tamis --kind cuckoo16 --fpr 0.1% keys");
}

TEST_F(BuildTest, SizesOutOfAllProportionAreRefused) {
  Write("keys", Numbers(1, 16));
  const CommandResult absurd = Sh("tamis build -o f.tamis --kind cuckoo8 --fpr 1e-7 keys");
  EXPECT_EQ(absurd.status, 2);
  EXPECT_TRUE(absurd.ErrHas("a cuckoo8 filter takes ")) << absurd.err;
  EXPECT_FALSE(Exists("f.tamis"));
  EXPECT_EQ(Sh("tamis build -q -o f.tamis --kind cuckoo8 --fpr 1e-7 --oversized keys").status, 0);
  Ok("tamis build -q -o f.tamis --fpr 1e-7 keys");
}

}  // namespace tamis::tools::build_test
