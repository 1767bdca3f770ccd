// The public interface of core: kinds, keys, files, the engine. Banks, plans, formats, live
// filters, CUDA, Redis and Parquet have headers of their own.
#ifndef TAMIS_TAMIS_H_
#define TAMIS_TAMIS_H_

#include "tamis/any_filter.h"
#include "tamis/backend.h"
#include "tamis/bloom_filter.h"
#include "tamis/build.h"
#include "tamis/calibration.h"
#include "tamis/changeable.h"
#include "tamis/changeable_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cpp20.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/erasable_filter.h"
#include "tamis/error.h"
#include "tamis/file.h"
#include "tamis/filter.h"
#include "tamis/filter_kinds.h"
#include "tamis/folder.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/memory.h"
#include "tamis/queryable.h"
#include "tamis/scalable_filter.h"
#include "tamis/set_operations.h"
#include "tamis/sizing.h"
#include "tamis/split_block_filter.h"
#include "tamis/split_block_view.h"
#include "tamis/table_hash.h"
#include "tamis/time_keys.h"
#include "tamis/units.h"
#include "tamis/version.h"
#include "tamis/windowed_filter.h"

#endif  // TAMIS_TAMIS_H_
