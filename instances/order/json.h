// Order documents in JSON: instances and plans. The format is in instances/order/README.md; what
// holds for all reading and writing is in instances/json/document.h.
//
//   Result<OrderInstance> instance = read_order_instance(text);
//   if (!instance) complain(instance.errors());
//   else std::cout << write_order_instance(*instance);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/result.h"

namespace stowage {

Result<OrderInstance> read_order_instance(std::string_view text);

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<OrderPlan> read_order_plan(std::string_view text);

// The certificate inside a stowage/outcome; nothing for a document without one. Checks types and
// ranges only: whether it proves its bound is what check_certificate() says.
Result<std::optional<OrderCertificate>> read_order_certificate(std::string_view text);

// One line per tensor and operator, and without what they have by default. Ends with a newline.
// Requires indices that exist.
std::string write_order_instance(const OrderInstance& instance);
std::string write_order_plan(const OrderPlan& plan);

// What is wrong with an instance in memory that its document could not show: E372 for an index of
// no tensor or operator.
std::vector<InputError> hidden_order_errors(const OrderInstance& instance);

// Whether a reader would certainly take what write_order_instance() makes of it. Requires an
// instance without hidden errors.
bool surely_sound(const OrderInstance& instance);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, ids and x- keys. Not cryptographic: it finds mix-ups, not attacks.
std::string instance_hash(const OrderInstance& instance);

}  // namespace stowage
