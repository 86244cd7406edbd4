// The problem families as the command sees them: words, units and pictures of any instance and
// plan. A new family adds a file like scatter.h, which answers these questions for its own types,
// and a line to each.h; no command changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/bound_names.h"
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
// "instance  scatter  NAME   512 sequences, ...": what a command says first.
std::string instance_line(const Instance& instance);

Unit objective_unit(const Instance& instance);

double plan_objective(const Plan& plan);
double plan_bound(const Plan& plan);
const std::string& plan_bound_by(const Plan& plan);
const std::string& plan_hash(const Plan& plan);  // of the instance that it is of

// What a plan of this problem is made of, as a JSON key ("micro_batches"), and how many it has.
// Empty for plans without parts.
std::string_view plan_parts(const Instance& instance);
std::int64_t part_count(const Plan& plan);

// What people want to know of a plan beside its objective; empty where there is nothing.
std::string plan_detail(const Plan& plan);

// The picture of a plan that judge() finds nothing wrong with.
Picture plan_picture(const Instance& instance, const Plan& plan, const ShownBounds& bounds);
// How long the sequences are and where they went; nothing for a problem without sequences.
std::optional<Picture> lengths_picture(const Instance& instance, const Plan& plan);
// Which exchange is the fastest when; nothing where groups have no choice.
std::optional<Picture> exchange_picture(const Instance& instance);
// What a plan consists of, as pairs of a label and a text.
std::vector<std::pair<std::string, std::string>> plan_facts(const Instance& instance,
                                                            const Plan& plan);

// The bounds that need no search. None for an instance that has no plan or no sequence.
std::vector<NamedBound> closed_form_bounds(const Instance& instance);

BoundNames bound_names(const Instance& instance);

// The names that --method takes, for the help: "scatter: auto, fast; assign: ...", or those of one
// family without its name.
std::string method_list();
std::string method_list(std::string_view family_name);

// A stowage/plan document, and the same as a value inside another document.
std::string plan_json(const Plan& plan);
void write_plan(JsonWriter& json, const Plan& plan);

// Why nothing can be planned, and in the last line what would help. Of an infeasible outcome.
std::vector<std::string> infeasibility_report(const Instance& instance, const Outcome& outcome);

}  // namespace stowage
