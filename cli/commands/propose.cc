// stowage propose: proposes strategies for an assign instance.
#include "heuristics/assign/construct/propose.h"

#include <iterator>
#include <optional>
#include <utility>

#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/assign/json/json.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

// Returns, for instance, "1x 16x1, 6x 8x1".
std::string replicas_text(const AssignInstance& instance, const Strategy& strategy) {
  std::string text;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    if (strategy.replicas[g] == 0) continue;
    text += (text.empty() ? "" : ", ") + grouped(strategy.replicas[g]) + " of " +
            instance.schemes[g].name;
  }
  return text;
}

class ProposeCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "propose",
            .arguments = "INSTANCE [-o INSTANCE]",
            .summary = "Propose strategies for an assign instance's schemes and lengths",
            .examples = {"stowage convert lengths.txt assign.json --assign llama-32b",
                         "stowage propose assign.json -o proposed.json",
                         "stowage propose assign.json --cost hydraulis --most 4 --keep"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", path_, "An assign instance; its lengths say what steps are like");
    flags.text("-o,--output", output_, "INSTANCE",
               "Write the instance with these strategies there instead of stdout");
    flags.number("--steps", steps_, "N", 1, 1e7, "Steps that the lengths make up; default 1");
    flags.choice("--cost", cost_, {"rows", "hydraulis"},
                 "What a range of lengths costs a scheme: with rows and bubbles, or as published; "
                 "default rows");
    flags.integer("--most", most_, "N", 1, kMaxStrategies,
                  "Most strategies to propose; default 16");
    flags.toggle("--keep", keep_, "Keep the instance's own strategies as well");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const Loaded<Instance> loaded = load_instance(path_);
    if (!loaded.value) return console.refuse(loaded.errors);
    if (auto error = check_output("--output", output_, loaded.files)) return console.refuse(*error);
    if (auto error = not_of(*loaded.value, "assign")) {
      return console.refuse(errors_in(path_, {*error}));
    }
    auto assign = std::get<AssignInstance>(*loaded.value);
    if (assign.devices > kMaxProposedDevices) {
      return console.refuse({kUsage, "INSTANCE",
                             "must have at most " + grouped(kMaxProposedDevices) +
                                 " devices, has " + grouped(assign.devices)});
    }
    if (assign.constraints.chunks) {
      return console.refuse(
          {kUsage, "INSTANCE", "must be without chunks: a proposal charges whole rows"});
    }
    ProposeOptions options;
    options.cost = cost_ == "hydraulis" ? RangeCost::hydraulis : RangeCost::rows;
    options.steps = steps_.value_or(1);
    if (most_) options.most = static_cast<std::size_t>(*most_);
    std::vector<Strategy> proposed = propose_strategies(assign, options);
    if (proposed.empty()) {
      return console.refuse({kUsage, "INSTANCE",
                             "must have a sequence that a scheme admits: strategies are proposed "
                             "for the lengths of a step"});
    }
    const std::optional<double> before = keep_ ? std::nullopt : planned_ms(assign);
    if (!keep_) assign.strategies.clear();
    for (const Strategy& strategy : proposed) {
      const Added added = add(strategy, assign);
      if (std::ssize(assign.strategies) > kMaxStrategies) {
        return console.refuse({kUsage, "--keep",
                               "must leave at most " + grouped(kMaxStrategies) +
                                   " strategies in all: give a smaller --most"});
      }
      console.info("strategy  " + added.name + "  " + replicas_text(assign, strategy) +
                   (added.was_there ? "  (was there)" : ""));
    }
    if (before) compare(console, *before, planned_ms(assign));
    return write(console, assign);
  }

 private:
  // The name of a proposed strategy in the instance.
  struct Added {
    std::string name;
    bool was_there = false;
  };

  // Adds the strategy under an unused name, unless the instance already has a strategy with the
  // same replicas.
  static Added add(Strategy strategy, AssignInstance& assign) {
    for (const Strategy& own : assign.strategies) {
      if (own.replicas == strategy.replicas) return {.name = own.name, .was_there = true};
    }
    const auto taken = [&] {
      for (const Strategy& own : assign.strategies) {
        if (own.name == strategy.name) return true;
      }
      return false;
    };
    while (taken()) strategy.name += '\'';
    assign.strategies.push_back(strategy);
    return {.name = std::move(strategy.name)};
  }

  // Returns the time in ms of the lengths as one step by the method fast, or nullopt if it finds no
  // plan.
  static std::optional<double> planned_ms(const AssignInstance& assign) {
    if (assign.strategies.empty()) return std::nullopt;
    Budget budget;
    return solve(assign, {.method = "fast"}, budget).objective;
  }

  static void compare(Console& console, double before, const std::optional<double>& after) {
    const std::string text = "these lengths as one step: " + (after ? ms_text(*after) : "no") +
                             " ms with the proposed strategies, " + ms_text(before) +
                             " ms with the instance's own";
    if (after && *after <= before) {
      console.info(text);
    } else {
      console.warn(text + ": --keep has both");
    }
  }

  ExitCode write(Console& console, const AssignInstance& assign) const {
    const std::string json = write_assign_instance(assign);
    const std::string line =
        "instance  assign  " + assign.name + "   " + instance_size(Instance(assign));
    if (output_.empty() || output_ == "-") {
      console.info(line);
      return console.answer(json, ExitCode::ok);
    }
    if (auto error = write_file(output_, json)) return console.refuse(*error);
    console.info(line + "  -> " + output_);
    return ExitCode::ok;
  }

  std::string path_;
  std::string output_;
  std::string cost_ = "rows";
  bool keep_ = false;
  std::optional<double> steps_;
  std::optional<std::int64_t> most_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_propose_command() { return std::make_unique<ProposeCommand>(); }

}  // namespace stowage
