#include "instances/scatter/verify/counterexample_plan.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/exhaustive_check.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/scatter/verify/verify.h"

namespace stowage {
namespace {

// Returns the form of groups that holds the longest sequences, the largest of several.
std::optional<GroupForm> roomiest(const ScatterReferenceModel& truth) {
  std::optional<GroupForm> best;
  for (const GroupForm form : truth.forms()) {
    if (!best || truth.room(form) >= truth.room(*best)) best = form;
  }
  return best;
}

}  // namespace

bool has_counterexample_plan(const ScatterInstance& instance) {
  constexpr Ms kNever = std::numeric_limits<Ms>::infinity();
  if (const std::optional<Ms> least = least_objective(instance, kNever)) return *least < kNever;
  const std::optional<GroupForm> form = roomiest(ScatterReferenceModel(instance));
  if (!form) return false;
  std::vector<MicroBatchChoice> alone;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    alone.push_back({{.degree = form->degree,
                      .sequences = {static_cast<std::int64_t>(id)},
                      .exchange = form->exchange,
                      .recomputation = form->recomputation,
                      .place = form->place}});
  }
  return verify(instance, compose_plan(instance, std::move(alone))).empty();
}

}  // namespace stowage
