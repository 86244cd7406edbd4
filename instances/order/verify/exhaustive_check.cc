#include "instances/order/verify/exhaustive_check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "instances/order/verify/reference_model.h"

namespace stowage {
namespace {

using Set = std::uint32_t;  // of operators, one bit each

constexpr Bytes kNever = std::numeric_limits<Bytes>::max();

Set only(std::size_t op) { return Set{1} << op; }

struct Tensor32 {
  Bytes size = 0;
  Set writer = 0;
  Set touchers = 0;
  bool stays = false;
};

class LeastPeak {
 public:
  explicit LeastPeak(const OrderInstance& instance)
      : instance_(instance), count_(instance.operators.size()), truth_(instance) {
    list_tensors();
    list_precedences();
  }

  Bytes find() const {
    const Set sets = only(count_);
    std::vector<Bytes> peak(sets, kNever);
    peak[0] = live(0);
    for (Set done = 0; done < sets; ++done) {
      if (peak[done] == kNever) continue;
      const Bytes now = live(done);
      for (std::size_t op = 0; op < count_; ++op) {
        if ((done & only(op)) != 0 || (before_[op] & ~done) != 0) continue;
        Bytes& next = peak[done | only(op)];
        const auto ends = [&](std::int64_t t) {
          const Tensor32& its = tensors_[static_cast<std::size_t>(t)];
          return !its.stays && (its.touchers & ~(done | only(op))) == 0;
        };
        const OrderOperator& its = instance_.operators[op];
        const Bytes need = now + truth_.added(its) - truth_.saved(its, ends);
        next = std::min(next, std::max(peak[done], need));
      }
    }
    return peak[sets - 1];
  }

 private:
  void list_tensors() {
    for (std::size_t t = 0; t < instance_.tensors.size(); ++t) {
      const auto index = static_cast<std::int64_t>(t);
      tensors_.push_back({.size = truth_.size(index), .stays = truth_.stays(index)});
    }
    for (std::size_t op = 0; op < count_; ++op) {
      for (const std::int64_t t : instance_.operators[op].writes) tensor(t).writer |= only(op);
      for (const std::int64_t t : OrderReferenceModel::touched(instance_.operators[op])) {
        tensor(t).touchers |= only(op);
      }
    }
  }

  // Lists precedences pair by pair, by the rules of the format's page.
  void list_precedences() {
    before_.assign(count_, 0);
    for (std::size_t op = 0; op < count_; ++op) {
      const OrderOperator& its = instance_.operators[op];
      for (const std::int64_t first : its.after) before_[op] |= Set{1} << first;
      for (const std::int64_t t : OrderReferenceModel::touched(its))
        before_[op] |= tensor(t).writer;
      for (const std::int64_t t : its.updates) {
        for (std::size_t other = 0; other < count_; ++other) {
          if (other == op || (tensor(t).touchers & only(other)) == 0) continue;
          before_[std::max(op, other)] |= only(std::min(op, other));
        }
      }
    }
  }

  Bytes live(Set done) const {
    Bytes sum = 0;
    for (const Tensor32& tensor : tensors_) {
      const bool made = tensor.writer == 0 || (tensor.writer & done) != 0;
      if (made && (tensor.stays || (tensor.touchers & ~done) != 0)) sum += tensor.size;
    }
    return sum;
  }

  Tensor32& tensor(std::int64_t t) { return tensors_[static_cast<std::size_t>(t)]; }

  const OrderInstance& instance_;
  const std::size_t count_;
  const OrderReferenceModel truth_;
  std::vector<Tensor32> tensors_;
  std::vector<Set> before_;
};

}  // namespace

std::optional<Bytes> least_peak(const OrderInstance& instance) {
  if (instance.operators.size() > kMaxOperatorsTriedAgain) return std::nullopt;
  if (instance.host || std::ranges::any_of(instance.operators, &OrderOperator::recompute)) {
    return std::nullopt;
  }
  return LeastPeak(instance).find();
}

}  // namespace stowage
