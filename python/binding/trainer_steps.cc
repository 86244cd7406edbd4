// The steps of a trainer as flat arrays: one entry per batch, and the concatenated sequences of all
// batches.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "instances/trainer/step.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"

namespace stowage::python {
namespace {

TrainerBox step_of(const InstanceBox& instance, const PlanBox& plan) {
  const nb::gil_scoped_release unlocked;
  if (!has_trainer_steps(instance.value)) {
    throw nb::type_error("a plan of the problem scatter or assign is needed");
  }
  return {value_of(trainer_step(instance.value, plan.value))};
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

template <class Number>
nb::tuple ragged(TrainerLists lists) {
  if constexpr (std::is_same_v<Number, std::int32_t>) {
    return nb::make_tuple(array_of(std::move(lists.values)), array_of(std::move(lists.offsets)));
  } else {
    std::vector<Number> values(lists.values.begin(), lists.values.end());
    return nb::make_tuple(array_of(std::move(values)), array_of(std::move(lists.offsets)));
  }
}

// Returns the recomputation mode of each batch, or None if the step lists no modes.
nb::list recomputation(const TrainerStep& step) {
  nb::list all;
  for (const TrainerBatch& batch : step.batches) {
    if (batch.recomputation.empty()) {
      all.append(nb::none());
    } else {
      all.append(nb::str(batch.recomputation.c_str(), batch.recomputation.size()));
    }
  }
  return all;
}

nb::dict arrays_of(const TrainerBox& box) {
  TrainerArrays flat;
  {
    const nb::gil_scoped_release unlocked;
    flat = trainer_arrays(box.value);
  }
  nb::dict all;
  all["micro_batch"] = array_of(std::move(flat.micro_batch));
  all["group"] = array_of(std::move(flat.group));
  all["first_rank"] = array_of(std::move(flat.first_rank));
  all["degree"] = array_of(std::move(flat.degree));
  all["stages"] = array_of(std::move(flat.stages));
  all["max_seqlen"] = array_of(std::move(flat.max_seqlen));
  all["tokens"] = array_of(std::move(flat.tokens));
  all["loss_denominators"] = array_of(std::move(flat.loss_denominators));
  // 64-bit integers, NumPy's index type.
  all["sequences"] = ragged<std::int64_t>(std::move(flat.sequences));
  all["loss_tokens"] = ragged<std::int32_t>(std::move(flat.loss_tokens));
  all["cu_seqlens"] = ragged<std::int32_t>(std::move(flat.cu_seqlens));
  all["cu_seqlens_padded"] = ragged<std::int32_t>(std::move(flat.cu_seqlens_padded));
  all["recomputation"] = recomputation(box.value);
  all["offload"] = array_of(std::move(flat.offload));
  all["schedule"] =
      array_of(std::move(flat.schedule), {static_cast<std::size_t>(box.value.ranks),
                                          static_cast<std::size_t>(box.value.micro_batches)});
  return all;
}

// Returns the predicted time of each batch of a scatter plan in ms, in the order of its trainer
// step.
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
