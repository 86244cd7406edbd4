// The order instance: operators that read and write tensors, to be run one after another.
//
// A tensor needs memory from the operator that writes it, or from the start if it is an input, to
// the last operator that reads or updates it, or to the end if it is an output. While an operator
// runs, what is live before it, its outputs and its workspace need memory together. Operators with
// `recompute` may run more than once: each run makes its outputs anew, so that they need no memory
// between their last touch before it and the run. The peak over all steps, or the time of all runs
// within a capacity, is minimised by choosing who runs when. Sizes may grow with a length that is
// known at run time only: bytes, and bytes for each token. With a `host` a plan may move tensors to
// its memory and back while operators run. The file format is in instances/order/README.md. Sources
// of the problem: Sethi 1975 (complete register allocation), Liu 1987 (trees), OLLA (arXiv
// 2210.12924), ROAM (2310.19295); with recomputation: Checkmate (1910.02653), Moccasin
// (2304.14463); lengths known at run time: BladeDISC++ (2412.16985); transfers: MEMO (2407.12117).
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
  // For each token of the length, beside `size`; >= 0, and 0 where the instance has no range.
  Bytes size_per_token = 0;

  bool operator==(const OrderTensor&) const = default;
};

// The lists hold indices of tensors; a tensor that stands twice in one counts once.
struct OrderOperator {
  std::string id;                    // unique; empty means its index
  std::vector<std::int64_t> reads;   // tensors
  std::vector<std::int64_t> writes;  // tensors; no other operator writes them
  // Tensors that it changes in place. Operators before it in the list see the old contents and run
  // before it; operators after it see the new ones and run after it.
  std::vector<std::int64_t> updates;
  Bytes workspace = 0;              // needed while it runs, and by nobody else
  std::vector<std::int64_t> after;  // operators that must run before it for another reason
  Ms ms = 0;                        // one run of it takes so long; >= 0
  bool recompute = false;           // it may run more than once; it updates nothing
  Bytes workspace_per_token = 0;    // as of a tensor

  bool operator==(const OrderOperator&) const = default;
};

// The training step that the kernels run and whose operators these are
// (kernels/memory/recorded_order.h). It changes no rule.
struct RecordedStep {
  RecordedBlock block;
  Tokens chunk_tokens = 0;  // longer sequences are cut into chunks of so many; 0: none is

  bool operator==(const RecordedStep&) const = default;
};

// The lengths that may come at run time, both ends included.
struct LengthRange {
  Tokens from = 1;  // >= 1
  Tokens to = 1;    // >= from

  bool operator==(const LengthRange&) const = default;
};

// The memory of the host and the way there: one transfer out and one in at a time, each channel in
// the order of the plan.
struct HostLink {
  double out_bytes_per_ms = 1;    // > 0
  double in_bytes_per_ms = 1;     // > 0
  std::optional<Bytes> capacity;  // of the host's memory; none: no limit

  bool operator==(const HostLink&) const = default;
};

// What is to be least: the peak, or the time of all runs within the capacity.
enum class OrderObjective { peak, time };

struct OrderInstance {
  std::string name;
  std::optional<Bytes> capacity;  // no step may need more
  Bytes alignment = 1;            // sizes and workspaces count rounded up to a multiple of it
  OrderObjective objective = OrderObjective::peak;
  std::vector<OrderTensor> tensors;
  std::vector<OrderOperator> operators;
  std::optional<RecordedStep> recorded_from;
  // Sizes grow with the length; a plan then has an order for every length. Objective peak alone.
  std::optional<LengthRange> tokens;
  // Where tensors may be meanwhile. Not with `tokens`.
  std::optional<HostLink> host;

  bool operator==(const OrderInstance&) const = default;
};

}  // namespace stowage
