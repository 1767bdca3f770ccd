// Whether backends agree with `portable`: a time of wrong answers is worth nothing.
#ifndef TAMIS_BENCH_SUITE_VERIFY_H_
#define TAMIS_BENCH_SUITE_VERIFY_H_

#include <optional>
#include <span>
#include <string>

#include "bench/suite/keys.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

// Whether it takes strings; one that does takes all forms.
bool TakesStrings(const Subject& subject);

// Number of integers that make up the filter when it is built. They leave room for strings, unless
// the subject is static: it is built again with strings.
uint64_t NumBuiltIntegers(const Subject& subject, const SuiteKeys& keys);

// Inserts the first `n` integers into an open and empty subject, or builds a static subject from
// them. Returns the nanoseconds that it took, on the clock of the thread if there is one, else on
// the wall.
double InsertIntegers(Subject& subject, SuiteKeys& keys, uint64_t n, Way way);
// The same with NumBuiltIntegers.
double InsertIntegers(Subject& subject, SuiteKeys& keys, Way way);
// Inserts the strings that complete it, if it takes any. Builds a static subject again, from fewer
// integers and the strings.
void InsertStrings(Subject& subject, SuiteKeys& keys, Way way);

// What one backend of a kind does otherwise than `portable`: the bits that it builds, inserts or
// erases, its answers, or its answers for keys that are in. Nothing if it agrees; of peers, only
// the last is asked. The subject must not be open.
std::optional<std::string> Disagreement(Subject& subject, Way way, const Backend& portable);

// The index of the first key that is present and whose answer is no.
std::optional<size_t> FirstFalseNegative(const Subject& subject, Operation operation,
                                         const Answers& answers, std::span<const uint8_t> present);

// The number of hits of kContains.
size_t CountHits(const Subject& subject, const Answers& answers, size_t queries);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_VERIFY_H_
