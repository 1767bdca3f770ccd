// The secret of a keyed hash, which comes from a file: arguments can be seen by other users.
#ifndef TAMIS_TOOLS_SECRET_H_
#define TAMIS_TOOLS_SECRET_H_

#include <tamis/hash.h>

#include <optional>
#include <string>

#include "tools/command_line.h"

namespace tamis::tools {

// How to get one that --secret takes, for help and errors.
inline constexpr char kMakeSecret[] = "openssl rand -hex 16 > FILE";

struct SecretOptions {
  std::string path;  // empty: none is given

  // --secret
  void AddTo(const CommandLine& command);
  // Reads it: 32 hexadecimal digits, which may be followed by one line end. Nothing if no file was
  // given. Throws Error(kIo), and Error(kInvalidArgument), which does not show what is in the file.
  std::optional<HashSecret> Read() const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_SECRET_H_
