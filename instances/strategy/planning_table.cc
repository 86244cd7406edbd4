#include "instances/strategy/planning_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stowage {
namespace {

std::vector<std::int64_t> sorted(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    found.push_back(d);
    found.push_back(number / d);
  }
  return sorted(std::move(found));
}

}  // namespace

StrategyTable::StrategyTable(const StrategyInstance& instance) : instance_(instance) {
  const auto is_measured = [&](std::int64_t block) {
    return std::ranges::find(instance.cost.measured, block, &StrategyMeasured::block) !=
           instance.cost.measured.end();
  };
  for (std::size_t k = 0; k < instance.model.blocks.size(); ++k) {
    const StrategyBlock& block = instance.model.blocks[k];
    const auto number = static_cast<std::int64_t>(k);
    const StrategyLayer layer = layer_of(instance.model, block, instance.cost.detail.has_value());
    const std::int64_t first = runs_.empty() ? 0 : layers();
    if (runs_.empty() || runs_.back().layer != layer || is_measured(number) ||
        is_measured(runs_.back().block)) {
      runs_.push_back({first, first, layer, number});
    }
    runs_.back().end += block.count;
    if (block.routed()) common_experts_ = std::gcd(common_experts_, block.experts->count);
  }
  for (const Tokens length : instance.lengths) {
    tokens_ += length;
    squares_ += static_cast<double>(length) * static_cast<double>(length);
    longest_ = std::max(longest_, length);
  }
  const StrategyOptions& options = instance.options;
  tp_ = sorted(options.tp);
  cp_ = sorted(options.cp);
  ep_ = sorted(options.ep);
  shard_ = sorted(options.shard);
  logit_chunks_ = sorted(options.logit_chunks);
  std::vector<StrategyRecompute> recomputes = options.recompute;
  std::sort(recomputes.begin(), recomputes.end());
  recomputes.erase(std::unique(recomputes.begin(), recomputes.end()), recomputes.end());
  for (const std::int64_t zero : sorted(options.zero)) {
    for (const StrategyRecompute recompute : recomputes) {
      if (recompute != StrategyRecompute::full) {
        choices_.push_back({zero, recompute});
        continue;
      }
      for (const std::int64_t chunks : sorted(options.stream_chunks)) {
        choices_.push_back({zero, recompute, chunks});
      }
    }
  }
  of_pipelines_ = static_cast<std::size_t>(std::ranges::count_if(
      choices_, [&](const StageChoice& each) { return each.zero <= options.pipeline_zero; }));
  const std::int64_t sequences = std::ssize(instance.lengths);
  std::vector<std::int64_t> counts = divisors(sequences);
  if (!options.micro_batches.empty()) {
    std::vector<std::int64_t> wanted = sorted(options.micro_batches);
    std::erase_if(wanted, [&](std::int64_t m) { return sequences % m != 0; });
    counts = std::move(wanted);
  }
  for (const std::int64_t pp : sorted(options.pp)) {
    if (instance.cluster.devices() % pp != 0 || (pp > 1 && of_pipelines_ == 0)) continue;
    for (const std::int64_t v : sorted(options.v)) {
      if (!may_deal(pp, v)) continue;
      for (const std::int64_t m : counts) {
        const StrategyClass its{pp, v, m};
        if (v > 1 && m % pp != 0) continue;
        if (!layouts(its).empty()) classes_.push_back(its);
      }
    }
  }
}

bool StrategyTable::may_deal(std::int64_t pp, std::int64_t v) const {
  if (v == 1) return pp <= layers();
  if (pp == 1) return false;
  if (!equal_layers()) return layers() % (pp * v) == 0;
  // Neither, one or both of embedding and head count as layers.
  for (std::int64_t more = 0; more <= (has_vocabulary() ? 2 : 0); ++more) {
    if ((layers() + more) % v == 0 && pp * v <= layers() + more) return true;
  }
  return false;
}

std::vector<StrategyLayout> StrategyTable::layouts(const StrategyClass& its) const {
  std::vector<StrategyLayout> found;
  const std::int64_t devices = instance_.cluster.devices() / its.pp;
  const std::int64_t sequences = std::ssize(instance_.lengths);
  for (const std::int64_t tp : tp_) {
    for (const std::int64_t cp : cp_) {
      const std::int64_t ranks = tp * cp;  // at most 10^12
      if (devices % ranks != 0) continue;
      const std::int64_t dp = devices / ranks;
      if (sequences % (its.micro_batches * dp) != 0) continue;
      for (const StrategyExchange exchange : exchanges(tp, cp)) {
        for (const std::int64_t ep : ep_) {
          const StrategyLayout layout{tp, cp, dp, ep};
          if (!may_share_experts(layout)) continue;
          for (const std::int64_t shard : shards_of(layout)) {
            found.push_back({tp, cp, dp, ep, shard, exchange});
          }
        }
      }
    }
  }
  return found;
}

// Version 2: a rank has whole heads of keys and values, or ranks that share a head repeat it.
bool StrategyTable::may_share_heads(std::int64_t tp, std::int64_t cp) const {
  if (instance_.model.heads % (tp * cp) != 0) return false;
  const std::int64_t pairs = instance_.model.key_value_heads();
  if (!instance_.cost.detail || pairs == 0) return true;
  const auto fits = [&](std::int64_t ranks) { return pairs % ranks == 0 || ranks % pairs == 0; };
  return fits(tp) && fits(tp * cp);
}

std::vector<StrategyExchange> StrategyTable::exchanges(std::int64_t tp, std::int64_t cp) const {
  const auto listed = [&](StrategyExchange exchange) {
    return std::ranges::find(instance_.options.cp_exchange, exchange) !=
           instance_.options.cp_exchange.end();
  };
  std::vector<StrategyExchange> found;
  if ((cp == 1 || listed(StrategyExchange::all_to_all)) && may_share_heads(tp, cp)) {
    found.push_back(StrategyExchange::all_to_all);
  }
  if (cp > 1 && listed(StrategyExchange::ring) && may_share_heads(tp, 1)) {
    found.push_back(StrategyExchange::ring);
  }
  return found;
}

// As in Megatron-LM, ep ranks take the place of some of dp cp, each with the same number of experts
// of every layer. Without sequence parallelism, tp ranks all have a token and would send it tp
// times.
bool StrategyTable::may_share_experts(const StrategyLayout& layout) const {
  if (layout.ep == 1) return true;
  if (common_experts_ == 0 || common_experts_ % layout.ep != 0) return false;
  if (layout.dp * layout.cp % layout.ep != 0) return false;
  return layout.tp == 1 || instance_.model.sequence_parallel;
}

std::vector<std::int64_t> StrategyTable::shards_of(const StrategyLayout& layout) const {
  const std::int64_t all = layout.dp * layout.cp;
  std::vector<std::int64_t> found;
  for (const std::int64_t shard : shard_) {
    if (shard == 0 || shard == all) {
      if (found.empty() || found.front() != 0) found.insert(found.begin(), 0);
    } else if (shard < all && all % shard == 0 && shard % layout.ep == 0) {
      found.push_back(shard);
    }
  }
  return found;
}

}  // namespace stowage
