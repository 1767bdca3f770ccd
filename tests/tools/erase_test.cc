// Erasing keys from filters with the command.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::erase_test {

class EraseTest : public CommandTest {
 protected:
  EraseTest() {
    Write("all", Numbers(1, 20'000));
    Write("some", Numbers(1, 5'000, 2));
  }
};

TEST_F(EraseTest, ErasedKeysAreGoneAndAllOthersFound) {
  for (const std::string kind : {"cuckoo8", "cuckoo12", "cuckoo16"}) {
    SCOPED_TRACE(kind);
    Ok("tamis build -q --kind " + kind + " -o f.tamis all");
    EXPECT_EQ(Ok("tamis query f.tamis --count all").out, "20000/20000\n");
    const auto json = Ok("tamis erase -q --json f.tamis some").Json();
    EXPECT_EQ(json["kind"], kind);
    EXPECT_EQ(json["erased"], 5'000);
    EXPECT_EQ(json["not_found"], 0);
    EXPECT_EQ(json["inserted"], 15'000);
    Ok("tamis verify -q f.tamis");
    Write("rest", Numbers(2, 5'000, 2) + Numbers(10'001, 10'000));
    EXPECT_EQ(Ok("tamis query f.tamis --count rest").out, "15000/15000\n");
    const std::string found = Ok("tamis query f.tamis --count some").out;
    EXPECT_LT(std::stoi(found), 250) << "of 5000";  // 2.2% of cuckoo8 at this fill
  }
}

TEST_F(EraseTest, WritesElsewhereIfAsked) {
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  const std::string before = Read("f.tamis");
  const CommandResult result = Sh("tamis erase f.tamis -o g.tamis some");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("5,000 of 5,000 keys found and erased, 15,000 left"));
  EXPECT_EQ(Read("f.tamis"), before);
  EXPECT_EQ(Ok("tamis info --json g.tamis").Json()["inserted"], 15'000);
}

TEST_F(EraseTest, KeysThatAreNotThereAreRefusedAndNothingIsErased) {
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  Write("one more", Numbers(1, 100) + "never\n" + Numbers(101, 100));
  const std::string before = Read("f.tamis");
  const CommandResult result = Sh("tamis erase f.tamis 'one more'");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("f.tamis: 1 of 201 keys are not in the filter (first: key 101)"))
      << result.err;
  EXPECT_EQ(Read("f.tamis"), before);
  Ok("tamis erase -q f.tamis some");
  const std::string once = Read("f.tamis");
  EXPECT_EQ(Sh("tamis erase -q f.tamis some").status, 2) << "the same list again";
  EXPECT_EQ(Read("f.tamis"), once);
}

TEST_F(EraseTest, AListWithAKeyMoreOftenThanTheFilterIsRefused) {
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  const std::string before = Read("f.tamis");
  const CommandResult result = Sh("cat some some | tamis erase f.tamis");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.ErrHas("keys are in the list more often than in the filter; nothing was erased"))
      << result.err;
  EXPECT_EQ(Read("f.tamis"), before);
  Ok("cat all all | tamis build -q -t cuckoo16 -n 60000 -o twice.tamis");
  EXPECT_TRUE(Sh("cat some some | tamis erase twice.tamis").ErrHas("10,000 of 10,000 keys found"));
}

TEST_F(EraseTest, KeysThatAreNotThereAreCountedIfTheyMayBeMissing) {
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  Write("twice", Numbers(1, 100) + Numbers(1, 100));
  const auto json = Ok("tamis erase -q --missing-ok --json f.tamis twice").Json();
  EXPECT_EQ(json["keys"], 200);
  EXPECT_EQ(json["erased"], 100);
  EXPECT_EQ(json["not_found"], 100);
}

TEST_F(EraseTest, OtherKindsAreRefusedAndLeftAlone) {
  Ok("tamis build -q -o f.tamis all");
  const std::string before = Read("f.tamis");
  const CommandResult result = Sh("tamis erase f.tamis some");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("cannot be erased from a split-block filter")) << result.err;
  EXPECT_EQ(Read("f.tamis"), before);
}

TEST_F(EraseTest, TheFileKeepsItsModeAndIsOnlyReplacedIfItMayBeWritten) {
  TAMIS_SKIP_ON_WINDOWS("files have no mode on Windows, and wine does not show links");
  Ok("tamis build -q -t cuckoo16 -o f.tamis all && chmod 600 f.tamis && ln -s f.tamis link");
  Ok("tamis erase -q link some && test -L link");
  EXPECT_EQ(Ok("ls -l f.tamis").out.rfind("-rw-------", 0), 0U);
  const std::string before = Read("f.tamis");
  const CommandResult result = Sh("chmod 444 f.tamis; tamis erase f.tamis some");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(result.ErrHas("f.tamis: cannot write: it is read-only")) << result.err;
  EXPECT_EQ(Read("f.tamis"), before);
  Ok("tamis erase -q --missing-ok --replace-read-only f.tamis all");
  EXPECT_EQ(Ok("tamis info --json f.tamis").Json()["inserted"], 0);
}

// The first command waits for keys from a pipe while the second command runs.
TEST_F(EraseTest, OfTwoAtOnceTheSecondIsRefused) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  Write("others", Numbers(2, 5'000, 2));
  const CommandResult result =
      Sh("mkfifo pipe; exec_tamis erase -q f.tamis pipe & exec 3> pipe\n"
         "tamis erase f.tamis others; echo $?\n"
         "tamis merge -q -o f.tamis f.tamis f.tamis; echo $?\n"
         "cat some >&3; exec 3>&-; wait $! && tamis erase -q f.tamis others; echo $?");
  EXPECT_EQ(result.out, "3\n3\n0\n");
  EXPECT_TRUE(result.ErrHas("tamis: f.tamis: it is locked for a change; try again"));
  EXPECT_EQ(Ok("tamis info --json f.tamis").Json()["inserted"], 10'000);
}

TEST_F(EraseTest, AFileThatIsReplacedDuringTheRunIsLeftAlone) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  const CommandResult result =
      Sh("mkfifo pipe; exec_tamis erase -q f.tamis pipe & exec 3> pipe\n"
         "tamis build -q -t cuckoo16 -o f.tamis some; cat some >&3; exec 3>&-; wait $!");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(result.ErrHas("it has been replaced in the meantime")) << result.err;
  EXPECT_EQ(Ok("tamis info --json f.tamis").Json()["inserted"], 5'000);
}

TEST_F(EraseTest, AFilterThatIsFullIsNotSaved) {
  std::string copies;
  for (int i = 0; i < 9; ++i) copies += "the same\n";
  Write("copies", copies);
  const CommandResult result = Sh("tamis build -t cuckoo8 -o f.tamis --capacity 1000 copies");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("key 9 does not fit")) << result.err;
  EXPECT_FALSE(Exists("f.tamis"));
}

TEST_F(EraseTest, CuckooFiltersAreNotMerged) {
  Ok("tamis build -q -t cuckoo12 -o f.tamis all");
  const CommandResult result = Sh("tamis merge -o g.tamis f.tamis f.tamis");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("cannot merge f.tamis: a cuckoo filter has one slot")) << result.err;
  EXPECT_FALSE(Exists("g.tamis"));
}

TEST_F(EraseTest, UnknownKindsAreRefusedWithTheKnownOnes) {
  const CommandResult result = Sh("tamis build --kind cuckoo9 -o f.tamis all");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("cuckoo12")) << result.err;
}

TEST_F(EraseTest, InfoTellsOfCuckooFilters) {
  Ok("tamis build -q -t cuckoo16 -o f.tamis all");
  const auto info = Ok("tamis info --json f.tamis").Json();
  EXPECT_EQ(info["kind"], "cuckoo16");
  EXPECT_EQ(info["chunks"], 1);
  EXPECT_EQ(info["bytes"].get<uint64_t>(), 8 * info["chunk_buckets"].get<uint64_t>());
  EXPECT_NE(Ok("tamis info f.tamis").out.find("minus those erased"), std::string::npos);
}

}  // namespace tamis::tools::erase_test
