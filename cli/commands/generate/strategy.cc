// stowage generate strategy: a published model on a cluster, with lengths of a step.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands/generate/generated.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/trainers.h"

namespace stowage {
namespace {

constexpr std::int64_t kDrawnSequences = 256;
constexpr Tokens kTokens = 8192;

class GenerateStrategyCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "generate strategy",
        .arguments = "[-o INSTANCE]",
        .summary = "Make a model on a cluster whose configuration is to be chosen",
        .examples = {"stowage generate strategy --preset llama-7b --nodes 8 -o strategy.json",
                     "stowage generate strategy --preset llama3-70b --machine h100 --sequences 64 "
                     "--tokens 32768",
                     "stowage generate strategy --lengths lengths.txt --sequences 64"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    std::vector<std::string> models;
    for (const std::string_view model : transformer_names()) models.emplace_back(model);
    model_ = StrategyGenerator().model;
    flags.choice("--preset", model_, models, "Published model; default " + model_);
    const std::vector<std::string_view> machines = machine_names();
    flags.choice("--machine", machine_, {machines.begin(), machines.end()},
                 "GPUs of the nodes; default A100s of 80 GB");
    const std::vector<std::string_view> stacks = stack_names();
    flags.choice("--stack", stack_, {stacks.begin(), stacks.end()},
                 "Software whose published steps the rates fit; default none: rates are assumed");
    const std::vector<std::string_view> trainers = strategy_trainers();
    flags.choice("--trainer", trainer_, {trainers.begin(), trainers.end()},
                 "Propose no configuration that this trainer refuses");
    flags.integer("--formulas", formulas_, "N", 1, 4,
                  "Version of the formulas for time and memory and of their defaults; default 4");
    flags.integer("--nodes", nodes_, "N", 1, 100'000, "Nodes; default 8");
    flags.integer("--devices-per-node", per_node_, "N", 1, 1024, "Devices of a node; default 8");
    flags.integer("--memory-mib", memory_mib_, "MIB", 1, std::int64_t{1} << 40,
                  "Memory of a device; default the machine's");
    flags.list("--cp-exchange", cp_exchange_, "KIND,...",
               "How ranks of cp exchange: all_to_all, ring; default all_to_all");
    flags.list("--shard", shard_, "A,B,...",
               "Ranks that share the states of ZeRO; 0 means all of dp cp; default 0");
    flags.integer("--stream-chunks", stream_chunks_, "N", 1, 1024,
                  "Chunks of a layer's passes with full recomputation: powers of two up to N; "
                  "default 1");
    flags.number("--offload", offload_, "MIB_PER_MS", kLeastDivisor, 1e9,
                 "Activations may leave for the host, at this rate of a GPU each way");
    flags.integer("--sequences", sequences_, "N", 1, kMaxSequences,
                  "Sequences of the step; default 256, or all of a file");
    flags.text("--tokens", tokens_, "TOKENS", "Tokens of each sequence; default 8192");
    flags.text("--lengths", lengths_, "FILE", "A file of lengths (see convert) instead");
    column_.declare(flags);
    flags.text("--name", name_, "NAME", "Name of the instance; default says what it is made of");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (!lengths_.empty() && !tokens_.empty()) {
      return console.refuse({kUsage, "--tokens", "has no effect with --lengths"});
    }
    if (column_.given() && lengths_.empty()) {
      return console.refuse({kUsage, "--column", "has no effect without --lengths"});
    }
    if (auto error = check_output("--output", output_, {lengths_})) return console.refuse(*error);
    const Result<std::vector<std::int64_t>> shard = shard_values();
    if (!shard) return console.refuse(shard.errors().front());
    const Result<std::vector<StrategyExchange>> exchanges = exchange_values();
    if (!exchanges) return console.refuse(exchanges.errors().front());
    StatusLine(console).tell("reading   lengths");
    Loaded<std::vector<Tokens>> lengths = lengths_of(console);
    if (!lengths.value) return console.refuse(lengths.errors);
    StrategyGenerator generator{.model = model_, .name = name_};
    generator.machine = machine_;
    generator.stack = stack_;
    generator.trainer = trainer_;
    generator.formulas = formulas_.value_or(generator.formulas);
    generator.nodes = nodes_.value_or(generator.nodes);
    generator.devices_per_node = per_node_.value_or(generator.devices_per_node);
    generator.memory_mib = memory_mib_;
    generator.shard = *shard;
    generator.cp_exchange = *exchanges;
    generator.offload_mib_per_ms = offload_;
    generator.most_stream_chunks = stream_chunks_.value_or(generator.most_stream_chunks);
    Result<StrategyInstance> made = generate_strategy(generator, *std::move(lengths.value));
    if (!made) return console.refuse(as_flag_errors(made.errors()));
    return put_instance(console, *made, write_strategy_instance(*made), output_);
  }

 private:
  Loaded<std::vector<Tokens>> lengths_of(Console& console) const {
    if (!lengths_.empty()) return column_.read_at(console, lengths_, {.count = sequences_});
    Tokens tokens = kTokens;
    if (!tokens_.empty()) {
      const Result<Tokens> read = read_token_flag(console, "--tokens", tokens_);
      if (!read) return {std::nullopt, errors_in("", read.errors())};
      tokens = *read;
    }
    const auto sequences = static_cast<std::size_t>(sequences_.value_or(kDrawnSequences));
    return {std::vector<Tokens>(sequences, tokens), {}};
  }

  Result<std::vector<StrategyExchange>> exchange_values() const {
    if (cp_exchange_.empty()) return StrategyGenerator().cp_exchange;
    std::vector<StrategyExchange> values;
    for (const std::string& text : cp_exchange_) {
      const auto found = std::ranges::find(kStrategyExchanges, text);
      if (found == kStrategyExchanges.end()) {
        return InputError{kUsage, "--cp-exchange",
                          "must be all_to_all or ring, has '" + text + "'"};
      }
      values.push_back(static_cast<StrategyExchange>(found - kStrategyExchanges.begin()));
    }
    return values;
  }

  Result<std::vector<std::int64_t>> shard_values() const {
    if (shard_.empty()) return StrategyGenerator().shard;
    std::vector<std::int64_t> values;
    for (const std::string& text : shard_) {
      std::int64_t value = 0;
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, value);
      if (read.ec != std::errc() || read.ptr != end || value < 0 || value > kMaxDevices) {
        return InputError{kUsage, "--shard",
                          "must be whole numbers from 0 to " + std::to_string(kMaxDevices) +
                              ", has '" + text + "'"};
      }
      values.push_back(value);
    }
    return values;
  }

  std::string output_;
  std::string model_;
  std::string machine_;
  std::string stack_;
  std::string trainer_;
  std::string tokens_;
  std::string lengths_;
  ColumnFlag column_;
  std::string name_;
  std::optional<std::int64_t> formulas_;
  std::optional<std::int64_t> nodes_;
  std::optional<std::int64_t> per_node_;
  std::optional<std::int64_t> memory_mib_;
  std::vector<std::string> cp_exchange_;
  std::vector<std::string> shard_;
  std::optional<double> offload_;
  std::optional<std::int64_t> stream_chunks_;
  std::optional<std::int64_t> sequences_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_strategy_command() {
  return std::make_unique<GenerateStrategyCommand>();
}

}  // namespace stowage
