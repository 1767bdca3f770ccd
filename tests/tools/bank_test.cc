// Filter banks in the command: building, changing, querying.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::bank_test {

constexpr int kFilters = 12;

// Filters 1.tamis to 12.tamis, in f/. Filter i has the 500 numbers from 1000 i on.
class BankTest : public CommandTest {
 protected:
  BankTest() {
    std::string script = "mkdir f\n";
    for (int i = 1; i <= kFilters; ++i) {
      const std::string name = std::to_string(i);
      Write(name, Numbers(static_cast<uint64_t>(1000 * i), 500));
      script += "tamis build -q --for-bank -o f/" + name + ".tamis " + name + "\n";
    }
    Ok(script);
  }

  std::set<std::string> Pairs(const std::string& script) const {
    const std::vector<std::string> lines = Lines(Ok(script).out);
    return {lines.begin(), lines.end()};
  }
};

TEST_F(BankTest, PairsEqualTheFiltersOneByOne) {
  EXPECT_TRUE(Sh("tamis bank build -o b f").ErrHas("b: added 12, now 12 members in 1 group"));
  Write("keys", Numbers(2'900, 3'000));
  std::string one_by_one;
  for (int i = 1; i <= kFilters; ++i) {
    const std::string name = std::to_string(i);
    one_by_one += "tamis query f/" + name + ".tamis keys | sed 's/$/\t" + name + "/'\n";
  }
  const std::set<std::string> want = Pairs(one_by_one);
  EXPECT_GE(want.size(), 1'500U);
  EXPECT_EQ(Pairs("tamis bank query b keys"), want);
  EXPECT_EQ(Pairs("tamis bank query b --no-map keys"), want);
  EXPECT_EQ(Pairs("tamis bank query b --threads 2 --verify - < keys"), want);

  const auto json = Ok("tamis bank query b --json keys").Json();
  EXPECT_EQ(json["keys"], 3'000);
  EXPECT_EQ(json["pairs"], want.size());
  std::set<std::string> found;
  for (const std::string& pair : want) found.insert(pair.substr(0, pair.find('\t')));
  EXPECT_EQ(json["found"], found.size());
  EXPECT_EQ(Ok("tamis bank query b --count keys").out, std::to_string(found.size()) + "/3000\n");
  EXPECT_EQ(Ok("tamis bank query b --invert keys").NumLines(), 3'000 - found.size());
  EXPECT_EQ(Ok("tamis bank query b --invert --count keys").out,
            std::to_string(3'000 - found.size()) + "/3000\n");
}

TEST_F(BankTest, IntegersAreShownAsTheyWereGiven) {
  Ok("printf '%s\\n' -3 18446744073709551614 007 > keys; tamis build -q --for-bank --integers -o "
     "i.tamis keys");
  Ok("tamis bank build -q -o b i.tamis");
  EXPECT_EQ(Ok("tamis bank query b --integers keys").out,
            "-3\ti\n18446744073709551614\ti\n007\ti\n");
  EXPECT_EQ(
      Ok("printf '\\375\\377\\377\\377\\377\\377\\377\\377' | tamis bank query b --u64 -").out,
      "18446744073709551613\ti\n");
}

TEST_F(BankTest, CountsPerMemberComeBestFirst) {
  Ok("tamis bank build -q -o b f/*.tamis");
  Write("keys", Numbers(3'000, 400) + Numbers(7'000, 300));
  EXPECT_EQ(Ok("tamis bank query b --count-per-member --at-least 300 keys").out.substr(0, 2),
            "3\t");
  const std::vector<std::string> best =
      Lines(Ok("tamis bank query b --count-per-member --top 2 keys").out);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].substr(0, 2), "3\t");
  EXPECT_GE(std::stoi(best[0].substr(2)), 400);
  EXPECT_EQ(best[1].substr(0, 2), "7\t");
  const auto json = Ok("tamis bank query b --count-per-member --top 2 --json keys").Json();
  EXPECT_EQ(json["counts"][0]["name"], "3");
  EXPECT_EQ(json["counts"].size(), 2U);
}

TEST_F(BankTest, FiltersAreAddedAndRemoved) {
  Ok("tamis bank build -q -o b f/1.tamis f/2.tamis");
  Write("keys", Numbers(3'000, 500));
  const auto of_third = [&] {
    return Ok("tamis bank query b --count-per-member --at-least 500 keys").out;
  };
  EXPECT_EQ(of_third(), "");
  EXPECT_EQ(Ok("tamis bank add -q --json b f/3.tamis").Json()["members"], 3);
  EXPECT_EQ(of_third(), "3\t500\n");
  Ok("tamis bank remove -q b 3");
  EXPECT_EQ(of_third(), "");
  EXPECT_EQ(Ok("tamis bank info --json b").Json()["groups"][0]["removed"], 1);
  Ok("tamis bank remove -q --compact b 2");
  const auto json = Ok("tamis bank info --json --members b").Json();
  EXPECT_EQ(json["groups"][0]["removed"], 0);
  EXPECT_EQ(json["member_list"].size(), 1U);
  EXPECT_EQ(json["member_list"][0]["name"], "1");
  EXPECT_EQ(json["member_list"][0]["inserted"], 500);
  EXPECT_TRUE(Ok("tamis bank info --members b").out.find("1 of 512 filters") != std::string::npos);
}

TEST_F(BankTest, NamesAreFilesOrTheirPaths) {
  Ok("mkdir g && cp f/2.tamis g/1.tamis");
  const CommandResult twice = Sh("tamis bank build -o b f/1.tamis g/1.tamis");
  EXPECT_EQ(twice.status, 2);
  EXPECT_TRUE(twice.ErrHas("g/1.tamis: the bank has a member \"1\" already; give --paths"))
      << twice.err;
  EXPECT_FALSE(Exists("b"));
  Ok("tamis bank build -q --paths -o b f/1.tamis g/");
  Write("key", "2001\n");
  EXPECT_EQ(Ok("tamis bank query b key").out, "2001\tg/1.tamis\n");
  TAMIS_SKIP_ON_WINDOWS("names have no control characters on Windows");
  Ok("cp f/3.tamis \"$(printf 'f/a\\tb.tamis')\"; rm b; tamis bank build -q -o b f/a*");
  Write("key", "3001\n");
  EXPECT_EQ(Ok("tamis bank query b key").out, "3001\ta\\x09b\n");
  // JSON has the names unchanged, and also the indexes, because two names may look the same.
  const auto counts = Ok("tamis bank query b --json --count-per-member key").Json()["counts"];
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0]["name"], "a\tb");
  EXPECT_EQ(counts[0]["index"], 0);
}

TEST_F(BankTest, MembersInShardsAreNamedWithoutTheirNumber) {
  TAMIS_SKIP_ON_WINDOWS("members are mapped, and shards cannot be mapped there");
  Write("keys", Numbers(1, 100'000));
  Ok("mkdir g; tamis build -q --for-bank -o g/big.tamis.0000 --shard 64K keys; "
     "tamis build -q --for-bank -o g/small.tamis.0000 --shard 64K 1; "
     "tamis build -q --for-bank -o part.0000 1; test -e g/big.tamis.0001");
  Ok("tamis bank build -q -o b g part.0000");
  const auto counts = Ok("tamis bank query b --json --count-per-member keys").Json()["counts"];
  ASSERT_EQ(counts.size(), 3U);
  std::set<std::string> names;
  for (const auto& member : counts) names.insert(member["name"]);
  EXPECT_EQ(names, (std::set<std::string>{"big", "small", "part.0000"}));
}

TEST_F(BankTest, MembersThatCannotHaveTheKeysAreNamed) {
  Ok("tamis build -q --for-bank --integers -o i.tamis 1; tamis bank build -q -o b f i.tamis");
  const CommandResult text = Sh("tamis bank query b --count 1");
  EXPECT_EQ(text.out, "500/500\n");
  EXPECT_TRUE(
      text.ErrHas("1 of 13 members, such as \"i\", cannot have keys of the input: the "
                  "input's keys are text"))
      << text.err;
  EXPECT_TRUE(Sh("tamis bank query b --integers --count 1").ErrHas("12 of 13 members, such as"));
  EXPECT_EQ(Ok("tamis bank query b -q --count 1").err, "");
  EXPECT_FALSE(Sh("tamis bank query b --any-type --count 1").ErrHas("warning"));
}

TEST_F(BankTest, MismatchedFiltersAreRefusedAndTheBankStays) {
  Ok("tamis bank build -q -o b f");
  const std::string before = Read("b");
  Ok("tamis build -q -o cuckoo.tamis -t cuckoo16 1; tamis build -q --seed 5 -o seed.tamis 1");
  Ok("head -c 500 f/1.tamis > short.tamis");
  const auto refused = [&](const std::string& script, std::string_view why) {
    const CommandResult result = Sh(script);
    EXPECT_NE(result.status, 0) << script;
    EXPECT_TRUE(result.ErrHas(why)) << script << ": " << result.err;
    EXPECT_EQ(Read("b"), before) << script;
  };
  refused("tamis bank add b cuckoo.tamis",
          "can contain only split-block filters; this filter's kind is");
  refused("tamis bank add b seed.tamis", "seed.tamis: all members of a bank have the same hash");
  refused("tamis bank add b short.tamis", "short.tamis");
  refused("tamis bank add b f/1.tamis", "already");
  refused("tamis bank add b nowhere.tamis", "No such file");
  refused("mkdir empty; tamis bank add b empty", "no file whose name ends in .tamis");
  refused("tamis bank add b b", "the output b is also an input");
  refused("tamis bank build -o f/1.tamis f", "is also an input");
  refused("tamis bank remove b 1 nobody", "no member \"nobody\"");
  refused("tamis bank remove b 1 1", "no member \"1\", or the name is given twice");
  refused("tamis bank query b --integers 1", "its keys are text, and not integers");
  refused("tamis bank query f/1.tamis 1", "the file is a single filter, of kind split-block");
  refused("tamis bank info f/1.tamis", "or `tamis query`");
  refused("tamis query b 1", "belongs to a filter bank");
  refused("tamis bank", "");
  refused("tamis bank query b --count-per-member --count 1", "");
  refused("tamis bank query b --top 3 1", "need --count-per-member");
  refused("tamis bank query b --at-least 3 1", "need --count-per-member");
  refused("tamis build --for-bank --bytes 5K -o x 1", "leave out --kind and --bytes");
  refused("tamis build --for-bank -t cuckoo8 -o x 1", "leave out --kind and --bytes");
}

TEST_F(BankTest, ASizeThatFewHaveIsSaid) {
  Ok("tamis build -q -n 1234 -o odd.tamis 1");
  const CommandResult result = Sh("tamis bank build -o b f odd.tamis");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(
      result.ErrHas("warning: odd.tamis has a size that `tamis build --for-bank` "
                    "would not choose"))
      << result.err;
  EXPECT_TRUE(result.ErrHas("13 members in 2 groups")) << result.err;
}

TEST_F(BankTest, ASecretIsAskedForAgain) {
  Write("secret", "000102030405060708090a0b0c0d0e0f\n");
  Ok("tamis build -q --for-bank --hash siphash13 --secret secret -o s.tamis 1");
  EXPECT_NE(Sh("tamis bank build -o b s.tamis").status, 0);
  EXPECT_FALSE(Exists("b"));
  Ok("tamis bank build -q --secret secret -o b s.tamis");
  EXPECT_NE(Sh("tamis bank query b 1").status, 0);
  EXPECT_EQ(Ok("tamis bank query b --secret secret --count 1").out, "500/500\n");
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  // A pipe can be read only once.
  Ok("tamis build -q --for-bank --hash siphash13 --secret secret -o t.tamis 2; mkfifo pipe");
  Ok("cat secret > pipe & tamis bank build -q --secret pipe -o p s.tamis");
  Ok("cat secret > pipe & tamis bank add -q --secret pipe p t.tamis");
  EXPECT_EQ(Ok("tamis bank query p --secret secret --count 2").out, "500/500\n");
  Ok("tamis build -q --for-bank --hash siphash13 --secret-in-file -o in.tamis 1");
  Ok("tamis bank build -q -o b in.tamis");
  EXPECT_EQ(Ok("tamis bank query b --count 1").out, "500/500\n");
}

TEST_F(BankTest, DamageIsFoundBeforeAnythingIsAnswered) {
  Ok("tamis bank build -q -o b f");
  std::string bytes = Read("b");
  bytes[20'000] = static_cast<char>(bytes[20'000] ^ 1);
  Write("b", bytes);
  const CommandResult result = Sh("tamis bank query b 1");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(Sh("tamis bank info b").status, 3);
  EXPECT_EQ(Sh("tamis bank info --header b").status, 0);
  EXPECT_EQ(Sh("tamis bank remove b 1").status, 3);
  EXPECT_EQ(Read("b"), bytes);
}

}  // namespace tamis::tools::bank_test
