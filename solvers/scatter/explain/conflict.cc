// Finds the reason why a scatter step has no plan. Sequences may have micro-batches of their own.
// So the reason is a sequence that is longer than every group, or rules that need more groups than
// there are sequences.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/device_pools.h"
#include "solvers/explain/family_explain.h"
#include "solvers/scatter/explain/explain.h"
#include "solvers/scatter/explain/remedy.h"

namespace stowage {
namespace {

std::string tokens(Tokens count) { return plain_count(count, "token"); }

// Returns the least degree of at least `wanted` that the cluster's rules admit beside the present
// degrees.
std::int64_t degree_for(const Cluster& cluster, std::int64_t wanted) {
  return round_up(wanted, cluster.aligned ? cluster.degrees.back() : 1);
}

class ScatterConflict {
 public:
  explicit ScatterConflict(const ScatterInstance& instance)
      : instance_(instance),
        unplaceable_(unplaceable_sequences(instance)),
        form_(largest_form(instance)),
        degree_(form_.degree),
        capacity_(longest_in_group(instance, form_)) {
    for (const std::int64_t id : unplaceable_) {
      if (longest_ < 0 || length(id) > length(longest_)) longest_ = id;
    }
  }

  Conflict run() {
    Conflict conflict;
    if (longest_ < 0) {
      conflict.causes = causes_in_count();
      add_rules(conflict.changes);
      return conflict;
    }
    conflict.causes = causes();
    add_room(conflict.changes);
    add_degree(conflict.changes);
    if (unplaceable_.size() < instance_.lengths.size()) add_drop(conflict.changes);
    if (capacity_ >= sequence_multiple(instance_, form_)) add_cut(conflict.changes);
    return conflict;
  }

 private:
  // Returns the tokens of a group of the form that holds the sequence alone.
  Tokens length(std::int64_t id, GroupForm form) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    return round_up(padded_length(instance_, own, form), row_multiple(instance_, form));
  }
  Tokens length(std::int64_t id) const { return length(id, form_); }

  // The longest sequence alone conflicts with the limits, and it is the hardest to place.
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
    if (is_capped()) {
      causes.push_back({"/rules/max_tokens_per_rank",
                        tokens(instance_.rules.max_tokens_per_rank) + " on each rank at most"});
    }
    if (!is_capped() || needed_in_memory() > tokens_per_device(instance_, form_)) {
      causes.push_back(memory_cause());
      add_terms(causes);
    }
    if (capacity_ == 0) return causes;  // no degree helps devices without memory for tokens
    causes.push_back({"/cluster/degrees", "the largest degree, " + std::to_string(degree_) +
                                              ", makes groups of " + tokens(capacity_)});
    return causes;
  }

  Finding memory_cause() const {
    const auto& kinds = instance_.cluster.kinds;
    Mib memory = instance_.cluster.memory_mib;
    if (!kinds.empty()) {
      memory = group_place(instance_.cluster, degree_, form_.place)->memory_mib;
    }
    return {kinds.empty() ? "/cluster/memory_mib" : "/cluster/kinds",
            plain_number(memory) + " MiB less " + plain_number(fixed_mib(instance_)) +
                " MiB of model states" +
                (instance_.model.logits_chunk_tokens > 0 ? " and a chunk's logits" : "") +
                " hold " + tokens(tokens_per_device(instance_, form_)) + " of " +
                plain_number(token_mib(instance_, form_)) + " MiB on a device" +
                (instance_.model.offload ? ", with all on the host that can leave" : "")};
  }

  // Adds the other contents of memory as causes, if the sequence would fit without them.
  void add_terms(std::vector<Finding>& causes) const {
    const ModelMemory& model = instance_.model;
    ScatterInstance plain = instance_;
    plain.model = {.states_mib = model.states_mib,
                   .activation_mib_per_token = model.activation_mib_per_token,
                   .recomputation = model.recomputation,
                   .offload = model.offload};
    if (tokens_per_device(plain, form_) < (length(longest_) + degree_ - 1) / degree_) return;
    if (const Tokens beside = sequence_tokens(instance_, form_); beside > 0) {
      causes.push_back({"/model/sequence_mib", plain_number(model.sequence_mib) +
                                                   " MiB of a sequence on each device, as " +
                                                   tokens(beside) + " of the group"});
    }
    if (model.logits_mib_per_token > 0) {
      const bool chunks = model.logits_chunk_tokens > 0;
      causes.push_back(
          {"/model/logits_mib_per_token",
           plain_number(model.logits_mib_per_token) + " MiB of logits of " +
               (chunks ? tokens(model.logits_chunk_tokens) + " at a time, each" : "each token")});
    }
    const Mib others = token_mib(instance_, form_) -
                       token_mib(instance_, {degree_, ExchangeKind::none, form_.recomputation});
    if (others > 0) {
      causes.push_back({"/model/keys_values_mib_per_token",
                        plain_number(others) + " MiB of keys and values of others for each token"});
    }
  }

  // Returns true if the rule allows fewer tokens than memory does.
  bool is_capped() const {
    return instance_.rules.max_tokens_per_rank < tokens_per_device(instance_, form_);
  }
  // Returns the tokens of the longest sequence on each device of the largest group.
  Tokens needed() const { return (length(longest_) + degree_ - 1) / degree_; }
  // Returns needed() with the tokens that each sequence takes besides its length.
  Tokens needed_in_memory() const {
    return (length(longest_) + sequence_tokens(instance_, form_) + degree_ - 1) / degree_;
  }

  // Adds more memory, a larger token limit, or both as changes.
  void add_room(std::vector<Change>& changes) const {
    ScatterInstance changed = instance_;
    std::string where;
    std::string text;
    if (instance_.rules.max_tokens_per_rank < needed()) {
      changed.rules.max_tokens_per_rank = needed();
      where = "/rules/max_tokens_per_rank";
      text = "raise rules.max_tokens_per_rank from " +
             std::to_string(instance_.rules.max_tokens_per_rank) + " to " +
             std::to_string(needed());
    }
    if (tokens_per_device(instance_, form_) < needed_in_memory()) {
      const Mib memory = memory_for(instance_, form_, needed_in_memory());
      if (memory > static_cast<double>(kMaxExact)) return;  // instances do not allow larger numbers
      text += text.empty() ? "" : ", and ";
      changed.cluster.memory_mib = memory;
      if (instance_.cluster.kinds.empty()) {
        where = "/cluster/memory_mib";
        text += "raise cluster.memory_mib from " + plain_number(instance_.cluster.memory_mib) +
                " to " + plain_number(memory) + " (+" +
                plain_number(memory - instance_.cluster.memory_mib) + " MiB on each device)";
      } else {
        where = "/cluster/kinds";
        text += "raise the memory of all kinds of devices to " + plain_number(memory) + " MiB";
        for (DeviceKind& kind : changed.cluster.kinds) {
          kind.memory_mib = std::max(kind.memory_mib, memory);
        }
      }
    }
    changes.push_back({std::move(where), std::move(text), std::move(changed), std::nullopt});
  }

  std::vector<Finding> causes_in_count() const {
    const ScatterRules& rules = instance_.rules;
    std::vector<Finding> causes;
    causes.push_back(
        {"/lengths", plain_count(static_cast<std::int64_t>(instance_.lengths.size()), "sequence") +
                         ", and each group needs one"});
    if (rules.no_idle_ranks) {
      causes.push_back({"/rules/no_idle_ranks", "the groups of each micro-batch cover all " +
                                                    std::to_string(instance_.cluster.devices) +
                                                    " ranks"});
    }
    if (rules.micro_batches_multiple_of > 1) {
      causes.push_back({"/rules/micro_batches_multiple_of",
                        "the number of micro-batches is a multiple of " +
                            std::to_string(rules.micro_batches_multiple_of)});
    }
    return causes;
  }

  // Adds changes that drop one of the rules on whole micro-batches and on their number, or both
  // rules.
  void add_rules(std::vector<Change>& changes) const {
    const ScatterRules& rules = instance_.rules;
    const bool several = rules.micro_batches_multiple_of > 1;
    const auto with = [&](std::string where, std::string text, bool no_idle, bool multiple) {
      ScatterInstance changed = instance_;
      if (no_idle) changed.rules.no_idle_ranks = false;
      if (multiple) changed.rules.micro_batches_multiple_of = 1;
      changes.push_back({std::move(where), std::move(text), std::move(changed), std::nullopt});
    };
    if (rules.no_idle_ranks) {
      with("/rules/no_idle_ranks", "set rules.no_idle_ranks to false", true, false);
    }
    if (several) {
      with("/rules/micro_batches_multiple_of", "set rules.micro_batches_multiple_of to 1", false,
           true);
    }
    if (rules.no_idle_ranks && several) {
      with("/rules", "set rules.no_idle_ranks to false and rules.micro_batches_multiple_of to 1",
           true, true);
    }
  }

  void add_degree(std::vector<Change>& changes) const {
    const Tokens device =
        std::min(tokens_per_device(instance_, form_), instance_.rules.max_tokens_per_rank);
    if (device == 0 || !instance_.cluster.kinds.empty()) return;
    std::int64_t least = degree_for(instance_.cluster, (length(longest_) + device - 1) / device);
    // The tokens taken besides the length, for sequences and all-gathers, grow with the degree. So
    // a still larger degree may be needed.
    for (; least <= kMaxDevices; least = degree_for(instance_.cluster, least + 1)) {
      const GroupForm form{static_cast<int>(least), form_.exchange, form_.recomputation};
      if (longest_in_group(instance_, form) >= length(longest_, form)) break;
    }
    if (least > kMaxDevices) return;
    if (sequence_multiple(instance_, {static_cast<int>(least), form_.exchange}) > kMaxPadMultiple) {
      return;
    }
    const int degree = static_cast<int>(least);
    if (!instance_.cost.table.empty()) return;  // no time was measured for that degree
    ScatterInstance changed = instance_;
    Cluster& cluster = changed.cluster;
    cluster.degrees.push_back(degree);
    std::string text = "allow degree " + std::to_string(degree);
    if (degree > cluster.devices) {
      text += " on " + std::to_string(degree) + " devices (+" +
              std::to_string(degree - cluster.devices) + ')';
      cluster.devices = degree;
    }
    if (changed.mixed) cluster.degrees = {1, degree};
    if (changed.cost.exchange) {
      Exchange& exchange = *changed.cost.exchange;
      const auto kinds = exchange.kinds.find(degree_);
      if (kinds == exchange.kinds.end()) return;  // only degree 1: no kind is known
      const bool crosses = may_cross_nodes(cluster, degree);
      if (crosses && !(exchange.across_mib_per_ms > 0)) return;  // the bandwidth is unknown
      std::vector<ExchangeKind> able;
      for (const ExchangeKind kind : kinds->second) {
        if (can_exchange(cluster, {degree, kind})) able.push_back(kind);
      }
      if (able.empty()) return;
      const auto unknown = [&](ExchangeKind kind) {  // the volume of more devices
        const bool two_level = kind == ExchangeKind::two_level;
        const int devices = two_level ? cluster.devices_per_node : degree;
        return (two_level || kind == ExchangeKind::all_to_all) &&
               !exchange.all_to_all_by_devices.contains(devices);
      };
      if (!exchange.all_to_all_by_devices.empty() && std::ranges::any_of(able, unknown)) return;
      exchange.kinds[degree] = std::move(able);
    }
    if (AllToAll& exchange = changed.cost.all_to_all; exchange.mib_per_token > 0) {
      const auto rate = exchange.mib_per_ms.find(degree_);
      if (rate == exchange.mib_per_ms.end()) return;  // only degree 1: no rate is known
      exchange.mib_per_ms[degree] = rate->second;
      text += ", exchanging at the rate of degree " + std::to_string(degree_);
    }
    changes.push_back({"/cluster/degrees", text, std::move(changed), std::nullopt});
  }

  void add_drop(std::vector<Change>& changes) const {
    const std::set<std::int64_t> gone(unplaceable_.begin(), unplaceable_.end());
    ScatterInstance changed = instance_;
    changed.lengths.clear();
    changed.loss_tokens.clear();  // no plan depends on the loss tokens
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
    const Tokens multiple = sequence_multiple(instance_, form_);
    const Tokens most = capacity_ / multiple * multiple;
    ScatterInstance changed = instance_;
    changed.loss_tokens.clear();
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
  GroupForm form_;  // holds the longest sequence
  int degree_;
  Tokens capacity_;
  std::int64_t longest_ = -1;
};

}  // namespace

Conflict conflict_in(const ScatterInstance& instance, const Trial&) {
  return ScatterConflict(instance).run();
}

}  // namespace stowage
