// stowage generate layout: the tensors of a transformer's training step, those of the block that
// the kernels run, or random buffers.
#include <algorithm>
#include <utility>

#include "cli/commands/generate/generated.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "instances/layout/generate/generate.h"
#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/json/json.h"
#include "instances/model/transformer.h"
#include "kernels/memory/recorded_layout.h"

namespace stowage {
namespace {

class GenerateLayoutCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "generate layout",
        .arguments = "[-o INSTANCE]",
        .summary = "Make the memory trace of a transformer, or of the kernels, or random buffers",
        .examples = {"stowage generate layout --model llama-7b --tokens 131072 -o trace.json",
                     "stowage generate layout --from-kernels --lengths 65,1,130 -o block.json",
                     "stowage generate layout --kind guillotine --buffers 200 --seed 7"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    flags.choice("--kind", kind_, {"trace", "random", "short-lived", "rolling", "guillotine"},
                 "A transformer's trace, uniform sizes and lifetimes, the same with short or with "
                 "equal lifetimes, or a rectangle cut to pieces. Default trace");
    std::vector<std::string> models;
    for (const std::string_view model : transformer_names()) models.emplace_back(model);
    flags.choice("--model", model_, models,
                 "trace: model that has the shape; default " + models.front());
    flags.text("--tokens", tokens_, "TOKENS", "trace: tokens of the micro-batch; default 8192");
    flags.integer("--ranks", ranks_, "N", 1, 1'000'000,
                  "trace: ranks that share a layer; default 8");
    flags.integer("--kv-heads", kv_heads_, "N", 1, 1'000'000,
                  "trace, kernels: key and value heads; default as many as heads");
    flags.integer("--layers", layers_, "N", 1, 1000,
                  "Layers; default for a trace those of the model, for kernels 1");
    flags.toggle("--one-layer", one_layer_, "trace: one layer without embedding and head");
    flags.choice("--recompute", recompute_, {"none", "selective", "full"},
                 "trace: what the backward pass computes again; default none");
    flags.choice("--split", split_, {"megatron", "ulysses"},
                 "trace: how the ranks share a layer; default megatron");
    flags.integer("--logit-chunks", logit_chunks_, "N", 1, 1024,
                  "trace: pieces of the logits; default 1");
    const RecordedBlock block;
    flags.toggle("--from-kernels", from_kernels_,
                 "The blocks that the kernels run forward and backward, instead of a --kind; "
                 "stowage run executes them");
    flags.list("--lengths", lengths_, "TOKENS,...",
               "kernels: lengths of the sequences packed end to end; default 1024");
    const auto width = [&flags](const char* name, std::optional<std::int64_t>& target,
                                const std::string& what, int usual) {
      flags.integer(name, target, "N", 1, 1 << 16,
                    "kernels: " + what + "; default " + std::to_string(usual));
    };
    width("--hidden", hidden_, "width of an activation", block.hidden);
    width("--heads", heads_, "query heads", block.heads);
    width("--head-dim", head_dim_, "width of a head, even", block.head_dim);
    width("--ffn", ffn_, "width of the feed-forward part", block.ffn);
    flags.integer("--buffers", buffers_, "N", 0, 1'000'000,
                  "Other kinds: number of buffers; default 100");
    flags.integer("--steps", steps_, "N", 1, std::int64_t{1} << 40,
                  "Other kinds: number of steps; default 100");
    flags.integer("--lifetime", lifetime_, "N", 1, std::int64_t{1} << 40,
                  "random, short-lived, rolling: longest lifetime in steps, or that of all; "
                  "default all steps, or a sixteenth of them");
    flags.integer("--bytes", bytes_, "N", 1, std::int64_t{1} << 32,
                  "Other kinds: the largest buffer, or the rectangle's height; default 2^20");
    flags.integer("--unit", unit_, "N", 1, std::int64_t{1} << 32,
                  "Other kinds: sizes are multiples of it; default 1");
    flags.integer("--alignment", alignment_, "N", 1, 1 << 20,
                  "Alignment of all buffers; default 1, kernels: 64");
    flags.integer("--seed", seed_, "N", 0, kMaxExact, "Other kinds: seed of every draw; default 0");
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = misplaced_flag()) return console.refuse(*error);
    if (auto error = check_output("--output", output_, {})) return console.refuse(*error);
    StatusLine(console).tell("drawing   buffers");
    Result<LayoutInstance> made = from_kernels_ ? recorded(console)
                                  : traced()    ? trace(console)
                                                : drawn();
    if (!made) return console.refuse(as_flag_errors(made.errors(), "--model"));
    LayoutInstance layout = *std::move(made);
    if (!name_.empty()) layout.name = name_;
    return put_instance(console, layout, write_layout_instance(layout), output_);
  }

 private:
  bool traced() const { return !from_kernels_ && (kind_.empty() || kind_ == "trace"); }

  // Returns an error for a flag that has no effect beside the others.
  std::optional<InputError> misplaced_flag() const {
    struct Given {
      const char* flag;
      bool given;
      bool of_traces, of_kernels, of_others;
    };
    const Given all[] = {{"--kind", !kind_.empty(), true, false, true},
                         {"--model", !model_.empty(), true, false, false},
                         {"--tokens", !tokens_.empty(), true, false, false},
                         {"--ranks", ranks_.has_value(), true, false, false},
                         {"--kv-heads", kv_heads_.has_value(), true, true, false},
                         {"--layers", layers_.has_value(), true, true, false},
                         {"--one-layer", one_layer_, true, false, false},
                         {"--recompute", !recompute_.empty(), true, false, false},
                         {"--split", !split_.empty(), true, false, false},
                         {"--logit-chunks", logit_chunks_.has_value(), true, false, false},
                         {"--lengths", !lengths_.empty(), false, true, false},
                         {"--hidden", hidden_.has_value(), false, true, false},
                         {"--heads", heads_.has_value(), false, true, false},
                         {"--head-dim", head_dim_.has_value(), false, true, false},
                         {"--ffn", ffn_.has_value(), false, true, false},
                         {"--buffers", buffers_.has_value(), false, false, true},
                         {"--steps", steps_.has_value(), false, false, true},
                         {"--lifetime", lifetime_.has_value(), false, false, true},
                         {"--bytes", bytes_.has_value(), false, false, true},
                         {"--unit", unit_.has_value(), false, false, true},
                         {"--seed", seed_.has_value(), false, false, true}};
    for (const Given& flag : all) {
      const bool fits = from_kernels_ ? flag.of_kernels
                        : traced()    ? flag.of_traces
                                      : flag.of_others;
      if (!flag.given || fits) continue;
      return InputError{kUsage, flag.flag,
                        "has no effect with " + (from_kernels_ ? "--from-kernels"
                                                 : traced()    ? "--kind trace"
                                                               : "--kind " + kind_)};
    }
    return std::nullopt;
  }

  Result<LayoutInstance> recorded(Console& console) const {
    RecordedBlock block{.lengths = {1024}};
    if (!lengths_.empty()) block.lengths.clear();
    for (const std::string& text : lengths_) {
      const Result<Tokens> length = read_token_flag(console, "--lengths", text);
      if (!length) return length.errors().front();
      block.lengths.push_back(*length);
    }
    block.hidden = static_cast<int>(hidden_.value_or(block.hidden));
    block.heads = static_cast<int>(heads_.value_or(block.heads));
    block.kv_heads = static_cast<int>(kv_heads_.value_or(block.heads));
    block.head_dim = static_cast<int>(head_dim_.value_or(block.head_dim));
    block.ffn = static_cast<int>(ffn_.value_or(block.ffn));
    block.layers = static_cast<int>(layers_.value_or(block.layers));
    return kernels::record_layout(block, alignment_.value_or(64));
  }

  Result<LayoutInstance> trace(Console& console) const {
    TransformerStep wanted;
    if (!model_.empty()) wanted.model = model_;
    if (!tokens_.empty()) {
      const Result<Tokens> tokens = read_token_flag(console, "--tokens", tokens_);
      if (!tokens) return tokens.errors().front();
      wanted.tokens = *tokens;
    }
    wanted.ranks = static_cast<int>(ranks_.value_or(wanted.ranks));
    wanted.kv_heads = static_cast<int>(kv_heads_.value_or(0));
    wanted.layers = one_layer_ ? 1 : static_cast<int>(layers_.value_or(0));
    wanted.whole_step = !one_layer_;
    wanted.recompute = recompute_ == "full"        ? Recompute::full
                       : recompute_ == "selective" ? Recompute::selective
                                                   : Recompute::none;
    wanted.split = split_ == "ulysses" ? SequenceSplit::ulysses : SequenceSplit::megatron;
    wanted.logit_chunks = static_cast<int>(logit_chunks_.value_or(1));
    return trace_layout(wanted, alignment_.value_or(1));
  }

  Result<LayoutInstance> drawn() const {
    LayoutGenerator wanted;
    const auto known = std::ranges::find(LayoutGenerator::kNames, kind_);
    wanted.kind = static_cast<LayoutGenerator::Kind>(known - LayoutGenerator::kNames.begin());
    wanted.buffers = buffers_.value_or(wanted.buffers);
    wanted.steps = steps_.value_or(wanted.steps);
    wanted.lifetime = lifetime_;
    wanted.bytes = bytes_.value_or(wanted.bytes);
    wanted.unit = unit_.value_or(1);
    wanted.alignment = alignment_.value_or(1);
    wanted.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    Result<GeneratedLayout> made = generate_layout(wanted);
    if (!made) return made.errors();
    return (*std::move(made)).instance;
  }

  std::string output_;
  std::string kind_;
  std::string model_;
  std::string tokens_;
  std::string recompute_;
  std::string split_;
  std::string name_;
  bool one_layer_ = false;
  bool from_kernels_ = false;
  std::vector<std::string> lengths_;
  std::optional<std::int64_t> hidden_;
  std::optional<std::int64_t> heads_;
  std::optional<std::int64_t> head_dim_;
  std::optional<std::int64_t> ffn_;
  std::optional<std::int64_t> ranks_;
  std::optional<std::int64_t> kv_heads_;
  std::optional<std::int64_t> layers_;
  std::optional<std::int64_t> logit_chunks_;
  std::optional<std::int64_t> buffers_;
  std::optional<std::int64_t> steps_;
  std::optional<std::int64_t> lifetime_;
  std::optional<std::int64_t> bytes_;
  std::optional<std::int64_t> unit_;
  std::optional<std::int64_t> alignment_;
  std::optional<std::int64_t> seed_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_layout_command() {
  return std::make_unique<GenerateLayoutCommand>();
}

}  // namespace stowage
