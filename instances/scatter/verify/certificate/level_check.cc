// The levels of a certificate: what groups of each cost and hold, and whether a level stands for
// every form of groups. Costs and room are those of reference_model.h.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/scatter/verify/certificate/certificate_checker.h"

namespace stowage {
namespace {

// A level that is more expensive than another by at most this factor differs by rounding only.
constexpr Real kAsCheap = 1 + 1e-13L;

}  // namespace

ScatterCertificateChecker::ScatterCertificateChecker(const ScatterInstance& instance,
                                                     const ScatterCertificate& certificate)
    : measured_(!instance.cost.table.empty()),
      cluster_(instance.cluster),
      rules_(instance.rules),
      certificate_(certificate),
      found_(kRuleNames) {
  const ScatterReferenceModel truth(instance);
  for (const GroupForm form : truth.forms()) forms_.push_back(form);
  const LengthCounts counts = true_length_counts(instance);
  const Tokens shortest = counts.empty() ? 1 : counts.rbegin()->first;
  std::vector<CertificateLevel> levels = certificate_.levels;
  if (levels.empty()) {
    for (const GroupForm form : forms_) {
      levels.push_back({.degree = form.degree,
                        .exchange = form.exchange,
                        .recomputation = form.recomputation,
                        .place = form.place});
    }
  }
  weigh_devices(instance);
  for (const CertificateLevel& level : levels) {
    degrees_.push_back(level.degree);
    shares_.push_back(is_form(truth, level.form()) ? share(truth, level.form()) : level.degree);
    ways_.push_back(level.recomputation);
    ways_used_.insert(level.recomputation);
    limits_.push_back(limit(truth, level.form(), counts, shortest));
    capacity_.push_back(limits_.back().capacity);
    beside_.push_back(limits_.back().beside);
    overhead_.push_back(measured_ ? level.below.ms : overhead(truth, level.form()));
  }
  for (const auto& [tokens, count] : counts) {
    CertificateSort sort{.tokens = tokens, .count = count};
    for (std::size_t d = 0; d < levels.size(); ++d) {
      const GroupForm form = levels[d].form();
      const bool fits = is_form(truth, form) && tokens <= truth.room(form);
      sort.ms.push_back(fits ? pays(truth, tokens, levels[d]) : -1);
      sort.padded.push_back(truth.on_group(tokens, form).value_or(kMaxExact));
    }
    sorts_.push_back(std::move(sort));
  }
  if (!certificate_.levels.empty()) check_levels(truth, counts, shortest);
  if (levels_hold_) fewest_ = true_fewest_micro_batches(instance, counts);
  longest_weight_ = instance.pipeline_stages - 1;
  if (longest_weight_ > 0) alone_ = longest_alone(truth, counts);
}

// Returns the least time of a micro-batch that holds the sequence for which that time is the
// largest.
Real ScatterCertificateChecker::longest_alone(const ScatterReferenceModel& truth,
                                              const LengthCounts& counts) const {
  Real longest = 0;
  for (const auto& [tokens, count] : counts) {
    std::optional<Real> least;
    for (const GroupForm form : forms_) {
      if (tokens > truth.room(form)) continue;
      const GroupTimes times = truth.times(truth.sums_of(tokens, form), form);
      const Real time = std::max(times.compute, times.transfer);
      if (!least || time < *least) least = time;
    }
    longest = std::max(longest, least.value_or(0));
  }
  return longest;
}

// Computes the sum of the weights of all devices.
void ScatterCertificateChecker::weigh_devices(const ScatterInstance& instance) {
  const std::vector<double>& weights = certificate_.kind_weights;
  all_devices_ = cluster_.devices;
  if (weights.empty()) return;
  const bool positive = std::ranges::all_of(
      weights, [](double weight) { return weight > 0 && std::isfinite(weight); });
  if (weights.size() != cluster_.kinds.size() || !positive) {
    levels_hold_ = false;
    found_.add(kLevels, [&] {
      return Description{"/kind_weights", text(weights.size()) + " weights",
                         text(cluster_.kinds.size()) + ", all above 0"};
    });
    return;
  }
  all_devices_ = 0;
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    all_devices_ += static_cast<Real>(weights[kind]) * cluster_.kinds[kind].nodes *
                    instance.cluster.devices_per_node;
  }
}

// Returns the sum of the weights of a group's devices.
Real ScatterCertificateChecker::share(const ScatterReferenceModel& truth, GroupForm form) const {
  const std::vector<double>& weights = certificate_.kind_weights;
  if (weights.size() != cluster_.kinds.size() || weights.empty()) return form.degree;
  Real share = 0;
  truth.each_rank_kind(form, [&](std::size_t kind) { share += weights[kind]; });
  return share;
}

// Returns whether the form has valid indices; check_levels() decides whether groups may have it.
bool ScatterCertificateChecker::is_form(const ScatterReferenceModel& truth, GroupForm form) {
  return form.degree > 0 && form.recomputation >= 0 &&
         form.recomputation < truth.ways_to_recompute();
}

Real ScatterCertificateChecker::overhead(const ScatterReferenceModel& truth, GroupForm form) {
  return is_form(truth, form) ? truth.times({}, form).compute : 0;
}

// Returns the time that a sequence of `tokens` tokens adds to the weighted time of a group.
Real ScatterCertificateChecker::adds(const ScatterReferenceModel& truth, Tokens tokens,
                                     GroupForm form, Real weight) {
  if (!is_form(truth, form)) return 0;
  const GroupTimes empty = truth.times_before_filling({}, form);
  const GroupTimes with = truth.times_before_filling(truth.sums_of(tokens, form), form);
  return weight * (with.compute - empty.compute) + (1 - weight) * (with.transfer - empty.transfer);
}

// Returns the time that it adds to the time that a group of the level pays for.
Real ScatterCertificateChecker::pays(const ScatterReferenceModel& truth, Tokens tokens,
                                     const CertificateLevel& level) const {
  if (!measured_) return adds(truth, tokens, level.form(), level.weight);
  const Real length = static_cast<Real>(truth.on_group(tokens, level.form()).value_or(kMaxExact));
  return level.below.token_ms * length + level.below.square_ms * length * length;
}

// Returns whether groups of the level take at least the time of its plane; without a table it has
// no plane.
bool ScatterCertificateChecker::plane_holds(const ScatterReferenceModel& truth,
                                            const CertificateLevel& level) const {
  const AffineTime& plane = level.below;
  if (!measured_) return plane == AffineTime{};
  for (const double number : {plane.ms, plane.token_ms, plane.square_ms}) {
    if (!(number >= 0) || !std::isfinite(number)) return false;
  }
  if (sorts_.empty()) return true;
  Tokens longest = sorts_.back().tokens;
  for (const CertificateSort& sort : sorts_) {
    if (sort.tokens <= truth.room(level.form())) longest = std::max(longest, sort.tokens);
  }
  const auto padded = [&](Tokens tokens) {
    return truth.on_group(tokens, level.form()).value_or(kMaxExact);
  };
  return truth.takes_at_least(plane, level.degree, padded(sorts_.back().tokens), padded(longest));
}

ScatterReferenceModel::Limit ScatterCertificateChecker::limit(const ScatterReferenceModel& truth,
                                                              GroupForm form,
                                                              const LengthCounts& counts,
                                                              Tokens shortest) {
  if (!is_form(truth, form)) return {};
  return truth.limit(form, tokens_on(truth, counts, form),
                     truth.on_group(shortest, form).value_or(kMaxExact));
}

// Checks the rule certificate_levels.
void ScatterCertificateChecker::check_levels(const ScatterReferenceModel& truth,
                                             const LengthCounts& counts, Tokens shortest) {
  const auto& levels = certificate_.levels;
  const auto wrong = [&](const std::string& where, std::string&& have, std::string&& need) {
    levels_hold_ = false;
    found_.add(kLevels, [&] { return Description{where, std::move(have), std::move(need)}; });
  };
  std::vector<bool> listed(forms_.size(), false);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::string where = "/levels/" + text(l);
    const GroupForm form = levels[l].form();
    const auto place = static_cast<std::size_t>(std::ranges::find(forms_, form) - forms_.begin());
    if (place == forms_.size() || listed[place]) {
      wrong(where, "degree " + text(form.degree), "a form of groups of the instance, once");
    } else {
      listed[place] = true;
    }
    if (l > 0 && form.degree < levels[l - 1].degree) {
      wrong(where, "degree " + text(form.degree), "levels by degree");
    }
    if (!(levels[l].weight >= 0 && levels[l].weight <= 1)) {
      wrong(where, "weight " + text(levels[l].weight), "0 to 1");
    }
    if (levels_hold_ && !plane_holds(truth, levels[l])) {
      wrong(where, "a plane of " + text(levels[l].below.ms) + " ms and more",
            measured_ ? "one below the measured times" : "none, as no times are measured");
    }
  }
  if (!levels_hold_) return;
  // For each recomputation mode, all forms of a micro-batch must find such a level in one mode.
  for (int way = 0; way < truth.ways_to_recompute(); ++way) {
    std::optional<GroupForm> without;
    const bool covered = std::ranges::any_of(ways_used_, [&](int own) {
      const auto bad = std::ranges::find_if(forms_, [&](GroupForm form) {
        return form.recomputation == way && !is_covered(truth, form, own, counts, shortest);
      });
      if (bad != forms_.end() && !without) without = *bad;
      return bad == forms_.end();
    });
    if (covered) continue;
    wrong("/levels", "none for a group of degree " + text(without ? without->degree : 0),
          "one of its degree that is never worse");
  }
}

// Returns whether a level of this mode is the form, or is never worse than it.
bool ScatterCertificateChecker::is_covered(const ScatterReferenceModel& truth, GroupForm form,
                                           int way, const LengthCounts& counts,
                                           Tokens shortest) const {
  for (std::size_t l = 0; l < certificate_.levels.size(); ++l) {
    if (ways_[l] != way) continue;
    if (certificate_.levels[l].form() == form) return true;
    if (never_worse(truth, l, form) &&
        never_smaller(truth, l, form, limit(truth, form, counts, shortest))) {
      return true;
    }
  }
  return false;
}

// Returns whether the room of the level, for which its prices pay, is enough for every group of
// the form. With n sequences the level has at most c - n b tokens, and the form c' - n b'. If n
// are too many for the level, they must be too many for the form, even if they are the shortest.
bool ScatterCertificateChecker::never_smaller(const ScatterReferenceModel& truth, std::size_t l,
                                              GroupForm form,
                                              const ScatterReferenceModel::Limit& theirs) const {
  const ScatterReferenceModel::Limit& own = limits_[l];
  for (const CertificateSort& sort : sorts_) {
    if (sort.tokens <= truth.room(form) && sort.ms[l] < 0) return false;
    if (sort.padded[l] > truth.on_group(sort.tokens, form).value_or(kMaxExact)) return false;
  }
  const auto spare = static_cast<Real>(own.capacity) - static_cast<Real>(theirs.capacity);
  const auto each = static_cast<Real>(own.beside) - static_cast<Real>(theirs.beside);
  std::int64_t count = 0;
  Real held = 0;  // of the form's capacity, by the shortest sequences
  for (auto sort = sorts_.rbegin(); sort != sorts_.rend(); ++sort) {
    for (std::int64_t i = 0; i < sort->count; ++i) {
      ++count;
      held += static_cast<Real>(truth.on_group(sort->tokens, form).value_or(kMaxExact)) +
              static_cast<Real>(theirs.beside);
      if (held > static_cast<Real>(theirs.capacity)) return true;
      if (count > rules_.max_sequences_per_group) return true;
      if (spare < static_cast<Real>(count) * each) return false;
    }
  }
  return true;
}

// Returns whether bounds on groups of the level are bounds on those of the form.
bool ScatterCertificateChecker::never_worse(const ScatterReferenceModel& truth, std::size_t l,
                                            GroupForm form) const {
  const CertificateLevel& level = certificate_.levels[l];
  if (level.degree != form.degree || overhead_[l] > overhead(truth, form) * kAsCheap) return false;
  return std::ranges::all_of(sorts_, [&](const CertificateSort& sort) {
    return sort.ms[l] <= adds(truth, sort.tokens, form, level.weight) * kAsCheap;
  });
}

}  // namespace stowage
