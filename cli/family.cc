#include "cli/family.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/error_codes.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "formulations/scatter_bounds.h"
#include "instances/cost_model.h"
#include "instances/json.h"
#include "instances/json_errors.h"
#include "instances/scatter_json.h"

namespace stowage {
namespace {

constexpr std::size_t kListedSequences = 10;

// The bytes of `path` and what they say they are; nothing and the errors otherwise.
struct Document {
  std::string bytes;
  Head head;
};

Loaded<Document> load_document(const std::string& path,
                               const std::vector<std::string_view>& formats) {
  Result<std::string> bytes = read_file(path);
  if (!bytes) return {std::nullopt, {{"", bytes.errors().front()}}};
  Result<Head> head = read_head(*bytes);
  if (!head) return {std::nullopt, errors_in(path, head.errors())};
  if (std::find(formats.begin(), formats.end(), head->format) == formats.end()) {
    std::string wanted;
    for (const std::string_view format : formats) {
      wanted += (wanted.empty() ? "" : " or ") + std::string(format);
    }
    const InputError error{code::kFormat, "/format",
                           "must be " + wanted + ", is \"" + head->format + '"'};
    return {std::nullopt, errors_in(path, {error})};
  }
  return {Document{*std::move(bytes), *std::move(head)}, {}};
}

template <class Any, class One>
Loaded<Any> loaded(const std::string& path, Result<One> result) {
  if (!result) return {std::nullopt, errors_in(path, result.errors())};
  return {Any(*std::move(result)), {}};
}

// The most tokens any group holds, and its degree.
std::pair<Tokens, int> largest_group(const ScatterInstance& instance) {
  const int degree = instance.cluster.degrees.back();
  return {group_capacity(instance, degree), degree};
}

std::vector<std::string> scatter_infeasibility(const ScatterInstance& instance,
                                               const std::vector<std::int64_t>& unplaceable) {
  std::vector<std::string> lines;
  const auto [capacity, degree] = largest_group(instance);
  Tokens longest = 0;
  for (std::size_t i = 0; i < unplaceable.size(); ++i) {
    const auto id = static_cast<std::size_t>(unplaceable[i]);
    const Tokens length = instance.lengths[id];
    const Tokens padded = padded_length(instance, length);
    longest = std::max(longest, padded);
    if (i >= kListedSequences) continue;
    std::string line =
        "sequence " + grouped(unplaceable[i]) + " has " + grouped(length) + " tokens";
    if (padded != length) line += " (" + grouped(padded) + " after padding)";
    lines.push_back(line + ", the largest group holds " + grouped(capacity) + " (degree " +
                    std::to_string(degree) + ')');
  }
  if (unplaceable.size() > kListedSequences) {
    lines.push_back("and " +
                    grouped(static_cast<std::int64_t>(unplaceable.size() - kListedSequences)) +
                    " more sequences");
  }
  if (longest == 0) return lines;
  const Tokens share = (longest + degree - 1) / degree;
  const double memory = instance.model.states_mib +
                        instance.model.activation_mib_per_token * static_cast<double>(share);
  std::string remedy = "remedy: raise cluster.memory_mib from " +
                       shortest(instance.cluster.memory_mib) + " to " + shortest(std::ceil(memory));
  const Tokens per_device = tokens_per_device(instance);
  if (per_device > 0 && (longest + per_device - 1) / per_device <= instance.cluster.devices) {
    remedy += ", or allow a degree of at least " + grouped((longest + per_device - 1) / per_device);
  }
  lines.push_back(remedy + ", or shorten the sequences");
  return lines;
}

}  // namespace

Loaded<Instance> load_instance(const std::string& path) {
  Loaded<Document> document = load_document(path, {"stowage/instance"});
  if (!document.value) return {std::nullopt, std::move(document.errors)};
  // The only family there is; read_head has refused every other.
  return loaded<Instance>(path, read_scatter_instance(document.value->bytes, directory_of(path)));
}

Loaded<Plan> load_plan(const std::string& path) {
  Loaded<Document> document = load_document(path, {"stowage/plan", "stowage/outcome"});
  if (!document.value) return {std::nullopt, std::move(document.errors)};
  return loaded<Plan>(path, read_scatter_plan(document.value->bytes));
}

Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path) {
  if (instance_path == "-" && plan_path == "-") {
    const InputError twice{kUsage, "PLAN", "stdin is the instance already"};
    return {std::nullopt, {{.error = twice}}};
  }
  Loaded<Instance> instance = load_instance(instance_path);
  Loaded<Plan> plan = load_plan(plan_path);
  if (instance.value && plan.value) {
    return {InstanceAndPlan{*std::move(instance.value), *std::move(plan.value)}, {}};
  }
  std::vector<CliError> errors = std::move(instance.errors);
  errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
  return {std::nullopt, std::move(errors)};
}

std::string_view problem_name(const Instance&) { return "scatter"; }

const std::string& instance_name(const Instance& instance) {
  return std::get<ScatterInstance>(instance).name;
}

std::string instance_size(const Instance& instance) {
  const auto& scatter = std::get<ScatterInstance>(instance);
  Tokens tokens = 0;  // the reader has checked that the padded sum is in range
  for (const Tokens length : scatter.lengths) tokens += length;
  return grouped(static_cast<std::int64_t>(scatter.lengths.size())) + " sequences, " +
         grouped(tokens) + " tokens, " + grouped(scatter.cluster.devices) + " devices";
}

double plan_objective(const Plan& plan) { return std::get<ScatterPlan>(plan).objective_ms; }

double plan_bound(const Plan& plan) { return std::get<ScatterPlan>(plan).bound_ms; }

const std::string& plan_bound_by(const Plan& plan) { return std::get<ScatterPlan>(plan).bound_by; }

std::int64_t micro_batch_count(const Plan& plan) {
  return static_cast<std::int64_t>(std::get<ScatterPlan>(plan).micro_batches.size());
}

std::vector<Violation> verify_plan(const Instance& instance, const Plan& plan) {
  const auto& scatter = std::get<ScatterInstance>(instance);
  const auto& scatter_plan = std::get<ScatterPlan>(plan);
  std::vector<Violation> violations = verify(scatter, scatter_plan);
  for (Violation& v : verify_instance_hash(scatter_plan, instance_hash(scatter))) {
    violations.push_back(std::move(v));
  }
  return violations;
}

std::optional<NamedBound> recomputed_bound(const Instance& instance) {
  const auto& scatter = std::get<ScatterInstance>(instance);
  if (scatter.lengths.empty() || !unplaceable_sequences(scatter).empty()) return std::nullopt;
  std::optional<NamedBound> best;
  for (NamedBound& bound : scatter_bounds(ScatterTable(scatter))) {
    if (!best || bound.value > best->value) best = std::move(bound);
  }
  return best;
}

bool is_closed_form(const std::string& bound_by) {
  return bound_by == "longest" || bound_by == "area" || bound_by == "pigeonhole";
}

std::string plan_json(const Plan& plan) { return write_scatter_plan(std::get<ScatterPlan>(plan)); }

void write_plan(JsonWriter& json, const Plan& plan) {
  write_json(json, std::get<ScatterPlan>(plan));
}

std::vector<std::string> infeasibility_report(const Instance& instance,
                                              const std::vector<std::int64_t>& unplaceable) {
  return scatter_infeasibility(std::get<ScatterInstance>(instance), unplaceable);
}

}  // namespace stowage
