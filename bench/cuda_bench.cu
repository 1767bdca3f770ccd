// tamis_cuda_bench: filters on a GPU, beside the limits of that GPU, measured in the same run.
//
// Usage: tamis_cuda_bench [--quick] [JSON_FILE]
#include <cuda_runtime.h>
#include <tamis/cuckoo_filter.h>
#include <tamis/cuda/device_filter.h>
#include <tamis/cuda/host_pipeline.h>
#include <tamis/error.h>
#include <tamis/split_block_filter.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using tamis::cuda::DeviceFilter;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kPasses = 5;
constexpr double kBitsPerKey = 16;

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw tamis::Error(tamis::ErrorCode::kDevice, cudaGetErrorString(error));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(uint64_t n) : n_(n) { Check(cudaMalloc(&data_, n * sizeof(T))); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::span<T> span() const { return {data_, n_}; }
  tamis::Keys keys(uint64_t n) const { return std::span<const T>(data_, n); }

 private:
  uint64_t n_;
  T* data_ = nullptr;
};

// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
__host__ __device__ inline uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Keys first, first + 1, ... of a sequence without repetition.
__global__ void MakeKeys(uint64_t* keys, uint64_t n, uint64_t first) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) keys[i] = Mix(first + i);
}

// Random ones of the first `inserted` keys for `hit_percent` of them, others that were never.
__global__ void MakeQueries(uint64_t* keys, uint64_t n, uint64_t inserted, uint64_t hit_percent) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t random = Mix(i ^ 0x5851F42D4C957F2D);
  const bool hit = random % 100 < hit_percent;
  keys[i] = Mix(hit ? __umul64hi(Mix(random), inserted) : (uint64_t{1} << 48) + i);
}

// What a lookup cannot beat: a sector of 32 bytes at random, for an index that is computed.
__global__ void ReadSectors(const uint4* memory, uint64_t sectors, uint64_t n, uint32_t* sink) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t sector = __umul64hi(Mix(i), sectors);
  const uint4 a = memory[2 * sector];
  const uint4 b = memory[2 * sector + 1];
  const uint32_t all = a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
  if (all == 0x12345678) *sink = all;  // so that the reads are not left out
}

// The same for insertion: eight lanes each set a bit of one sector.
__global__ void SetSectors(uint32_t* memory, uint64_t sectors, uint64_t n) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i / 8 >= n) return;
  const uint64_t random = Mix(i / 8);
  atomicOr(memory + 8 * __umul64hi(random, sectors) + i % 8, 1u << (random % 32));
}

uint32_t Blocks(uint64_t threads) { return static_cast<uint32_t>((threads + 255) / 256); }

void Fill(uint64_t* keys, uint64_t n, uint64_t first) {
  MakeKeys<<<Blocks(n), 256>>>(keys, n, first);
  Check(cudaGetLastError());
}

// The median of the seconds of some calls, after one to warm up. `prepare` is not timed.
double Seconds(
    const std::function<void()>& call, const std::function<void()>& prepare = [] {}) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin));
  Check(cudaEventCreate(&end));
  std::vector<double> seconds;
  for (int pass = 0; pass <= kPasses; ++pass) {
    prepare();
    Check(cudaEventRecord(begin));
    call();
    Check(cudaEventRecord(end));
    Check(cudaEventSynchronize(end));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end));
    if (pass > 0) seconds.push_back(1e-3 * ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(seconds.begin(), seconds.begin() + kPasses / 2, seconds.end());
  return seconds[kPasses / 2];
}

struct Result {
  std::string name;
  uint64_t bytes;
  int hit_percent;  // -1: not a lookup
  uint64_t keys;
  double gkeys;
  double limit;  // of the same access, in 10^9 a second; 0: none measured
};

class Bench {
 public:
  explicit Bench(uint64_t keys) : n_(keys), keys_(keys), bits_(keys / 64), count_(1) {}

  void Limits(uint64_t bytes) {
    DeviceArray<uint32_t> memory(bytes / 4);
    Check(cudaMemset(memory.data(), 0, bytes));
    const uint64_t sectors = bytes / 32;
    read_limit_ = Rate(Seconds([&] {
      ReadSectors<<<Blocks(n_), 256>>>(reinterpret_cast<const uint4*>(memory.data()), sectors, n_,
                                       reinterpret_cast<uint32_t*>(count_.data()));
      Check(cudaGetLastError());
    }));
    Add({"limit: random sectors read", bytes, -1, n_, read_limit_, 0});
    set_limit_ = Rate(Seconds([&] {
      SetSectors<<<Blocks(8 * n_), 256>>>(memory.data(), sectors, n_);
      Check(cudaGetLastError());
    }));
    Add({"limit: random sectors set", bytes, -1, n_, set_limit_, 0});
  }

  void SplitBlock(uint64_t bytes) {
    tamis::FileHeader header = tamis::SplitBlockBloomFilter({.bytes = 32}).Header();
    header.geometry[0] = bytes / 32;
    header.payload_bytes = bytes;
    DeviceFilter filter(header);
    const auto capacity = static_cast<uint64_t>(8.0 * static_cast<double>(bytes) / kBitsPerKey);
    for (uint64_t first = 0; first < capacity; first += n_) {
      const uint64_t n = std::min(n_, capacity - first);
      Fill(keys_.data(), n, first);
      filter.Insert(keys_.keys(n));
    }
    Lookups("split-block lookup", filter, capacity);
    Fill(keys_.data(), n_, 0);
    const double seconds =
        Seconds([&] { filter.InsertAsync(keys_.keys(n_), nullptr).ThrowIfFailed("inserting"); });
    Add({"split-block insert", bytes, -1, n_, Rate(seconds), set_limit_});
  }

  void Cuckoo(uint64_t bytes) {
    using Filter = tamis::CuckooFilter<16>;
    const Filter host({.bytes = bytes});
    const uint64_t capacity = host.capacity();
    DeviceFilter filter(host.Header());
    DeviceArray<uint64_t> keys(capacity);
    DeviceArray<uint64_t> failed(tamis::BitmapWords(capacity));
    DeviceArray<std::byte> scratch(DeviceFilter::kInsertScratchBytes);
    Fill(keys.data(), capacity, 0);
    const double insert = Seconds(
        [&] {
          filter
              .InsertAsync(keys.keys(capacity), tamis::Bitmap(failed.span()), count_.data(),
                           scratch.span(), nullptr)
              .ThrowIfFailed("inserting");
        },
        [&] { filter.Clear(); });
    Add({"cuckoo16 insert to capacity", host.bytes(), -1, capacity,
         1e-9 * static_cast<double>(capacity) / insert, 0});
    Lookups("cuckoo16 lookup", filter, capacity);
    const double erase = Seconds(
        [&] {
          filter
              .EraseAsync(keys.keys(capacity), tamis::Bitmap(failed.span()), count_.data(), nullptr)
              .ThrowIfFailed("erasing");
        },
        [&] {
          filter.Clear();
          filter.Insert(keys.keys(capacity));
        });
    Add({"cuckoo16 erase", host.bytes(), -1, capacity, 1e-9 * static_cast<double>(capacity) / erase,
         0});
  }

  void HostKeys(uint64_t bytes) {
    const tamis::SplitBlockBloomFilter host({.bytes = bytes});
    const DeviceFilter filter(host);
    uint64_t* pinned = nullptr;
    Check(cudaMallocHost(&pinned, 8 * n_));
    Check(cudaMemcpy(pinned, keys_.data(), 8 * n_, cudaMemcpyDeviceToHost));
    const double bus = Rate(Seconds(
        [&] { Check(cudaMemcpyAsync(keys_.data(), pinned, 8 * n_, cudaMemcpyHostToDevice)); }));
    Add({"limit: keys over the bus", bytes, -1, n_, bus, 0});
    tamis::cuda::HostPipeline pipeline;
    std::vector<uint64_t> bits(tamis::BitmapWords(n_));
    const std::span<const uint64_t> keys(pinned, n_);
    Add({"split-block lookup, pinned host keys", bytes, 0, n_,
         Rate(Seconds([&] { pipeline.Contains(filter, keys, tamis::Bitmap(bits)); })), bus});
    const std::vector<uint64_t> pageable(keys.begin(), keys.end());
    Add({"split-block lookup, pageable host keys", bytes, 0, n_,
         Rate(Seconds([&] { pipeline.Contains(filter, pageable, tamis::Bitmap(bits)); })), bus});
    Check(cudaFreeHost(pinned));
  }

  const std::vector<Result>& results() const { return results_; }

 private:
  double Rate(double seconds) const { return 1e-9 * static_cast<double>(n_) / seconds; }

  void Lookups(const char* name, const DeviceFilter& filter, uint64_t inserted) {
    for (const int hit_percent : {0, 50, 100}) {
      MakeQueries<<<Blocks(n_), 256>>>(keys_.data(), n_, inserted,
                                       static_cast<uint64_t>(hit_percent));
      Check(cudaGetLastError());
      const double seconds = Seconds([&] {
        filter.ContainsAsync(keys_.keys(n_), tamis::Bitmap(bits_.span()), nullptr, nullptr)
            .ThrowIfFailed("looking up");
      });
      // Every key that is in is found, whatever the speed.
      if (hit_percent == 100 && filter.Count(keys_.keys(n_)) != n_) {
        throw tamis::Error(tamis::ErrorCode::kDevice, "a key that is in was not found");
      }
      Add({name, filter.bytes(), hit_percent, n_, Rate(seconds), read_limit_});
    }
  }

  void Add(const Result& result) {
    results_.push_back(result);
    std::printf("%-40s %9.1f MiB", result.name.c_str(),
                static_cast<double>(result.bytes) / static_cast<double>(kMiB));
    std::printf(result.hit_percent < 0 ? "           " : "  %3d%% hits", result.hit_percent);
    std::printf("  %8.2f G/s", result.gkeys);
    if (result.limit > 0) std::printf("  %5.2f of the limit", result.gkeys / result.limit);
    std::printf("\n");
    std::fflush(stdout);
  }

  uint64_t n_;
  DeviceArray<uint64_t> keys_;
  DeviceArray<uint64_t> bits_;
  DeviceArray<uint64_t> count_;
  double read_limit_ = 0;
  double set_limit_ = 0;
  std::vector<Result> results_;
};

void WriteJson(const char* path, const std::string& device, const std::vector<Result>& results) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr)
    throw tamis::Error(tamis::ErrorCode::kIo, std::string(path) + ": cannot write");
  std::fprintf(file, "{\"device\": \"%s\", \"results\": [", device.c_str());
  const char* separator = "\n";
  for (const Result& result : results) {
    std::fprintf(
        file,
        "%s  {\"name\": \"%s\", \"filter_bytes\": %llu, \"hit_percent\": %d, \"keys\": %llu, "
        "\"giga_per_second\": %.4f, \"limit\": %.4f}",
        separator, result.name.c_str(), static_cast<unsigned long long>(result.bytes),
        result.hit_percent, static_cast<unsigned long long>(result.keys), result.gkeys,
        result.limit);
    separator = ",\n";
  }
  std::fprintf(file, "\n]}\n");
  std::fclose(file);
}

int Run(bool quick, const char* json) {
  cudaDeviceProp device;
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess) {
    std::fprintf(stderr, "tamis_cuda_bench: no GPU: %s\n", cudaGetErrorString(error));
    return 69;
  }
  std::printf("%s, %d processors, %.0f GiB, %.0f MiB of L2\n", device.name,
              device.multiProcessorCount, static_cast<double>(device.totalGlobalMem) / 0x1p30,
              static_cast<double>(device.l2CacheSize) / 0x1p20);
  Bench bench(quick ? 16 * kMiB : 256 * kMiB);
  const uint64_t largest = quick ? 16 * kMiB : 16384 * kMiB;
  for (uint64_t bytes = kMiB; bytes <= largest; bytes *= 4) {
    if (bytes > device.totalGlobalMem / 2) break;
    bench.Limits(bytes);
    bench.SplitBlock(bytes);
  }
  for (const uint64_t bytes : {8 * kMiB, 512 * kMiB}) {
    if (bytes > largest) break;
    bench.Limits(bytes);
    bench.Cuckoo(bytes);
  }
  bench.HostKeys(16 * kMiB);
  if (json != nullptr) WriteJson(json, device.name, bench.results());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  const char* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      json = argv[i];
    }
  }
  try {
    return Run(quick, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis_cuda_bench: %s\n", error.what());
    return 1;
  }
}
