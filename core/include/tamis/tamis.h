// All of the public interface.
#ifndef TAMIS_TAMIS_H_
#define TAMIS_TAMIS_H_

#include "tamis/any_filter.h"
#include "tamis/backend.h"
#include "tamis/bank_reader.h"
#include "tamis/bloom_filter.h"
#include "tamis/build.h"
#include "tamis/calibration.h"
#include "tamis/counting_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/erasable_filter.h"
#include "tamis/error.h"
#include "tamis/file.h"
#include "tamis/filter.h"
#include "tamis/filter_bank.h"
#include "tamis/filter_kinds.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/memory.h"
#include "tamis/plan.h"
#include "tamis/scalable_filter.h"
#include "tamis/set_operations.h"
#include "tamis/sizing.h"
#include "tamis/split_block_filter.h"
#include "tamis/split_block_view.h"
#include "tamis/units.h"
#include "tamis/version.h"
#include "tamis/windowed_filter.h"

#endif  // TAMIS_TAMIS_H_
