// Proofs about an instance: that no plan is better than some bound, or that no plan exists. An
// outcome carries its proofs, and its reader can check them without the solver:
//
//   const InfeasibilityProof proof{.by = "sequences", .witnesses = {3}};
//   if (check_infeasibility(instance, proof).empty()) std::cout << "it is proven";
//
// instances/verify.h has the checks. They use the instance alone and share no code with the search
// that found the proof.
//
// Thread safety: values like a std::vector: several threads may read one, or each have its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

// A lower bound on the objective, and the name of the formula or certificate that proves it.
struct NamedBound {
  std::string name;  // as listed in docs/theory/bounds.md
  double value = 0;
};

// The data that prove a bound, such as the prices of a linear programme: the name of such a bound
// alone proves nothing. Outcomes contain the data, which instances/outcomes.md describes.
class Certificate {
 public:
  struct Any;  // the certificate of one of the families (families.h)

  Certificate(Any any);  // NOLINT(*-explicit-*)
  Certificate(const Certificate& other);
  Certificate(Certificate&& other) noexcept;
  Certificate& operator=(Certificate other) noexcept;
  ~Certificate();

  // Requires a certificate that was not moved from.
  const Any& any() const { return *any_; }

 private:
  const Any* any_;  // owned; null once moved from
};

// InfeasibilityProof::by of an outcome whose certificate proves a bound above the capacity. The
// owner of that certificate checks it with check_certificate(); check_infeasibility() refuses this
// name.
inline constexpr char kByCertificate[] = "certificate";

// The reason that an instance has no plan.
struct InfeasibilityProof {
  std::string by = "none";              // none: a search is the only evidence
  std::vector<std::int64_t> witnesses;  // ids of sequences, or indices of buffers; ascending
  std::optional<std::int64_t> step;     // of a layout: the step at which it has too little room

  bool operator==(const InfeasibilityProof&) const = default;
};

// The rules of a proof of every family. `infeasibility_by`: the family has a proof of this name.
// `infeasibility_witness`: each witness has the property that the proof needs. `infeasibility`: the
// witnesses together leave no room for a plan.
inline constexpr char kInfeasibilityBy[] = "infeasibility_by";
inline constexpr char kInfeasibilityWitness[] = "infeasibility_witness";
inline constexpr char kInfeasibility[] = "infeasibility";

}  // namespace stowage
