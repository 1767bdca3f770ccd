// Lets every system call and every allocation of library operations fail at its n-th time, for all
// n until the operation succeeds without reaching it. Afterwards the old or the new state must
// exist, an error must describe the failure, and nothing may leak.
//
// Usage:
//   tamis_library_faults FOLDER [--every N] [--only PART] [--seed leak|close|write|silent]
//   tamis_library_faults --parts
//
// With --every, only each N-th allocation of an operation fails. --seed plants a defect, and the
// run ends at the first finding. The defect `silent` hides the errors.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tests/campaigns/fault_operations.h"
#include "tests/campaigns/fault_shim.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

struct Fault {
  const char* kind;
  std::vector<const char*> whats;
};

// Errors that these calls can have: EINTR is 4, EIO 5, ENOMEM 12, EACCES 13, ENFILE 23, EMFILE 24,
// ENOSPC 28, ENOTSUP 95.
const std::vector<Fault> kFileFaults = {
    {"open", {"4", "5", "13", "24", "13+"}},
    {"read", {"4", "5", "short"}},
    {"pread", {"4", "5", "short", "5+"}},
    {"write", {"4", "5", "28", "28+", "short"}},
    {"pwrite", {"4", "28", "short"}},
    {"fsync", {"4", "5", "5+"}},
    {"syncfs", {"5"}},
    {"rename", {"5", "28"}},
    {"link", {"5", "13", "28"}},
    {"mmap", {"12", "12+"}},
    {"stat", {"5", "13", "5+"}},
    {"access", {"5"}},
    {"flock", {"4", "95"}},
    {"chmod", {"1", "5"}},
    {"xattr", {"5", "95", "5+"}},
    {"advise", {"12"}},
    {"close", {"5"}},
    {"seek", {"5"}},
    {"unlink", {"5"}},
    {"alloc", {"12", "12+"}},
};
const std::vector<Fault> kMemoryFaults = {
    {"alloc", {"12", "12+"}},  {"mmap", {"12", "12+"}}, {"thread", {"11", "11+"}},
    {"advise", {"12", "12+"}}, {"fopen", {"24"}},
};

// Errors of sockets: EPIPE is 32, ENOBUFS 105, EAGAIN 11, ECONNRESET 104, ECONNREFUSED 111.
const std::vector<Fault> kSocketFaults = {
    {"socket", {"24", "105", "24+"}},
    {"connect", {"4", "111", "101", "111+"}},
    {"resolve", {"5"}},
    {"sockopt", {"22"}},
    {"fcntl", {"5"}},
    {"poll", {"4", "12"}},
    {"read", {"4", "11", "104", "104+", "short"}},
    {"write", {"4", "11", "32", "32+", "short"}},
    {"close", {"5"}},
    {"thread", {"11", "11+"}},
};

// The running operation. Handlers print it: for the alarm, in case the operation does not end, and
// for signals that end the process.
char under_way[512];

void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text, std::strlen(text));
}

void Dies(int signal) {
  Say(under_way);
  Say(signal == SIGALRM ? ": does not end\n" : ": ends the process\n");
  _exit(3);
}

class Campaign {
 public:
  Campaign(fs::path folder, std::string seed, long every)
      : folder_(std::move(folder)), seed_(std::move(seed)), every_(every) {}

  void RunAll(const std::vector<Operation>& operations, const std::vector<Fault>& faults,
              bool named) {
    tamis_fault_refuse_unnamed(named);
    for (const Operation& operation : operations) {
      if (FoundSeed()) break;
      for (int i = 0; i < 3; ++i) Try(operation, "");  // creates objects that are only created once
      for (const Fault& fault : faults) {
        for (const char* what : fault.whats) RunFault(operation, fault.kind, what);
      }
      ++operations_;
    }
    tamis_fault_refuse_unnamed(0);
  }

  void Report() const {
    std::printf("operations=%ld faults=%ld findings=%ld\n", operations_, faults_, findings_);
  }
  bool found() const { return findings_ > 0; }

 private:
  struct Held {
    long blocks, mapped, files;
    bool operator==(const Held&) const = default;
  };

  static Held Holds() {
    long files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++files;
    return {tamis_fault_live_blocks(), tamis_fault_mapped_bytes(), files};
  }

  // Returns the call that failed, or "" if none did.
  std::string Try(const Operation& operation, const std::string& fault) {
    std::snprintf(under_way, sizeof(under_way), "FINDING: %s, %s", operation.name.c_str(),
                  fault.c_str());
    alarm(20);
    const Held before = Holds();
    operation.prepare();
    std::string problem, call;
    {
      Ending ending;
      if (seed_ == "leak") tamis_fault_leak();
      if (!fault.empty()) tamis_fault_arm(fault.c_str());
      try {
        operation.run();
        call = tamis_fault_disarm();
      } catch (const Error& error) {
        call = tamis_fault_disarm();
        ending = {true, error.code() == ErrorCode::kOutOfMemory, error.code(), error.what()};
      } catch (const std::exception& error) {
        call = tamis_fault_disarm();
        ending = {true, dynamic_cast<const std::bad_alloc*>(&error) != nullptr, {}, error.what()};
      }
      if (seed_ == "silent") ending = {};
      problem = operation.check(ending);
      if (problem.empty()) problem = Judge(ending, fault, call);
    }
    operation.clear();
    const size_t left = LeftOvers();
    if (problem.empty() && left != 0 && call.find("unlink") == std::string::npos) {
      problem = "temporary files are left";
    }
    // A run without a fault is not checked: it may create objects that exist once in a process.
    if (problem.empty() && !fault.empty() && !(Holds() == before))
      problem = Leaked(before, Holds());
    if (!problem.empty()) Find(operation.name, fault, call, problem);
    return call;
  }

  // Checks that the operation succeeded if it had to, and that an error states the reason.
  static std::string Judge(const Ending& ending, const std::string& fault,
                           const std::string& call) {
    if (!ending.threw) return "";
    if (call.empty()) return "it fails without a fault: " + ending.message;
    const std::string what = fault.substr(fault.rfind(':') + 1);
    const bool of_memory = fault.starts_with("alloc:") || fault.starts_with("mmap:");
    if (what == "short" || what == "4") return "it does not go on: " + ending.message;
    if (of_memory && (ending.out_of_memory || ending.message.find("memory") != std::string::npos)) {
      return "";
    }
    const int error = std::atoi(what.c_str());
    if (ending.message.find(std::generic_category().message(error)) != std::string::npos) return "";
    return "the error does not say what happened: " + ending.message;
  }

  static std::string Leaked(const Held& before, const Held& after) {
    return "leaked: blocks " + std::to_string(after.blocks - before.blocks) + ", mapped bytes " +
           std::to_string(after.mapped - before.mapped) + ", files " +
           std::to_string(after.files - before.files);
  }

  size_t LeftOvers() const {
    size_t left = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.path().filename().string().starts_with(".tamis-")) continue;
      ++left;
      fs::remove(entry.path());
    }
    return left;
  }

  void RunFault(const Operation& operation, const std::string& kind, const std::string& what) {
    const long step = kind == "alloc" ? every_ : 1;
    for (long n = 1 + operations_ % step;; n += step) {
      if (FoundSeed()) return;
      if (Try(operation, kind + ":" + std::to_string(n) + ":" + what).empty()) return;
      ++faults_;
    }
  }

  bool FoundSeed() const { return !seed_.empty() && found(); }

  void Find(const std::string& operation, const std::string& fault, const std::string& call,
            const std::string& problem) {
    std::printf("FINDING: %s, %s (%s): %s\n", operation.c_str(), fault.c_str(), call.c_str(),
                problem.c_str());
    std::fflush(stdout);
    ++findings_;
  }

  fs::path folder_;
  std::string seed_;
  long every_;
  long operations_ = 0, faults_ = 0, findings_ = 0;
};

// A part of the operations. It runs without `--only`, or if `--only` names it.
struct Part {
  const char* name;
  std::function<std::vector<Operation>()> make;
  const std::vector<Fault>& faults;
  bool named = false;  // without unnamed files
};

std::vector<Part> Parts(const fs::path& folder) {
  return {
    {"files", [folder] { return FileOperations(folder); }, kFileFaults},
        {"files", [folder] { return FileOperations(folder); }, kFileFaults, true},
        {"bank", [folder] { return BankOperations(folder); }, kFileFaults},
        {"bank", [folder] { return BankOperations(folder); }, kMemoryFaults},
        {"memory", MemoryOperations, kMemoryFaults},
        {"formats", [folder] { return FormatFileOperations(folder); }, kFileFaults},
        {"formats", FormatMemoryOperations, kMemoryFaults},
        {"live", [folder] { return LiveFileOperations(folder); }, kFileFaults},
        {"live", [folder] { return LiveFileOperations(folder); }, kMemoryFaults},
        {"live", LiveMemoryOperations, kMemoryFaults},
#if TAMIS_HAVE_PARQUET
        {"parquet", [folder] { return ParquetFileOperations(folder); }, kFileFaults},
        {"parquet", [folder] { return ParquetFileOperations(folder); }, kMemoryFaults},
#endif
#if TAMIS_HAVE_C
        {"c", [folder] { return CFileOperations(folder); }, kFileFaults},
        {"c", CMemoryOperations, kMemoryFaults},
#endif
#if TAMIS_HAVE_REDIS
        {"redis", [folder] { return RedisOperations(folder); }, kSocketFaults},
        {"redis-copies", [folder] { return RedisCopyOperations(folder); }, kSocketFaults},
#endif
  };
}

// A fault that nothing can handle, or a defect of the campaign itself: the campaign must find it.
void RunSeeded(Campaign& campaign, const Part& part, const std::string& seed) {
  if (seed == "leak" || seed == "silent") return campaign.RunAll(part.make(), part.faults, false);
  campaign.RunAll(part.make(), {{seed.c_str(), {"swallow"}}}, false);
}

int Usage() {
  std::fprintf(stderr,
               "usage: tamis_library_faults FOLDER [--every N] [--only PART] "
               "[--seed leak|close|write|silent]\n"
               "       tamis_library_faults --parts\n");
  return 2;
}

int ListParts() {
  std::string last;
  for (const Part& part : Parts({})) {
    if (last != part.name) std::printf("%s\n", part.name);
    last = part.name;
  }
  return 0;
}

int Run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--parts") return ListParts();
  if (argc < 2 || argc % 2 != 0) return Usage();
  std::string seed, only;
  long every = 1;
  for (int i = 2; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seed") {
      seed = argv[i + 1];
    } else if (option == "--only") {
      only = argv[i + 1];
    } else if (option == "--every") {
      every = std::max(1, std::atoi(argv[i + 1]));
    } else {
      return Usage();
    }
  }
  for (const int deadly : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) signal(deadly, Dies);
  const fs::path folder = argv[1];
  Campaign campaign(folder, seed, every);
  const std::vector<Part> parts = Parts(folder);
  if (!only.empty() &&
      std::ranges::none_of(parts, [&](const Part& part) { return only == part.name; })) {
    return Usage();
  }
  for (const Part& part : parts) {
    if (!only.empty() && only != part.name) continue;
    // Servers answer late while many other programs run, such as other tests during the short form.
    if (every > 1 && std::string_view(part.name).starts_with("redis")) continue;
    if (seed.empty()) {
      campaign.RunAll(part.make(), part.faults, part.named);
    } else if (!campaign.found()) {
      RunSeeded(campaign, part, seed);
    }
  }
  campaign.Report();
  return campaign.found() ? 1 : 0;
}

}  // namespace
}  // namespace tamis::campaigns

int main(int argc, char** argv) { return tamis::campaigns::Run(argc, argv); }
