// Queries for keys of a type that the filter does not have, and secrets of keyed hashes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::key_type_test {

class KeyTypeTest : public CommandTest {
 protected:
  KeyTypeTest() {
    Write("keys", Numbers(1, 1000));
    Ok("tamis build -q -o integers.tamis -n 3000 --integers keys");
    Ok("tamis build -q -o text.tamis -n 3000 keys");
  }
};

TEST_F(KeyTypeTest, TheOtherTypeIsRefusedByDefault) {
  const CommandResult text = Sh("tamis query integers.tamis keys");
  EXPECT_EQ(text.status, 2);
  EXPECT_EQ(text.out, "");
  EXPECT_TRUE(text.ErrHas("integers.tamis: its keys are integers, and not text: give --integers"));
  const CommandResult integers = Sh("tamis query -c text.tamis --integers keys");
  EXPECT_EQ(integers.status, 2);
  EXPECT_TRUE(integers.ErrHas("text.tamis: its keys are text, and not integers: leave out"));

  EXPECT_EQ(Ok("tamis query -c integers.tamis --integers keys").out, "1000/1000\n");
  EXPECT_EQ(Ok("tamis query -c text.tamis keys").out, "1000/1000\n");
  const std::string insisted = Ok("tamis query -c integers.tamis --any-type keys").out;
  EXPECT_LT(std::stoi(insisted), 100) << insisted;
}

TEST_F(KeyTypeTest, AFilterOfNoKeysOrOfBothAnswersBoth) {
  Ok("tamis build -q -o empty.tamis -n 1000 --allow-empty /dev/null");
  Ok("tamis query -c empty.tamis keys && tamis query -c empty.tamis --integers keys");
  const CommandResult merged = Sh("tamis merge -q -o both.tamis text.tamis integers.tamis");
  EXPECT_EQ(merged.status, 0);
  EXPECT_EQ(merged.err,
            "tamis: warning: the keys of text.tamis are text, and the keys of integers.tamis are "
            "integers: the result accepts keys of all these types\n");
  Ok("tamis merge -q -o one.tamis text.tamis text.tamis");
  EXPECT_EQ(Ok("tamis info --json both.tamis").Json()["key_types"], "text and integers");
  EXPECT_EQ(Ok("tamis query -c both.tamis --integers keys").out, "1000/1000\n");
  EXPECT_EQ(Ok("tamis query -c both.tamis keys").out, "1000/1000\n");
}

// Files of version 1 do not record the key type.
TEST_F(KeyTypeTest, AFileWithoutAKeyTypeGivesAWarningIfNothingIsFound) {
  Ok("cp '" TAMIS_GOLDEN_DIR "/cuckoo16_v1_full.tamis' old");
  const std::string doubt = "old does not record whether its keys are text or integers";
  const CommandResult text = Sh("tamis query -c old keys");
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(text.ErrHas(doubt) && text.ErrHas("give --integers")) << text.err;
  EXPECT_TRUE(Sh("tamis query -c old --integers keys").ErrHas("leave out --integers and --u64"));
  EXPECT_TRUE(Sh("tamis erase -o new old keys").ErrHas(doubt));
  EXPECT_EQ(Sh("tamis query -q -c old keys").err, "");
  EXPECT_EQ(Sh("tamis query -c old /dev/null").err, "");
  EXPECT_EQ(Sh("tamis query -c text.tamis /dev/null").err, "");
  // The keys that it was built from.
  std::vector<uint64_t> integers;
  for (uint64_t i = 0; i < 74; ++i) integers.push_back(i * 0x9E3779B97F4A7C15);
  WriteU64("raw", integers);
  const CommandResult found = Sh("tamis query -c old --u64 raw");
  EXPECT_EQ(found.out + found.err, "74/74\n");
}

TEST_F(KeyTypeTest, NothingIsErasedByTheOther) {
  Ok("tamis build -q -o f.tamis --kind cuckoo16 --integers keys");
  const std::string before = Read("f.tamis");
  EXPECT_EQ(Sh("tamis erase f.tamis keys").status, 2);
  EXPECT_EQ(Read("f.tamis"), before);
  Ok("tamis erase -q f.tamis --integers keys");
  EXPECT_EQ(Ok("tamis info --json f.tamis").Json()["inserted"], 0);
}

constexpr char kDigits[] = "00112233445566778899aAbBcCdDeEfF";

class SecretCommandTest : public CommandTest {
 protected:
  SecretCommandTest() {
    Write("keys", Numbers(1, 1000));
    Write("secret", std::string(kDigits) + "\n");
    Write("other", "000112233445566778899aabbccddeef\r\n");
  }

  static std::string Bytes() {
    std::string bytes;
    for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<char>(0x11 * i));
    return bytes;
  }
  void ExpectRefused(const std::string& script, const std::string& words) const {
    const CommandResult result = Sh(script);
    EXPECT_EQ(result.status, 2) << script;
    EXPECT_TRUE(result.ErrHas(words)) << result.err;
    EXPECT_FALSE(result.ErrHas("0011")) << result.err;
  }
};

TEST_F(SecretCommandTest, IsAskedForAgain) {
  for (const std::string type : {"split-block", "cuckoo16", "scalable"}) {
    SCOPED_TRACE(type);
    Ok("tamis build -q -o f.tamis --kind " + type + " --hash siphash13 --secret secret keys");
    EXPECT_EQ(Read("f.tamis").find(Bytes()), std::string::npos);
    EXPECT_EQ(Ok("tamis query -c f.tamis --secret secret keys").out, "1000/1000\n");
    EXPECT_EQ(Ok("tamis query -c f.tamis --no-map --secret secret keys").out, "1000/1000\n");
    ExpectRefused("tamis query -c f.tamis keys", "its secret is not in the file");
    ExpectRefused("tamis query -c f.tamis --secret other keys",
                  "the secret does not match the filter");
    Ok("tamis verify f.tamis");
    const nlohmann::json json = Ok("tamis info --json --secret secret f.tamis").Json();
    EXPECT_EQ(json["hash"], "siphash13");
    EXPECT_FALSE(json["secret_in_file"].get<bool>());
    EXPECT_FALSE(json.contains("seed"));
    EXPECT_TRUE(json.contains("expected_fpr"));
  }
  Ok("tamis build -q -o f.tamis --hash siphash24 --secret secret keys");
  EXPECT_FALSE(Ok("tamis info --json f.tamis").Json().contains("expected_fpr"));
}

TEST_F(SecretCommandTest, StaysWhereItWas) {
  Ok("tamis build -q -o with.tamis --kind cuckoo16 --hash siphash24 --secret secret "
     "--secret-in-file keys");
  EXPECT_NE(Read("with.tamis").find(Bytes()), std::string::npos);
  EXPECT_EQ(Ok("tamis query -c with.tamis keys").out, "1000/1000\n");
  Ok("head -10 keys | tamis erase -q with.tamis");
  EXPECT_NE(Read("with.tamis").find(Bytes()), std::string::npos);
  Ok("tamis build -q -o without.tamis --kind cuckoo16 --hash siphash24 --secret secret keys");
  Ok("head -10 keys | tamis erase -q --secret secret without.tamis");
  EXPECT_EQ(Read("without.tamis").find(Bytes()), std::string::npos);

  Ok("tamis build -q -o a.tamis -n 2000 --hash siphash13 --secret secret keys");
  Ok("tamis build -q -o b.tamis -n 2000 --hash siphash13 --secret secret --secret-in-file keys");
  Ok("tamis merge -q -o m.tamis --secret secret a.tamis b.tamis");
  EXPECT_EQ(Read("m.tamis").find(Bytes()), std::string::npos);
  Ok("tamis merge -q -o m.tamis --secret secret b.tamis a.tamis");
  EXPECT_NE(Read("m.tamis").find(Bytes()), std::string::npos);
  const std::string info =
      Ok("tamis info m.tamis && tamis info --json m.tamis && tamis verify m.tamis").out;
  EXPECT_EQ(info.find("0011"), std::string::npos) << info;
}

// If the secret were overwritten, all filters made with it would be useless.
TEST_F(SecretCommandTest, IsNotOverwritten) {
  Ok("tamis build -q -o f.tamis --kind cuckoo16 --hash siphash13 --secret secret keys");
  Ok("tamis build -q -o s.tamis --hash siphash13 --secret secret keys");
  const std::string before = Read("secret");
  for (const std::string script : {"tamis build -o secret --hash siphash13 --secret secret keys",
                                   "tamis merge -o secret --secret secret s.tamis s.tamis",
                                   "tamis erase f.tamis -o secret --secret secret keys",
                                   "tamis query s.tamis --secret secret --bitmap secret keys",
                                   "tamis query s.tamis --secret secret keys >> secret"}) {
    EXPECT_EQ(Sh(script).status, 2) << script;
    EXPECT_EQ(Read("secret"), before) << script;
  }
}

// This includes scalable filters, whose layers only a reader with the secret can open.
TEST_F(SecretCommandTest, InfoDescribesFiltersThatItCannotOpen) {
  Ok("tamis build -q -o f.tamis --kind scalable --hash siphash13 --secret secret keys");
  const nlohmann::json json = Ok("tamis info --json f.tamis").Json();
  EXPECT_EQ(json["inserted"], 1000);
  EXPECT_FALSE(json.contains("expected_fpr"));
  EXPECT_NE(Ok("tamis info f.tamis").out.find("siphash13, its secret not in the file"),
            std::string::npos);
  Ok("tamis build -q -o own.tamis --hash siphash13 --secret-in-file keys");
  Ok("tamis info --secret secret f.tamis own.tamis");
}

TEST_F(SecretCommandTest, MayHaveBlanksAroundIt) {
  Ok("tamis build -q -o f.tamis --hash siphash13 --secret secret keys");
  Write("blanks", "  " + std::string(kDigits) + " \r\n\n");
  EXPECT_EQ(Ok("tamis query -c f.tamis --secret blanks keys").out, "1000/1000\n");
}

TEST_F(SecretCommandTest, IsRandomWhereTheFileHasIt) {
  Ok("tamis build -q -o a.tamis --hash siphash13 --secret-in-file keys");
  Ok("tamis build -q -o b.tamis --hash siphash13 --secret-in-file keys");
  EXPECT_EQ(Ok("tamis query -c a.tamis keys").out, "1000/1000\n");
  ExpectRefused("tamis merge -o m.tamis a.tamis b.tamis", "the secrets of the hashes differ");
}

TEST_F(SecretCommandTest, OnlyAcceptsASecret) {
  const std::string build = "tamis build -o f.tamis --hash ";
  ExpectRefused(build + "siphash13 keys", "needs a secret: give --secret FILE");
  ExpectRefused(build + "siphash13 --secret secret --seed 1 keys", "leave out --seed");
  ExpectRefused(build + "xxh3 --secret secret keys", "the hash xxh3 has no secret");
  ExpectRefused(build + "xxh64 --secret-in-file keys", "the hash xxh64 has no secret");
  ExpectRefused(build + "siphash13 --secret - keys", "standard input is for keys");
  EXPECT_EQ(Sh(build + "siphash13 --secret missing keys").status, 3);
  ExpectRefused(build + "siphash13 --secret " + kDigits + " keys", "looks like a secret itself");
  for (const std::string text :
       {"", "\n", "00112233445566778899aAbBcCdDeEf", "00112233445566778899aAbBcCdDeEfFF",
        "00112233445566778899aAbBcCdDeEfg", " 0112233445566778899aAbBcCdDeEfF",
        "00112233445566778899aAbBcCdDeEfF\nmore"}) {
    SCOPED_TRACE(text);
    Write("bad", text);
    ExpectRefused(build + "siphash13 --secret bad keys", "bad: not a secret");
  }
  ExpectRefused(build + "siphash13 --secret /dev/zero keys", "/dev/zero: not a secret");
  EXPECT_FALSE(Exists("f.tamis"));
  Ok("tamis build -q -o f.tamis keys");
  ExpectRefused("tamis query f.tamis --secret secret keys", "the filter's hash has none");
}

}  // namespace tamis::tools::key_type_test
