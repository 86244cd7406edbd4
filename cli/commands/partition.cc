// stowage partition: distributes the sequences of a batch over bins of nearly equal cost.
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
                     "stowage partition lengths.txt --bins 8 --counts equal",
                     "stowage partition lengths.txt --bins 5 --counts nearly-equal --linear 0"}};
  }

  void declare(Flags& flags) override {
    flags.positional("LENGTHS", path_, "A file of lengths in tokens (see convert), - for stdin");
    column_.declare(flags);
    flags.integer("--bins", bins_, "K", 1, kMaxSequences, "How many bins; none stays empty");
    flags.choice("--counts", counts_, {"any", "equal", "nearly-equal"},
                 "Sequences of a bin: any number, the same in all bins, or numbers that differ by "
                 "at most one; default any");
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
  static std::string answer(const PartitionOutcome& outcome, std::optional<double> seconds) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/partition", "partition", "");
    json.integer("exit_code", to_int(ExitCode::ok));
    json.integer("largest", outcome.partition->largest);
    json.integer("smallest", outcome.partition->smallest);
    json.integer("lower_bound", outcome.partition->lower_bound);
    json.text("bound_by", outcome.partition->bound_by);
    json.number("gap", outcome.gap);
    if (seconds) json.number("seconds", *seconds);
    json.key("bins");
    json.begin_array();
    for (const PartitionBin& bin : outcome.partition->bins) {
      json.begin_object(kOneLine);
      json.integer("tokens", bin.tokens);
      json.integer("cost", bin.cost);
      json.key("sequences");
      json.integers(bin.sequences);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.take();
  }

  std::string path_;
  std::string counts_ = "any";
  std::optional<std::int64_t> bins_;
  std::optional<std::int64_t> quadratic_;
  std::optional<std::int64_t> linear_;
  ColumnFlag column_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_partition_command() { return std::make_unique<PartitionCommand>(); }

}  // namespace stowage
