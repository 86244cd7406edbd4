#include "instances/scatter/verify/exhaustive_check.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

#include "instances/scatter/verify/reference_model.h"

namespace stowage {
namespace {

constexpr Ms kNever = std::numeric_limits<Ms>::infinity();

using Set = std::size_t;  // bit k: sequence k

// Most devices if none may idle: lists then hold an entry for each number of devices.
constexpr int kMaxDevicesApart = 64;

// A time on a number of devices. If ranks may idle, each entry of a list is faster than all entries
// of fewer devices. Entries ascend in devices.
struct Pace {
  std::int64_t devices = 0;
  Ms time = 0;
};
using Paces = std::vector<Pace>;

void insert(Paces& paces, const Pace& pace) {
  auto place = paces.begin();
  while (place != paces.end() && place->devices <= pace.devices) {
    if (place->time <= pace.time) return;
    ++place;
  }
  if (place != paces.begin() && (place - 1)->devices == pace.devices) --place;
  auto end = place;
  while (end != paces.end() && end->time >= pace.time) ++end;
  if (place == end) {
    paces.insert(place, pace);
  } else {
    *place = pace;
    paces.erase(place + 1, end);
  }
}

// Inserts into a list that may hold an entry for each number of devices.
void insert_apart(Paces& paces, const Pace& pace) {
  const auto place = std::ranges::lower_bound(paces, pace.devices, {}, &Pace::devices);
  if (place == paces.end() || place->devices != pace.devices) {
    paces.insert(place, pace);
  } else {
    place->time = std::min(place->time, pace.time);
  }
}

// The sum of all makespans, and the longest of them. No entry of a list is at least as long in both
// as another.
struct Length {
  Ms longest = 0;
  Ms sum = 0;
};
using Lengths = std::vector<Length>;

// If only the sum counts, one entry is enough.
void insert_sum(Lengths& lengths, const Length& length) {
  if (lengths.empty() || length.sum < lengths[0].sum) lengths.assign(1, length);
}

void insert_length(Lengths& lengths, const Length& length) {
  const auto no_better = [&](const Length& other) {
    return other.longest >= length.longest && other.sum >= length.sum;
  };
  for (const Length& other : lengths) {
    if (other.longest <= length.longest && other.sum <= length.sum) return;
  }
  std::erase_if(lengths, no_better);
  lengths.push_back(length);
}

// Calls `visit` with every part of `set` that holds its highest sequence.
template <class Visit>
void for_parts(Set set, Visit visit) {
  Set highest = 1;
  while (highest * 2 <= set) highest *= 2;
  const Set others = set - highest;
  for (Set some = others;; some = (some - 1) & others) {
    visit(some + highest);
    if (some == 0) return;
  }
}

// The properties that all groups of a micro-batch share.
struct Common {
  int way = 0;             // recomputation mode
  std::int64_t count = 0;  // of sequences; 0: any
};

// Returns, by set, the times below `claimed` of a group of such a micro-batch that holds exactly
// the set.
std::vector<Paces> groups_of(const ScatterInstance& instance, Common common, Ms claimed) {
  const ScatterReferenceModel truth(instance);
  const auto add = instance.rules.no_idle_ranks ? insert_apart : insert;
  const std::vector<GroupForm> forms = truth.forms();
  std::vector<Paces> groups(Set{1} << instance.lengths.size());
  for (Set set = 1; set < groups.size(); ++set) {
    if (common.count > 0 && std::popcount(set) != common.count) continue;
    for (const GroupForm form : forms) {
      if (form.recomputation != common.way) continue;
      GroupSums sums;
      for (std::int64_t id = 0; id < truth.sequences(); ++id) {
        if ((set >> id & 1) != 0) truth.add(id, sums, form);
      }
      if (!truth.fits(sums, form)) continue;
      const auto time = truth.time(sums, form);
      if (time && *time < claimed) add(groups[set], {form.degree, *time});
    }
  }
  return groups;
}

// Lowers `makespans`, by set, to the least makespan of such a micro-batch that holds exactly the
// set, if that is less than the entry and less than `claimed`.
void lower_makespans(const ScatterInstance& instance, Common common, Ms claimed,
                     std::vector<Ms>& makespans) {
  const bool no_idle = instance.rules.no_idle_ranks;
  const auto add = no_idle ? insert_apart : insert;
  const std::vector<Paces> groups = groups_of(instance, common, claimed);
  std::vector<Paces> batches(groups.size());
  batches[0] = {{0, 0}};
  for (Set set = 1; set < groups.size(); ++set) {
    for_parts(set, [&](Set part) {
      for (const Pace& group : groups[part]) {
        for (const Pace& rest : batches[set - part]) {
          const std::int64_t devices = group.devices + rest.devices;
          if (devices > instance.cluster.devices) break;
          add(batches[set], {devices, std::max(group.time, rest.time)});
        }
      }
    });
    if (batches[set].empty()) continue;
    const Pace& last = batches[set].back();
    if (no_idle && last.devices != instance.cluster.devices) continue;
    makespans[set] = std::min(makespans[set], last.time);
  }
}

// An assignment of sequences to rows of single devices: the rows, the longest of them in time and
// the longest in tokens.
struct OwnRows {
  std::int64_t devices = 0;
  Ms time = 0;
  Tokens tokens = 0;
};

// Returns, by set, the assignments to rows that take less than `claimed`, none of which needs as
// much of everything as another.
std::vector<std::vector<OwnRows>> own_rows_of(const ScatterInstance& instance, Ms claimed) {
  const ScatterReferenceModel truth(instance);
  std::vector<std::vector<OwnRows>> sets(Set{1} << instance.lengths.size());
  std::vector<OwnRows> alone(sets.size());
  for (Set set = 1; set < sets.size(); ++set) {
    GroupSums sums;
    for (std::int64_t id = 0; id < truth.sequences(); ++id) {
      if ((set >> id & 1) != 0) truth.add(id, sums, 1);
    }
    const auto time = truth.time(sums, 1);
    if (!time || !(*time < claimed) || !truth.fits(sums, 1)) continue;
    alone[set] = {1, *time, truth.row(sums.tokens, 1).value_or(0)};
  }
  const auto insert_rows = [](std::vector<OwnRows>& all, const OwnRows& own) {
    const auto needs_more = [](const OwnRows& a, const OwnRows& b) {
      return a.devices >= b.devices && a.time >= b.time && a.tokens >= b.tokens;
    };
    for (const OwnRows& other : all) {
      if (needs_more(own, other)) return;
    }
    std::erase_if(all, [&](const OwnRows& other) { return needs_more(other, own); });
    all.push_back(own);
  };
  sets[0] = {{}};
  for (Set set = 1; set < sets.size(); ++set) {
    for_parts(set, [&](Set part) {
      if (alone[part].devices == 0) return;
      for (const OwnRows& rest : sets[set - part]) {
        if (rest.devices == instance.cluster.devices) continue;
        insert_rows(sets[set], {rest.devices + 1, std::max(alone[part].time, rest.time),
                                std::max(alone[part].tokens, rest.tokens)});
      }
    });
  }
  return sets;
}

// Lowers `makespans` as lower_makespans() does, to those of mixed micro-batches.
void lower_mixed(const ScatterInstance& instance, Ms claimed, std::vector<Ms>& makespans) {
  const ScatterReferenceModel truth(instance);
  const GroupForm form = *truth.shared_form();
  const std::vector<std::vector<OwnRows>> own = own_rows_of(instance, claimed);
  for (Set shared = 1; shared < makespans.size(); ++shared) {
    GroupSums sums;
    for (std::int64_t id = 0; id < truth.sequences(); ++id) {
      if ((shared >> id & 1) != 0) truth.add(id, sums, form);
    }
    const auto time = truth.time(sums, form);
    const auto row = truth.row(sums.tokens, form);
    if (!time || !row || !(*time < claimed) || !truth.fits(sums, form)) continue;
    for (Set set = 1; set < makespans.size(); ++set) {
      if ((set & shared) != 0) continue;
      for (const OwnRows& rows : own[set]) {
        if (rows.tokens > truth.most_beside(*row)) continue;
        const Ms both = truth.mixed(*row, *time, rows.time);
        if (both < claimed) makespans[set + shared] = std::min(makespans[set + shared], both);
      }
    }
  }
}

}  // namespace

std::optional<Ms> least_objective(const ScatterInstance& instance, Ms claimed) {
  if (instance.lengths.size() > kMaxSequencesTriedAgain) return std::nullopt;
  // Devices of several kinds are not interchangeable.
  if (!instance.cluster.kinds.empty()) return std::nullopt;
  if (instance.rules.no_idle_ranks && instance.cluster.devices > kMaxDevicesApart) {
    return std::nullopt;
  }
  std::vector<Ms> makespans(Set{1} << instance.lengths.size(), kNever);
  const auto sequences = static_cast<std::int64_t>(instance.lengths.size());
  const bool equal = instance.rules.equal_sequences;
  for (int way = 0; way < ScatterReferenceModel(instance).ways_to_recompute(); ++way) {
    for (std::int64_t count = equal ? 1 : 0; count <= (equal ? sequences : 0); ++count) {
      lower_makespans(instance, {way, count}, claimed, makespans);
    }
  }
  if (instance.mixed) lower_mixed(instance, claimed, makespans);
  // least[set][r]: over micro-batches whose number leaves r after division by the multiple.
  // Times that the longest makespan counts beside the sum.
  const int again = instance.pipeline_stages - 1;
  const auto add = again == 0 ? insert_sum : insert_length;
  const auto multiple =
      static_cast<std::size_t>(std::min(instance.rules.micro_batches_multiple_of, sequences + 1));
  std::vector<std::vector<Lengths>> least(makespans.size(), std::vector<Lengths>(multiple));
  least[0][0] = {{0, 0}};
  for (Set set = 1; set < least.size(); ++set) {
    for_parts(set, [&](Set batch) {
      if (makespans[batch] == kNever) return;
      for (std::size_t rest = 0; rest < multiple; ++rest) {
        for (const Length& other : least[set - batch][rest]) {
          const Length with{std::max(other.longest, makespans[batch]),
                            other.sum + makespans[batch]};
          if (with.sum + again * with.longest >= claimed) continue;
          add(least[set][(rest + 1) % multiple], with);
        }
      }
    });
  }
  for (const Length& length : least.back()[0]) {
    claimed = std::min(claimed, length.sum + again * length.longest);
  }
  return claimed;
}

}  // namespace stowage
