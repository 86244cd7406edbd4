// Stores the plans of results, so that the results of a table can be verified later.
//
//   record.plan = store_plan("build/bench/plans", record, *outcome.plan);   // when measured
//   if (const auto fault = check_plan("build/bench/plans", record, entry.instance)) ...   // later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bench/record.h"
#include "instances/families.h"

namespace stowage::bench {

// Writes the plan of a result as JSON into the directory, which is created if it is missing.
// Returns the name of the file: "scatter.gpt-7b-64gpu-192k-code_files-0.auto-10-s.json". Throws
// std::runtime_error on failure.
std::string store_plan(const std::filesystem::path& directory, const Record& record,
                       const Plan& plan);

// Returns the fault of the result's plan as a sentence: the plan cannot be read, breaks a rule,
// belongs to another instance, or is worse than the result states. Returns nullopt for a valid plan
// and for a result without a plan.
std::optional<std::string> check_plan(const std::filesystem::path& directory, const Record& record,
                                      const Instance& instance);

}  // namespace stowage::bench
