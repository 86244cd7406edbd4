// Finds the reason why a layout instance has no layout: pins that clash, a capacity below the load
// of a step, or buffers that a search has proven not to fit together.
#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/layout/load.h"
#include "solvers/explain/family_explain.h"
#include "solvers/layout/explain/explain.h"

namespace stowage {
namespace {

using Reason = LayoutInfeasibility::Reason;

std::string bytes(Bytes count) { return plain_count(count, "byte"); }

class LayoutConflict {
 public:
  LayoutConflict(const LayoutInstance& instance, const Trial& trial)
      : instance_(instance), trial_(trial), unit_(unit()) {}

  Conflict run() {
    const auto why = layout_infeasibility(instance_);
    if (!why) {
      refute_by_search();
    } else if (why->reason == Reason::load_above_capacity) {
      crowded_step(*why);
    } else {
      for (const std::int64_t b : why->buffers) conflict_.causes.push_back(pin(b));
      if (why->reason == Reason::pin_above_capacity) conflict_.causes.push_back(capacity());
      for (const std::int64_t b : why->buffers) unpin(b);
    }
    if (instance_.capacity && (!why || why->reason != Reason::pins_clash)) raise_capacity();
    return std::move(conflict_);
  }

 private:
  const Buffer& buffer(std::int64_t b) const {
    return instance_.buffers[static_cast<std::size_t>(b)];
  }
  std::string name(std::int64_t b) const {
    return buffer(b).id.empty() ? std::to_string(b) : buffer(b).id;
  }
  static std::string place(std::int64_t b) { return "/buffers/" + std::to_string(b); }

  Finding need(std::int64_t b) const {
    return {place(b), "buffer " + name(b) + " of " + bytes(buffer(b).size) + " lives in steps [" +
                          std::to_string(buffer(b).lower) + ", " + std::to_string(buffer(b).upper) +
                          ")"};
  }
  Finding pin(std::int64_t b) const {
    const Bytes at = *buffer(b).offset;
    return {place(b) + "/offset_bytes", "buffer " + name(b) + " is pinned to bytes [" +
                                            std::to_string(at) + ", " +
                                            std::to_string(at + buffer(b).size) + ")"};
  }
  Finding capacity() const {
    return {"/capacity_bytes", "the capacity is " + bytes(*instance_.capacity)};
  }

  // Returns the greatest number of bytes that divides every alignment (instances/layout/load.h).
  Bytes unit() const {
    Bytes unit = 0;
    for (const Buffer& b : instance_.buffers) {
      if (b.size > 0) unit = std::gcd(unit, alignment_of(instance_, b));
    }
    return std::max<Bytes>(unit, 1);
  }

  // Reports the buffers of the crowded step that exceed the capacity together: its largest buffers,
  // as few as suffice.
  void crowded_step(const LayoutInfeasibility& why) {
    std::vector<std::int64_t> crowd = why.buffers;
    std::stable_sort(crowd.begin(), crowd.end(), [this](std::int64_t a, std::int64_t b) {
      return buffer(a).size > buffer(b).size;
    });
    LayoutInstance few = instance_;
    few.layers.clear();
    few.recorded_from.reset();
    few.buffers.clear();
    std::vector<std::int64_t> ids;
    bool exact = true;  // stacked buffers take exactly their load
    for (const std::int64_t b : crowd) {
      few.buffers.push_back(buffer(b));
      few.buffers.back().offset.reset();
      ids.push_back(b);
      exact = exact && alignment_of(instance_, buffer(b)) == unit_ && buffer(b).size % unit_ == 0;
      if (peak_load(few).load > *instance_.capacity) break;
    }
    // If the load is exact, any smaller subset takes no more than the largest buffers without the
    // last one, which fit.
    if (!exact) reduce(few, ids);
    for (const std::int64_t b : ids) conflict_.causes.push_back(need(b));
    conflict_.causes.push_back(capacity());
    free_buffers(crowd);
  }

  // Deletion filter, from the last buffer on: a buffer or a pin is no cause if the instance without
  // it is still infeasible. `ids` are the buffers of `left`.
  void reduce(LayoutInstance& left, std::vector<std::int64_t>& ids) {
    for (std::size_t k = left.buffers.size(); k-- > 0;) {
      LayoutInstance without = left;
      without.buffers.erase(without.buffers.begin() + static_cast<std::ptrdiff_t>(k));
      if (!still_infeasible(without, left)) continue;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(k));
    }
    for (std::size_t k = 0; k < left.buffers.size(); ++k) {
      if (!left.buffers[k].offset) continue;
      LayoutInstance unpinned = left;
      unpinned.buffers[k].offset.reset();
      still_infeasible(unpinned, left);
    }
  }

  // Replaces `left` by the easier instance if that is infeasible as well. Returns true in this
  // case.
  bool still_infeasible(LayoutInstance& easier, LayoutInstance& left) {
    const Outcome outcome = trial_(Instance(easier));
    if (outcome.status == Status::infeasible) {
      left = std::move(easier);
      return true;
    }
    if (!outcome.plan) conflict_.irreducible = false;
    return false;
  }

  void refute_by_search() {
    LayoutInstance left = instance_;
    left.layers.clear();
    left.recorded_from.reset();
    std::vector<std::int64_t> ids;  // indices of the remaining buffers
    for (std::size_t b = 0; b < instance_.buffers.size(); ++b) {
      ids.push_back(static_cast<std::int64_t>(b));
    }
    reduce(left, ids);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      conflict_.causes.push_back(need(ids[k]));
      if (!left.buffers[k].offset) continue;
      conflict_.causes.push_back(pin(ids[k]));
      unpin(ids[k]);
    }
    if (instance_.capacity) conflict_.causes.push_back(capacity());
    std::stable_sort(ids.begin(), ids.end(), [this](std::int64_t a, std::int64_t b) {
      return buffer(a).size < buffer(b).size;
    });
    free_one_of(ids);
  }

  LayoutInstance without(const std::vector<std::int64_t>& gone) const {
    LayoutInstance changed = instance_;
    changed.layers.clear();  // layers refer to buffers by index
    changed.recorded_from.reset();
    changed.buffers.clear();
    for (std::size_t b = 0; b < instance_.buffers.size(); ++b) {
      if (std::find(gone.begin(), gone.end(), static_cast<std::int64_t>(b)) == gone.end()) {
        changed.buffers.push_back(instance_.buffers[b]);
      }
    }
    return changed;
  }

  void free_text(const std::vector<std::int64_t>& gone) {
    Bytes sum = 0;
    std::string names;
    for (const std::int64_t b : gone) {
      sum += buffer(b).size;
      names += (names.empty() ? "" : ", ") + name(b);
    }
    conflict_.changes.push_back({place(gone.front()),
                                 "free " +
                                     plain_count(static_cast<std::int64_t>(gone.size()), "buffer") +
                                     " of " + bytes(sum) + " (recompute or offload): " + names,
                                 without(gone), std::nullopt});
  }

  // Adds the change that frees the smallest sufficient buffer, by trial in ascending order.
  void free_one_of(const std::vector<std::int64_t>& ascending) {
    for (const std::int64_t b : ascending) {
      if (!trial_(Instance(without({b}))).plan) continue;
      free_text({b});
      return;
    }
  }

  // Adds the change that frees as few buffers as possible: the smallest single sufficient buffer,
  // or the largest buffers until a layout is found.
  void free_buffers(const std::vector<std::int64_t>& descending) {
    const std::size_t before = conflict_.changes.size();
    const Bytes over = peak_load(instance_).load - *instance_.capacity;
    std::vector<std::int64_t> enough;  // buffers that alone suffice at this step
    for (const std::int64_t b : descending) {
      // A buffer frees the whole blocks that it begins, and the rest of its last block that the
      // next buffer leaves.
      const Bytes most = (buffer(b).size + unit_ - 1) / unit_ * unit_ + unit_ - 1;
      if (most >= over) enough.insert(enough.begin(), b);
    }
    free_one_of(enough);
    if (conflict_.changes.size() > before) return;
    std::vector<std::int64_t> gone;
    LayoutInstance left = instance_;
    while (!trial_(Instance(left)).plan) {
      const PeakLoad peak = peak_load(left);
      // Indices into `left` differ from those of the instance, so the largest buffer of the
      // instance at that step is taken.
      std::int64_t largest = -1;
      for (const std::int64_t b : needing_memory_at(instance_, peak.step)) {
        if (std::find(gone.begin(), gone.end(), b) != gone.end()) continue;
        if (largest < 0 || buffer(b).size > buffer(largest).size) largest = b;
      }
      if (largest < 0) return;
      gone.push_back(largest);
      left = without(gone);
    }
    if (!gone.empty()) free_text(gone);
  }

  void unpin(std::int64_t b) {
    LayoutInstance changed = instance_;
    changed.buffers[static_cast<std::size_t>(b)].offset.reset();
    conflict_.changes.push_back({place(b) + "/offset_bytes",
                                 "let buffer " + name(b) + " lie anywhere", std::move(changed),
                                 std::nullopt});
  }

  // Adds the change that raises the capacity to the smallest peak found without a capacity.
  void raise_capacity() {
    LayoutInstance changed = instance_;
    changed.capacity.reset();
    const Outcome outcome = trial_(Instance(changed));
    if (!outcome.plan) return;  // the pins clash as well
    const Bytes peak = std::get<LayoutPlan>(*outcome.plan).peak_bytes;
    changed.capacity = peak;
    std::string text = "raise capacity_bytes from " + std::to_string(*instance_.capacity) + " to " +
                       std::to_string(peak) + " (+" + bytes(peak - *instance_.capacity);
    text += outcome.status == Status::optimal ? ", the least that goes)" : ")";
    conflict_.changes.push_back(
        {"/capacity_bytes", std::move(text), std::move(changed), outcome.plan});
  }

  const LayoutInstance& instance_;
  const Trial& trial_;
  const Bytes unit_;
  Conflict conflict_;
};

}  // namespace

Conflict conflict_in(const LayoutInstance& instance, const Trial& trial) {
  return LayoutConflict(instance, trial).run();
}

}  // namespace stowage
