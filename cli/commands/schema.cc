// stowage schema: the JSON Schema of a document.
#include "instances/schema/schema.h"

#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/suggest.h"

namespace stowage {
namespace {

class SchemaCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "schema",
            .arguments = "NAME",
            .summary = "Print the JSON Schema (draft-07) of a document",
            .examples = {"stowage schema scatter-instance", "stowage schema scatter-plan",
                         "stowage schema outcome"}};
  }

  void declare(Flags& flags) override {
    std::vector<std::string> names;
    for (const std::string_view name : schema_names()) names.emplace_back(name);
    flags.positional_choice("NAME", name_, names, comma_list(names));
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    return console.answer(std::string(schema(name_).value()), ExitCode::ok);
  }

 private:
  std::string name_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace stowage
