#include "solvers/order/refutation.h"

#include <string>

namespace stowage {

Refutation refuted_by(const OperatorBound& bound, Bytes enough) {
  const std::string bytes = std::to_string(bound.bytes) + " bytes";
  const std::string remedy = "raise capacity to at least " + std::to_string(enough);
  if (bound.op == OperatorBound::kEnds) {
    return {"the inputs, or what is left at the end, need " + bytes, remedy, {}, {.by = "ends"}};
  }
  return {"operator " + std::to_string(bound.op) + " alone needs " + bytes,
          remedy,
          {},
          {.by = "operator", .witnesses = {bound.op}}};
}

Refutation refuted_below(const char* noun, Bytes bytes) {
  return {"no " + std::string(noun) + " needs less than " + std::to_string(bytes) + " bytes",
          "raise capacity to at least " + std::to_string(bytes)};
}

}  // namespace stowage
