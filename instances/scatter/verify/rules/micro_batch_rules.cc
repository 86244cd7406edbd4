// The rules on one micro-batch: its groups together, their ranks and its makespan.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "instances/proof/violation_list.h"
#include "instances/scatter/verify/rules/plan_checker.h"

namespace stowage {

std::optional<Ms> ScatterPlanChecker::check_micro_batch(std::size_t m) {
  const ScatterMicroBatch& micro_batch = plan_.micro_batches[m];
  if (micro_batch.groups.empty()) {
    found_.add(kEmptyMicroBatch, [&] {
      return Description{micro_batch_at(m), "no group", "a group or more"};
    });
  }
  way_ = truth_.way_to_recompute(micro_batch);
  if (!way_) {
    found_.add(kRecomputation, [&] {
      return Description{micro_batch_at(m) + "/recomputation",
                         '"' + micro_batch.recomputation + '"', ways()};
    });
  }
  std::optional<Ms> makespan = 0.0;
  for (std::size_t g = 0; g < micro_batch.groups.size(); ++g, ++groups_seen_) {
    const auto time = check_group({micro_batch.groups[g], m, g});
    makespan = makespan && time ? std::optional(std::max(*makespan, *time)) : std::nullopt;
  }
  check_devices(m);
  check_overlap(m);
  if (rules_.no_idle_ranks) check_idle(m);
  if (rules_.sorted_groups) check_sorted(m);
  if (rules_.equal_sequences) check_equal(m);
  check_ms(kMakespan, micro_batch.makespan_ms, makespan,
           [&] { return micro_batch_at(m) + "/makespan_ms"; });
  return makespan;
}

void ScatterPlanChecker::check_devices(std::size_t m) {
  std::int64_t devices = 0;  // 2^32 groups of 2^31 ranks still fit
  for (const ScatterGroup& group : plan_.micro_batches[m].groups) {
    devices += std::max(group.degree, 0);
  }
  if (devices <= cluster_.devices) return;
  found_.add(kDevices, [&] {
    return Description{micro_batch_at(m), text(devices) + " devices",
                       "at most " + text(cluster_.devices) + " devices"};
  });
}

// Sorted by first rank, a group overlaps an earlier one exactly if it starts before the furthest
// end so far.
void ScatterPlanChecker::check_overlap(std::size_t m) {
  struct Ranks {
    std::int64_t first;
    std::int64_t end;
    std::size_t g;
  };
  const auto& groups = plan_.micro_batches[m].groups;
  std::vector<Ranks> ranks;
  ranks.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].degree < 1) continue;
    ranks.push_back(
        {groups[g].first_rank, std::int64_t{groups[g].first_rank} + groups[g].degree, g});
  }
  std::sort(ranks.begin(), ranks.end(), [](const Ranks& a, const Ranks& b) {
    return a.first != b.first ? a.first < b.first : a.g < b.g;
  });
  for (std::size_t i = 1, furthest = 0; i < ranks.size(); ++i) {
    const Ranks& before = ranks[furthest];
    if (ranks[i].first < before.end) {
      found_.add(kRankOverlap, [&] {
        return Description{Place{groups[ranks[i].g], m, ranks[i].g}.pointer("/first_rank"),
                           text(ranks[i].first) + ", a rank of group " + text(before.g),
                           "ranks of its own"};
      });
    }
    if (ranks[i].end > before.end) furthest = i;
  }
}

// Checks for idle ranks. Ranks that two groups share are a violation of their own.
void ScatterPlanChecker::check_idle(std::size_t m) {
  std::int64_t devices = 0;
  for (const ScatterGroup& group : plan_.micro_batches[m].groups) {
    devices += std::max(group.degree, 0);
  }
  if (devices >= cluster_.devices) return;
  found_.add(kIdleRanks, [&] {
    return Description{micro_batch_at(m), text(cluster_.devices - devices) + " idle",
                       "work on each of " + text(cluster_.devices) + " ranks"};
  });
}

// Reports only the first group of a micro-batch that is larger than a group on smaller ranks.
void ScatterPlanChecker::check_sorted(std::size_t m) {
  const auto& groups = plan_.micro_batches[m].groups;
  std::vector<std::size_t> by_rank(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) by_rank[g] = g;
  std::sort(by_rank.begin(), by_rank.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(groups[a].first_rank, a) < std::tie(groups[b].first_rank, b);
  });
  for (std::size_t i = 1; i < by_rank.size(); ++i) {
    const ScatterGroup& before = groups[by_rank[i - 1]];
    const ScatterGroup& here = groups[by_rank[i]];
    if (here.degree <= before.degree) continue;
    found_.add(kSortedGroups, [&] {
      return Description{Place{here, m, by_rank[i]}.pointer("/degree"), text(here.degree),
                         "at most " + text(before.degree) + ", as on the ranks before it"};
    });
    return;
  }
}

// Reports the first group whose number of sequences differs from that of the first group.
void ScatterPlanChecker::check_equal(std::size_t m) {
  const auto& groups = plan_.micro_batches[m].groups;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (groups[g].sequences.size() == groups[0].sequences.size()) continue;
    found_.add(kEqualSequences, [&] {
      return Description{Place{groups[g], m, g}.pointer("/sequences"),
                         text(groups[g].sequences.size()) + " sequences",
                         text(groups[0].sequences.size()) + ", as in group 0"};
    });
    return;
  }
}

}  // namespace stowage
