// stowage generate assign: generates steps with a given number of tokens from published presets and
// a source of lengths.
#include <algorithm>
#include <utility>

#include "cli/commands/generate/generated.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/length_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "instances/assign/generate/generate.h"
#include "instances/assign/presets.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

class GenerateAssignCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "generate assign",
        .arguments = "[-o INSTANCE]",
        .summary = "Make a step for heterogeneous replicas from a preset and lengths",
        .examples = {"stowage generate assign --preset llama-32b --seed 7 -o assign.json",
                     "stowage generate assign --lengths lengths.txt --tokens 1000 --limit 1000",
                     "stowage generate assign --limit 131072 --chunk-tokens 4096 --retained 2"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    std::vector<std::string> models;
    for (const std::string_view model : assign_preset_models()) models.emplace_back(model);
    model_ = AssignGenerator().model;
    flags.choice("--preset", model_, models,
                 "Published model, with its GPUs and strategies; default " + model_);
    flags.text("--tokens", tokens_, "TOKENS", "Tokens of the step at most; default 200000");
    flags.text("--limit", limit_, "TOKENS", "Longest sequence; default 32768");
    flags.integer("--pad-multiple", pad_multiple_, "N", 1, kMaxPadMultiple,
                  "Lengths are rounded up to multiples; default 1");
    flags.text("--chunk-tokens", chunk_tokens_, "TOKENS",
               "Rows of chunks of so many tokens, as in ChunkFlow: longer sequences are cut");
    flags.integer("--retained", retained_, "K", 1, kMaxRetainedChunks,
                  "Chunks of a sequence that keep their activations; default 1");
    boundaries_ = kChunkBoundaries[0];
    flags.choice("--boundaries", boundaries_, {kChunkBoundaries.begin(), kChunkBoundaries.end()},
                 "Where sequences are cut; default fixed, at multiples of the chunk's tokens");
    lengths_.declare(flags, "which step, each of as many lines as its tokens allow");
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    AssignGenerator generator;
    generator.model = model_;
    generator.source = lengths_.source();
    generator.seed = lengths_.seed();
    generator.above_limit = lengths_.above_limit();
    generator.pad_multiple = pad_multiple_;
    generator.name = name_;
    if (retained_ && chunk_tokens_.empty()) {
      return console.refuse({kUsage, "--retained", "has an effect with --chunk-tokens alone"});
    }
    generator.retained = static_cast<int>(retained_.value_or(generator.retained));
    const auto boundaries = std::ranges::find(kChunkBoundaries, boundaries_);
    generator.boundaries = static_cast<ChunkBoundaries>(boundaries - kChunkBoundaries.begin());
    if (boundaries != kChunkBoundaries.begin() && chunk_tokens_.empty()) {
      return console.refuse({kUsage, "--boundaries", "has an effect with --chunk-tokens alone"});
    }
    Tokens chunk = 0;
    for (const auto& [flag, text, tokens] : {Amount{"--tokens", tokens_, &generator.tokens},
                                             Amount{"--limit", limit_, &generator.limit_tokens},
                                             Amount{"--chunk-tokens", chunk_tokens_, &chunk}}) {
      if (text.empty()) continue;
      const Result<Tokens> amount = read_token_flag(console, flag, text);
      if (!amount) return console.refuse(amount.errors().front());
      *tokens = *amount;
    }
    if (!chunk_tokens_.empty()) generator.chunk_tokens = chunk;
    if (limit_.empty()) generator.limit_tokens = std::min(generator.limit_tokens, generator.tokens);
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
    const Result<GeneratedAssign> generated = generate_assign(generator, *list.value);
    if (!generated) return console.refuse(as_flag_errors(generated.errors()));
    return put_generated(console, *generated, output_);
  }

 private:
  struct Amount {
    const char* flag;
    const std::string& text;
    Tokens* tokens;
  };

  std::string output_;
  std::string model_;
  std::string tokens_;
  std::string limit_;
  std::string name_;
  std::string chunk_tokens_;
  std::string boundaries_;
  std::optional<std::int64_t> retained_;
  std::optional<std::int64_t> pad_multiple_;
  LengthFlags lengths_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_assign_command() {
  return std::make_unique<GenerateAssignCommand>();
}

}  // namespace stowage
