#include "tests/oracles/scatter/mixed_brute_force.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/plan_builder.h"

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
using Ids = std::vector<std::int64_t>;

// The instance with exchanges that take no time.
ScatterInstance without_exchange(ScatterInstance instance) {
  instance.cost.all_to_all.mib_per_token = 0;
  if (auto& exchange = instance.cost.exchange) {
    exchange->all_to_all_mib_per_token = 0;
    exchange->all_to_all_by_devices.clear();
  }
  return instance;
}

class MixedOracle {
 public:
  explicit MixedOracle(const ScatterInstance& instance)
      : instance_(instance),
        quiet_(without_exchange(instance)),
        devices_(instance.cluster.devices),
        batches_(std::size_t{1} << instance.lengths.size()) {
    for (std::size_t set = 1; set < batches_.size(); ++set) {
      Ids ids;
      for (std::size_t k = 0; k < instance.lengths.size(); ++k) {
        if ((set >> k & 1) != 0) ids.push_back(static_cast<std::int64_t>(k));
      }
      rows_ = {{}};  // the first is the shared row
      assign(ids, 0, batches_[set]);
    }
  }

  std::optional<ScatterPlan> run() {
    std::vector<Ms> least(batches_.size(), kForever);
    std::vector<std::size_t> last(batches_.size(), 0);
    least[0] = 0;
    for (std::size_t set = 1; set < least.size(); ++set) {
      for (std::size_t part = set; part != 0; part = (part - 1) & set) {
        const Ms time = batches_[part].makespan + least[set - part];
        if (time < least[set]) {
          least[set] = time;
          last[set] = part;
        }
      }
    }
    if (least.back() == kForever) return std::nullopt;
    std::vector<MicroBatchChoice> choices;
    for (std::size_t set = least.size() - 1; set != 0; set -= last[set]) {
      choices.push_back(batches_[last[set]].choice);
    }
    return compose_plan(instance_, std::move(choices));
  }

 private:
  struct Batch {
    Ms makespan = kForever;
    MicroBatchChoice choice;
  };

  // Puts the sequences from `next` on into every row, and keeps the fastest assignment.
  void assign(const Ids& ids, std::size_t next, Batch& best) {
    if (next == ids.size()) {
      const Ms time = makespan();
      if (time < best.makespan) best = {time, choice()};
      return;
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].push_back(ids[next]);
      assign(ids, next + 1, best);
      rows_[row].pop_back();
    }
    if (std::ssize(rows_) > devices_) return;
    rows_.push_back({ids[next]});  // the row of a device without one
    assign(ids, next + 1, best);
    rows_.pop_back();
  }

  GroupForm form(std::size_t row) const {
    if (row > 0) return 1;
    return {devices_, instance_.cost.exchange ? ExchangeKind::all_to_all : ExchangeKind::none};
  }

  // Returns the tokens of the row with all padding.
  Tokens tokens(std::size_t row) const {
    Tokens sum = 0;
    for (const std::int64_t id : rows_[row]) {
      sum += padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)], form(row));
    }
    while (sum % row_multiple(instance_, form(row)) != 0) ++sum;
    return sum;
  }

  Ms time(const ScatterInstance& instance, std::size_t row) const {
    const GroupForm own = form(row);
    Load load = empty_load(instance, own);
    Tokens sum = 0;
    for (const std::int64_t id : rows_[row]) {
      const Tokens length =
          padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], own);
      load += sequence_load(instance, length, own);
      sum += length;
    }
    load += row_padding_load(instance, sum, own);
    return group_ms(instance, own, load);
  }

  Ms makespan() const {
    const Tokens shared = rows_[0].empty() ? 0 : tokens(0);
    const Tokens each = std::min(tokens_per_device(instance_), instance_.rules.max_tokens_per_rank);
    const Tokens of_device = (shared + devices_ - 1) / devices_;
    if (of_device > each) return kForever;
    Ms longest = 0;  // of the own rows, without the fixed time
    for (std::size_t row = 1; row < rows_.size(); ++row) {
      if (tokens(row) + of_device > each) return kForever;
      longest = std::max(longest, time(instance_, row) - instance_.cost.fixed_ms);
    }
    if (rows_[0].empty()) return instance_.cost.fixed_ms + longest;
    const Ms compute = time(quiet_, 0);
    const Ms exchange = time(instance_, 0) - compute;
    const Ms hidden = instance_.mixed->hidden_share * exchange;
    return compute + (exchange - hidden) + std::max(hidden, longest);
  }

  MicroBatchChoice choice() const {
    MicroBatchChoice groups;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row].empty()) continue;
      groups.push_back(
          {.degree = form(row).degree, .sequences = rows_[row], .exchange = form(row).exchange});
    }
    return groups;
  }

  const ScatterInstance& instance_;
  const ScatterInstance quiet_;
  const int devices_;
  std::vector<Batch> batches_;  // by set
  std::vector<Ids> rows_;
};

}  // namespace

std::optional<ScatterPlan> mixed_brute_force(const ScatterInstance& instance) {
  return MixedOracle(instance).run();
}

}  // namespace stowage
