// Makes chosen system calls and allocations fail. A separate library, for Linux and glibc. It is
// preloaded into the command or linked into a program. It replaces functions of the C library.
//
// A fault is "KIND:N:WHAT". It affects the N-th call of a kind, counted from 1, which
//   fails with an errno                     open:3:13
//   fails, like all later calls             write:2:28+
//   reads or writes fewer bytes             pread:1:short
//   ends the process before or after it     rename:1:kill, any:7:kill-after
//   does nothing, but reports success       write:1:swallow, close:1:swallow (seeded defects)
// kKinds in fault_shim.c lists the kinds. "any" means all kinds except alloc.
#ifndef TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_
#define TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_

#ifdef __cplusplus
extern "C" {
#endif

// In a preloaded process, TAMIS_FAULT sets the fault, and calls are counted from the start of main.
// When the fault happens, the name of the call is appended to the file TAMIS_FAULT_LOG. With
// TAMIS_FAULT_NAMED, all files have names (O_TMPFILE fails). With TAMIS_FAULT_COPY, files are
// replaced by copying into them: a seeded defect.

// For programs: starts counting. Returns 0 if the fault has an unknown kind or no number.
int tamis_fault_arm(const char* fault);
// Returns the call that failed, such as "renameat", or "" if none did.
const char* tamis_fault_disarm(void);
void tamis_fault_refuse_unnamed(int refuse);
// The next freed block is leaked: a seeded defect.
void tamis_fault_leak(void);

// Resources of the process, to detect leaks: memory blocks, and bytes of mappings.
long tamis_fault_live_blocks(void);
long tamis_fault_mapped_bytes(void);

#ifdef __cplusplus
}
#endif

#endif  // TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_
