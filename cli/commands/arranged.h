// stowage solve --layout: a layout of the order's tensors in addition to the order.
#pragma once

#include <optional>
#include <string>

#include "instances/instance.h"
#include "instances/result.h"
#include "solvers/memory/arrangement.h"

namespace stowage {

// Returns, for instance, "1 048 576 bytes, 0.33 % over the order's peak; 27 orders laid out".
std::string arrangement_text(const Arrangement& arrangement);

// Returns an error if a layout cannot be written to `path`, for instance because `path` is
// `plan_path` or an input; nullopt otherwise.
std::optional<InputError> check_layout_path(const std::string& path, const Instance& instance,
                                            const std::string& plan_path,
                                            const std::vector<std::string>& inputs);

}  // namespace stowage
