#include "instances/strategy/cost/layer.h"

#include <array>

namespace stowage {
namespace {

// M3 counts a dense feed-forward part as four times as wide as the model: 16 bytes for each number
// of a token, of which 8 are computed again with its activation function (2205.05198).
constexpr double kDenseKept = 16;
constexpr double kDenseRecomputed = 8;

constexpr std::array kSums = {&StrategyLayer::shared, &StrategyLayer::experts,
                              &StrategyLayer::active, &StrategyLayer::picked,
                              &StrategyLayer::parts,  &StrategyLayer::copies,
                              &StrategyLayer::kept,   &StrategyLayer::kept_selective,
                              &StrategyLayer::held,   &StrategyLayer::held_selective};

}  // namespace

StrategyLayer& StrategyLayer::operator+=(const StrategyLayer& other) {
  for (const auto part : kSums) this->*part += other.*part;
  return *this;
}

StrategyLayer& StrategyLayer::operator*=(double times) {
  for (const auto part : kSums) this->*part *= times;
  return *this;
}

// A layer has two projections of the width of queries, two of keys and values, and the feed-forward
// part.
StrategyLayer layer_of(const StrategyModel& model, const StrategyBlock& block, bool detailed) {
  const auto hidden = static_cast<double>(model.hidden);
  const double matrices = block.gated ? 3 : 2;
  const auto ffn = static_cast<double>(block.dense_ffn());
  StrategyLayer layer;
  layer.shared = hidden * (2 * static_cast<double>(model.queries_width()) +
                           2 * static_cast<double>(model.key_value_width()) + matrices * ffn);
  layer.active = layer.shared;
  layer.parts = 2;
  if (detailed) {
    layer.held = 2 * matrices * ffn;
    layer.held_selective = 2 * (matrices - 1) * ffn;
  }
  if (!block.routed()) return layer;
  const auto count = static_cast<double>(block.experts->count);
  const auto width = static_cast<double>(block.experts->ffn);
  layer.copies = static_cast<double>(block.experts->top_k);
  layer.shared += hidden * count;  // the router
  layer.experts = count * matrices * hidden * width;
  layer.picked = layer.copies * matrices * hidden * width;
  layer.active = layer.shared + layer.picked;
  layer.parts = 1 + layer.copies + (ffn > 0 ? 1 : 0);
  // Two bytes for each result of the products into the width, and for the input of the product out
  // of it. Selective recomputation computes that input again.
  const double wide = layer.copies * width + ffn;
  layer.kept = 2 * matrices * wide - kDenseKept * hidden;
  layer.kept_selective = 2 * (matrices - 1) * wide - (kDenseKept - kDenseRecomputed) * hidden;
  if (detailed) {
    layer.held = 2 * matrices * wide;
    layer.held_selective = 2 * (matrices - 1) * wide;
  }
  return layer;
}

}  // namespace stowage
