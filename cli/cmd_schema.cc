// stowage schema: the JSON Schema of a document.
#include <algorithm>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/suggest.h"
#include "instances/schema.h"

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
    for (const std::string_view name : schema_names()) names_.emplace_back(name);
    flags.positional("NAME", name_, comma_list(names_));
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const std::optional<std::string_view> text = stowage::schema(name_);
    if (!text) {
      return console.refuse({kUsage, "NAME",
                             "unknown value '" + name_ + "' (choose " + comma_list(names_) + ')' +
                                 suggestion(name_, names_)});
    }
    return console.answer(std::string(*text), ExitCode::ok);
  }

 private:
  std::string name_;
  std::vector<std::string> names_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace stowage
