// stowage partition: distributes the sequences of a batch over bins of nearly equal cost.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/budget.h"
#include "instances/json/limits.h"
#include "instances/json/writer.h"
#include "instances/numeric/numbers.h"
#include "solvers/partition/balanced_partitions.h"
#include "solvers/partition/micro_batches.h"

namespace stowage {
namespace {

constexpr auto kOneLine = JsonWriter::Layout::line;

class PartitionCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "partition",
        .arguments = "LENGTHS --bins K",
        .summary = "Share sequences among bins of nearly equal cost, with a bound",
        .examples = {"stowage partition lengths.txt --bins 8",
                     "stowage partition lengths.txt --bins 5 --counts nearly-equal --linear 0",
                     "stowage partition lengths.txt --bins 8 --max-tokens 32768 --multiple-of 2"}};
  }

  void declare(Flags& flags) override {
    flags.positional("LENGTHS", path_, "A file of lengths in tokens (see convert), - for stdin");
    column_.declare(flags);
    flags.integer("--bins", bins_, "K", 1, kMaxSequences, "How many bins; none stays empty");
    flags.choice("--counts", counts_, {"any", "equal", "nearly-equal"},
                 "Sequences of a bin: any number, the same in all bins, or numbers that differ by "
                 "at most one; default any");
    flags.integer(
        "--max-tokens", max_tokens_, "N", 1, kMaxExact,
        "Cut the sequences of each bin into micro-batches of at most N tokens, as many in "
        "each bin, none empty");
    flags.integer("--multiple-of", multiple_of_, "M", 1, kMaxSequences,
                  "Give each bin a multiple of M micro-batches");
    flags.integer("--keep-together", kept_, "G", 1, kMaxSequences,
                  "Keep each G consecutive sequences in one micro-batch");
    flags.integer("--quadratic", quadratic_, "Q", 0, kMaxExact,
                  "Cost of a token squared; default 1");
    flags.integer("--linear", linear_, "L", 0, kMaxExact,
                  "Cost of a token; default 24576, six times a hidden size of 4096");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (!bins_) return console.refuse({kUsage, "--bins", "is required"});
    Loaded<std::vector<Tokens>> lengths = column_.read_at(console, path_);
    if (!lengths.value) return console.refuse(lengths.errors);
    if (max_tokens_ || multiple_of_ || kept_) return run_capped(console, *std::move(lengths.value));
    const PartitionInstance instance{
        .lengths = *std::move(lengths.value),
        .bins = *bins_,
        .counts = counts_ == "any"     ? PartitionCounts::any
                  : counts_ == "equal" ? PartitionCounts::equal
                                       : PartitionCounts::nearly_equal,
        .quadratic = quadratic_.value_or(PartitionInstance().quadratic),
        .linear = linear_.value_or(PartitionInstance().linear)};
    const Budget clock;
    const PartitionOutcome outcome = balanced_partitions(instance);
    const double seconds = clock.seconds();
    if (!outcome.errors.empty()) return console.refuse(errors_in(path_, outcome.errors));
    if (!outcome.partition) {
      return console.refuse(
          {kInternal, "", "the partition is invalid: " + to_string(outcome.violations.front())},
          ExitCode::internal);
    }
    const Partition& found = *outcome.partition;
    console.info(
        "partition  " + counted(static_cast<std::int64_t>(instance.lengths.size()), "sequence") +
        ", " + counted(instance.bins, "bin") + "   largest " + grouped(found.largest) + "  bound " +
        grouped(found.lower_bound) + " (" + found.bound_by + ")  gap " + percent_text(outcome.gap) +
        "  smallest " + grouped(found.smallest) + "  verified");
    return console.answer(
        answer(outcome, console.settings.timeless ? std::nullopt : std::optional(seconds)),
        ExitCode::ok);
  }

 private:
  ExitCode run_capped(Console& console, std::vector<Tokens> lengths) const {
    if (counts_ != "any") {
      return console.refuse({kUsage, "--counts",
                             "must be any beside --max-tokens, --multiple-of or --keep-together"});
    }
    const auto n = static_cast<std::int64_t>(lengths.size());
    MicroBatchInstance instance{
        .lengths = std::move(lengths),
        .ranks = *bins_,
        .max_tokens = max_tokens_.value_or(MicroBatchInstance().max_tokens),
        .multiple_of = multiple_of_.value_or(MicroBatchInstance().multiple_of),
        .quadratic = quadratic_.value_or(MicroBatchInstance().quadratic),
        .linear = linear_.value_or(MicroBatchInstance().linear)};
    if (kept_ && n % *kept_ != 0) {
      return console.refuse({kUsage, "--keep-together",
                             "must divide the number of sequences, " + std::to_string(n) + ", is " +
                                 std::to_string(*kept_)});
    }
    for (std::int64_t i = 0; kept_ && i < n; ++i) instance.kept.push_back(i / *kept_);
    const Budget clock;
    const MicroBatchOutcome outcome = plan_micro_batches(instance);
    const double seconds = clock.seconds();
    if (!outcome.errors.empty()) return console.refuse(errors_in(path_, outcome.errors));
    if (!outcome.plan) {
      return console.refuse(
          {kInternal, "",
           "the micro-batches are invalid: " + to_string(outcome.violations.front())},
          ExitCode::internal);
    }
    const MicroBatches& found = *outcome.plan;
    console.info("partition  " + counted(n, "sequence") + ", " + counted(instance.ranks, "bin") +
                 " of " + counted(std::ssize(found.ranks.front()), "micro-batch", "micro-batches") +
                 " (bound " + grouped(found.fewest) + ", " + found.fewest_by + ")   largest " +
                 grouped(found.largest) + "  bound " + grouped(found.lower_bound) + " (" +
                 found.bound_by + ")  gap " + percent_text(outcome.gap) + "  smallest " +
                 grouped(found.smallest) + "  verified");
    return console.answer(
        capped_answer(found, outcome.gap,
                      console.settings.timeless ? std::nullopt : std::optional(seconds)),
        ExitCode::ok);
  }

  // Writes the keys that balanced partitions and micro-batches share; the object stays open.
  template <class Found>
  static void write_found(JsonWriter& json, const Found& found, double gap,
                          std::optional<double> seconds) {
    json.begin_object();
    write_head(json, "stowage/partition", "partition", "");
    json.integer("exit_code", to_int(ExitCode::ok));
    json.integer("largest", found.largest);
    json.integer("smallest", found.smallest);
    json.integer("lower_bound", found.lower_bound);
    json.text("bound_by", found.bound_by);
    json.number("gap", gap);
    if (seconds) json.number("seconds", *seconds);
  }

  static void write_bin(JsonWriter& json, const PartitionBin& bin) {
    json.integer("tokens", bin.tokens);
    json.integer("cost", bin.cost);
    json.key("sequences");
    json.integers(bin.sequences);
  }

  static std::string answer(const PartitionOutcome& outcome, std::optional<double> seconds) {
    JsonWriter json;
    write_found(json, *outcome.partition, outcome.gap, seconds);
    json.key("bins");
    json.begin_array();
    for (const PartitionBin& bin : outcome.partition->bins) {
      json.begin_object(kOneLine);
      write_bin(json, bin);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.take();
  }

  static std::string capped_answer(const MicroBatches& found, double gap,
                                   std::optional<double> seconds) {
    JsonWriter json;
    write_found(json, found, gap, seconds);
    json.integer("micro_batches", std::ssize(found.ranks.front()));
    json.integer("micro_batches_bound", found.fewest);
    json.text("micro_batches_bound_by", found.fewest_by);
    json.key("bins");
    json.begin_array();
    for (const RankMicroBatches& rank : found.ranks) {
      json.begin_object();
      PartitionBin whole;
      for (const PartitionBin& batch : rank) {
        whole.tokens += batch.tokens;
        whole.cost += batch.cost;
        whole.sequences.insert(whole.sequences.end(), batch.sequences.begin(),
                               batch.sequences.end());
      }
      std::ranges::sort(whole.sequences);
      write_bin(json, whole);
      json.key("micro_batches");
      json.begin_array();
      for (const PartitionBin& batch : rank) {
        json.begin_object(kOneLine);
        write_bin(json, batch);
        json.end_object();
      }
      json.end_array();
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.take();
  }

  std::string path_;
  std::string counts_ = "any";
  std::optional<std::int64_t> bins_;
  std::optional<std::int64_t> max_tokens_;
  std::optional<std::int64_t> multiple_of_;
  std::optional<std::int64_t> kept_;
  std::optional<std::int64_t> quadratic_;
  std::optional<std::int64_t> linear_;
  ColumnFlag column_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_partition_command() { return std::make_unique<PartitionCommand>(); }

}  // namespace stowage
