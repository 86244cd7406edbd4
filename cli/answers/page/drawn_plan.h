// A verified plan with the record of its search: its facts and its pictures, for `stowage render`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/page/side_by_side.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/progress_curve.h"
#include "instances/result.h"
#include "instances/unit.h"

namespace stowage {

// The members of a stowage/outcome about the search for its plan.
struct SearchRecord {
  std::string status;
  std::string stopped_by;
  std::string method;
  std::string found_by;
  ProgressHistory progress;
};

// Returns nullopt for a stowage/plan, which has no record of a search. `unit` is the unit of the
// objective. Errors: types and ranges; missing members stay empty.
Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit);

struct DrawnPlan {
  InstanceAndPlan both;
  CheckedOutcome judgement;  // without violations
  std::optional<SearchRecord> search;
};

// The parts of a plan that have a picture, in the order of pages.
inline constexpr std::array<std::string_view, 4> kPlanParts = {"plan", "lengths", "exchange",
                                                               "search"};

// Returns the picture of a part, or nullopt if the plan has none: lengths are those of sequences,
// an exchange that of cost.exchange, and a search is in an outcome.
std::optional<Picture> part_picture(const DrawnPlan& plan, std::string_view part);

// Returns the objective, the bounds, the gaps, the facts of the family, and the search.
std::vector<Fact> facts_of(const DrawnPlan& plan);

// Returns the facts of two plans of one instance, with the gap of each to the higher of both proven
// bounds, since a proven bound holds for both plans. The pictures are empty.
SideBySide side_by_side(const DrawnPlan& one, const DrawnPlan& other,
                        const std::array<std::string, 2>& names);

}  // namespace stowage
