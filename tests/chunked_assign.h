// Random assign steps whose rows are chunks, with plans that are valid but not good.
//
//   Draw draw(seed);
//   const AssignInstance step = chunked_assign(draw);
//   const AssignPlan plan = chunked_plan(step, draw);
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/json/json.h"
#include "instances/assign/plan_builder.h"
#include "tests/instances/draw.h"

namespace stowage {

struct ChunkedAssign {
  std::int64_t most_schemes = 3;
  std::int64_t most_replicas = 3;  // of one scheme
  std::int64_t most_sequences = 12;
  std::int64_t most_tokens = 120;  // of a sequence
  ChunkBoundaries boundaries = ChunkBoundaries::fixed;
};

// Every strategy admits every sequence. Chunks may be longer than all sequences, and K may exceed
// the number of a sequence's chunks.
inline AssignInstance chunked_assign(Draw& draw, const ChunkedAssign& options = {}) {
  AssignInstance instance{.name = "chunked"};
  instance.constraints.chunks = {.size = draw.coin() ? draw.whole(1, 12) : draw.whole(1, 150),
                                 .retained = static_cast<int>(draw.whole(1, 5)),
                                 .activation_bytes = draw.whole(4, 40),
                                 .key_value_bytes = draw.whole(1, 4),
                                 .boundaries = options.boundaries};
  const std::int64_t schemes = draw.whole(1, options.most_schemes);
  for (std::int64_t g = 0; g < schemes; ++g) {
    instance.schemes.push_back({.name = "g" + std::to_string(g),
                                .tp = static_cast<int>(draw.whole(1, 2)),
                                .pp = static_cast<int>(draw.whole(1, 4)),
                                .quadratic_ms = draw.coin() ? 0 : draw.real(0, 1e-2),
                                .linear_ms = draw.real(0.01, 1),
                                .fixed_ms = draw.coin() ? 0 : draw.real(0, 10),
                                .max_tokens = draw.whole(5, 60)});
  }
  Tokens longest = options.most_tokens;
  for (std::int64_t k = draw.whole(1, 2); k > 0; --k) {
    Strategy strategy{.name = "S" + std::to_string(k),
                      .replicas = std::vector<int>(instance.schemes.size())};
    strategy.replicas[draw.below(strategy.replicas.size())] = 1;
    int devices = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (draw.coin())
        strategy.replicas[g] = static_cast<int>(draw.whole(1, options.most_replicas));
      devices += strategy.replicas[g] * instance.schemes[g].tp * instance.schemes[g].pp;
    }
    instance.devices = std::max(instance.devices, devices);
    longest = std::min(longest, longest_allowed(instance, strategy));
    instance.strategies.push_back(std::move(strategy));
  }
  instance.pad_multiple = draw.coin() ? 1 : draw.whole(2, 4);
  const Tokens limit = longest / instance.pad_multiple * instance.pad_multiple;
  for (std::int64_t k = draw.whole(0, options.most_sequences); k > 0; --k) {
    instance.lengths.push_back(draw.whole(1, draw.coin() ? limit : std::max<Tokens>(1, limit / 5)));
  }
  return instance;
}

// Assigns the sequences in random order to a random replica that admits them; short sequences go
// into its last row or into a new row.
inline AssignPlan chunked_plan(const AssignInstance& instance, Draw& draw) {
  const std::size_t strategy = draw.below(instance.strategies.size());
  std::vector<ReplicaChoice> choices;
  for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
    for (int n = 0; n < instance.strategies[strategy].replicas[g]; ++n) {
      choices.push_back({.scheme = static_cast<int>(g)});
    }
  }
  std::vector<Tokens> filled(choices.size(), kMaxExact);  // tokens of the last row
  std::vector<std::int64_t> ids(instance.lengths.size());
  std::iota(ids.begin(), ids.end(), 0);
  draw.shuffle(ids);
  for (const std::int64_t id : ids) {
    const Tokens length = padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
    std::vector<std::size_t> admitting;
    for (std::size_t r = 0; r < choices.size(); ++r) {
      const Scheme& scheme = instance.schemes[static_cast<std::size_t>(choices[r].scheme)];
      if (length <= longest_sequence(instance, scheme)) admitting.push_back(r);
    }
    const std::size_t r = admitting[draw.below(admitting.size())];
    const Scheme& scheme = instance.schemes[static_cast<std::size_t>(choices[r].scheme)];
    const bool cut = length > instance.constraints.chunks->size;
    if (cut || filled[r] + length > row_cap(instance, scheme) || draw.below(5) == 0) {
      choices[r].rows.emplace_back();
      filled[r] = 0;
    }
    choices[r].rows.back().push_back(id);
    filled[r] = cut ? kMaxExact : filled[r] + length;
  }
  AssignPlan plan = compose_assign(instance, static_cast<int>(strategy), std::move(choices));
  plan.instance_hash = instance_hash(instance);
  return plan;
}

}  // namespace stowage
