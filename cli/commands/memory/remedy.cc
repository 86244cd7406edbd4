#include "cli/commands/memory/remedy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// Rounds up for reading: three decimals.
double rounded_up(Mib per_token) {
  constexpr double kStep = 1000;
  return std::ceil(per_token * kStep) / kStep;
}

// Returns, for instance, ", with which 2 sequences fit no group", or an empty string if every
// sequence fits a group.
std::string left_over(ScatterInstance instance, Mib per_token) {
  instance.model.activation_mib_per_token = per_token;
  const auto none = static_cast<std::int64_t>(unplaceable_sequences(instance).size());
  if (none == 0) return "";
  return ", with which " + grouped(none) + (none == 1 ? " sequence fits" : " sequences fit") +
         " no group";
}

std::string recompute_remedy(Recompute now, const FitOf& fit_of) {
  std::string maybe;
  for (const auto& [recompute, name] :
       {std::pair{Recompute::selective, "selective"}, std::pair{Recompute::full, "full"}}) {
    if (recompute <= now) continue;
    const Fit fit = fit_of(recompute);
    if (fit == Fit::yes) return std::string(", or train with --recompute ") + name + ", which fits";
    if (fit == Fit::unknown) maybe = std::string(", or try --recompute ") + name;
  }
  if (!maybe.empty() || now == Recompute::full) return maybe;
  return "; with --recompute full it does not fit either";
}

}  // namespace

std::string memory_remedy(const ScatterInstance& instance, Recompute now,
                          const std::vector<GroupMemory>& groups, const FitOf& fit_of) {
  if (!instance.model.recomputation.empty()) {
    return "solve again with more activation_mib_per_token in model.recomputation: token_model_mib "
           "is what that counts, peak_mib what layouts need";
  }
  const Mib counted = instance.model.activation_mib_per_token;
  Mib least = counted;
  Mib enough = counted;
  for (const GroupMemory& group : groups) {
    const auto tokens = static_cast<double>(group.tokens_per_rank);
    least = std::max(least, to_mib(group.bound_bytes) / tokens);
    enough = std::max(enough, to_mib(group.peak_bytes) / tokens);
  }
  least = rounded_up(least);
  enough = rounded_up(enough);
  const std::string now_text = "now " + shortest(counted) + ')';
  std::string text = "solve again with activation_mib_per_token ";
  if (least < enough) {
    // The peak of such a layout may be far above the optimum.
    text += "between " + shortest(least) + " (no layout needs less) and " + shortest(enough) +
            " (of layouts not searched to their end; " + now_text;
  } else {
    text += shortest(least) + " (" + now_text;
  }
  return text + left_over(instance, least) + recompute_remedy(now, fit_of);
}

}  // namespace stowage
