#include "instances/scatter/verify/reference_counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/scatter/verify/reference_model.h"

namespace stowage {
namespace {

bool is_chain(const std::vector<int>& degrees) {
  bool chain = true;
  for (std::size_t d = 1; d < degrees.size(); ++d) {
    chain = chain && degrees[d] % degrees[d - 1] == 0;
  }
  return chain;
}

// A form of groups with its limits.
struct HeldForm {
  int degree = 0;
  Tokens room = 0;  // of one sequence
  ScatterReferenceModel::Limit limit;
  GroupForm form;

  Tokens copies(const ScatterReferenceModel& truth, Tokens length) const {
    if (length > room) return 0;
    const Tokens tokens = truth.on_group(length, form).value_or(kMaxExact);
    return std::min(limit.capacity / (tokens + limit.beside), limit.most / tokens);
  }
};

// Returns whether groups of every degree, with the exchange that holds most, hold the same tokens
// on each of their devices, for any number of sequences.
bool is_even(const ScatterInstance& instance, const std::vector<HeldForm>& forms) {
  std::map<int, Tokens> rooms;
  if (instance.padding) return false;  // larger groups may hold less a device
  for (const HeldForm& form : forms) {
    Tokens& room = rooms[form.degree];
    room = std::max(room, std::min(form.room, kMaxExact));
    // Also if sequences take tokens beside their own: there is room for one with its own alone.
    if (instance.rules.packed && form.limit.capacity != form.room) return false;
  }
  const auto& [least, shortest] = *rooms.begin();
  return std::ranges::all_of(rooms, [&, each = shortest / least](const auto& room) {
    return room.second == kMaxExact || each * room.first == room.second;
  });
}

// Returns an upper limit of the sequences of `tokens` or more in a micro-batch. `most` is the most
// tokens of all sequences together on all devices.
Real held_together(const ScatterInstance& instance, const std::vector<HeldForm>& forms, bool even,
                   Tokens tokens, Real most) {
  const ScatterReferenceModel truth(instance);
  std::vector<int> degrees;
  std::vector<Real> copies;  // of the exchange that holds most
  Real densest = 0;
  for (const HeldForm& form : forms) {
    const auto held = static_cast<Real>(form.copies(truth, tokens));
    if (degrees.empty() || degrees.back() != form.degree) {
      degrees.push_back(form.degree);
      copies.push_back(0);
    }
    copies.back() = std::max(copies.back(), held);
    densest = std::max(densest,
                       std::floor(held * instance.cluster.devices / form.degree * kCheckerRaised));
  }
  Real together = even ? std::floor(most / static_cast<Real>(tokens) * kCheckerRaised) : densest;
  if (even && is_chain(degrees)) {
    // The largest groups come first: a group never holds fewer sequences than the groups it could
    // be cut into.
    together = 0;
    int free = instance.cluster.devices;
    for (std::size_t d = degrees.size(); d-- > 0;) {
      const int groups = free / degrees[d];
      free -= groups * degrees[d];
      together += static_cast<Real>(groups) * copies[d];
    }
  }
  for (const HeldForm& form : forms) {
    if (tokens > form.room) continue;
    // Every group that holds such a sequence has at least this degree.
    const int groups = instance.cluster.devices / form.degree;
    return std::min(together, static_cast<Real>(groups) *
                                  static_cast<Real>(instance.rules.max_sequences_per_group));
  }
  return together;
}

}  // namespace

LengthCounts true_length_counts(const ScatterInstance& instance) {
  const ScatterReferenceModel truth(instance);
  LengthCounts counts;
  for (std::int64_t id = 0; id < truth.sequences(); ++id) {
    ++counts[truth.length(id).value_or(kMaxExact)];
  }
  return counts;
}

Tokens tokens_on(const ScatterReferenceModel& truth, const LengthCounts& counts, GroupForm form) {
  Tokens all = 0;  // the reader holds the padded sum to 2^54
  for (const auto& [tokens, count] : counts) {
    all += truth.on_group(tokens, form).value_or(kMaxExact) * count;
  }
  return all;
}

std::int64_t true_fewest_micro_batches(const ScatterInstance& instance,
                                       const LengthCounts& counts) {
  if (counts.empty()) return 0;
  const ScatterReferenceModel truth(instance);
  std::vector<HeldForm> forms;
  Real most = 0;  // of all devices
  for (const GroupForm form : truth.forms()) {
    const Tokens all = tokens_on(truth, counts, form);
    const Tokens shortest = truth.on_group(counts.rbegin()->first, form).value_or(kMaxExact);
    const HeldForm held{form.degree, truth.room(form), truth.limit(form, all, shortest), form};
    Tokens each = truth.most_tokens(1);  // on one device
    if (!instance.rules.packed || instance.model.offload) each = std::min(each, all);
    if (held.limit.beside > 0) each = truth.per_device(form);
    if (instance.rules.packed) each = std::min(each, truth.per_device(form));
    most = std::max(most, static_cast<Real>(each) * instance.cluster.devices);
    forms.push_back(held);
  }
  Real held = 0;  // capacity that all sequences take
  for (const auto& [tokens, count] : counts) {
    std::optional<Tokens> beside;  // padding as well
    for (const HeldForm& form : forms) {
      if (tokens > form.room) continue;
      const Tokens padding = truth.on_group(tokens, form.form).value_or(kMaxExact) - tokens;
      beside = std::min(beside.value_or(kMaxExact), padding + form.limit.beside);
    }
    held += static_cast<Real>(tokens + beside.value_or(0)) * static_cast<Real>(count);
  }
  const auto batches = [](Real needed, Real each) {
    return each > 0 ? static_cast<std::int64_t>(std::ceil(needed / each * kCheckerLowered)) : 0;
  };
  const bool even = is_even(instance, forms);
  std::int64_t fewest = 0;
  std::int64_t longer = 0;
  for (const auto& [tokens, count] : counts) {
    longer += count;
    fewest = std::max(fewest, batches(static_cast<Real>(longer),
                                      held_together(instance, forms, even, tokens, most)));
  }
  fewest = std::max(fewest, batches(held, most));
  const std::int64_t multiple = instance.rules.micro_batches_multiple_of;
  return (fewest + multiple - 1) / multiple * multiple;
}

std::optional<std::int64_t> true_fewest_groups(const ScatterInstance& instance) {
  const std::vector<int> degrees = ScatterReferenceModel(instance).degrees();
  const int devices = instance.cluster.devices;
  if (is_chain(degrees)) {
    // Several smaller groups make up each larger one, so larger groups are fewer.
    std::int64_t groups = 0;
    int free = devices;
    for (std::size_t d = degrees.size(); d-- > 0; free %= degrees[d]) groups += free / degrees[d];
    if (free > 0) return std::nullopt;
    return groups;
  }
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> fewest(static_cast<std::size_t>(devices) + 1, kNone);
  fewest[0] = 0;
  for (std::size_t sum = 1; sum < fewest.size(); ++sum) {
    for (const int degree : degrees) {
      if (static_cast<std::size_t>(degree) > sum) break;
      const std::int64_t before = fewest[sum - static_cast<std::size_t>(degree)];
      if (before != kNone) fewest[sum] = std::min(fewest[sum], before + 1);
    }
  }
  if (fewest.back() == kNone) return std::nullopt;
  return fewest.back();
}

}  // namespace stowage
