#include "instances/violation.h"

#include <ostream>

namespace stowage {

std::string to_string(const Violation& violation) {
  if (violation.need.empty()) return violation.rule + ": " + violation.have;
  return violation.rule + " at " + (violation.where.empty() ? "/" : violation.where) + ": has " +
         violation.have + ", needs " + violation.need;
}

std::ostream& operator<<(std::ostream& out, const Violation& violation) {
  return out << to_string(violation);
}

}  // namespace stowage
