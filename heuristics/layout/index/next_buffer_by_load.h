// Index of ranges with sizes that finds the range inside a window to place next: the range that
// covers the fullest section.
//
// The load of a section is the sum of the sizes of the present ranges that cover it, plus the bytes
// that the caller adds. The result covers the section of largest load among all sections that a
// range inside the window covers; of equal sections it covers the first. Among several ranges the
// widest is taken, then the range that starts first, then the largest, then the range of least
// rank. If very many starts or sections would have to be visited, some are skipped. A query takes
// O(log n) for each start and each fuller section visited, and a change takes O(log n).
//
//   NextBufferByLoad index({{0, 2}, {1, 3}}, {5, 7}, {0, 0, 0}, budget);  // loads 5, 12, 7
//   index.least({1, 3});                                              // 1
#pragma once

#include <limits>
#include <vector>

#include "heuristics/layout/index/ordered_bitset.h"
#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

class NextBufferByLoad {
 public:
  static constexpr int kNone = std::numeric_limits<int>::max();

  // The rank of a range is its index, and all ranges are present at first. `more` holds bytes by
  // section that are added to the load. If the budget ends during construction, complete() is false
  // and the index must not be queried.
  NextBufferByLoad(std::vector<SectionRange> ranges, std::vector<Bytes> sizes,
                   std::vector<Bytes> more, const Budget& budget,
                   const FullestDiveParams& params = {});

  bool complete() const { return complete_; }

  // Returns the rank of the range to place next inside the window, or kNone if the window contains
  // no present range.
  int least(SectionRange window);
  void erase(int rank);
  void insert(int rank);

 private:
  // Ranges that start at the same section are adjacent, sorted by end, then by size.
  struct Entry {
    int last = 0;
    int rank = 0;
  };
  struct Widest {
    int rank = kNone;
    int width = 0;
  };

  // A window that may contain the result, ordered by the load of its fullest section.
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
  // Returns the first section from `from` on at which a present range starts that ends by `last`.
  int next_start(int from, int last) const;
  Widest widest_from(int first, int last) const;
  Widest widest_over(SectionRange window, int section);
  int fullest(SectionRange window) const;
  void add_load(SectionRange range, Bytes bytes);

  // Limit on the starts visited per query. If queries have visited many starts per range, the limit
  // is a sixteenth of it. An eighth of it limits the parts of a window whose fullest section is
  // covered by no range.
  const int most_starts_;
  bool complete_ = false;
  int sections_;
  std::vector<Part> parts_;  // a heap
  std::size_t starts_seen_ = 0;
  int widest_ = 0;          // sections of the widest range
  std::size_t leaves_ = 1;  // leaves of both trees, a power of two
  std::vector<SectionRange> ranges_;
  std::vector<Bytes> sizes_;
  std::vector<std::size_t> group_;  // index of the first entry of each start
  std::vector<Entry> entries_;
  std::vector<std::size_t> place_;  // entry of each rank
  OrderedBitset present_{0};        // by entry
  std::vector<int> least_end_;      // tree over starts: the least end of a present range
  // Two trees over sections. load_: the largest load below a node, without the bytes added at its
  // ancestors. whole_: the bytes that a node adds to all sections below it.
  std::vector<Bytes> load_;
  std::vector<Bytes> whole_;
};

}  // namespace stowage
