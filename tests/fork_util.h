// Runs functions in child processes.
#ifndef TAMIS_TESTS_FORK_UTIL_H_
#define TAMIS_TESTS_FORK_UTIL_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tamis {

// Whether a child may allocate and free if other threads of its parent were allocating at the time
// of the fork. With glibc's allocator it may. The allocators of sanitizers and of zig's musl leave
// their locks locked in the child, which would then wait forever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    (defined(__linux__) && !defined(__GLIBC__))
inline constexpr bool kChildrenMayFree = false;
#else
inline constexpr bool kChildrenMayFree = true;
#endif

// Runs `child` in a child process and returns its result, or 1000 plus the signal that ended the
// child. The child has 20 seconds.
template <typename Child>
int InChild(const Child& child) {
  // Lets threads that the parent has just started finish their allocations.
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
