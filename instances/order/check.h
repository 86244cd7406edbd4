// What an order instance must keep beyond types, ranges and known names, wherever it came from. Not
// installed: readers and generators share it.
//
//   check_order(instance, errors);   // pointers into the instance's document
#pragma once

#include "instances/json/errors.h"
#include "instances/order/instance.h"

namespace stowage {

inline constexpr Tokens kMostLengthTokens = Tokens{1} << 31;  // of a range of lengths

// Adds E371 for ids that stand twice, E373 for a tensor that two write, or one although it is an
// input, E374 for one that is touched or an output and nobody writes, E375 for a cycle, E376 for
// sizes that sum to more than 2^53, E377 for an operator that may run again and updates a tensor,
// E378 for a range of lengths that is empty or is asked for together with what cannot have one.
// Requires numbers in their ranges and indices that exist.
void check_order(const OrderInstance& instance, ErrorList& errors);

// E371 alone: also where names are unknown.
void check_order_ids(const OrderInstance& instance, ErrorList& errors);

// How messages call them: the id, or the index.
std::string tensor_name(const OrderInstance& instance, std::int64_t tensor);
std::string operator_name(const OrderInstance& instance, std::int64_t op);

}  // namespace stowage
