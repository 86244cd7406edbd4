// Instances and plans of any family as JSON documents. instances/README.md has the formats; what
// holds for all reading and writing stands there too.
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

// A stowage/instance of whatever family it says. `base_dir` is where {"file": "lengths.txt"} is
// looked up; empty means the current directory.
Result<Instance> read_instance(std::string_view text, const std::string& base_dir = {});

// A stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types and
// ranges only: whether the plan fits an instance is what verify() says.
Result<Plan> read_plan(std::string_view text);

// The same, or E209 unless the plan is of the instance's family. Of a scatter step it may be a bare
// plan, without `instance_hash` and `objective_ms`, whose groups have `degree`, `first_rank` and
// `sequences` only: the rest follows from the instance, which must be valid, and there is no bound.
// A bare plan of a strategy states the configuration alone (instances/strategy/configuration.h).
Result<Plan> read_plan(std::string_view text, const InstanceView& instance);

// Every field, defaults included, lengths inline. Ends with a newline. Requires an instance that
// check() has nothing to say about.
std::string write_instance(const InstanceView& instance);
std::string write_plan(const PlanView& plan);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, layouts and x- keys. Not cryptographic: it finds mix-ups, not attacks. Requires an
// instance that check() has nothing to say about.
std::string instance_hash(const InstanceView& instance);

}  // namespace stowage
