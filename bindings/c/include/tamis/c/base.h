/* Errors, hashes, kinds of filters and backends. */
#ifndef TAMIS_C_BASE_H_
#define TAMIS_C_BASE_H_

#include <stddef.h>
#include <stdint.h>

/* A DLL has a list of its functions instead of marks in the headers. */
#if defined(__ELF__) || defined(__APPLE__)
#define TAMIS_C_API __attribute__((visibility("default")))
#else
#define TAMIS_C_API
#endif

/* Initializes a variable of an options or info structure: sets all members to 0 except
 * struct_bytes. */
#ifdef __cplusplus
extern "C++" { /* even if the header is included within extern "C" */
template <typename Options>
inline Options tamis_init() {
  Options options = Options();
  options.struct_bytes = sizeof(Options);
  return options;
}
}
#define TAMIS_INIT(type) tamis_init<type>()
#else
#define TAMIS_INIT(type) \
  { .struct_bytes = sizeof(type) }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Errors. The numbers are fixed. */
typedef int32_t tamis_status;
enum {
  TAMIS_OK = 0,
  TAMIS_INVALID_ARGUMENT = 1, /* a value outside its range, NULL, an output that is too small */
  TAMIS_OUT_OF_MEMORY = 2,    /* the requested memory is not available */
  TAMIS_INCOMPATIBLE = 3,     /* two filters that cannot be combined */
  TAMIS_READ_ONLY = 4,        /* a change of a filter that is mapped or never changes */
  TAMIS_UNKNOWN_BACKEND = 5,  /* a backend name that is unknown or unusable on this machine */
  TAMIS_IO = 6,               /* the operating system refused a file operation */
  TAMIS_CORRUPT = 7,          /* bytes that fail a check */
  TAMIS_UNSUPPORTED = 8,      /* a newer version, another kind, or an ability that a kind lacks */
  TAMIS_DEVICE = 9,           /* a GPU or its driver failed */
  TAMIS_NOT_DURABLE = 10,     /* a file was saved, but a power cut may still undo it */
  TAMIS_BUSY = 11,            /* another process is changing the file, or has replaced it */
  TAMIS_CANCELLED = 12,       /* the caller has cancelled the work */
  TAMIS_SECRET = 13,          /* a secret: missing, wrong, or given where none is needed */
  TAMIS_UNAVAILABLE = 14,     /* a server cannot be reached */
  TAMIS_INTERNAL = 100        /* an unexpected exception in the library */
};

/* 1: yes; for queries "maybe". 0: no. A negative number is an error: a tamis_status with a minus
 * sign. So an error never equals "no", even in a program that does not check for errors. */
typedef int32_t tamis_answer;

/* Returns the name of a status, such as "Ok" or "InvalidArgument". Returns "unknown" for other
 * numbers. */
TAMIS_C_API const char* tamis_status_name(tamis_status status);
/* Returns the message of the last failed call on this thread: the problem, the value, and the
 * allowed range. At most 5 KiB. Returns "" if no call has failed. Valid until the next call fails
 * on this thread, or the thread ends. */
TAMIS_C_API const char* tamis_last_error(void);

/* Returns the version of the library that runs, such as "1.0.0". */
TAMIS_C_API const char* tamis_version(void);

/* Frees text that a function returned through an argument `char** out`. NULL is ignored. */
TAMIS_C_API void tamis_text_free(char* text);

/* Hash functions of filters. The numbers are part of the file format. */
enum {
  TAMIS_HASH_XXH3 = 1,      /* XXH3-64; 0 also selects this default */
  TAMIS_HASH_XXH64 = 2,     /* XXH64; with seed 0 the hash of Apache Parquet's Bloom filters */
  TAMIS_HASH_SIPHASH13 = 3, /* keyed, for keys that an attacker may choose */
  TAMIS_HASH_SIPHASH24 = 4
};
/* The hash of a filter. */
typedef struct tamis_hash {
  uint32_t kind;     /* TAMIS_HASH_XXH3 ... */
  uint32_t reserved; /* 0 */
  uint64_t seed;     /* of XXH3 and XXH64, otherwise 0 */
  /* The key of SipHash, otherwise 0: its first and its last 8 bytes, little-endian. */
  uint64_t secret_low;
  uint64_t secret_high;
} tamis_hash;
/* Draws a seed or a secret from the entropy source of the operating system. `kind` may be 0, for
 * the default. Functions that create a filter return TAMIS_SECRET for a keyed hash whose secret is
 * 0. */
TAMIS_C_API tamis_status tamis_hash_random(uint32_t kind, tamis_hash* out);

/* Kinds of filters. The numbers are part of the file format. docs/filters.md compares the kinds. */
enum {
  TAMIS_SPLIT_BLOCK = 1, /* the fast default */
  TAMIS_CUCKOO8 = 2,     /* fingerprints of 8 bits; keys can be erased */
  TAMIS_CUCKOO12 = 3,
  TAMIS_CUCKOO16 = 4,
  TAMIS_BLOOM = 6,    /* classic Bloom filter: fewest bits, most cache misses */
  TAMIS_COUNTING = 7, /* counters instead of bits: keys can be erased */
  TAMIS_SCALABLE = 8, /* a chain of filters, for an unknown number of keys */
  TAMIS_FUSE8 = 9,    /* binary fuse with fingerprints of 8 bits: built once, never changes */
  TAMIS_FUSE12 = 10,
  TAMIS_FUSE16 = 11,
  TAMIS_FUSE32 = 12
};
/* Abilities of a kind: a set of bits. */
enum {
  TAMIS_CAN_ERASE = 1,           /* keys can be erased */
  TAMIS_CAN_GROW = 2,            /* more keys can be inserted than planned */
  TAMIS_CAN_MERGE = 4,           /* two filters can be merged */
  TAMIS_CAN_INTERSECT = 8,       /* two filters can be intersected */
  TAMIS_CAN_PARALLEL_BUILD = 16, /* several threads of an engine can share the build */
  TAMIS_CAN_PARQUET = 32,        /* with XXH64 and seed 0, the bits are those of Apache Parquet */
  TAMIS_CAN_EXACT = 64           /* answers are never wrong; only for exact structures of plans */
};
/* Returns the name of a kind, such as "split-block" or "cuckoo8". Returns NULL for an unknown
 * number. */
TAMIS_C_API const char* tamis_kind_name(uint32_t kind);
/* Finds the kind with this name. Returns TAMIS_UNSUPPORTED for an unknown name. */
TAMIS_C_API tamis_status tamis_kind_by_name(const char* name, uint32_t* out);
/* Returns the TAMIS_CAN_... bits of a kind. For TAMIS_SCALABLE, returns only the abilities that do
 * not depend on the kind of the layers. Returns TAMIS_UNSUPPORTED for an unknown number. */
TAMIS_C_API tamis_status tamis_kind_abilities(uint32_t kind, uint32_t* out);

/* Returns the name of backend `index` among the backends that are compiled in and run on this
 * machine. Index 0 is the best backend, and the last is "portable". Returns NULL past the last.
 * Valid until the next call on this thread. All backends compute the same bits. If an option
 * `backend` is NULL, the environment variable TAMIS_BACKEND selects the backend. If the variable is
 * not set, the best backend is used. */
TAMIS_C_API const char* tamis_backend_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_BASE_H_ */
