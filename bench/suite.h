// The instances of a benchmark suite, as bench/suite.json lists them.
//
//   Result<std::vector<SuiteEntry>> steps = read_suite("bench/suite.json", "scatter");
//
// The file holds {"suites": {NAME: [ENTRY, ...]}}. An entry is one of
//
//   {"file": PATH}          an instance, relative to the directory above the suite's
//   {"generator": {...}}    a step, with the keys of `x-generator` (instances/presets.md); lists of
//                           lengths are those of instances/data/lengths. "cost": PATH replaces the
//                           preset's cost by that of the file; "pipeline_stages": P sets the
//                           number of stages; in addition, "planned_flat": true plans the step
//                           with one stage and values the plan with P stages
//   {"drawn_assign": SEED}  an assign step whose parameters are drawn (drawn_assign.h)
//   {"buffers": {...}}      a layout, with the options of LayoutGenerator: kind, buffers, steps,
//                           bytes, seed
//   {"packing": {...}}      a hard layout, with the options of PackingGenerator: kind, seed
//   {"graph": {...}}        an order, with options of OrderGenerator: kind, operators, tokens, seed,
//                           capacity_share
//   {"trace": {...}}        a layout, with the options of TransformerStep: model, tokens, ranks,
//                           layers, recompute
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "instances/families.h"
#include "instances/result.h"

namespace stowage::bench {

struct SuiteEntry {
  std::string name;  // name of the instance
  Instance instance;
  // planned instead of `instance`; plans are then valued by `instance`
  std::optional<ScatterInstance> planned;
};

// Returns the entries. Errors: E110 and the errors of the readers; E201 for a suite that the file
// does not have.
Result<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& file,
                                           const std::string& suite);

}  // namespace stowage::bench
