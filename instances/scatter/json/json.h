// Scatter instances, plans and certificates in JSON. docs/reference/scatter.md has the format,
// instances/json/document.h the rules for all reading and writing.
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

// `base_dir` is the folder in which {"file": "lengths.txt"} is looked up; empty means the current
// directory.
Result<ScatterInstance> read_scatter_instance(std::string_view text,
                                              const std::string& base_dir = {});

// Reads the `cost` of an instance as a document of its own, checked against the degrees of
// `cluster`.
Result<ScatterCost> read_scatter_cost(std::string_view text, const Cluster& cluster);

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<ScatterPlan> read_scatter_plan(std::string_view text);

// Reads the same documents, or a bare plan: a stowage/plan without `instance_hash` and
// `objective_ms`, whose groups have only `degree`, `first_rank` and `sequences`. The other fields
// are computed from the instance, which must be valid. The plan is then assumed to be for this
// instance, and has no bound.
Result<ScatterPlan> complete_scatter_plan(std::string_view text, const ScatterInstance& instance);

// Reads the certificate inside a stowage/outcome. Returns nullopt if the outcome has none, or for a
// stowage/plan, which never has one. Checks types and ranges only: check_certificate() decides
// whether the certificate holds.
Result<std::optional<ScatterCertificate>> read_scatter_certificate(std::string_view text);

// Return the document with every field, defaults included, and lengths inline. It ends with a
// newline.
std::string write_scatter_instance(const ScatterInstance& instance);
std::string write_scatter_plan(const ScatterPlan& plan);

// Returns the errors of an instance in memory that its document cannot express. E310 for each
// member of the cost beside `table`, and for a grid without a time for each of its places. E305 for
// all_to_all beside exchange, E205 for the tokens of a window whose share is 0, and E102 for a name
// that is not UTF-8.
std::vector<InputError> hidden_scatter_errors(const ScatterInstance& instance);

// Returns whether a reader certainly accepts the document of the instance, without writing the
// lengths; false means "not known".
bool is_well_formed(const ScatterInstance& instance);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, layouts and x- keys do not count. The hash is not cryptographic: it finds mix-ups, not
// attacks.
std::string instance_hash(const ScatterInstance& instance);

}  // namespace stowage
