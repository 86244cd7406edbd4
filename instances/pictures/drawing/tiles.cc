#include "instances/pictures/drawing/tiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/style.h"

namespace stowage {
namespace {

constexpr double kVisible = 0.5;    // px
constexpr double kEdgeVisible = 3;  // px: from this size on an edge does not hide the tile

struct Cell {
  std::array<float, kHues> area = {};  // px^2
  std::int32_t begun = 0;              // tiles whose left end is here
  std::int32_t met = 0;                // tiles that touch the cell
};

// The appearance of a cell.
struct Look {
  std::size_t hue = 0;
  int quarters = 0;  // 0: not drawn

  bool operator==(const Look&) const = default;
};

class Cells {
 public:
  Cells(const Box& plot, double size)
      : plot_(plot),
        size_(size),
        columns_(count(plot.width)),
        rows_(count(plot.height)),
        cells_(columns_ * rows_) {}

  void add(const Tile& tile) {
    const Box& box = tile.box;
    const std::size_t first = index(box.x - plot_.x, columns_);
    const std::size_t last = last_index(box.right() - plot_.x, first, columns_);
    const std::size_t top = index(box.y - plot_.y, rows_);
    const std::size_t bottom = last_index(box.bottom() - plot_.y, top, rows_);
    for (std::size_t r = top; r <= bottom; ++r) {
      const double height = overlap(box.y - plot_.y, box.bottom() - plot_.y, r);
      for (std::size_t c = first; c <= last; ++c) {
        Cell& cell = cells_[r * columns_ + c];
        const double width = overlap(box.x - plot_.x, box.right() - plot_.x, c);
        cell.area[tile.hue] += static_cast<float>(width * height);
        cell.met += 1;
        cell.begun += c == first ? 1 : 0;
      }
    }
  }

  // Draws the cells, equal neighbours as one shape. Without `svg` it only counts the shapes.
  std::size_t draw(Svg* svg, std::string_view noun) const {
    std::size_t shapes = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t c = 0; c < columns_;) {
        const std::size_t first = c;
        const Look look = look_of(cell(r, c));
        std::int64_t met = cell(r, c).met;
        for (++c; c < columns_ && look_of(cell(r, c)) == look; ++c) met += cell(r, c).begun;
        if (look.quarters == 0) continue;
        ++shapes;
        if (svg == nullptr) continue;
        const Box box{plot_.x + static_cast<double>(first) * size_,
                      plot_.y + static_cast<double>(r) * size_,
                      static_cast<double>(c - first) * size_, size_};
        svg->rect({box.x, box.y, std::min(box.right(), plot_.right()) - box.x,
                   std::min(box.bottom(), plot_.bottom()) - box.y},
                  faded_class(look.hue, look.quarters), grouped(met) + ' ' + std::string(noun));
      }
    }
    return shapes;
  }

 private:
  std::size_t count(double length) const {
    return static_cast<std::size_t>(std::max(1.0, std::ceil(length / size_ - 1e-9)));
  }

  std::size_t index(double distance, std::size_t most) const {
    return std::min(static_cast<std::size_t>(std::max(distance, 0.0) / size_), most - 1);
  }

  // Returns the last cell of a tile that ends at `distance`: a cell that begins there is not
  // touched.
  std::size_t last_index(double distance, std::size_t first, std::size_t most) const {
    const double cells = std::ceil(distance / size_ - 1e-9) - 1;
    return std::clamp(static_cast<std::size_t>(std::max(cells, 0.0)), first, most - 1);
  }

  double overlap(double from, double to, std::size_t i) const {
    const double begin = static_cast<double>(i) * size_;
    return std::max(0.0, std::min(to, begin + size_) - std::max(from, begin));
  }

  const Cell& cell(std::size_t r, std::size_t c) const { return cells_[r * columns_ + c]; }

  Look look_of(const Cell& cell) const {
    if (cell.met == 0) return {};
    const auto most = std::max_element(cell.area.begin(), cell.area.end());
    double sum = 0;
    for (const float area : cell.area) sum += area;
    // At least a quarter, because the cell has a tile.
    const double quarters = std::ceil(4 * sum / (size_ * size_) - 0.5);
    return {static_cast<std::size_t>(most - cell.area.begin()),
            static_cast<int>(std::clamp(quarters, 1.0, 4.0))};
  }

  Box plot_;
  double size_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;
};

double smaller_side(const Tile& tile) { return std::min(tile.box.width, tile.box.height); }

// Returns the least side of tiles that are drawn one by one, so that at most `most` are.
double visible_from(const std::vector<Tile>& tiles, std::size_t most) {
  std::vector<double> sides;
  for (const Tile& tile : tiles) {
    if (smaller_side(tile) >= kVisible) sides.push_back(smaller_side(tile));
  }
  if (sides.size() <= most) return kVisible;
  const auto limit = sides.end() - static_cast<std::ptrdiff_t>(most);
  std::nth_element(sides.begin(), limit - 1, sides.end());
  return std::nextafter(*(limit - 1), HUGE_VAL);
}

}  // namespace

Merged draw_tiles(Svg& svg, const Box& plot, const std::vector<Tile>& tiles, std::string_view noun,
                  const std::function<ShapeTitle(std::int64_t)>& title, std::size_t most_shapes) {
  Merged merged{.below = visible_from(tiles, most_shapes)};
  const auto drawn = [](const Tile& tile) { return smaller_side(tile) > 0; };
  for (const Tile& tile : tiles) {
    if (drawn(tile) && smaller_side(tile) < merged.below) ++merged.tiles;
  }
  if (merged.tiles > 0) {
    for (double size = 1;; size *= 1.5) {
      Cells cells(plot, size);
      for (const Tile& tile : tiles) {
        if (drawn(tile) && smaller_side(tile) < merged.below) cells.add(tile);
      }
      if (size < plot.width && cells.draw(nullptr, noun) > most_shapes) continue;
      cells.draw(&svg, noun);
      break;
    }
  }
  for (const Tile& tile : tiles) {
    if (!drawn(tile) || smaller_side(tile) < merged.below) continue;
    std::string classes = hue_class(tile.hue);
    if (smaller_side(tile) >= kEdgeVisible) classes += tile.pinned ? kPinned : kOutlined;
    svg.rect(tile.box, classes, title(tile.item));
  }
  return merged;
}

std::string to_string(const Merged& merged, std::string_view noun) {
  if (merged.tiles == 0) return "";
  return grouped(merged.tiles) + ' ' + std::string(noun) + " narrower or lower than " +
         significant(merged.below) +
         " px are merged: a spot has the hue that covers most of it, fainter where less is "
         "covered";
}

}  // namespace stowage
