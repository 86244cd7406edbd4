#include "tests/oracles/scatter/brute_force.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>
#include <vector>

#include "instances/scatter/compose.h"
#include "instances/scatter/cost_model.h"

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
using Subset = unsigned;  // bit k: sequence k

class Oracle {
 public:
  explicit Oracle(const ScatterInstance& instance)
      : instance_(instance),
        all_((Subset{1} << instance.lengths.size()) - 1),
        devices_(static_cast<std::size_t>(instance.cluster.devices)),
        grouped_((all_ + 1) * (devices_ + 1)) {
    fill_groupings();
  }

  std::optional<ScatterPlan> run() {
    // step[S]: the best sum of makespans for S; first[S]: the micro-batch that holds S's lowest.
    std::vector<Ms> step(all_ + 1, kForever);
    std::vector<Subset> first(all_ + 1, 0);
    step[0] = 0;
    for (Subset set = 1; set <= all_; ++set) {
      for_parts(set, [&](Subset part) {
        const Ms sum = grouping(part, devices_).makespan + step[set & ~part];
        if (sum < step[set]) {
          step[set] = sum;
          first[set] = part;
        }
      });
    }
    if (step[all_] == kForever) return std::nullopt;
    std::vector<MicroBatchChoice> batches;
    for (Subset rest = all_; rest != 0; rest &= ~first[rest]) batches.push_back(batch(first[rest]));
    return compose_plan(instance_, std::move(batches));
  }

 private:
  // The best grouping of a set on a number of devices, and the group of its lowest sequence.
  struct Grouping {
    Ms makespan = kForever;
    Subset group = 0;
    int degree = 0;
  };

  Grouping& grouping(Subset set, std::size_t devices) {
    return grouped_[set * (devices_ + 1) + devices];
  }

  // Every part of `set` that holds its lowest sequence.
  template <class Visit>
  static void for_parts(Subset set, Visit visit) {
    const Subset lowest = set & (~set + 1);
    const Subset others = set & ~lowest;
    for (Subset some = others;; some = (some - 1) & others) {
      visit(some | lowest);
      if (some == 0) break;
    }
  }

  Ms time(Subset group, int degree) const {
    Tokens tokens = 0;
    Ms ms = group_overhead_ms(instance_, degree);
    for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
      if ((group >> k & 1) == 0) continue;
      const Tokens length = padded_length(instance_, instance_.lengths[k]);
      tokens += length;
      ms += sequence_ms(instance_, length, degree);
    }
    return tokens <= group_capacity(instance_, degree) ? ms : kForever;
  }

  void fill_groupings() {
    for (std::size_t devices = 0; devices <= devices_; ++devices) grouping(0, devices).makespan = 0;
    for (Subset set = 1; set <= all_; ++set) {
      for_parts(set, [&](Subset group) {
        for (const int degree : instance_.cluster.degrees) {
          const Ms alone = time(group, degree);
          for (auto devices = static_cast<std::size_t>(degree); devices <= devices_; ++devices) {
            const std::size_t left = devices - static_cast<std::size_t>(degree);
            const Ms makespan = std::max(alone, grouping(set & ~group, left).makespan);
            Grouping& best = grouping(set, devices);
            if (makespan < best.makespan) best = {makespan, group, degree};
          }
        }
      });
    }
  }

  MicroBatchChoice batch(Subset set) {
    MicroBatchChoice choice;
    std::size_t devices = devices_;
    while (set != 0) {
      const Grouping& best = grouping(set, devices);
      choice.push_back({.degree = best.degree});
      for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
        if ((best.group >> k & 1) != 0) {
          choice.back().sequences.push_back(static_cast<std::int64_t>(k));
        }
      }
      set &= ~best.group;
      devices -= static_cast<std::size_t>(choice.back().degree);
    }
    return choice;
  }

  const ScatterInstance& instance_;
  Subset all_;
  std::size_t devices_;
  std::vector<Grouping> grouped_;
};

}  // namespace

std::optional<ScatterPlan> brute_force(const ScatterInstance& instance) {
  assert(instance.lengths.size() <= kBruteForceSequences);
  return Oracle(instance).run();
}

}  // namespace stowage
