// Input packed by gzip or zstd.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"
#include "tests/tools/packing.h"
#include "tools/input/unpacker.h"

namespace tamis::tools::packed_input_test {

class PackedInputTest : public CommandTest {
 protected:
  PackedInputTest() {
    Write("keys", Numbers(1, 100000));
    Write("keys.gz", Gzip(Read("keys")));
    Write("keys.zst", Zstd(Read("keys")));
    Ok("tamis build -q -o plain.tamis keys");
  }
  void SetUp() override {
    if (GzipLibrary().empty() || ZstdLibrary().empty()) {
      GTEST_SKIP() << "built without zlib or libzstd";
    }
  }
};

TEST_F(PackedInputTest, IsReadAsTheUnpackedText) {
  for (const char* input : {"keys.gz", "keys.zst", "- < keys.gz", "- < keys.zst"}) {
    const std::string name(input);
    Ok("tamis build -q -o f " + name + " && cmp f plain.tamis");
    EXPECT_EQ(Ok("tamis query f --count " + name).out, "100000/100000\n") << name;
  }
  EXPECT_EQ(Ok("cat keys.gz | tamis query plain.tamis").out, Read("keys"));
  // Packed by a real compressor, under any name.
  Ok("gzip -c keys > packed.txt && tamis build -q -o f packed.txt && cmp f plain.tamis");
}

TEST_F(PackedInputTest, SeveralPackedInARowAreOne) {
  const std::string all = Read("keys");
  const std::string a = all.substr(0, 77777), b = all.substr(77777);  // within a line
  Write("many.gz", Gzip(a) + Gzip("") + Gzip(b));
  Write("many.zst", ZstdSkipped("skipped") + Zstd(a) + Zstd("") + ZstdSkipped("") + Zstd(b));
  Write("padded.gz", Gzip(a) + Gzip(b) + std::string(10000, '\0'));
  for (const char* name : {"many.gz", "many.zst", "padded.gz"}) {
    EXPECT_EQ(Ok(std::string("tamis query plain.tamis ") + name).out, all) << name;
  }
}

TEST_F(PackedInputTest, EachInputIsLookedAtForItself) {
  EXPECT_EQ(Ok("tamis query plain.tamis --count keys.gz keys keys.zst - < keys.gz").out,
            "400000/400000\n");
}

TEST_F(PackedInputTest, HeadersAndColumns) {
  Write("a.csv.gz", Gzip("\xEF\xBB\xBFid,text\n1,\"two\nlines\"\n"));
  Write("b.csv.zst", Zstd("text,id\nx,2\n"));
  const std::string inputs = " --csv --column id a.csv.gz b.csv.zst";
  Ok("tamis build -q -o f" + inputs);
  EXPECT_EQ(Ok("tamis query f --csv --column id a.csv.gz").out, "id,text\n1,\"two\nlines\"\n");
  EXPECT_EQ(Ok("tamis query f --csv --column id b.csv.zst").out, "text,id\nx,2\n");
  EXPECT_EQ(Ok("printf '1\\n2\\n' | tamis query f --count").out, "2/2\n");
}

TEST_F(PackedInputTest, PlacesOfBadLinesAreThoseInTheText) {
  Write("bad.gz", Gzip("1\nx\n3\n\n5\n"));
  Ok("tamis build -q -o f --integers --allow-empty -n 10 /dev/null");
  const CommandResult result = Sh("tamis query f --integers --invert --bitmap bits bad.gz");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("bad.gz:2: not a decimal integer: \"x\"")) << result.err;
  EXPECT_EQ(Read("bits"), std::string(1, 0b10101));
}

TEST_F(PackedInputTest, RawIntegersAreUnpackedByTheirName) {
  const std::vector<uint64_t> values = {1, 2, 3, 0x8B1F, 5};
  WriteU64("ids", values);
  Write("ids.gz", Gzip(Read("ids")));
  Write("ids.bin", Gzip(Read("ids")).append(9, '\0'));
  ASSERT_EQ(Read("ids.bin").size(), 72U);
  Ok("tamis build -q -o f --u64 ids && tamis build -q -o g --u64 ids.gz && cmp f g");
  EXPECT_EQ(Ok("tamis query f --u64 --count ids.gz").out, "5/5\n");
  EXPECT_EQ(Ok("tamis query f --u64 --count --invert ids.bin").out, "9/9\n") << "as they stand";
  EXPECT_EQ(Ok("tamis query f --u64 --count --invert --as-is ids.bin").out, "9/9\n");
  // Raw integers may begin with the same bytes as gzip data or UTF-16.
  WriteU64("begins.gz", std::vector<uint64_t>{0xFEFF, 4});
  EXPECT_EQ(Ok("tamis build -q -o f --u64 begins.gz && tamis query f --u64 -c begins.gz").out,
            "2/2\n");
  WriteU64("magic", std::vector<uint64_t>{0x8B1F, 4});
  EXPECT_EQ(Ok("tamis build -q -o f --u64 magic && tamis query f --u64 -c < magic").out, "2/2\n");
}

TEST_F(PackedInputTest, AsItIsIfThatIsMeant) {
  Write("looks.txt", "\x1F\x8B\nx\n");
  EXPECT_EQ(Sh("tamis build -o f looks.txt").status, 3);
  Ok("tamis build -q -o f --as-is looks.txt");
  EXPECT_EQ(Ok("tamis query f --as-is looks.txt").out, Read("looks.txt"));
}

TEST_F(PackedInputTest, TheVersionNamesTheUnpackers) {
  const std::string version = Ok("tamis --version").out;
  EXPECT_NE(version.find("unpacks gzip: with " + GzipLibrary() + "\n"), std::string::npos);
  EXPECT_NE(version.find("unpacks zstd: with " + ZstdLibrary() + "\n"), std::string::npos);
}

// Each unpacker exists exactly if its library does.
TEST(UnpackerTest, EachIsThereWithItsLibrary) {
  EXPECT_EQ(MakeGzipUnpacker("name") != nullptr, !GzipLibrary().empty());
  EXPECT_EQ(MakeZstdUnpacker("name") != nullptr, !ZstdLibrary().empty());
}

}  // namespace tamis::tools::packed_input_test
