// The memory that a flow proves for the step of an operator. The check sums as the definition does
// and searches for nothing. It is a part of the check of certificates (certificate.h).
//
//   const Precedences precedences(instance);
//   ViolationList found(kFlowRuleNames);
//   const Bytes live = flow_value(instance, truth, precedences, precedences.sides(op), tensors,
//                                 precedences_of_flow, found);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/verify/reference_model.h"
#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// The rules of certificate.h, in its order.
enum class FlowRule : std::size_t {
  number,
  arc,
  capacity,
  conservation,
  bound,
  forced,
  commit,
  search
};
inline constexpr std::array<std::string_view, 8> kFlowRuleNames = {
    "certificate_number", "certificate_arc",    "certificate_capacity", "certificate_conservation",
    "certificate_bound",  "certificate_forced", "certificate_commit",   "certificate_search"};

// The state of an operator before some step: it has run in every order, in no order, or it depends.
enum class Before { maybe, always, never };

using Flow = std::vector<std::vector<std::int64_t>>;  // entries of a certificate

// The operators that must run before each operator, by the rules of the format's page: writers,
// updates, `after`, and forced precedences.
class Precedences {
 public:
  explicit Precedences(const OrderInstance& instance);

  void add(std::int64_t first, std::int64_t second);

  std::int64_t writer(std::int64_t tensor) const { return writer_[index(tensor)]; }
  bool has(std::int64_t op, std::int64_t first) const;
  // The direct neighbours of an operator. An operator that stands twice in one list stands twice in
  // the list of the other end too.
  std::span<const std::int64_t> before(std::int64_t op) const { return before_[index(op)]; }
  std::span<const std::int64_t> behind(std::int64_t op) const { return behind_[index(op)]; }

  // Returns, for each operator, whether it has run before `op` runs.
  std::vector<Before> sides(std::int64_t op) const;
  // Adds the assumption that `other` has run by then, with all operators that it needs (`has_run`),
  // or that it has not run, nor any operator that needs it.
  void assume(std::int64_t other, bool has_run, std::vector<Before>& side) const;

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<std::vector<std::int64_t>> before_;
  std::vector<std::vector<std::int64_t>> behind_;
  std::vector<std::int64_t> writer_;  // of a tensor; OrderCertificate::kEnd for inputs
};

// Returns the least bytes that are live on the given sides: before the step of an operator that is
// `never`, or at the end. With each operator, `always` must hold all operators before it and
// `never` all operators behind it. `found`, a list of kFlowRuleNames, gets the faults of the flow;
// after a fault the value means nothing.
Bytes flow_value(const OrderInstance& instance, const OrderReferenceModel& truth,
                 const Precedences& precedences, const std::vector<Before>& side,
                 const Flow& tensors, const Flow& along_precedences, ViolationList& found);

}  // namespace stowage
