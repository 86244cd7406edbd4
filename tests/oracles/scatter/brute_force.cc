#include "tests/oracles/scatter/brute_force.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
using Subset = unsigned;  // bit k: sequence k

class Oracle {
 public:
  explicit Oracle(const ScatterInstance& instance)
      : instance_(instance),
        all_((Subset{1} << instance.lengths.size()) - 1),
        devices_(devices_of(instance.cluster)),
        grouped_((all_ + 1) * (devices_ + 1) * ways()) {
    for (way_ = 0; way_ < ways(); ++way_) {
      if (instance.cluster.kinds.empty()) {
        fill_groupings();
      } else {
        fill_rank_groupings();
      }
    }
  }

  // Without a pipeline a single infinite cap on all makespans suffices. With a pipeline every
  // possible makespan is used as the cap once.
  std::optional<ScatterPlan> run() {
    std::vector<Ms> caps{kForever};
    if (instance_.pipeline_stages > 1) {
      for (Subset set = 0; set <= all_; ++set) {
        const Ms makespan = makespan_of(set);
        if (makespan < kForever) caps.push_back(makespan);
      }
      std::ranges::sort(caps);
      caps.erase(std::unique(caps.begin(), caps.end()), caps.end());
    }
    std::optional<ScatterPlan> best;
    for (const Ms cap : caps) {
      std::optional<ScatterPlan> plan = run_below(cap);
      if (plan && (!best || plan->objective_ms < best->objective_ms)) best = std::move(plan);
    }
    return best;
  }

 private:
  // Returns the plan with the least sum of makespans, none of which exceeds the cap.
  std::optional<ScatterPlan> run_below(Ms cap) {
    // step[n][S]: the best sum of makespans for S in n micro-batches; first[n][S]: the micro-batch
    // that holds S's lowest.
    const std::size_t most = instance_.lengths.size();
    std::vector<std::vector<Ms>> step(most + 1, std::vector<Ms>(all_ + 1, kForever));
    std::vector<std::vector<Subset>> first(most + 1, std::vector<Subset>(all_ + 1, 0));
    step[0][0] = 0;
    for (std::size_t n = 1; n <= most; ++n) {
      for (Subset set = 1; set <= all_; ++set) {
        for_parts(set, [&](Subset part) {
          const Ms makespan = makespan_of(part);
          if (makespan > cap) return;
          const Ms sum = makespan + step[n - 1][set & ~part];
          if (sum < step[n][set]) {
            step[n][set] = sum;
            first[n][set] = part;
          }
        });
      }
    }
    std::size_t best = 0;
    for (std::size_t n = 1; n <= most; ++n) {
      const bool asked =
          static_cast<std::int64_t>(n) % instance_.rules.micro_batches_multiple_of == 0;
      if (asked && step[n][all_] < step[best][all_]) best = n;
    }
    if (step[best][all_] == kForever) return std::nullopt;
    std::vector<MicroBatchChoice> batches;
    for (Subset rest = all_; rest != 0; --best) {
      batches.push_back(batch(first[best][rest]));
      rest &= ~first[best][rest];
    }
    return compose_plan(instance_, std::move(batches));
  }

  // Returns the number of devices. With unequal nodes it returns the number of sets of ranks, the
  // last of which contains all ranks.
  static std::size_t devices_of(const Cluster& cluster) {
    const auto devices = static_cast<std::size_t>(cluster.devices);
    return cluster.kinds.empty() ? devices : (std::size_t{1} << devices) - 1;
  }

  // The best grouping of a set on a number of devices (all of which work if idling is forbidden),
  // and the group of its lowest sequence.
  struct Grouping {
    Ms makespan = kForever;
    Subset group = 0;
    GroupForm form;
    std::size_t ranks = 0;  // where nodes differ
  };

  Grouping& grouping(Subset set, std::size_t devices) {
    return grouped_[(way_ * (all_ + 1) + set) * (devices_ + 1) + devices];
  }

  // Returns the number of choices of a micro-batch: its recomputation mode, and with equal counts
  // per group, the count.
  std::size_t ways() const {
    const std::size_t counts = instance_.rules.equal_sequences ? instance_.lengths.size() + 1 : 1;
    return counts * recomputations();
  }
  std::size_t recomputations() const {
    return std::max<std::size_t>(1, instance_.model.recomputation.size());
  }
  std::size_t recomputation() const { return way_ % recomputations(); }
  bool counts_as_asked(std::int64_t sequences) const {
    return !instance_.rules.equal_sequences ||
           sequences == static_cast<std::int64_t>(way_ / recomputations());
  }

  // Returns the makespan for the best choice, which is the current choice afterwards.
  Ms makespan_of(Subset set) {
    std::size_t best = 0;
    Ms least = kForever;
    for (way_ = 0; way_ < ways(); ++way_) {
      if (grouping(set, devices_).makespan >= least) continue;
      least = grouping(set, devices_).makespan;
      best = way_;
    }
    way_ = best;
    return least;
  }

  // Calls visit for every part of `set` that contains its lowest sequence.
  template <class Visit>
  static void for_parts(Subset set, Visit visit) {
    const Subset lowest = set & (~set + 1);
    const Subset others = set & ~lowest;
    for (Subset some = others;; some = (some - 1) & others) {
      visit(some | lowest);
      if (some == 0) break;
    }
  }

  Ms time(Subset group, GroupForm form) const {
    const ScatterRules& rules = instance_.rules;
    const int degree = form.degree;
    Tokens tokens = 0;
    Tokens longest = 0;
    std::int64_t sequences = 0;
    Load load = empty_load(instance_, form);
    for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
      if ((group >> k & 1) == 0) continue;
      const Tokens length = padded(instance_.lengths[k], form);
      tokens += length;
      longest = std::max(longest, length);
      ++sequences;
      load += sequence_load(instance_, length, form);
    }
    load += row_padding_load(instance_, tokens, form);
    tokens = padded_row(tokens, form);
    const Tokens held = rules.packed ? tokens : longest;  // at a time
    const bool fits = fits_memory(held, rules.packed ? sequences : 1, form) &&
                      (tokens + degree - 1) / degree <= rules.max_tokens_per_rank &&
                      sequences <= rules.max_sequences_per_group && degree >= rules.min_degree;
    if (!fits || !counts_as_asked(sequences)) return kForever;
    load.beyond = 0;
    const Ms work = group_ms(instance_, form, load);
    const auto& offload = instance_.model.offload;
    if (!offload) return work;
    const Tokens left = std::max<Tokens>(0, tokens - whole_tokens(form) * degree);
    const double mib = static_cast<double>(left) * mib_of_token(form) / degree;
    Ms time = work;
    const Ms forward = work * offload->forward_share;
    if (mib / offload->out_mib_per_ms > forward) time += mib / offload->out_mib_per_ms - forward;
    if (mib / offload->in_mib_per_ms > work - forward) {
      time += mib / offload->in_mib_per_ms - (work - forward);
    }
    return time;
  }

  // Pads a sequence token by token.
  Tokens padded(Tokens length, GroupForm form) const {
    if (!instance_.padding) return padded_length(instance_, length);
    const Padding& padding = *instance_.padding;
    const bool halves = form.exchange != ExchangeKind::none &&
                        form.exchange != ExchangeKind::all_to_all && padding.per_degree;
    const auto divides = [&](Tokens tokens) {
      if (tokens % padding.sequence_multiple != 0) return false;
      if (!instance_.rules.packed && tokens % padding.row_multiple != 0) return false;
      if (!padding.per_degree) return true;
      const bool whole = tokens % form.degree == 0;
      const Tokens device = tokens / form.degree;
      if (!instance_.rules.packed && !whole) return false;
      if (halves && (!whole || device % 2 != 0)) return false;
      return padding.device_multiple == 0 || (whole && device % padding.device_multiple == 0);
    };
    while (!divides(length)) ++length;
    return length;
  }
  Tokens padded_row(Tokens tokens, GroupForm form) const {
    if (!instance_.padding || !instance_.rules.packed) return tokens;
    const Padding& padding = *instance_.padding;
    while (tokens % padding.row_multiple != 0 || (padding.per_degree && tokens % form.degree != 0))
      ++tokens;
    return tokens;
  }

  // Returns the activations of a token.
  double activations() const {
    const ModelMemory& model = instance_.model;
    if (model.recomputation.empty()) return model.activation_mib_per_token;
    return model.recomputation[recomputation()].activation_mib_per_token;
  }
  double mib_of_token(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    double each = activations();
    if (model.logits_chunk_tokens == 0) each += model.logits_mib_per_token;
    int blocks = 0;  // number of blocks of keys and values in addition to its own
    if (form.exchange == ExchangeKind::ring || form.exchange == ExchangeKind::two_level) blocks = 1;
    if (form.exchange == ExchangeKind::all_gather) blocks = form.degree;
    return each + blocks * model.keys_values_mib_per_token;
  }
  // Returns the tokens of a device with all their activations.
  Tokens whole_tokens(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    double room = memory_of(form) - model.states_mib;
    if (model.logits_chunk_tokens != 0) {
      room -= static_cast<double>(model.logits_chunk_tokens) * model.logits_mib_per_token;
    }
    return static_cast<Tokens>(std::floor(std::max(room, 0.0) / mib_of_token(form)));
  }

  // Checks the memory of `tokens` tokens of `sequences` sequences, in whole tokens of a device and
  // of the group.
  bool fits_memory(Tokens tokens, std::int64_t sequences, GroupForm form) const {
    const ModelMemory& model = instance_.model;
    const double each = mib_of_token(form);
    const auto whole = static_cast<Tokens>(std::ceil(model.sequence_mib * form.degree / each));
    const bool rows = instance_.padding && padded(1, form) % padded_row(1, form) != 0;
    const Tokens beside = rows ? padded_row(whole, form) : whole;
    const Tokens device = whole_tokens(form);
    if (model.offload) {
      // All that can leave has left, and the host holds it.
      const double kept = each - std::min(model.offload->mib_per_token, activations());
      const double most = std::floor(static_cast<double>(device) * each / kept);
      const double host = model.offload->host_mib.value_or(kForever);
      const double away = static_cast<double>(device) + std::floor(host / each);
      return static_cast<double>(tokens) <=
             form.degree * std::max(double(device), std::min(most, away));
    }
    return tokens + sequences * beside <= device * form.degree;
  }

  // Returns the memory of the smallest device, rank by rank.
  double memory_of(GroupForm form) const {
    const Cluster& cluster = instance_.cluster;
    if (cluster.kinds.empty()) return cluster.memory_mib;
    double least = kForever;
    for (int rank = first_; rank < first_ + form.degree; ++rank) {
      int node = rank / cluster.devices_per_node;
      for (const DeviceKind& kind : cluster.kinds) {
        if (node >= 0 && node < kind.nodes) least = std::min(least, kind.memory_mib);
        node -= kind.nodes;
      }
    }
    return least;
  }

  // Fills the table for all sets of ranks, with groups at every allowed first rank.
  void fill_rank_groupings() {
    for (std::size_t ranks = 0; ranks <= devices_; ++ranks) grouping(0, ranks).makespan = 0;
    const std::vector<GroupForm> forms = group_forms(instance_);
    for (Subset set = 1; set <= all_; ++set) {
      for_parts(set, [&](Subset group) {
        for (const GroupForm form : forms) {
          if (form.recomputation != static_cast<int>(recomputation())) continue;
          for (first_ = 0; first_ + form.degree <= instance_.cluster.devices;
               first_ += form.degree) {
            if (place_at(instance_.cluster, form.degree, first_) != form.place) continue;
            const std::size_t own = ((std::size_t{1} << form.degree) - 1) << first_;
            const Ms alone = time(group, form);
            if (alone == kForever) continue;
            for (std::size_t ranks = 0; ranks <= devices_; ++ranks) {
              if ((ranks & own) != own) continue;
              const Ms makespan = std::max(alone, grouping(set & ~group, ranks & ~own).makespan);
              Grouping& best = grouping(set, ranks);
              if (makespan < best.makespan) best = {makespan, group, form, own};
            }
          }
        }
      });
    }
  }

  void fill_groupings() {
    for (std::size_t devices = 0; devices <= devices_; ++devices) {
      if (devices == 0 || !instance_.rules.no_idle_ranks) grouping(0, devices).makespan = 0;
    }
    for (Subset set = 1; set <= all_; ++set) {
      for_parts(set, [&](Subset group) {
        for (const GroupForm form : group_forms(instance_)) {
          if (form.recomputation != static_cast<int>(recomputation())) continue;
          const int degree = form.degree;
          const Ms alone = time(group, form);
          for (auto devices = static_cast<std::size_t>(degree); devices <= devices_; ++devices) {
            const std::size_t left = devices - static_cast<std::size_t>(degree);
            const Ms makespan = std::max(alone, grouping(set & ~group, left).makespan);
            Grouping& best = grouping(set, devices);
            if (makespan < best.makespan) best = {makespan, group, form};
          }
        }
      });
    }
  }

  MicroBatchChoice batch(Subset set) {
    MicroBatchChoice choice;
    makespan_of(set);
    std::size_t devices = devices_;
    while (set != 0) {
      const Grouping& best = grouping(set, devices);
      choice.push_back({.degree = best.form.degree,
                        .exchange = best.form.exchange,
                        .recomputation = best.form.recomputation,
                        .place = best.form.place});
      for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
        if ((best.group >> k & 1) != 0) {
          choice.back().sequences.push_back(static_cast<std::int64_t>(k));
        }
      }
      set &= ~best.group;
      devices -= best.ranks != 0 ? best.ranks : static_cast<std::size_t>(choice.back().degree);
    }
    return choice;
  }

  const ScatterInstance& instance_;
  Subset all_;
  std::size_t devices_;
  std::vector<Grouping> grouped_;  // by choice, set and devices
  std::size_t way_ = 0;            // current choice
  int first_ = 0;                  // first rank of the current group, with unequal nodes
};

}  // namespace

std::optional<ScatterPlan> brute_force(const ScatterInstance& instance) {
  assert(instance.lengths.size() <= kBruteForceSequences);
  return Oracle(instance).run();
}

}  // namespace stowage
