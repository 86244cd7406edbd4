#include "solvers/configure/handover.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// A power of two, so that the memory per token is computed exactly.
constexpr double kManyTokens = 1 << 20;
constexpr double kUnhinderedMibPerMs = 1e9;  // the largest bandwidth that an instance allows

// Returns the degrees of options.cp that groups may have. Each is a multiple of the previous one,
// and the plan's degree is one of them.
std::vector<int> degrees_of(const StrategyTable& table, const StrategyPlan& plan) {
  std::vector<std::int64_t> wanted = table.instance().options.cp;
  std::ranges::sort(wanted);
  const std::int64_t ranks = plan.dp * plan.cp;
  std::vector<int> degrees;
  for (const std::int64_t degree : wanted) {
    const std::int64_t heads = plan.cp_exchange == StrategyExchange::ring ? 1 : degree;
    if (ranks % degree != 0 || !table.may_share_heads(plan.tp, heads)) continue;
    if (degree < plan.cp ? plan.cp % degree != 0 : degree % plan.cp != 0) continue;
    if (!degrees.empty() && (degree == degrees.back() || degree % degrees.back() != 0)) continue;
    degrees.push_back(static_cast<int>(degree));
  }
  return degrees;
}

}  // namespace

Handover::Handover(const StrategyTable& table, const StrategyPlan& plan, double activation_factor)
    : table_(table),
      unhindered_(table.instance()),
      plan_(plan),
      activation_factor_(activation_factor) {
  const StrategyInstance& instance = table.instance();
  unhindered_.cluster.mib_per_ms = {.inside = kUnhinderedMibPerMs, .across = kUnhinderedMibPerMs};
  if (unhindered_.cost.detail) unhindered_.cost.detail->message_ms = 0;
  unhindered_table_.emplace(unhindered_);
  std::int64_t before = 0;
  for (const StrategyStage& stage : plan_.stages) {
    first_.push_back(before);
    before += stage.layers;
  }
  const std::vector<int> degrees = degrees_of(table_, plan_);
  costs_.emplace(1, costs_of(table_, 1));
  for (const int degree : degrees) {
    costs_.emplace(degree, costs_of(table_, degree));
    unhindered_costs_.emplace(degree, costs_of(*unhindered_table_, degree));
  }

  const std::int64_t per_node = instance.cluster.devices_per_node;
  pattern_.cluster = {
      .devices = static_cast<int>(plan_.dp * plan_.cp),
      .devices_per_node = static_cast<int>(per_node % plan_.tp == 0 ? per_node / plan_.tp : 1),
      .memory_mib = instance.cluster.memory_mib,
      .degrees = degrees};
  // Megatron cuts a sequence into two chunks for each rank of a group, and the rank's chunks
  // together into tp parts.
  pattern_.pad_multiple = std::lcm(std::int64_t{2}, std::int64_t{plan_.tp}) * degrees.back();
  pattern_.pipeline_stages = static_cast<int>(1 + (plan_.pp - 1 + plan_.v - 1) / plan_.v);
  if (plan_.v > 1) pattern_.rules.micro_batches_multiple_of = plan_.pp;

  set_memory();
  set_times(degrees);
}

// Sets the memory of a rank that stands for tp devices, by the stage with room for the fewest
// tokens.
void Handover::set_memory() {
  const auto tp = static_cast<double>(plan_.tp);
  const StageCosts& alone = costs_.at(1);
  const StrategyRow many{.tokens = kManyTokens / tp};
  Tokens least = kMaxExact + 1;
  for (std::int64_t stage = 0; stage < plan_.pp; ++stage) {
    const Mib states = of_stage(alone, stage, {}).memory_mib;
    Mib of_many = of_stage(alone, stage, many).memory_mib - states;
    Mib logits = 0;
    if (stage == plan_.pp - 1) {
      of_many -= alone.logits_mib(table_.logit_chunks().back(), many);
      logits = alone.logits_mib(plan_.logit_chunks, many) / kManyTokens;
    }
    ScatterInstance its = pattern_;
    its.model = {.states_mib = states,
                 .activation_mib_per_token = activation_factor_ * of_many / kManyTokens,
                 .logits_mib_per_token = activation_factor_ * logits};
    const Tokens room = tokens_per_device(its);
    if (room >= least) continue;
    least = room;
    tightest_ = stage;
    pattern_.model = its.model;
  }
}

// Sets the times by those of the slowest stage.
void Handover::set_times(const std::vector<int>& degrees) {
  const auto tp = static_cast<double>(plan_.tp);
  const StageCosts& alone = costs_.at(1);
  const auto slowest = static_cast<std::int64_t>(
      std::ranges::max_element(plan_.stages, {}, &StrategyStage::time_ms) - plan_.stages.begin());
  // Without the parameters that ZeRO level 3 gathers.
  StrategyStage resident = plan_.stages[at(slowest)];
  resident.zero = std::min<std::int64_t>(resident.zero, 2);
  const auto ms = [&](const StageCosts& costs, const StrategyStage& stage, const StrategyRow& row) {
    return costs.with_row(slowest, first_[at(slowest)], stage.layers, choice_of(stage), row)
        .time_ms;
  };
  const Ms row_ms = ms(alone, resident, {});  // time of a row of length 0
  const auto token_ms = [&](const StageCosts& costs) {
    return (ms(costs, resident, {.tokens = kManyTokens / tp}) - row_ms) / kManyTokens;
  };
  pattern_.cost.linear_ms = token_ms(alone);
  const double many = kManyTokens * kManyTokens;
  pattern_.cost.quadratic_ms = (ms(alone, resident, {.squares = many / tp}) - row_ms) / many;
  if (!table_.instance().cost.measured.empty()) {
    // Measured times are no sum of both terms. Use the line through a token of mean length and a
    // token of the longest sequence.
    const double mean_length = table_.squares() / static_cast<double>(table_.tokens());
    const auto longest = static_cast<double>(table_.longest());
    const auto of_token = [&](double length) {
      const StrategyRow row{kManyTokens / tp, kManyTokens * length / tp};
      return (ms(alone, resident, row) - row_ms) / kManyTokens;
    };
    const double rise = longest > mean_length * (1 + 1e-9)
                            ? (of_token(longest) - of_token(mean_length)) / (longest - mean_length)
                            : 0;
    pattern_.cost.quadratic_ms = std::clamp(rise, 0.0, of_token(mean_length) / mean_length);
    pattern_.cost.linear_ms = of_token(mean_length) - pattern_.cost.quadratic_ms * mean_length;
  }
  const StrategyModel& model = table_.instance().model;
  const Mib exchanged = 4 * static_cast<double>(model.queries_width() + model.key_value_width()) /
                        tp * static_cast<double>(resident.layers) / kManyTokens;  // bytes to MiB
  if (plan_.cp_exchange == StrategyExchange::ring && degrees.back() > 1) set_ring(degrees);
  for (const int degree : degrees) {
    if (degree == 1 || pattern_.cost.exchange) continue;
    pattern_.cost.all_to_all.mib_per_token = exchanged;
    const Ms more = token_ms(costs_.at(degree)) - token_ms(alone);
    pattern_.cost.all_to_all.mib_per_ms[degree] = exchanged / std::max(more, exchanged / 1e9);
  }
  const double rows = static_cast<double>(plan_.micro_batches * plan_.dp * plan_.cp) * tp;
  const StrategyRow mean{static_cast<double>(table_.tokens()) / rows, table_.squares() / rows};
  const StageCosts& own = costs_.at(static_cast<int>(plan_.cp));
  pattern_.cost.fixed_ms =
      row_ms + ms(own, plan_.stages[at(slowest)], mean) - ms(own, resident, mean);
}

// Keys and values go around once in each forward pass, and with their gradients in the backward
// pass.
void Handover::set_ring(const std::vector<int>& degrees) {
  const StrategyStage& stage = plan_.stages[at(tightest_)];
  const double width = static_cast<double>(table_.instance().model.key_value_width()) /
                       static_cast<double>(plan_.tp) / kManyTokens;  // bytes to MiB
  const double passes = stage.recompute == StrategyRecompute::full ? 16 : 12;
  const StrategyBandwidth& links = table_.instance().cluster.mib_per_ms;
  Exchange ring{.keys_values_mib_per_token = passes * width * static_cast<double>(stage.layers),
                .inside_mib_per_ms = links.inside,
                .across_mib_per_ms = links.across};
  for (const int degree : degrees) {
    if (degree > 1) ring.kinds[degree] = {ExchangeKind::ring};
  }
  pattern_.cost.exchange = std::move(ring);
  pattern_.model.keys_values_mib_per_token = 4 * width;
}

// The number of micro-batches fills the pipeline. The plan of a step sets its own number.
StageCosts Handover::costs_of(const StrategyTable& table, std::int64_t degree) const {
  return {table,
          {.pp = plan_.pp, .v = plan_.v, .micro_batches = 4 * plan_.pp},
          {.tp = plan_.tp,
           .cp = degree,
           .dp = plan_.dp * plan_.cp / degree,
           .ep = plan_.ep,
           .shard = plan_.shard,
           .cp_exchange = degree > 1 ? plan_.cp_exchange : StrategyExchange::all_to_all}};
}

StageCost Handover::of_stage(const StageCosts& costs, std::int64_t stage,
                             const StrategyRow& row) const {
  const StrategyStage& its = plan_.stages[at(stage)];
  return costs.with_row(stage, first_[at(stage)], its.layers, choice_of(its), row);
}

Mib Handover::room_mib() const { return pattern_.cluster.memory_mib - pattern_.model.states_mib; }

ScatterInstance Handover::step(std::string name, std::vector<Tokens> lengths) const {
  ScatterInstance step = pattern_;
  step.name = std::move(name);
  step.lengths = std::move(lengths);
  return step;
}

PricedStep Handover::price(const ScatterInstance& step, const ScatterPlan& plan) const {
  const auto tp = static_cast<double>(plan_.tp);
  PricedStep priced;
  Ms sum = 0;
  Ms longest = 0;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    Ms slowest = 0;
    Ms unhindered = 0;
    Ms busy = 0;  // sum over all ranks
    for (const ScatterGroup& group : batch.groups) {
      StrategyRow row;
      Tokens tokens = 0;
      for (const std::int64_t id : group.sequences) {
        const Tokens length = padded_length(step, step.lengths[at(id)]);
        tokens += length;
        row.squares += static_cast<double>(length) * static_cast<double>(length);
      }
      const double share = group.degree * tp;
      row.tokens = static_cast<double>(tokens) / share;
      row.squares /= share;
      const Tokens of_rank = (tokens + group.degree - 1) / group.degree;
      const Mib mib =
          fixed_mib(step) + static_cast<double>(of_rank) * token_mib(step, group.degree);
      priced.memory_share = std::max(priced.memory_share, mib / step.cluster.memory_mib);
      Ms its = 0;
      Ms freely = 0;
      for (std::int64_t stage = 0; stage < plan_.pp; ++stage) {
        its = std::max(its, of_stage(costs_.at(group.degree), stage, row).time_ms);
        freely = std::max(freely, of_stage(unhindered_costs_.at(group.degree), stage, row).time_ms);
      }
      busy += group.degree * its;
      if (its > slowest) {
        slowest = its;
        unhindered = freely;
      }
    }
    sum += slowest;
    longest = std::max(longest, slowest);
    priced.exchange_ms += slowest - unhindered;
    priced.idle_ms += slowest - busy / step.cluster.devices;
  }
  priced.bubble_ms = static_cast<double>(plan_.pp - 1) / static_cast<double>(plan_.v) * longest;
  const double batches = std::max(1.0, static_cast<double>(plan.micro_batches.size()));
  Ms exposed = 0;
  for (const StrategyStage& stage : plan_.stages) {
    exposed = std::max(exposed, exposed_ms(stage, table_.instance().cost, sum / batches));
  }
  priced.exchange_ms += exposed;
  priced.step_ms = sum + priced.bubble_ms + exposed;
  return priced;
}

}  // namespace stowage
