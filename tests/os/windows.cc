#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <system_error>

#include "tests/os/test_os.h"

namespace tamis::test_os {

namespace fs = std::filesystem;

fs::path MakeFolder() {
  static std::atomic<unsigned> number = 0;
  const fs::path folder = fs::temp_directory_path() /
                          ("tamis-test-" + std::to_string(GetCurrentProcessId()) + "-" +
                           std::to_string(GetTickCount64()) + "-" + std::to_string(++number));
  fs::create_directory(folder);
  return folder;
}

void SetEnvironment(const char* name, const char* value) {
  _putenv_s(name, value != nullptr ? value : "");
}

bool ActWithoutRoot(const std::function<void()>&) { return false; }

bool FollowsXdg() { return false; }

std::optional<size_t> MappingsOf(const fs::path&) { return std::nullopt; }

bool ReplacesOpenFiles() { return false; }

// Windows lets only some users make links. wine 8 reports success, but makes none.
bool MakeSymbolicLink(const fs::path& target, const fs::path& link) {
  std::error_code error;
  fs::create_symlink(target, link, error);
  return !error && fs::is_symlink(link, error);
}

// std::filesystem::resize_file of libc++ takes sizes modulo 4 GiB.
bool Resize(const fs::path& path, uint64_t bytes) {
  const HANDLE file = CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return false;
  FILE_END_OF_FILE_INFO end;
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const bool resized = SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof(end));
  CloseHandle(file);
  return resized;
}

bool AppendHole(const std::filesystem::path&, uint64_t) { return false; }

size_t PageBytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

uint8_t* MapBeforeGuard(size_t bytes) {
  auto* const memory = static_cast<uint8_t*>(
      VirtualAlloc(nullptr, bytes + PageBytes(), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
  DWORD old;
  if (memory == nullptr || VirtualProtect(memory + bytes, PageBytes(), PAGE_NOACCESS, &old)) {
    return memory;
  }
  UnmapBeforeGuard(memory, bytes);
  return nullptr;
}

void UnmapBeforeGuard(uint8_t* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }

// Windows reserves memory for all pages that can be written.
SparseMemory::SparseMemory(size_t bytes) : begin_(nullptr), bytes_(bytes) {}

SparseMemory::~SparseMemory() = default;

}  // namespace tamis::test_os
