/* Errors, hashes, kinds of filters and backends. */
#ifndef TAMIS_C_BASE_H_
#define TAMIS_C_BASE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TAMIS_C_API __attribute__((visibility("default")))
#else
#define TAMIS_C_API
#endif

/* The initial value of a variable of such a type: all 0 but struct_bytes. */
#ifdef __cplusplus
extern "C++" { /* also where the header is included within extern "C" */
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

/* The numbers are fixed. */
typedef int32_t tamis_status;
enum {
  TAMIS_OK = 0,
  TAMIS_INVALID_ARGUMENT = 1, /* a value outside its range, NULL, an output that is too small */
  TAMIS_OUT_OF_MEMORY = 2,    /* more memory asked for than there is */
  TAMIS_INCOMPATIBLE = 3,     /* two filters that cannot be combined */
  TAMIS_READ_ONLY = 4,        /* a change to a filter that is mapped, or never changes */
  TAMIS_UNKNOWN_BACKEND = 5,  /* a backend name that is unknown or unusable on this machine */
  TAMIS_IO = 6,               /* the operating system refused a file operation */
  TAMIS_CORRUPT = 7,          /* bytes that fail a check */
  TAMIS_UNSUPPORTED = 8,      /* of a newer version or another kind; what a kind cannot do */
  TAMIS_DEVICE = 9,           /* a GPU, or its driver, that failed */
  TAMIS_NOT_DURABLE = 10,     /* a file that was saved, but that a power cut may still undo */
  TAMIS_BUSY = 11,            /* a file that another process is changing, or has replaced */
  TAMIS_CANCELLED = 12,       /* work that the caller has called off */
  TAMIS_SECRET = 13,          /* a secret: missing, wrong, or given where none is needed */
  TAMIS_UNAVAILABLE = 14,     /* a server that cannot be reached */
  TAMIS_INTERNAL = 100        /* an exception that the library does not know */
};

/* 1: yes, which for a question is "maybe in". 0: no. A negative number: the status that went wrong,
 * with a minus sign; so an error that nobody looks at is never taken for a "no". */
typedef int32_t tamis_answer;

/* "InvalidArgument", "Ok" ...; "unknown" for any other number. */
TAMIS_C_API const char* tamis_status_name(tamis_status status);
/* What was wrong, the value, and the allowed range: of the last call of this thread that failed. ""
 * if none has. Valid until the next one fails, or the thread ends. At most 5 KiB. */
TAMIS_C_API const char* tamis_last_error(void);

/* "0.1.0": of the library that runs. */
TAMIS_C_API const char* tamis_version(void);

/* Gives back text that a function of this library has returned through an argument `char** out`.
 * NULL is ignored. */
TAMIS_C_API void tamis_text_free(char* text);

/* What a filter hashes with. The values of `kind` are part of the file format. */
enum {
  TAMIS_HASH_XXH3 = 1,      /* XXH3-64; the default, which 0 stands for */
  TAMIS_HASH_XXH64 = 2,     /* XXH64; with seed 0 the hash of Apache Parquet's Bloom filters */
  TAMIS_HASH_SIPHASH13 = 3, /* keyed, for keys that an attacker may choose */
  TAMIS_HASH_SIPHASH24 = 4
};
typedef struct tamis_hash {
  uint32_t kind;
  uint32_t reserved;    /* 0 */
  uint64_t seed;        /* of XXH3 and XXH64, else 0 */
  uint64_t secret_low;  /* of SipHash, else 0: the first 8 bytes of its key, little-endian, */
  uint64_t secret_high; /* and the last 8 */
} tamis_hash;
/* A seed or a secret from the operating system's entropy source. A new filter with a keyed hash
 * takes no secret of 0: it is TAMIS_SECRET. */
TAMIS_C_API tamis_status tamis_hash_random(uint32_t kind, tamis_hash* out);

/* Kinds of filters, whose values are part of the file format. docs/filters.md compares them. */
enum {
  TAMIS_SPLIT_BLOCK = 1, /* the fast default */
  TAMIS_CUCKOO8 = 2,     /* fingerprints of 8 bits; keys can be erased */
  TAMIS_CUCKOO12 = 3,
  TAMIS_CUCKOO16 = 4,
  TAMIS_BLOOM = 6,    /* the classic one: fewest bits, most cache misses */
  TAMIS_COUNTING = 7, /* counters in place of bits: keys can be erased */
  TAMIS_SCALABLE = 8, /* a chain of filters, for a number of keys that nobody knows */
  TAMIS_FUSE8 = 9,    /* binary fuse with fingerprints of 8 bits: built once, never changes */
  TAMIS_FUSE12 = 10,
  TAMIS_FUSE16 = 11,
  TAMIS_FUSE32 = 12
};
/* What a kind can do: bits of a set. */
enum {
  TAMIS_CAN_ERASE = 1,           /* keys can be taken back */
  TAMIS_CAN_GROW = 2,            /* more keys than planned can come */
  TAMIS_CAN_MERGE = 4,           /* two can be united */
  TAMIS_CAN_INTERSECT = 8,       /* two can be intersected */
  TAMIS_CAN_PARALLEL_BUILD = 16, /* several threads of an engine build it together */
  TAMIS_CAN_PARQUET = 32,        /* it can have Apache Parquet's bits (XXH64, seed 0) */
  TAMIS_CAN_EXACT = 64           /* it is never wrong: no filter, but some structures of plans */
};
/* "split-block", "cuckoo8" ...; NULL for a number that is no kind. */
TAMIS_C_API const char* tamis_kind_name(uint32_t kind);
/* The kind of that name. TAMIS_UNSUPPORTED if there is none. */
TAMIS_C_API tamis_status tamis_kind_by_name(const char* name, uint32_t* out);
/* TAMIS_CAN_... of a kind; of a scalable one, whatever its layers are. TAMIS_UNSUPPORTED for a
 * number that is no kind. */
TAMIS_C_API tamis_status tamis_kind_abilities(uint32_t kind, uint32_t* out);

/* The backends that are compiled in and run on this machine, by index from 0, best first, the last
 * "portable"; NULL past them. The text is valid until the next call by this thread. All give the
 * same bits. Where an option `backend` is NULL it is the one that the environment variable
 * TAMIS_BACKEND names, or the best. */
TAMIS_C_API const char* tamis_backend_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* TAMIS_C_BASE_H_ */
