// stowage export: the MILP of an instance as a file for other solvers.
#include <sstream>
#include <variant>

#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/models/exported_model.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "formulations/milp/scaling.h"
#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

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
    model_flags_.declare(flags);
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (!output_.ends_with(".lp") && !output_.ends_with(".mps")) {
      return console.refuse({kUsage, "--output", "must end in .lp or .mps, is '" + output_ + '\''});
    }
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    if (auto error = model_flags_.misplaced(*instance.value)) return console.refuse(*error);
    if (auto error = check_output("--output", output_, instance.files)) {
      return console.refuse(*error);
    }
    const ModelAnswer answer = exported_model(*instance.value, model_flags_);
    if (const auto* refusal = std::get_if<ModelRefusal>(&answer)) {
      return console.refuse(refusal->errors, refusal->code);
    }
    const auto& exported = std::get<ExportedModel>(answer);
    if (auto error = write(exported)) return console.refuse(*error);
    return report(console, *instance.value, exported);
  }

 private:
  std::optional<InputError> write(const ExportedModel& exported) const {
    std::ostringstream text;
    output_.ends_with(".lp") ? milp::write_lp(exported.model, text, exported.legend)
                             : milp::write_mps(exported.model, text, exported.legend);
    return write_file(output_, text.str());
  }

  ExitCode report(Console& console, const Instance& instance, const ExportedModel& exported) const {
    const milp::Model& model = exported.model;
    const auto rows = static_cast<std::int64_t>(model.rows().size());
    const auto columns = static_cast<std::int64_t>(model.variables().size());
    std::int64_t nonzeros = 0;
    for (const milp::Row& row : model.rows())
      nonzeros += static_cast<std::int64_t>(row.terms.size());
    const milp::Range range = milp::coefficient_ranges(model).rows;
    console.info("model     " + grouped(rows) + " rows  " + grouped(columns) + " cols  coef " +
                 significant(range.min) + ".." + significant(range.max) + "  " + exported.what +
                 "  -> " + output_);
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/export", family_name(instance), instance_name(instance));
    json.integer("exit_code", to_int(ExitCode::ok));
    json.text("file", output_);
    exported.facts(json);
    json.integer("rows", rows);
    json.integer("columns", columns);
    json.integer("nonzeros", nonzeros);
    json.end_object();
    return console.answer(json.take(), ExitCode::ok);
  }

  std::string instance_path_;
  std::string output_;
  ModelFlags model_flags_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace stowage
