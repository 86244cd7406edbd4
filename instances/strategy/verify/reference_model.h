// The time and memory of a configuration of a strategy instance, computed from the instance alone,
// layer by layer, in bytes and seconds. The verifier of strategies and the checks of its proofs use
// it; planners do not. Not installed.
//
//   const StrategyReferenceModel truth(instance);
//   const StrategyReferenceModel::Stage stage =
//       truth.stage(setting, s, layers_of_it, zero, recompute, stream_chunks, logit_chunks);
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/verify/reference_costs.h"

namespace stowage {

class StrategyReferenceModel : public StrategyReferenceCosts {
 public:
  struct Stage {
    Ms time_ms = 0;
    Ms longest_ms = 0;
    Ms exchange_ms = 0;
    Mib memory_mib = 0;
    Ms update_ms = 0;
    Ms work_ms = 0;      // time_ms without waits for copies
    Mib all_mib = 0;     // activations of all rows in flight
    double on_host = 0;  // least share of them that must be on the host
  };

  explicit StrategyReferenceModel(const StrategyInstance& instance)
      : StrategyReferenceCosts(instance), in_(instance) {}

  // Returns the numbers of parts that layers with this recomputation may be cut into.
  const std::vector<std::int64_t>& stream_chunks(StrategyRecompute recompute) const {
    return recompute == StrategyRecompute::full ? in_.options.stream_chunks : kWhole;
  }

  // Returns whether ep ranks of those of dp and cp may hold different experts.
  bool may_share_experts(const Setting& at) const {
    if (at.ep == 1) return true;
    bool some = false;
    for (std::int64_t k = 0; k < layers(); ++k) {
      const LayerReference& layer = layer_at(k);
      if (layer.experts == 0) continue;
      some = true;
      if (std::fmod(layer.experts, double_of(at.ep)) != 0) return false;
    }
    return some && at.dp * at.cp % at.ep == 0 && (in_.model.sequence_parallel || at.tp < 2);
  }

  // Returns whether each of tp cp ranks has whole heads, also of keys and values, or a copy of one
  // of these.
  bool may_share_heads(std::int64_t tp, std::int64_t cp) const {
    if (in_.model.heads % (tp * cp) != 0) return false;
    const std::int64_t all = in_.model.query_width.value_or(in_.model.hidden);
    const std::int64_t of_pairs = in_.model.kv_width.value_or(in_.model.hidden);
    if (!in_.cost.detail || all % in_.model.heads != 0) return true;
    const std::int64_t head = all / in_.model.heads;
    if (of_pairs % head != 0) return true;
    const std::int64_t pairs = of_pairs / head;
    const std::int64_t ranks = tp * cp;
    return (tp % pairs == 0 || pairs % tp == 0) && (ranks % pairs == 0 || pairs % ranks == 0);
  }

  // Returns whether cp ranks, each with tp that share heads, may exchange in this way. One rank
  // does not exchange, which counts as an all-to-all.
  bool may_exchange(std::int64_t tp, std::int64_t cp, StrategyExchange exchange) const {
    const auto& listed = in_.options.cp_exchange;
    const bool known = std::count(listed.begin(), listed.end(), exchange) > 0;
    if (exchange == StrategyExchange::ring) return cp > 1 && known && may_share_heads(tp, 1);
    return exchange == StrategyExchange::all_to_all && (cp == 1 || known) &&
           may_share_heads(tp, cp);
  }

  // Returns the numbers of ranks among which the options let ZeRO divide states.
  std::set<std::int64_t> sharding_ranks(const Setting& at) const {
    std::set<std::int64_t> all;
    for (const std::int64_t ranks : in_.options.shard) {
      const std::int64_t wanted = ranks == 0 ? at.dp * at.cp : ranks;
      if (wanted % at.ep == 0 && at.dp * at.cp % wanted == 0) all.insert(wanted);
    }
    return all;
  }

  // Returns every class and layout that the options allow, with any memory; by class.
  std::vector<Setting> settings() const {
    const auto sequences = static_cast<std::int64_t>(in_.lengths.size());
    std::vector<Setting> all;
    const std::set<std::int64_t> tps(in_.options.tp.begin(), in_.options.tp.end());
    const std::set<std::int64_t> cps(in_.options.cp.begin(), in_.options.cp.end());
    const std::set<std::int64_t> eps(in_.options.ep.begin(), in_.options.ep.end());
    for (const auto& [pp, v, m] : pipelines()) {
      for (const std::int64_t tp : tps) {
        for (const std::int64_t cp : cps) {
          const std::int64_t stage = in_.cluster.nodes * in_.cluster.devices_per_node / pp;
          if (stage % (tp * cp) != 0) continue;
          const std::int64_t dp = stage / (tp * cp);
          if (sequences % (m * dp) != 0) continue;
          for (const std::int64_t ep : eps) {
            const Setting setting{pp, v, m, tp, cp, dp, ep};
            if (!may_share_experts(setting)) continue;
            for (const std::int64_t ranks : sharding_ranks(setting)) {
              const std::int64_t shard = ranks == dp * cp ? 0 : ranks;
              for (const StrategyExchange exchange : kBoth) {
                if (!may_exchange(tp, cp, exchange)) continue;
                all.push_back({pp, v, m, tp, cp, dp, ep, shard, exchange});
              }
            }
          }
        }
      }
    }
    return all;
  }

  // Returns the layers of stage s, which has `count` of them if stages before it have `before`.
  std::vector<std::int64_t> layers_of(const Setting& at, std::int64_t s, std::int64_t before,
                                      std::int64_t count) const {
    std::vector<std::int64_t> its;
    if (at.v == 1 || !layers_differ()) {
      for (std::int64_t k = 0; k < count; ++k) its.push_back(before + k);
      return its;
    }
    const std::int64_t part = layers() / at.pp / at.v;
    for (std::int64_t round = 0; round < at.v; ++round) {
      for (std::int64_t k = 0; k < part; ++k) its.push_back((round * at.pp + s) * part + k);
    }
    return its;
  }

  // Returns whether stage s may have `count` layers in its chunks. If layers are equal, the
  // embedding may count as a layer of the first chunk, and the head as a layer of the last.
  bool may_hold(const Setting& at, std::int64_t s, std::int64_t count) const {
    if (count < 1 || at.v < 1) return false;
    if (at.v == 1) return true;
    if (layers_differ()) {
      const bool even = at.pp > 0 && layers() % at.pp == 0;
      return even && count % at.v == 0 && count == layers() / at.pp;
    }
    const bool has_end = in_.model.vocabulary > 0 && (s == 0 || s + 1 == at.pp);
    const std::int64_t left = count % at.v;
    return left == 0 || (has_end && left == at.v - 1);
  }

  // Returns the stage with `share` of its activations on the host; without a value, with the least
  // share that memory asks for and that may leave.
  Stage stage(const Setting& at, std::int64_t s, const std::vector<std::int64_t>& its,
              std::int64_t zero, StrategyRecompute recompute, std::int64_t stream_chunks,
              std::int64_t logit_chunks, std::optional<double> share = std::nullopt) const {
    const double table = double_of(in_.model.vocabulary) * double_of(in_.model.hidden);
    double kept = 0;     // weights on each device without those of experts
    double experts = 0;  // weights of experts on each device
    double largest = 0;
    for (const std::int64_t layer : its) {
      const LayerReference& own = layer_at(layer);
      const double of_experts = own.experts / double_of(at.ep) * own.one / double_of(at.tp);
      kept += own.common / double_of(at.tp);
      experts += of_experts;
      largest = std::max(largest, own.common / double_of(at.tp) + of_experts);
    }
    if (s == 0) kept += table / double_of(at.tp);
    if (s == at.pp - 1 && !(s == 0 && in_.model.tied)) kept += table / double_of(at.tp);
    // Without ZeRO, all ranks sum whole gradients, which takes as long as two collectives of parts.
    const std::int64_t all_ranks = at.dp * at.cp;
    const std::int64_t sharing = zero == 0 || at.shard == 0 ? all_ranks : at.shard;
    const double peers = double_of(sharing);
    const double expert_peers = double_of(sharing / at.ep);
    const auto depth = double_of(static_cast<std::int64_t>(its.size()));
    // The bytes of a collective, and its time.
    const double of_shared = 2 * kept * (1 - 1 / peers);
    const double of_experts = 2 * experts * (1 - 1 / expert_peers);
    const Ms once = states_ms(at, sharing, of_shared, of_experts);
    const Ms messages = messages_ms(sharing, at.tp, depth);
    Ms sums = 0;  // of gradients among the ranks with equal parts
    if (sharing != all_ranks) {
      const std::int64_t copies = all_ranks / sharing;
      const std::int64_t apart = at.tp * sharing;
      const double sent = 2 * (kept / peers + experts / expert_peers) * (1 - 1 / double_of(copies));
      const double nodes = double_of(copies) / double_of(of_node(copies, apart));
      const double tree = std::ceil(std::log2(nodes) - kWholePower);
      sums = 2 * (mib(sent) / ring(copies, apart) +
                  (in_.cost.detail ? depth * in_.cost.detail->message_ms * tree : 0));
    }
    const auto of_row = [&](double tokens, double squares) {
      const double ms = busy_ms(at, s, its, tokens, squares, recompute, stream_chunks);
      if (zero != 3) return ms;
      return ms + std::max(0.0, 3 * (once + messages) - in_.cost.overlap * ms);
    };
    const double rows = double_of(at.micro_batches) * double_of(at.dp);
    Stage stage;
    stage.time_ms = of_row(all_tokens() / rows, all_squares() / rows);
    stage.longest_ms = of_row(longest(), longest() * longest());
    stage.exchange_ms = sums + (zero == 3 ? 0 : 2 * (once + messages));
    if (in_.cost.detail) {
      const double touched = zero == 0 ? kept + experts : kept / peers + experts / expert_peers;
      stage.update_ms =
          in_.cost.detail->update_ms + memory_ms(touched * in_.cost.detail->update_bytes);
    }

    const double row = std::max(all_tokens() / rows, longest());
    const double row_squares = std::max(all_squares() / rows, longest() * longest());
    double bytes =
        kept * bytes_per_weight(zero, peers) + experts * bytes_per_weight(zero, expert_peers);
    double again = 0;  // bytes of a layer whose forward pass is repeated
    double saved = 0;  // bytes of all layers in flight, and of the largest layer of one row
    double most_saved = 0;
    for (const std::int64_t layer : its) {
      const LayerReference& own = layer_at(layer);
      const double of_layer = layer_bytes(at, own, row, row_squares, recompute);
      saved += held(at, s, double_of(static_cast<std::int64_t>(its.size()))) * of_layer;
      most_saved = std::max(most_saved, of_layer);
      if (recompute != StrategyRecompute::full) continue;
      again = std::max(again, layer_bytes(at, own, row, row_squares, StrategyRecompute::none));
    }
    if (stream_chunks > 1) {  // one part, and keys and values of two bytes each
      again = again / double_of(stream_chunks) + 2 * 2 * kv() * row / double_of(at.tp * at.cp);
    }
    bytes += saved + again;
    if (at.cp_exchange == StrategyExchange::ring) {  // a block of keys and values of a neighbour
      bytes += 2 * 2 * kv() * row / double_of(at.tp * at.cp);
    }
    if (zero == 3) bytes += 2 * (2 * largest);
    if (s == at.pp - 1) {
      bytes += (in_.cost.detail ? 10 : 8) * double_of(in_.model.vocabulary) * row /
               double_of(at.tp * at.cp) / double_of(logit_chunks);
    }
    stage.memory_mib = mib(bytes) + (in_.cost.detail ? in_.cost.detail->fixed_mib : 0);
    stage.work_ms = stage.time_ms;
    stage.all_mib = mib(saved);
    if (!in_.cluster.offload) return stage;
    // Two layers stay: one computes, and the copies of another are on their way.
    Mib may_leave = std::max(0.0, mib(saved - most_saved - most_saved));
    may_leave = std::min(may_leave, in_.cluster.offload->host_mib.value_or(may_leave));
    const Mib over = std::max(0.0, stage.memory_mib - in_.cluster.memory_mib);
    if (stage.all_mib > 0) stage.on_host = std::min(over, may_leave) / stage.all_mib;
    const double leaves = share.value_or(stage.on_host);
    stage.memory_mib -= leaves * stage.all_mib;
    const auto with_copies = [&](Ms work, double tokens, double squares) {
      double in_row = 0;
      for (const std::int64_t layer : its) {
        in_row += layer_bytes(at, layer_at(layer), tokens, squares, recompute);
      }
      const Mib copied = leaves * mib(in_row);
      return std::max(copied / in_.cluster.offload->out_mib_per_ms, work / 3) +
             std::max(copied / in_.cluster.offload->in_mib_per_ms, work * 2 / 3);
    };
    if (leaves > 0) {
      stage.time_ms = with_copies(stage.work_ms, all_tokens() / rows, all_squares() / rows);
      stage.longest_ms = with_copies(stage.longest_ms, longest(), longest() * longest());
    }
    return stage;
  }

  // Returns the least time of all layers for a mean micro-batch in one stage, each layer with its
  // quickest recomputation, with the head and the sending.
  Ms least_busy(const Setting& at) const {
    const double rows = double_of(at.micro_batches) * double_of(at.dp);
    const auto busy = [&](const std::vector<std::int64_t>& its, StrategyRecompute recompute,
                          std::int64_t parts) {
      return busy_ms(at, at.pp - 1, its, all_tokens() / rows, all_squares() / rows, recompute,
                     parts);
    };
    const Ms ends = busy({}, StrategyRecompute::none, 1);
    Ms sum = ends;
    for (std::int64_t layer = 0; layer < layers(); ++layer) {
      Ms least = std::numeric_limits<double>::infinity();
      for (const StrategyRecompute recompute : in_.options.recompute) {
        for (const std::int64_t parts : stream_chunks(recompute)) {
          least = std::min(least, busy({layer}, recompute, parts) - ends);
        }
      }
      sum += least;
    }
    return sum;
  }

  Ms uncovered(const Stage& stage) const {
    double hiding = in_.cost.overlap;
    if (in_.cost.detail) hiding = in_.cost.detail->step_overlap.value_or(hiding);
    return stage.update_ms + std::max(0.0, stage.exchange_ms - hiding * stage.time_ms);
  }

  Ms step(const Setting& at, const std::vector<Stage>& stages) const {
    const double chunk = 1 / double_of(at.v);
    Ms fill = 0;
    Ms most = 0;
    Ms alone = 0;
    Ms tail = 0;
    for (const Stage& each : stages) {
      fill += chunk * each.time_ms;
      most = std::max(most, each.time_ms);
      alone += each.longest_ms;
      tail = std::max(tail, uncovered(each));
    }
    return std::max(fill + (double_of(at.micro_batches) - chunk) * most, alone) + tail;
  }

 private:
  using Pipeline = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // pp, v, m

  std::set<Pipeline> pipelines() const {
    const auto sequences = static_cast<std::int64_t>(in_.lengths.size());
    std::set<std::int64_t> counts(in_.options.micro_batches.begin(),
                                  in_.options.micro_batches.end());
    if (counts.empty()) {
      for (std::int64_t m = 1; m * m <= sequences; ++m) {
        if (sequences % m == 0) counts.insert({m, sequences / m});
      }
    }
    const bool may_pipe = std::ranges::any_of(
        in_.options.zero, [&](std::int64_t zero) { return zero <= in_.options.pipeline_zero; });
    std::set<Pipeline> all;
    for (const std::int64_t pp : in_.options.pp) {
      if (in_.cluster.nodes * in_.cluster.devices_per_node % pp != 0) continue;
      if (pp > 1 && !may_pipe) continue;
      for (const std::int64_t v : in_.options.v) {
        if (!can_deal(pp, v)) continue;
        for (const std::int64_t m : counts) {
          if (sequences % m == 0 && (v == 1 || m % pp == 0)) all.insert({pp, v, m});
        }
      }
    }
    return all;
  }

  // Returns whether some numbers of layers make pp stages of v chunks.
  bool can_deal(std::int64_t pp, std::int64_t v) const {
    if (v == 1) return layers() >= pp;
    if (pp < 2) return false;
    if (layers_differ()) return layers() % (pp * v) == 0;
    for (const std::int64_t ends : {0, 1, 2}) {
      if (ends > 0 && in_.model.vocabulary == 0) continue;
      const std::int64_t all = layers() + ends;
      if (all % v == 0 && all / v >= pp) return true;
    }
    return false;
  }

  inline static const std::vector<std::int64_t> kWhole = {1};
  static constexpr std::array kBoth = {StrategyExchange::all_to_all, StrategyExchange::ring};

  const StrategyInstance& in_;
};

}  // namespace stowage
