// A new file beside the one that it is to replace.
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
  // kLater: where there are files without names, one of these, of which nothing remains when the
  // process is killed. It can only be named through /proc.
  enum class Name { kLater, kNow };

  TemporaryFile(const SaveTarget& target, Name name);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  int fd() const noexcept { return fd_.get(); }
  void Write(std::span<const std::byte> bytes);
  // Under which this process can open the file to read it, whether or not it has a name.
  std::filesystem::path readable_path() const;
  // Gives the file a name if it has none. False if the system refuses.
  bool GiveName();
  // Both only of a file that has a name.
  void ReplaceTarget();
  // Throws Error(kBusy), and leaves the target alone, if there is one.
  void BecomeNewTarget();

 private:
  int Create(Name name);
  int CreateNamed();
  template <typename Act>
  int WithNewName(const Act& act);
  void Forget() noexcept;

  const SaveTarget& target_;
  std::string name_;  // empty: the file has none yet
  PendingName* pending_ = nullptr;
  Descriptor fd_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_TEMPORARY_FILE_H_
