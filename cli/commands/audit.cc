// stowage audit: how much time a trainer's distribution of a step loses, with a proof.
#include "solvers/audit/audit.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cli/answers/outcome_json.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/budget.h"
#include "instances/json/writer.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/presets.h"

namespace stowage {
namespace {

constexpr double kAuditSeconds = 1;  // of the search for groups, so that a verdict takes 2 s

class AuditCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "audit",
            .arguments = "WORK",
            .summary = "Show how much time a trainer's distribution of a step loses, with a proof",
            .examples = {"stowage audit work.json", "stowage audit work.json --max-tokens 32768",
                         "stowage audit groups.json --instance instance.json"}};
  }

  void declare(Flags& flags) override {
    flags.positional("WORK", path_,
                     "{\"lengths\": [...]} with the ids that each rank runs, under rows, "
                     "partition, batch_rebalance or sample_id_groups; - for stdin");
    flags.text("--instance", instance_path_, "INSTANCE",
               "Of sample_id_groups: a scatter instance with the cluster, memory and cost; its "
               "lengths are not read. Default: the preset gpt-7b without a limit on memory");
    flags.integer("--max-tokens", max_tokens_, "N", 1, kMaxExact,
                  "Most tokens of a row of the plan; default the largest row of WORK");
    flags.integer("--quadratic", quadratic_, "Q", 0, kMaxExact,
                  "Cost of a token squared; default 1");
    flags.integer("--linear", linear_, "L", 0, kMaxExact,
                  "Cost of a token; default 24576, six times a hidden size of 4096");
    flags.number("--time-limit", seconds_, "S", 0, 1e6,
                 "Of sample_id_groups: wall clock of the search; default 1");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const Result<std::string> bytes = read_file(path_);
    if (!bytes) return console.refuse(bytes.errors().front());
    const Result<TrainerWork> work = read_trainer_work(*bytes);
    if (!work) return console.refuse(errors_in(path_, work.errors()));
    const bool groups = work->kind == WorkKind::sample_id_groups;
    if (!groups && !instance_path_.empty()) {
      return console.refuse({kUsage, "--instance", "has no effect without sample_id_groups"});
    }
    if (groups && (max_tokens_ || quadratic_ || linear_)) {
      return console.refuse({kUsage, max_tokens_ ? "--max-tokens" : "--linear",
                             "has no effect with sample_id_groups"});
    }
    const Budget clock;
    AuditOutcome outcome;
    if (groups) {
      Loaded<Instance> instance = cluster_for(*work);
      if (!instance.value) return console.refuse(instance.errors);
      Budget budget({.time_limit_s = seconds_.value_or(kAuditSeconds)});
      outcome = audit_groups(*work, std::get<ScatterInstance>(*std::move(instance.value)), budget);
    } else {
      AuditOptions options{.max_tokens = max_tokens_};
      options.cost.quadratic = quadratic_.value_or(options.cost.quadratic);
      options.cost.linear = linear_.value_or(options.cost.linear);
      outcome = audit(*work, options);
    }
    if (!outcome.errors.empty()) return console.refuse(errors_in(path_, outcome.errors));
    if (!outcome.verdict) {
      return console.refuse(
          {kInternal, "", "the verdict is invalid: " + to_string(outcome.violations.front())},
          ExitCode::internal);
    }
    const AuditVerdict& verdict = *outcome.verdict;
    const std::string unit = groups ? " ms" : "";
    const auto value = [&](double v) {
      return groups ? ms_text(v) : grouped(static_cast<std::int64_t>(v));
    };
    console.info("audit  now " + value(verdict.now) + unit + "  planned " + value(verdict.planned) +
                 unit + "  bound " + value(verdict.bound) + unit + " (" + verdict.bound_by +
                 ")   lost at least " + percent_text(verdict.lost_at_least) + ", at most " +
                 percent_text(verdict.lost_at_most) + "  verified");
    console.info("  " + outcome.line);
    return console.answer(
        answer(outcome, console.settings.timeless ? std::nullopt : std::optional(clock.seconds())),
        ExitCode::ok);
  }

 private:
  // Returns the instance of --instance, or the preset.
  Loaded<Instance> cluster_for(const TrainerWork& work) const {
    if (!instance_path_.empty()) {
      Loaded<Instance> loaded = load_instance(instance_path_);
      if (!loaded.value) return loaded;
      if (const auto error = not_of(*loaded.value, "scatter")) {
        return {.value = std::nullopt, .errors = errors_in(instance_path_, {*error})};
      }
      return loaded;
    }
    const auto ranks = work.ids.empty() ? 1 : std::max<std::size_t>(1, work.ids.front().size());
    Result<ScatterInstance> preset = scatter_preset(
        {.devices = static_cast<int>(std::min<std::size_t>(ranks, kMaxPresetDevices)),
         .memory_mib = kUnlimitedMib});
    if (!preset) {
      return {.value = std::nullopt, .errors = errors_in("--instance", preset.errors())};
    }
    ScatterInstance instance = *std::move(preset);
    instance.pad_multiple = 1;  // lengths are the trainer's, padded already
    return {.value = Instance(std::move(instance)), .errors = {}};
  }

  static void write_ids(JsonWriter& json, const AuditOutcome& outcome) {
    json.key("rows");
    json.begin_array();
    for (const auto& rank : outcome.ids) {
      json.begin_array();
      for (const auto& row : rank) json.integers(row);
      json.end_array();
    }
    json.end_array();
  }

  static std::string answer(const AuditOutcome& outcome, std::optional<double> seconds) {
    const AuditVerdict& verdict = *outcome.verdict;
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/audit", "audit", "");
    json.integer("exit_code", to_int(ExitCode::ok));
    json.number("now", verdict.now);
    json.number("planned", verdict.planned);
    json.number("lower_bound", verdict.bound);
    json.text("bound_by", verdict.bound_by);
    json.number("lost_at_least", verdict.lost_at_least);
    json.number("lost_at_most", verdict.lost_at_most);
    json.text("line", outcome.line);
    if (seconds) json.number("seconds", *seconds);
    if (outcome.plan) {
      json.key("plan");
      write_json(json, *outcome.plan);
    } else {
      write_ids(json, outcome);
    }
    json.end_object();
    return json.take();
  }

  static constexpr Mib kUnlimitedMib = 1e9;

  std::string path_;
  std::string instance_path_;
  std::optional<std::int64_t> max_tokens_;
  std::optional<std::int64_t> quadratic_;
  std::optional<std::int64_t> linear_;
  std::optional<double> seconds_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_audit_command() { return std::make_unique<AuditCommand>(); }

}  // namespace stowage
