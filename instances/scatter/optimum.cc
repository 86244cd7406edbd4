#include "instances/scatter/optimum.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "instances/scatter/truth.h"

namespace stowage {
namespace {

constexpr Ms kNever = std::numeric_limits<Ms>::infinity();

using Set = std::size_t;  // bit k: sequence k

// So long on so many devices. Of a list no entry is as long as another on as many devices or fewer;
// more devices come later.
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

// By set: what a group that holds just it can do in less than `claimed`.
std::vector<Paces> groups_of(const ScatterInstance& instance, Ms claimed) {
  const ScatterTruth truth(instance);
  std::vector<Paces> groups(Set{1} << instance.lengths.size());
  for (Set set = 1; set < groups.size(); ++set) {
    GroupSums sums;
    for (std::int64_t id = 0; id < truth.sequences(); ++id) {
      if ((set >> id & 1) != 0) truth.add(id, sums);
    }
    for (const int degree : instance.cluster.degrees) {
      if (degree > instance.cluster.devices) break;
      if (!sums.tokens || *sums.tokens > truth.capacity(degree)) continue;
      const auto time = truth.time(sums, degree);
      if (time && *time < claimed) insert(groups[set], {degree, *time});
    }
  }
  return groups;
}

// By set: the least makespan of a micro-batch that holds just it, if that is less than `claimed`.
std::vector<Ms> makespans_of(const ScatterInstance& instance, Ms claimed) {
  const std::vector<Paces> groups = groups_of(instance, claimed);
  std::vector<Paces> batches(groups.size());
  batches[0] = {{0, 0}};
  std::vector<Ms> makespans(groups.size(), kNever);
  for (Set set = 1; set < groups.size(); ++set) {
    for_parts(set, [&](Set part) {
      for (const Pace& group : groups[part]) {
        for (const Pace& rest : batches[set - part]) {
          const std::int64_t devices = group.devices + rest.devices;
          if (devices > instance.cluster.devices) break;
          insert(batches[set], {devices, std::max(group.time, rest.time)});
        }
      }
    });
    if (!batches[set].empty()) makespans[set] = batches[set].back().time;
  }
  return makespans;
}

}  // namespace

std::optional<Ms> least_objective(const ScatterInstance& instance, Ms claimed) {
  if (instance.lengths.size() > kMostSequencesTriedAgain) return std::nullopt;
  const std::vector<Ms> makespans = makespans_of(instance, claimed);
  std::vector<Ms> least(makespans.size(), kNever);
  least[0] = 0;
  for (Set set = 1; set < least.size(); ++set) {
    for_parts(set, [&](Set batch) {
      least[set] = std::min(least[set], makespans[batch] + least[set - batch]);
    });
  }
  return std::min(claimed, least.back());
}

}  // namespace stowage
