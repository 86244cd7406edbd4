// Reads, checks and completes a configuration that a user states.
#include "instances/strategy/configuration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/price.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

// A bare plan. Degrees that are not stated are 1; ZeRO and recomputation are off.
struct StatedConfiguration {
  std::string name;
  std::int64_t pp = 1;
  std::int64_t v = 1;
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  StrategyExchange cp_exchange = StrategyExchange::all_to_all;
  std::int64_t ep = 1;
  std::int64_t shard = 0;          // 0 means all ranks of dp cp
  std::optional<std::int64_t> dp;  // no value: the devices that the other degrees leave
  std::optional<std::int64_t> micro_batches;
  std::optional<std::int64_t> micro_batch_size;  // sequences per micro-batch and replica
  StageChoice choice;
  std::vector<std::int64_t> layers;  // of each stage; empty: the same number in each
};

constexpr IntegerRange kStatedCount = {1, kMaxExact};
// Most stages of a stated list of layers.
constexpr std::int64_t kMaxStatedStages = 1024;

// Finds the errors of values that are valid one by one.
class Completion {
 public:
  Completion(const StrategyInstance& instance, const StatedConfiguration& stated,
             std::string_view before)
      : instance_(instance), stated_(stated), before_(before) {}

  Result<StrategyPlan> plan() {
    check_devices();
    check_micro_batches();
    check_layers();
    if (!errors_.empty()) return errors_;
    const StrategyClass its{stated_.pp, stated_.v, micro_batches_};
    const StrategyExchange exchange =
        stated_.cp > 1 ? stated_.cp_exchange : StrategyExchange::all_to_all;
    const StrategyLayout layout{stated_.tp, stated_.cp, dp_, stated_.ep, shard_, exchange};
    const StrategyTable table(instance_);
    const StageCosts costs(table, its, layout);
    std::vector<StagePlan> stages;
    for (const std::int64_t layers : layers_) stages.push_back({layers, stated_.choice});
    StrategyPlan plan = compose_strategy(costs, stages);
    plan.name = stated_.name.empty() ? instance_.name : stated_.name;
    plan.instance_hash = instance_hash(instance_);
    return plan;
  }

 private:
  void wrong(std::string_view key, std::string message) {
    errors_.push_back({code::kStrategyConfiguration, std::string(before_) + std::string(key),
                       std::move(message)});
  }

  void check_devices() {
    const std::int64_t devices = instance_.cluster.devices();
    std::int64_t left = devices;
    for (const std::int64_t degree : {stated_.pp, stated_.tp, stated_.cp}) {
      if (left % degree != 0) left = 0;
      if (left > 0) left /= degree;
    }
    const std::string of = "the " + std::to_string(devices) + " devices";
    const std::string product = "pp " + std::to_string(stated_.pp) + ", tp " +
                                std::to_string(stated_.tp) + " and cp " +
                                std::to_string(stated_.cp);
    if (left == 0) {
      wrong("pp", "must divide " + of + " together with tp and cp, is " + product);
    } else if (stated_.dp && *stated_.dp != left) {
      wrong("dp", "must be " + std::to_string(left) + ", which " + of + " leave beside " + product +
                      ", is " + std::to_string(*stated_.dp));
    }
    dp_ = left;
    check_shard();
  }

  void check_shard() {
    const std::int64_t ranks = dp_ * stated_.cp;
    shard_ = stated_.shard == ranks ? 0 : stated_.shard;
    if (ranks == 0 || shard_ == 0) return;
    if (ranks % shard_ == 0 && shard_ % stated_.ep == 0) return;
    wrong("shard", "must divide the " + std::to_string(ranks) +
                       " ranks of dp and cp and be a multiple of ep " + std::to_string(stated_.ep) +
                       ", is " + std::to_string(shard_));
  }

  void check_micro_batches() {
    if (!stated_.micro_batches && !stated_.micro_batch_size) {
      return wrong("micro_batches", "must be given, or micro_batch_size, is neither");
    }
    if (dp_ == 0) return;
    const std::int64_t sequences = std::ssize(instance_.lengths);
    const std::string of = "the " + std::to_string(sequences) + " sequences of the step";
    if (sequences % dp_ != 0) {
      return wrong("dp", "must divide " + of + ", is " + std::to_string(dp_));
    }
    const std::int64_t share = sequences / dp_;  // sequences of a replica
    const std::string of_share = "the " + std::to_string(share) + " sequences of each of " +
                                 std::to_string(dp_) + " replicas";
    micro_batches_ = stated_.micro_batches.value_or(1);
    if (stated_.micro_batches && share % *stated_.micro_batches != 0) {
      return wrong("micro_batches",
                   "must divide " + of_share + ", is " + std::to_string(*stated_.micro_batches));
    }
    if (!stated_.micro_batch_size) return;
    if (share % *stated_.micro_batch_size != 0) {
      return wrong("micro_batch_size",
                   "must divide " + of_share + ", is " + std::to_string(*stated_.micro_batch_size));
    }
    const std::int64_t count = share / *stated_.micro_batch_size;
    if (stated_.micro_batches && *stated_.micro_batches != count) {
      return wrong("micro_batch_size", "must be " + std::to_string(share / *stated_.micro_batches) +
                                           " beside " + std::to_string(*stated_.micro_batches) +
                                           " micro-batches, is " +
                                           std::to_string(*stated_.micro_batch_size));
    }
    micro_batches_ = count;
  }

  void check_layers() {
    const std::int64_t all = StrategyTable(instance_).layers();
    if (stated_.pp > std::min(all, kMaxStatedStages)) {
      return wrong("pp", "must be at most the " + std::to_string(all) + " layers and " +
                             std::to_string(kMaxStatedStages) + ", is " +
                             std::to_string(stated_.pp));
    }
    if (stated_.layers.empty()) {
      layers_ = dealt_layers(all, stated_.pp);
      return;
    }
    layers_ = stated_.layers;
    if (std::ssize(layers_) != stated_.pp) {
      return wrong("layers", "must have a number for each of " + std::to_string(stated_.pp) +
                                 " stages, has " + std::to_string(layers_.size()));
    }
    const std::int64_t sum = std::accumulate(layers_.begin(), layers_.end(), std::int64_t{0});
    if (sum != all) {
      wrong("layers", "must add up to the " + std::to_string(all) + " layers of the model, is " +
                          std::to_string(sum));
    }
  }

  const StrategyInstance& instance_;
  const StatedConfiguration& stated_;
  std::string_view before_;  // prefix of a key in a pointer
  std::vector<InputError> errors_;
  std::int64_t dp_ = 0;
  std::int64_t shard_ = 0;
  std::int64_t micro_batches_ = 1;
  std::vector<std::int64_t> layers_;
};

constexpr std::array<std::string_view, 14> kStatedKeys = {"pp",
                                                          "v",
                                                          "tp",
                                                          "cp",
                                                          "dp",
                                                          "ep",
                                                          "shard",
                                                          "cp_exchange",
                                                          "zero",
                                                          "recompute",
                                                          "stream_chunks",
                                                          "micro_batches",
                                                          "micro_batch_size",
                                                          "layers"};

// Returns the place of a key's integer; null for a key whose value is not an integer.
std::int64_t* stated_integer(StatedConfiguration& stated, std::string_view key) {
  const std::array<std::pair<std::string_view, std::int64_t*>, 8> all = {
      {{"pp", &stated.pp},
       {"v", &stated.v},
       {"tp", &stated.tp},
       {"cp", &stated.cp},
       {"ep", &stated.ep},
       {"shard", &stated.shard},
       {"zero", &stated.choice.zero},
       {"stream_chunks", &stated.choice.stream_chunks}}};
  for (const auto& [name, place] : all) {
    if (name == key) return place;
  }
  if (key == "dp") return &stated.dp.emplace();
  if (key == "micro_batches") return &stated.micro_batches.emplace();
  if (key == "micro_batch_size") return &stated.micro_batch_size.emplace();
  return nullptr;
}

std::optional<std::int64_t> integer_word(std::string_view text, IntegerRange range) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < range.least || value > range.most) return std::nullopt;
  return value;
}

class WordReader {
 public:
  StatedConfiguration stated;
  std::vector<InputError> errors;

  void read(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (std::ranges::find(kStatedKeys, key) == kStatedKeys.end()) {
      return wrong(key, "must be one of " + listed() + ", is " + in_quotes(key) +
                            did_you_mean(key, kStatedKeys));
    }
    if (equals == std::string_view::npos) {
      return wrong(key, "must be followed by = and a value, is " + in_quotes(word));
    }
    if (std::ranges::find(seen_, key) != seen_.end()) {
      return wrong(key, "must be given once, is given again as " + in_quotes(word));
    }
    seen_.push_back(key);
    const std::string_view value = word.substr(equals + 1);
    if (key == "recompute") return read_recompute(value);
    if (key == "cp_exchange") return read_exchange(value);
    if (key == "layers") return read_layers(value);
    const IntegerRange range = key == "zero"    ? IntegerRange{0, kMaxZero}
                               : key == "shard" ? IntegerRange{0, kMaxExact}
                                                : kStatedCount;
    const std::optional<std::int64_t> number = integer_word(value, range);
    if (!number) return wrong(key, must_be(range) + ", is " + in_quotes(value));
    *stated_integer(stated, key) = *number;
  }

 private:
  static std::string must_be(IntegerRange range) {
    return "must be an integer from " + std::to_string(range.least) + " to " +
           std::to_string(range.most);
  }

  static std::string listed() {
    std::string list;
    for (const std::string_view key : kStatedKeys) {
      list += (list.empty() ? "" : ", ") + std::string(key);
    }
    return list;
  }

  void wrong(std::string_view key, std::string message) {
    errors.push_back({code::kStrategyConfiguration, std::string(key), std::move(message)});
  }

  void read_recompute(std::string_view value) {
    const auto found = std::ranges::find(kStrategyRecomputes, value);
    if (found == kStrategyRecomputes.end()) {
      return wrong("recompute", "must be none, selective or full, is " + in_quotes(value));
    }
    stated.choice.recompute = static_cast<StrategyRecompute>(found - kStrategyRecomputes.begin());
  }

  void read_exchange(std::string_view value) {
    const auto found = std::ranges::find(kStrategyExchanges, value);
    if (found == kStrategyExchanges.end()) {
      return wrong("cp_exchange", "must be all_to_all or ring, is " + in_quotes(value));
    }
    stated.cp_exchange = static_cast<StrategyExchange>(found - kStrategyExchanges.begin());
  }

  // Reads "7:9:9:7".
  void read_layers(std::string_view value) {
    for (;;) {
      const std::size_t end = value.find(':');
      const std::optional<std::int64_t> number =
          integer_word(value.substr(0, end), {1, kMaxLayers});
      if (!number) {
        return wrong("layers", "must be layers of each stage with : between them, from 1 to " +
                                   std::to_string(kMaxLayers) + ", has " +
                                   in_quotes(value.substr(0, end)));
      }
      stated.layers.push_back(*number);
      if (end == std::string_view::npos) return;
      value.remove_prefix(end + 1);
    }
  }

  std::vector<std::string_view> seen_;
};

}  // namespace

template <class Visitor, Of<StatedConfiguration> Stated>
void fields(Visitor& v, Stated& stated) {
  v.head("stowage/plan", "strategy", stated.name);
  v.optional("pp", stated.pp, kStatedCount);
  v.optional("v", stated.v, kStatedCount);
  v.optional("tp", stated.tp, kStatedCount);
  v.optional("cp", stated.cp, kStatedCount);
  v.optional("dp", stated.dp, kStatedCount);
  v.optional("ep", stated.ep, kStatedCount);
  v.optional("shard", stated.shard, {0, kMaxExact});
  v.choice("cp_exchange", stated.cp_exchange, kStrategyExchanges, false);
  v.optional("zero", stated.choice.zero, {0, kMaxZero});
  v.choice("recompute", stated.choice.recompute, kStrategyRecomputes, false);
  v.optional("stream_chunks", stated.choice.stream_chunks, kStatedCount);
  v.optional("micro_batches", stated.micro_batches, kStatedCount);
  v.optional("micro_batch_size", stated.micro_batch_size, kStatedCount);
  v.optional("layers", stated.layers, {1, kMaxLayers});
}

Result<StrategyPlan> complete_strategy_plan(std::string_view text,
                                            const StrategyInstance& instance) {
  ErrorList ignored;  // read_strategy_plan() finds them again
  const auto head =
      parse_json_head(text, {"format", "instance_hash", "objective_ms", "stages"}, ignored);
  const JsonValue* format = head ? head->find("format") : nullptr;
  const bool bare = format != nullptr && format->string() != nullptr &&
                    *format->string() == "stowage/plan" && head->find("instance_hash") == nullptr &&
                    head->find("objective_ms") == nullptr && head->find("stages") == nullptr;
  if (!bare) return read_strategy_plan(text);
  const Result<StatedConfiguration> stated =
      read_document(text, [](const JsonValue& document, ErrorList& errors) {
        StatedConfiguration its;
        const JsonPath root;
        read_fields(document, root, errors, its);
        return its;
      });
  if (!stated) return stated.errors();
  return Completion(instance, *stated, "/").plan();
}

Result<StrategyPlan> read_configuration(std::string_view text, const StrategyInstance& instance) {
  WordReader reader;
  for (;;) {
    const std::size_t end = text.find(',');
    reader.read(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (!reader.errors.empty()) return std::move(reader.errors);
  return Completion(instance, reader.stated, "").plan();
}

StrategyInstance with_options_of(StrategyInstance instance, const StrategyPlan& plan) {
  StrategyOptions& options = instance.options;
  const auto allow = [](auto& values, auto value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  allow(options.pp, plan.pp);
  allow(options.v, plan.v);
  allow(options.tp, plan.tp);
  allow(options.cp, plan.cp);
  allow(options.ep, plan.ep);
  allow(options.shard, plan.shard);
  allow(options.cp_exchange, plan.cp_exchange);
  allow(options.logit_chunks, plan.logit_chunks);
  if (!options.micro_batches.empty()) allow(options.micro_batches, plan.micro_batches);
  for (const StrategyStage& stage : plan.stages) {
    if (plan.pp > 1) options.pipeline_zero = std::max(options.pipeline_zero, stage.zero);
    allow(options.zero, stage.zero);
    allow(options.recompute, stage.recompute);
    allow(options.stream_chunks, stage.stream_chunks);
  }
  return instance;
}

}  // namespace stowage
