// Why an instance has no plan, so that others can check it: what an infeasible outcome carries.
//
//   const InfeasibilityProof proof{.by = "sequences", .witnesses = {3}};
//   if (check_infeasibility(instance, proof).empty()) std::cout << "it is proven";
//
// Each family's check_infeasibility() names what proves it there. It asks the instance alone, and
// shares no line with whoever found the proof.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

struct InfeasibilityProof {
  std::string by = "none";              // none: only a search says so
  std::vector<std::int64_t> witnesses;  // ids of sequences, or indices of buffers; ascending
  std::optional<std::int64_t> step;     // of a layout, at which it shows

  bool operator==(const InfeasibilityProof&) const = default;
};

// The rules of a proof, of every family:
inline constexpr char kInfeasibilityBy[] = "infeasibility_by";  // the family knows such a proof
inline constexpr char kInfeasibilityWitness[] =
    "infeasibility_witness";                               // each witness shows what it should
inline constexpr char kInfeasibility[] = "infeasibility";  // together they leave no room for a plan

}  // namespace stowage
