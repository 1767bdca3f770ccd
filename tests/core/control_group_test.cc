// Memory limits of control groups, in trees of files like those of Linux.
#include "core/src/base/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/src/os/process.h"
#include "tamis/physical_memory.h"
#include "tests/core/file_test_util.h"

namespace tamis::control_group_test {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

class ControlGroupTest : public FileTest {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  uint64_t Limit(const std::string& membership) {
    Write("membership", membership);
    return detail::ControlGroupMemoryLimit(folder_ / "membership", folder_.path());
  }
};

TEST_F(ControlGroupTest, Version2TakesTheLowestLimitUpToTheRoot) {
  Write("a/b/memory.max", "3000\n");
  EXPECT_EQ(Limit("0::/a/b\n"), 3000u);
  Write("a/memory.max", "2000\n");
  EXPECT_EQ(Limit("0::/a/b\n"), 2000u);
  EXPECT_EQ(Limit("0::/a\n"), 2000u);
  EXPECT_EQ(Limit("0::/\n"), kNoLimit);
  Write("memory.max", "1000\n");
  EXPECT_EQ(Limit("0::/a/b\n"), 1000u);
  EXPECT_EQ(Limit("0::/\n"), 1000u);
}

TEST_F(ControlGroupTest, MaxMeansUnlimited) {
  Write("a/memory.max", "max\n");
  EXPECT_EQ(Limit("0::/a\n"), kNoLimit);
}

TEST_F(ControlGroupTest, Version1ReadsTheMemoryHierarchyOnly) {
  Write("memory/job/memory.limit_in_bytes", "5000\n");
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::string others = "12:cpu,cpuacct:/other\n9:name=systemd:/with:colon\n";
  EXPECT_EQ(Limit(others + "4:memory:/job\n0::/\n"), 5000u);
  EXPECT_EQ(Limit(others + "4:hugetlb,memory:/job\n"), 5000u);
  EXPECT_EQ(Limit(others + "4:memory_like:/job\n"), kNoLimit);
  EXPECT_EQ(Limit(others + "4:memory:/\n"), 9223372036854771712u);
}

// A container whose membership is its path on the host, while its own group is the root.
TEST_F(ControlGroupTest, MissingGroup) {
  Write("memory.max", "7000\n");
  EXPECT_EQ(Limit("0::/docker/0123abcd\n"), 7000u);
}

TEST_F(ControlGroupTest, NothingToRead) {
  EXPECT_EQ(Limit(""), kNoLimit);
  EXPECT_EQ(Limit("nonsense\n"), kNoLimit);
  EXPECT_EQ(detail::ControlGroupMemoryLimit(folder_ / "none", folder_.path()), kNoLimit);
}

TEST(PhysicalMemoryTest, IsAtMostTheMachines) {
  const auto machine = os::MachineMemory();
  EXPECT_GT(PhysicalMemory(), 0u);
  EXPECT_LE(PhysicalMemory(), machine);
}

}  // namespace tamis::control_group_test
