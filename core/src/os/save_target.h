// The place where a file is saved, and the properties of an older file there that are kept.
#ifndef TAMIS_CORE_SRC_OS_SAVE_TARGET_H_
#define TAMIS_CORE_SRC_OS_SAVE_TARGET_H_

#include <filesystem>
#include <memory>

namespace tamis::os {

class SaveTarget {
 public:
  // Follows links, also to a file that does not exist yet, and opens the directory. Throws
  // Error(kIo) in these cases:
  // - The path names something other than a regular file: a rename would replace even /dev/null.
  // - The path names a read-only file, unless `replace_read_only` is set.
  // If `beside` is in the same directory, the two share the open directory.
  SaveTarget(const std::filesystem::path& path, bool replace_read_only,
             const SaveTarget* beside = nullptr);
  SaveTarget(const SaveTarget&) = delete;
  SaveTarget& operator=(const SaveTarget&) = delete;
  ~SaveTarget();

  // Returns the path, which does not end in a link.
  const std::filesystem::path& path() const noexcept;
  // Throws Error(kIo) unless the process can make files in the directory.
  void RequireDirectoryWritable() const;

  struct State;
  const State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<const State> state_;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_SAVE_TARGET_H_
