// Assign instances, plans and certificates in JSON. docs/reference/assign.md has the format,
// instances/json/document.h the rules for all reading and writing.
//
//   Result<AssignInstance> instance = read_assign_instance(text);
//   if (!instance) complain(instance.errors());
//   else std::cout << write_assign_instance(*instance);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/result.h"

namespace stowage {

// `base_dir` is the folder in which {"file": "lengths.txt"} is looked up; empty means the current
// directory.
Result<AssignInstance> read_assign_instance(std::string_view text,
                                            const std::string& base_dir = {});

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<AssignPlan> read_assign_plan(std::string_view text);

// Reads the certificate inside a stowage/outcome. Returns nullopt if the outcome has none, or for a
// stowage/plan, which never has one. Checks types and ranges only: check_certificate() decides
// whether the certificate holds.
Result<std::optional<AssignCertificate>> read_assign_certificate(std::string_view text);

// Return the document with every field, defaults included, and lengths inline. It ends with a
// newline.
std::string write_assign_instance(const AssignInstance& instance);
std::string write_assign_plan(const AssignPlan& plan);

// Returns the errors of an instance in memory that its document cannot express: the document names
// schemes and leaves out those without replicas. E205 for each strategy that does not have a number
// of replicas, 0 or more, for each scheme; E102 for a name that is not UTF-8; E202 for a scheme or
// strategy whose name begins with "x-", which a reader skips.
std::vector<InputError> hidden_assign_errors(const AssignInstance& instance);

// Returns whether a reader certainly accepts the document of the instance, without writing the
// lengths; false means "not known".
bool is_well_formed(const AssignInstance& instance);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, layouts and x- keys do not count. The hash is not cryptographic: it finds mix-ups, not
// attacks.
std::string instance_hash(const AssignInstance& instance);

}  // namespace stowage
