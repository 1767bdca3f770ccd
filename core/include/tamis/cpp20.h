// Stops compilation with one clear error if the language is older than C++20 or the processor is
// big-endian. Every public header includes this one.
#ifndef TAMIS_CPP20_H_
#define TAMIS_CPP20_H_

#if defined(_MSVC_LANG)  // MSVC sets __cplusplus to 199711L unless /Zc:__cplusplus is given
#if _MSVC_LANG < 202002L
#error "tamis needs C++20: compile with /std:c++20"
#endif
#elif __cplusplus < 202002L
#error "tamis needs C++20: compile with -std=c++20"
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tamis needs a little-endian processor: its files contain the memory of its filters"
#endif

#endif  // TAMIS_CPP20_H_
