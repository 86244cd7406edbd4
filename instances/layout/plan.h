// The layout plan: where every buffer lies.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <string>
#include <vector>

#include "instances/units.h"

namespace stowage {

struct LayoutPlan {
  std::string name;            // of the instance
  std::string instance_hash;   // hash of the instance (json.h); a plan is valid for that one only
  Bytes peak_bytes = 0;        // the largest offset + size; 0 without buffers
  Bytes bound_bytes = 0;       // no layout of this instance has a smaller peak
  std::string bound_by;        // the certificate's name
  std::vector<Bytes> offsets;  // of buffer i, in the order of the instance

  bool operator==(const LayoutPlan&) const = default;
};

}  // namespace stowage
