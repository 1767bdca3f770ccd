// Requests of the system or the user to end: SIGHUP, SIGINT and SIGTERM, and on Windows Ctrl-C,
// Ctrl-Break and the end of the console.
#ifndef TAMIS_TOOLS_OS_INTERRUPT_H_
#define TAMIS_TOOLS_OS_INTERRUPT_H_

#include <cstddef>
#include <string_view>

namespace tamis::tools::os {

// Makes such a request call `function` before it ends the process as usual. Requests that are
// ignored, as under nohup, stay ignored. The function is called in a signal handler, or in a thread
// of its own, while the rest of the process continues. May be called once in a process.
void CallBeforeEnd(void (*function)());

// The largest message of WriteMessageBeforeEnd.
extern const size_t kMaxEndMessageBytes;
// Writes to standard error. The function of CallBeforeEnd may call it. Prints nothing if the write
// would block or fail.
void WriteMessageBeforeEnd(std::string_view message);

// Thrown instead of waiting for input.
struct Stopped {};

// Makes the first request end the input: AwaitInput then throws Stopped. The second request ends
// the process. Must be called after CallBeforeEnd.
void StopInputOnRequest();
// Waits until the descriptor is readable, and throws Stopped if the request has come. Does not wait
// unless StopInputOnRequest was called. With -1, only checks for the request.
void AwaitInput(int fd);
// Returns whether the first request has come.
bool IsInputStopped();
// Ends the process as the first request would have ended it. Must be called if IsInputStopped().
void EndByRequest();

}  // namespace tamis::tools::os

#endif  // TAMIS_TOOLS_OS_INTERRUPT_H_
