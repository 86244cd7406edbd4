#include "instances/order/generate/generate.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/generate/graph_builder.h"
#include "instances/order/generate/layered.h"
#include "instances/order/generate/network.h"
#include "instances/order/generate/transformer.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/validate.h"

namespace stowage {
namespace {

using Kind = OrderGenerator::Kind;

constexpr int kExperts = 8;
constexpr Bytes kMaxUnits = 100;  // largest size of a random tensor
constexpr Bytes kUnit = Bytes{1} << 20;

// Returns two layers, each operator cut along the tokens. The attention of a chunk reads the keys
// and values of this chunk and of all chunks before it.
OrderInstance chunked_graph(const OrderGenerator& generator) {
  constexpr std::int64_t kLayers = 2;
  constexpr std::int64_t kOperators = 8;  // operators of one layer and chunk
  const std::int64_t chunks =
      std::max<std::int64_t>(1, generator.operators / (kLayers * kOperators));
  const Bytes wide = std::max<Bytes>(1, kBytesPerNumber * kHidden * generator.tokens / chunks);
  GraphBuilder graph;
  std::vector<int> x;
  for (std::int64_t c = 0; c < chunks; ++c) x.push_back(graph.input(numbered("x", c), wide));
  for (std::int64_t l = 0; l < kLayers; ++l) {
    const auto each = [&](const char* name, Bytes size, auto reads) {
      std::vector<int> made;
      for (std::int64_t c = 0; c < chunks; ++c) {
        const std::string op = std::to_string(l) + '.' + name + '.' + std::to_string(c);
        made.push_back(graph.run(op, reads(at(c)), op + ".y", size));
      }
      return made;
    };
    const auto of = [](const std::vector<int>& tensors) {
      return [&tensors](std::size_t c) { return std::vector<int>{tensors[c]}; };
    };
    const auto sum_of = [](const std::vector<int>& a, const std::vector<int>& b) {
      return [&a, &b](std::size_t c) { return std::vector<int>{a[c], b[c]}; };
    };
    const Bytes inner = wide / kHidden * kFeedForward;
    const std::vector<int> normed = each("norm", wide, of(x));
    const std::vector<int> query = each("query", wide, of(normed));
    const std::vector<int> keys = each("keys-values", 2 * wide, of(normed));
    const std::vector<int> attended = each("attention", wide, [&](std::size_t c) {
      std::vector<int> reads = {query[c]};
      for (std::size_t before = 0; before <= c; ++before) reads.push_back(keys[before]);
      return reads;
    });
    const std::vector<int> middle = each("projection", wide, sum_of(attended, x));
    const std::vector<int> up = each("up", 2 * inner, of(middle));
    const std::vector<int> product = each("product", inner, of(up));
    x = each("down", wide, sum_of(product, middle));
  }
  for (const int tensor : x) graph.mark_output(tensor);
  return std::move(graph).take();
}

// Returns the neighbours in a ring, where each edge gets another end at a chance of 3 in 4. Edges
// are directed from the lower to the higher number.
std::vector<std::vector<int>> small_world(int count, std::mt19937_64& random) {
  constexpr int kNeighbours = 4;
  std::vector<std::vector<bool>> joined(at(count), std::vector<bool>(at(count), false));
  for (int distance = 1; distance <= kNeighbours / 2; ++distance) {
    for (int a = 0; a < count; ++a) {
      int b = (a + distance) % count;
      if (draw(random, 4) < 3) {
        const int other = static_cast<int>(draw(random, static_cast<std::uint64_t>(count)));
        if (other != a && !joined[at(a)][at(other)]) b = other;
      }
      joined[at(a)][at(b)] = joined[at(b)][at(a)] = true;
    }
  }
  std::vector<std::vector<int>> before(at(count));
  for (int b = 0; b < count; ++b) {
    for (int a = 0; a < b; ++a) {
      if (joined[at(a)][at(b)]) before[at(b)].push_back(a);
    }
  }
  return before;
}

OrderInstance randwire_graph(const OrderGenerator& generator) {
  constexpr int kNodes = 32;
  std::mt19937_64 random(generator.seed);
  const std::int64_t stages = std::max<std::int64_t>(1, generator.operators / (kNodes + 1));
  GraphBuilder graph;
  int x = graph.input("x", kMaxUnits * kUnit);
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    // Each stage halves the picture and doubles the channels, so it halves the bytes, down to an
    // eighth.
    const Bytes size = kMaxUnits * kUnit >> std::min<std::int64_t>(stage, 3);
    const std::vector<std::vector<int>> before = small_world(kNodes, random);
    std::vector<int> made;
    std::vector<bool> read(kNodes, false);
    for (int node = 0; node < kNodes; ++node) {
      std::vector<int> reads;
      for (const int a : before[at(node)]) {
        reads.push_back(made[at(a)]);
        read[at(a)] = true;
      }
      if (reads.empty()) reads.push_back(x);
      const std::string op = std::to_string(stage) + '.' + std::to_string(node);
      made.push_back(graph.run(op, reads, op + ".y", size));
    }
    std::vector<int> ends;
    for (int node = 0; node < kNodes; ++node) {
      if (!read[at(node)]) ends.push_back(made[at(node)]);
    }
    x = graph.run(numbered("mean", stage), ends, numbered("mean.y", stage), size);
  }
  graph.mark_output(x);
  return std::move(graph).take();
}

OrderInstance graph_of(const OrderGenerator& generator) {
  switch (generator.kind) {
    case Kind::chunked:
      return chunked_graph(generator);
    case Kind::randwire:
      return randwire_graph(generator);
    case Kind::layered:
      return layered_graph(generator.operators, generator.seed);
    case Kind::layered_local:
      return local_layers_graph(generator.operators, generator.seed);
    case Kind::vgg:
      return vgg_graph(generator.operators);
    case Kind::unet:
      return unet_graph(generator.operators);
    default:
      return transformer_graph(
          {.recompute = generator.kind == Kind::recompute || generator.kind == Kind::accumulate,
           .accumulate = generator.kind == Kind::accumulate,
           .experts = generator.kind == Kind::experts ? kExperts : 1,
           .operators = generator.operators,
           .tokens = generator.tokens});
  }
}

bool has_tokens(const OrderGenerator& generator) {
  switch (generator.kind) {
    case Kind::randwire:
    case Kind::layered:
    case Kind::layered_local:
    case Kind::vgg:
    case Kind::unet:
      return false;
    default:
      return true;
  }
}

// Returns a graph whose sizes grow between two lengths. Both lengths divide `kLength`, so that all
// sizes are whole numbers.
OrderInstance growing_graph(OrderGenerator generator) {
  constexpr Tokens kLength = Tokens{1} << 20;
  const LengthRange range{generator.tokens_from, generator.tokens};
  generator.tokens = kLength;
  OrderInstance graph = graph_of(generator);
  generator.tokens = 2 * kLength;
  const OrderInstance twice = graph_of(generator);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    OrderTensor& tensor = graph.tensors[t];
    tensor.size_per_token = (twice.tensors[t].size - tensor.size + kLength - 1) / kLength;
    tensor.size = std::max<Bytes>(0, tensor.size - tensor.size_per_token * kLength);
  }
  graph.tokens = range;
  return graph;
}

void check_tokens_from(const OrderGenerator& generator, ErrorList& errors) {
  const Tokens from = generator.tokens_from;
  if (from == 0 || (has_tokens(generator) && from > 0 && from <= generator.tokens)) return;
  errors.add(
      code::kGenerator, "/tokens_from",
      (has_tokens(generator) ? "must be from 1 to the tokens, " + std::to_string(generator.tokens)
                             : std::string("must be 0 where no size depends on tokens")) +
          ", is " + std::to_string(from));
}

void check_share(const OrderGenerator& generator, ErrorList& errors) {
  const double share = generator.capacity_share;
  if (share == 0) return;
  const bool network = generator.kind == Kind::vgg || generator.kind == Kind::unet;
  if (network && share > 0 && share <= 1) return;
  errors.add(code::kGenerator, "/capacity_share",
             network ? "must be above 0 and at most 1, is " + shortest(share)
                     : "must be 0 where no operator may run again, is " + shortest(share));
}

void check_host(const OrderGenerator& generator, ErrorList& errors) {
  const double rate = generator.host_bytes_per_ms;
  const bool network = generator.kind == Kind::vgg || generator.kind == Kind::unet;
  const bool known = rate == 0 || (network && rate > 0 && rate <= static_cast<double>(kMaxExact));
  if (!known) {
    errors.add(code::kGenerator, "/host_bytes_per_ms",
               network ? "must be above 0 and at most 2^53, is " + shortest(rate)
                       : "must be 0 where operators take no time, is " + shortest(rate));
  }
  if (!generator.host_capacity) return;
  if (rate == 0) {
    errors.add(code::kGenerator, "/host_capacity",
               "must be left out without host_bytes_per_ms, is " +
                   std::to_string(*generator.host_capacity));
    return;
  }
  check_option("/host_capacity", *generator.host_capacity, 0, kMaxExact, errors);
}

}  // namespace

void add_host(double bytes_per_ms, std::optional<Bytes> capacity, OrderInstance& instance) {
  instance.host = {
      .out_bytes_per_ms = bytes_per_ms, .in_bytes_per_ms = bytes_per_ms, .capacity = capacity};
  instance.name += "-host" + shortest(bytes_per_ms);
}

void limit_time(double share, OrderInstance& instance) {
  const OrderTable table(instance);
  const Bytes peak = peak_of(table, table.program_order());
  instance.objective = OrderObjective::time;
  instance.capacity = static_cast<Bytes>(share * static_cast<double>(peak));
  instance.name += "-" + shortest(share);
}

Result<OrderInstance> generate_order(const OrderGenerator& generator) {
  ErrorList errors;
  check_option("/operators", generator.operators, 1, kMaxOperators, errors);
  check_option("/tokens", generator.tokens, 1, Tokens{1} << 24, errors);
  check_option("/alignment", generator.alignment, 1, Bytes{1} << 20, errors);
  check_seed(generator.seed, errors);
  check_share(generator, errors);
  check_host(generator, errors);
  check_tokens_from(generator, errors);
  if (!errors.empty()) return std::move(errors).take();
  OrderInstance instance =
      generator.tokens_from > 0 ? growing_graph(generator) : graph_of(generator);
  instance.alignment = generator.alignment;
  instance.name = std::string(OrderGenerator::kNames[static_cast<std::size_t>(generator.kind)]) +
                  '-' + std::to_string(instance.operators.size());
  const bool drawn = generator.kind == Kind::randwire || generator.kind == Kind::layered ||
                     generator.kind == Kind::layered_local;
  const bool network = generator.kind == Kind::vgg || generator.kind == Kind::unet;
  if (!network) {
    instance.name += drawn ? "-seed" + std::to_string(generator.seed)
                           : '-' +
                                 (instance.tokens ? std::to_string(instance.tokens->from) + '-'
                                                  : std::string()) +
                                 std::to_string(generator.tokens) + "tok";
  }
  check_order(instance, errors);
  if (!errors.empty()) return std::move(errors).take();
  if (generator.capacity_share > 0) limit_time(generator.capacity_share, instance);
  if (generator.host_bytes_per_ms > 0) {
    add_host(generator.host_bytes_per_ms, generator.host_capacity, instance);
  }
  return instance;
}

}  // namespace stowage
