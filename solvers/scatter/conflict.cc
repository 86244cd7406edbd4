// Why a scatter step has no plan: sequences may have micro-batches of their own, so that it can
// only be a sequence that is longer than every group.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "instances/json/limits.h"
#include "instances/numbers.h"
#include "instances/scatter/cost_model.h"
#include "solvers/explain/family_explain.h"
#include "solvers/scatter/explain.h"

namespace stowage {
namespace {

std::string tokens(Tokens count) { return plain_count(count, "token"); }

// The least whole MiB with which a device holds `wanted` tokens.
Mib memory_for(ScatterInstance instance, Tokens wanted) {
  instance.cluster.memory_mib =
      std::ceil(instance.model.states_mib +
                instance.model.activation_mib_per_token * static_cast<double>(wanted));
  // The product may have been rounded down by a hair, and above 2^53 one more is no more.
  Mib& memory = instance.cluster.memory_mib;
  while (tokens_per_device(instance) < wanted) {
    memory = std::max(memory + 1, std::nextafter(memory, kInfinity));
  }
  return memory;
}

// The least degree of at least `wanted` that the cluster's rules admit beside the present ones.
std::int64_t degree_for(const Cluster& cluster, std::int64_t wanted) {
  return round_up(wanted, cluster.aligned ? cluster.degrees.back() : 1);
}

class ScatterConflict {
 public:
  explicit ScatterConflict(const ScatterInstance& instance)
      : instance_(instance),
        unplaceable_(unplaceable_sequences(instance)),
        degree_(instance.cluster.degrees.back()),
        capacity_(group_capacity(instance, degree_)) {
    for (const std::int64_t id : unplaceable_) {
      if (longest_ < 0 || length(id) > length(longest_)) longest_ = id;
    }
  }

  Conflict run() {
    Conflict conflict;
    if (longest_ < 0) return conflict;
    conflict.causes = causes();
    add_memory(conflict.changes);
    add_degree(conflict.changes);
    if (unplaceable_.size() < instance_.lengths.size()) add_drop(conflict.changes);
    if (capacity_ >= instance_.pad_multiple) add_cut(conflict.changes);
    return conflict;
  }

 private:
  Tokens length(std::int64_t id) const {
    return padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)]);
  }

  // The longest sequence alone is a conflict with the limits, and the hardest one to resolve.
  std::vector<Finding> causes() const {
    std::vector<Finding> causes;
    std::string text = "sequence " + std::to_string(longest_) + " has " + tokens(length(longest_));
    if (length(longest_) != instance_.lengths[static_cast<std::size_t>(longest_)]) {
      text += " after padding";
    }
    if (unplaceable_.size() > 1) {
      text += ", the longest of " + std::to_string(unplaceable_.size()) +
              " that fit no group: " + listed(unplaceable_);
    }
    causes.push_back({"/lengths/" + std::to_string(longest_), text});
    causes.push_back({"/cluster/memory_mib",
                      plain_number(instance_.cluster.memory_mib) + " MiB less " +
                          plain_number(instance_.model.states_mib) + " MiB of model states hold " +
                          tokens(tokens_per_device(instance_)) + " of " +
                          plain_number(instance_.model.activation_mib_per_token) +
                          " MiB on a device"});
    if (capacity_ == 0) return causes;  // no degree helps devices that hold nothing
    causes.push_back({"/cluster/degrees", "the largest degree, " + std::to_string(degree_) +
                                              ", makes groups of " + tokens(capacity_)});
    return causes;
  }

  void add_memory(std::vector<Change>& changes) const {
    const Mib memory = memory_for(instance_, (length(longest_) + degree_ - 1) / degree_);
    if (memory > static_cast<double>(kMaxExact)) return;  // no instance may say so
    ScatterInstance changed = instance_;
    changed.cluster.memory_mib = memory;
    changes.push_back(
        {"/cluster/memory_mib",
         "raise cluster.memory_mib from " + plain_number(instance_.cluster.memory_mib) + " to " +
             plain_number(memory) + " (+" + plain_number(memory - instance_.cluster.memory_mib) +
             " MiB on each device)",
         std::move(changed), std::nullopt});
  }

  void add_degree(std::vector<Change>& changes) const {
    const Tokens device = tokens_per_device(instance_);
    if (device == 0) return;
    const std::int64_t wanted = (length(longest_) + device - 1) / device;
    const std::int64_t least = degree_for(instance_.cluster, wanted);
    if (least > kMaxDevices) return;
    const int degree = static_cast<int>(least);
    ScatterInstance changed = instance_;
    Cluster& cluster = changed.cluster;
    cluster.degrees.push_back(degree);
    std::string text = "allow degree " + std::to_string(degree);
    if (degree > cluster.devices) {
      text += " on " + std::to_string(degree) + " devices (+" +
              std::to_string(degree - cluster.devices) + ')';
      cluster.devices = degree;
    }
    if (AllToAll& exchange = changed.cost.all_to_all; exchange.mib_per_token > 0) {
      const auto rate = exchange.mib_per_ms.find(degree_);
      if (rate == exchange.mib_per_ms.end()) return;  // degree 1 alone: no rate is known
      exchange.mib_per_ms[degree] = rate->second;
      text += ", exchanging at the rate of degree " + std::to_string(degree_);
    }
    changes.push_back({"/cluster/degrees", text, std::move(changed), std::nullopt});
  }

  void add_drop(std::vector<Change>& changes) const {
    const std::set<std::int64_t> gone(unplaceable_.begin(), unplaceable_.end());
    ScatterInstance changed = instance_;
    changed.lengths.clear();
    for (std::size_t id = 0; id < instance_.lengths.size(); ++id) {
      if (!gone.contains(static_cast<std::int64_t>(id))) {
        changed.lengths.push_back(instance_.lengths[id]);
      }
    }
    changes.push_back({"/lengths",
                       "drop " + std::to_string(gone.size()) + " of " +
                           std::to_string(instance_.lengths.size()) +
                           " sequences: " + listed(unplaceable_),
                       std::move(changed), std::nullopt});
  }

  void add_cut(std::vector<Change>& changes) const {
    const Tokens most = capacity_ / instance_.pad_multiple * instance_.pad_multiple;
    ScatterInstance changed = instance_;
    for (const std::int64_t id : unplaceable_) {
      changed.lengths[static_cast<std::size_t>(id)] = most;
    }
    changes.push_back({"/lengths",
                       "cut " +
                           plain_count(static_cast<std::int64_t>(unplaceable_.size()), "sequence") +
                           " to " + tokens(most) + ": " + listed(unplaceable_),
                       std::move(changed), std::nullopt});
  }

  const ScatterInstance& instance_;
  std::vector<std::int64_t> unplaceable_;
  int degree_;
  Tokens capacity_;
  std::int64_t longest_ = -1;
};

}  // namespace

Conflict conflict_in(const ScatterInstance& instance, const Trial&) {
  return ScatterConflict(instance).run();
}

}  // namespace stowage
