// stowage generate order: graphs with the structure of training and inference, or the training step
// of the kernels.
#include <cmath>
#include <optional>
#include <utility>

#include "cli/commands/generate/generated.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "formulations/order/bounds.h"
#include "instances/numeric/numbers.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/planning_table.h"
#include "kernels/memory/recorded_order.h"

namespace stowage {
namespace {

class GenerateOrderCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "generate order",
            .arguments = "[-o INSTANCE]",
            .summary = "Make a graph of operators whose order is to be planned",
            .examples = {"stowage generate order --kind chunked --tokens 32768 --operators 400",
                         "stowage generate order --tokens-from 256 --tokens 65536 --operators 56",
                         "stowage generate order --from-kernels --lengths 64,9 --layers 2"}};
  }

  void declare(Flags& flags) override {
    const OrderGenerator usual;
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    std::vector<std::string> kinds;
    for (const std::string_view kind : OrderGenerator::kNames) kinds.emplace_back(kind);
    flags.choice(
        "--kind", kind_, kinds,
        "A transformer's training step, the same with recomputation, with gradients added "
        "up in place or with experts, chunks of tokens through two layers, a randomly "
        "wired network, random operators in layers, the same read at about their place, or a "
        "convolutional network whose forward operators may run again. Default transformer");
    flags.integer("--operators", operators_, "N", 1, 1'000'000,
                  "About so many operators; default " + std::to_string(usual.operators));
    flags.text("--tokens", tokens_, "TOKENS",
               "Transformers, experts, chunked: tokens of the sequence; default " +
                   std::to_string(usual.tokens));
    flags.text("--tokens-from", tokens_from_, "TOKENS",
               "The same: sizes grow with a length from so many tokens to --tokens, and a plan "
               "has an order for each; default one length");
    declare_kernels(flags);
    flags.integer("--alignment", alignment_, "N", 1, 1 << 20,
                  "Alignment of all tensors; default 1, kernels: 64");
    flags.integer("--seed", seed_, "N", 0, kMaxExact,
                  "Randwire, both layered: seed of every draw; default 0");
    flags.number("--capacity-share", capacity_share_, "X", 1e-9, 1,
                 "Vgg, unet, kernels: forward operators may run again, and the time is to be least "
                 "within this share of the peak of the list's order; default the least peak");
    flags.number("--host-rate", host_rate_, "X", 1e-9, static_cast<double>(kMaxExact),
                 "Vgg, unet, kernels: a host that tensors may be on meanwhile, with channels out "
                 "and in of so many bytes per ms each; default none");
    flags.integer("--host-capacity", host_capacity_, "BYTES", 0, kMaxExact,
                  "With --host-rate: what the host can hold; default no limit");
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = misplaced_flag()) return console.refuse(*error);
    if (auto error = check_output("--output", output_, {})) return console.refuse(*error);
    StatusLine(console).tell("drawing   operators");
    Result<OrderInstance> made = from_kernels_ ? recorded(console) : drawn(console);
    if (!made) return console.refuse(as_flag_errors(made.errors()));
    OrderInstance graph = *std::move(made);
    if (!name_.empty()) graph.name = name_;
    warn_of_capacity(console, graph);
    return put_instance(console, graph, write_order_instance(graph), output_);
  }

 private:
  bool network() const { return kind_ == "vgg" || kind_ == "unet"; }
  // A capacity below the least peak is not an error: the user may want an infeasible graph.
  void warn_of_capacity(Console& console, const OrderInstance& graph) const {
    if (!graph.capacity) return;
    const Bytes least = rerun_bounds(OrderTable(graph), graph.capacity).kept;
    if (least <= *graph.capacity) return;
    const double share = capacity_share_.value_or(0) * static_cast<double>(least) /
                         static_cast<double>(*graph.capacity);
    console.warn("no plan keeps the capacity of " + grouped(*graph.capacity) +
                 " bytes: a step needs " + grouped(least) + "; take --capacity-share " +
                 shortest(std::ceil(share * 1000) / 1000) + " or more");
  }

  bool random() const {
    return kind_ == "randwire" || kind_ == "layered" || kind_ == "layered-local";
  }

  void declare_kernels(Flags& flags) {
    const RecordedBlock block;
    flags.toggle("--from-kernels", from_kernels_,
                 "The training step that the kernels run, with a loss and an update of every "
                 "weight, instead of a --kind; stowage run executes it");
    flags.list("--lengths", lengths_, "TOKENS,...",
               "kernels: lengths of the sequences packed end to end; default 1024");
    flags.text("--chunk-tokens", chunk_tokens_, "TOKENS",
               "kernels: cut longer sequences into chunks of so many, and pack shorter ones; "
               "default all tokens at once");
    flags.integer("--layers", layers_, "N", 1, 1000, "kernels: number of blocks; default 1");
    flags.integer("--kv-heads", kv_heads_, "N", 1, 1 << 16,
                  "kernels: key and value heads; default as many as heads");
    const auto width = [&flags](const char* name, std::optional<std::int64_t>& target,
                                const std::string& what, int usual) {
      flags.integer(name, target, "N", 1, 1 << 16,
                    "kernels: " + what + "; default " + std::to_string(usual));
    };
    width("--hidden", hidden_, "width of an activation", block.hidden);
    width("--heads", heads_, "query heads", block.heads);
    width("--head-dim", head_dim_, "width of a head, even", block.head_dim);
    width("--ffn", ffn_, "width of the feed-forward part", block.ffn);
  }

  // Returns an error for a flag that has no effect beside the others.
  std::optional<InputError> misplaced_flag() const {
    const std::string kind =
        from_kernels_ ? "--from-kernels" : "--kind " + (kind_.empty() ? "transformer" : kind_);
    const bool drawn = !from_kernels_;
    struct Given {
      const char* flag;
      bool given, fits;
    };
    const Given all[] = {{"--kind", !kind_.empty(), drawn},
                         {"--operators", operators_.has_value(), drawn},
                         {"--seed", seed_.has_value(), drawn && random()},
                         {"--tokens", !tokens_.empty(), drawn && !random() && !network()},
                         {"--tokens-from", !tokens_from_.empty(), drawn && !random() && !network()},
                         {"--capacity-share", capacity_share_.has_value(), !drawn || network()},
                         {"--host-rate", host_rate_.has_value(), !drawn || network()},
                         {"--host-capacity", host_capacity_.has_value(), !drawn || network()},
                         {"--lengths", !lengths_.empty(), from_kernels_},
                         {"--chunk-tokens", !chunk_tokens_.empty(), from_kernels_},
                         {"--layers", layers_.has_value(), from_kernels_},
                         {"--kv-heads", kv_heads_.has_value(), from_kernels_},
                         {"--hidden", hidden_.has_value(), from_kernels_},
                         {"--heads", heads_.has_value(), from_kernels_},
                         {"--head-dim", head_dim_.has_value(), from_kernels_},
                         {"--ffn", ffn_.has_value(), from_kernels_}};
    for (const Given& flag : all) {
      if (flag.given && !flag.fits) {
        return InputError{kUsage, flag.flag, "has no effect with " + kind};
      }
    }
    if (host_capacity_ && !host_rate_) {
      return InputError{kUsage, "--host-capacity", "has no effect without --host-rate"};
    }
    return std::nullopt;
  }

  Result<OrderInstance> recorded(Console& console) const {
    RecordedStep step{.block = {.lengths = {1024}}};
    RecordedBlock& block = step.block;
    if (!lengths_.empty()) block.lengths.clear();
    for (const std::string& text : lengths_) {
      const Result<Tokens> length = read_token_flag(console, "--lengths", text);
      if (!length) return length.errors().front();
      block.lengths.push_back(*length);
    }
    if (!chunk_tokens_.empty()) {
      const Result<Tokens> tokens = read_token_flag(console, "--chunk-tokens", chunk_tokens_);
      if (!tokens) return tokens.errors().front();
      step.chunk_tokens = *tokens;
    }
    block.hidden = static_cast<int>(hidden_.value_or(block.hidden));
    block.heads = static_cast<int>(heads_.value_or(block.heads));
    block.kv_heads = static_cast<int>(kv_heads_.value_or(block.heads));
    block.head_dim = static_cast<int>(head_dim_.value_or(block.head_dim));
    block.ffn = static_cast<int>(ffn_.value_or(block.ffn));
    block.layers = static_cast<int>(layers_.value_or(block.layers));
    Result<OrderInstance> made =
        kernels::record_order(step, alignment_.value_or(64), capacity_share_.value_or(0));
    if (!made || !host_rate_) return made;
    OrderInstance graph = *std::move(made);
    add_host(*host_rate_, host_capacity_, graph);
    return graph;
  }

  Result<OrderInstance> drawn(Console& console) const {
    OrderGenerator wanted;
    for (std::size_t k = 0; k < OrderGenerator::kNames.size(); ++k) {
      if (kind_ == OrderGenerator::kNames[k]) wanted.kind = static_cast<OrderGenerator::Kind>(k);
    }
    if (!tokens_.empty()) {
      const Result<Tokens> tokens = read_token_flag(console, "--tokens", tokens_);
      if (!tokens) return tokens.errors().front();
      wanted.tokens = *tokens;
    }
    if (!tokens_from_.empty()) {
      const Result<Tokens> tokens = read_token_flag(console, "--tokens-from", tokens_from_);
      if (!tokens) return tokens.errors().front();
      wanted.tokens_from = *tokens;
    }
    wanted.operators = operators_.value_or(wanted.operators);
    wanted.alignment = alignment_.value_or(wanted.alignment);
    wanted.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    wanted.capacity_share = capacity_share_.value_or(0);
    wanted.host_bytes_per_ms = host_rate_.value_or(0);
    wanted.host_capacity = host_capacity_;
    return generate_order(wanted);
  }

  std::string output_;
  std::string kind_;
  std::string tokens_;
  std::string tokens_from_;
  std::string name_;
  std::optional<std::int64_t> operators_;
  std::optional<std::int64_t> alignment_;
  std::optional<std::int64_t> seed_;
  std::optional<double> capacity_share_;
  bool from_kernels_ = false;
  std::vector<std::string> lengths_;
  std::string chunk_tokens_;
  std::optional<std::int64_t> layers_;
  std::optional<std::int64_t> kv_heads_;
  std::optional<double> host_rate_;
  std::optional<std::int64_t> host_capacity_;
  std::optional<std::int64_t> hidden_;
  std::optional<std::int64_t> heads_;
  std::optional<std::int64_t> head_dim_;
  std::optional<std::int64_t> ffn_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_order_command() {
  return std::make_unique<GenerateOrderCommand>();
}

}  // namespace stowage
