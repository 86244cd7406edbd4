// stowage export: the MILP of an instance as a file for other solvers.
#include <functional>
#include <sstream>
#include <variant>

#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error_codes.h"
#include "cli/terminal/files.h"
#include "formulations/assign/grouped.h"
#include "formulations/milp/scaling.h"
#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"
#include "formulations/scatter/milp.h"
#include "instances/families.h"
#include "instances/json/errors.h"
#include "instances/numbers.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

// Beyond it the file would have gigabytes; fewer slots make a smaller model.
constexpr std::size_t kMostVariables = 5'000'000;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class ExportCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "export",
            .arguments = "INSTANCE -o FILE.{lp,mps}",
            .summary = "Write the MILP itself, for other solvers",
            .examples = {"stowage export instance.json -o model.lp",
                         "stowage export instance.json -o model.mps --slots 3",
                         "stowage export assign.json -o grouped.lp --strategy S2"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.text("-o,--output", output_, "FILE", "CPLEX LP if it ends in .lp, free MPS if in .mps");
    flags.integer("--slots", slots_, "N", 1, 1'000'000,
                  "Scatter: most micro-batches; default as many as the plan of method fast has");
    flags.toggle("--published", published_, "Scatter: rows C1 to C5 alone, as published by FlexSP");
    flags.text("--strategy", strategy_, "NAME",
               "Assign: strategy of the model; default that of the plan of method fast");
    flags.toggle("--apart", apart_, "Assign: every replica by itself, not grouped by scheme");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (!ends_with(output_, ".lp") && !ends_with(output_, ".mps")) {
      return console.refuse({kUsage, "--output", "must end in .lp or .mps, is '" + output_ + '\''});
    }
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    const auto* assign = std::get_if<AssignInstance>(&*instance.value);
    if (assign == nullptr && !std::holds_alternative<ScatterInstance>(*instance.value)) {
      const InputError error{code::kProblem, "/problem",
                             "must be \"scatter\" or \"assign\" for this command, is \"" +
                                 std::string(family_name(*instance.value)) + '"'};
      return console.refuse(errors_in(instance_path_, {error}));
    }
    if (auto error = misplaced_flag(assign != nullptr)) return console.refuse(*error);
    if (auto error = check_output("--output", output_, instance.files)) {
      return console.refuse(*error);
    }
    if (assign != nullptr) return check_and_write(console, *instance.value, *assign);
    return check_and_write(console, *instance.value, std::get<ScatterInstance>(*instance.value));
  }

 private:
  // A flag of the other family.
  std::optional<InputError> misplaced_flag(bool assign) const {
    if (assign && slots_) return InputError{kUsage, "--slots", "has no effect on an assign step"};
    if (assign && published_) {
      return InputError{kUsage, "--published", "has no effect on an assign step"};
    }
    if (!assign && !strategy_.empty()) {
      return InputError{kUsage, "--strategy", "has no effect on a scatter step"};
    }
    if (!assign && apart_) return InputError{kUsage, "--apart", "has no effect on a scatter step"};
    return std::nullopt;
  }

  template <class InstanceT>
  ExitCode check_and_write(Console& console, const Instance& instance, const InstanceT& own) const {
    if (own.lengths.empty()) {
      return console.refuse({kUsage, "INSTANCE", "must have a sequence to make a model of"});
    }
    if (const auto ids = unplaceable_sequences(own); !ids.empty()) {
      std::vector<CliError> errors;
      for (const std::string& line : infeasibility_report(instance, ids)) {
        if (line.starts_with("remedy: ") && !errors.empty()) {
          errors.back().error.message += "; " + line;
        } else {
          errors.push_back({"", {kUsage, "INSTANCE", line}});
        }
      }
      return console.refuse(errors, ExitCode::refused);
    }
    return write(console, instance, own);
  }

  // The grouped relaxation of one strategy, with what the plan of method fast is worth.
  ExitCode write(Console& console, const Instance& instance, const AssignInstance& assign) const {
    if (assign.constraints.chunks) {
      return console.refuse(
          {kUsage, "INSTANCE", "must be without chunks: the grouped model states whole rows"});
    }
    const AssignTable table(assign);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    const auto* plan = outcome.plan ? &std::get<AssignPlan>(*outcome.plan) : nullptr;
    std::string name = strategy_;
    if (name.empty() && plan != nullptr) name = plan->strategy;
    int strategy = 0;
    while (strategy < table.strategies() &&
           (name.empty() ? !table.usable(strategy)
                         : assign.strategies[static_cast<std::size_t>(strategy)].name != name)) {
      ++strategy;
    }
    if (strategy == table.strategies()) {
      return console.refuse({kUsage, "--strategy",
                             "must be a strategy of the instance, is '" + printable(name) + '\''});
    }
    if (!table.usable(strategy)) {
      return console.refuse({kUsage, "--strategy",
                             "must admit the longest sequence, '" + printable(name) + "' does not"},
                            ExitCode::refused);
    }
    name = assign.strategies[static_cast<std::size_t>(strategy)].name;
    const std::size_t groups =
        apart_ ? static_cast<std::size_t>(table.replicas(strategy)) : table.groups(strategy).size();
    if (table.kinds().size() * groups > kMostVariables) {
      return console.refuse({kUsage, apart_ ? "--apart" : "INSTANCE",
                             "must leave at most " + std::to_string(kMostVariables) + " shares, " +
                                 std::to_string(table.kinds().size()) + " lengths and " +
                                 std::to_string(groups) + " groups make more"});
    }
    // No plan of any strategy that is slower than a known one is of interest.
    const Ms upper = plan != nullptr ? plan->objective_ms : milp::kInfinity;
    const AssignGrouped grouped =
        build_assign_grouped(table, strategy, {.upper = upper, .apart = apart_});
    if (auto error = write_model(grouped.model)) return console.refuse(*error);
    return report(console, instance, grouped.model,
                  "strategy " + printable(name) + (apart_ ? ", replicas apart" : ""),
                  [&](JsonWriter& json) {
                    json.text("strategy", name);
                    json.boolean("apart", apart_);
                    json.key("no_slower_than_ms");
                    plan != nullptr ? json.number(upper) : json.null();
                  });
  }

  std::optional<InputError> write_model(const milp::Model& model) const {
    std::ostringstream text;
    ends_with(output_, ".lp") ? milp::write_lp(model, text) : milp::write_mps(model, text);
    return write_file(output_, text.str());
  }

  int slots_for(const Instance& instance) const {
    if (slots_) return static_cast<int>(*slots_);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    return outcome.plan ? static_cast<int>(part_count(*outcome.plan)) : 1;
  }

  ExitCode write(Console& console, const Instance& instance, const ScatterInstance& scatter) const {
    const std::vector<LengthClass> classes = exact_classes(ScatterTable(scatter));
    const int slots = slots_for(instance);
    const std::size_t variables = scatter_milp_variables(scatter, classes, slots);
    if (variables > kMostVariables) {
      return console.refuse({kUsage, "--slots",
                             "must leave at most " + std::to_string(kMostVariables) +
                                 " variables, " + std::to_string(slots) + " make " +
                                 std::to_string(variables)});
    }
    const ScatterMilp milp =
        build_scatter_milp(scatter, classes, {.slots = slots, .strengthened = !published_});
    if (auto error = write_model(milp.model)) return console.refuse(*error);
    return report(console, instance, milp.model,
                  "at most " + counted(slots, "micro-batch", "micro-batches"),
                  [&](JsonWriter& json) {
                    json.integer("micro_batches_at_most", slots);
                    json.boolean("strengthened", !published_);
                  });
  }

  // `what` says for people, and `facts` in JSON, what the model is of.
  ExitCode report(Console& console, const Instance& instance, const milp::Model& model,
                  const std::string& what, const std::function<void(JsonWriter&)>& facts) const {
    const auto rows = static_cast<std::int64_t>(model.rows().size());
    const auto columns = static_cast<std::int64_t>(model.variables().size());
    std::int64_t nonzeros = 0;
    for (const milp::Row& row : model.rows())
      nonzeros += static_cast<std::int64_t>(row.terms.size());
    const milp::Range range = milp::coefficient_ranges(model).rows;
    console.info("model     " + grouped(rows) + " rows  " + grouped(columns) + " cols  coef " +
                 significant(range.min) + ".." + significant(range.max) + "  " + what + "  -> " +
                 output_);
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/export", family_name(instance), instance_name(instance));
    json.integer("exit_code", to_int(ExitCode::ok));
    json.text("file", output_);
    facts(json);
    json.integer("rows", rows);
    json.integer("columns", columns);
    json.integer("nonzeros", nonzeros);
    json.end_object();
    return console.answer(json.take(), ExitCode::ok);
  }

  std::string instance_path_;
  std::string output_;
  std::optional<std::int64_t> slots_;
  bool published_ = false;
  std::string strategy_;
  bool apart_ = false;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace stowage
