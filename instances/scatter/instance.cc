#include "instances/scatter/instance.h"

namespace stowage {

std::vector<Tokens> padded_lengths(const ScatterInstance& instance) {
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(padded_length(instance, length));
  return padded;
}

}  // namespace stowage
