// Checks whether backends agree with `portable`, because times of wrong answers are worthless.
#ifndef TAMIS_BENCH_SUITE_VERIFY_H_
#define TAMIS_BENCH_SUITE_VERIFY_H_

#include <optional>
#include <span>
#include <string>

#include "bench/suite/keys.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

// Returns whether the subject accepts strings. If so, it accepts all key types.
bool TakesStrings(const Subject& subject);

// Returns the number of integers with which the filter is built. The integers leave room for
// strings. A static subject needs no such room, because it is built again with strings.
uint64_t NumBuiltIntegers(const Subject& subject, const SuiteKeys& keys);

// Inserts the first `n` integers into an open and empty subject, or builds a static subject from
// them. Returns the nanoseconds, by the thread's clock for one thread and by the wall clock for
// several.
double InsertIntegers(Subject& subject, SuiteKeys& keys, uint64_t n, Way way);
// Calls the function above with NumBuiltIntegers.
double InsertIntegers(Subject& subject, SuiteKeys& keys, Way way);
// Inserts the strings that complete the filter, if the subject accepts strings. Builds a static
// subject again, from fewer integers and the strings.
void InsertStrings(Subject& subject, SuiteKeys& keys, Way way);

// Compares a backend of a kind with `portable`: the bits after building, inserting and erasing, the
// answers, and the answers for present keys. Returns a description of the first difference, or
// nothing if all are equal. For peers, checks only the answers for present keys. The subject must
// not be open.
std::optional<std::string> Disagreement(Subject& subject, Way way, const Backend& portable);

// Returns the index of the first key that is present but was not found.
std::optional<size_t> FirstFalseNegative(const Subject& subject, Operation operation,
                                         const Answers& answers, std::span<const uint8_t> present);

// Returns the number of hits of kContains.
size_t CountHits(const Subject& subject, const Answers& answers, size_t queries);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_VERIFY_H_
