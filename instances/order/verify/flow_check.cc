#include "instances/order/verify/flow_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "instances/order/certificate.h"

namespace stowage {
namespace {

std::size_t slot(std::int64_t i) { return static_cast<std::size_t>(i); }
std::size_t listed(FlowRule its) { return static_cast<std::size_t>(its); }

void mark(std::int64_t from, const std::vector<std::vector<std::int64_t>>& next, Before as,
          std::vector<Before>& side) {
  std::vector<std::int64_t> todo = {from};
  while (!todo.empty()) {
    const std::int64_t op = todo.back();
    todo.pop_back();
    for (const std::int64_t other : next[slot(op)]) {
      if (side[slot(other)] == as) continue;
      side[slot(other)] = as;
      todo.push_back(other);
    }
  }
}

// Computes the memory that one flow proves for the step of one operator.
class FlowCheck {
 public:
  FlowCheck(const OrderInstance& instance, const OrderReferenceModel& truth,
            const Precedences& precedences, const std::vector<Before>& side, ViolationList& found)
      : instance_(instance),
        operators_(static_cast<std::int64_t>(instance.operators.size())),
        tensors_(static_cast<std::int64_t>(instance.tensors.size())),
        truth_(truth),
        precedences_(precedences),
        side_(side),
        found_(found) {}

  // Returns the least bytes that are live before the step. After a violation the value means
  // nothing.
  Bytes value(const Flow& tensors, const Flow& precedences) && {
    add_tensors(tensors);
    add_precedences(precedences);
    check_capacities();
    check_conservation();
    return value_;
  }

 private:
  void number(const std::string& where, std::string have, std::string need) {
    found_.add(listed(FlowRule::number), [&] {
      return Description{"/certificate" + where, std::move(have), std::move(need)};
    });
  }
  void arc(const std::string& where, std::string have, std::string need) {
    found_.add(listed(FlowRule::arc), [&] {
      return Description{"/certificate" + where, std::move(have), std::move(need)};
    });
  }

  // Returns the entry's amount, or nullopt and a violation if one of its numbers is out of range.
  std::optional<Bytes> amount(const std::vector<std::int64_t>& entry, const std::string& where,
                              std::int64_t firsts, std::int64_t least_second) {
    const bool good = entry.size() == 3 && entry[0] >= 0 && entry[0] < firsts &&
                      entry[1] >= least_second && entry[1] < operators_ && entry[2] >= 0 &&
                      entry[2] <= kMaxExact;
    if (good) return entry[2];
    number(where, "an entry that is none", "two indices and bytes from 0 to " + text(kMaxExact));
    return std::nullopt;
  }

  bool touches(std::int64_t op, std::int64_t tensor) const {
    const OrderOperator& its = instance_.operators[slot(op)];
    return std::ranges::find(its.reads, tensor) != its.reads.end() ||
           std::ranges::find(its.updates, tensor) != its.updates.end();
  }

  void add_tensors(const Flow& entries) {
    along_.assign(slot(tensors_), 0);
    into_.assign(slot(operators_), 0);
    out_of_.assign(slot(operators_), 0);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const std::vector<std::int64_t>& entry = entries[k];
      const std::string where = "/tensors/" + text(k);
      const auto flow = amount(entry, where, tensors_, OrderCertificate::kEnd);
      if (!flow) continue;
      const std::int64_t t = entry[0];
      const std::int64_t to = entry[1];
      const std::int64_t from = precedences_.writer(t);
      if (to == OrderCertificate::kEnd ? !truth_.stays(t) : !touches(to, t)) {
        arc(where, "a flow to one that does not need the tensor", "one that reads or updates it");
        continue;
      }
      if (from >= 0 && side_[slot(from)] == Before::never) {
        arc(where, "a flow along a tensor that is not there yet", "one written before");
        continue;
      }
      if (!add(along_[slot(t)], *flow)) return;
      if (from >= 0 && side_[slot(from)] == Before::maybe && !add(out_of_[slot(from)], *flow)) {
        return;
      }
      if (to == OrderCertificate::kEnd || side_[slot(to)] == Before::never) {
        if (!add(value_, *flow)) return;
      } else if (side_[slot(to)] == Before::maybe) {
        if (!add(into_[slot(to)], *flow)) return;
      } else {
        arc(where, "a flow to an operator that has run", "one that may still run");
      }
    }
  }

  void add_precedences(const Flow& entries) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const std::vector<std::int64_t>& entry = entries[k];
      const std::string where = "/precedences/" + text(k);
      const auto flow = amount(entry, where, operators_, 0);
      if (!flow) continue;
      if (!precedences_.has(entry[0], entry[1])) {
        arc(where, "a flow to an operator that need not run before", "one that must");
        continue;
      }
      if (side_[slot(entry[0])] != Before::maybe || side_[slot(entry[1])] != Before::maybe) {
        arc(where, "a flow between operators of which one has run or cannot run",
            "two that may or may not have run");
        continue;
      }
      if (!add(out_of_[slot(entry[0])], *flow) || !add(into_[slot(entry[1])], *flow)) return;
    }
  }

  // Adds `flow` to `sum`. Returns false and adds a violation if the sum leaves the exact range.
  bool add(Bytes& sum, Bytes flow) {
    sum += flow;  // both at most 2^53
    if (sum <= kMaxExact) return true;
    number("", "flows that sum to more", "at most " + text(kMaxExact));
    return false;
  }

  void check_capacities() {
    for (std::int64_t t = 0; t < tensors_; ++t) {
      if (along_[slot(t)] <= truth_.size(t)) continue;
      found_.add(listed(FlowRule::capacity), [&] {
        return Description{"/certificate/tensors",
                           text(along_[slot(t)]) + " bytes along tensor " + text(t),
                           "at most its size, " + text(truth_.size(t))};
      });
    }
  }

  void check_conservation() {
    for (std::int64_t op = 0; op < operators_; ++op) {
      if (into_[slot(op)] == out_of_[slot(op)]) continue;
      found_.add(listed(FlowRule::conservation), [&] {
        return Description{"/certificate",
                           text(into_[slot(op)]) + " bytes into operator " + text(op) + " and " +
                               text(out_of_[slot(op)]) + " out of it",
                           "as many"};
      });
    }
  }

  const OrderInstance& instance_;
  const std::int64_t operators_;
  const std::int64_t tensors_;
  const OrderReferenceModel& truth_;
  const Precedences& precedences_;
  const std::vector<Before>& side_;
  std::vector<Bytes> along_;   // by tensor: flow along it
  std::vector<Bytes> into_;    // by operator that may have run: flow into it
  std::vector<Bytes> out_of_;  // by operator that may have run: flow out of it
  Bytes value_ = 0;            // flow into the operator, the operators that need it, and the end
  ViolationList& found_;
};

}  // namespace

Precedences::Precedences(const OrderInstance& instance)
    : before_(instance.operators.size()),
      behind_(instance.operators.size()),
      writer_(instance.tensors.size(), OrderCertificate::kEnd) {
  const auto operators = static_cast<std::int64_t>(instance.operators.size());
  for (std::int64_t op = 0; op < operators; ++op) {
    for (const std::int64_t t : instance.operators[slot(op)].writes) writer_[slot(t)] = op;
  }
  std::vector<std::int64_t> updated(instance.tensors.size(), OrderCertificate::kEnd);
  std::vector<std::vector<std::int64_t>> readers(instance.tensors.size());
  for (std::int64_t op = 0; op < operators; ++op) {
    const OrderOperator& its = instance.operators[slot(op)];
    std::vector<std::int64_t>& first = before_[slot(op)];
    first = its.after;
    for (const std::int64_t t : OrderReferenceModel::touched(its)) {
      if (writer_[slot(t)] >= 0) first.push_back(writer_[slot(t)]);
      if (updated[slot(t)] >= 0) first.push_back(updated[slot(t)]);
      if (std::ranges::find(its.updates, t) == its.updates.end()) {
        readers[slot(t)].push_back(op);
        continue;
      }
      first.insert(first.end(), readers[slot(t)].begin(), readers[slot(t)].end());
      readers[slot(t)].clear();
      updated[slot(t)] = op;
    }
    for (const std::int64_t other : first) behind_[slot(other)].push_back(op);
  }
}

void Precedences::add(std::int64_t first, std::int64_t second) {
  before_[slot(second)].push_back(first);
  behind_[slot(first)].push_back(second);
}

bool Precedences::has(std::int64_t op, std::int64_t first) const {
  return std::ranges::find(before_[slot(op)], first) != before_[slot(op)].end();
}

std::vector<Before> Precedences::sides(std::int64_t op) const {
  std::vector<Before> side(before_.size(), Before::maybe);
  mark(op, before_, Before::always, side);
  mark(op, behind_, Before::never, side);
  side[slot(op)] = Before::never;
  return side;
}

void Precedences::assume(std::int64_t other, bool has_run, std::vector<Before>& side) const {
  side[slot(other)] = has_run ? Before::always : Before::never;
  mark(other, has_run ? before_ : behind_, side[slot(other)], side);
}

Bytes flow_value(const OrderInstance& instance, const OrderReferenceModel& truth,
                 const Precedences& precedences, const std::vector<Before>& side,
                 const Flow& tensors, const Flow& along_precedences, ViolationList& found) {
  return FlowCheck(instance, truth, precedences, side, found).value(tensors, along_precedences);
}

}  // namespace stowage
