// The problem families as the command sees them: which reader, writer, verifier and words belong to
// an instance. Adding a family adds a file like scatter.cc and a branch where files are
// read, and changes no command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/claims.h"
#include "cli/terminal/console.h"
#include "cli/terminal/unit.h"
#include "formulations/bound.h"
#include "instances/instance.h"
#include "instances/json/writer.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/result.h"
#include "instances/verify.h"

namespace stowage {

// A value, or errors that already name their file.
template <class T>
struct Loaded {
  std::optional<T> value;
  std::vector<CliError> errors;  // non-empty if there is no value
};

// The instance in the file at `path`, or on stdin for "-".
Loaded<Instance> load_instance(const std::string& path);

// The plan in the file at `path`, or the one inside an outcome.
Loaded<Plan> load_plan(const std::string& path);

struct InstanceAndPlan {
  Instance instance;
  Plan plan;
  std::optional<Certificate> certificate;  // of an outcome that has one
  std::optional<OutcomeClaims> claims;     // of an outcome
  std::string plan_document;               // the bytes that the plan was read from
};

// Both, with the errors of both files in one pass. Only one of the paths may be "-".
Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path);

// Error E209 unless the plan is of the instance's problem.
std::optional<InputError> other_problem(const Instance& instance, const Plan& plan);

// Error E209 unless the instance is of `problem`.
std::optional<InputError> not_of(const Instance& instance, std::string_view problem);

std::string_view problem_name(const Instance& instance);  // "scatter"
const std::string& instance_name(const Instance& instance);
std::string hash_of(const Instance& instance);  // instance_hash() of its problem
std::string instance_size(
    const Instance& instance);  // "512 sequences, 1 842 560 tokens, 64 devices"

Unit objective_unit(const Instance& instance);

double plan_objective(const Plan& plan);
double plan_bound(const Plan& plan);
const std::string& plan_bound_by(const Plan& plan);

// What a plan of this problem is made of, as a JSON key ("micro_batches"), and how many it has.
// Empty for plans without parts.
std::string_view plan_parts(const Instance& instance);
std::int64_t part_count(const Plan& plan);

// What people want to know of a plan beside its objective; empty where there is nothing.
std::string plan_detail(const Plan& plan);

// All violations, the instance hash included. Requires plan and instance of one problem.
std::vector<Violation> verify_plan(const Instance& instance, const Plan& plan);

// All that can be said of a plan here and now.
struct Judgement {
  std::vector<Violation> violations;  // of the plan, and of the outcome that it stands in
  std::optional<NamedBound> proven;   // the best bound that was computed or certified here
  ShownBounds shown;                  // `proven`, and what the plan claims if that is more
};
Judgement judge(const InstanceAndPlan& both);

// Pictures of a plan that judge() finds nothing wrong with.
Picture plan_picture(const Instance& instance, const Plan& plan, const ShownBounds& bounds);
// How long the sequences are and where they went; nothing for a problem without sequences.
std::optional<Picture> lengths_picture(const Instance& instance, const Plan& plan);
// What a plan consists of, as pairs of a label and a text.
std::vector<std::pair<std::string, std::string>> plan_facts(const Instance& instance,
                                                            const Plan& plan);

// Whether a bound of this name needs no search: judge() computes it anew.
bool is_closed_form(const std::string& bound_by);

// A stowage/plan document, and the same as a value inside another document.
std::string plan_json(const Plan& plan);
void write_plan(JsonWriter& json, const Plan& plan);

// Why nothing can be planned and what would help, one line each. `unplaceable` as in Outcome.
std::vector<std::string> infeasibility_report(const Instance& instance,
                                              const std::vector<std::int64_t>& unplaceable);

}  // namespace stowage
