// Looks for the runs of least time within a capacity, operators that run again included, or proves
// that there are none.
//
// A state is who has run and which tensors are there. One that may be of use is kept until it is in
// the way: then every least set of those that are not needed at once is given up in turn, the
// cheapest first. From a state on, whoever has not run must run, and so must the writer of whatever
// is needed and not there, and what that one reads, and so on: the sum of their times is never more
// than what is left, and states go by it (A*). Any number of runs is considered [OB7].
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
#include "instances/order/table.h"

namespace stowage {

class RerunSearch {
 public:
  static constexpr Ms kNoLimitMs = std::numeric_limits<Ms>::infinity();

  enum class End {
    found,      // steps take bound_ms, and none within the capacity take less
    none,       // none within the capacity take less than what was asked for
    exhausted,  // of states, or of the budget
  };
  struct Found {
    End end = End::exhausted;
    std::vector<int> steps;
    Ms bound_ms = 0;  // no runs within the capacity take less; infinite if there are none
    // Of a search without a limit that ended with none: every plan has a step that needs so much.
    Bytes least_overflow = 0;
    std::int64_t states = 0;
  };

  // `table` must outlive this.
  explicit RerunSearch(const OrderTable& table);

  // Of all runs that take less than `below_ms`. Looks at so many states at most. Deterministic but
  // for the budget.
  Found run(Bytes capacity, Ms below_ms, std::int64_t most_states, const Budget& budget);

 private:
  using Word = std::uint64_t;

  struct Node {
    Ms spent = 0;
    Ms least = 0;  // spent, and what is left at least
    int before = -1;
    int op = -1;          // the run that led here; of one that gives up tensors, the run to come
    bool yields = false;  // it gives up tensors for a run to come
    int next = 0;         // the first place in by_size_ that it may give up
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
  // Tensors stand behind the operators in a set.
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
  std::vector<int> slots_;  // of states, by their sets
  std::size_t states_ = 0;
  std::vector<Entry> queue_;
  std::vector<char> needed_;  // tensors, of sweep()
  std::vector<char> useful_;
};

}  // namespace stowage
