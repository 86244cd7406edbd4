// What a flow proves of the step of an operator: the sums of the definition, and no search for
// anything. Part of the check of certificates (certificate.h).
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
#include "instances/order/truth.h"
#include "instances/units.h"
#include "instances/violation_list.h"

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

// May an operator have run before some step: yes always, no never, or it depends on the order.
enum class Before { maybe, always, never };

using Flow = std::vector<std::vector<std::int64_t>>;  // entries of a certificate

// Who must run before whom, from the words of the page: writers, updates, `after`, and what is
// forced.
class Precedences {
 public:
  explicit Precedences(const OrderInstance& instance);

  void add(std::int64_t first, std::int64_t second);

  std::int64_t writer(std::int64_t tensor) const { return writer_[index(tensor)]; }
  bool has(std::int64_t op, std::int64_t first) const;
  // One step away; some may stand there twice, and then in the lists of both.
  std::span<const std::int64_t> before(std::int64_t op) const { return before_[index(op)]; }
  std::span<const std::int64_t> behind(std::int64_t op) const { return behind_[index(op)]; }

  // Of all operators, before `op` runs.
  std::vector<Before> sides(std::int64_t op) const;
  // And where `other` has run by then, with what it needs; or has not, with what needs it.
  void assume(std::int64_t other, bool has_run, std::vector<Before>& side) const;

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<std::vector<std::int64_t>> before_;
  std::vector<std::vector<std::int64_t>> behind_;
  std::vector<std::int64_t> writer_;  // of a tensor; OrderCertificate::kEnd for inputs
};

// What is live at least, at the end or before the step of an operator that is `never`, where all
// are on these sides: `always` and `never` are closed to what must run before and behind. `found`,
// a list of kFlowRuleNames, gets what is wrong with the flow; the value means nothing then.
Bytes flow_value(const OrderInstance& instance, const OrderTruth& truth,
                 const Precedences& precedences, const std::vector<Before>& side,
                 const Flow& tensors, const Flow& along_precedences, ViolationList& found);

}  // namespace stowage
