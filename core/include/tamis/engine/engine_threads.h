// The number of threads that an Engine has.
#ifndef TAMIS_ENGINE_ENGINE_THREADS_H_
#define TAMIS_ENGINE_ENGINE_THREADS_H_

#include "tamis/cpp20.h"

namespace tamis {

// The most threads that one Engine can have.
inline constexpr unsigned kMaxThreads = 1024;

// Returns the number of threads of an Engine that is made with EngineOptions::threads = `asked`.
// Makes no Engine and looks for no backend. Throws as the constructor of Engine.
unsigned EngineThreads(unsigned asked = 0);

}  // namespace tamis

#endif  // TAMIS_ENGINE_ENGINE_THREADS_H_
