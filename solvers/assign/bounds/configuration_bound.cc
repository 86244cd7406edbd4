#include "solvers/assign/bounds/configuration_bound.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "formulations/assign/lp/configuration_lp.h"
#include "instances/numeric/numbers.h"
#include "solvers/lp/column_generation.h"

namespace stowage {
namespace {

// The highest bound that is claimed, as a share of the objective.
constexpr double kLast = 1 - 5e-9;
// An LP objective of at most this value does not refute the time.
constexpr double kPossible = 1 + 1e-9;
// Cells of a model that count as one further LP, because larger LPs take longer.
constexpr double kCells = 20'000;
// Largest number of rounds of column generation for one time. Most times are decided after a few
// rounds.
constexpr int kRounds = 60;

double cells(const milp::Model& model) {
  return static_cast<double>(model.rows().size()) * static_cast<double>(model.variables().size());
}

class ConfigurationAsking {
 public:
  ConfigurationAsking(const AssignInstance& instance, const AssignTable& table, Ms upper,
                      KnownProofs known, const ConfigurationBoundOptions& options, Budget& budget)
      : instance_(instance),
        table_(table),
        upper_(upper),
        known_(std::move(known)),
        options_(options),
        budget_(budget),
        left_(options.most_lps) {}

  ConfigurationBound run() {
    const Ms before = least();
    const Ms first = upper_ * options_.first;
    // least time tested and not refuted; infinite before the first test
    std::vector<Ms> high(known_.times.size(), kInfinity);
    while (left_ > 0 && !budget_.exhausted()) {
      const auto weakest = std::ranges::min_element(known_.times);
      const auto s = static_cast<int>(weakest - known_.times.begin());
      if (*weakest >= upper_ * (1 - options_.near) ||
          *weakest >= high[at(s)] * (1 - options_.apart))
        break;
      const Ms time = high[at(s)] == kInfinity ? first : *weakest + (high[at(s)] - *weakest) / 2;
      if (!refuted(s, time)) high[at(s)] = time;
    }
    ConfigurationBound out;
    const Ms bound = least();
    if (bound > before) {
      out.certificate = AssignCertificate{.bound_ms = bound * kCertain};
      out.certificate->strategies = known_.proofs;
    }
    out.known = std::move(known_);
    return out;
  }

 private:
  Ms least() const { return *std::ranges::min_element(known_.times); }

  bool refuted(int strategy, Ms time) {
    const auto [found, made] = lps_.try_emplace(strategy, table_, strategy, time);
    ConfigurationLp& lp = found->second;
    if (!made) lp.set_time(time);
    if (lp.a_kind_fits_nowhere()) {
      keep(strategy, lp.proven(time, upper_ * kLast), lp);
      return true;
    }
    const ColumnGeneration rounds(options_.backend, {.most_rounds = kRounds, .counts_nodes = true});
    bool refuted = false;
    LpResult solution;
    rounds.run(lp.model(), solution, budget_, [&](const PricingRound&) {
      left_ -= 1 + static_cast<int>(cells(lp.model()) / kCells);
      if (solution.objective <= kPossible) return Pricing::enough;
      const ConfigurationLp::Priced priced = lp.price(solution.duals);
      refuted = priced.refuted;
      if (refuted || left_ <= 0 || budget_.exhausted()) return Pricing::enough;
      return priced.added > 0 ? Pricing::added : Pricing::nothing;
    });
    const Ms known = known_.times[at(strategy)];
    // The prices may refute a longer time than the tested one.
    const Ms proven = lp.proven(refuted ? time : known, upper_ * kLast);
    if (proven > known) keep(strategy, proven, lp);
    return refuted;
  }

  void keep(int strategy, Ms time, const ConfigurationLp& lp) {
    known_.times[at(strategy)] = time;
    const std::string& name = instance_.strategies[at(strategy)].name;
    const auto old = std::ranges::find(known_.proofs, name, &StrategyProof::strategy);
    if (old != known_.proofs.end()) *old = lp.proof(name);
  }

  const AssignInstance& instance_;
  const AssignTable& table_;
  Ms upper_;
  KnownProofs known_;
  ConfigurationBoundOptions options_;
  Budget& budget_;
  int left_;  // remaining LPs; large LPs count several times
  std::map<int, ConfigurationLp> lps_;
};

}  // namespace

ConfigurationBound configuration_bound(const AssignInstance& instance, const AssignTable& table,
                                       Ms upper, KnownProofs known,
                                       const ConfigurationBoundOptions& options, Budget& budget) {
  const bool many = table.size() == 0 || table.size() > kMaxConfigured;
  if (many || known.times.empty()) return {.known = std::move(known)};
  return ConfigurationAsking(instance, table, upper, std::move(known), options, budget).run();
}

}  // namespace stowage
