#include "instances/assign/memory.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

constexpr double kMibBytes = 1 << 20;
constexpr Mib kDeviceMib = 81252;    // of an A800 with 80 GB
constexpr Mib kContextMib = 5000;    // taken by libraries and communication
constexpr double kOptimizer = 0.75;  // alpha
constexpr Tokens kTokenUnit = 128;

// Returns the bytes of states per element of the embedding and the head: they lie on one stage, or
// on two.
double embedding_bytes(int stages) { return stages == 1 ? 32 : 16; }

// Returns the bytes of states on a device of a layout, before data-parallel ranks share them.
double layout_bytes(const ReplicaMemory& memory, int tp, int pp) {
  const double hidden = memory.hidden;
  const double blocks = memory.layers / static_cast<double>(pp) * hidden * hidden / tp;
  return blocks * memory.block + hidden * memory.vocabulary / tp * embedding_bytes(pp);
}

}  // namespace

Mib states_mib(const ReplicaMemory& memory, int tp, int pp) {
  const OptimizerLayout& os = memory.optimizer;
  return (layout_bytes(memory, os.tp, os.pp) * kOptimizer / os.dp +
          layout_bytes(memory, tp, pp) * (1 - kOptimizer)) /
         kMibBytes;
}

Tokens max_row_tokens(const ReplicaMemory& memory, int tp, int pp) {
  const Mib left = kDeviceMib - memory.reserve_mib - kContextMib - states_mib(memory, tp, pp);
  const auto activation = std::find_if(memory.activation.begin(), memory.activation.end(),
                                       [&](const TokenActivation& each) { return each.tp == tp; });
  const double token_bytes =
      static_cast<double>(memory.layers) * memory.hidden / tp * activation->bytes;
  if (left <= 0) return 0;
  return static_cast<Tokens>(std::floor(left * kMibBytes / token_bytes / kTokenUnit)) * kTokenUnit;
}

}  // namespace stowage
