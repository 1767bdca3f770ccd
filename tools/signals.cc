#include "tools/signals.h"

#include <signal.h>
#include <tamis/file.h>

namespace tamis::tools {
namespace {

void RemoveAndEnd(int number) {
  RemoveTemporaryFiles();
  ::raise(number);  // by now in the way of the system
}

}  // namespace

void RemoveTemporaryFilesOnSignals() {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = RemoveAndEnd;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace tamis::tools
