// stowage generate order: graphs of the shapes that training and inference have.
#include <optional>
#include <utility>

#include "cli/commands/generated.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "instances/order/generate.h"
#include "instances/order/json.h"

namespace stowage {
namespace {

class GenerateOrderCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "generate order",
            .arguments = "[-o INSTANCE]",
            .summary = "Make a graph of operators whose order is to be planned",
            .examples = {"stowage generate order --kind transformer --operators 500 -o graph.json",
                         "stowage generate order --kind chunked --tokens 32K --operators 400",
                         "stowage generate order --kind layered --operators 100 --seed 7"}};
  }

  void declare(Flags& flags) override {
    const OrderGenerator usual;
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    std::vector<std::string> kinds;
    for (const std::string_view kind : OrderGenerator::kNames) kinds.emplace_back(kind);
    flags.choice("--kind", kind_, kinds,
                 "A transformer's training step, the same with recomputation, with gradients added "
                 "up in place or with experts, chunks of tokens through two layers, a randomly "
                 "wired network, or random operators in layers. Default transformer");
    flags.integer("--operators", operators_, "N", 1, 1'000'000,
                  "About so many operators; default " + std::to_string(usual.operators));
    flags.text("--tokens", tokens_, "TOKENS",
               "Transformers, experts, chunked: tokens of the sequence; default " +
                   std::to_string(usual.tokens));
    flags.integer("--alignment", alignment_, "N", 1, 1 << 20,
                  "Alignment of all tensors; default 1");
    flags.integer("--seed", seed_, "N", 0, kMaxExact,
                  "Randwire, layered: seed of every draw; default 0");
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = misplaced_flag()) return console.refuse(*error);
    if (auto error = check_output("--output", output_, {})) return console.refuse(*error);
    StatusLine(console).tell("drawing   operators");
    Result<OrderInstance> made = drawn();
    if (!made) return console.refuse(as_flag_errors(made.errors()));
    OrderInstance graph = *std::move(made);
    if (!name_.empty()) graph.name = name_;
    return put_instance(console, graph, write_order_instance(graph), output_);
  }

 private:
  bool random() const { return kind_ == "randwire" || kind_ == "layered"; }

  // A flag that would change nothing is a misunderstanding, not a wish.
  std::optional<InputError> misplaced_flag() const {
    const std::string kind = "--kind " + (kind_.empty() ? "transformer" : kind_);
    if (seed_ && !random()) return InputError{kUsage, "--seed", "has no effect with " + kind};
    if (!tokens_.empty() && random()) {
      return InputError{kUsage, "--tokens", "has no effect with " + kind};
    }
    return std::nullopt;
  }

  Result<OrderInstance> drawn() const {
    OrderGenerator wanted;
    for (std::size_t k = 0; k < OrderGenerator::kNames.size(); ++k) {
      if (kind_ == OrderGenerator::kNames[k]) wanted.kind = static_cast<OrderGenerator::Kind>(k);
    }
    if (!tokens_.empty()) {
      const Result<Tokens> tokens = read_token_flag("--tokens", tokens_);
      if (!tokens) return tokens.errors().front();
      wanted.tokens = *tokens;
    }
    wanted.operators = operators_.value_or(wanted.operators);
    wanted.alignment = alignment_.value_or(wanted.alignment);
    wanted.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    return generate_order(wanted);
  }

  std::string output_;
  std::string kind_;
  std::string tokens_;
  std::string name_;
  std::optional<std::int64_t> operators_;
  std::optional<std::int64_t> alignment_;
  std::optional<std::int64_t> seed_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_order_command() {
  return std::make_unique<GenerateOrderCommand>();
}

}  // namespace stowage
