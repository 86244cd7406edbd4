// What a stowage/outcome says of the search that found its plan.
//
//   Result<std::optional<SearchRecord>> record = read_search_record(text, kMs);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/unit.h"
#include "instances/pictures/progress_curve.h"
#include "instances/result.h"

namespace stowage {

struct SearchRecord {
  std::string status;
  std::string stopped_by;
  std::string method;
  std::string found_by;
  ProgressHistory progress;
};

// Nothing for a stowage/plan, which tells no story. `unit` is that of the objective. Errors: those
// of types and ranges; members that are missing are left empty.
Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit);

}  // namespace stowage
