// The header to begin with: filters, their keys and files, the engine, and errors. docs/link.md
// lists all other headers. docs/contracts.md has the rules that hold for all classes.
#ifndef TAMIS_TAMIS_H_
#define TAMIS_TAMIS_H_

#include "tamis/cpp20.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/file/file.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"
#include "tamis/version.h"

#endif  // TAMIS_TAMIS_H_
