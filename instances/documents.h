// Instances and plans of any family as JSON documents. docs/reference/documents.md has the rules
// for all reading and writing, instances/README.md lists the pages of the formats.
//
//   Result<Instance> instance = read_instance(text);
//   if (!instance) { for (const InputError& e : instance.errors()) std::cerr << to_string(e); }
//   else std::cout << write_instance(*instance);
//
// Thread safety: its functions read their arguments, and files that the text names, and nothing
// else; any number of threads may call them at once.
#pragma once

#include <string>
#include <string_view>

#include "instances/instance.h"
#include "instances/result.h"

namespace stowage {

// Reads a stowage/instance; the family is that of the document. `base_dir` is the folder in which
// {"file": "lengths.txt"} is looked up; empty means the current directory.
Result<Instance> read_instance(std::string_view text, const std::string& base_dir = {});

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<Plan> read_plan(std::string_view text);

// Reads the same documents, but returns E209 unless the plan is of the instance's family. A plan of
// a scatter step may be a bare plan: it has no `instance_hash` and no `objective_ms`, and its
// groups have only `degree`, `first_rank` and `sequences`. The other fields follow from the
// instance, which must be valid, and the plan has no bound. A bare plan of a strategy states only
// the configuration (instances/strategy/configuration.h).
Result<Plan> read_plan(std::string_view text, const InstanceView& instance);

// Returns the document with every field, defaults included, and lengths inline. It ends with a
// newline. Requires an instance for which check() returns no errors.
std::string write_instance(const InstanceView& instance);
std::string write_plan(const PlanView& plan);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, layouts and x- keys do not count. The hash is not cryptographic: it finds mix-ups, not
// attacks. Requires an instance for which check() returns no errors.
std::string instance_hash(const InstanceView& instance);

}  // namespace stowage
