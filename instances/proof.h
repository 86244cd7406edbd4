// What is proven of an instance: that no plan is better than some bound, or that there is no plan.
// An outcome carries its proofs, and whoever has it can check them without the solver:
//
//   const InfeasibilityProof proof{.by = "sequences", .witnesses = {3}};
//   if (check_infeasibility(instance, proof).empty()) std::cout << "it is proven";
//
// instances/verify.h has the checks. They ask the instance alone, and share no line with whoever
// found the proof.
//
// Thread safety: values like a std::vector: several threads may read one, or each have its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

// A lower bound on the objective, and the name of what proves it.
struct NamedBound {
  std::string name;  // as listed in formulations/README.md
  double value = 0;
};

// A proof of a bound whose name alone proves nothing, such as prices of a linear programme. What it
// consists of is written into outcomes, and stands in the README of each family.
class Certificate {
 public:
  struct Any;  // that of one of the families (families.h)

  Certificate(Any any);  // NOLINT(*-explicit-*)
  Certificate(const Certificate& other);
  Certificate(Certificate&& other) noexcept;
  Certificate& operator=(Certificate other) noexcept;
  ~Certificate();

  // Requires one that was not moved from.
  const Any& any() const { return *any_; }

 private:
  const Any* any_;  // owned; null once moved from
};

// Of InfeasibilityProof: the certificate of the outcome proves a bound above the capacity. Whoever
// has that checks it (check_certificate()); check_infeasibility() knows no such proof.
inline constexpr char kByCertificate[] = "certificate";

// Why an instance has no plan.
struct InfeasibilityProof {
  std::string by = "none";              // none: only a search says so
  std::vector<std::int64_t> witnesses;  // ids of sequences, or indices of buffers; ascending
  std::optional<std::int64_t> step;     // of a layout, at which it shows

  bool operator==(const InfeasibilityProof&) const = default;
};

// The rules of such a proof, of every family:
inline constexpr char kInfeasibilityBy[] = "infeasibility_by";  // the family knows such a proof
inline constexpr char kInfeasibilityWitness[] =
    "infeasibility_witness";                               // each witness shows what it should
inline constexpr char kInfeasibility[] = "infeasibility";  // together they leave no room for a plan

}  // namespace stowage
