#include "solvers/strategy/stages.h"

#include <array>

#include "solvers/strategy/stage_implementations.h"

namespace stowage {
namespace {

using namespace strategy_stage;

bool has_no_certificate(const StrategyContext& context) { return !context.certificate; }

constexpr auto kStages = std::to_array<Stage<StrategyContext>>({
    {"heuristic",
     "the heuristic that the method names, `fast` for auto, exact and mip",
     heuristic,
     {.even_if_done = true}},
    {"memory",
     "proof that no configuration fits the memory",
     memory,
     {.needs = Needs::no_plan, .even_if_done = true}},
    {"thresholds", "cases of the slowest stage, or better prices, for every class", thresholds},
    {"prices", "equal prices of the stages for every class", prices, {.when = has_no_certificate}},
    {"search", "labels of partial pipelines, class by class, until a proof", search},
    {"mip", "MILP of each class, until a proof", mip},
    {"uniap", "UniAP's MILP of each class", uniap, {.even_if_done = true}},
});

}  // namespace

std::span<const Stage<StrategyContext>> strategy_stages() { return kStages; }

Course strategy_course(std::string_view method) {
  if (method == "auto") {
    return {Phase{.stages = {"heuristic", "memory", "thresholds", "prices", "search"}}};
  }
  if (method == "exact") return {Phase{.stages = {"heuristic", "memory", "prices", "search"}}};
  if (method == "mip") return {Phase{.stages = {"heuristic", "memory", "prices", "mip"}}};
  if (method == "uniap") return {Phase{.stages = {"uniap", "memory", "prices"}}};
  return {Phase{.stages = {"heuristic", "memory", "prices"}}};
}

}  // namespace stowage
