// Children of fork.
#ifndef TAMIS_TESTS_FORK_UTIL_H_
#define TAMIS_TESTS_FORK_UTIL_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tamis {

// Whether a child may allocate and free while other threads of its parent do. glibc's allocator
// sees to it; a sanitizer's leaves the child its locks as they were, and the child waits for ever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kChildrenMayFree = false;
#else
inline constexpr bool kChildrenMayFree = true;
#endif

// What `child` returns in a child, or 1000 plus the signal that ended it; it has 20 seconds.
template <typename Child>
int InChild(const Child& child) {
  // A thread of the parent that is being started allocates.
  if constexpr (!kChildrenMayFree) usleep(20'000);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(child());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace tamis

#endif  // TAMIS_TESTS_FORK_UTIL_H_
