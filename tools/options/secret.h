// The secret of a keyed hash. It comes from a file, because other users can see arguments.
#ifndef TAMIS_TOOLS_OPTIONS_SECRET_H_
#define TAMIS_TOOLS_OPTIONS_SECRET_H_

#include <tamis/hash.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

// A command that makes a secret for --secret. Only the help of commands that build filters shows
// it. Other commands require the secret of the existing filter.
inline constexpr char kMakeSecret[] = "openssl rand -hex 16 > FILE";

struct SecretOptions {
  std::string path;  // empty: no secret is given

  // Adds --secret.
  void AddTo(const CommandLine& command);
  // Returns `paths` and the path of the secret, if it is given, so that outputs can be compared
  // with them.
  std::vector<std::string> And(std::vector<std::string> paths) const;
  // Reads the secret: 32 hexadecimal digits on a line. Returns std::nullopt if no file was given.
  // Throws Error(kIo), and Error(kInvalidArgument). Messages do not contain the contents of the
  // file.
  std::optional<HashSecret> Read() const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_SECRET_H_
