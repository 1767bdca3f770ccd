#include <optional>

#include "bench/contender.h"
#include "tamis/engine.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {
namespace {

class TamisContender : public Contender {
 public:
  TamisContender(const Backend& backend, std::string name, unsigned threads, bool answers_in_bits)
      : Contender(std::move(name), threads, answers_in_bits), backend_(backend) {}

  void Open(Arena& arena, uint64_t bytes, uint64_t num_keys) override {
    filter_.emplace(FilterOptions{.capacity = num_keys,
                                  .bytes = bytes,
                                  .memory = {.resource = &arena},
                                  .backend = &backend_});
  }
  void Close() override { filter_.reset(); }
  uint64_t bytes() const override { return filter_->bytes(); }

 protected:
  SplitBlockBloomFilter& filter() { return *filter_; }

 private:
  const Backend& backend_;
  std::optional<SplitBlockBloomFilter> filter_;
};

class OneKey final : public TamisContender {
 public:
  explicit OneKey(const Backend& backend) : TamisContender(backend, kOneKey, 1, false) {}

  void Build(std::span<const uint64_t> keys) override {
    filter().Clear();
    for (const uint64_t key : keys) filter().Insert(key);
  }
  void Lookup(std::span<const uint64_t> queries, Answers& answers) override {
    const SplitBlockBloomFilter& asked = filter();
    for (size_t i = 0; i < queries.size(); ++i) answers.bytes[i] = asked.Contains(queries[i]);
  }
};

class Bulk final : public TamisContender {
 public:
  Bulk(const Backend& backend, const char* name, bool answers_in_bits)
      : TamisContender(backend, name, 1, answers_in_bits) {}

  void Build(std::span<const uint64_t> keys) override {
    filter().Clear();
    filter().Insert(keys);
  }
  void Lookup(std::span<const uint64_t> queries, Answers& answers) override {
    if (answers_in_bits()) {
      filter().Contains(queries, Bitmap(answers.bits));
    } else {
      filter().Contains(queries, std::span<uint8_t>(answers.bytes));
    }
  }
};

class EngineCalls final : public TamisContender {
 public:
  EngineCalls(const Backend& backend, const char* name, unsigned threads)
      : TamisContender(backend, name, threads, true),
        engine_(EngineOptions{.threads = threads, .backend = &backend}) {}

  void Build(std::span<const uint64_t> keys) override {
    filter().Clear();
    engine_.Insert(filter(), keys);
  }
  void Lookup(std::span<const uint64_t> queries, Answers& answers) override {
    engine_.Contains(filter(), queries, Bitmap(answers.bits));
  }

 private:
  Engine engine_;
};

}  // namespace

Contenders TamisContenders(const Backend& backend, unsigned processors) {
  Contenders contenders;
  contenders.push_back(std::make_unique<OneKey>(backend));
  contenders.push_back(std::make_unique<Bulk>(backend, kBulkBits, true));
  contenders.push_back(std::make_unique<Bulk>(backend, kBulkBytes, false));
  contenders.push_back(std::make_unique<EngineCalls>(backend, kEngineOne, 1));
  if (processors >= 2) {
    contenders.push_back(std::make_unique<EngineCalls>(backend, kEngineTwo, 2));
  }
  return contenders;
}

}  // namespace tamis::bench
