// Ranges with sizes, and the question: which range inside a window should be placed next, if what
// is left to place at the fullest section decides?
//
// The load of a section is what the present ranges that cover it need together, and more where the
// caller says so. The answer covers the section of largest load among all that a range inside the
// window covers, the first of them if there are more. Of several ranges the widest is taken, then
// the one that starts first, then the largest, then that of least rank. Where very many starts or
// sections would have to be looked at, some are not. One question takes O(log n) for each start
// and each fuller section that is looked at; a change takes O(log n).
//
//   FullestIndex index({{0, 2}, {1, 3}}, {5, 7}, {0, 0, 0}, budget);  // loads 5, 12, 7
//   index.least({1, 3});                                              // 1
#pragma once

#include <limits>
#include <vector>

#include "heuristics/layout/params.h"
#include "heuristics/layout/present_set.h"
#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

class FullestIndex {
 public:
  static constexpr int kNone = std::numeric_limits<int>::max();

  // The rank of a range is its index; all are present. `more`: bytes by section, added to its load.
  // If the budget ends first, the index is not complete() and must not be asked.
  FullestIndex(std::vector<SectionRange> ranges, std::vector<Bytes> sizes, std::vector<Bytes> more,
               const Budget& budget, const FullestDiveParams& params = {});

  bool complete() const { return complete_; }

  // The rank of the range to place next inside the window, or kNone.
  int least(SectionRange window);
  void erase(int rank);
  void insert(int rank);

 private:
  // Ranges that start at the same section stand together, by end, then by size.
  struct Entry {
    int last = 0;
    int rank = 0;
  };
  struct Widest {
    int rank = kNone;
    int width = 0;
  };

  // A window that may hold the answer, by what its fullest section needs.
  struct Part {
    Bytes load = 0;
    int fullest = 0;
    SectionRange window;

    bool operator<(const Part& other) const {
      return load != other.load ? load < other.load : fullest > other.fullest;
    }
  };

  void add_part(SectionRange window);
  void set_present(int rank, bool present);
  // The first section from `from` on at which a present range starts that ends by `last`.
  int next_start(int from, int last) const;
  Widest widest_from(int first, int last) const;
  Widest widest_over(SectionRange window, int section);
  int fullest(SectionRange window) const;
  void add_load(SectionRange range, Bytes bytes);

  // Starts looked at for one answer. If there were many for each range, a sixteenth of them; an
  // eighth of them are the parts of a window whose fullest section nothing covers.
  const int most_starts_;
  bool complete_ = false;
  int sections_;
  std::vector<Part> parts_;  // a heap
  std::size_t starts_seen_ = 0;
  int widest_ = 0;          // sections of a range
  std::size_t leaves_ = 1;  // of both trees: a power of two
  std::vector<SectionRange> ranges_;
  std::vector<Bytes> sizes_;
  std::vector<std::size_t> group_;  // where the entries of a start begin
  std::vector<Entry> entries_;
  std::vector<std::size_t> place_;  // of a rank among the entries
  PresentSet present_{0};           // by entry
  std::vector<int> least_end_;      // tree over starts: the least end of a present range
  // Tree over sections. The largest load below a node, without what its ancestors add; and what a
  // node adds to all sections below it.
  std::vector<Bytes> load_;
  std::vector<Bytes> whole_;
};

}  // namespace stowage
