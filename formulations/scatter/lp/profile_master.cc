#include "formulations/scatter/lp/profile_master.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

constexpr double kShortage = 1000;  // price of a missing device, in units of `upper`

}  // namespace

ScatterProfileMaster::ScatterProfileMaster(const ScatterTable& table, std::span<const Ms> low,
                                           std::span<const Ms> high, Ms upper)
    : table_(table), upper_(upper) {
  for (const DistinctLength& kind : table.kinds())
    model_.add_row({.lower = double(kind.count)});  // X1
  double least = 0;
  for (std::size_t b = 0; b < low.size(); ++b) {
    const double times =
        b == 0 ? 1 + table.longest_weight() : 1;  // the first makespan is the longest
    add_batch(low[b], high[b], times);
    least += times * low[b] / upper;
  }
  model_.set_offset(least);
  first_pattern_ = model_.variables().size();
}

void ScatterProfileMaster::add_batch(Ms low, Ms high, double times) {
  const double devices = table_.devices();
  Batch batch{.low = low, .high = high};
  batch.weight = model_.add_variable({.upper = 1, .objective = times * (high - low) / upper_});
  const int shortage = model_.add_variable({.objective = kShortage});
  milp::Row at_low{.lower = -devices, .terms = {{batch.weight, -devices}}};  // X4
  milp::Row at_high{.lower = 0, .terms = {{batch.weight, devices}, {shortage, 1}}};
  for (std::size_t d = 0; d < table_.configs().size(); ++d) {
    const GroupConfig& config = table_.configs()[d];
    const int groups_low = model_.add_variable({});
    const int groups_high = model_.add_variable({});
    at_low.terms.push_back({groups_low, -config.weighted_devices});
    at_high.terms.push_back({groups_high, -config.weighted_devices});
    Place place;
    place.group_row = model_.add_row({.lower = 0, .terms = {{groups_low, 1}, {groups_high, 1}}});
    milp::Row time{.lower = 0};  // X3, divided by the room at the high end
    const Ms left = room(batch, d);
    if (left > 0) time.terms = {{groups_low, (low - config.overhead) / left}, {groups_high, 1}};
    place.time_row = model_.add_row(std::move(time));
    batch.places.push_back(place);
  }
  model_.add_row(std::move(at_low));
  model_.add_row(std::move(at_high));
  batches_.push_back(std::move(batch));
}

Ms ScatterProfileMaster::room(const Batch& batch, std::size_t config) const {
  return batch.high - table_.configs()[config].overhead;
}

void ScatterProfileMaster::offer(std::size_t batch, int config,
                                 std::span<const PatternAmount> amounts, Ms time, std::size_t id) {
  const Ms left = room(batches_[batch], at(config));
  if (left <= 0 || time > left * kBoundFits) return;
  const int variable = model_.add_variable({});
  patterns_.push_back(id);
  for (const PatternAmount& amount : amounts) {
    model_.add_term(amount.kind, {variable, double(amount.count)});  // X1
  }
  const Place& place = batches_[batch].places[at(config)];
  model_.add_term(place.group_row, {variable, -1});
  model_.add_term(place.time_row, {variable, -time / left});
}

std::vector<Ms> ScatterProfileMaster::makespans(std::span<const double> values) const {
  std::vector<Ms> all;
  for (const Batch& batch : batches_) {
    all.push_back(batch.low + (batch.high - batch.low) * values[at(batch.weight)]);
  }
  return all;
}

std::vector<std::size_t> ScatterProfileMaster::used(std::span<const double> values) const {
  std::vector<std::size_t> ids;
  for (std::size_t v = first_pattern_; v < values.size(); ++v) {
    if (values[v] > 0) ids.push_back(patterns_[v - first_pattern_]);
  }
  return ids;
}

ProfileNode ScatterProfileMaster::prices(std::span<const double> duals) const {
  const auto dual = [&](int row) { return std::max(0.0, duals[at(row)]) * upper_; };
  ProfileNode node{.kind = ProfileNode::Kind::priced};
  for (int k = 0; k < static_cast<int>(table_.kinds().size()); ++k) {
    node.values.push_back(dual(k));
  }
  for (const Batch& batch : batches_) {
    std::vector<GroupPrices>& prices = node.batches.emplace_back(batch.places.size());
    for (std::size_t d = 0; d < batch.places.size(); ++d) {
      const Ms left = room(batch, d);
      if (left <= 0) continue;
      const Place& place = batch.places[d];
      prices[d] = {.time = dual(place.time_row) / left, .group = dual(place.group_row)};
    }
  }
  return node;
}

}  // namespace stowage
