// stowage configure: computes a configuration from a model, a cluster and lengths, with a plan for
// each step, the layout of the heaviest rank, and start files for trainers.
#include "solvers/configure/configure.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cli/answers/replanned.h"
#include "cli/commands/configure/old_configuration.h"
#include "cli/commands/configure/report.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/new_directory.h"
#include "cli/terminal/status_line.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/trainers.h"
#include "solvers/configure/failover.h"

namespace stowage {
namespace {

constexpr std::int64_t kSequences = 256;
constexpr std::int64_t kMaxSteps = 999;  // file names have three digits
constexpr std::int64_t kCandidates = 10;

using Steps = std::vector<std::vector<Tokens>>;

// Errors of the list of lengths, reworded for the flags.
std::vector<CliError> of_the_flags(std::vector<CliError> errors) {
  for (auto& [file, error] : errors) {
    if (error.code == code::kListRange) error.message += ": lower --sequences or --steps";
  }
  return errors;
}

class ConfigureCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "configure",
        .arguments = "[INSTANCE] -o DIR",
        .summary = "Choose the configuration for a model, a cluster and lengths; plan its steps",
        .examples = {"stowage configure --preset llama-7b --nodes 2 --lengths lengths.txt "
                     "--sequences 16 -o run-7b",
                     "stowage configure --preset llama-13b --sequences 64 --tokens 16384 -o "
                     "run-13b",
                     "stowage configure --from run-13b --lost 3,16-23 -o run-13b-smaller"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_,
                     "A strategy instance instead of a preset; its lengths are one step unless "
                     "--lengths or --tokens is given",
                     false);
    flags.text("-o,--output", output_, "DIR",
               "Required. A new or empty directory, which gets all files or none");
    std::vector<std::string> models;
    for (const std::string_view model : transformer_names()) models.emplace_back(model);
    flags.choice("--preset", model_, models,
                 "Published model; default " + StrategyGenerator().model);
    const std::vector<std::string_view> machines = machine_names();
    flags.choice("--machine", machine_, {machines.begin(), machines.end()},
                 "GPUs of the nodes; default in the order of A100s of 80 GB");
    const std::vector<std::string_view> stacks = stack_names();
    flags.choice("--stack", stack_, {stacks.begin(), stacks.end()},
                 "Software whose published steps the rates fit; default none: rates are assumed");
    const std::vector<std::string_view> trainers = strategy_trainers();
    flags.choice("--trainer", trainer_, {trainers.begin(), trainers.end()},
                 "Propose no configuration that this trainer refuses");
    flags.integer("--nodes", nodes_, "N", 1, 100'000, "Nodes; default 8");
    flags.integer("--devices-per-node", per_node_, "N", 1, 1024, "Devices of a node; default 8");
    flags.integer("--memory-mib", memory_mib_, "MIB", 1, std::int64_t{1} << 40,
                  "Memory of a device; default the machine's");
    flags.text("--lengths", lengths_, "FILE", "A file of lengths (see convert)");
    column_.declare(flags);
    flags.text("--tokens", tokens_, "TOKENS", "Tokens of each sequence, without --lengths");
    flags.integer("--sequences", sequences_, "N", 1, kMaxSequences,
                  "Sequences of a step; default 256");
    flags.integer("--steps", steps_, "N", 1, kMaxSteps,
                  "Steps that are planned: so many times --sequences lines of the file; default 1");
    flags.integer("--candidates", candidates_, "N", 1, 1000,
                  "Configurations that are planned on the true lengths; default 10");
    flags.integer("--threads", threads_, "N", 1, kMaxThreads,
                  "Steps planned at the same time; the answer does not depend on it. Default one "
                  "for each core");
    from_.declare(flags);
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    solve_.declare(flags,
                   "Wall clock of the search for configurations; default none: until it ends");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (output_.empty() || output_ == "-") {
      return console.refuse({kUsage, "--output", "is required: a directory for the files"});
    }
    if (auto error = misplaced()) return console.refuse(*error);
    if (auto error = check_new_directory(output_)) return console.refuse(*error);
    Loaded<StrategyInstance> loaded = load(console);
    if (!loaded.value) return console.refuse(loaded.errors);
    StrategyInstance instance = *std::move(loaded.value);
    if (!instance.model.flash_attention) {
      return console.refuse({kUsage, "INSTANCE",
                             "must have flash_attention: without it memory grows with the square "
                             "of lengths, which plans of steps do not count"});
    }
    if (instance.cluster.offload) {
      return console.refuse({kUsage, "INSTANCE",
                             "must have no cluster.offload: plans of steps keep all activations on "
                             "the device. `stowage solve` chooses a configuration with it"});
    }
    const Result<SolveOptions> solve_options = solve_.options();
    if (!solve_options) return console.refuse(solve_options.errors().front());
    console.info(instance_line(instance));
    if (std::ssize(instance.lengths) % instance.cluster.devices() != 0) {
      console.info("sequences dp must divide the " + grouped(std::ssize(instance.lengths)) +
                   " of a step: a multiple of " + grouped(instance.cluster.devices()) +
                   " leaves every dp to choose from");
    }
    const InterruptScope interrupt;
    Budget budget(solve_.limits(interrupt.flag()));
    StatusLine status(console);
    const ConfigureProgress progress = [&status](const std::string& doing) {
      status.tell("configure " + doing);
    };
    ConfigureOptions options{.candidates = at(candidates_.value_or(kCandidates)),
                             .threads = threads()};
    if (old_) {
      progress("comparing what moves");
      return run_again(console, std::move(instance), options, budget, progress);
    }
    const ConfiguredRun run = configure(instance, steps_of_, options, budget, progress);
    return report_configured(console, {instance, run, std::ssize(steps_of_), output_});
  }

 private:
  // Reports the best replanned configuration that has a plan for every step. If no configuration
  // has, it reports the result of configure() on the largest remaining cluster.
  ExitCode run_again(Console& console, StrategyInstance instance, ConfigureOptions options,
                     Budget& budget, const ConfigureProgress& progress) {
    ReplannedAnswer answer{.old_devices = instance.cluster.devices(),
                           .old_plan = old_->plan,
                           .lost = old_->lost,
                           .weight = from_.weight()};
    for (const Replanned& each :
         replan(instance, old_->plan, old_->lost,
                {.weight = answer.weight, .most = options.candidates}, budget)) {
      options.plans = {each.plan};
      const ConfiguredRun run = configure(each.instance, steps_of_, options, budget, progress);
      if (run.without_plan == run.ranking.size()) {
        for (const RankedConfiguration& its : run.ranking) {
          console.info(configuration_name(its.plan) + ": " + its.why_not);
        }
        continue;
      }
      answer.chosen = each;
      return report_configured(console,
                               {each.instance, run, std::ssize(steps_of_), output_, &answer});
    }
    instance.cluster = remaining_clusters(instance.cluster, old_->lost).front();
    options.plans.clear();
    const ConfiguredRun run = configure(instance, steps_of_, options, budget, progress);
    return report_configured(console, {instance, run, std::ssize(steps_of_), output_});
  }

  int threads() const { return static_cast<int>(threads_.value_or(usable_cores())); }

  bool has_instance() const { return !instance_path_.empty() || from_.given(); }

  std::optional<InputError> misplaced() const {
    if (auto error = from_.misplaced(instance_path_)) return error;
    const std::string with = from_.given() ? "--from" : "INSTANCE";
    if (!lengths_.empty() && !tokens_.empty()) {
      return InputError{kUsage, "--tokens", "has no effect with --lengths"};
    }
    if (column_.given() && lengths_.empty()) {
      return InputError{kUsage, "--column", "has no effect without --lengths"};
    }
    if (has_instance()) {
      const std::pair<const char*, bool> given[] = {{"--preset", !model_.empty()},
                                                    {"--machine", !machine_.empty()},
                                                    {"--stack", !stack_.empty()},
                                                    {"--nodes", nodes_.has_value()},
                                                    {"--devices-per-node", per_node_.has_value()},
                                                    {"--memory-mib", memory_mib_.has_value()}};
      for (const auto& [flag, is] : given) {
        if (is) return InputError{kUsage, flag, "has no effect with " + with + ", which says it"};
      }
      if (lengths_.empty() && tokens_.empty() && (sequences_ || steps_)) {
        return InputError{kUsage, sequences_ ? "--sequences" : "--steps",
                          "has no effect on the lengths of " + with + ": give --lengths"};
      }
    }
    return std::nullopt;
  }

  // Fills steps_of_ from the file or the flags. Without both, an instance provides its own lengths.
  Loaded<bool> read_steps(Console& console) {
    const std::int64_t sequences = sequences_.value_or(kSequences);
    const std::int64_t steps = steps_.value_or(1);
    if (!lengths_.empty()) {
      const Loaded<std::vector<Tokens>> all =
          column_.read_at(console, lengths_, {.count = sequences * steps});
      if (!all.value) return {std::nullopt, of_the_flags(all.errors)};
      for (std::int64_t step = 0; step < steps; ++step) {
        const auto begin = all.value->begin() + step * sequences;
        steps_of_.emplace_back(begin, begin + sequences);
      }
      return {true, {}};
    }
    if (has_instance() && tokens_.empty()) return {false, {}};
    Tokens tokens = 8192;
    if (!tokens_.empty()) {
      const Result<Tokens> read = read_token_flag(console, "--tokens", tokens_);
      if (!read) return {std::nullopt, errors_in("", read.errors())};
      tokens = *read;
    }
    steps_of_.assign(at(steps), std::vector<Tokens>(at(sequences), tokens));
    return {true, {}};
  }

  Loaded<StrategyInstance> load(Console& console) {
    const Loaded<bool> read = read_steps(console);
    if (!read.value) return {std::nullopt, read.errors};
    if (!has_instance()) {
      StrategyGenerator generator{.name = name_};
      if (!model_.empty()) generator.model = model_;
      generator.nodes = nodes_.value_or(generator.nodes);
      generator.devices_per_node = per_node_.value_or(generator.devices_per_node);
      generator.machine = machine_;
      generator.stack = stack_;
      generator.trainer = trainer_;
      generator.memory_mib = memory_mib_;
      Result<StrategyInstance> made = generate_strategy(generator, mean_step(steps_of_));
      if (!made) return {std::nullopt, as_flag_errors(made.errors())};
      return {*std::move(made), {}};
    }
    Loaded<StrategyInstance> known = from_.given() ? load_old() : load_known();
    if (!known.value) return known;
    StrategyInstance strategy = *std::move(known.value);
    if (!trainer_.empty()) {
      const Result<TrainerOptions> narrowed = options_for(strategy, trainer_);
      if (!narrowed) return {std::nullopt, errors_in(instance_path_, narrowed.errors())};
      strategy.options = narrowed->options;
    }
    if (!name_.empty()) strategy.name = name_;
    if (*read.value) {
      strategy.lengths = mean_step(steps_of_);
    } else {
      steps_of_ = {strategy.lengths};
    }
    return {std::move(strategy), {}};
  }

  Loaded<StrategyInstance> load_known() const {
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return {std::nullopt, std::move(instance.errors)};
    if (auto error = not_of(*instance.value, "strategy")) {
      return {std::nullopt, errors_in(instance_path_, {*error})};
    }
    return {std::get<StrategyInstance>(*std::move(instance.value)), {}};
  }

  // Loads the instance and fills old_.
  Loaded<StrategyInstance> load_old() {
    Loaded<OldConfiguration> old = from_.load();
    if (!old.value) return {std::nullopt, std::move(old.errors)};
    old_ = *std::move(old.value);
    return {old_->instance, {}};
  }

  std::string instance_path_;
  std::string output_;
  std::string model_;
  std::string tokens_;
  std::string lengths_;
  ColumnFlag column_;
  std::string name_;
  std::string machine_;
  std::string stack_;
  std::string trainer_;
  std::optional<std::int64_t> nodes_;
  std::optional<std::int64_t> per_node_;
  std::optional<std::int64_t> memory_mib_;
  std::optional<std::int64_t> sequences_;
  std::optional<std::int64_t> steps_;
  std::optional<std::int64_t> candidates_;
  std::optional<std::int64_t> threads_;
  FromFlags from_;
  SolveFlags solve_;
  OutputFlags output_flags_;
  Steps steps_of_;
  std::optional<OldConfiguration> old_;
};

}  // namespace

std::unique_ptr<Command> make_configure_command() { return std::make_unique<ConfigureCommand>(); }

}  // namespace stowage
