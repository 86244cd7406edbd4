#include "solvers/layout/stages.h"

#include <array>

#include "solvers/layout/stage_implementations.h"

namespace stowage {
namespace {

using namespace layout_stage;

bool not_searchable(const LayoutContext& context) { return !context.searchable(); }
bool few_buffers(const LayoutContext& context) { return context.few(); }
bool many_buffers(const LayoutContext& context) {
  return !context.few() && !context.table->any_pins();
}
// Layouts of fewer buffers are lowered by reinsertion as a whole.
bool beyond_reinsertion(const LayoutContext& context) {
  return context.table->buffers() > context.params.heuristics.reinsertion.buffers &&
         !context.table->any_pins();
}
bool gap_is_open(const LayoutContext& context) { return !context.good_enough(); }

constexpr auto kStages = std::to_array<Stage<LayoutContext>>({
    {"height_refutation",
     "no stack of buffers ends between the load and the capacity",
     height_refutation,
     {.needs = Needs::no_plan, .even_if_done = true}},
    {"quick_plan",
     "size classes or one stack, where there is no time or no room for a table",
     quick_plan,
     {.when = not_searchable, .even_if_done = true}},
    {"first_plan",
     "the best of rings, dives and fits: the heuristic fast",
     first_plan,
     {.even_if_done = true}},
    {"busiest_first",
     "buffers of the busiest sections at fixed offsets, then all others around them",
     busiest_first,
     {.needs = Needs::plan, .when = many_buffers}},
    {"short_search",
     "canonical search with a limit of nodes, where buffers are few",
     short_search,
     {.when = few_buffers}},
    {"windows",
     "the highest places of many buffers, one window of time after another",
     lower_by_windows,
     {.when = beyond_reinsertion}},
    {"lowering", "dives, ejections and reinsertions that lower the peak", lower_whole},
    {"core_first", "the busiest sections first, then more and more sections", lower_core},
    {"search",
     "canonical search until proof or limit",
     search,
     {.when = gap_is_open, .even_if_done = true}},
    {"heuristic", "the heuristic that the method names", method_heuristic, {.even_if_done = true}},
    {"memo",
     "each repeated block once, then the step with pseudo buffers",
     memo,
     {.even_if_done = true}},
    {"mip", "the strengthened MIP", mip, {.even_if_done = true}},
    {"published_mip", "the MIP as published", published_mip, {.even_if_done = true}},
});

}  // namespace

std::span<const Stage<LayoutContext>> layout_stages() { return kStages; }

Course layout_course(std::string_view method) {
  const Phase begin{.stages = {"height_refutation", "quick_plan"}};
  const auto then = [&](Phase phase) { return Course{begin, std::move(phase)}; };
  if (method == "auto") {
    return {
        begin,
        {.stages = {"first_plan", "busiest_first"}},
        {.stages = {"short_search", "windows", "lowering", "core_first"}, .rounds = kUntilLimit},
        {.stages = {"search"}}};
  }
  if (method == "exact") return then({.stages = {"first_plan", "search"}});
  if (method == "memo") return then({.stages = {"memo"}});
  if (method == "mip") return then({.stages = {"first_plan", "mip"}});
  if (method == "mip-published") return then({.stages = {"published_mip"}});
  return then({.stages = {"heuristic"}});
}

}  // namespace stowage
