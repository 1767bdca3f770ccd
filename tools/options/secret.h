// The secret of a keyed hash, which comes from a file: arguments can be seen by other users.
#ifndef TAMIS_TOOLS_OPTIONS_SECRET_H_
#define TAMIS_TOOLS_OPTIONS_SECRET_H_

#include <tamis/hash.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

// How to get one that --secret takes. Said only where a filter is built: elsewhere it would take
// the place of the one that is needed.
inline constexpr char kMakeSecret[] = "openssl rand -hex 16 > FILE";

struct SecretOptions {
  std::string path;  // empty: none is given

  // --secret
  void AddTo(const CommandLine& command);
  // Those paths and its own, if there is one: what is read must not be written to.
  std::vector<std::string> And(std::vector<std::string> paths) const;
  // Reads it: 32 hexadecimal digits, which may be followed by one line end. Nothing if no file was
  // given. Throws Error(kIo), and Error(kInvalidArgument), which does not show what is in the file.
  std::optional<HashSecret> Read() const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_SECRET_H_
