#include "instances/pictures/length_histogram.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

constexpr double kHeight = 130;  // px
constexpr int kFewestBins = 12;  // so that bars of similar lengths stay narrow

struct Bar {
  std::int64_t sequences = 0;
  Tokens tokens = 0;
};

double edge(int bin) { return std::exp2(bin / 2.0); }

// Returns the bin of a length of at least 1.
int bin_of(Tokens length) {
  int bin = static_cast<int>(std::floor(2 * std::log2(static_cast<double>(length))));
  // The logarithm may round across an edge. The edges of whole octaves are exact.
  while (static_cast<double>(length) >= edge(bin + 1)) ++bin;
  while (static_cast<double>(length) < edge(bin)) --bin;
  return bin;
}

std::string range_text(int bin) {
  const auto first = static_cast<std::int64_t>(std::ceil(edge(bin)));
  const auto last = static_cast<std::int64_t>(std::ceil(edge(bin + 1))) - 1;
  return first >= last ? grouped(first) : grouped(first) + " to " + grouped(last);
}

}  // namespace

Picture length_histogram(const std::string& heading, const std::vector<PlacedLength>& lengths,
                         const std::vector<std::string>& kinds, const Hues& hues) {
  Panel panel(heading);
  if (lengths.empty()) {
    panel.say("There are no sequences.");
    return std::move(panel).finish();
  }
  const auto [shortest_one, longest_one] =
      std::minmax_element(lengths.begin(), lengths.end(),
                          [](const auto& a, const auto& b) { return a.length < b.length; });
  // Lengths of zero are drawn with lengths of one token.
  int low = bin_of(std::max<Tokens>(shortest_one->length, 1));
  int high = bin_of(std::max<Tokens>(longest_one->length, 1));
  for (; high - low + 1 < kFewestBins; ++high) low = std::max(low - 1, 0);
  const auto bins = static_cast<std::size_t>(high - low) + 1;
  std::vector<std::vector<Bar>> bars(bins, std::vector<Bar>(kinds.size()));
  std::vector<std::int64_t> totals(bins, 0);
  for (const PlacedLength& placed : lengths) {
    const auto bin = static_cast<std::size_t>(bin_of(std::max<Tokens>(placed.length, 1)) - low);
    bars[bin][placed.kind].sequences += 1;
    bars[bin][placed.kind].tokens += placed.length;
    totals[bin] += 1;
  }

  const Box plot = panel.plot(kHeight);
  const Scale x = Scale::logarithmic(edge(low), edge(high + 1), plot.x, plot.right());
  const auto most = static_cast<double>(*std::max_element(totals.begin(), totals.end()));
  const Scale y = Scale::linear(0, most, plot.bottom(), plot.y);
  draw_left_axis(panel.svg, plot, y, linear_axis(Quantity::count, 0, most, 5), "sequences");
  draw_bottom_axis(panel.svg, plot, x, logarithmic_axis(edge(low), edge(high + 1), 2),
                   "length in tokens");
  for (std::size_t b = 0; b < bins; ++b) {
    const int bin = low + static_cast<int>(b);
    const double left = x(edge(bin));
    const double width = x(edge(bin + 1)) - left;
    std::int64_t below = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const Bar& bar = bars[b][kind];
      if (bar.sequences == 0) continue;
      const double bottom = y(static_cast<double>(below));
      below += bar.sequences;
      const double top = y(static_cast<double>(below));
      panel.svg.rect({left + 1, top, width - 2, bottom - top}, hue_class(hues.of(kind)),
                     kinds[kind] + ": " + counted(bar.sequences, "sequence") + " of " +
                         range_text(bin) + " tokens, " + grouped(bar.tokens) + " in all");
    }
  }
  panel.legend(hues.legend());
  return std::move(panel).finish();
}

}  // namespace stowage
