// Filters of other libraries: tamis import, export, and query --format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tamis/formats/dcso.h"
#include "tamis/formats/guava.h"
#include "tests/tools/command_test.h"

namespace tamis::tools::import_test {

class ImportTest : public CommandTest {
 protected:
  ImportTest() {
    GuavaBloomFilter text(GuavaFunnel::kUtf8, {.capacity = 1000, .fpr = 1e-4});
    GuavaBloomFilter integers(GuavaFunnel::kLong, {.capacity = 1000, .fpr = 1e-4});
    GuavaBloomFilter more(GuavaFunnel::kLong, {.capacity = 1000, .fpr = 1e-4});
    for (uint64_t i = 1; i <= 300; ++i) {
      text.Insert(std::to_string(i));
      integers.Insert(i);
      more.Insert(1000 + i);
    }
    text.Save(Path("text.guava"));
    integers.Save(Path("integers.guava"));
    more.Save(Path("more.guava"));
    Write("keys", Numbers(1, 600));
  }
};

TEST_F(ImportTest, IsAskedWithAndWithoutAFileOfItsOwn) {
  const std::string known = Numbers(1, 300);
  EXPECT_EQ(Ok("tamis query text.guava --format guava:utf8 keys").out, known);
  EXPECT_EQ(Ok("tamis query integers.guava --format guava:long --integers keys").out, known);
  Ok("tamis import -q --from guava:utf8 -o text.tamis text.guava");
  EXPECT_EQ(Ok("tamis query text.tamis keys").out, known);
  EXPECT_EQ(Ok("tamis query -v -c text.tamis keys").out, "300/600\n");
  EXPECT_EQ(Ok("tamis query --json text.tamis keys").Json()["matching"], 300);
  EXPECT_EQ(Sh("tamis query --any text.tamis keys").status, 0);
  Ok("tamis export -q --to guava:utf8 -o back.guava text.tamis");
  EXPECT_EQ(Read("back.guava"), Read("text.guava"));
}

TEST_F(ImportTest, InfoAndVerifyTakeIt) {
  const CommandResult imported =
      Sh("tamis import --json --from guava:long -o f.tamis integers.guava");
  EXPECT_EQ(imported.status, 0);
  EXPECT_EQ(imported.Json()["format"], "guava:long");
  EXPECT_EQ(imported.Json()["key_types"], "integers");
  EXPECT_EQ(Ok("tamis info --json f.tamis").Json(), imported.Json());
  EXPECT_NEAR(imported.Json()["estimated_count"].get<double>(), 300, 20);
  EXPECT_NE(Ok("tamis info f.tamis").out.find("guava:long (Guava, longFunnel)"), std::string::npos);
  EXPECT_NE(Ok("tamis verify f.tamis").out.find("f.tamis: ok (guava:long"), std::string::npos);
  std::string bytes = Read("f.tamis");
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  Write("f.tamis", bytes);
  const CommandResult damaged = Sh("tamis verify f.tamis");
  EXPECT_EQ(damaged.status, 3);
  EXPECT_TRUE(damaged.ErrHas("payload checksum")) << damaged.err;
  EXPECT_EQ(Sh("tamis query f.tamis --integers keys").status, 3);
}

// The example of docs/formats.md: keys are the text of SHA-1, in upper case.
TEST_F(ImportTest, HashlookupOfFiles) {
  DcsoBloomFilter known({.capacity = 1000, .fpr = 1e-6});
  known.Insert("DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");  // the empty file
  known.Insert("A9993E364706816ABA3E25717850C26C9CD0D89D");  // "abc"
  known.SetFreeData(std::as_bytes(std::span("a \x1B list", 8)));
  known.Save(Path("hashlookup-full.bloom"));
  Write("one.bin", "abc");
  Write("two.bin", "abd");
  Write("three.bin", "");
  const std::string query = "tamis query hashlookup-full.bloom --format dcso";
  const CommandResult found = Sh("sha1sum *.bin | cut -c1-40 | tr a-f A-F | " + query);
  EXPECT_EQ(found.out,
            "A9993E364706816ABA3E25717850C26C9CD0D89D\n"
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709\n");
  // Lower case and --hex are other keys.
  EXPECT_EQ(Sh("sha1sum *.bin | cut -c1-40 | " + query).out, "");
  EXPECT_EQ(Sh("sha1sum *.bin | cut -c1-40 | " + query + " --hex").out, "");
  // With --empty keep, an empty line is a key.
  known.Insert("");
  known.Save(Path("empty.bloom"));
  EXPECT_EQ(Sh("printf '\\n' | tamis query empty.bloom --format dcso -c").out, "0/0\n");
  EXPECT_EQ(Ok("printf '\\n' | tamis query empty.bloom --format dcso -c --empty keep").out,
            "1/1\n");
  EXPECT_EQ(Ok("printf '\\n' | " + query + " -c --empty keep").out, "0/1\n");
  Write("asked", "A9993E364706816ABA3E25717850C26C9CD0D89D\n");
  for (const char* how : {"", " --map", " --no-map"}) {
    EXPECT_EQ(Ok(query + how + " -c asked").out, "1/1\n") << how;
  }
  EXPECT_TRUE(Sh("tamis query text.guava --format guava:utf8 --map keys").ErrHas("always loaded"));
}

TEST_F(ImportTest, InfoOfAFormat_ShowsItsHeader) {
  DcsoBloomFilter known({.capacity = 1000, .fpr = 0.001});
  known.Insert("key");
  known.SetFreeData(std::as_bytes(std::span("a \x1B list", 8)));
  known.Save(Path("known.bloom"));
  const CommandResult info = Ok("tamis info --format dcso known.bloom");
  for (const char* row :
       {"dcso (DCSO bloom, flor, poppy v1)\n", "capacity              1,000\n",
        "requested fpr         0.1000%\n", "hashes                10\n",
        "inserted              1\n", "free data             \"a \\x1B list\"\n"}) {
    EXPECT_NE(info.out.find(row), std::string::npos) << row << info.out;
  }
  const nlohmann::json json = Ok("tamis info --json --format dcso known.bloom").Json();
  EXPECT_EQ(json["bits"], 14377);
  EXPECT_EQ(json["free_data_bytes"], 8);
  Ok("tamis import -q --from dcso -o known.tamis known.bloom");
  EXPECT_EQ(Ok("tamis info --json known.tamis").Json()["capacity"], 1000);
  EXPECT_TRUE(Sh("tamis info --format dcso known.tamis").ErrHas("leave out --format"));
  const CommandResult wrong = Sh("tamis info --format dcso text.guava");
  EXPECT_EQ(wrong.status, 3);
  EXPECT_TRUE(wrong.ErrHas("text.guava: ")) << wrong.err;
  EXPECT_EQ(Sh("tamis info --format sieve known.bloom").status, 2);
}

TEST_F(ImportTest, SeveralBecomeOne) {
  Ok("tamis import -q --from guava:long -o f.tamis integers.guava more.guava");
  Write("more", Numbers(1001, 300));
  EXPECT_EQ(Ok("tamis query -c --integers f.tamis keys more").out, "600/900\n");
  const CommandResult other =
      Sh("tamis import --from guava:long -o g.tamis integers.guava '" TAMIS_GOLDEN_DIR
         "/guava/long_mitz64.guava'");
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.ErrHas("long_mitz64.guava: Guava filters with different")) << other.err;
  EXPECT_FALSE(Exists("g.tamis"));
}

TEST_F(ImportTest, WrongUseIsSaid) {
  Ok("tamis import -q --from guava:utf8 -o f.tamis text.guava");
  const auto fails = [&](const std::string& command, const std::string& text, int status = 2) {
    const CommandResult result = Sh("tamis " + command);
    EXPECT_EQ(result.status, status) << command;
    EXPECT_EQ(result.out, "") << command;
    EXPECT_TRUE(result.ErrHas(text)) << command << "\n" << result.err;
  };
  fails("import -o g text.guava", "--from");
  fails("import --from guava -o g text.guava", "unknown format \"guava\"; allowed: dcso, guava:");
  fails("import --from guava:utf8 -o g f.tamis", "f.tamis has been imported already");
  fails("import --from guava:utf8 -o text.guava text.guava", "text.guava");
  fails("import --from guava:utf8 -o g none", "none", 3);
  fails("import --from guava:utf8 -o g keys", "keys: ", 3);
  fails("export --to guava:long -o g f.tamis", "give --to guava:utf8");
  fails("export --to guava:utf8 -o g text.guava", "magic", 3);
  fails("query f.tamis --integers keys", "leave out --integers and --u64");
  fails("query integers.guava --format guava:long keys", "give --integers");
  fails("query f.tamis --format guava:utf8 keys", "leave out --format");
  fails("query text.guava keys", "does not begin like a tamis file", 3);
  fails("query f.tamis --map keys", "--map");
  fails("query f.tamis --no-verify keys", "--no-verify");
  fails("query f.tamis --any-type keys", "--any-type");
  fails("merge -o g f.tamis f.tamis", "imported filter", 3);
  fails("erase f.tamis keys", "imported filter", 3);
  fails("query f.tamis f.tamis", "is a filter saved by tamis");
  EXPECT_FALSE(Exists("g"));
}

TEST_F(ImportTest, FromAServer) {
  const auto fails = [&](const std::string& options, const std::string& text, int status = 2) {
    const CommandResult result = Sh("tamis import -o g " + options);
    EXPECT_EQ(result.status, status) << options;
    EXPECT_TRUE(result.ErrHas(text)) << options << "\n" << result.err;
    EXPECT_FALSE(Exists("g"));
  };
  fails("--from redis", "give --key");
  fails("--from redis --key k text.guava", "leave out FILE");
  for (const char* option : {"--url redis://h", "--key k", "--user u", "--password-file keys",
                             "--ca-file keys", "--max-bytes 1G"}) {
    fails(std::string("--from guava:utf8 text.guava ") + option, "need --from redis");
  }
  fails("--from guava:utf8", "FILE is required");
  fails("--from redis --key k --max-bytes 0", "--max-bytes");
#if TAMIS_TOOLS_REDIS
  fails("--from redis --key k --url redis://:secret@127.0.0.1:1", "--password-file");
  fails("--from redis --key k --url http://127.0.0.1:1", "redis://");
#else
  fails("--from redis --key k --url redis://127.0.0.1:1", "was built without hiredis", 3);
#endif
  Write("password", "hunter2");
  const CommandResult over =
      Sh("tamis import --from redis --key k --password-file password -o password");
  EXPECT_EQ(over.status, 2);
  EXPECT_TRUE(over.ErrHas("also an input")) << over.err;
  EXPECT_EQ(Read("password"), "hunter2");
}

TEST_F(ImportTest, HelpNamesTheFormats) {
  for (const char* command : {"import", "query"}) {
    const std::string help = Ok(std::string("tamis ") + command + " --help").out;
    EXPECT_NE(help.find("guava:unencoded-chars"), std::string::npos);
  }
}

}  // namespace tamis::tools::import_test
