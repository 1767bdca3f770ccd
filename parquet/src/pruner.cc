#include "tamis/parquet/pruner.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/src/os/path_text.h"
#include "parquet/src/file_asker.h"
#include "tamis/engine/engine_threads.h"
#include "tamis/error.h"

namespace tamis::parquet {

bool FileAnswer::kept() const noexcept {
  return !doubt.empty() || std::any_of(groups.begin(), groups.end(), [](const GroupAnswer& group) {
    return IsKept(group.outcome);
  });
}

class ParquetPruner::Impl {
 public:
  Impl(KeyList keys, PrunerOptions options)
      : options_(std::move(options)), types_(keys), threads_(EngineThreads(options_.threads)) {
    if (keys.size() == 0) throw Error(ErrorCode::kInvalidArgument, "a list without keys");
  }

  const PrunerOptions& options() const { return options_; }
  KeysByType& types() { return types_; }
  unsigned threads() const { return threads_; }

 private:
  const PrunerOptions options_;
  KeysByType types_;
  const unsigned threads_;
};

namespace {

// One run over many files. Threads query the row groups of the oldest open file first. When all row
// groups of the open files have been assigned to threads, a thread opens the next file.
class PruningRun {
 public:
  PruningRun(std::span<const std::filesystem::path> paths, KeysByType& types,
             const PrunerOptions& options, const std::function<void(FileAnswer&&)>& deliver,
             const std::function<void(uint64_t)>& advance)
      : paths_(paths), types_(types), options_(options), deliver_(deliver), advance_(advance) {}

  void Run(unsigned threads) {
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) {
        try {
          others.emplace_back([this] { Work(); });
        } catch (const std::system_error&) {
          break;  // continues with the threads that were started
        }
      }
      Work();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct File {
    size_t index = 0;
    FileAnswer answer;
    std::unique_ptr<Source> source;
    std::unique_ptr<FileAsker> asker;
    size_t next = 0;  // next group to query
    size_t left = 0;  // groups without an answer yet
    uint64_t advanced = 0;
  };

  void Work() {
    AskerMemory memory;
    std::unique_lock lock(mutex_);
    try {
      while (!failure_ && Step(lock, memory)) {
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_) failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  // Holds the lock on entry and on return. Returns false if nothing is left to do.
  bool Step(std::unique_lock<std::mutex>& lock, AskerMemory& memory) {
    for (const auto& file : open_) {
      if (file->next == file->answer.groups.size()) continue;
      AskOne(*file, lock, memory);
      return true;
    }
    if (next_path_ < paths_.size()) {
      OpenNext(lock);
      return true;
    }
    if (opening_ == 0) return false;
    changed_.wait(lock);
    return true;
  }

  void AskOne(File& file, std::unique_lock<std::mutex>& lock, AskerMemory& memory) {
    const size_t group = file.next++;
    lock.unlock();
    GroupAnswer answer = file.asker->Ask(group, memory);
    lock.lock();
    file.answer.groups[group] = std::move(answer);
    // Each group counts as the same number of bytes, because a footer need not state the sizes of
    // groups.
    const uint64_t steps = file.answer.groups.size();
    Advance(file, file.answer.bytes / steps * (steps - file.left + 1));
    if (--file.left == 0) Finish(file);
  }

  void OpenNext(std::unique_lock<std::mutex>& lock) {
    auto file = std::make_unique<File>();
    file->index = next_path_++;
    const std::filesystem::path& path = paths_[file->index];
    ++opening_;
    lock.unlock();
    file->answer.name = os::TextOf(path);
    try {
      file->source = OpenSource(path);
      file->answer.bytes = file->source->size();
      file->asker = std::make_unique<FileAsker>(*file->source, types_, options_);
      file->answer.doubt = file->asker->doubt();
      file->answer.groups.resize(file->asker->groups());
    } catch (const Error& error) {
      file->answer.doubt = error.what();
    } catch (...) {
      lock.lock();
      --opening_;
      throw;
    }
    lock.lock();
    --opening_;
    file->left = file->answer.groups.size();
    open_.push_back(std::move(file));
    changed_.notify_all();
    if (open_.back()->left == 0) Finish(*open_.back());
  }

  void Advance(File& file, uint64_t to) {
    if (advance_ && to > file.advanced) advance_(to - file.advanced);
    file.advanced = std::max(file.advanced, to);
  }

  void Finish(File& file) {
    Advance(file, file.answer.bytes);
    ready_.emplace(file.index, std::move(file.answer));
    open_.erase(std::find_if(open_.begin(), open_.end(),
                             [&](const auto& other) { return other.get() == &file; }));
    for (auto first = ready_.find(delivered_); first != ready_.end();
         first = ready_.find(++delivered_)) {
      FileAnswer answer = std::move(first->second);
      ready_.erase(first);
      deliver_(std::move(answer));
    }
  }

  const std::span<const std::filesystem::path> paths_;
  KeysByType& types_;
  const PrunerOptions& options_;
  const std::function<void(FileAnswer&&)>& deliver_;
  const std::function<void(uint64_t)>& advance_;

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<std::unique_ptr<File>> open_;
  std::map<size_t, FileAnswer> ready_;  // waiting for earlier files
  size_t next_path_ = 0;
  size_t delivered_ = 0;
  size_t opening_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

ParquetPruner::ParquetPruner(KeyList keys, PrunerOptions options)
    : impl_(std::make_unique<Impl>(keys, std::move(options))) {}

ParquetPruner::~ParquetPruner() = default;

FileAnswer ParquetPruner::Ask(const Source& source) const {
  const FileAsker asker(source, impl_->types(), impl_->options());
  FileAnswer answer = {source.name(), source.size(), asker.doubt()};
  AskerMemory memory;
  for (size_t group = 0; group < asker.groups(); ++group) {
    answer.groups.push_back(asker.Ask(group, memory));
  }
  return answer;
}

void ParquetPruner::Run(std::span<const std::filesystem::path> files,
                        const std::function<void(FileAnswer&&)>& deliver,
                        const std::function<void(uint64_t)>& advance) const {
  PruningRun(files, impl_->types(), impl_->options(), deliver, advance).Run(impl_->threads());
}

Prediction ParquetPruner::Predict(std::span<const std::filesystem::path> files,
                                  size_t samples) const {
  constexpr size_t kOfOneFile = 4;
  Prediction sums;
  AskerMemory memory;
  const size_t wanted = std::min(files.size(), samples);
  for (size_t i = 0; i < wanted && sums.filters < samples; ++i) {
    try {
      const auto source = OpenSource(files[i * files.size() / wanted]);
      const FileAsker asker(*source, impl_->types(), impl_->options());
      const size_t groups = std::min(asker.groups(), std::max(kOfOneFile, samples / wanted));
      for (size_t g = 0; g < groups && sums.filters < samples; ++g) {
        asker.Sample(g * asker.groups() / groups, memory, sums);
      }
    } catch (const Error&) {  // Run reports the error
    }
  }
  if (sums.filters == 0) return sums;
  const auto n = static_cast<double>(sums.filters);
  return {sums.filters, sums.keys / n, sums.rate / n, sums.false_hits / n, sums.ruled_out / n};
}

std::vector<AskedType> ParquetPruner::types() const { return impl_->types().all(); }

const KeyList& ParquetPruner::keys() const noexcept { return impl_->types().list(); }

}  // namespace tamis::parquet
