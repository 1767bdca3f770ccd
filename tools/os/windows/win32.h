// Handles of Windows behind the descriptors of the C runtime.
#ifndef TAMIS_TOOLS_OS_WINDOWS_WIN32_H_
#define TAMIS_TOOLS_OS_WINDOWS_WIN32_H_

#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>

namespace tamis::tools::os {

// Returns INVALID_HANDLE_VALUE if the descriptor is not open.
inline HANDLE HandleOf(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

enum class PipeState { kEmpty, kReadable, kUnknown };
PipeState StateOfPipe(HANDLE pipe);

// Waits until the request that interrupted a read of the terminal is known to AwaitInput. Returns
// false if it does not stop the input.
bool AwaitStop();

}  // namespace tamis::tools::os

#endif  // TAMIS_TOOLS_OS_WINDOWS_WIN32_H_
