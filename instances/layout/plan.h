// The layout plan: the offset of every buffer.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "instances/units.h"

namespace stowage {

struct LayoutPlan {
  std::string name;            // of the instance
  std::string instance_hash;   // hash (json/json.h) of the only instance that it is valid for
  Bytes peak_bytes = 0;        // the largest offset + size; 0 without buffers
  Bytes bound_bytes = 0;       // no layout of this instance has a smaller peak
  std::string bound_by;        // the certificate's name
  std::vector<Bytes> offsets;  // of buffer i, in the order of the instance

  bool operator==(const LayoutPlan&) const = default;
};

// The objective and the bound that a plan states, in the unit of its family.
inline double objective_of(const LayoutPlan& plan) { return static_cast<double>(plan.peak_bytes); }
inline double bound_of(const LayoutPlan& plan) { return static_cast<double>(plan.bound_bytes); }
inline void state_bound(LayoutPlan& plan, double bound, std::string by) {
  plan.bound_bytes = static_cast<Bytes>(bound);  // exact: bytes stay within 2^53
  plan.bound_by = std::move(by);
}

}  // namespace stowage
