#include "tools/os/interrupt.h"

#include <atomic>

#include "tools/os/file.h"
#include "tools/os/windows/win32.h"

namespace tamis::tools::os {
namespace {

// The exit status of a process that Windows ends by Ctrl-C.
constexpr UINT kEndedByControlC = 0xC000013A;
constexpr DWORD kSecond = 1000;  // milliseconds
constexpr DWORD kPollEvery = 20;

void (*before_end)() = nullptr;

std::atomic<bool> stops_input = false;
std::atomic<bool> stopped = false;
HANDLE stop_event = nullptr;  // set when `stopped` becomes true

// Windows calls it in a thread of its own. FALSE ends the process.
BOOL WINAPI OnControl(DWORD request) {
  const bool from_user = request == CTRL_C_EVENT || request == CTRL_BREAK_EVENT;
  if (from_user && stops_input.exchange(false)) {
    stopped = true;
    SetEvent(stop_event);
    return TRUE;
  }
  before_end();
  return FALSE;
}

// Returns whether a key was pressed, after it has dropped other events, such as released keys.
bool HasKey(HANDLE console) {
  INPUT_RECORD event;
  DWORD n = 0;
  while (PeekConsoleInputW(console, &event, 1, &n) && n == 1) {
    if (event.EventType == KEY_EVENT && event.Event.KeyEvent.bKeyDown) return true;
    ReadConsoleInputW(console, &event, 1, &n);
  }
  return false;
}

}  // namespace

const size_t kMaxEndMessageBytes = 4096;

void CallBeforeEnd(void (*function)()) {
  before_end = function;
  SetConsoleCtrlHandler(OnControl, TRUE);
}

// A pipe that nobody reads must not keep the process from ending, so another thread writes.
void WriteMessageBeforeEnd(std::string_view message) {
  static std::string_view said;
  said = message;
  const auto write = [](void*) -> DWORD {
    Write(kStandardError, said.data(), said.size());
    return 0;
  };
  const HANDLE thread = CreateThread(nullptr, 0, write, nullptr, 0, nullptr);
  if (thread == nullptr) return;
  WaitForSingleObject(thread, kSecond);
  CloseHandle(thread);
}

void StopInputOnRequest() {
  stop_event = CreateEventW(nullptr, /*bManualReset=*/TRUE, FALSE, nullptr);
  stops_input = stop_event != nullptr;
}

bool AwaitStop() {
  return stop_event != nullptr && WaitForSingleObject(stop_event, kSecond) == WAIT_OBJECT_0;
}

void AwaitInput(int fd) {
  if (stop_event == nullptr) return;
  if (fd >= 0 && IsTerminal(fd)) {
    // Waits for a key. A request also interrupts a read of the rest of the line.
    const HANDLE handles[] = {stop_event, HandleOf(fd)};
    while (!stopped && !HasKey(HandleOf(fd))) WaitForMultipleObjects(2, handles, FALSE, INFINITE);
  } else if (fd >= 0 && GetFileType(HandleOf(fd)) == FILE_TYPE_PIPE) {
    // No function waits for a pipe.
    while (!stopped && StateOfPipe(HandleOf(fd)) == PipeState::kEmpty) {
      WaitForSingleObject(stop_event, kPollEvery);
    }
  }
  if (stopped) throw Stopped();
}

bool IsInputStopped() { return stopped; }

void EndByRequest() {
  before_end();
  ExitProcess(kEndedByControlC);
}

}  // namespace tamis::tools::os
