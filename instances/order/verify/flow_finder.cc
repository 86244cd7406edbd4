#include "instances/order/verify/flow_finder.h"

#include <optional>

#include "instances/order/memory/least_live_cut.h"
#include "instances/order/planning_table.h"

namespace stowage {
namespace {

Flow entries(const LeastLive::Arcs& arcs) {
  Flow flow;
  for (const auto& arc : arcs) flow.emplace_back(arc.begin(), arc.end());
  return flow;
}

}  // namespace

struct FlowFinder::Known {
  OrderInstance instance;
  std::optional<OrderTable> table;
  std::optional<LeastLive> least;
  bool stale = false;
};

FlowFinder::FlowFinder(const OrderInstance& instance)
    : known_(std::make_unique<Known>(Known{.instance = instance})) {
  look();
}

FlowFinder::~FlowFinder() = default;

void FlowFinder::add(std::int64_t first, std::int64_t second) {
  known_->instance.operators[static_cast<std::size_t>(second)].after.push_back(first);
  known_->stale = true;
}

bool FlowFinder::stale() const { return known_->stale; }

void FlowFinder::look() {
  known_->least.reset();
  known_->table.emplace(known_->instance);
  known_->least.emplace(*known_->table);
  known_->stale = false;
}

std::pair<Flow, Flow> FlowFinder::flow(const std::vector<Before>& side) {
  std::vector<OrderSide> sides;
  sides.reserve(side.size());
  for (const Before its : side) {
    if (its == Before::maybe) {
      sides.push_back(OrderSide::open);
    } else {
      sides.push_back(its == Before::always ? OrderSide::in : OrderSide::out);
    }
  }
  const LeastLive::Cut cut = known_->least->between(sides);
  return {entries(cut.tensors), entries(cut.precedences)};
}

}  // namespace stowage
