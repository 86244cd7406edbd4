#include "solvers/outcome.h"

#include <algorithm>
#include <cmath>

namespace stowage {

Outcome::Outcome() = default;
Outcome::Outcome(const Outcome& other) = default;
Outcome::Outcome(Outcome&& other) noexcept = default;
Outcome& Outcome::operator=(const Outcome& other) = default;
Outcome& Outcome::operator=(Outcome&& other) noexcept = default;
Outcome::~Outcome() = default;

std::string_view to_string(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::feasible:
      return "feasible";
    case Status::infeasible:
      return "infeasible";
    case Status::unknown:
      return "unknown";
    case Status::error:
      break;
  }
  return "error";
}

std::string_view to_string(StoppedBy stopped_by) {
  switch (stopped_by) {
    case StoppedBy::proof:
      return "proof";
    case StoppedBy::gap:
      return "gap";
    case StoppedBy::time_limit:
      return "time_limit";
    case StoppedBy::node_limit:
      return "node_limit";
    case StoppedBy::interrupted:
      return "interrupted";
    case StoppedBy::heuristic_end:
      return "heuristic_end";
    case StoppedBy::error:
      break;
  }
  return "error";
}

StoppedBy stopped_by(StopReason reason, StoppedBy otherwise) {
  switch (reason) {
    case StopReason::interrupted:
      return StoppedBy::interrupted;
    case StopReason::time_limit:
      return StoppedBy::time_limit;
    case StopReason::node_limit:
      return StoppedBy::node_limit;
    case StopReason::none:
      break;
  }
  return otherwise;
}

double relative_gap(double objective, double bound) {
  if (objective == bound) return 0;
  return (objective - bound) / std::max(std::abs(objective), std::abs(bound));
}

std::optional<double> Outcome::gap() const {
  if (!objective) return std::nullopt;
  return relative_gap(*objective, bound);
}

}  // namespace stowage
