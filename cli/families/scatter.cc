#include "cli/families/scatter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "formulations/scatter/bounds.h"
#include "instances/numbers.h"
#include "instances/scatter/cost_model.h"
#include "instances/scatter/optimum.h"

namespace stowage {
namespace {

constexpr std::size_t kListedSequences = 10;

// The most tokens any group holds, and its degree.
std::pair<Tokens, int> largest_group(const ScatterInstance& instance) {
  const int degree = instance.cluster.degrees.back();
  return {group_capacity(instance, degree), degree};
}

}  // namespace

std::string size_of(const ScatterInstance& instance) {
  Tokens tokens = 0;  // the reader has checked that the padded sum is in range
  for (const Tokens length : instance.lengths) tokens += length;
  return counted(std::ssize(instance.lengths), "sequence") + ", " + counted(tokens, "token") +
         ", " + counted(instance.cluster.devices, "device");
}

std::vector<std::pair<std::string, std::string>> facts_of(const ScatterInstance& instance,
                                                          const ScatterPlan& plan) {
  std::map<int, std::pair<std::int64_t, double>> degrees;  // groups, and ranks times ms
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    for (const ScatterGroup& group : batch.groups) {
      auto& [groups, work] = degrees[group.degree];
      groups += 1;
      work += group.time_ms * group.degree;
    }
  }
  std::string text;
  const double all = plan.objective_ms * instance.cluster.devices;
  for (const auto& [degree, sums] : degrees) {
    text += (text.empty() ? "" : "; ") + grouped(degree) + ": " + grouped(sums.first) +
            (sums.first == 1 ? " group, " : " groups, ") +
            percent_text(all > 0 ? sums.second / all : 0) + " of rank time";
  }
  return {{"micro-batches", grouped(part_count_of(plan))},
          {"groups by degree", text.empty() ? "none" : text},
          {"idle", percent_text(idle_share(instance, plan)) + " of rank time"}};
}

std::string method_list_of(Scatter) {
  // Degree 1 stands for every degree: a homogeneous method is listed for each of an instance's.
  const ScatterInstance any{.cluster = {.devices = 1, .degrees = {1}}};
  std::vector<std::string> names = method_names(any);
  for (std::string& name : names) {
    if (name.ends_with("-1")) name.replace(name.size() - 1, 1, "DEGREE");
  }
  return comma_list(names);
}

std::vector<NamedBound> closed_form_bounds_of(const ScatterInstance& instance) {
  if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) return {};
  return scatter_bounds(ScatterTable(instance));
}

std::optional<NamedBound> tried_again_of(const ScatterInstance& instance, double claimed) {
  const std::optional<Ms> least = least_objective(instance, claimed);
  if (!least) return std::nullopt;
  return NamedBound{"subsets", *least};
}

std::vector<std::string> infeasibility_of(const ScatterInstance& instance,
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
    std::string line = "sequence " + grouped(unplaceable[i]) + " has " + counted(length, "token");
    if (padded != length) line += " (" + grouped(padded) + " after padding)";
    lines.push_back(line + ", the largest group holds " + grouped(capacity) + " (degree " +
                    std::to_string(degree) + ')');
  }
  if (unplaceable.size() > kListedSequences) {
    const auto more = static_cast<std::int64_t>(unplaceable.size() - kListedSequences);
    lines.push_back("and " + counted(more, "more sequence"));
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

}  // namespace stowage
