// stowage params: the parameters and the stages of a family's solve.
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/table.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/numeric/numbers.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

std::string range_text(const ParameterInfo& parameter) {
  return shortest(parameter.least) + " to " + shortest(parameter.most);
}

std::string as_table(const std::vector<ParameterInfo>& parameters,
                     const std::vector<StageInfo>& stages) {
  Table table({{"parameter"}, {"default", Align::right}, {"range"}, {"unit"}, {"effect"}});
  for (const ParameterInfo& each : parameters) {
    table.add({each.name, shortest(each.value), range_text(each), each.unit, each.effect});
  }
  Table of_stages({{"stage"}, {"what it does"}});
  for (const StageInfo& each : stages) of_stages.add({each.name, each.summary});
  return table.text() + '\n' + of_stages.text();
}

std::string as_json(std::string_view family, const std::vector<ParameterInfo>& parameters,
                    const std::vector<StageInfo>& stages) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/parameters");
  json.integer("version", 1);
  json.text("problem", family);
  json.key("parameters");
  json.begin_array();
  for (const ParameterInfo& each : parameters) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("name", each.name);
    json.number("default", each.value);
    json.number("least", each.least);
    json.number("most", each.most);
    json.boolean("integral", each.integral);
    json.text("unit", each.unit);
    json.text("effect", each.effect);
    json.text("evidence", each.evidence);
    json.end_object();
  }
  json.end_array();
  json.key("stages");
  json.begin_array();
  for (const StageInfo& each : stages) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("name", each.name);
    json.text("summary", each.summary);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

class ParamsCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "params",
            .arguments = "FAMILY",
            .summary = "List the parameters and the stages of a family's solve",
            .examples = {"stowage params scatter", "stowage params scatter --json",
                         "stowage solve instance.json --set lns.moves=4000 --node-limit 50"}};
  }

  void declare(Flags& flags) override {
    std::vector<std::string> names;
    for (const std::string_view name : Families::names) names.emplace_back(name);
    flags.positional_choice("FAMILY", family_, names, comma_list(names));
    flags.toggle("--json", json_, "The list as JSON, with the evidence for each default");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    std::string answer;
    Families::with_name(family_, [&](auto family) {
      const typename decltype(family)::Instance instance{};
      const std::vector<ParameterInfo> of_search = parameters(instance);
      const std::vector<StageInfo> of_solve = stages(instance);
      answer = json_ ? as_json(family_, of_search, of_solve) : as_table(of_search, of_solve);
    });
    return console.answer(answer, ExitCode::ok);
  }

 private:
  std::string family_;
  bool json_ = false;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_params_command() { return std::make_unique<ParamsCommand>(); }

}  // namespace stowage
