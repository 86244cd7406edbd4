// Completes scatter plans that list only the sequences of each group: the rest follows from the
// instance.
#include <algorithm>

#include "instances/json/answer.h"
#include "instances/json/limits.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

constexpr IntegerRange kId = {0, kMaxExact};
constexpr IntegerRange kRank = {0, kMaxDevices};

struct BareGroup {
  int degree = 0;
  ExchangeKind exchange = ExchangeKind::none;  // none: the only kind, if there is no choice
  int first_rank = 0;
  std::vector<std::int64_t> sequences;
};
struct BareMicroBatch {
  std::string recomputation;
  std::vector<BareGroup> groups;
};
struct BarePlan {
  std::string name;
  std::vector<BareMicroBatch> micro_batches;
};

}  // namespace

template <class Visitor, Of<BareGroup> Group>
void fields(Visitor& v, Group& group) {
  v.required("degree", group.degree, kRank);
  v.choice("exchange", group.exchange, exchange_names(), group.exchange == ExchangeKind::none);
  v.required("first_rank", group.first_rank, kRank);
  v.required("sequences", group.sequences, kId);
}

template <class Visitor, Of<BareMicroBatch> MicroBatch>
void fields(Visitor& v, MicroBatch& micro_batch) {
  v.omit_if(micro_batch.recomputation.empty(), "recomputation", micro_batch.recomputation);
  v.required("groups", micro_batch.groups);
}

template <class Visitor, Of<BarePlan> Plan>
void fields(Visitor& v, Plan& plan) {
  v.head("stowage/plan", "scatter", plan.name);
  v.required("micro_batches", plan.micro_batches);
}

namespace {

// Returns the kinds of exchange for groups of the degree; empty if the instance lists none.
std::vector<ExchangeKind> kinds_of(const ScatterInstance& instance, int degree) {
  if (degree <= 1 || !instance.cost.exchange) return {};
  const auto found = instance.cost.exchange->kinds.find(degree);
  return found == instance.cost.exchange->kinds.end() ? std::vector<ExchangeKind>() : found->second;
}

// Completes a group. Ids, degrees and exchanges that do not exist add nothing: verify() reports
// them.
ScatterGroup completed(const ScatterInstance& instance, int recomputation, const BareGroup& bare) {
  ScatterGroup group{.degree = bare.degree,
                     .first_rank = bare.first_rank,
                     .sequences = bare.sequences,
                     .cu_seqlens = {0}};
  const std::optional<int> place = place_at(instance.cluster, bare.degree, bare.first_rank);
  const std::vector<ExchangeKind> kinds = kinds_of(instance, bare.degree);
  group.exchange = bare.exchange;
  if (group.exchange == ExchangeKind::none && kinds.size() == 1) group.exchange = kinds.front();
  const bool exchanges = kinds.empty() ? group.exchange == ExchangeKind::none
                                       : std::ranges::find(kinds, group.exchange) != kinds.end();
  const bool allowed = std::ranges::binary_search(instance.cluster.degrees, bare.degree) &&
                       recomputation >= 0 && place && exchanges;
  const GroupForm form{bare.degree, group.exchange, recomputation, place.value_or(0)};
  const auto padded = [&](Tokens length) {
    if (allowed) return padded_length(instance, length, form);
    return padded_length(instance, length);
  };
  Load load;
  if (allowed) load = empty_load(instance, form);
  for (const std::int64_t id : bare.sequences) {
    const bool known = id < static_cast<std::int64_t>(instance.lengths.size());
    const Tokens length = known ? padded(instance.lengths[static_cast<std::size_t>(id)]) : 0;
    group.tokens = std::min(group.tokens + length, kMaxExact);  // more only by repeated ids
    group.cu_seqlens.push_back(group.tokens);
    if (known && allowed) load += sequence_load(instance, length, form);
  }
  if (!allowed) return group;
  load += row_padding_load(instance, group.tokens, form);
  group.tokens = round_up(group.tokens, row_multiple(instance, form));
  group.cu_seqlens.back() = group.tokens;
  group.time_ms = group_ms(instance, form, load);
  group.offload = least_offload(instance, form, group.tokens);
  return group;
}

ScatterPlan completed(const ScatterInstance& instance, const BarePlan& bare) {
  ScatterPlan plan{.name = bare.name, .instance_hash = instance_hash(instance)};
  Ms sum = 0;
  Ms longest = 0;
  for (const BareMicroBatch& groups : bare.micro_batches) {
    ScatterMicroBatch& micro_batch = plan.micro_batches.emplace_back();
    micro_batch.recomputation = groups.recomputation;
    const int recomputation = recomputation_index(instance, groups.recomputation);
    for (const BareGroup& group : groups.groups) {
      micro_batch.groups.push_back(completed(instance, recomputation, group));
    }
    micro_batch.makespan_ms = makespan_ms(instance, micro_batch.groups);
    sum += micro_batch.makespan_ms;
    longest = std::max(longest, micro_batch.makespan_ms);
  }
  plan.objective_ms = step_ms(instance, sum, longest);
  return plan;
}

}  // namespace

Result<ScatterPlan> complete_scatter_plan(std::string_view text, const ScatterInstance& instance) {
  ErrorList ignored;  // read_scatter_plan() finds them again
  const auto head = parse_json_head(text, {"format", "instance_hash", "objective_ms"}, ignored);
  const JsonValue* format = head ? head->find("format") : nullptr;
  const bool bare = format != nullptr && format->string() != nullptr &&
                    *format->string() == "stowage/plan" && head->find("instance_hash") == nullptr &&
                    head->find("objective_ms") == nullptr;
  if (!bare) return read_scatter_plan(text);
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    BarePlan plan;
    const JsonPath root;
    read_fields(document, root, errors, plan);
    return errors.empty() ? completed(instance, plan) : ScatterPlan();
  });
}

}  // namespace stowage
