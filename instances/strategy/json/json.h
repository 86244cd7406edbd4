// Strategy documents in JSON: instances and plans. The format is in docs/reference/strategy.md;
// the rules for all reading and writing are in instances/json/document.h.
//
//   Result<StrategyInstance> instance = read_strategy_instance(text, "instances/data");
//   if (!instance) complain(instance.errors());
//   else std::cout << write_strategy_instance(*instance);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "instances/result.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// `base_dir` is the folder in which lists of lengths are looked up. A model's name becomes its
// numbers.
Result<StrategyInstance> read_strategy_instance(std::string_view text,
                                                const std::string& base_dir = "");

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<StrategyPlan> read_strategy_plan(std::string_view text);

// Returns the certificate inside a stowage/outcome, or nullopt if the document has none. Checks
// types and ranges only: check_certificate() decides whether the certificate proves its bound.
Result<std::optional<StrategyCertificate>> read_strategy_certificate(std::string_view text);

// Return the document, which ends with a newline.
std::string write_strategy_instance(const StrategyInstance& instance);
std::string write_strategy_plan(const StrategyPlan& plan);

// Returns the errors of an instance in memory that its document cannot express: E102 for a name
// that is not UTF-8.
std::vector<InputError> hidden_strategy_errors(const StrategyInstance& instance);

// Returns whether a reader certainly accepts the document of the instance; false means "not known".
bool is_well_formed(const StrategyInstance& instance);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, the names of their blocks and x- keys do not count. The hash is not cryptographic: it
// finds mix-ups, not attacks.
std::string instance_hash(const StrategyInstance& instance);

}  // namespace stowage
