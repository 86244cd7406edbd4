// Steps of a trainer, as flat arrays: one entry a batch, and the sequences of all batches one
// behind the other.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "instances/assign/trainer.h"
#include "instances/scatter/trainer.h"
#include "instances/trainer/step.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"

namespace stowage::python {
namespace {

TrainerBox step_of(const InstanceBox& instance, const PlanBox& plan) {
  const nb::gil_scoped_release unlocked;
  return visit_both(
      [](const auto& own, const auto& its) -> TrainerBox {
        if constexpr (requires { trainer_step(own, its); }) {
          return {value_of(trainer_step(own, its))};
        } else {
          throw nb::type_error("a plan of the problem scatter or assign is needed");
        }
      },
      instance.value, plan.value);
}

TrainerBox read_trainer(const nb::bytes& bytes) {
  const std::string_view text(bytes.c_str(), bytes.size());
  const nb::gil_scoped_release unlocked;
  return {value_of(read_trainer_file(text))};
}

nb::bytes bytes_of(const TrainerBox& box) {
  std::string bytes;
  {
    const nb::gil_scoped_release unlocked;
    bytes = write_trainer_binary(box.value);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

// One entry a batch.
Array<std::int32_t> of_batches(const TrainerStep& step,
                               std::int32_t (*entry)(const TrainerBatch&)) {
  std::vector<std::int32_t> values;
  values.reserve(step.batches.size());
  for (const TrainerBatch& batch : step.batches) values.push_back(entry(batch));
  return array_of(std::move(values));
}

// (values, offsets): the lists of all batches, and where each begins.
template <class Number>
nb::tuple ragged(const TrainerStep& step,
                 const std::vector<std::int32_t>& (*list)(const TrainerBatch&)) {
  std::vector<Number> values;
  std::vector<std::int64_t> offsets = {0};
  for (const TrainerBatch& batch : step.batches) {
    values.insert(values.end(), list(batch).begin(), list(batch).end());
    offsets.push_back(std::ssize(values));
  }
  return nb::make_tuple(array_of(std::move(values)), array_of(std::move(offsets)));
}

std::vector<std::int64_t> loss_denominators(const TrainerStep& step) {
  std::vector<std::int64_t> all;
  for (const TrainerBatch& batch : step.batches) all.push_back(batch.loss_denominator());
  return all;
}

// The targets of each sequence, ragged: all its tokens where the step says nothing else.
nb::tuple loss_tokens(const TrainerStep& step) {
  std::vector<std::int32_t> all;
  std::vector<std::int64_t> offsets = {0};
  for (const TrainerBatch& batch : step.batches) {
    for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
      all.push_back(batch.loss_tokens.empty() ? batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]
                                              : batch.loss_tokens[i]);
    }
    offsets.push_back(std::ssize(all));
  }
  return nb::make_tuple(array_of(std::move(all)), array_of(std::move(offsets)));
}

nb::dict arrays_of(const TrainerBox& box) {
  using Batch = TrainerBatch;
  const TrainerStep& step = box.value;
  nb::dict all;
  all["micro_batch"] =
      of_batches(step, [](const Batch& batch) -> std::int32_t { return batch.micro_batch; });
  all["group"] = of_batches(step, [](const Batch& batch) -> std::int32_t { return batch.group; });
  all["first_rank"] =
      of_batches(step, [](const Batch& batch) -> std::int32_t { return batch.first_rank; });
  all["degree"] = of_batches(step, [](const Batch& batch) -> std::int32_t { return batch.degree; });
  all["stages"] = of_batches(step, [](const Batch& batch) -> std::int32_t { return batch.stages; });
  all["max_seqlen"] = of_batches(step, [](const Batch& batch) { return batch.max_seqlen(); });
  all["tokens"] =
      of_batches(step, [](const Batch& batch) { return batch.cu_seqlens_padded.back(); });
  all["loss_denominators"] = array_of(loss_denominators(step));
  all["sequences"] = ragged<std::int64_t>(
      step, [](const Batch& batch) -> const auto& { return batch.sequences; });
  all["loss_tokens"] = loss_tokens(step);
  all["cu_seqlens"] = ragged<std::int32_t>(
      step, [](const Batch& batch) -> const auto& { return batch.cu_seqlens; });
  all["cu_seqlens_padded"] = ragged<std::int32_t>(
      step, [](const Batch& batch) -> const auto& { return batch.cu_seqlens_padded; });
  all["schedule"] = array_of(
      trainer_schedule(step),
      {static_cast<std::size_t>(step.ranks), static_cast<std::size_t>(step.micro_batches)});
  return all;
}

// The model's time of each batch of a scatter plan, in the order of its trainer step.
Array<double> predicted_ms(const PlanBox& plan) {
  const auto* scatter = std::get_if<ScatterPlan>(&plan.value);
  if (scatter == nullptr) throw nb::type_error("a plan of the problem scatter is needed");
  std::vector<double> times;
  for (const ScatterMicroBatch& batch : scatter->micro_batches) {
    for (const ScatterGroup& group : batch.groups) times.push_back(group.time_ms);
  }
  return array_of(std::move(times));
}

}  // namespace

void bind_trainer_steps(nb::module_& module) {
  nb::class_<TrainerBox>(module, "TrainerStep")
      .def_prop_ro("problem", [](const TrainerBox& box) { return box.value.problem; })
      .def_prop_ro("name", [](const TrainerBox& box) { return box.value.name; })
      .def_prop_ro("instance_hash", [](const TrainerBox& box) { return box.value.instance_hash; })
      .def_prop_ro("ranks", [](const TrainerBox& box) { return box.value.ranks; })
      .def_prop_ro("micro_batches", [](const TrainerBox& box) { return box.value.micro_batches; })
      .def_prop_ro("loss_denominator",
                   [](const TrainerBox& box) { return box.value.loss_denominator(); })
      .def("arrays", &arrays_of, nb::sig("def arrays(self) -> dict[str, typing.Any]"))
      .def("to_json", [](const TrainerBox& box) { return write_trainer_json(box.value); })
      .def("to_bytes", &bytes_of);
  module.def("trainer_step", &step_of);
  module.def("read_trainer", &read_trainer);
  module.def("predicted_ms", &predicted_ms,
             nb::sig("def predicted_ms(plan: Plan) -> numpy.typing.NDArray[numpy.float64]"));
}

}  // namespace stowage::python
