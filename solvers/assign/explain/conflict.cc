// Finds the reason why an assign instance has no plan: a sequence longer than every row, or row
// constraints that need more rows than the sequences can fill.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "solvers/assign/explain/explain.h"
#include "solvers/explain/family_explain.h"

namespace stowage {
namespace {

std::string tokens(Tokens count) { return plain_count(count, "token"); }

// A limit of the instance, and a function that removes the limit.
struct Limit {
  Finding cause;
  void (*lift)(AssignInstance&);
};

void lift_multiple(AssignInstance& instance) { instance.constraints.rows_multiple_of = 1; }
void lift_equal(AssignInstance& instance) { instance.constraints.equal_rows = false; }
void lift_empty(AssignInstance& instance) { instance.constraints.allow_empty = true; }
void lift_caps(AssignInstance& instance) {
  const std::vector<Tokens> padded = padded_lengths(instance);
  const Tokens all = std::accumulate(padded.begin(), padded.end(), Tokens{1});
  for (Scheme& scheme : instance.schemes) scheme.max_tokens = std::max(scheme.max_tokens, all);
}

class AssignConflict {
 public:
  AssignConflict(const AssignInstance& instance, const Trial& trial)
      : instance_(instance), trial_(trial) {}

  Conflict run() {
    const std::vector<std::int64_t> unplaceable = unplaceable_sequences(instance_);
    if (unplaceable.empty()) return of_constraints();
    return of_lengths(unplaceable);
  }

 private:
  Tokens length(std::int64_t id) const {
    return padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)]);
  }

  // Returns the least max_tokens with which the scheme admits a sequence of `wanted` tokens. With
  // chunks this may be less than `wanted`, because chunks pass through the stages.
  Tokens least_cap(Scheme scheme, Tokens wanted) const {
    Tokens low = scheme.max_tokens;  // the largest value known to be too small
    Tokens high = wanted;
    while (high - low > 1) {
      scheme.max_tokens = low + (high - low) / 2;
      (longest_sequence(instance_, scheme) >= wanted ? high : low) = scheme.max_tokens;
    }
    return high;
  }

  Conflict of_lengths(const std::vector<std::int64_t>& unplaceable) const {
    std::int64_t longest = unplaceable.front();
    for (const std::int64_t id : unplaceable) {
      if (length(id) > length(longest)) longest = id;
    }
    const Strategy* holder = &instance_.strategies.front();
    for (const Strategy& strategy : instance_.strategies) {
      if (longest_allowed(instance_, strategy) > longest_allowed(instance_, *holder)) {
        holder = &strategy;
      }
    }
    const Tokens held = longest_allowed(instance_, *holder);
    std::size_t widest = 0;  // the scheme that admits this many tokens
    while (holder->replicas[widest] == 0 ||
           longest_sequence(instance_, instance_.schemes[widest]) != held) {
      ++widest;
    }

    Conflict conflict;
    std::string text = "sequence " + std::to_string(longest) + " has " + tokens(length(longest));
    if (length(longest) != instance_.lengths[static_cast<std::size_t>(longest)]) {
      text += " after padding";
    }
    if (unplaceable.size() > 1) {
      text += ", the longest of " + std::to_string(unplaceable.size()) +
              " that fit no row: " + listed(unplaceable);
    }
    conflict.causes = {
        {"/lengths/" + std::to_string(longest), text},
        {"/schemes/" + instance_.schemes[widest].name + "/max_tokens",
         (instance_.constraints.chunks ? "in chunks, no strategy admits more than one ("
                                       : "the widest row of any strategy (") +
             holder->name + (instance_.constraints.chunks ? "): " : ") holds ") + tokens(held)}};

    AssignInstance changed = instance_;
    const Tokens needed = least_cap(instance_.schemes[widest], length(longest));
    changed.schemes[widest].max_tokens = needed;
    conflict.changes.push_back(
        {"/schemes/" + instance_.schemes[widest].name + "/max_tokens",
         "raise max_tokens of scheme " + instance_.schemes[widest].name + " from " +
             std::to_string(instance_.schemes[widest].max_tokens) + " to " + std::to_string(needed),
         changed, std::nullopt});
    if (unplaceable.size() < instance_.lengths.size()) {
      changed = instance_;
      changed.lengths.clear();
      changed.loss_tokens.clear();  // the conflict does not depend on them
      const std::set<std::int64_t> gone(unplaceable.begin(), unplaceable.end());
      for (std::size_t id = 0; id < instance_.lengths.size(); ++id) {
        if (!gone.contains(static_cast<std::int64_t>(id))) {
          changed.lengths.push_back(instance_.lengths[id]);
        }
      }
      conflict.changes.push_back({"/lengths",
                                  "drop " + std::to_string(gone.size()) + " of " +
                                      std::to_string(instance_.lengths.size()) +
                                      " sequences: " + listed(unplaceable),
                                  changed, std::nullopt});
    }
    if (const Tokens most = held / instance_.pad_multiple * instance_.pad_multiple; most > 0) {
      changed = instance_;
      changed.loss_tokens.clear();
      for (const std::int64_t id : unplaceable) {
        changed.lengths[static_cast<std::size_t>(id)] = most;
      }
      conflict.changes.push_back(
          {"/lengths",
           "cut " + plain_count(static_cast<std::int64_t>(unplaceable.size()), "sequence") +
               " to " + tokens(most) + ": " + listed(unplaceable),
           changed, std::nullopt});
    }
    return conflict;
  }

  // Returns the limits that are set, the limits that are easiest to give up first.
  std::vector<Limit> limits() const {
    const RowConstraints& rule = instance_.constraints;
    std::vector<Limit> limits;
    if (rule.rows_multiple_of > 1) {
      limits.push_back(
          {{"/constraints/rows_multiple_of",
            "the rows of every replica are a multiple of " + std::to_string(rule.rows_multiple_of)},
           lift_multiple});
    }
    if (rule.equal_rows) {
      limits.push_back(
          {{"/constraints/equal_rows", "all replicas with rows have equally many"}, lift_equal});
    }
    if (!rule.allow_empty) {
      limits.push_back({{"/constraints/allow_empty", "every replica has rows"}, lift_empty});
    }
    limits.push_back({{"/schemes", "rows hold at most max_tokens of their schemes"}, lift_caps});
    return limits;
  }

  // Deletion filter: a limit is no cause if the instance without it is still infeasible.
  Conflict of_constraints() const {
    Conflict conflict;
    AssignInstance left = instance_;
    std::vector<Limit> needed;
    for (const Limit& limit : limits()) {
      AssignInstance without = left;
      limit.lift(without);
      const Outcome outcome = trial_(Instance(without));
      if (outcome.status == Status::infeasible) {
        left = std::move(without);
        continue;
      }
      if (!outcome.plan) conflict.irreducible = false;
      needed.push_back(limit);
    }
    const auto count = static_cast<std::int64_t>(instance_.lengths.size());
    conflict.causes.push_back(
        {"/lengths", "there " + (count == 1 ? std::string("is 1 sequence")
                                            : "are " + std::to_string(count) + " sequences")});
    for (const Limit& limit : needed) {
      conflict.causes.push_back(limit.cause);
      add_changes(limit, conflict.changes);
    }
    return conflict;
  }

  void add_changes(const Limit& limit, std::vector<Change>& changes) const {
    AssignInstance changed = instance_;
    if (limit.lift == lift_multiple) {
      if (const int multiple = largest_multiple(); multiple > 0) {
        changed.constraints.rows_multiple_of = multiple;
        changes.push_back({limit.cause.where,
                           "lower rows_multiple_of from " +
                               std::to_string(instance_.constraints.rows_multiple_of) + " to " +
                               std::to_string(multiple),
                           changed, std::nullopt});
      }
    } else if (limit.lift == lift_caps) {
      add_caps(changes);
    } else {
      limit.lift(changed);
      const bool equal = limit.lift == lift_equal;
      changes.push_back({limit.cause.where,
                         equal ? "give up equal_rows" : "allow replicas without rows", changed,
                         std::nullopt});
    }
  }

  bool feasible(const AssignInstance& changed) const {
    return trial_(Instance(changed)).plan.has_value();
  }

  // Returns the largest multiple known to be feasible, or 0 if none is.
  int largest_multiple() const {
    const auto sequences =
        static_cast<int>(std::min<std::size_t>(instance_.lengths.size(), 1 << 20));
    AssignInstance changed = instance_;
    int& multiple = changed.constraints.rows_multiple_of;
    // There cannot be more rows than sequences. An instance without sequences satisfies any
    // multiple.
    multiple = std::min(multiple - 1, std::max(sequences, 1));
    for (; multiple >= 1; --multiple) {
      if (feasible(changed)) return multiple;
    }
    return 0;
  }

  // Adds the change that widens all caps by the least common factor, in hundredths. Wider rows
  // never exclude a plan.
  void add_caps(std::vector<Change>& changes) const {
    const auto widened = [this](std::int64_t hundredths) {
      AssignInstance changed = instance_;
      for (Scheme& scheme : changed.schemes) {
        const auto wide = checked_mul(scheme.max_tokens, hundredths);
        scheme.max_tokens = wide ? std::min(*wide / 100, kMaxExact) : kMaxExact;
      }
      return changed;
    };
    std::int64_t least = 100;  // the largest value refuted so far
    std::int64_t most = 200;
    constexpr std::int64_t kMost = 100 << 10;
    while (most < kMost && !feasible(widened(most))) least = std::exchange(most, most * 2);
    if (most >= kMost) return;
    while (least + 1 < most) {
      const std::int64_t middle = least + (most - least) / 2;
      (feasible(widened(middle)) ? most : least) = middle;
    }
    changes.push_back({"/schemes",
                       "raise max_tokens of all schemes by " + std::to_string(most - 100) + " %",
                       widened(most), std::nullopt});
  }

  const AssignInstance& instance_;
  const Trial& trial_;
};

}  // namespace

Conflict conflict_in(const AssignInstance& instance, const Trial& trial) {
  return AssignConflict(instance, trial).run();
}

}  // namespace stowage
