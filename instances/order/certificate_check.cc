// The check of a flow, with the sums of the definition and no search for anything.
#include <algorithm>
#include <optional>

#include "instances/order/certificate.h"
#include "instances/order/truth.h"
#include "instances/violation_list.h"

namespace stowage {
namespace {

enum Rule : std::size_t { kNumber, kArc, kCapacity, kConservation, kBound, kRuleCount };

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "certificate_number", "certificate_arc", "certificate_capacity", "certificate_conservation",
    "certificate_bound"};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// May an operator have run before v: yes always, no never, or it depends on the order.
enum class Before { maybe, always, never };

class FlowCheck {
 public:
  FlowCheck(const OrderInstance& instance, const OrderCertificate& certificate)
      : instance_(instance),
        certificate_(certificate),
        operators_(static_cast<std::int64_t>(instance.operators.size())),
        tensors_(static_cast<std::int64_t>(instance.tensors.size())),
        truth_(instance),
        found_(kRuleNames) {}

  OrderCertificateCheck run() && {
    OrderCertificateCheck check;
    if (!applies()) {
      found_.add(kBound, [&] {
        return Description{"/certificate/bound_bytes", text(certificate_.bound_bytes) + " bytes",
                           "none: a cut says nothing of time, of operators that run again, or of a "
                           "host"};
      });
    } else if (certificate_.op < 0 || certificate_.op >= operators_) {
      number("/op", text(certificate_.op), "the index of an operator");
    } else {
      list_precedences();
      mark();
      add_tensors();
      add_precedences();
      check_capacities();
      check_conservation();
      check_bound();
    }
    check.violations = std::move(found_).take();
    if (check.violations.empty()) check.bound_bytes = certificate_.bound_bytes;
    return check;
  }

 private:
  bool applies() const {
    return instance_.objective == OrderObjective::peak && !instance_.host &&
           std::ranges::none_of(instance_.operators, &OrderOperator::recompute);
  }

  void number(const std::string& where, std::string have, std::string need) {
    found_.add(kNumber, [&] {
      return Description{"/certificate" + where, std::move(have), std::move(need)};
    });
  }
  void arc(const std::string& where, std::string have, std::string need) {
    found_.add(kArc, [&] {
      return Description{"/certificate" + where, std::move(have), std::move(need)};
    });
  }

  // Every operator that must run before another, from the words of the page: writers, updates and
  // `after`.
  void list_precedences() {
    before_.resize(index(operators_));
    writer_.assign(index(tensors_), OrderCertificate::kEnd);
    for (std::int64_t op = 0; op < operators_; ++op) {
      for (const std::int64_t t : instance_.operators[index(op)].writes) writer_[index(t)] = op;
    }
    std::vector<std::int64_t> updated(index(tensors_), OrderCertificate::kEnd);
    std::vector<std::vector<std::int64_t>> readers(index(tensors_));
    for (std::int64_t op = 0; op < operators_; ++op) {
      const OrderOperator& its = instance_.operators[index(op)];
      std::vector<std::int64_t>& first = before_[index(op)];
      first = its.after;
      for (const std::int64_t t : OrderTruth::touched(its)) {
        if (writer_[index(t)] >= 0) first.push_back(writer_[index(t)]);
        if (updated[index(t)] >= 0) first.push_back(updated[index(t)]);
        if (std::ranges::find(its.updates, t) == its.updates.end()) {
          readers[index(t)].push_back(op);
          continue;
        }
        first.insert(first.end(), readers[index(t)].begin(), readers[index(t)].end());
        readers[index(t)].clear();
        updated[index(t)] = op;
      }
    }
  }

  void mark() {
    side_.assign(index(operators_), Before::maybe);
    std::vector<std::int64_t> todo = {certificate_.op};
    while (!todo.empty()) {
      const std::int64_t op = todo.back();
      todo.pop_back();
      for (const std::int64_t first : before_[index(op)]) {
        if (side_[index(first)] == Before::always) continue;
        side_[index(first)] = Before::always;
        todo.push_back(first);
      }
    }
    std::vector<std::vector<std::int64_t>> behind(index(operators_));
    for (std::int64_t op = 0; op < operators_; ++op) {
      for (const std::int64_t first : before_[index(op)]) behind[index(first)].push_back(op);
    }
    side_[index(certificate_.op)] = Before::never;
    todo = {certificate_.op};
    while (!todo.empty()) {
      const std::int64_t op = todo.back();
      todo.pop_back();
      for (const std::int64_t next : behind[index(op)]) {
        if (side_[index(next)] == Before::never) continue;
        side_[index(next)] = Before::never;
        todo.push_back(next);
      }
    }
  }

  // The entry's amount, if its numbers are in order.
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
    const OrderOperator& its = instance_.operators[index(op)];
    return std::ranges::find(its.reads, tensor) != its.reads.end() ||
           std::ranges::find(its.updates, tensor) != its.updates.end();
  }

  void add_tensors() {
    along_.assign(index(tensors_), 0);
    into_.assign(index(operators_), 0);
    out_of_.assign(index(operators_), 0);
    for (std::size_t k = 0; k < certificate_.tensors.size(); ++k) {
      const std::vector<std::int64_t>& entry = certificate_.tensors[k];
      const std::string where = "/tensors/" + text(k);
      const auto flow = amount(entry, where, tensors_, OrderCertificate::kEnd);
      if (!flow) continue;
      const std::int64_t t = entry[0];
      const std::int64_t to = entry[1];
      const std::int64_t from = writer_[index(t)];
      if (to == OrderCertificate::kEnd ? !truth_.stays(t) : !touches(to, t)) {
        arc(where, "a flow to one that does not need the tensor", "one that reads or updates it");
        continue;
      }
      if (from >= 0 && side_[index(from)] == Before::never) {
        arc(where, "a flow along a tensor that is not there yet", "one written before");
        continue;
      }
      if (!add(along_[index(t)], *flow)) return;
      if (from >= 0 && side_[index(from)] == Before::maybe && !add(out_of_[index(from)], *flow)) {
        return;
      }
      if (to == OrderCertificate::kEnd || side_[index(to)] == Before::never) {
        if (!add(value_, *flow)) return;
      } else if (side_[index(to)] == Before::maybe) {
        if (!add(into_[index(to)], *flow)) return;
      } else {
        arc(where, "a flow to an operator that has run", "one that may still run");
      }
    }
  }

  void add_precedences() {
    for (std::size_t k = 0; k < certificate_.precedences.size(); ++k) {
      const std::vector<std::int64_t>& entry = certificate_.precedences[k];
      const std::string where = "/precedences/" + text(k);
      const auto flow = amount(entry, where, operators_, 0);
      if (!flow) continue;
      const std::vector<std::int64_t>& first = before_[index(entry[0])];
      if (std::ranges::find(first, entry[1]) == first.end()) {
        arc(where, "a flow to an operator that need not run before", "one that must");
        continue;
      }
      if (side_[index(entry[0])] != Before::maybe || side_[index(entry[1])] != Before::maybe) {
        arc(where, "a flow between operators of which one has run or cannot run",
            "two that may or may not have run");
        continue;
      }
      if (!add(out_of_[index(entry[0])], *flow) || !add(into_[index(entry[1])], *flow)) return;
    }
  }

  // False, and a violation, if the sum leaves the exact range.
  bool add(Bytes& sum, Bytes flow) {
    sum += flow;  // both at most 2^53
    if (sum <= kMaxExact) return true;
    number("", "flows that sum to more", "at most " + text(kMaxExact));
    return false;
  }

  void check_capacities() {
    for (std::int64_t t = 0; t < tensors_; ++t) {
      if (along_[index(t)] <= truth_.size(t)) continue;
      found_.add(kCapacity, [&] {
        return Description{"/certificate/tensors",
                           text(along_[index(t)]) + " bytes along tensor " + text(t),
                           "at most its size, " + text(truth_.size(t))};
      });
    }
  }

  void check_conservation() {
    for (std::int64_t op = 0; op < operators_; ++op) {
      if (into_[index(op)] == out_of_[index(op)]) continue;
      found_.add(kConservation, [&] {
        return Description{"/certificate",
                           text(into_[index(op)]) + " bytes into operator " + text(op) + " and " +
                               text(out_of_[index(op)]) + " out of it",
                           "as many"};
      });
    }
  }

  void check_bound() {
    const Bytes proven = value_ + truth_.added(instance_.operators[index(certificate_.op)]);
    if (certificate_.bound_bytes <= proven && certificate_.bound_bytes >= 0) return;
    found_.add(kBound, [&] {
      return Description{"/certificate/bound_bytes", text(certificate_.bound_bytes) + " bytes",
                         "at most " + text(proven) + ", which the flow proves"};
    });
  }

  const OrderInstance& instance_;
  const OrderCertificate& certificate_;
  const std::int64_t operators_;
  const std::int64_t tensors_;
  const OrderTruth truth_;
  std::vector<std::vector<std::int64_t>> before_;  // of an operator: those that must run first
  std::vector<std::int64_t> writer_;               // of a tensor; kEnd for inputs
  std::vector<Before> side_;
  std::vector<Bytes> along_;   // flow along a tensor
  std::vector<Bytes> into_;    // an operator that may have run
  std::vector<Bytes> out_of_;  // likewise
  Bytes value_ = 0;            // what reaches v, what needs v, or the end
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> order_certificate_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

OrderCertificateCheck check_certificate(const OrderInstance& instance,
                                        const OrderCertificate& certificate) {
  return FlowCheck(instance, certificate).run();
}

}  // namespace stowage
