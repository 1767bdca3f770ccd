// tamis-bench: see kUsage in options.cc.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "bench/suite/options.h"
#include "bench/suite/other_load.h"
#include "bench/suite/ratios.h"
#include "bench/timing.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/calibration.h"

namespace tamis::bench {
namespace {

std::unique_ptr<benchmark::BenchmarkReporter> ReporterOf(const std::string& format) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
    // Google Benchmark deprecates this reporter, because a tool of its own converts JSON to CSV.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
}

void PrintTable(const Results& results) {
  for (const SizeClass& size : results.sizes) {
    const auto of_size = [&](const Row& row) { return row.size_class == size.name; };
    if (std::none_of(results.rows.begin(), results.rows.end(), of_size)) continue;
    std::printf("\n%s, filters of %.1f KiB; median ns/key [quartiles], share of the limit\n",
                size.name.c_str(), static_cast<double>(size.bytes) / 1024);
    for (const Limit& limit : results.limits) {
      if (limit.size_class != size.name) continue;
      const std::string name = detail::StrCat(limit.name, ", ", limit.threads, " threads",
                                              limit.huge_pages ? "" : ", no huge pages");
      std::printf("  %-100s %9.1f M %s/s\n", name.c_str(), 1e-6 * Median(limit.per_second),
                  limit.unit.c_str());
    }
    for (const Row& row : results.rows) {
      if (row.size_class != size.name) continue;
      std::printf("  %-100s %9.4g [%.4g %.4g]", row.name.c_str(), Median(row.ns_per_key),
                  Quantile(row.ns_per_key, 0.25), Quantile(row.ns_per_key, 0.75));
      if (!row.share_of_limit.empty()) std::printf(" %5.2f", Median(row.share_of_limit));
      std::printf("\n");
    }
  }
}

void PrintLatencies(const Results& results) {
  if (results.latencies.empty()) return;
  std::printf(
      "\nOne small call, microseconds; medians of the repetitions, and the longest of all\n");
  std::printf("  %-80s %10s %10s %10s %10s %11s\n", "", "p50", "p99", "p99.9", "max",
              "p99 / alone");
  for (const Latency& latency : results.latencies) {
    const auto samples = [&](double Percentiles::*percentile) {
      std::vector<double> found;
      for (const Percentiles& one : latency.ns) found.push_back(1e-3 * (one.*percentile));
      return found;
    };
    std::printf("  %-80s %10.4g %10.4g %10.4g %10.4g", latency.name.c_str(),
                Median(samples(&Percentiles::p50)), Median(samples(&Percentiles::p99)),
                Median(samples(&Percentiles::p999)), Quantile(samples(&Percentiles::max), 1));
    if (!latency.p99_over_alone.empty()) std::printf(" %11.2f", Median(latency.p99_over_alone));
    std::printf("\n");
  }
}

void PrintRatios(const Results& results) {
  std::printf("\nTime of a row over the time of another: median of the repetitions [least most]\n");
  for (const Ratio& ratio : Ratios(results.rows)) {
    const Case& to = ratio.to->point;
    std::printf("  %-100s %9.2f [%.2f %.2f] over %s, %s%s\n", ratio.row->name.c_str(), ratio.median,
                ratio.least, ratio.most, ratio.to->kind.c_str(), OperationName(to.operation).data(),
                to.threads > 1 ? ", as many threads" : "");
  }
}

void AddContext(const CommandLine& line, Results& results) {
  results.context.emplace_back("notes", line.notes);
  results.context.insert(results.context.end(), line.context.begin(), line.context.end());
}

int Run(CommandLine& line) {
  if (!line.calibration.empty()) {
    const auto& most = line.suite.max_bytes;
    (most ? Calibration::Measure(*most) : Calibration::Measure()).Save(line.calibration);
    return 0;
  }
  int rest = static_cast<int>(line.rest.size());
  line.rest.push_back(nullptr);
  benchmark::Initialize(&rest, line.rest.data());
  if (benchmark::ReportUnrecognizedArguments(rest, line.rest.data())) return 2;
  // Fails before the measurements, not after them.
  RequireWritable(line.out);
  RequireWritable(line.benchmark_out);

  std::vector<std::unique_ptr<benchmark::BenchmarkReporter>> reporters;
  std::ofstream benchmark_out;
  if (!line.benchmark_out.empty()) {
    benchmark_out.open(line.benchmark_out, std::ios::binary);
    reporters.push_back(ReporterOf(line.benchmark_out_format));
    reporters.back()->SetOutputStream(&benchmark_out);
  }
  const bool table = line.benchmark_format == "console";
  if (!table) reporters.push_back(ReporterOf(line.benchmark_format));
  std::vector<benchmark::BenchmarkReporter*> pointers;
  for (const auto& reporter : reporters) pointers.push_back(reporter.get());

  // The results so far, next to the file. The file itself is written when everything is measured.
  const std::string part = line.out.empty() ? "" : line.out + ".part";
  if (!part.empty()) {
    line.suite.save = [&](Results so_far) {
      AddContext(line, so_far);
      WriteResults(part + ".new", so_far);
      std::filesystem::rename(part + ".new", part);
    };
  }
  const Pinning pinning(line.processor);
  Results results;
  {
    Progress progress(!line.list);
    Sampler sampler(line.suite.sample_seconds, pointers);
    Suite suite(line.suite, pinning, sampler, progress);
    if (line.list) {
      for (const std::string& name : suite.CaseNames()) std::printf("%s\n", name.c_str());
      return 0;
    }
    results = suite.Run();
  }
  AddContext(line, results);
  if (!line.out.empty()) {
    WriteResults(line.out, results);
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
  }
  if (table) {
    PrintTable(results);
    PrintLatencies(results);
  }
  if (table && ComparesSpeeds(line.suite.mode)) PrintRatios(results);
  std::fprintf(stderr, "%zu rows in %.0f s%s%s\n", results.rows.size() + results.latencies.size(),
               results.seconds, line.out.empty() ? "" : ", written to ", line.out.c_str());
  if (results.other_processors && IsBusy(*results.other_processors, results.processors)) {
    std::fprintf(stderr,
                 "other programs used %.2f of %u processors during this run, which makes figures "
                 "worse: run it again while they are idle\n",
                 *results.other_processors, results.processors);
  }
  return results.refusals.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  try {
    tamis::bench::CommandLine line = tamis::bench::ParseCommandLine(argc, argv);
    if (line.help) {
      std::fputs(tamis::bench::kUsage, stdout);
      std::printf("\n");
      benchmark::PrintDefaultHelp();
      return 0;
    }
    return tamis::bench::Run(line);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "tamis-bench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis-bench: %s\n", error.what());
    return 1;
  }
}
