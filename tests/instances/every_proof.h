// Every proof of infeasibility over a few witnesses: each name with each set of witnesses and each
// step. Checks of a feasible instance must refuse all of them.
//
//   for_every_proof({"load", "pins"}, buffers, steps, [&](const InfeasibilityProof& proof) {...});
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "instances/proof.h"

namespace stowage {

// Witnesses are below `items`, steps below `steps`; with no steps the proofs have none.
template <class Visit>
void for_every_proof(std::initializer_list<const char*> names, std::size_t items,
                     std::int64_t steps, Visit visit) {
  for (const char* name : names) {
    for (std::uint64_t set = 0; set < std::uint64_t{1} << items; ++set) {
      InfeasibilityProof proof{.by = name};
      for (std::size_t item = 0; item < items; ++item) {
        if ((set >> item & 1) != 0) proof.witnesses.push_back(static_cast<std::int64_t>(item));
      }
      visit(proof);
      for (std::int64_t step = 0; step < steps; ++step) {
        proof.step = step;
        visit(proof);
      }
    }
  }
}

}  // namespace stowage
