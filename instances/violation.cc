#include "instances/violation.h"

namespace stowage {

std::string to_string(const Violation& violation) {
  if (violation.need.empty()) return violation.rule + ": " + violation.have;
  return violation.rule + " at " + (violation.where.empty() ? "/" : violation.where) + ": has " +
         violation.have + ", needs " + violation.need;
}

}  // namespace stowage
