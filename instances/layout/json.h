// Layout documents in JSON: instances and plans. The format is in instances/layout/README.md; what
// holds for all reading and writing is in instances/json/document.h.
//
//   Result<LayoutInstance> instance = read_layout_instance(text);
//   if (!instance) complain(instance.errors());
//   else std::cout << write_layout_instance(*instance);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string>
#include <string_view>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/result.h"

namespace stowage {

Result<LayoutInstance> read_layout_instance(std::string_view text);

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<LayoutPlan> read_layout_plan(std::string_view text);

// One line per buffer, and without what a buffer has by default. Ends with a newline.
std::string write_layout_instance(const LayoutInstance& instance);
std::string write_layout_plan(const LayoutPlan& plan);

// What is wrong with an instance in memory that its document cannot show: E102 for a name that is
// not UTF-8.
std::vector<InputError> hidden_layout_errors(const LayoutInstance& instance);

// Whether a reader would certainly take what write_layout_instance() makes of it: found at once,
// without writing the buffers. False also where that takes a closer look.
bool surely_sound(const LayoutInstance& instance);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, layouts and x- keys. Not cryptographic: it finds mix-ups, not attacks.
std::string instance_hash(const LayoutInstance& instance);

}  // namespace stowage
