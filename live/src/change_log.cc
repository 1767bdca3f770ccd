#include "tamis/live/detail/change_log.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash_keys.h"

namespace tamis::detail {

uint64_t ChangeLog::OpenScope() {
  const std::lock_guard lock(mutex_);
  ++open_scopes_[epoch_];
  return epoch_;
}

void ChangeLog::CloseScope(uint64_t epoch) noexcept {
  const std::lock_guard lock(mutex_);
  const auto scopes = open_scopes_.find(epoch);
  if (--scopes->second > 0) return;
  open_scopes_.erase(scopes);
  changed_->notify_all();
}

ChangeLog::Passage::Passage(ChangeLog& log) : log_(log) {
  std::unique_lock lock(log.mutex_);
  log.changed_->wait(lock, [&] { return !log.closed_; });
  ++log.passages_;
  recording_ = log.recording_;
}

ChangeLog::Passage::~Passage() {
  const std::lock_guard lock(log_.mutex_);
  if (--log_.passages_ == 0 && log_.closed_) log_.changed_->notify_all();
}

void ChangeLog::RecordInserts(const Keys& keys, const HashSpec& hash_of) {
  uint64_t hashes[1024];
  for (const Keys& some : keys.Chunks(std::size(hashes))) {
    const size_t n = HashKeys(some, hash_of, hashes);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < n; ++i) Append(hashes[i], false);
    if (recording_) key_types_.Add(keys.key_type());
  }
}

void ChangeLog::Append(uint64_t hash, bool erased) noexcept {
  if (!recording_ || loss_ != Loss::kNone) return;
  if (recorded_ == max_keys_) return Lose(Loss::kFull);
  if (record_.empty() || record_.back()->size == RecordedChanges::kKeys) {
    try {
      record_.push_back(std::make_unique<RecordedChanges>());
    } catch (const std::bad_alloc&) {
      return Lose(Loss::kNoMemory);
    }
  }
  RecordedChanges& last = *record_.back();
  last.hashes[last.size] = hash;
  last.erased[last.size] = erased;
  ++last.size;
  ++recorded_;
}

// Drops the record, because the rebuild cannot succeed without a complete record.
void ChangeLog::Lose(Loss loss) noexcept {
  loss_ = loss;
  record_.clear();
  recorded_ = 0;
}

void ChangeLog::Start(uint64_t max_keys) {
  const std::lock_guard lock(mutex_);
  recording_ = true;
  loss_ = Loss::kNone;
  max_keys_ = max_keys;
  start_epoch_ = ++epoch_;
  snapshot_epoch_ = 0;
  skipped_erases_ = 0;
  key_types_ = {};
}

void ChangeLog::AwaitEarlierScopes(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_->wait(lock, stop, [&] {
    return open_scopes_.empty() || open_scopes_.begin()->first >= start_epoch_;
  });
}

void ChangeLog::SnapshotIsOpen() {
  const std::lock_guard lock(mutex_);
  snapshot_epoch_ = ++epoch_;
}

void ChangeLog::RequireWhole() const {
  const std::lock_guard lock(mutex_);
  if (loss_ == Loss::kNone) return;
  const std::string why = loss_ == Loss::kFull
                              ? StrCat("more than ", max_keys_, " keys (max_recorded)")
                              : "more keys than fit in memory";
  throw Error(ErrorCode::kOutOfMemory, why + " were changed during the rebuild");
}

ChangeRecord ChangeLog::Take() {
  const std::lock_guard lock(mutex_);
  recorded_ = 0;
  return std::exchange(record_, {});
}

KeyTypes ChangeLog::key_types() const {
  const std::lock_guard lock(mutex_);
  return key_types_;
}

void ChangeLog::CloseGate() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_->wait(lock, [&] { return passages_ == 0; });
}

void ChangeLog::OpenGate() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_->notify_all();
}

void ChangeLog::Stop() noexcept {
  ChangeRecord dropped;  // freed after the lock is released, because changes wait for the lock
  const std::lock_guard lock(mutex_);
  recording_ = false;
  snapshot_epoch_ = 0;
  recorded_ = 0;
  dropped.swap(record_);
}

uint64_t ChangeLog::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

uint64_t ChangeLog::skipped_erases() const {
  const std::lock_guard lock(mutex_);
  return skipped_erases_;
}

}  // namespace tamis::detail
