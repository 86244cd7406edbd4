// A random place of a random scatter plan, and a change of the plan there.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "tests/instances/mutation.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::verify_mutation_test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline constexpr int kMaxInt = std::numeric_limits<int>::max();

inline constexpr int kMinInt = std::numeric_limits<int>::min();

inline constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

// A plan, and the random place of the next mutation.
struct Site {
  ScatterInstance& instance;
  ScatterPlan& plan;
  Draw& draw;
  ScatterMicroBatch& micro_batch;
  ScatterGroup& group;

  std::int64_t& sequence() const { return group.sequences[draw.below(group.sequences.size())]; }
  // Returns the tokens that the sequence has on the group.
  Tokens length(std::int64_t id) const {
    return padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], form());
  }
  GroupForm form() const { return {group.degree, group.exchange}; }
  // Returns another group of the plan, or null.
  ScatterGroup* other_group(bool same_micro_batch) const {
    std::vector<ScatterGroup*> others;
    for (ScatterMicroBatch& each : plan.micro_batches) {
      if (same_micro_batch && &each != &micro_batch) continue;
      for (ScatterGroup& candidate : each.groups) {
        if (&candidate != &group) others.push_back(&candidate);
      }
    }
    return others.empty() ? nullptr : others[draw.below(others.size())];
  }
};

// Gives the instance padding by degree, of sequences and of rows, and the plan what follows.
inline void pad_rows(const Site& s) {
  s.instance.pad_multiple = 1;
  s.instance.padding = Padding{.sequence_multiple = 3, .row_multiple = 11};
  restate(s.instance, s.plan);
}

struct Mutation {
  std::string name;
  std::string rule;                         // the rule that must be reported
  std::function<bool(const Site&)> change;  // returns false if it does not apply here
};

inline void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

}  // namespace stowage::verify_mutation_test
