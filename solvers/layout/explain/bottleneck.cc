// Computes the bottleneck of a layout: the stack of buffers below its highest end, the step with
// the largest load, and any buffer at the top that could lie lower.
#include <algorithm>
#include <utility>

#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "instances/layout/planning_table.h"
#include "solvers/explain/family_explain.h"
#include "solvers/layout/explain/explain.h"
#include "solvers/layout/params.h"

namespace stowage {
namespace {

std::string name(const LayoutInstance& instance, std::size_t b) {
  const std::string& id = instance.buffers[b].id;
  return id.empty() ? std::to_string(b) : id;
}

class LayoutStack {
 public:
  LayoutStack(const LayoutInstance& instance, const LayoutPlan& plan)
      : instance_(instance), plan_(plan), table_(instance) {}

  Bytes end(std::size_t b) const { return plan_.offsets[b] + instance_.buffers[b].size; }

  // Returns a buffer that ends at the peak, if possible one of positive size. A pinned buffer of
  // size 0 may end there as well.
  std::optional<std::size_t> top() const {
    std::optional<std::size_t> top;
    for (std::size_t b = 0; b < instance_.buffers.size(); ++b) {
      if (end(b) != plan_.peak_bytes) continue;
      if (instance_.buffers[b].size > 0) return b;
      if (!top) top = b;
    }
    return top;
  }

  // Returns the highest buffer below b that conflicts with b. Returns nullopt if no such buffer
  // exists.
  std::optional<std::size_t> under(std::size_t b) const {
    std::optional<std::size_t> best;
    for (std::size_t other = 0; other < instance_.buffers.size(); ++other) {
      if (!clashes(b, other) || end(other) > plan_.offsets[b]) continue;
      if (!best || end(other) > end(*best)) best = other;
    }
    return best;
  }

  // Returns the lowest offset of b beside all other buffers.
  Bytes lowest(std::size_t b) const {
    std::vector<std::pair<Bytes, Bytes>> taken;
    for (std::size_t other = 0; other < instance_.buffers.size(); ++other) {
      if (clashes(b, other)) taken.emplace_back(plan_.offsets[other], end(other));
    }
    std::sort(taken.begin(), taken.end());
    Bytes at = 0;
    for (const auto& [from, to] : taken) {
      if (at + instance_.buffers[b].size <= from) break;
      at = std::max(at, table_.aligned(static_cast<int>(b), to));
    }
    return at;
  }

  Moves moves() const {
    Moves moves;
    Bytes peak = 0;  // peak with every buffer at the top moved down alone
    std::string text;
    for (std::size_t b = 0; b < instance_.buffers.size(); ++b) {
      if (end(b) < plan_.peak_bytes || instance_.buffers[b].size == 0) {
        peak = std::max(peak, end(b));
        continue;
      }
      ++moves.tried;
      const Bytes low = instance_.buffers[b].offset ? plan_.offsets[b] : lowest(b);
      peak = std::max(peak, low + instance_.buffers[b].size);
      if (low < plan_.offsets[b]) {
        text = "move buffer " + name(instance_, b) + " from " + std::to_string(plan_.offsets[b]) +
               " to " + std::to_string(low);
      }
    }
    // Several buffers at the top move down only one after the other, so a single move gains
    // nothing.
    if (moves.tried == 1 && peak < plan_.peak_bytes) {
      moves.best_gain = static_cast<double>(plan_.peak_bytes - peak);
      moves.best_text = std::move(text);
    }
    return moves;
  }

 private:
  bool clashes(std::size_t a, std::size_t b) const {
    return a != b && table_.conflict(static_cast<int>(a), static_cast<int>(b)) &&
           instance_.buffers[b].size > 0;
  }

  const LayoutInstance& instance_;
  const LayoutPlan& plan_;
  LayoutTable table_;
};

}  // namespace

Bottleneck binding_of(const LayoutInstance& instance, const LayoutPlan& plan) {
  Bottleneck binding;
  const PeakLoad crowd = peak_load(instance);
  if (plan.peak_bytes == 0) return binding;
  binding.parts.push_back(
      {"/buffers", "step " + std::to_string(crowd.step) + " needs " + std::to_string(crowd.load) +
                       " bytes, " + std::to_string(plan.peak_bytes - crowd.load) +
                       " less than the peak: " + listed(needing_memory_at(instance, crowd.step))});
  const LayoutStack stack(instance, plan);
  std::optional<std::size_t> at = stack.top();
  while (at && binding.parts.size() <= layout_fixed::kListedStack) {
    const std::size_t b = *at;
    at = instance.buffers[b].size > 0 ? stack.under(b) : std::nullopt;
    const Bytes ground = at ? stack.end(*at) : 0;
    std::string text = "buffer " + name(instance, b) + " lies at bytes [" +
                       std::to_string(plan.offsets[b]) + ", " + std::to_string(stack.end(b)) + ')';
    if (instance.buffers[b].offset) {
      binding.parts.push_back({"/offsets/" + std::to_string(b), text + " where it is pinned"});
      break;
    }
    if (plan.offsets[b] > ground) {
      text += ", " + plain_count(plan.offsets[b] - ground, "byte") + " above what it rests on";
    }
    binding.parts.push_back({"/offsets/" + std::to_string(b), std::move(text)});
  }
  binding.moves = stack.moves();
  return binding;
}

std::vector<Change> changes_of(const LayoutInstance& instance, const LayoutPlan& plan) {
  std::vector<std::int64_t> crowd = needing_memory_at(instance, peak_load(instance).step);
  std::stable_sort(crowd.begin(), crowd.end(), [&](std::int64_t a, std::int64_t b) {
    return instance.buffers[static_cast<std::size_t>(a)].size >
           instance.buffers[static_cast<std::size_t>(b)].size;
  });
  if (crowd.size() > layout_fixed::kListedChanges) crowd.resize(layout_fixed::kListedChanges);
  std::vector<Change> changes;
  for (const std::int64_t b : crowd) {
    const auto at = static_cast<std::ptrdiff_t>(b);
    LayoutInstance changed = instance;
    changed.layers.clear();  // layers refer to buffers by index
    changed.recorded_from.reset();
    changed.buffers.erase(changed.buffers.begin() + at);
    LayoutPlan start = plan;
    start.offsets.erase(start.offsets.begin() + at);
    start.peak_bytes = 0;
    for (std::size_t k = 0; k < start.offsets.size(); ++k) {
      start.peak_bytes = std::max(start.peak_bytes, start.offsets[k] + changed.buffers[k].size);
    }
    start.instance_hash = instance_hash(changed);
    const auto index = static_cast<std::size_t>(b);
    changes.push_back({"/buffers/" + std::to_string(b),
                       "buffer " + name(instance, index) + " of " +
                           plain_count(instance.buffers[index].size, "byte") +
                           " recomputed or offloaded",
                       std::move(changed), Plan(std::move(start))});
  }
  return changes;
}

}  // namespace stowage
