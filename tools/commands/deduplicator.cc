#include "tools/commands/deduplicator.h"

#include <tamis/units.h>

#include <optional>
#include <utility>

#include "tools/os/file.h"
#include "tools/os/interrupt.h"
#include "tools/output/format.h"

namespace tamis::tools {

Deduplicator::Deduplicator(const DedupOptions& options, SeenKeys& seen, unsigned threads,
                           uint64_t total_bytes)
    : options_(options),
      seen_(seen),
      texts_(options.text, threads),
      lines_(seen.Fpr()),
      // If the lines go to a terminal, a progress bar would mix with them.
      progress_("reading", Progress::Unit::kBytes, total_bytes,
                options.run.quiet || (!options.json && options.folder.empty() &&
                                      os::IsTerminal(os::kStandardOutput))) {}

bool Deduplicator::Read(const InputOptions& input, Output* out, const char* consequence) {
  KeyReader reader(input, {.records = out != nullptr,
                           .raws = options_.text.given(),
                           .max_batch = seen_.LargestBatch()});
  bool complete = true;
  try {
    WriteNew(reader, out);
  } catch (const os::Stopped&) {
    complete = false;  // the line that was incomplete at that time is dropped
  }
  if (out != nullptr) out->Flush();
  reader.Conclude(consequence, /*some_key=*/false);
  bad_ += reader.num_bad();
  empty_ += reader.num_empty();
  return complete;
}

nlohmann::ordered_json Deduplicator::counts() const {
  const TextUnits::Counts& texts = texts_.counts();
  return {{"lines", lines_.keys()},    {"new", lines_.fresh()},
          {"lost", lines_.all_lost()}, {"documents", texts.documents},
          {"written", texts.written},  {"changed", texts.changed},
          {"units", texts.units},      {"repeated", texts.repeated},
          {"lost_units", texts.lost},  {"bad_lines", bad_},
          {"empty_lines", empty_}};
}

void Deduplicator::ContinueFrom(const nlohmann::ordered_json& counts) {
  lines_.ContinueFrom(counts.at("lines"), counts.at("new"), counts.at("lost"));
  texts_.ContinueFrom({.documents = counts.at("documents"),
                       .written = counts.at("written"),
                       .changed = counts.at("changed"),
                       .units = counts.at("units"),
                       .repeated = counts.at("repeated"),
                       .lost = counts.at("lost_units")});
  counts.at("bad_lines").get_to(bad_);
  counts.at("empty_lines").get_to(empty_);
}

nlohmann::ordered_json Deduplicator::Report() const {
  nlohmann::ordered_json json;
  if (options_.text.given()) {
    const TextUnits::Counts& counts = texts_.counts();
    json = {{"documents", counts.documents}, {"written", counts.written},
            {"changed", counts.changed},     {"units", counts.units},
            {"repeated", counts.repeated},   {"expected_lost", counts.at_most_lost()}};
  } else {
    json = {{"lines", lines_.keys()},
            {"new", lines_.fresh()},
            {"left_out", lines_.left_out()},
            {"expected_lost", lines_.lost()}};
  }
  json["bad_lines"] = bad_;
  json["empty_lines"] = empty_;
  json["bytes"] = seen_.bytes();
  json["fpr"] = seen_.Fpr();
  return json;
}

std::string Deduplicator::Summary() const {
  const std::string bytes = BytesText(static_cast<double>(seen_.bytes()));
  if (!options_.text.given()) {
    return Counted(lines_.keys(), "line") + ": " + WithCommas(lines_.fresh()) + " written, " +
           WithCommas(lines_.left_out()) + " left out, of which " +
           (lines_.lost() < 0.01 ? "fewer than 0.01" : Format("%.2g", lines_.lost())) +
           " are expected to have been new; " + bytes;
  }
  const TextUnits::Counts& counts = texts_.counts();
  const char* const unit = options_.text.whole_documents() ? "document" : "paragraph";
  return Counted(counts.documents, "document") + ": " + WithCommas(counts.written) + " written, " +
         WithCommas(counts.changed) + " of them changed; " + WithCommas(counts.repeated) + " of " +
         Counted(counts.units, unit) + " repeated, of which at most " +
         (counts.at_most_lost() < 0.01 ? "0.01" : Format("%.2g", counts.at_most_lost())) +
         " are expected to have been new; " + bytes;
}

void Deduplicator::WriteNew(KeyReader& reader, Output* out) {
  std::optional<RecordWriter> writer;
  if (out != nullptr) writer.emplace(*out, options_.input.u64);
  bool first = true;
  for (uint64_t before = 0; reader.Next(batch_); before = reader.bytes_read()) {
    if (std::exchange(first, false) && writer) writer->Write(reader.header());
    if (options_.text.given()) {
      texts_.Compare(batch_, seen_);
      if (writer) writer->Write(batch_, texts_);
    } else {
      words_.resize(BitmapWords(batch_.size()));
      const Bitmap fresh(words_);
      const size_t n = seen_.InsertIfAbsent(batch_.keys(), fresh);
      lines_.Add(batch_.size(), n, seen_.Fpr());
      if (writer) writer->Write(batch_, fresh);
    }
    progress_.Advance(reader.bytes_read() - before);
  }
  if (first && writer) writer->Write(reader.header());
}

}  // namespace tamis::tools
