// Requests of tests to the operating system.
#ifndef TAMIS_TESTS_OS_TEST_OS_H_
#define TAMIS_TESTS_OS_TEST_OS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace tamis::test_os {

// Makes a new folder that is open to other users.
std::filesystem::path MakeFolder();

// Sets a variable of the environment, or removes it if `value` is nullptr.
void SetEnvironment(const char* name, const char* value);

// Acts without the rights of root: root can read every file. Returns false, without acting, if that
// is not possible.
bool ActWithoutRoot(const std::function<void()>& act);

// Whether the system keeps a folder for caches in the variables of the XDG specification.
bool FollowsXdg();
// Returns the number of mappings of the file in this process, or nothing if the system does not
// list them.
std::optional<size_t> MappingsOf(const std::filesystem::path& path);
// Whether the system replaces files that are open.
bool ReplacesOpenFiles();
// Makes a symbolic link to `target`. Returns false if the system refuses.
bool MakeSymbolicLink(const std::filesystem::path& target, const std::filesystem::path& link);
// Makes the file longer or shorter. Returns false if the file cannot have this size.
bool Resize(const std::filesystem::path& path, uint64_t bytes);
// Makes the file longer without taking room on disk for the new part. Returns false if that is not
// possible.
bool AppendHole(const std::filesystem::path& path, uint64_t bytes);

size_t PageBytes();
// Returns memory that ends before a page that cannot be accessed, or nullptr. `bytes` must be a
// multiple of PageBytes().
uint8_t* MapBeforeGuard(size_t bytes);
void UnmapBeforeGuard(uint8_t* memory, size_t bytes);

// Zeroed memory that takes pages only where it is written. empty() if the system has no such
// memory.
class SparseMemory {
 public:
  explicit SparseMemory(size_t bytes);
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory();

  bool empty() const { return begin_ == nullptr; }
  void* begin() const { return begin_; }

 private:
  void* begin_;
  [[maybe_unused]] size_t bytes_;
};

}  // namespace tamis::test_os

#endif  // TAMIS_TESTS_OS_TEST_OS_H_
