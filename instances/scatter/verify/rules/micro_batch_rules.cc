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
  const std::optional<Ms> makespan = check_groups(m);
  check_devices(m);
  check_overlap(m);
  if (rules_.no_idle_ranks) check_idle(m);
  if (rules_.sorted_groups) check_sorted(m);
  if (rules_.equal_sequences) check_equal(m);
  check_ms(kMakespan, micro_batch.makespan_ms, makespan,
           [&] { return micro_batch_at(m) + "/makespan_ms"; });
  return makespan;
}

// Returns the group of all devices, if own rows may stand beside it and no other one does.
std::optional<std::size_t> ScatterPlanChecker::shared_row(std::size_t m) const {
  const std::optional<GroupForm> form = truth_.shared_form();
  const auto& groups = plan_.micro_batches[m].groups;
  std::optional<std::size_t> shared;
  for (std::size_t g = 0; form && g < groups.size(); ++g) {
    if (groups[g].degree != form->degree) continue;
    if (shared) return std::nullopt;
    shared = g;
  }
  return shared;
}

// Checks the groups, the shared row first. Returns the makespan.
std::optional<Ms> ScatterPlanChecker::check_groups(std::size_t m) {
  const auto& groups = plan_.micro_batches[m].groups;
  const std::optional<std::size_t> shared = shared_row(m);
  std::optional<Ms> makespan = 0.0;  // of the own rows, or of all groups
  std::optional<Ms> shared_ms;
  std::vector<std::optional<Tokens>> rows;
  for (std::size_t g = 0; g < groups.size(); ++g, ++groups_seen_) {
    const auto time = check_group({groups[g], m, g});
    rows.push_back(row_);
    if (g == shared) {
      shared_ms = time;
    } else {
      makespan = makespan && time ? std::optional(std::max(*makespan, *time)) : std::nullopt;
    }
  }
  if (!shared || groups.size() == 1) return shared ? shared_ms : makespan;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    row_ = rows[g];
    if (g != *shared) check_own_row({groups[g], m, g}, rows[*shared]);
  }
  if (!makespan || !shared_ms || !rows[*shared]) return std::nullopt;
  return truth_.mixed(*rows[*shared], *shared_ms, *makespan);
}

// Checks that a device holds its own row beside its part of the shared row.
void ScatterPlanChecker::check_own_row(const Place& at, std::optional<Tokens> shared) {
  if (!row_ || !shared || *row_ <= truth_.most_beside(*shared)) return;
  found_.add(kCapacity, [&] {
    return Description{at.pointer(),
                       stated_tokens(row_) + " beside a shared row of " + stated_tokens(shared),
                       "at most " + stated_tokens(truth_.most_beside(*shared))};
  });
}

void ScatterPlanChecker::check_devices(std::size_t m) {
  std::int64_t devices = 0;  // 2^32 groups of 2^31 ranks still fit
  for (const ScatterGroup& group : plan_.micro_batches[m].groups) {
    devices += std::max(group.degree, 0);
  }
  if (shared_row(m)) devices -= cluster_.devices;
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
  const std::optional<std::size_t> shared = shared_row(m);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].degree < 1 || g == shared) continue;
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
