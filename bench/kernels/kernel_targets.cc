#include "bench/kernels/kernel_targets.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace stowage::bench {
namespace {

std::string rates(double rate, double of) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 1e-9 * rate << " of " << 1e-9 * of << " GFLOP/s";
  return text.str();
}

// The rates by one statistic of the repetitions: the fastest or the median.
struct View {
  const Timings& timings;
  bool best;
  double rate(const std::string& name) const {
    return best ? timings.best_rate(name) : timings.median_rate(name);
  }
  // Returns the rate of the fastest matrix size, which counts as the machine's rate.
  double sgemm(const std::string& level) const {
    double most = 0;
    for (const int n : kSgemmSizes) {
      most = std::max(most, rate(level + "/sgemm/" + std::to_string(n)));
    }
    return most;
  }
  double multiply_add(const std::string& level) const { return rate(level + "/multiply-add"); }
  // Returns the rate of both passes together: 14 FLOP, of which forward has 4 and backward 10.
  double both(const std::string& level, const std::string& shape) const {
    return 14 / (4 / rate(level + "/forward/" + shape) + 10 / rate(level + "/backward/" + shape));
  }
};

// Adds a row with the numbers ratio(view), if the required timings were measured.
template <class Ratio>
void row(std::vector<TargetRow>& rows, const Timings& timings, TargetRow like, Ratio ratio) {
  like.best = ratio(View{timings, true});
  like.median = ratio(View{timings, false});
  if (std::isfinite(like.best) && like.best > 0) rows.push_back(std::move(like));
}

void add_level_rows(std::vector<TargetRow>& rows, const Timings& timings, const std::string& level,
                    bool widest) {
  const View best{timings, true};
  const auto rate_row = [&](const std::string& item, const std::string& name) {
    row(rows, timings,
        {.group = level, .item = item, .measure = "GFLOP/s", .target = {}, .percent = false},
        [&](const View& view) { return 1e-9 * view.rate(name); });
  };
  rate_row("multiply-add in registers", level + "/multiply-add");
  for (const char* name :
       {"/sgemm/256", "/sgemm/768", "/sgemm/1024", "/sgemm_nt/768", "/sgemm_tn/768"}) {
    rate_row(std::string(name + 1), level + name);
  }
  for (const char* pass : {"forward", "backward"}) {
    const bool forward = std::string(pass) == "forward";
    for (const int dim : {64, 128}) {
      for (const int length : kLongLengths) {
        const std::string name =
            level + '/' + pass + '/' + std::to_string(dim) + '/' + std::to_string(length);
        const std::string item =
            std::string(pass) + ", D " + std::to_string(dim) + ", S " + std::to_string(length);
        std::optional<double> of_sgemm, of_peak;
        if (widest) of_sgemm = forward && dim == 64 ? 0.80 : 0.88;
        if (level == "v3") of_peak = forward ? 0.82 : 0.84;
        if (!of_peak) {
          row(rows, timings,
              {.group = level,
               .item = item,
               .measure = "share of sgemm",
               .target = of_sgemm,
               .detail = rates(best.rate(name), best.sgemm(level))},
              [&](const View& view) { return view.rate(name) / view.sgemm(level); });
        } else {
          row(rows, timings,
              {.group = level,
               .item = item,
               .measure = "share of multiply-add",
               .target = of_peak,
               .detail = rates(best.rate(name), best.multiply_add(level))},
              [&](const View& view) { return view.rate(name) / view.multiply_add(level); });
        }
      }
    }
  }
  for (const int dim : {64, 128}) {
    const std::string name = level + "/decode/" + std::to_string(dim);
    std::ostringstream detail;
    detail << std::fixed << std::setprecision(1) << 1e-9 * best.rate(name) << " of "
           << 1e-9 * best.rate("triad") << " GB/s";
    row(rows, timings,
        {.group = level,
         .item = "one query, " + std::to_string(kRetainedKeys) + " keys, D " + std::to_string(dim),
         .measure = "share of triad",
         .target = widest ? std::optional(0.50) : std::nullopt,
         .detail = detail.str()},
        [&](const View& view) { return view.rate(name) / view.rate("triad"); });
  }
  const std::vector<double> shares = {0.25, 0.40, 0.60, 0.75};
  for (const int dim : {64, 128}) {
    const std::string stem = std::to_string(dim) + '/';
    for (std::size_t i = 0; i < kShortLengths.size(); ++i) {
      const std::string shape = stem + std::to_string(kShortLengths[i]);
      row(rows, timings,
          {.group = level,
           .item = "pack of " + std::to_string(kShortLengths[i]) + "s, D " + std::to_string(dim),
           .measure = "share of S 4096, both passes",
           .target = widest && dim == 64 ? std::optional(shares[i]) : std::nullopt,
           .detail = rates(best.both(level, shape), best.both(level, stem + "4096"))},
          [&](const View& view) {
            return view.both(level, shape) / view.both(level, stem + "4096");
          });
    }
  }
}

std::string value(const TargetRow& row, double x) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(row.percent ? 1 : 2) << (row.percent ? 100 * x : x)
       << (row.percent ? " %" : "");
  return text.str();
}

}  // namespace

std::vector<TargetRow> kernel_targets(const Timings& timings,
                                      const std::vector<std::string>& levels) {
  std::vector<TargetRow> rows;
  row(rows, timings,
      {.group = "memory", .item = "triad", .measure = "GB/s", .target = {}, .percent = false},
      [](const View& view) { return 1e-9 * view.rate("triad"); });
  for (std::size_t i = levels.size(); i-- > 0;) {
    add_level_rows(rows, timings, levels[i], i + 1 == levels.size());
  }
  if (levels.empty()) return rows;
  const auto on_threads = [&](const std::string& name, const std::string& item, double target) {
    const std::string stem = levels.back() + '/' + name + '/';
    if (!timings.has(stem + "2 threads")) return;
    row(rows, timings,
        {.group = "two threads",
         .item = item,
         .measure = "speed-up of the busiest thread's CPU time",
         .target = target,
         .percent = false},
        [&](const View& view) {
          return view.rate(stem + "2 threads") / view.rate(stem + "1 threads");
        });
  };
  on_threads("forward", "forward, 8 heads, S 2048, D 64", 1.85);
  on_threads("backward", "backward, 8 heads, S 2048, D 64", 1.85);
  on_threads("backward/one kv head", "backward, 8 heads on one kv head, S 4096, D 64", 1.80);
  return rows;
}

std::string target_table(const std::vector<TargetRow>& rows) {
  std::string text =
      "| | item | measure | target | measured | median | met | |\n"
      "|---|---|---|---:|---:|---:|---|---|\n";
  std::string group;
  for (const TargetRow& row : rows) {
    text += "| " + (row.group == group ? "" : row.group) + " | " + row.item + " | " + row.measure +
            " | " + (row.target ? (row.at_most ? "<= " : ">= ") + value(row, *row.target) : "-") +
            " | " + value(row, row.best) + " | " + value(row, row.median) + " | " +
            (!row.target ? "-"
             : row.met() ? "yes"
                         : "**no**") +
            " | " + row.detail + " |\n";
    group = row.group;
  }
  return text;
}

void write_rows(JsonWriter& json, const std::string& key, const std::vector<TargetRow>& rows) {
  json.key(key);
  json.begin_array();
  for (const TargetRow& row : rows) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("group", row.group);
    json.text("item", row.item);
    json.text("measure", row.measure);
    json.key("target");
    row.target ? json.number(*row.target) : json.null();
    json.boolean("at_most", row.at_most);
    json.number("measured", row.best);
    json.number("median", row.median);
    json.key("met");
    row.target ? json.boolean(row.met()) : json.null();
    json.text("detail", row.detail);
    json.end_object();
  }
  json.end_array();
}

}  // namespace stowage::bench
