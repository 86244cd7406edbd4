// The plans behind the results, so that a table is made of what can still be verified.
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

// Writes the plan of a result as JSON into the directory, which is made if it is missing, and
// returns the name of the file: "scatter.gpt-7b-64gpu-192k-code_files-0.auto-10-s.json". Throws
// std::runtime_error where that is not possible.
std::string store_plan(const std::filesystem::path& directory, const Record& record,
                       const Plan& plan);

// What is wrong with the result's plan, a sentence: it cannot be read, breaks a rule, is of another
// instance, or is not as good as the result says. Nothing for a result without a plan.
std::optional<std::string> check_plan(const std::filesystem::path& directory, const Record& record,
                                      const Instance& instance);

}  // namespace stowage::bench
