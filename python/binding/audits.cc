// audit(): reads the work of a step, and returns the verdict as a tuple.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "instances/budget.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "solvers/audit/audit.h"

namespace stowage::python {
namespace {

// Returns (now, planned, bound, its name, lost at least, lost at most, line, rows). Other Python
// threads run meanwhile.
nb::tuple audited(const std::string& text, const InstanceBox* instance,
                  std::optional<std::int64_t> max_tokens, std::int64_t quadratic,
                  std::int64_t linear, double seconds) {
  const AuditOutcome outcome = [&] {
    const nb::gil_scoped_release unlocked;
    const Result<TrainerWork> work = read_trainer_work(text);
    if (!work) throw CodedErrors(work.errors());
    if (work->kind != WorkKind::sample_id_groups) {
      return audit(*work,
                   {.cost = {.quadratic = quadratic, .linear = linear}, .max_tokens = max_tokens});
    }
    Budget budget({.time_limit_s = seconds});
    return audit_groups(*work, std::get<ScatterInstance>(instance->value), budget);
  }();
  if (!outcome.errors.empty()) throw CodedErrors(outcome.errors);
  if (!outcome.verdict) {
    throw std::runtime_error("the verdict is invalid: " + to_string(outcome.violations.front()));
  }
  auto rows = outcome.ids;
  if (outcome.plan) {
    // As sample_id_groups: the ids of each rank in each micro-batch.
    const auto ranks = std::get<ScatterInstance>(instance->value).cluster.devices;
    for (const ScatterMicroBatch& micro_batch : outcome.plan->micro_batches) {
      auto& own = rows.emplace_back(static_cast<std::size_t>(ranks));
      for (const ScatterGroup& group : micro_batch.groups) {
        for (int rank = 0; rank < group.degree; ++rank) {
          own[static_cast<std::size_t>(group.first_rank + rank)] = group.sequences;
        }
      }
    }
  }
  const AuditVerdict& verdict = *outcome.verdict;
  return nb::make_tuple(verdict.now, verdict.planned, verdict.bound, verdict.bound_by,
                        verdict.lost_at_least, verdict.lost_at_most, outcome.line, rows);
}

}  // namespace

void bind_audits(nb::module_& module) {
  module.def("audit", &audited, nb::arg("text"), nb::arg("instance").none(),
             nb::arg("max_tokens").none(), nb::arg("quadratic"), nb::arg("linear"),
             nb::arg("seconds"),
             nb::sig("def audit(text: str, instance: Instance | None, max_tokens: int | None, "
                     "quadratic: int, linear: int, seconds: float) -> tuple[float, float, float, "
                     "str, float, float, str, list[list[list[int]]]]"));
}

}  // namespace stowage::python
