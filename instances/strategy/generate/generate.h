// Makes strategy instances from the table of published shapes, for tests, examples and benchmarks.
//
//   Result<StrategyInstance> wanted =
//       generate_strategy({.model = "llama-7b", .nodes = 8}, std::vector<Tokens>(256, 8192));
//
// The cluster consists of nodes of a machine of instances/model/machine.h. The degrees to choose
// from are powers of two. The same parameters give the same instance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/instance.h"

namespace stowage {

struct StrategyGenerator {
  std::string model = "llama-7b";     // one of transformer_names()
  std::int64_t nodes = 8;             // 1 to 10^5; 10^6 devices in all
  std::int64_t devices_per_node = 8;  // 1 to 1024; 72 in racks of GB200
  // One of machine_names(). Empty: A100 of 80 GB; with version 1 the defaults of the format.
  std::string machine;
  // One of stack_names() that has published steps on the machine. Empty: rates are assumed.
  std::string stack;
  // One of strategy_trainers(): options that it refuses are removed. Empty: pipelines have ZeRO 1.
  std::string trainer;
  // Version of the formulas and of their defaults, 1 to 4. Versions 3 and 4 have the formulas of
  // version 2. Version 3 has memory numbers that refuse fewer of the published steps that ran.
  // Version 4 also has a longer time for a message between nodes and hides less of the exchange of
  // once a step; so does version 2 or 3 with a stack, whose factors are on these numbers.
  std::int64_t formulas = 4;
  // Of a device; 1 to 2^40. Without a value: the machine's; with version 1 and no machine 73728.
  std::optional<std::int64_t> memory_mib;
  // Of StrategyOptions::cp_exchange; at most 32 values.
  std::vector<StrategyExchange> cp_exchange = {StrategyExchange::all_to_all};
  // Of StrategyOptions::shard: ranks that share states, each 0 to 10^6; at most 32 values.
  std::vector<std::int64_t> shard = {0};
  // MiB of activations that leave a device for its host in a millisecond, and that come back; above
  // 0 to 10^9. No value: none leave.
  std::optional<double> offload_mib_per_ms;
  std::int64_t most_stream_chunks = 1;  // powers of two up to it; 1 to 1024
  std::string name;                     // empty: made from the others

  bool operator==(const StrategyGenerator&) const = default;
};

// Returns the instance. E501 for an unknown model, machine or stack and for a model that strategies
// do not support. E504 for a number out of its range, for missing lengths, and for a stack with
// version 1 of the formulas. E388 for an option of which the trainer accepts no value.
Result<StrategyInstance> generate_strategy(const StrategyGenerator& generator,
                                           std::vector<Tokens> lengths);

}  // namespace stowage
