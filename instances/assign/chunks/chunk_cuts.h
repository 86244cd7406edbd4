// The cut points of a sequence of more than a chunk's tokens, if the rule leaves them open.
//
//   const ChunkCuts cuts(rule, instance.pad_multiple, scheme);
//   const SequenceCut cut = cuts.alone(200'000);     // by rule.boundaries
//   cuts.within(200'000, 50, 16)  // no part takes more than 50 ms
//
// A part takes the time of its tokens, which attend to all tokens before them. It takes a third
// more if it goes forward twice (chunk_flow.h). Of parts of one size the later ones are slower.
// There are three ways:
//
//   fixed         parts of the rule's size, the last one shorter (ChunkFlow, arXiv 2503.02356)
//   equal_time    no more parts, and the longest part is least (Qwen2.5-1M, 2501.15383)
//   least_bubble  sum + (pp - 1) longest is least (TeraPipe, arXiv 2102.07988), with up to
//                 most_parts() parts
//
// For a given longest time the parts are found greedily. The last `retained` parts are as long as
// they may be, which leaves the fewest tokens to go forward twice. These tokens go into as few
// parts as possible. No other cut has a smaller sum. The least longest time for a number of parts
// follows by bisection.
//
// Thread safety: does not change after its construction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/instance.h"
#include "instances/units.h"

namespace stowage {

struct SequenceCut {
  std::vector<Tokens> ends;  // of the parts; the last one is the length
  CutCost cost;

  Ms alone(int stages) const { return cost.sum + (stages - 1) * cost.longest; }
};

class ChunkCuts {
 public:
  // Cuts are at multiples of `pad_multiple` if the rule's size is a multiple of it, otherwise
  // anywhere.
  // `rule` and `scheme` must outlive this.
  ChunkCuts(const ChunkRule& rule, Tokens pad_multiple, const Scheme& scheme);

  // All functions require length > rule.size; times are in ms.

  // Returns the better of the rule's way and parts of one size, for a replica with no other rows. A
  // sequence of more than a thousand parts gets parts of one size.
  SequenceCut alone(Tokens length) const;
  SequenceCut fixed(Tokens length) const;
  // Returns the cut with the least sum among all cuts into at most `most_parts` parts, of which
  // none takes more than `most` ms; nullopt if there is no such cut.
  std::optional<SequenceCut> within(Tokens length, Ms most, std::int64_t most_parts) const;
  // Returns the cut with the least longest part among all cuts into at most `most_parts` parts, to
  // 1e-12 of it.
  std::optional<SequenceCut> level(Tokens length, std::int64_t most_parts) const;
  // Returns longest times that are worth trying, ascending. For a short sequence these are all.
  // Otherwise they are the times at which the number of parts changes, for some numbers. Between
  // two of them the sum falls linearly with the longest time, but for the rounding to tokens.
  std::vector<Ms> thresholds(Tokens length) const;

 private:
  Ms once(Tokens begin, Tokens end) const;
  Ms twice(Tokens begin, Tokens end) const;
  Tokens earliest(Tokens end, Ms most) const;              // begin of a last part
  Tokens latest(Tokens begin, Tokens end, Ms most) const;  // end of a part that goes twice
  SequenceCut priced(std::vector<Tokens> ends) const;

  const ChunkRule& rule_;
  const Scheme& scheme_;
  Tokens unit_;
};

// Cuts of all sequences that one replica holds.
//
// Thread safety: caches its results; one thread at a time.
class ReplicaCuts {
 public:
  ReplicaCuts(const ChunkRule& rule, Tokens pad_multiple, const Scheme& scheme);

  // Returns the cut of each length by the rule, for `counts` sequences of each length and other
  // rows of at most `longest` ms. The replica is no slower than with parts of one size, or with
  // each sequence cut as it is alone.
  std::map<Tokens, SequenceCut> of(const std::map<Tokens, std::int64_t>& counts, Ms longest);

 private:
  struct Known {
    SequenceCut fixed;
    SequenceCut alone;
    std::vector<Ms> thresholds;  // empty: the sequence is cut as it is alone
  };
  const Known& known(Tokens length);

  const ChunkRule& rule_;
  const Scheme& scheme_;
  ChunkCuts cuts_;
  std::map<Tokens, Known> known_;
};

}  // namespace stowage
