// No accepted certificate claims more than the optimum: prices are drawn at random, and every part
// of a proof is then raised for as long as the checker accepts it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/reference_model.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/pinned_values.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_certificate_strength_test {
namespace {

class Prover {
 public:
  Prover(const ScatterInstance& instance, Ms optimum, std::uint64_t seed)
      : instance_(instance), optimum_(optimum), random_(seed) {
    const ScatterReferenceModel truth(instance);
    for (const GroupForm form : truth.forms()) {
      forms_.push_back(form);
      const Ms overhead = truth.times({}, form).compute;
      overhead_ = forms_.size() == 1 ? overhead : std::min(overhead_, overhead);
    }
    lengths_ = true_length_counts(instance).size();
  }

  // Returns the greatest bound of one drawn certificate that the checker accepts, in ms.
  Ms prove() {
    certificate_ = {};
    if (one_in(3)) {
      for (const GroupForm form : forms_) {
        certificate_.levels.push_back({.degree = form.degree,
                                       .exchange = form.exchange,
                                       .weight = one_in(3) ? share() : 1,
                                       .recomputation = form.recomputation,
                                       .place = form.place});
      }
    }
    if (!instance_.cluster.kinds.empty() && one_in(2)) {
      for (std::size_t k = 0; k < instance_.cluster.kinds.size(); ++k) {
        certificate_.kind_weights.push_back(0.5 + share());
      }
    }
    if (one_in(3)) {
      certificate_.nodes.resize(3);
      certificate_.nodes[0] = {.is_leaf = false,
                               .from = (0.2 + share()) * optimum_,
                               .at_most = static_cast<std::int64_t>(draw(random_, 2)),
                               .fewer = 1,
                               .more = 2};
      for (const std::size_t child : {1U, 2U}) certificate_.nodes[child].leaf.conditions = {0};
    } else {
      certificate_.nodes.resize(1);
    }
    for (CertificateNode& node : certificate_.nodes) {
      if (!node.is_leaf) continue;
      node.leaf.values.assign(lengths_, 0);
      node.leaf.intervals.push_back({.from = one_in(2) ? 0 : overhead_});
      if (one_in(2)) node.leaf.intervals.push_back({.from = overhead_ + share() * optimum_ + 1e-3});
      node.leaf.intervals.push_back({.from = 2.5 * optimum_ + overhead_ + 1});
      for (PriceInterval& interval : node.leaf.intervals) interval.degrees.resize(forms_.size());
    }
    if (!holds()) return 0;  // for instance if these levels cannot be listed
    for (std::size_t node = 0; node < certificate_.nodes.size(); ++node) {
      if (certificate_.nodes[node].is_leaf) fill(certificate_.nodes[node].leaf, node == 2);
    }
    raise(certificate_.bound_ms, 1);
    return certificate_.bound_ms;
  }

 private:
  bool one_in(std::uint64_t n) { return draw(random_, n) == 0; }
  double share() { return static_cast<double>(draw(random_, 1001)) / 1000; }
  bool holds() const { return check_certificate(instance_, certificate_).violations.empty(); }

  // Sets the number to a share of the largest accepted value, found by bisection.
  void raise(double& number, double part) {
    double low = 0;
    double high = 4 * optimum_ + 10;
    for (int step = 0; step < 24 && high - low > 1e-6 * high; ++step) {
      number = step == 0 ? high : (low + high) / 2;
      if (holds()) {
        low = number;
        if (step == 0) break;
      } else {
        high = number;
      }
    }
    number = part * low;
  }

  void fill(CertificateLeaf& leaf, bool is_more) {
    if (!leaf.conditions.empty() && one_in(2)) leaf.conditions[0] = 0.3 * share() * optimum_;
    if (one_in(2)) raise(leaf.micro_batch, one_in(2) ? 1 - 1e-9 : share());
    for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
      for (DegreePrices& prices : leaf.intervals[i].degrees) {
        const bool endless = i + 1 == leaf.intervals.size();
        if (!endless && !one_in(4)) {
          raise(prices.time, one_in(4) ? share() : 1 - 1e-9);
        } else if (!one_in(3)) {
          raise(prices.tokens, one_in(4) ? share() : 1 - 1e-9);
        } else {
          prices.packing.push_back(
              {.resource = endless || one_in(2) ? Resource::tokens : Resource::time});
          PackingPrice& packing = prices.packing.back();
          if (one_in(2)) {
            packing.steps = 1 + static_cast<std::int64_t>(draw(random_, 4));
          } else {
            packing.threshold = 1 + static_cast<double>(draw(random_, 30));
          }
          if (!holds()) packing = {.resource = Resource::tokens, .steps = 1};
          if (!holds()) prices.packing.clear();
          if (!prices.packing.empty()) raise(packing.price, one_in(4) ? share() : 1 - 1e-9);
        }
      }
    }
    std::vector<double*> left{&leaf.micro_batch};
    for (double& value : leaf.values) left.push_back(&value);
    if (is_more && !leaf.conditions.empty()) left.push_back(&leaf.conditions[0]);
    std::shuffle(left.begin(), left.end(), random_);
    for (double* number : left) {
      if (*number == 0) raise(*number, 1 - 1e-9);
    }
  }

  const ScatterInstance& instance_;
  Ms optimum_ = 0;
  std::mt19937_64 random_;
  std::vector<GroupForm> forms_;
  Ms overhead_ = 0;
  std::size_t lengths_ = 0;
  ScatterCertificate certificate_;
};

// Certificates by single makespans: first with prices of a device-ms, then with changes that prove
// more.
class ProfileProver {
 public:
  ProfileProver(const ScatterInstance& instance, Ms optimum, std::uint64_t seed)
      : instance_(instance), truth_(instance), optimum_(optimum), random_(seed) {
    for (const GroupForm form : truth_.forms()) forms_.push_back(form);
    const LengthCounts counts = true_length_counts(instance);
    for (const auto& [tokens, count] : counts) lengths_.push_back(tokens);
    fewest_ = static_cast<std::size_t>(true_fewest_micro_batches(instance, counts));
  }

  // Returns the greatest bound that one drawn certificate was accepted for, in ms.
  Ms prove(int changes) {
    certificate_ = {};
    prices_.clear();
    const auto multiple = static_cast<std::size_t>(instance_.rules.micro_batches_multiple_of);
    certificate_.profiles.resize(1 + draw(random_, 2));
    std::size_t batches = fewest_;
    for (ProfileTree& tree : certificate_.profiles) {
      if (draw(random_, 3) == 0) {
        tree.push_back({.kind = ProfileNode::Kind::split,
                        .batch = draw(random_, batches),
                        .at = share() * optimum_,
                        .below = 1,
                        .above = 2});
        tree.push_back(draw(random_, 2) == 0 ? ProfileNode{} : priced(batches));
      }
      tree.push_back(priced(batches));
      batches += multiple;
    }
    for (ProfileTree& tree : certificate_.profiles) {
      for (ProfileNode& node : tree) {
        for (double& value : node.values) prices_.push_back(&value);
        for (auto& levels : node.batches) {
          for (GroupPrices& prices : levels)
            prices_.insert(prices_.end(), {&prices.time, &prices.group});
        }
      }
    }
    Ms best = climbed(0);
    for (int change = 0; change < changes; ++change) {
      double& price = *prices_[draw(random_, prices_.size())];
      const double before = price;
      price = before == 0 ? 0.1 * share() * optimum_ : before * (0.8 + 0.4 * share());
      certificate_.bound_ms = best;
      if (best > 0 && !holds()) {
        price = before;
      } else {
        best = climbed(best);
      }
    }
    return best;
  }

 private:
  double share() { return static_cast<double>(draw(random_, 1001)) / 1000; }
  bool holds() const { return check_certificate(instance_, certificate_).violations.empty(); }

  Ms climbed(Ms bound) {
    for (double step = optimum_; step > 1e-4 * optimum_; step /= 2) {
      certificate_.bound_ms = bound + step;
      if (holds()) bound += step;
    }
    certificate_.bound_ms = bound;
    return bound;
  }

  ProfileNode priced(std::size_t batches) {
    ProfileNode node{.kind = ProfileNode::Kind::priced};
    const double price = (draw(random_, 3) == 0 ? share() : 1.0) / instance_.cluster.devices;
    std::vector<GroupPrices> levels;
    for (const GroupForm form : forms_) levels.push_back({.time = price * form.degree});
    for (const Tokens tokens : lengths_) {
      double least = optimum_;
      for (const GroupForm form : forms_) {
        if (tokens > truth_.room(form)) continue;
        const auto ms = static_cast<double>(truth_.times(truth_.sums_of(tokens), form).compute -
                                            truth_.times({}, form).compute);
        least = std::min(least, price * form.degree * ms);
      }
      node.values.push_back(least);
    }
    node.batches.assign(batches, levels);
    return node;
  }

  const ScatterInstance& instance_;
  const ScatterReferenceModel truth_;
  Ms optimum_ = 0;
  std::mt19937_64 random_;
  std::vector<GroupForm> forms_;
  std::vector<Tokens> lengths_;  // longest first
  std::size_t fewest_ = 0;
  ScatterCertificate certificate_;
  std::vector<double*> prices_;
};

// Returns an instance of measured times whose rows are padded.
ScatterInstance measured_with_rows(std::uint64_t seed) {
  ScatterInstance instance = tiny_measured_scatter(seed, 4, 4);
  instance.pad_multiple = 1;
  instance.padding = Padding{.row_multiple = 1 + static_cast<Tokens>(seed % 13)};
  return instance;
}

ScatterInstance instance_of(std::uint64_t seed) {
  switch (seed % 8) {
    case 0:
      return tiny_scatter(seed, 4, 4);
    case 1:
      return tiny_recomputing_scatter(seed, 4, 4);
    case 2:
      return tiny_pipeline_scatter(seed, 4, 4);
    case 3:
      return tiny_kinds_scatter(seed, 4, 4);
    case 4:
      return measured_with_rows(seed);
    case 5:
      return tiny_memory_scatter(seed, 4, 4);
    case 6:
      return tiny_ruled_scatter(seed, 4, 4);
    default:
      return tiny_padded_scatter(seed, 4, 4);
  }
}

TEST(ScatterCertificates, NoneByMakespansThatHoldsIsAboveTheOptimum) {
  PinnedValues values("tests/instances/values/scatter_profile.txt");
  int tight = 0;
  int proven = 0;
  for (int seed = 0; seed < in_long_run(60, 3000); ++seed) {
    const ScatterInstance instance = instance_of(static_cast<std::uint64_t>(seed));
    if (instance.lengths.empty()) continue;
    const auto best = brute_force(instance);
    if (!best) continue;
    ProfileProver prover(instance, best->objective_ms, static_cast<std::uint64_t>(seed));
    Ms most = 0;
    for (int draws = 0; draws < 4; ++draws) {
      const Ms bound = prover.prove(40);
      values.add(static_cast<std::uint64_t>(seed), "profile", bound);
      EXPECT_LE(bound, best->objective_ms * (1 + 1e-9)) << instance.name << ' ' << draws;
      most = std::max(most, bound);
    }
    ++proven;
    tight += most > 0.9 * best->objective_ms ? 1 : 0;
  }
  EXPECT_GT(4 * tight, proven);
  if (in_long_run(0, 1) == 0) values.compare();
}

TEST(ScatterCertificates, NoneThatHoldsIsAboveTheOptimum) {
  PinnedValues values("tests/instances/values/scatter_step.txt");
  int tight = 0;
  int proven = 0;
  for (int seed = 0; seed < in_long_run(40, 2000); ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const ScatterInstance instance = instance_of(s);
    if (instance.lengths.empty()) continue;
    const auto best = brute_force(instance);
    if (!best) continue;
    Prover prover(instance, best->objective_ms, s);
    Ms most = 0;
    for (int draws = 0; draws < 10; ++draws) {
      const Ms bound = prover.prove();
      values.add(s, "step", bound);
      EXPECT_LE(bound, best->objective_ms * (1 + 1e-9)) << instance.name << ' ' << draws;
      most = std::max(most, bound);
    }
    ++proven;
    tight += most > 0.9 * best->objective_ms ? 1 : 0;
  }
  EXPECT_GT(4 * tight, proven);
  if (in_long_run(0, 1) == 0) values.compare();
}

}  // namespace
}  // namespace stowage::scatter_certificate_strength_test
