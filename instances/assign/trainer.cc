#include "instances/assign/trainer.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "instances/assign/json/json.h"
#include "instances/json/errors.h"
#include "instances/trainer/composer.h"

namespace stowage {
namespace {

const Scheme& scheme_of(const AssignInstance& instance, const AssignReplica& replica) {
  return *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
}

// Returns the first rank of every replica. Replicas of the largest tp come first, otherwise the
// plan's order holds.
std::vector<int> first_ranks(const AssignInstance& instance, const AssignPlan& plan) {
  std::vector<std::size_t> order(plan.replicas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t replica) {
    return scheme_of(instance, plan.replicas[replica]).tp;
  });
  std::vector<int> first(plan.replicas.size());
  int next = 0;
  for (const std::size_t replica : order) {
    const Scheme& scheme = scheme_of(instance, plan.replicas[replica]);
    first[replica] = next;
    next += scheme.tp * scheme.pp;
  }
  return first;
}

}  // namespace

Result<TrainerStep> trainer_step(const AssignInstance& instance, const AssignPlan& plan) {
  if (instance.constraints.chunks) {
    return InputError{code::kChunkConstraint, "/constraints/chunks",
                      "must be absent for a trainer file, whose rows are whole sequences"};
  }
  TrainerComposer composer(instance.lengths, instance.loss_tokens);
  const std::vector<int> first = first_ranks(instance, plan);
  for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
    const Scheme& scheme = scheme_of(instance, plan.replicas[r]);
    const std::vector<AssignRow>& rows = plan.replicas[r].rows;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      composer.add({.micro_batch = static_cast<int>(j),
                    .group = static_cast<int>(r),
                    .first_rank = first[r],
                    .degree = scheme.tp,
                    .stages = scheme.pp},
                   rows[j].sequences, rows[j].cu_seqlens);
    }
  }
  return std::move(composer).finish({.problem = "assign",
                                     .name = instance.name,
                                     .instance_hash = instance_hash(instance),
                                     .ranks = instance.devices});
}

}  // namespace stowage
