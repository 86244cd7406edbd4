// The functions that commands call for any family: words, units and pictures of any instance and
// plan. A new family adds a file like scatter.h with overloads for its own types, and a line to
// each.h; no command changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/proof.h"
#include "solvers/outcome.h"

namespace stowage {

const std::string& instance_name(const Instance& instance);
std::string hash_of(const Instance& instance);  // instance_hash() of its problem
std::string instance_size(
    const Instance& instance);  // "512 sequences, 1 842 560 tokens, 64 devices"
// The first line of a command's output: "instance  scatter  NAME   512 sequences, ...".
std::string instance_line(const Instance& instance);

Unit objective_unit(const Instance& instance);

double plan_objective(const Plan& plan);
double plan_bound(const Plan& plan);
const std::string& plan_bound_by(const Plan& plan);
const std::string& plan_hash(const Plan& plan);  // hash of the plan's instance

// The parts of a plan of this problem as a JSON key ("micro_batches"), and their number. Empty and
// 0 for plans without parts.
std::string_view plan_parts(const Instance& instance);
std::int64_t part_count(const Plan& plan);

// Returns a text about a plan in addition to its objective, or an empty string.
std::string plan_detail(const Plan& plan);

// Returns the end in ms of the simulated 1F1B schedule that a plan states, and a bound in ms on
// that end for all plans of the instance. nullopt if the plan states none, or if nothing is known.
std::optional<double> plan_simulated(const Plan& plan);
std::optional<double> simulated_end_bound(const Instance& instance);

// Returns the picture of a plan that judge() accepts.
Picture plan_picture(const Instance& instance, const Plan& plan, const ShownBounds& bounds);
// Returns a picture of the sequences' lengths and their places, or nullopt for a problem without
// sequences.
std::optional<Picture> lengths_picture(const Instance& instance, const Plan& plan);
// Returns a picture of the fastest exchange by length and degree, or nullopt if groups have no
// choice.
std::optional<Picture> exchange_picture(const Instance& instance);
// Returns facts about a plan as pairs of a label and a text.
std::vector<std::pair<std::string, std::string>> plan_facts(const Instance& instance,
                                                            const Plan& plan);

// Returns the bounds that need no search; empty for an infeasible instance or one without
// sequences.
std::vector<NamedBound> closed_form_bounds(const Instance& instance);

BoundNames bound_names(const Instance& instance);

// Returns the names of the methods for the help: "scatter: auto, fast; assign: ...", or the names
// of one family without its name.
std::string method_list();
std::string method_list(std::string_view family_name);

// Return a stowage/plan document, or write it as a value inside another document.
std::string plan_json(const Plan& plan);
void write_plan(JsonWriter& json, const Plan& plan);

// Returns the reasons why an instance is infeasible; the last line is a remedy. Requires an
// infeasible outcome.
std::vector<std::string> infeasibility_report(const Instance& instance, const Outcome& outcome);

}  // namespace stowage
