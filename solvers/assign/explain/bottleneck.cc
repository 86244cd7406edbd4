// Computes the bottleneck of an assign plan: the slowest replica and its longest row, and any move
// or exchange of one of its sequences that would end the step earlier.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "instances/assign/json/json.h"
#include "instances/assign/planning_table.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/explain/explain.h"
#include "solvers/explain/family_explain.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxMoves = 20'000'000;
constexpr std::int64_t kMaxLooks = 2'000'000'000;  // limit on visits of rows by all moves

std::string pointer(std::size_t replica, std::size_t row) {
  return "/replicas/" + std::to_string(replica) + "/rows/" + std::to_string(row);
}

const Scheme& scheme_named(const AssignInstance& instance, const std::string& name) {
  return *std::find_if(instance.schemes.begin(), instance.schemes.end(),
                       [&](const Scheme& scheme) { return scheme.name == name; });
}

class AssignMoves {
 public:
  AssignMoves(const AssignInstance& instance, const AssignPlan& plan)
      : instance_(instance), plan_(plan) {
    std::map<std::string_view, const Scheme*> by_name;
    for (const Scheme& scheme : instance.schemes) by_name.emplace(scheme.name, &scheme);
    for (const AssignReplica& replica : plan.replicas) {
      schemes_.push_back(by_name.at(replica.scheme));
    }
    for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
      if (plan.replicas[r].time_ms > plan.replicas[slowest_].time_ms) slowest_ = r;
    }
  }

  std::size_t slowest() const { return slowest_; }

  Moves run() {
    const AssignReplica& replica = plan_.replicas[slowest_];
    for (std::size_t j = 0; j < replica.rows.size(); ++j) {
      for (const std::int64_t id : replica.rows[j].sequences) {
        for (std::size_t r = 0; r < plan_.replicas.size() && moves_.all; ++r) try_replica(id, j, r);
      }
    }
    return moves_;
  }

 private:
  // share of the objective; smaller gains may be rounding
  static constexpr double kWorthTelling = 1e-9;

  Tokens length(std::int64_t id) const {
    return padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)]);
  }
  Ms work(std::int64_t id, std::size_t r) const {
    const auto s = static_cast<double>(length(id));
    return schemes_[r]->quadratic_ms * s * s + schemes_[r]->linear_ms * s;
  }

  // A row with a changed time. row == rows.size() is a new row, and time 0 is a removed row.
  struct Changed {
    std::size_t row = 0;
    Ms time = 0;
  };

  // Returns T of the replica with these rows changed.
  Ms replica_time(std::size_t r, std::initializer_list<Changed> changes) const {
    const std::vector<AssignRow>& rows = plan_.replicas[r].rows;
    Ms sum = 0;
    Ms longest = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      Ms time = rows[j].time_ms;
      for (const Changed& change : changes) {
        if (change.row == j) time = change.time;
      }
      sum += time;
      longest = std::max(longest, time);
    }
    for (const Changed& change : changes) {
      if (change.row < rows.size()) continue;
      sum += change.time;
      longest = std::max(longest, change.time);
    }
    return sum + (schemes_[r]->pp - 1) * longest;
  }

  bool rows_may_change() const {
    const RowConstraints& rule = instance_.constraints;
    return rule.rows_multiple_of == 1 && !rule.equal_rows;
  }

  // Tries the moves and exchanges of sequence `id` of row j of the slowest replica with replica r.
  void try_replica(std::int64_t id, std::size_t j, std::size_t r) {
    if (++looks_ > kMaxLooks) moves_.all = false;
    const AssignRow& from = plan_.replicas[slowest_].rows[j];
    const bool single = from.sequences.size() == 1;
    const bool last = plan_.replicas[slowest_].rows.size() == 1;
    const bool may_leave =
        !single || (rows_may_change() && (instance_.constraints.allow_empty || !last));
    const Ms left = single ? 0 : from.time_ms - work(id, slowest_);
    const std::vector<AssignRow>& rows = plan_.replicas[r].rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (looks_ > kMaxLooks) return;
      if (r == slowest_ && k == j) continue;
      const AssignRow& to = rows[k];
      if (may_leave && to.tokens + length(id) <= schemes_[r]->max_tokens) {
        judge({j, left}, r, {k, to.time_ms + work(id, r)}, [&] {
          return "move sequence " + std::to_string(id) + " from " + pointer(slowest_, j) + " to " +
                 pointer(r, k);
        });
      }
      for (const std::int64_t other : to.sequences) {
        const Tokens longer = length(id) - length(other);
        if (to.tokens + longer > schemes_[r]->max_tokens) continue;
        if (from.tokens - longer > schemes_[slowest_]->max_tokens) continue;
        judge({j, from.time_ms - work(id, slowest_) + work(other, slowest_)}, r,
              {k, to.time_ms - work(other, r) + work(id, r)}, [&] {
                return "exchange sequence " + std::to_string(id) + " of " + pointer(slowest_, j) +
                       " with sequence " + std::to_string(other) + " of " + pointer(r, k);
              });
      }
    }
    if (may_leave && rows_may_change() && length(id) <= schemes_[r]->max_tokens) {
      judge({j, left}, r, {rows.size(), schemes_[r]->fixed_ms + work(id, r)}, [&] {
        return "move sequence " + std::to_string(id) + " from " + pointer(slowest_, j) +
               " to a new row of /replicas/" + std::to_string(r);
      });
    }
  }

  template <class Text>
  void judge(Changed from, std::size_t r, Changed to, const Text& text) {
    looks_ += static_cast<std::int64_t>(plan_.replicas[slowest_].rows.size() +
                                        plan_.replicas[r].rows.size());
    if (++moves_.tried >= kMaxMoves || looks_ > kMaxLooks) moves_.all = false;
    Ms step = r == slowest_ ? replica_time(r, {from, to})
                            : std::max(replica_time(slowest_, {from}), replica_time(r, {to}));
    if (plan_.objective_ms - step <= moves_.best_gain) return;
    for (std::size_t other = 0; other < plan_.replicas.size(); ++other) {
      if (other != slowest_ && other != r) step = std::max(step, plan_.replicas[other].time_ms);
    }
    const Ms gain = plan_.objective_ms - step;
    if (gain <= moves_.best_gain || gain <= kWorthTelling * plan_.objective_ms) return;
    moves_.best_gain = gain;
    moves_.best_text = text();
  }

  const AssignInstance& instance_;
  const AssignPlan& plan_;
  std::vector<const Scheme*> schemes_;  // scheme of each replica
  std::size_t slowest_ = 0;
  std::int64_t looks_ = 0;  // visits of rows
  Moves moves_;
};

Finding slowest_replica(const AssignInstance& instance, const AssignPlan& plan, std::size_t r) {
  const AssignReplica& replica = plan.replicas[r];
  const Scheme& scheme = scheme_named(instance, replica.scheme);
  Ms sum = 0;
  Ms longest = 0;
  Ms next = 0;
  for (const AssignRow& row : replica.rows) {
    sum += row.time_ms;
    longest = std::max(longest, row.time_ms);
  }
  for (std::size_t other = 0; other < plan.replicas.size(); ++other) {
    if (other != r) next = std::max(next, plan.replicas[other].time_ms);
  }
  std::string text = "scheme " + replica.scheme + " with " +
                     plain_count(static_cast<std::int64_t>(replica.rows.size()), "row") +
                     " takes " + plain_number(replica.time_ms) + " ms";
  if (scheme.pp > 1) {
    text += ": " + plain_number(sum) + " ms of rows and " +
            plain_number((scheme.pp - 1) * longest) + " ms of pipeline bubble, " +
            std::to_string(scheme.pp - 1) + " times the longest row";
  }
  if (plan.replicas.size() > 1) text += "; the next slowest takes " + plain_number(next) + " ms";
  return {"/replicas/" + std::to_string(r), text};
}

Finding longest_row(const AssignInstance& instance, const AssignPlan& plan, std::size_t r) {
  const AssignReplica& replica = plan.replicas[r];
  const auto longest = std::max_element(
      replica.rows.begin(), replica.rows.end(),
      [](const AssignRow& a, const AssignRow& b) { return a.time_ms < b.time_ms; });
  return {pointer(r, static_cast<std::size_t>(longest - replica.rows.begin())),
          "its longest row holds " +
              plain_count(static_cast<std::int64_t>(longest->sequences.size()), "sequence") + ", " +
              std::to_string(longest->tokens) + " of " +
              std::to_string(scheme_named(instance, replica.scheme).max_tokens) +
              " tokens, and takes " + plain_number(longest->time_ms) + " ms"};
}

}  // namespace

Bottleneck binding_of(const AssignInstance& instance, const AssignPlan& plan) {
  Bottleneck binding;
  if (plan.objective_ms <= 0) return binding;
  AssignMoves moves(instance, plan);
  binding.parts.push_back(slowest_replica(instance, plan, moves.slowest()));
  binding.parts.push_back(longest_row(instance, plan, moves.slowest()));
  // Rows of chunks change in sets, and their number follows, so single moves have no meaning for
  // them.
  if (!instance.constraints.chunks) binding.moves = moves.run();
  return binding;
}

std::vector<Change> changes_of(const AssignInstance& instance, const AssignPlan& plan) {
  constexpr std::size_t kMostSchemes = 16;  // limit on changes, because each holds an instance
  std::vector<Change> changes;
  AssignInstance changed = instance;
  Tokens widest = 0;
  for (const Scheme& scheme : instance.schemes) widest = std::max(widest, scheme.max_tokens);
  const auto little = static_cast<Tokens>(a_little_of(static_cast<double>(widest)));
  const Tokens more = std::clamp<Tokens>(little, 1, 1024);
  for (Scheme& scheme : changed.schemes) {
    scheme.max_tokens = std::min(scheme.max_tokens + more, kMaxExact);
  }
  AssignPlan start = plan;  // wider rows hold the same sequences
  start.instance_hash = instance_hash(changed);
  changes.push_back(
      {"/schemes", "rows of " + counted(more, "token") + " more", changed, Plan(std::move(start))});

  // Adds a change with one more replica for each scheme of the plan's strategy, up to kMostSchemes.
  const auto chosen = std::find_if(instance.strategies.begin(), instance.strategies.end(),
                                   [&](const Strategy& s) { return s.name == plan.strategy; });
  for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
    if (chosen->replicas[g] == 0) continue;
    if (changes.size() > kMostSchemes) break;
    const Scheme& scheme = instance.schemes[g];
    if (instance.devices + scheme.tp * scheme.pp > kMaxDevices) continue;
    changed = instance;
    changed.devices += scheme.tp * scheme.pp;
    ++changed.strategies[static_cast<std::size_t>(chosen - instance.strategies.begin())]
          .replicas[g];
    changes.push_back({"/strategies/" + plan.strategy + "/" + scheme.name,
                       "one more replica " + scheme.name + " on " +
                           std::to_string(scheme.tp * scheme.pp) + " more devices",
                       changed, std::nullopt});
  }
  return changes;
}

}  // namespace stowage
