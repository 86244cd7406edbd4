// The rules of instances/scatter/certificate.h. It shares no code with the searches that find
// certificates. It takes the cost and room of groups from reference_model.h, as the verifier does.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/certificate/certificate_checker.h"

namespace stowage {

CertificateCheck ScatterCertificateChecker::run() && {
  std::optional<Real> weakest;
  if (!levels_hold_) {
    // The levels are wrong, so their prices cannot be checked.
  } else if (!certificate_.profiles.empty()) {
    check_makespans();
  } else if (check_tree()) {
    for (std::size_t n = 0; n < certificate_.nodes.size(); ++n) {
      if (!certificate_.nodes[n].is_leaf) continue;
      const std::optional<Real> proven = check_leaf(n);
      if (proven && (!weakest || *proven < *weakest)) weakest = proven;
    }
  }
  const Ms claimed = certificate_.bound_ms;
  if (!std::isfinite(claimed) || claimed < 0) {
    number("/bound_ms", claimed);
  } else if (weakest && claimed > *weakest) {
    found_.add(kBound, [&] {
      return Description{"/bound_ms", text(claimed) + " ms",
                         "at most " + text(static_cast<double>(*weakest)) + " ms"};
    });
  }
  CertificateCheck check{.violations = std::move(found_).take()};
  if (check.violations.empty()) check.bound_ms = claimed;
  return check;
}

// Checks a certificate by makespans.
void ScatterCertificateChecker::check_makespans() {
  if (!certificate_.nodes.empty()) {
    found_.add(kProfile, [] {
      return Description{"/nodes", "intervals beside profiles", "one or the other"};
    });
    return;
  }
  if (!std::isfinite(certificate_.bound_ms)) return;  // run() reports it
  const CertificateFacts facts{.devices = all_devices_,
                               .degrees = shares_,
                               .capacity = capacity_,
                               .beside = beside_,
                               .overhead = overhead_,
                               .sorts = sorts_,
                               .fewest = fewest_,
                               .multiple = rules_.micro_batches_multiple_of,
                               .again = longest_weight_,
                               .alone = alone_};
  check_profiles(facts, certificate_,
                 {.number = kNumber, .shape = kProfile, .pattern = kPattern, .bound = kBound},
                 found_);
}

// Checks that every node but the root has one parent, which stands before it.
bool ScatterCertificateChecker::check_tree() {
  const auto& nodes = certificate_.nodes;
  const std::size_t count = nodes.size();
  parent_.assign(count, count);
  depth_.assign(count, 0);
  const std::int64_t before = found_.total();
  if (count == 0) {
    found_.add(kTree, [] { return Description{"/nodes", "no node", "a root"}; });
  }
  for (std::size_t n = 0; n < count; ++n) {
    if (nodes[n].is_leaf) continue;
    check_number(nodes[n].from, [&] { return node_at(n) + "/from_ms"; });
    for (const std::size_t child : {nodes[n].fewer, nodes[n].more}) {
      if (child > n && child < count && parent_[child] == count) {
        parent_[child] = n;
        depth_[child] = depth_[n] + 1;
        continue;
      }
      found_.add(kTree, [&] {
        return Description{node_at(n), "child " + text(child),
                           "a later node that is nobody else's child"};
      });
    }
  }
  for (std::size_t n = 1; n < count; ++n) {
    if (parent_[n] != count) continue;
    found_.add(kTree, [&] { return Description{node_at(n), "no parent", "one parent"}; });
  }
  return found_.total() == before;
}

// Returns the conditions from the root to the leaf.
std::vector<ScatterCertificateChecker::Condition> ScatterCertificateChecker::conditions_of(
    std::size_t leaf) const {
  std::vector<Condition> path;
  for (std::size_t n = leaf; n != 0; n = parent_[n]) {
    const CertificateNode& above = certificate_.nodes[parent_[n]];
    const bool more = above.more == n;
    // `at_most` is capped at the largest number of a document. The leaf then proves less.
    path.push_back(
        {above.from, more, more ? std::min(above.at_most, kMaxExact) + 1 : above.at_most});
  }
  std::ranges::reverse(path);
  return path;
}

CertificateCheck check_certificate(const ScatterInstance& instance,
                                   const ScatterCertificate& certificate) {
  if (instance.mixed) {
    ViolationList found(ScatterCertificateChecker::kRuleNames);
    found.add(ScatterCertificateChecker::kLevels, [] {
      return Description{"/levels", "groups that share no device", "no certificate with mixed"};
    });
    return {.violations = std::move(found).take()};
  }
  return ScatterCertificateChecker(instance, certificate).run();
}

std::vector<std::string_view> certificate_rules() {
  return {ScatterCertificateChecker::kRuleNames.begin(),
          ScatterCertificateChecker::kRuleNames.end()};
}

}  // namespace stowage
