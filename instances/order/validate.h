// The rules of an order instance beyond types, ranges and known names. Readers and generators share
// them. Not installed.
//
//   check_order(instance, errors);   // pointers into the instance's document
#pragma once

#include "instances/json/errors.h"
#include "instances/order/instance.h"

namespace stowage {

inline constexpr Tokens kMaxLengthTokens = Tokens{1} << 31;  // upper end of a range of lengths

// Adds E371 for repeated ids.
// Adds E373 for a tensor that two operators write, or that is written although it is an input.
// Adds E374 for a tensor that is touched or an output and has no writer.
// Adds E375 for a cycle, and E376 for sizes that sum to more than 2^53.
// Adds E377 for an operator that may run again and updates a tensor.
// Adds E378 for a range of lengths that is empty or stands beside a field that excludes a range.
// Requires numbers in their ranges and indices that exist.
void check_order(const OrderInstance& instance, ErrorList& errors);

// Adds E371 only; names may be unknown.
void check_order_ids(const OrderInstance& instance, ErrorList& errors);

// Return the name that messages use: the id, or the index if the id is empty.
std::string tensor_name(const OrderInstance& instance, std::int64_t tensor);
std::string operator_name(const OrderInstance& instance, std::int64_t op);

}  // namespace stowage
