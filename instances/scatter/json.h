// Scatter instances, plans and certificates in JSON. instances/scatter/README.md has the format,
// instances/json/document.h what holds for all reading and writing.
//
//   Result<ScatterInstance> instance = read_scatter_instance(text);
//   if (!instance) complain(instance.errors());
//   else std::cout << write_scatter_instance(*instance);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "instances/result.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// `base_dir` is where {"file": "lengths.txt"} is looked up; empty means the current directory.
Result<ScatterInstance> read_scatter_instance(std::string_view text,
                                              const std::string& base_dir = {});

// The `cost` of an instance by itself, checked against the degrees of `cluster`.
Result<ScatterCost> read_scatter_cost(std::string_view text, const Cluster& cluster);

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<ScatterPlan> read_scatter_plan(std::string_view text);

// Reads the same, or a bare plan: a stowage/plan without `instance_hash` and `objective_ms`, whose
// groups have `degree`, `first_rank` and `sequences` only. Everything else is computed from the
// instance, which must be valid; the plan is then taken to be for it, and has no bound.
Result<ScatterPlan> complete_scatter_plan(std::string_view text, const ScatterInstance& instance);

// Reads the certificate inside a stowage/outcome; nothing if it has none, or for a stowage/plan,
// which never has one. Checks types and ranges only: check_certificate() says whether it holds.
Result<std::optional<ScatterCertificate>> read_scatter_certificate(std::string_view text);

// Every field, defaults included; lengths inline. Ends with a newline.
std::string write_scatter_instance(const ScatterInstance& instance);
std::string write_scatter_plan(const ScatterPlan& plan);

// What is wrong with an instance in memory that its document cannot show: E310 for each member of
// the cost beside `table`, and for a grid without a time for each of its places, E305 for
// all_to_all beside exchange, E205 for the tokens of a window whose share is 0, E102 for a name
// that is not UTF-8.
std::vector<InputError> hidden_scatter_errors(const ScatterInstance& instance);

// Whether a reader would certainly take what write_scatter_instance() makes of it: found at once,
// without writing the lengths. False also where that takes a closer look.
bool surely_sound(const ScatterInstance& instance);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, layouts and x- keys. Not cryptographic: it finds mix-ups, not attacks.
std::string instance_hash(const ScatterInstance& instance);

}  // namespace stowage
