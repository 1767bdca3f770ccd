// Filters of other libraries: tamis import, export, and query --format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

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
