// Finds a sequence of runs of least time within a capacity, repeated runs included, or proves that
// no sequence fits.
//
// A state is the set of operators that have run and the set of tensors in memory. A tensor that a
// later run may use stays until a run does not fit. Then the search branches over every minimal set
// of tensors to drop among those that the run does not touch. The remaining time has a lower bound:
// every operator that has not run must run, and so must the writer of each tensor that is needed
// and missing, with the writers of its inputs. The sum of these times orders the states (A*). The
// number of runs is not limited [OB7].
//
//   RerunSearch search(table);
//   const RerunSearch::Found found = search.run(capacity, kNoLimitMs, 10'000, budget);
//   if (found.end == RerunSearch::End::found) use(found.steps);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

class RerunSearch {
 public:
  static constexpr Ms kNoLimitMs = std::numeric_limits<Ms>::infinity();

  enum class End {
    found,      // steps take bound_ms; no sequence within the capacity takes less
    none,       // no sequence within the capacity takes less than below_ms
    exhausted,  // the limit on states or the budget is used up
  };
  struct Found {
    End end = End::exhausted;
    std::vector<int> steps;
    // lower bound on the time of any sequence within the capacity; infinite if no sequence fits
    Ms bound_ms = 0;
    // Set if a search without a time limit ends with `none`: every plan has a step that needs at
    // least this many bytes.
    Bytes least_overflow = 0;
    std::int64_t states = 0;
  };

  // `table` must outlive this object.
  explicit RerunSearch(const OrderTable& table);

  // Searches all sequences that take less than `below_ms`, and visits at most `most_states` states.
  // The result is deterministic unless the budget ends the search.
  Found run(Bytes capacity, Ms below_ms, std::int64_t most_states, const Budget& budget);

 private:
  using Word = std::uint64_t;

  struct Node {
    Ms spent = 0;
    Ms least = 0;  // lower bound on the total time: spent and the least remaining time
    int before = -1;
    int op = -1;          // run that led to this state; if yields, the pending run
    bool yields = false;  // tensors are being dropped for the pending run `op`
    int next = 0;         // first index in by_size_ of a tensor that may still be dropped
    int runs = 0;
  };
  struct Entry {
    Ms least;
    int runs;
    int node;
    bool operator<(const Entry& other) const {
      if (least != other.least) return least > other.least;
      if (runs != other.runs) return runs < other.runs;
      return node < other.node;
    }
  };

  const Word* set_of(int node) const { return &words_[static_cast<std::size_t>(node) * width_]; }
  static bool has(const Word* set, int i) {
    return (set[static_cast<std::size_t>(i) / 64] >> (static_cast<unsigned>(i) % 64) & 1U) != 0;
  }
  static void put(Word* set, int i, bool in) {
    Word& word = set[static_cast<std::size_t>(i) / 64];
    const Word bit = Word{1} << (static_cast<unsigned>(i) % 64);
    word = in ? word | bit : word & ~bit;
  }
  // Returns the bit of a tensor; the tensors' bits follow the operators' bits.
  int place(int tensor) const { return shift_ + tensor; }

  bool closed(const Word* set, int op) const;
  bool complete(const Word* set) const;
  Ms sweep(const Word* set);
  Bytes memory_of(const Word* set) const;
  void begin();
  void expand(int node);
  void try_run(int node, int op);
  void give_up(int node);
  void settle(int from, int op, const std::vector<Word>& during, Ms spent);
  void keep(const std::vector<Word>& set, Node node);
  std::size_t slot_of(const Word* set) const;
  void grow_slots();
  std::vector<int> steps_to(int node) const;

  const OrderTable& table_;
  int shift_ = 0;
  std::size_t width_ = 1;     // words of a set
  std::vector<int> by_size_;  // tensors, the largest first
  Bytes capacity_ = 0;
  Ms below_ms_ = 0;
  Bytes least_overflow_ = 0;
  std::vector<Word> words_;
  std::vector<Node> nodes_;
  std::vector<int> slots_;  // hash table of states by their sets
  std::size_t states_ = 0;
  std::vector<Entry> queue_;
  std::vector<char> needed_;  // tensors that the remaining runs need, computed by sweep()
  std::vector<char> useful_;
};

}  // namespace stowage
