// The version of the library, for checks at compile time. CMake reads it from here.
#ifndef TAMIS_VERSION_H_
#define TAMIS_VERSION_H_

// The version, as numbers and as a string.
#define TAMIS_VERSION_MAJOR 1
#define TAMIS_VERSION_MINOR 0
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_STRING "1.0.0"

#endif  // TAMIS_VERSION_H_
