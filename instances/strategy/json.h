// Strategy documents in JSON: instances and plans. The format is in instances/strategy/README.md;
// what holds for all reading and writing is in instances/json/document.h.
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

// Lists of lengths are looked up in `base_dir`. A model by name is read as its numbers.
Result<StrategyInstance> read_strategy_instance(std::string_view text,
                                                const std::string& base_dir = "");

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<StrategyPlan> read_strategy_plan(std::string_view text);

// The certificate inside a stowage/outcome; nothing for a document without one. Checks types and
// ranges only: whether it proves its bound is what check_certificate() says.
Result<std::optional<StrategyCertificate>> read_strategy_certificate(std::string_view text);

// Ends with a newline.
std::string write_strategy_instance(const StrategyInstance& instance);
std::string write_strategy_plan(const StrategyPlan& plan);

// What is wrong with an instance in memory that its document cannot show: E102 for a name that is
// not UTF-8.
std::vector<InputError> hidden_strategy_errors(const StrategyInstance& instance);

// Whether a reader would certainly take what write_strategy_instance() makes of it.
bool surely_sound(const StrategyInstance& instance);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, the names of their blocks and x- keys. Not cryptographic: it finds mix-ups, not attacks.
std::string instance_hash(const StrategyInstance& instance);

}  // namespace stowage
