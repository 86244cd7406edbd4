#include "kernels/run/notes.h"

#include <algorithm>

namespace stowage::kernels {
namespace {

// Says which kinds of layers were executed; empty where no layer has a window.
std::string window_note(const ScaledPlan& plan) {
  const std::string window =
      "windows of " + std::to_string(plan.layers.back().window) + " tokens after scaling";
  if (plan.layers.back().window == 0) return "";
  if (plan.layers.size() == 1) return "every layer has " + window;
  return "layers with " + window +
         " and layers without were executed; times and losses are their "
         "means by the share of each kind";
}

}  // namespace

void add_notes(const ScaledPlan& plan, int blocks, std::vector<std::string>& notes) {
  if (std::string note = window_note(plan); !note.empty()) notes.push_back(std::move(note));
  if (std::ranges::any_of(plan.batches,
                          [](const ScaledBatch& batch) { return batch.offload.has_value(); })) {
    notes.push_back("groups that offload also ran through stacks of " + std::to_string(blocks) +
                    " blocks on one rank, with copies in proportion to the plan's");
  }
}

}  // namespace stowage::kernels
