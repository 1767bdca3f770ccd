// The header to begin with: filters, their keys and files, the engine, and errors. Everything else
// has headers of its own.
#ifndef TAMIS_TAMIS_H_
#define TAMIS_TAMIS_H_

#include "tamis/any_filter.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cpp20.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/error.h"
#include "tamis/file.h"
#include "tamis/filter.h"
#include "tamis/fuse_filter.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"
#include "tamis/scalable_filter.h"
#include "tamis/split_block_filter.h"
#include "tamis/version.h"

#endif  // TAMIS_TAMIS_H_
