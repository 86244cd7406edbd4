// stowage generate scatter: seeded steps from published presets and a source of lengths.
#include <utility>

#include "cli/commands/generate/generated.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/length_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/generate/generate.h"

namespace stowage {
namespace {

constexpr std::int64_t kDefaultCount = 512;

class GenerateScatterCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "generate scatter",
        .arguments = "[-o INSTANCE]",
        .summary = "Make a step from a preset and a list or distribution of lengths",
        .examples = {"stowage generate scatter --preset gpt-7b --devices 16 --seed 7 -o step.json",
                     "stowage generate scatter --lengths lengths.txt --count 8 --step 1",
                     "stowage generate scatter --lengths uniform --least 512 --most 4096"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    preset_.declare(flags);
    flags.integer("--count", count_, "N", 0, kMaxSequences, "Sequences drawn; default 512");
    lengths_.declare(flags, "which slice of --count lines");
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Result<ScatterGenerator> wanted = preset_.generator(console);
    if (!wanted) return console.refuse(wanted.errors().front());
    ScatterGenerator generator = *std::move(wanted);
    generator.source = lengths_.source();
    generator.count = count_.value_or(kDefaultCount);
    generator.seed = lengths_.seed();
    generator.above_limit = lengths_.above_limit();
    generator.name = name_;
    if (auto error = lengths_.misplaced_flag()) return console.refuse(*error);
    // A list on stdin no longer has the name "-" here, so the name is passed explicitly.
    if (auto error = check_output("--output", output_, {lengths_.source().list, "-"})) {
      return console.refuse(*error);
    }
    StatusLine status(console);
    status.tell("reading   lengths");
    const Loaded<std::vector<Tokens>> list = lengths_.list(console);
    status.tell("drawing   lengths");
    if (!list.value) return console.refuse(list.errors);
    const Result<GeneratedScatter> generated = generate_scatter(generator, *list.value);
    if (!generated) return console.refuse(as_flag_errors(generated.errors()));
    return put_generated(console, *generated, output_);
  }

 private:
  std::string output_;
  std::string name_;
  std::optional<std::int64_t> count_;
  LengthFlags lengths_;
  PresetFlags preset_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_scatter_command() {
  return std::make_unique<GenerateScatterCommand>();
}

}  // namespace stowage
