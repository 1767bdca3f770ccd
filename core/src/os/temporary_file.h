// A new file beside the file that it will replace.
#ifndef TAMIS_CORE_SRC_OS_TEMPORARY_FILE_H_
#define TAMIS_CORE_SRC_OS_TEMPORARY_FILE_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/src/os/save_target.h"

namespace tamis::os {

// Removed on destruction unless it has been given its final name. All functions throw Error(kIo).
class TemporaryFile {
 public:
  // kLater makes a file without a name if the system has such files. Nothing remains of it if the
  // process is killed.
  enum class Name { kLater, kNow };

  // Creates the file. The file has the owner, group, mode and access list of the file that it will
  // replace, if there is one.
  TemporaryFile(const SaveTarget& target, Name name);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  void Write(std::span<const std::byte> bytes);
  // Returns a path at which this process can open the file to read it, with or without a name.
  std::filesystem::path readable_path() const;
  // Waits until the file is on the disk.
  void Synchronize();
  // Gives the file a name if it has none. Returns false if the system refuses.
  bool GiveName();
  // Replaces the target. The file must have a name. Throws Error(kBusy) if the system cannot
  // replace the target because it is open or mapped.
  void ReplaceTarget();
  // Gives the file the name of the target. If the target exists, throws Error(kBusy) and leaves the
  // target as it is. The file must have a name.
  void BecomeNewTarget();
  // Waits until the name of the file is on the disk. Throws Error(kNotDurable).
  void SynchronizeName();

 private:
  [[noreturn]] static void ThrowTargetExists(const std::filesystem::path& target);

  struct State;
  std::unique_ptr<State> state_;
};

// Removes all temporary files of this process. A signal handler may call it.
void RemoveTemporaryFiles() noexcept;

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_TEMPORARY_FILE_H_
