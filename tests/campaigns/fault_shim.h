// System calls and allocations that fail when a campaign wants them to. A library of its own that
// is preloaded into the command, or linked by a program, whose calls it then sees before the C
// library does. For Linux and glibc.
//
// A fault is "KIND:N:WHAT": the N-th call of a kind, counted from 1,
//   fails with an errno                     open:3:13
//   and so do all later ones                write:2:28+
//   reads or writes less than was asked     pread:1:short
//   ends the process before, or after it    rename:1:kill, any:7:kill-after
//   does nothing, and says that it did      write:1:swallow, close:1:swallow (seeded defects)
// Kinds are those of kKinds in fault_shim.c, and "any" for all of them but alloc.
#ifndef TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_
#define TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_

#ifdef __cplusplus
extern "C" {
#endif

// In a preloaded process the fault is that of TAMIS_FAULT, counted from the beginning of main; when
// it happens, the name of the call is appended to the file TAMIS_FAULT_LOG. With TAMIS_FAULT_NAMED
// there are no files without names (O_TMPFILE fails). With TAMIS_FAULT_COPY files are replaced by
// copying into them: a seeded defect.

// In a program: counts from here. Returns 0 if the fault has an unknown kind or no number.
int tamis_fault_arm(const char* fault);
// The call that failed, such as "renameat", or "" if none did.
const char* tamis_fault_disarm(void);
void tamis_fault_refuse_unnamed(int refuse);
// The next block that is freed is kept, as if it had been forgotten: a seeded defect.
void tamis_fault_leak(void);

// What the process has, for leaks: blocks of memory, and bytes of mappings.
long tamis_fault_live_blocks(void);
long tamis_fault_mapped_bytes(void);

#ifdef __cplusplus
}
#endif

#endif  // TAMIS_TESTS_CAMPAIGNS_FAULT_SHIM_H_
