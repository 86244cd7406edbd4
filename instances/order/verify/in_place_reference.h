// The tensors of a plan that take the memory of other tensors, judged by the rule of the format's
// page. The verifier uses it; planners do not. Not installed.
//
//   InPlaceReference in_place(instance, truth, plan.order, plan.in_place);
//   if (in_place.check(found, rule)) need -= in_place.saved_by(op);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/verify/reference_model.h"
#include "instances/proof/violation_list.h"

namespace stowage {

class InPlaceReference {
 public:
  // The arguments must outlive the object. Requires an order that has every operator once, unless
  // `reuses` is empty.
  InPlaceReference(const OrderInstance& instance, const OrderReferenceModel& truth,
                   std::span<const std::int64_t> order, std::span<const OrderReuse> reuses)
      : instance_(instance),
        truth_(truth),
        reuses_(reuses),
        saved_by_(instance.operators.size(), 0),
        writer_(instance.tensors.size(), kNobody),
        last_(instance.tensors.size(), kNobody),
        gives_(instance.tensors.size(), false),
        takes_(instance.tensors.size(), false) {
    if (reuses.empty()) return;
    for (const std::int64_t op : order) {
      const OrderOperator& its = instance.operators[index(op)];
      for (const std::int64_t t : its.writes) writer_[index(t)] = op;
      for (const std::int64_t t : OrderReferenceModel::touched(its)) last_[index(t)] = op;
    }
  }

  // Adds a violation for each entry that breaks the rule. Returns true if none does.
  bool check(ViolationList& found, std::size_t rule) {
    bool good = true;
    for (std::size_t k = 0; k < reuses_.size(); ++k) {
      const Fault fault = fault_of(reuses_[k]);
      if (fault.need.empty()) {
        take(reuses_[k]);
        continue;
      }
      good = false;
      found.add(rule, [&] { return Description{"/in_place/" + text(k), fault.have, fault.need}; });
    }
    return good;
  }

  // Returns the bytes of the operator's outputs that lie on other tensors.
  Bytes saved_by(std::int64_t op) const { return saved_by_[index(op)]; }

 private:
  static constexpr std::int64_t kNobody = -1;

  struct Fault {
    std::string have;
    std::string need;  // empty if the entry keeps the rule
  };

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  Fault fault_of(const OrderReuse& reuse) const {
    for (const std::int64_t t : {reuse.tensor, reuse.on}) {
      if (t < 0 || t >= std::ssize(writer_)) {
        return {"tensor " + text(t), "the index of a tensor, below " + text(std::ssize(writer_))};
      }
    }
    const std::string both = name(reuse.tensor) + " on " + name(reuse.on);
    const std::int64_t op = writer_[index(reuse.tensor)];
    if (op == kNobody || !names(instance_.operators[index(op)].in_place, reuse.on)) {
      return {both, "a tensor that `in_place` of its writer names"};
    }
    if (truth_.size(reuse.tensor) != truth_.size(reuse.on)) {
      return {
          text(truth_.size(reuse.tensor)) + " bytes on " + text(truth_.size(reuse.on)) + " bytes",
          "tensors of the same size"};
    }
    if (truth_.stays(reuse.on) || last_[index(reuse.on)] != op) {
      return {both + ", which is needed later", "a tensor that its writer is the last to touch"};
    }
    if (gives_[index(reuse.on)] || takes_[index(reuse.tensor)]) {
      return {name(gives_[index(reuse.on)] ? reuse.on : reuse.tensor) + " again",
              "each tensor once"};
    }
    return {};
  }

  void take(const OrderReuse& reuse) {
    gives_[index(reuse.on)] = true;
    takes_[index(reuse.tensor)] = true;
    saved_by_[index(writer_[index(reuse.tensor)])] += truth_.size(reuse.tensor);
  }

  static bool names(const std::vector<std::int64_t>& list, std::int64_t tensor) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  }
  std::string name(std::int64_t tensor) const {
    const std::string& id = instance_.tensors[index(tensor)].id;
    return "tensor " + (id.empty() ? text(tensor) : id);
  }

  const OrderInstance& instance_;
  const OrderReferenceModel& truth_;
  std::span<const OrderReuse> reuses_;
  std::vector<Bytes> saved_by_;       // by operator
  std::vector<std::int64_t> writer_;  // by tensor
  std::vector<std::int64_t> last_;    // by tensor: the last operator that touches it
  std::vector<bool> gives_;           // by tensor: its memory is taken
  std::vector<bool> takes_;           // by tensor: it lies on another one
};

}  // namespace stowage
