// The number of threads of an Engine.
#ifndef TAMIS_ENGINE_ENGINE_THREADS_H_
#define TAMIS_ENGINE_ENGINE_THREADS_H_

#include "tamis/cpp20.h"

namespace tamis {

// The most threads that one Engine can have.
inline constexpr unsigned kMaxThreads = 1024;

// Returns the number of threads of an Engine that is made with EngineOptions::threads = `asked`,
// without making one and without looking for backends. Throws Error(kInvalidArgument) as the
// constructor of Engine does.
unsigned EngineThreads(unsigned asked = 0);

}  // namespace tamis

#endif  // TAMIS_ENGINE_ENGINE_THREADS_H_
