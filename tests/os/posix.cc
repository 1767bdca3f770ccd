#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include "tests/os/test_os.h"

namespace tamis::test_os {

namespace fs = std::filesystem;

fs::path MakeFolder() {
  std::string name = (fs::temp_directory_path() / "tamis-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr || chmod(name.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), name);
  }
  return name;
}

void SetEnvironment(const char* name, const char* value) {
  if (value != nullptr) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

bool ActWithoutRoot(const std::function<void()>& act) {
  const bool root = geteuid() == 0;
  if (root && seteuid(65534) != 0) return false;
  act();
  if (root && seteuid(0) != 0) throw std::system_error(errno, std::generic_category(), "seteuid");
  return true;
}

bool FollowsXdg() { return true; }

std::optional<size_t> MappingsOf(const fs::path& path) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return std::nullopt;
  size_t found = 0;
  for (std::string line; std::getline(maps, line);) found += line.ends_with(path.string());
  return found;
}

bool ReplacesOpenFiles() { return true; }

bool MakeSymbolicLink(const fs::path& target, const fs::path& link) {
  fs::create_symlink(target, link);
  return true;
}

bool Resize(const fs::path& path, uint64_t bytes) {
  std::error_code error;
  fs::resize_file(path, bytes, error);
  return !error;
}

bool AppendHole(const std::filesystem::path& path, uint64_t bytes) {
  struct stat before, after;
  constexpr int kFewBlocks = 64;
  return stat(path.c_str(), &before) == 0 &&
         Resize(path, static_cast<uint64_t>(before.st_size) + bytes) &&
         stat(path.c_str(), &after) == 0 && after.st_blocks <= before.st_blocks + kFewBlocks;
}

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint8_t* MapBeforeGuard(size_t bytes) {
  void* const map = mmap(nullptr, bytes + PageBytes(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  auto* const memory = static_cast<uint8_t*>(map);
  if (mprotect(memory + bytes, PageBytes(), PROT_NONE) == 0) return memory;
  UnmapBeforeGuard(memory, bytes);
  return nullptr;
}

void UnmapBeforeGuard(uint8_t* memory, size_t bytes) { munmap(memory, bytes + PageBytes()); }

SparseMemory::SparseMemory(size_t bytes) : begin_(nullptr), bytes_(bytes) {
#ifdef __aarch64__
  // The emulator qemu takes memory for every page of address space, 4 GiB and more for 32 TiB.
  constexpr size_t kMostBytes = size_t{160} << 30;
  if (bytes > kMostBytes) return;
#endif
  void* const map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  begin_ = map == MAP_FAILED ? nullptr : map;
#ifdef MADV_NOHUGEPAGE
  if (!empty()) madvise(begin_, bytes, MADV_NOHUGEPAGE);
#endif
}

SparseMemory::~SparseMemory() {
  if (!empty()) munmap(begin_, bytes_);
}

}  // namespace tamis::test_os
