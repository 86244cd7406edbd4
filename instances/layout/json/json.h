// Layout documents in JSON: instances and plans. The format is in docs/reference/layout.md; the
// rules for all reading and writing are in instances/json/document.h.
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

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if the outcome has no plan).
// Checks types and ranges only: verify() decides whether the plan fits an instance.
Result<LayoutPlan> read_layout_plan(std::string_view text);

// Return the document with one line per buffer. Fields of default value are left out. Ends with a
// newline.
std::string write_layout_instance(const LayoutInstance& instance);
std::string write_layout_plan(const LayoutPlan& plan);

// Returns the errors of an instance in memory that its document cannot express: E102 for a name
// that is not UTF-8.
std::vector<InputError> hidden_layout_errors(const LayoutInstance& instance);

// Returns whether a reader certainly accepts the document of the instance, without writing the
// buffers; false means "not known".
bool is_well_formed(const LayoutInstance& instance);

// Returns "fnv1a64:" and 16 hexadecimal digits. Two instances of equal meaning have equal hashes:
// names, layouts and x- keys do not count. The hash is not cryptographic: it finds mix-ups, not
// attacks.
std::string instance_hash(const LayoutInstance& instance);

}  // namespace stowage
