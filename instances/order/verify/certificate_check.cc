// Checks a certificate with the sums of the definition. Flows of forced precedences and of both
// ends of a search are found again (flow_finder.h) and added up like the flow of a file.
#include <algorithm>
#include <optional>
#include <utility>

#include "instances/order/certificate.h"
#include "instances/order/verify/flow_check.h"
#include "instances/order/verify/flow_finder.h"
#include "instances/order/verify/reference_model.h"
#include "instances/order/verify/search_proof_check.h"
#include "instances/proof/violation_list.h"

namespace stowage {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
std::size_t rule(FlowRule its) { return static_cast<std::size_t>(its); }

class CertificateCheck {
 public:
  CertificateCheck(const OrderInstance& instance, const OrderCertificate& certificate)
      : instance_(instance), certificate_(certificate), truth_(instance), found_(kFlowRuleNames) {}

  OrderCertificateCheck run() && {
    OrderCertificateCheck check;
    const std::int64_t op = certificate_.op;
    if (!applies()) {
      found_.add(rule(FlowRule::bound), [&] {
        return Description{"/certificate/bound_bytes", text(certificate_.bound_bytes) + " bytes",
                           "none: a cut says nothing of time, of operators that run again, or of a "
                           "host"};
      });
    } else if (certificate_.searched) {
      precedences_.emplace(instance_);
      finder_.emplace(instance_);
      if (add_forced()) {
        if (finder_->stale()) finder_->look();
        check_searched(instance_, truth_, *precedences_, *finder_, *certificate_.searched,
                       certificate_.bound_bytes, found_);
      }
    } else if (!is_operator(op)) {
      found_.add(rule(FlowRule::number), [&] {
        return Description{"/certificate/op", text(op), "the index of an operator"};
      });
    } else {
      precedences_.emplace(instance_);
      if (!certificate_.forced.empty()) finder_.emplace(instance_);
      if (add_forced()) {
        const Bytes live = flow_value(instance_, truth_, *precedences_, precedences_->sides(op),
                                      certificate_.tensors, certificate_.precedences, found_);
        check_bound(live + added(op));
      }
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

  bool is_operator(std::int64_t op) const {
    return op >= 0 && op < std::ssize(instance_.operators);
  }
  Bytes added(std::int64_t op) const { return truth_.least_added(instance_.operators[index(op)]); }

  // Returns false at the first forced precedence that does not hold: later ones may need it.
  bool add_forced() {
    if (certificate_.forced.empty()) return true;
    if (std::ssize(certificate_.forced) > most_forced_of(instance_)) {
      found_.add(rule(FlowRule::forced), [&] {
        return Description{"/certificate/forced",
                           text(std::ssize(certificate_.forced)) + " precedences",
                           "at most " + text(most_forced_of(instance_)) + " for this graph"};
      });
      return false;
    }
    for (std::size_t k = 0; k < certificate_.forced.size(); ++k) {
      const ForcedPrecedence& its = certificate_.forced[k];
      const std::string where = "/certificate/forced/" + text(k);
      if (!is_operator(its.first) || !is_operator(its.second) ||
          (its.op != its.first && its.op != its.second)) {
        found_.add(rule(FlowRule::forced), [&] {
          return Description{where, "an entry that is none",
                             "two operators that exist, and one of them as `op`"};
        });
        return false;
      }
      const std::int64_t other = its.op == its.first ? its.second : its.first;
      std::vector<Before> side = precedences_->sides(its.op);
      if (side[index(other)] != Before::maybe) {
        found_.add(rule(FlowRule::forced), [&] {
          return Description{where, "two of which it is known who runs first", "two that are open"};
        });
        return false;
      }
      precedences_->assume(other, its.op == its.first, side);
      const std::optional<Bytes> needed = least_need(*finder_, its.op, side);
      if (!needed || *needed < certificate_.bound_bytes) {
        found_.add(rule(FlowRule::forced), [&] {
          return Description{
              where, needed ? text(*needed) + " bytes without it" : "flows that do not add up",
              text(certificate_.bound_bytes) + " bytes at least"};
        });
        return false;
      }
      precedences_->add(its.first, its.second);
      finder_->add(its.first, its.second);
    }
    return true;
  }

  // Returns the bytes that a flow proves for the operator's step, or nullopt if the flow breaks a
  // rule.
  std::optional<Bytes> least_need(FlowFinder& finder, std::int64_t op,
                                  const std::vector<Before>& side) {
    for (;;) {
      const auto [tensors, precedences] = finder.flow(side);
      ViolationList found(kFlowRuleNames);
      const Bytes live =
          flow_value(instance_, truth_, *precedences_, side, tensors, precedences, found);
      if (!std::move(found).take().empty()) return std::nullopt;
      const Bytes needed = live + added(op);
      if (needed >= certificate_.bound_bytes || !finder.stale()) return needed;
      finder.look();
    }
  }

  void check_bound(Bytes proven) {
    if (certificate_.bound_bytes <= proven && certificate_.bound_bytes >= 0) return;
    found_.add(rule(FlowRule::bound), [&] {
      return Description{"/certificate/bound_bytes", text(certificate_.bound_bytes) + " bytes",
                         "at most " + text(proven) + ", which the flow proves"};
    });
  }

  const OrderInstance& instance_;
  const OrderCertificate& certificate_;
  const OrderReferenceModel truth_;
  std::optional<Precedences> precedences_;
  std::optional<FlowFinder> finder_;  // if flows are to be found again
  ViolationList found_;
};

}  // namespace

std::int64_t most_forced_of(const OrderInstance& instance) {
  constexpr std::int64_t kMostOperators = 4096;
  constexpr std::int64_t kMaxNodes =
      100'000'000;  // nodes of the networks of all cuts: some seconds
  const std::int64_t operators = std::ssize(instance.operators);
  if (operators > kMostOperators) return 0;
  return kMaxNodes / std::max<std::int64_t>(1, operators + std::ssize(instance.tensors));
}

std::int64_t most_states_of(const OrderInstance& instance) {
  constexpr std::int64_t kMaxStates = std::int64_t{1} << 21;  // 250 MB with 128 operators
  constexpr std::int64_t kMaxMembers =
      200'000'000;  // limit of states times operators, for graphs of more operators
  return std::min(kMaxStates,
                  kMaxMembers / std::max<std::int64_t>(1, std::ssize(instance.operators)));
}

std::vector<std::string_view> order_certificate_rules() {
  return {kFlowRuleNames.begin(), kFlowRuleNames.end()};
}

OrderCertificateCheck check_certificate(const OrderInstance& instance,
                                        const OrderCertificate& certificate) {
  return CertificateCheck(instance, certificate).run();
}

}  // namespace stowage
