// Fits costs to measured rows, which arrive as flat arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/document.h"
#include "instances/json/errors.h"
#include "instances/json/writer.h"
#include "instances/pictures/scatter/fit.h"
#include "instances/scatter/fit/fit.h"
#include "instances/scatter/fit/json/json.h"
#include "instances/scatter/fit/refit.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/json/rates.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "solvers/scatter/explain/method_spread.h"

namespace stowage::python {
namespace {

using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct FitBox {
  std::vector<TimedRow> rows;
  ScatterInstance like;
  CostFit fit;
};

const ScatterInstance& scatter_of(const InstanceBox& box) {
  const auto* step = std::get_if<ScatterInstance>(&box.value);
  if (step == nullptr) throw nb::type_error("an instance of the problem scatter is needed");
  return *step;
}

// Returns row i, whose lengths are from offsets[i] to offsets[i + 1]. An empty name of an exchange
// means no exchange. Degrees beyond 32 bits become 0, which the fit refuses.
TimedRow row_of(const Integers& degrees, const Integers& lengths, const Integers& offsets,
                const std::vector<std::string>& exchanges, std::size_t i) {
  const std::int64_t degree = degrees.data()[i];
  TimedRow row{.degree = degree >= 1 && degree <= 1 << 30 ? static_cast<int>(degree) : 0};
  row.lengths.assign(lengths.data() + offsets.data()[i], lengths.data() + offsets.data()[i + 1]);
  const auto known = std::ranges::find(exchange_names(), exchanges[i]);
  if (known != exchange_names().end()) {
    row.exchange = static_cast<ExchangeKind>(known - exchange_names().begin());
  }
  return row;
}

// Returns all rows. A peak of NaN means no measured peak.
std::vector<TimedRow> rows_of(const Integers& degrees, const Integers& lengths,
                              const Integers& offsets, const Numbers& ms, const Numbers& mib,
                              const std::vector<std::string>& exchanges) {
  std::vector<TimedRow> rows;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    rows.push_back(row_of(degrees, lengths, offsets, exchanges, i));
    rows.back().ms = ms.data()[i];
    if (!std::isnan(mib.data()[i])) rows.back().mib = mib.data()[i];
  }
  return rows;
}

FitBox fitted(std::vector<TimedRow> rows, const InstanceBox* like, double mib_per_token) {
  FitBox box{.rows = std::move(rows)};
  box.like = like == nullptr ? structure_of(box.rows, mib_per_token) : scatter_of(*like);
  box.fit = value_of(fit_cost(box.rows, box.like));
  return box;
}

FitBox fit_rows(const Integers& degrees, const Integers& lengths, const Integers& offsets,
                const Numbers& ms, const Numbers& mib, const std::vector<std::string>& exchanges,
                const InstanceBox* like, double mib_per_token) {
  std::vector<TimedRow> rows = rows_of(degrees, lengths, offsets, ms, mib, exchanges);
  const nb::gil_scoped_release unlocked;
  return fitted(std::move(rows), like, mib_per_token);
}

FitBox fit_table(const std::string& text, const std::string& file, const InstanceBox* like,
                 double mib_per_token) {
  const nb::gil_scoped_release unlocked;
  return fitted(value_of(read_samples_csv(text, file)), like, mib_per_token);
}

// Refits a cost to groups. `steps` and `batches` give the measured step and the micro-batch of each
// group, both ascending; `ms` has one time per step. Returns (JSON of the cost, factor, drifted,
// noise, mean error, mean error of the old cost).
nb::tuple refitted(const InstanceBox& old, const Integers& degrees, const Integers& lengths,
                   const Integers& offsets, const std::vector<std::string>& exchanges,
                   const Integers& steps, const Integers& batches, const Numbers& ms) {
  std::vector<TimedStep> measured(ms.size());
  for (std::size_t s = 0; s < ms.size(); ++s) measured[s].ms = ms.data()[s];
  for (std::size_t g = 0; g < degrees.size(); ++g) {
    auto& own = measured[static_cast<std::size_t>(steps.data()[g])].micro_batches;
    own.resize(std::max(own.size(), static_cast<std::size_t>(batches.data()[g]) + 1));
    own.back().push_back(row_of(degrees, lengths, offsets, exchanges, g));
  }
  Refit found;
  {
    const nb::gil_scoped_release unlocked;
    found = value_of(refit_cost(scatter_of(old), std::move(measured)));
  }
  JsonWriter json;
  write_json(json, found.cost);
  return nb::make_tuple(json.take(), found.factor, found.drifted, found.noise, found.mean_error,
                        found.old_mean_error);
}

std::string fit_json(const FitBox& box) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, box.fit, box.rows);
  json.end_object();
  return json.take();
}

// Returns a JSON object with the member "table".
std::string table_json(const FitBox& box) {
  const nb::gil_scoped_release unlocked;
  JsonWriter json;
  json.begin_object();
  write_json_member(json, value_of(stowage::fit_table(box.rows, box.like)));
  json.end_object();
  return json.take();
}

std::string fit_svg(const FitBox& box) {
  const nb::gil_scoped_release unlocked;
  return svg_document(fit_pictures(box.fit, box.rows), "fit");
}

// Returns the pairs (method, ms) of the plans, the fastest first, and the relative excess of the
// second and of the last plan over the first.
nb::tuple separation(const InstanceBox& box) {
  MethodSpread found;
  {
    const nb::gil_scoped_release unlocked;
    Budget budget;
    found = separation_of(scatter_of(box), budget);
  }
  nb::list plans;
  for (const MethodTime& plan : found.plans) plans.append(nb::make_tuple(plan.method, plan.ms));
  return nb::make_tuple(plans, found.best_to_next, found.best_to_last);
}

// Fits rates to runs in the format of read_runs(). Returns (JSON of the fit, JSON of the instance
// with fitted rates).
nb::tuple fit_strategy_runs(const std::string& text, const std::string& file,
                            const std::string& directory, const std::string& stated,
                            const InstanceBox& box) {
  const auto* like = std::get_if<StrategyInstance>(&box.value);
  if (like == nullptr) throw nb::type_error("an instance of the problem strategy is needed");
  if (!like->cost.detail) {
    throw CodedErrors({{code::kMissingKey, "/cost/detail",
                        "must be there, is missing: rates are fitted by version 2 of the "
                        "formulas"}});
  }
  std::string found;
  std::string instance;
  {
    const nb::gil_scoped_release unlocked;
    const RunFiles files{.text = text, .name = file, .read = [&](const std::string& name) {
                           return read_text_file(std::filesystem::path(directory) / name);
                         }};
    const std::vector<LoggedRun> runs = value_of(read_runs(files, stated, *like));
    const StrategyFit fit = fit_strategy(runs, *like);
    JsonWriter json;
    json.begin_object();
    write_fit_members(json, runs, *like, fit);
    json.end_object();
    found = json.take();
    instance = write_strategy_instance(fit.instance);
  }
  return nb::make_tuple(found, instance);
}

}  // namespace

void bind_fits(nb::module_& module) {
  nb::class_<FitBox>(module, "Fit")
      .def("to_json", &fit_json)
      .def("svg", &fit_svg)
      .def("table_json", &table_json);
  module.def("fit_rows", &fit_rows, nb::arg("degrees"), nb::arg("lengths"), nb::arg("offsets"),
             nb::arg("ms"), nb::arg("mib"), nb::arg("exchanges"), nb::arg("like").none(),
             nb::arg("mib_per_token"),
             nb::sig("def fit_rows(degrees: numpy.typing.NDArray[numpy.int64], lengths: "
                     "numpy.typing.NDArray[numpy.int64], offsets: "
                     "numpy.typing.NDArray[numpy.int64], ms: numpy.typing.NDArray[numpy.float64], "
                     "mib: numpy.typing.NDArray[numpy.float64], exchanges: list[str], like: "
                     "Instance | None, mib_per_token: float) -> Fit"));
  module.def("fit_table", &fit_table, nb::arg("text"), nb::arg("file"), nb::arg("like").none(),
             nb::arg("mib_per_token"));
  module.def(
      "refit", &refitted,
      nb::sig("def refit(old: Instance, degrees: numpy.typing.NDArray[numpy.int64], "
              "lengths: numpy.typing.NDArray[numpy.int64], offsets: "
              "numpy.typing.NDArray[numpy.int64], exchanges: list[str], steps: "
              "numpy.typing.NDArray[numpy.int64], batches: "
              "numpy.typing.NDArray[numpy.int64], ms: "
              "numpy.typing.NDArray[numpy.float64]) -> tuple[str, float, bool, float, float, "
              "float]"));
  module.def("fit_strategy", &fit_strategy_runs, nb::arg("text"), nb::arg("file"),
             nb::arg("directory"), nb::arg("stated"), nb::arg("like"),
             nb::sig("def fit_strategy(text: str, file: str, directory: str, stated: str, like: "
                     "Instance) -> tuple[str, str]"));
  module.def("separation", &separation,
             nb::sig("def separation(instance: Instance) -> tuple[list[tuple[str, float]], float, "
                     "float]"));
}

}  // namespace stowage::python
