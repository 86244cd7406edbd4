#include "solvers/order/stages.h"

#include <array>
#include <utility>

#include "solvers/order/stage_implementations.h"

namespace stowage {
namespace {

bool has_order(const OrderContext& context) { return context.has_order(); }
bool has_narrow(const OrderContext& context) { return context.narrow.has_value(); }
// If the method is a heuristic, its order gets a bound even if the requested gap is reached.
bool cuts_are_due(const OrderContext& context) {
  return context.has_order() && (!context.searches() || !context.done());
}

constexpr auto kStages = std::to_array<Stage<OrderContext>>({
    {"program", "the order of the list", order_stage::program, {.even_if_done = true}},
    {"commit", "the order of the list, with commits", order_stage::commit},
    {"list", "the operator that frees most next, without and with commits", order_stage::list},
    {"depth_first", "depth first, without and with commits", order_stage::depth_first},
    {"cuts",
     "bounds by cuts at the operators whose steps need most",
     order_stage::cuts,
     {.when = cuts_are_due, .even_if_done = true}},
    {"stretches",
     "stretches of the best order around its peak are searched anew",
     order_stage::stretches,
     {.when = has_order}},
    {"search_below",
     "search over sets of operators for an order below the best",
     order_stage::search_below,
     {.when = has_order}},
    {"search_from_bound",
     "the same search from the bound upwards, which raises the bound",
     order_stage::search_from_bound,
     {.when = has_order}},
    {"forced",
     "precedences that every better order keeps, or a proof",
     order_stage::force,
     {.when = has_order}},
    {"narrow_stretches",
     "stretches of an order that keeps these precedences",
     order_stage::narrow_stretches,
     {.when = has_narrow}},
    {"heuristic",
     "the heuristic that the method names",
     order_stage::method_heuristic,
     {.even_if_done = true}},
});

bool has_time_to_save(const RerunContext& context) {
  return context.timed() && context.instance.capacity.has_value();
}
bool has_host(const RerunContext& context) { return context.instance.host.has_value(); }
bool has_offloaded(const RerunContext& context) { return context.host.has_value(); }
bool has_no_transfers(const RerunContext& context) {
  return context.incumbent.plan()->transfers.empty();
}

constexpr auto kRerunStages = std::to_array<Stage<RerunContext>>({
    {"one_pass", "the orders of one pass", rerun_stage::one_pass, {.even_if_done = true}},
    {"evict", "tensors in the way are dropped and made again", rerun_stage::evict},
    {"cheap_runs",
     "the same with limits on the length of a run again, and from minimum cuts",
     rerun_stage::cheap_runs,
     {.when = has_time_to_save}},
    {"offload",
     "tensors in the way go to the host and come back",
     rerun_stage::offload,
     {.when = has_host}},
    {"offload_walk",
     "other choices around the best plan with transfers",
     rerun_stage::offload_walk,
     {.when = has_offloaded}},
    {"walk",
     "other choices around the best plan with runs again",
     rerun_stage::walk,
     {.needs = Needs::plan, .when = has_no_transfers}},
    {"rerun_search", "search over sets of operators and tensors", rerun_stage::rerun_search},
    {"heuristic",
     "the heuristic that the method names",
     rerun_stage::method_heuristic,
     {.even_if_done = true}},
    {"checkmate",
     "the MILP of runs again in program order",
     rerun_stage::checkmate,
     {.even_if_done = true}},
    {"memo",
     "the LP of swaps in program order, the rest made again",
     rerun_stage::memo,
     {.even_if_done = true}},
});

constexpr auto kLengthStages = std::to_array<Stage<LengthContext>>({
    {"longest", "the graph of the longest length", length_stage::longest, {.even_if_done = true}},
    {"shortest", "the graph of the shortest length", length_stage::shortest},
    {"row_ends", "graphs at the ends of rows, those of the worst gap first",
     length_stage::row_ends},
    {"longest_again", "the graph of the longest length, with many nodes",
     length_stage::longest_again},
    {"rows", "a row for each range of lengths", length_stage::rows, {.even_if_done = true}},
});

}  // namespace

std::span<const Stage<OrderContext>> order_stages() { return kStages; }
std::span<const Stage<RerunContext>> rerun_stages() { return kRerunStages; }
std::span<const Stage<LengthContext>> length_stages() { return kLengthStages; }

Course order_course(std::string_view method, const OrderParams& params) {
  const Phase first{.stages = {"program", "commit", "list", "depth_first", "cuts"}};
  if (method == "auto") {
    return {first,
            {.stages = {"stretches", "cuts", "search_below", "search_from_bound", "forced",
                        "narrow_stretches"},
             .rounds = rounds_of(params)}};
  }
  if (method == "exact") {
    return {
        first,
        {.stages = {"search_below", "search_from_bound", "forced"}, .rounds = rounds_of(params)}};
  }
  return {{.stages = {"heuristic", "cuts"}}};
}

Course rerun_course(std::string_view method, const OrderParams& params) {
  if (method == "auto") {
    return {{.stages = {"one_pass", "evict", "cheap_runs", "offload"}},
            {.stages = {"offload_walk", "walk", "rerun_search"}, .rounds = rounds_of(params)}};
  }
  if (method == "exact") {
    return {{.stages = {"one_pass", "offload"}},
            {.stages = {"offload_walk", "rerun_search"}, .rounds = rounds_of(params)}};
  }
  if (method == "checkmate") return {{.stages = {"checkmate"}}};
  if (method == "memo") return {{.stages = {"memo"}}};
  return {{.stages = {"heuristic"}}};
}

Course length_course(std::string_view method) {
  const bool searches = method == "auto" || method == "exact";
  Course course = {{.stages = {"longest", "shortest"}},
                   {.stages = {"row_ends"}, .rounds = searches ? order_fixed::kLengthRounds : 1}};
  if (searches) course.push_back({.stages = {"longest_again"}});
  course.push_back({.stages = {"rows"}});
  return course;
}

}  // namespace stowage
