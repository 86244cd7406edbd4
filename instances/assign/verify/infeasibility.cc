// Checks the proofs of verify.h that no plan exists. It shares no code with the search that finds
// them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "instances/assign/verify/counterexample_plan.h"
#include "instances/assign/verify/reference_model.h"
#include "instances/assign/verify/verify.h"
#include "instances/proof/infeasibility_check.h"

namespace stowage {
namespace {

// Returns the longest sequence that the scheme admits. With chunks, the stages' memory is a row's
// cap times the stages; retained tokens take activations, and the other tokens only keys and
// values.
Tokens admitted(const AssignInstance& instance, const Scheme& scheme) {
  const std::optional<ChunkRule>& rule = instance.constraints.chunks;
  if (!rule || rule->size > scheme.max_tokens) return scheme.max_tokens;
  const auto memory = static_cast<long double>(scheme.max_tokens) * scheme.pp;
  const auto kept = static_cast<long double>(rule->size) * rule->retained;
  long double most = memory;
  if (memory > kept) {
    // Below 2^53 the product is a 64-bit integer, so that rounding down is exact.
    most = kept + std::floor((memory - kept) * static_cast<long double>(rule->activation_bytes) /
                             static_cast<long double>(rule->key_value_bytes));
  }
  return most < 0x1p53L ? static_cast<Tokens>(most) : kMaxExact;
}

Tokens admitted(const AssignInstance& instance, const Strategy& strategy) {
  Tokens most = 0;
  for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
    if (strategy.replicas[g] > 0) most = std::max(most, admitted(instance, instance.schemes[g]));
  }
  return most;
}

std::int64_t up_to(const std::vector<Tokens>& ascending, Tokens tokens) {
  return std::upper_bound(ascending.begin(), ascending.end(), tokens) - ascending.begin();
}

// Returns whether the strategy has too few sequences for its rows; `lengths` ascend.
bool wants_rows(const AssignInstance& instance, const Strategy& strategy,
                const std::vector<Tokens>& lengths) {
  const RowConstraints& rule = instance.constraints;
  const auto all = static_cast<std::int64_t>(lengths.size());
  if (all > 0 && lengths.back() > admitted(instance, strategy)) return true;
  // If there is a sequence, at least one replica has rows.
  if (rule.allow_empty) return all > 0 && all < rule.rows_multiple_of;
  for (const Scheme& limit : instance.schemes) {
    std::int64_t rows = 0;
    for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
      if (instance.schemes[g].max_tokens > limit.max_tokens) continue;
      rows += std::int64_t{strategy.replicas[g]} * rule.rows_multiple_of;
    }
    if (rows > up_to(lengths, limit.max_tokens)) return true;
  }
  return false;
}

}  // namespace

std::vector<Violation> check_infeasibility(const AssignInstance& instance,
                                           const InfeasibilityProof& proof) {
  InfeasibilityCheck check(proof, {{"sequences", ProofParts::witnesses}, {"rows"}});
  const AssignReferenceModel truth(instance);
  if (proof.by == "sequences") {
    Tokens room = 0;
    for (const Strategy& strategy : instance.strategies) {
      room = std::max(room, admitted(instance, strategy));
    }
    check.sequences_longer_than(truth, room);
  } else if (proof.by == "rows") {
    std::vector<Tokens> lengths;
    for (std::int64_t id = 0; id < truth.sequences(); ++id) {
      lengths.push_back(truth.length(id).value_or(kMaxExact));
    }
    std::ranges::sort(lengths);
    for (const Strategy& strategy : instance.strategies) {
      if (wants_rows(instance, strategy, lengths)) continue;
      check.wrong("/by", "strategy " + strategy.name + ", which has a sequence for each row",
                  "none such");
    }
  }
  if (proof.by == "none" && has_counterexample_plan(instance)) check.plan_exists();
  return std::move(check).take();
}

}  // namespace stowage
