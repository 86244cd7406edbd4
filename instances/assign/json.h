// Assign instances, plans and certificates in JSON. instances/assign/README.md has the format,
// instances/json/document.h what holds for all reading and writing.
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

// `base_dir` is where {"file": "lengths.txt"} is looked up; empty means the current directory.
Result<AssignInstance> read_assign_instance(std::string_view text,
                                            const std::string& base_dir = {});

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<AssignPlan> read_assign_plan(std::string_view text);

// Reads the certificate inside a stowage/outcome; nothing if it has none, or for a stowage/plan,
// which never has one. Checks types and ranges only: check_certificate() says whether it holds.
Result<std::optional<AssignCertificate>> read_assign_certificate(std::string_view text);

// Every field, defaults included; lengths inline. Ends with a newline.
std::string write_assign_instance(const AssignInstance& instance);
std::string write_assign_plan(const AssignPlan& plan);

// What is wrong with an instance in memory that its document cannot show: the document names
// schemes and leaves out those without replicas. E205 for each strategy without a number of
// replicas, 0 or more, for each scheme; E102 for a name that is not UTF-8; E202 for the name of a
// scheme or strategy that begins with "x-", which a reader passes over.
std::vector<InputError> hidden_assign_errors(const AssignInstance& instance);

// Whether a reader would certainly take what write_assign_instance() makes of it: found at once,
// without writing the lengths. False also where that takes a closer look.
bool surely_sound(const AssignInstance& instance);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, layouts and x- keys. Not cryptographic: it finds mix-ups, not attacks.
std::string instance_hash(const AssignInstance& instance);

}  // namespace stowage
