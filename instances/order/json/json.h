// Order documents in JSON: instances and plans. The format is in docs/reference/order.md; the
// rules for all reading and writing are in instances/json/document.h.
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

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<OrderPlan> read_order_plan(std::string_view text);

// Returns the certificate inside a stowage/outcome, or nullopt if the document has none. Checks
// types and ranges only: check_certificate() decides whether the certificate proves its bound.
Result<std::optional<OrderCertificate>> read_order_certificate(std::string_view text);

// Returns the document with one line per tensor and operator. Fields of default value are left out.
// Ends with a newline. Requires indices that exist.
std::string write_order_instance(const OrderInstance& instance);
std::string write_order_plan(const OrderPlan& plan);

// Returns the errors of an instance in memory that its document cannot express: E372 for an index
// of no tensor or operator.
std::vector<InputError> hidden_order_errors(const OrderInstance& instance);

// Returns whether a reader certainly accepts the document of the instance; false means "not known".
// Requires an instance without hidden errors.
bool is_well_formed(const OrderInstance& instance);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, ids and x- keys do not count. The hash is not cryptographic: it finds mix-ups, not
// attacks.
std::string instance_hash(const OrderInstance& instance);

}  // namespace stowage
