// The strategy instance: a model, a cluster and a step's lengths, for which a parallel
// configuration is wanted: pipeline, tensor, context, expert and data parallelism, ZeRO,
// recomputation, micro-batches.
//
// The formulas for time and memory are numbered in docs/reference/strategy.md, with their
// sources: Korthikanti et al. (arXiv 2205.05198), Narayanan et al. (2104.04473), ZeRO (1910.02054),
// FlashAttention-2 (2307.08691), Ulysses (2309.14509), Ring Attention (2310.01889), StreamBP
// (2506.03077).
//
//   StrategyInstance wanted{
//       .model = {.hidden = 4096, .heads = 32, .vocabulary = 32000,
//                 .blocks = {{.count = 32, .ffn = 11008}}},
//       .cluster = {.nodes = 8, .devices_per_node = 8, .memory_mib = 73728},
//       .options = {.pp = {1, 2, 4}, .tp = {1, 2, 4, 8}, .cp = {1, 2, 4}},
//       .lengths = std::vector<Tokens>(64, 32768)};
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage {

// The feed-forward parts of one layer, of which a router picks `top_k` for each token. Every expert
// is assumed to get the same number of tokens (Switch Transformers, arXiv 2101.03961, balance them
// in training).
struct StrategyExperts {
  std::int64_t count = 1;
  std::int64_t top_k = 1;  // at most `count`
  std::int64_t ffn = 1;    // width of one expert

  bool operator==(const StrategyExperts&) const = default;
};

// `count` equal layers. Blocks follow each other in the order of their list.
struct StrategyBlock {
  std::string name;
  std::int64_t count = 1;
  std::int64_t ffn = 0;  // width of the feed-forward part that every token goes through
  bool gated = true;     // gate and up; otherwise up alone
  std::optional<StrategyExperts> experts;  // beside it

  // A single expert leaves no choice: such a layer is dense, with the sum of both widths.
  bool routed() const { return experts && experts->count > 1; }
  std::int64_t dense_ffn() const { return experts && !routed() ? ffn + experts->ffn : ffn; }

  bool operator==(const StrategyBlock&) const = default;
};

struct StrategyModel {
  std::int64_t hidden = 1;
  std::int64_t heads = 1;                   // tp cp divides them; tp does in a ring
  std::optional<std::int64_t> kv_width;     // of keys, and of values; no value: `hidden`
  std::optional<std::int64_t> query_width;  // of queries, all heads together; no value: `hidden`
  std::int64_t vocabulary = 0;              // 0: neither embedding nor head
  bool tied = false;                        // embedding and head have the same parameters
  bool causal = true;                       // attention computes half of the square
  bool flash_attention = true;              // the square is never stored
  bool sequence_parallel = true;            // tp ranks also share the work between products
  std::vector<StrategyBlock> blocks;

  std::int64_t key_value_width() const { return kv_width.value_or(hidden); }
  std::int64_t queries_width() const { return query_width.value_or(hidden); }
  // Returns the number of heads of keys and values; 0 if the widths are not whole heads of queries.
  std::int64_t key_value_heads() const {
    const std::int64_t width = queries_width();
    if (width % heads != 0 || key_value_width() % (width / heads) != 0) return 0;
    return key_value_width() / (width / heads);
  }

  bool operator==(const StrategyModel&) const = default;
};

// MiB that a device sends in a millisecond.
struct StrategyBandwidth {
  double inside = 224;  // within a node
  double across = 24;   // between nodes

  bool operator==(const StrategyBandwidth&) const = default;
};

// Rates at which activations of a device leave for the memory of its host, and come back. The
// activations of two layers stay: those of the layer that computes, and those that are copied.
struct StrategyOffload {
  double out_mib_per_ms = 24;
  double in_mib_per_ms = 24;
  std::optional<Mib> host_mib;  // of the host's memory, for a device; no value: any

  bool operator==(const StrategyOffload&) const = default;
};

struct StrategyCluster {
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  Mib memory_mib = 0;  // of a device, for states, activations and working memory
  StrategyBandwidth mib_per_ms;
  std::optional<StrategyOffload> offload;  // no value: all activations stay

  std::int64_t devices() const { return nodes * devices_per_node; }

  bool operator==(const StrategyCluster&) const = default;
};

enum class StrategyRecompute { none, selective, full };
inline constexpr std::array<std::string_view, 3> kStrategyRecomputes = {"none", "selective",
                                                                        "full"};

// How cp ranks that share sequences exchange what attention needs of the others.
enum class StrategyExchange {
  all_to_all,  // heads for tokens, before and after attention (Ulysses)
  ring,        // keys and values go around, while attention computes
};
inline constexpr std::array<std::string_view, 2> kStrategyExchanges = {"all_to_all", "ring"};

// Times of one layer, forward and backward with recomputation and exchanges, on each of the tp cp
// ranks that share sequences of these lengths, if no ranks share experts.
struct StrategyMeasured {
  std::int64_t block = 0;  // index in the model, from 0
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  StrategyRecompute recompute = StrategyRecompute::none;
  std::vector<Tokens> tokens;  // of a sequence, ascending
  std::vector<Ms> ms;          // one for each length

  bool operator==(const StrategyMeasured&) const = default;
};

// Version 2 of the formulas: the time and memory of a step beside products and attention. The
// defaults fit published steps on A100 and H100 best (docs/reference/strategy.md).
struct StrategyDetail {
  double memory_mib_per_ms = 1944.5;  // of a device's own memory; a data sheet's, A100 with 80 GB
  double pass_bytes = 120;            // read and written between products, per unit of width
  double pass_ms = 0.8;               // of a layer's forward pass, for rows of any length
  double message_ms = 0.005;          // for each further node of a ring
  double square_bytes = 15;           // of a score of attention, without FlashAttention
  double expert_slowdown = 1.4;       // of products of experts
  double update_bytes = 30;           // that an optimizer reads and writes per parameter
  double update_ms = 10;              // of a step, at any size
  double activation_factor = 1;       // of M3: 1 with fused kernels, up to 1.9 without
  Mib fixed_mib = 4096;               // of a device: libraries, their buffers, fragmentation
  std::int64_t gradient_bytes = 4;    // of a parameter: 2 to 8
  // Part of the compute time of a mean micro-batch that hides the exchange of once a step. No
  // value: StrategyCost::overlap.
  std::optional<double> step_overlap;

  bool operator==(const StrategyDetail&) const = default;
};

// The origin of a strategy's rates. The label changes neither times nor the instance's hash: it
// only states how reliable times are.
enum class StrategyRateSource {
  assumed,   // shares of a data sheet that fit published steps of many kinds of software
  stack,     // of a named stack of software, fitted to its published steps
  fitted,    // to logged steps of the user
  measured,  // by benchmarks of the user
};
inline constexpr std::array<std::string_view, 4> kStrategyRateSources = {"assumed", "stack",
                                                                         "fitted", "measured"};

// The errors |predicted / measured - 1| of steps that the fit did not use.
struct RateError {
  std::int64_t steps = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;

  bool operator==(const RateError&) const = default;
};

struct StrategyRates {
  StrategyRateSource source = StrategyRateSource::assumed;
  // The stack, or the stack of the rates in `kept`. Empty: those are assumed.
  std::string stack;
  std::int64_t steps = 0;         // number of steps that the rates were fitted to
  std::vector<std::string> kept;  // rates that these steps do not determine, by their keys
  std::optional<RateError> error;

  bool operator==(const StrategyRates&) const = default;
};

struct StrategyCost {
  double linear_tflops = 193;     // of a device's matrix products, at any width
  double attention_tflops = 140;  // of its attention
  // Width of a product, hidden / tp, at which half the rate is reached.
  double half_width = 128;
  // Part of the compute time that hides an exchange of states: of each micro-batch, and once a step
  // if the detail has no number of its own.
  double overlap = 0.8;
  std::vector<StrategyMeasured> measured;  // other times follow from the rates
  std::optional<StrategyDetail> detail;    // no value: version 1 of the formulas
  std::optional<StrategyRates> rates;      // no value: assumed

  // Returns the part of a mean micro-batch's compute time that hides the exchange of once a step.
  double overlap_of_step() const {
    return detail && detail->step_overlap ? *detail->step_overlap : overlap;
  }

  bool operator==(const StrategyCost&) const = default;
};

inline constexpr std::int64_t kMaxStrategyZero = 3;

// The values that a plan may choose. A repeated value counts once.
struct StrategyOptions {
  std::vector<std::int64_t> pp = {1};  // stages of the pipeline
  std::vector<std::int64_t> v = {1};   // chunks of a stage: 1 is 1F1B, more is interleaved
  std::vector<std::int64_t> tp = {1};  // ranks that share products
  std::vector<std::int64_t> cp = {1};  // ranks that share sequences
  std::vector<StrategyExchange> cp_exchange = {StrategyExchange::all_to_all};  // of cp above 1
  std::vector<std::int64_t> ep = {1};    // ranks of cp and dp that share experts
  std::vector<std::int64_t> zero = {1};  // 0 to 3
  // Ranks of dp cp among which ZeRO divides states; 0 means all of them.
  std::vector<std::int64_t> shard = {0};
  std::vector<StrategyRecompute> recompute = {StrategyRecompute::none, StrategyRecompute::selective,
                                              StrategyRecompute::full};
  std::vector<std::int64_t> logit_chunks = {1};
  // Parts of a row in which a layer goes forward and backward, with full recomputation.
  std::vector<std::int64_t> stream_chunks = {1};
  std::vector<std::int64_t> micro_batches;        // empty: every divisor of the number of sequences
  std::int64_t pipeline_zero = kMaxStrategyZero;  // largest ZeRO level with two stages or more

  bool operator==(const StrategyOptions&) const = default;
};

struct StrategyInstance {
  std::string name;
  StrategyModel model;
  StrategyCluster cluster;
  StrategyCost cost;
  StrategyOptions options;
  std::vector<Tokens> lengths;  // of the step's sequences

  bool operator==(const StrategyInstance&) const = default;
};

}  // namespace stowage
