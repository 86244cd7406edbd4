// How explanations of a scatter plan name a group.
#pragma once

#include <cstddef>
#include <string>

#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

inline std::string group_pointer(std::size_t batch, std::size_t group) {
  return "/micro_batches/" + std::to_string(batch) + "/groups/" + std::to_string(group);
}

// Returns the exchange in parentheses, for example " (ring)". Empty if there is only one kind.
inline std::string exchange_text(ExchangeKind kind) {
  if (kind == ExchangeKind::none) return "";
  return " (" + std::string(exchange_names()[static_cast<std::size_t>(kind)]) + ')';
}

}  // namespace stowage
