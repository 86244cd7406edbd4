#include "instances/strategy/json/validate.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/strategy/fit/fit_rates.h"
#include "instances/strategy/fit/stacks.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxMeasured = 1000;  // most measured entries

// Checks experts, and the ranks that share them.
void check_experts(const StrategyInstance& instance, const JsonPath& root, ErrorList& errors) {
  const std::vector<StrategyBlock>& blocks = instance.model.blocks;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (!blocks[k].experts || blocks[k].experts->top_k <= blocks[k].experts->count) continue;
    errors.add(code::kStrategyTopK,
               root.key("model").key("blocks").index(k).key("experts").key("top_k").pointer(),
               "must be at most the " + std::to_string(blocks[k].experts->count) +
                   " experts of a layer, is " + std::to_string(blocks[k].experts->top_k));
  }
  if (std::ranges::any_of(blocks, &StrategyBlock::routed)) return;
  const std::vector<std::int64_t>& ep = instance.options.ep;
  const auto wrong = std::ranges::find_if(ep, [](std::int64_t degree) { return degree > 1; });
  if (wrong == ep.end()) return;
  errors.add(code::kStrategyNoExperts, root.key("options").key("ep").pointer(),
             "must be 1 where no block has two experts or more, has " + std::to_string(*wrong));
}

// Checks measured costs: each block exists and is listed once, with a time for each of ascending
// lengths.
void check_measured(const StrategyInstance& instance, const JsonPath& root, ErrorList& errors) {
  const std::vector<StrategyMeasured>& all = instance.cost.measured;
  const auto key_of = [](const StrategyMeasured& its) {
    return std::tuple(its.block, its.tp, its.cp, its.recompute);
  };
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, StrategyRecompute>> known;
  const JsonPath cost = root.key("cost");  // a path refers to the paths above it
  const JsonPath list = cost.key("measured");
  if (std::ssize(all) > kMaxMeasured) {
    errors.add(code::kTooManyValues, list.pointer(),
               "must be at most " + std::to_string(kMaxMeasured) + " entries, is " +
                   std::to_string(all.size()));
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    const StrategyMeasured& its = all[k];
    const JsonPath where = list.index(k);
    const auto wrong = [&](const JsonPath& place, const std::string& what) {
      errors.add(code::kStrategyMeasured, place.pointer(), what);
    };
    if (its.block >= std::ssize(instance.model.blocks)) {
      wrong(where.key("block"), "must be below the " +
                                    std::to_string(instance.model.blocks.size()) +
                                    " blocks of the model, is " + std::to_string(its.block));
    }
    if (its.tokens.empty()) {
      errors.add(code::kStrategyEmpty, where.key("tokens").pointer(),
                 "must have at least one length, is empty");
    }
    if (its.tokens.size() != its.ms.size()) {
      wrong(where.key("ms"), "must have a time for each of the " +
                                 std::to_string(its.tokens.size()) + " lengths, has " +
                                 std::to_string(its.ms.size()));
    }
    if (std::ranges::adjacent_find(its.tokens, std::greater_equal()) != its.tokens.end()) {
      wrong(where.key("tokens"), "must ascend");
    }
    if (!known.insert(key_of(its)).second) {
      wrong(where, "must be the only one of its block, tp, cp and recompute, is another");
    }
  }
}

// Checks the label of the rates: the stack and the rates in it exist.
void check_rates(const StrategyInstance& instance, const JsonPath& root, ErrorList& errors) {
  if (!instance.cost.rates) return;
  const StrategyRates& rates = *instance.cost.rates;
  const JsonPath cost = root.key("cost");
  const JsonPath label = cost.key("rates");
  const std::vector<std::string_view> stacks = stack_names();
  const bool needed = rates.source == StrategyRateSource::stack;
  if (needed || !rates.stack.empty()) {
    if (std::ranges::find(stacks, rates.stack) == stacks.end()) {
      errors.add(code::kStrategyRates, label.key("stack").pointer(),
                 std::string("must be a stack of published steps") +
                     (needed ? ", which the source \"stack\" needs" : "") + ", is " +
                     in_quotes(rates.stack) + did_you_mean(rates.stack, stacks));
    }
  }
  const JsonPath kept = label.key("kept");
  std::int64_t index = 0;
  for (const std::string& name : rates.kept) {
    const JsonPath where = kept.index(index++);
    if (std::ranges::find(rate_names(), name) != rate_names().end()) continue;
    errors.add(
        code::kStrategyRates, where.pointer(),
        "must be the key of a rate, is " + in_quotes(name) + did_you_mean(name, rate_names()));
  }
}

}  // namespace

void check_strategy(const StrategyInstance& instance, const JsonPath& root, ErrorList& errors) {
  const auto must_hold = [&](bool empty, const JsonPath& where, const char* what) {
    if (empty) {
      errors.add(code::kStrategyEmpty, where.pointer(),
                 std::string("must have at least one ") + what + ", is empty");
    }
  };
  const JsonPath model = root.key("model");
  const JsonPath options = root.key("options");
  must_hold(instance.model.blocks.empty(), model.key("blocks"), "block");
  must_hold(instance.lengths.empty(), root.key("lengths"), "sequence");
  std::int64_t layers = 0;
  for (const StrategyBlock& block : instance.model.blocks) layers += block.count;
  if (layers > kMaxLayers) {
    errors.add(
        code::kTooManyValues, model.key("blocks").pointer(),
        "must be at most " + std::to_string(kMaxLayers) + " layers, is " + std::to_string(layers));
  }
  const std::int64_t devices = instance.cluster.nodes * instance.cluster.devices_per_node;
  if (devices > kMaxDevices) {
    errors.add(code::kStrategyDevices, root.key("cluster").pointer(),
               "must have at most " + std::to_string(kMaxDevices) + " devices, has " +
                   std::to_string(devices));
  }
  const StrategyOptions& its = instance.options;
  const auto check_list = [&](std::size_t size, const char* key, bool may_be_empty) {
    must_hold(size == 0 && !may_be_empty, options.key(key), "value");
    if (size <= static_cast<std::size_t>(kMaxOptionValues)) return;
    errors.add(code::kTooManyValues, options.key(key).pointer(),
               "must be at most " + std::to_string(kMaxOptionValues) + " values, is " +
                   std::to_string(size));
  };
  check_list(its.pp.size(), "pp", false);
  check_list(its.v.size(), "v", false);
  check_list(its.tp.size(), "tp", false);
  check_list(its.cp.size(), "cp", false);
  check_list(its.ep.size(), "ep", false);
  check_list(its.shard.size(), "shard", false);
  check_list(its.cp_exchange.size(), "cp_exchange", false);
  check_list(its.zero.size(), "zero", false);
  check_list(its.recompute.size(), "recompute", false);
  check_list(its.logit_chunks.size(), "logit_chunks", false);
  check_list(its.stream_chunks.size(), "stream_chunks", false);
  check_list(its.micro_batches.size(), "micro_batches", true);
  check_experts(instance, root, errors);
  check_measured(instance, root, errors);
  check_rates(instance, root, errors);
}

}  // namespace stowage
