// The order instance: operators that read and write tensors, to be run one after another.
//
// A tensor needs memory from the operator that writes it (from the start if it is an input) to the
// last operator that reads or updates it (to the end if it is an output). A step needs the memory
// that is live before its operator, the operator's outputs and its workspace. Operators with
// `recompute` may run more than once. Each run makes its outputs anew, so that they need no memory
// between their last touch before the run and the run. The operators are ordered so that the peak
// over all steps is least, or the time of all runs within a capacity. Sizes may grow with a length
// that is known at run time only: bytes, and bytes per token. With a `host`, a plan may move
// tensors to the host's memory and back while operators run. With `in_place`, an operator may write
// a tensor into the memory of one that it is the last to read. The file format is in
// docs/reference/order.md. Sources of the problem: Sethi 1975 (complete register allocation), Liu
// 1987 (trees), OLLA (arXiv 2210.12924), ROAM (2310.19295); with recomputation: Checkmate
// (1910.02653), Moccasin (2304.14463); lengths known at run time: BladeDISC++ (2412.16985);
// transfers: MEMO (2407.12117).
//
//   OrderInstance graph{.name = "two",
//                       .tensors = {{.id = "x", .size = 64, .input = true},
//                                   {.id = "a", .size = 32},
//                                   {.id = "b", .size = 8, .output = true}},
//                       .operators = {{.id = "f", .reads = {0}, .writes = {1}},
//                                     {.id = "g", .reads = {1}, .writes = {2}}}};
//   // the only order, f and g, has a peak of 96 bytes: x and a
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/model/recorded_block.h"
#include "instances/units.h"

namespace stowage {

struct OrderTensor {
  std::string id;       // unique; empty means its index
  Bytes size = 0;       // >= 0
  bool input = false;   // needs memory from the start; no operator writes it
  bool output = false;  // needs memory to the end
  // Bytes per token of the length, beside `size`; >= 0, and 0 if the instance has no range.
  Bytes size_per_token = 0;

  bool operator==(const OrderTensor&) const = default;
};

// The lists hold indices of tensors. A tensor that stands twice in a list counts once.
struct OrderOperator {
  std::string id;                    // unique; empty means its index
  std::vector<std::int64_t> reads;   // tensors
  std::vector<std::int64_t> writes;  // tensors; no other operator writes them
  // Tensors that the operator changes in place. Operators before it in the list see the old
  // contents and run before it. Operators after it see the new contents and run after it.
  std::vector<std::int64_t> updates;
  Bytes workspace = 0;              // bytes that only this operator needs, while it runs
  std::vector<std::int64_t> after;  // operators that must run before it for other reasons
  Ms ms = 0;                        // time of one run; >= 0
  bool recompute = false;           // it may run more than once; then it must not update tensors
  Bytes workspace_per_token = 0;    // bytes per token of the length, as for a tensor
  // Tensors that it reads and whose memory a tensor that it writes may take. One written tensor
  // takes the memory of at most one tensor here, of the same size rounded up, if no operator
  // touches that tensor later. Only with objective peak, where every operator runs once.
  std::vector<std::int64_t> in_place;

  bool operator==(const OrderOperator&) const = default;
};

// The training step that the kernels run with these operators (kernels/memory/recorded_order.h). It
// changes no rule.
struct RecordedStep {
  RecordedBlock block;
  Tokens chunk_tokens =
      0;  // longer sequences are cut into chunks of this size; 0: no sequence is cut

  bool operator==(const RecordedStep&) const = default;
};

// The lengths that may come at run time, both ends included.
struct LengthRange {
  Tokens from = 1;  // >= 1
  Tokens to = 1;    // >= from

  bool operator==(const LengthRange&) const = default;
};

// The memory of the host and the two channels to it. Each channel makes one transfer at a time, in
// the order of the plan.
struct HostLink {
  double out_bytes_per_ms = 1;    // > 0
  double in_bytes_per_ms = 1;     // > 0
  std::optional<Bytes> capacity;  // of the host's memory; no value: no limit

  bool operator==(const HostLink&) const = default;
};

// The objective: the peak, or the time of all runs within the capacity.
enum class OrderObjective { peak, time };

struct OrderInstance {
  std::string name;
  std::optional<Bytes> capacity;  // no step may need more memory
  Bytes alignment = 1;            // sizes and workspaces are rounded up to a multiple of it
  OrderObjective objective = OrderObjective::peak;
  std::vector<OrderTensor> tensors;
  std::vector<OrderOperator> operators;
  std::optional<RecordedStep> recorded_from;
  // With a range, sizes grow with the length, and a plan has an order for every length. Only with
  // objective peak.
  std::optional<LengthRange> tokens;
  // The host that tensors may be moved to meanwhile. Excludes `tokens`.
  std::optional<HostLink> host;

  bool operator==(const OrderInstance&) const = default;
};

}  // namespace stowage
