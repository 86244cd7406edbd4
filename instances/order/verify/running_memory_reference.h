// The set of operators that have run, with the memory that they leave live, by the rules of the
// format's page. The check of certificates uses it; planners do not. Not installed.
//
//   RunningMemoryReference set(instance, truth, precedences);
//   if (set.may_run(op) && set.need(op, false) < bound) set.run(op);
//
// It counts its work, each operator and tensor that a step touches, so that a check can end.
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/verify/flow_check.h"
#include "instances/order/verify/reference_model.h"
#include "instances/units.h"

namespace stowage {

// A set of operators that have run, the memory that is live behind it, and the operators that may
// join or leave it next. A forward step runs an operator. A backward step takes an operator back,
// and needs the same memory.
class RunningMemoryReference {
 public:
  RunningMemoryReference(const OrderInstance& instance, const OrderReferenceModel& truth,
                         const Precedences& precedences)
      : instance_(instance),
        truth_(truth),
        precedences_(precedences),
        done_(instance.operators.size(), false),
        waits_(instance.operators.size()),
        gone_on_(instance.operators.size(), 0),
        touched_(instance.operators.size()),
        touchers_(instance.tensors.size()),
        keeps_(instance.operators.size(), 0),
        adds_(instance.operators.size()),
        left_(instance.tensors.size()),
        live_(truth.at_start()) {
    for (std::int64_t t = 0; t < std::ssize(left_); ++t) left_[index(t)] = truth.touches(t);
    for (std::int64_t op = 0; op < count(); ++op) {
      const OrderOperator& its = instance.operators[index(op)];
      waits_[index(op)] = std::ssize(precedences.before(op));
      touched_[index(op)] = OrderReferenceModel::touched(its);
      for (const std::int64_t t : touched_[index(op)]) touchers_[index(t)].push_back(op);
      for (const std::int64_t t : OrderReferenceModel::written(its)) {
        if (truth.stays(t) || truth.touches(t) > 0) keeps_[index(op)] += truth.size(t);
      }
      adds_[index(op)] = truth.least_added(its);
    }
  }

  std::int64_t count() const { return std::ssize(instance_.operators); }
  Bytes live() const { return live_; }
  const std::vector<bool>& done() const { return done_; }
  std::int64_t work() const { return work_; }
  void count_work(std::int64_t more) const { work_ += more; }
  bool has(std::int64_t op) const { return done_[index(op)]; }

  bool may_run(std::int64_t op) const { return !has(op) && waits_[index(op)] == 0; }
  bool may_return(std::int64_t op) const { return has(op) && gone_on_[index(op)] == 0; }

  void run(std::int64_t op) {
    live_ += keeps_[index(op)];
    for (const std::int64_t t : touched_[index(op)]) {
      if (--left_[index(t)] == 0 && !truth_.stays(t)) live_ -= truth_.size(t);
    }
    count_around(op, 1);
  }
  void take_back(std::int64_t op) {
    live_ -= keeps_[index(op)];
    for (const std::int64_t t : touched_[index(op)]) {
      if (left_[index(t)]++ == 0 && !truth_.stays(t)) live_ += truth_.size(t);
    }
    count_around(op, -1);
  }

  // Return the bytes by which a step raises the live memory, and the bytes that the step needs.
  Bytes growth(std::int64_t op, bool back) const {
    Bytes freed = 0;
    count_work(std::ssize(touched_[index(op)]) + 1);
    for (const std::int64_t t : touched_[index(op)]) {
      if (left_[index(t)] == (back ? 0 : 1) && !truth_.stays(t)) freed += truth_.size(t);
    }
    return back ? freed - keeps_[index(op)] : keeps_[index(op)] - freed;
  }
  Bytes need(std::int64_t op, bool back) const {
    return live_ + adds_[index(op)] + (back ? growth(op, true) : 0);
  }

  // Calls use(other) for each operator whose growth or readiness changed with that step.
  template <class Use>
  void changed_by(std::int64_t op, bool back, Use use) const {
    for (const std::int64_t next : back ? precedences_.before(op) : precedences_.behind(op)) {
      use(next);
    }
    for (const std::int64_t t : touched_[index(op)]) {
      if (left_[index(t)] != 1) continue;
      count_work(std::ssize(touchers_[index(t)]));
      for (const std::int64_t other : touchers_[index(t)]) use(other);
    }
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  void count_around(std::int64_t op, std::int64_t by) {
    done_[index(op)] = by > 0;
    count_work(std::ssize(precedences_.behind(op)) + std::ssize(precedences_.before(op)) +
               std::ssize(touched_[index(op)]));
    for (const std::int64_t next : precedences_.behind(op)) waits_[index(next)] -= by;
    for (const std::int64_t first : precedences_.before(op)) gone_on_[index(first)] += by;
  }

  const OrderInstance& instance_;
  const OrderReferenceModel& truth_;
  const Precedences& precedences_;
  std::vector<bool> done_;
  std::vector<std::int64_t> waits_;    // entries of before() that have not run
  std::vector<std::int64_t> gone_on_;  // entries of behind() that have run
  std::vector<std::vector<std::int64_t>> touched_;
  std::vector<std::vector<std::int64_t>> touchers_;
  std::vector<Bytes> keeps_;
  std::vector<Bytes> adds_;
  std::vector<std::int64_t> left_;  // by tensor: operators that touch it and have not run
  Bytes live_;
  mutable std::int64_t work_ = 0;
};

}  // namespace stowage
