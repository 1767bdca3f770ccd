// Options for the memory of filters.
#ifndef TAMIS_MEMORY_H_
#define TAMIS_MEMORY_H_

#include <memory_resource>

#include "tamis/cpp20.h"

namespace tamis {

// Options of the memory of a filter.
struct MemoryOptions {
  // Whether to ask the operating system for huge pages (madvise) from 4 MiB up. Huge pages save a
  // TLB miss per probe, and make random access to a 4 GiB filter 2.5 times as fast.
  bool huge_pages = true;

  // Whether to spread memory from 4 MiB up over all memory nodes (NUMA) that the process may use,
  // page by page. Otherwise the system places a page on the node of the thread that first writes to
  // it. Like huge pages, this is a request, and the answers of the filter do not depend on it.
  // Only Linux can do it. Mapped files are not spread. Memory of `resource` stays spread after the
  // filter has returned it.
  bool interleave = false;

  // The source of memory, from which filters allocate with an alignment of 64 bytes. The source
  // must outlive the filter. nullptr: the operating system for 4 MiB or more, operator new for
  // less.
  std::pmr::memory_resource* resource = nullptr;
};

}  // namespace tamis

#endif  // TAMIS_MEMORY_H_
