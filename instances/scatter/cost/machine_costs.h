// The memory and cost of a published model on a machine, computed from shapes and data sheets.
// Users need them until they measure their own cluster.
//
// The symbols are: L layers of width h, queries of width q, keys and values of width k each,
// feed-forward width f, vocabulary V, and P parameters, A of them active, on N devices under
// ZeRO-3.
//
//   states       16 P / N bytes
//   activations  (8 h + 4 q + 4 k + 6 f) L bytes a token: the tensors that
//   instances/model/operations.h
//                 keeps without recomputation; 4 f without a gate; with a active experts (6 f + 4
//                 h) a
//                 instead of 6 f, as each copy of a token is gathered and given back
//   logits       8 V bytes a token, for a chunk of tokens at a time
//   linear       6 (layers of A, and h V) flop a token
//   quadratic    7 q L flop a token squared: half of the square forward, 2.5 times that backward
//                (FlashAttention-2, arXiv 2307.08691)
//   fixed        6 P (1 - 1/N) bytes over the slowest link, less the hidden part
//   exchange     a token of an all-to-all 8 (q + k) L bytes, forward and backward; of a ring 12 k L
//   split        640 times quadratic, in version 2 of the formulas: the published attention kernels
//                of H100s lose as much as 640 tokens more of the sequence take
//
// Version 2 has the latencies and bandwidths of published collectives besides.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>

#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/scatter/instance.h"

namespace stowage {

ModelMemory machine_memory(const TransformerShape& shape, int devices);

// Returns the cost, with an exchange that has no kinds yet. `formulas` is 1 or 2.
ScatterCost machine_cost(const TransformerShape& shape, const Machine& machine, int devices,
                         std::int64_t formulas = 2);

// Sets one kind for each degree above 1 of the cluster: an all-to-all if the degree divides the
// heads, two levels if an all-to-all inside nodes does, otherwise a ring. Requires
// `cost.exchange`.
void set_exchange_kinds(ScatterInstance& instance, int heads);

// Gives the all-to-alls of an instance with kinds their volumes by devices, if one has more devices
// than the model has key and value heads: each head is then sent to devices / heads of them.
// Version 3 of the formulas has this. Source: DeepSpeed-Ulysses as verl and TRL use it (repeat_kv).
void set_volumes_by_devices(ScatterInstance& instance, const TransformerShape& shape);

}  // namespace stowage
