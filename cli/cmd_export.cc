// stowage export: the MILP of an instance as a file for other solvers.
#include <sstream>
#include <variant>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/files.h"
#include "formulations/scaling.h"
#include "formulations/scatter_milp.h"
#include "formulations/write_lp.h"
#include "formulations/write_mps.h"
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
                         "stowage export instance.json -o published.lp --published"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.text("-o,--output", output_, "FILE", "CPLEX LP if it ends in .lp, free MPS if in .mps");
    flags.integer("--slots", slots_, "N", 1, 1'000'000,
                  "Micro-batches at most; default as many as the plan of method fast has");
    flags.toggle("--published", published_, "Rows C1 to C5 alone, as published by FlexSP");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (!ends_with(output_, ".lp") && !ends_with(output_, ".mps")) {
      return console.refuse({kUsage, "--output", "must end in .lp or .mps, is '" + output_ + '\''});
    }
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    if (auto error = not_of(*instance.value, "scatter")) {
      return console.refuse(errors_in(instance_path_, {*error}));
    }
    if (auto error = check_writable(output_)) return console.refuse(*error);
    const auto& scatter = std::get<ScatterInstance>(*instance.value);
    if (scatter.lengths.empty()) {
      return console.refuse({kUsage, "INSTANCE", "must have a sequence to make a model of"});
    }
    if (const auto ids = unplaceable_sequences(scatter); !ids.empty()) {
      std::vector<CliError> errors;
      for (const std::string& line : infeasibility_report(*instance.value, ids)) {
        errors.push_back({"", {kUsage, "INSTANCE", line}});
      }
      return console.refuse(errors, ExitCode::refused);
    }
    return write(console, *instance.value, scatter);
  }

 private:
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
    std::ostringstream text;
    ends_with(output_, ".lp") ? milp::write_lp(milp.model, text)
                              : milp::write_mps(milp.model, text);
    if (auto error = write_file(output_, text.str())) return console.refuse(*error);
    return report(console, instance, milp.model, slots);
  }

  ExitCode report(Console& console, const Instance& instance, const milp::Model& model,
                  int slots) const {
    const auto rows = static_cast<std::int64_t>(model.rows().size());
    const auto columns = static_cast<std::int64_t>(model.variables().size());
    std::int64_t nonzeros = 0;
    for (const milp::Row& row : model.rows())
      nonzeros += static_cast<std::int64_t>(row.terms.size());
    const milp::Range range = milp::coefficient_ranges(model).rows;
    console.info("model     " + grouped(rows) + " rows  " + grouped(columns) + " cols  coef " +
                 significant(range.min) + ".." + significant(range.max) + "  at most " +
                 grouped(slots) + " micro-batches  -> " + output_);
    JsonWriter json;
    json.begin_object();
    json.text("format", "stowage/export");
    json.integer("version", 1);
    json.text("problem", problem_name(instance));
    json.text("name", instance_name(instance));
    json.integer("exit_code", to_int(ExitCode::ok));
    json.text("file", output_);
    json.integer("micro_batches_at_most", slots);
    json.boolean("strengthened", !published_);
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
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace stowage
