// The time model of a group, which formulations, bounds and heuristics share.
//
// Without an `exchange` of several kinds a group takes
//
//   t(S, d) = fixed_ms + latency_d + sum over s in S of c(s, d)
//   c(s, d) = a(s) / d + linear_ms s / d + split(s, d) + sequence_fixed_ms + all_to_all(s, d)
//   a(s) = quadratic_ms (r^2 - share max(0, r - window)^2), r = s rounded up to tile_tokens
//   split(s, d) = split_ms s (1 - 1/d)
//   all_to_all(s, 1) = 0;  all_to_all(s, d) = mib_per_token s / (d v_d)
//
// With an `exchange` a group takes the larger of two sums, so that compute may hide transfers:
//
//   t(S, d, kind) = fixed_ms + latency + max(sum of compute(s), sum of transfer(s))
//   w(s) = a(s) / d + linear_ms s / d + split(s, d) + sequence_fixed_ms
//
//   kind        compute(s)           transfer(s)                                    messages
//   none        w                    w                                              none
//   all_to_all  w + (1 - overlap) x  (1 - overlap) w + x,                           1
//                                      x = q (d - 1) / d s / d / v
//   all_gather  the same with x = k (d - 1) s / d / v                               1
//   ring        w                    w - (d - 1) a / d^2 + (d - 1) k s / d / v      d - 1
//   two_level   w + y                w + y - (r - 1) a / (r d) + (r - 1) k s / d / v_across,
//                                      y = q (n - 1) / n s / d / v_inside           1 and r - 1
//
// q is all_to_all_mib_per_token, of d devices or in two levels of n if it is given by devices, and
// k keys_values_mib_per_token. v is the bandwidth inside a node, or across nodes if a group of the
// degree may cross them, and the latency of a message likewise. two_level has an all-to-all inside
// each of r = d / n nodes of n devices and a ring across them.
//
// A ring computes d blocks of a / d^2 each and sends keys and values d - 1 times; a round takes the
// longer of the two, and one block is left: a / d^2 + (d - 1) max(a / d^2, k s / d / v). Every
// sequence of a packed row is cut evenly over the ring, so that all rounds of a row are equal and
// the maximum is one of sums over the row. With an overlap o, x - o min(w, x) is not hidden:
// w + x - o min(w, x) = max(w + (1 - o) x, (1 - o) w + x).
//
// If the model lists recomputation modes, a group's form names one. Its factors multiply
// quadratic_ms with split_ms, linear_ms, and every mib_per_token (q and k).
//
// If groups compute their sequences one by one (rules.packed false), every sequence pays the
// overhead and the maximum. t(S, d) is then the sum over S of the times of the sequences alone, and
// the overhead of the group is 0.
//
// With a `table`, the time of a group is the entry of its degree's grid for the sum of its tokens
// and the sum of their squares (time_grid.h).
//
// With ModelMemory::offload, x MiB of activations leave each device of a group whose row has more
// tokens than memory holds, x = max(0, tokens - d C_0) m / d (table/group_form.h). W is the time
// above, f the forward_share. The group waits for copies that its passes do not hide:
//
//   t = W + max(0, x / out_mib_per_ms - f W) + max(0, x / in_mib_per_ms - (1 - f) W)
//
// Source: FlexSP (arXiv 2412.01523, section 4.2) for the first form; Ring Attention (arXiv
// 2310.01889) for the transfers that a ring hides. The verifier does not use this file: it computes
// times from the format document with code of its own.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

// The time in ms that sequences add to a group: `compute` if compute hides as much of the exchange
// as it can, and `transfer` if the exchange hides as much of compute as it can. A group takes the
// larger of the two.
//
// If the cost is a table, the two sums are tokens and squared lengths instead, and the time is
// looked up. With offload a group also waits for copies. group_ms() and ScatterTable::time() work
// for any instance.
struct Load {
  Ms compute = 0;
  Ms transfer = 0;
  // With offload: the tokens of the group beyond those that its memory holds with all activations;
  // negative as long as there is room. 0 without offload.
  double beyond = 0;

  Ms time() const { return std::max(compute, transfer); }
  Load& operator+=(const Load& more) {
    compute += more.compute;
    transfer += more.transfer;
    beyond += more.beyond;
    return *this;
  }
  Load& operator-=(const Load& less) {
    compute -= less.compute;
    transfer -= less.transfer;
    beyond -= less.beyond;
    return *this;
  }
  friend Load operator+(Load left, const Load& right) { return left += right; }
  friend Load operator-(Load left, const Load& right) { return left -= right; }
  bool operator==(const Load&) const = default;
};

// Returns the load that a sequence of `length` padded tokens adds to a group of this form. If the
// instance has `padding`, `length` is first padded for this form.
Load sequence_load(const ScatterInstance& instance, Tokens length, GroupForm form);

// Returns the load of the padding of a row whose sequences have `tokens` padded tokens together.
// Returns no load unless the instance pads rows.
Load row_padding_load(const ScatterInstance& instance, Tokens tokens, GroupForm form);

// Returns the load of a group without sequences: its overhead on both sides, or 0 with a table; and
// with offload, minus the tokens that memory holds.
Load empty_load(const ScatterInstance& instance, GroupForm form);

// Returns the time that a group waits for copies if its devices compute for `work` ms and `mib` MiB
// leave each of them for the host.
inline Ms offload_stall_ms(const ActivationOffload& offload, Ms work, Mib mib) {
  const Ms out = mib / offload.out_mib_per_ms - offload.forward_share * work;
  const Ms in = mib / offload.in_mib_per_ms - (1 - offload.forward_share) * work;
  return std::max(out, 0.0) + std::max(in, 0.0);
}

// Returns the time of a group with these sums, which include those of the empty group.
Ms group_ms(const ScatterInstance& instance, GroupForm form, const Load& load);

// Returns the time in ms of a group of these sequences, with the padding of their row and without
// the wait for copies. Requires ids of the instance.
Ms row_without_copies_ms(const ScatterInstance& instance, std::span<const std::int64_t> ids,
                         GroupForm form);

// Returns the time that the sequence adds to an empty group, without waiting for copies. Without a
// table and without offload, it adds at most this to any group.
Ms sequence_ms(const ScatterInstance& instance, Tokens length, GroupForm form);

// Returns the time in ms of the all-to-all of a row of `tokens` tokens on a group of this form,
// without the latency. Returns 0 if the group has no all-to-all.
Ms all_to_all_ms(const ScatterInstance& instance, Tokens tokens, GroupForm form);

// Returns the time of a group of this form before its first sequence, in ms: fixed_ms and the
// latencies. Returns 0 if every sequence pays this time.
Ms group_overhead_ms(const ScatterInstance& instance, GroupForm form);

}  // namespace stowage
