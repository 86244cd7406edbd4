// Prints the figures of ranks.h as JSON lines on stdout and as a Markdown table on stderr.
//
//   stowage_bench_ranks [LENGTH [REPEATS]]
#include <cstdlib>
#include <iostream>

#include "bench/kernels/ranks.h"

int main(int argc, char** argv) {
  stowage::bench::RankSetting setting;
  if (argc > 1) setting.length = std::atoll(argv[1]);
  if (argc > 2) setting.repeats = std::atoi(argv[2]);
  if (setting.length < 1 || setting.length > 1 << 20 || setting.repeats < 1) {
    std::cerr << "usage: stowage_bench_ranks [LENGTH [REPEATS]]\n";
    return 2;
  }
  const std::vector<stowage::bench::RankRow> rows = stowage::bench::rank_rows(setting);
  for (const stowage::bench::RankRow& row : rows) std::cout << json_line(row) << '\n';
  std::cerr << markdown(rows);
}
