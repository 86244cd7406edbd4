#include "solvers/scatter/assign_sequence_ids.h"

#include <algorithm>

namespace stowage {

std::vector<MicroBatchChoice> deal(const std::vector<ClassGroup>& groups,
                                   const std::vector<std::vector<std::int64_t>>& ids_of_class) {
  std::vector<MicroBatchChoice> batches;
  std::vector<std::size_t> dealt(ids_of_class.size(), 0);
  for (const ClassGroup& group : groups) {
    const auto slot = static_cast<std::size_t>(group.slot);
    batches.resize(std::max(batches.size(), slot + 1));
    GroupChoice choice{.degree = group.degree,
                       .exchange = group.exchange,
                       .recomputation = group.recomputation,
                       .place = group.place};
    for (std::size_t q = 0; q < ids_of_class.size(); ++q) {
      for (int n = 0; n < group.counts[q]; ++n) {
        choice.sequences.push_back(ids_of_class[q].at(dealt[q]++));
      }
    }
    batches[slot].push_back(std::move(choice));
  }
  return batches;
}

}  // namespace stowage
