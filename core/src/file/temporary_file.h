// A new file beside the file that it will replace.
#ifndef TAMIS_CORE_SRC_FILE_TEMPORARY_FILE_H_
#define TAMIS_CORE_SRC_FILE_TEMPORARY_FILE_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "core/src/file/posix_file.h"
#include "core/src/file/save_target.h"

namespace tamis::detail {

class PendingName;

// Removed on destruction unless it has been given its final name.
class TemporaryFile {
 public:
  // kLater makes a file without a name if the system has such files. Nothing remains of it if the
  // process is killed. It can only be named through /proc.
  enum class Name { kLater, kNow };

  TemporaryFile(const SaveTarget& target, Name name);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  int fd() const noexcept { return fd_.get(); }
  void Write(std::span<const std::byte> bytes);
  // Returns a path at which this process can open the file to read it, with or without a name.
  std::filesystem::path readable_path() const;
  // Gives the file a name if it has none. Returns false if the system refuses.
  bool GiveName();
  // Replaces the target. The file must have a name.
  void ReplaceTarget();
  // Becomes the target, which must not exist: otherwise throws Error(kBusy) and leaves it alone.
  // The file must have a name.
  void BecomeNewTarget();

 private:
  int Create(Name name);
  int CreateNamed();
  template <typename Act>
  int WithNewName(const Act& act);
  void Forget() noexcept;

  const SaveTarget& target_;
  std::string name_;  // empty if the file has no name yet
  PendingName* pending_ = nullptr;
  Descriptor fd_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_TEMPORARY_FILE_H_
