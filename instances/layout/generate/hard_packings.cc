#include "instances/layout/generate/hard_packings.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

using PackingKind = PackingGenerator::Kind;

constexpr std::int64_t kSteps = 1 << 20;

// A piece of the tiling. Sizes are in units until finish().
struct Piece {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t bottom = 0;
  std::int64_t top = 0;

  double area() const {
    return static_cast<double>(upper - lower) * static_cast<double>(top - bottom);
  }
};

class Packing {
 public:
  explicit Packing(const PackingGenerator& generator)
      : kind_(generator.kind), random_(generator.seed) {
    // Advances the generator, so that the kinds draw different packings from one seed.
    for (int k = 0; k <= static_cast<int>(kind_); ++k) random_();
    wanted_ = static_cast<std::size_t>(between(100, 500));
    height_ = std::int64_t{1} << between(7, 16);
    if (below(2) == 0) height_ += below(height_);
  }

  LayoutInstance make() {
    switch (kind_) {
      case PackingKind::blocks:
        cut_blocks();
        break;
      case PackingKind::ring:
        run_ring();
        break;
      case PackingKind::window:
      case PackingKind::sections:
        refill();
        break;
      case PackingKind::stack:
        push_and_pop();
        break;
    }
    return finish();
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random_, static_cast<std::uint64_t>(bound)));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  bool chance(std::int64_t percent) { return below(100) < percent; }
  // Draws a number whose order of magnitude is uniform, as far as integers allow.
  std::int64_t spread(std::int64_t least, std::int64_t most) {
    std::int64_t octaves = 0;
    while (least << (octaves + 1) <= most) ++octaves;
    const std::int64_t low = least << below(octaves + 1);
    return between(low, std::min(most, 2 * low - 1));
  }

  // Draws a cut inside (from, to), near an edge if slivers are wanted. Requires to - from >= 2.
  std::int64_t cut(std::int64_t from, std::int64_t to) {
    const std::int64_t room = to - from;
    if (!chance(slivers_)) return from + between(1, room - 1);
    const std::int64_t part = spread(1, room - 1);
    return below(2) == 0 ? from + part : to - part;
  }

  void cut_blocks() {
    slivers_ = between(0, 60);
    const std::int64_t pinwheels = between(0, 50);
    const std::int64_t rivals = between(1, 4);
    pieces_ = {{0, kSteps, 0, height_}};
    for (int tries = 0; pieces_.size() < wanted_ && tries < 100'000; ++tries) {
      std::size_t chosen = draw(random_, pieces_.size());
      for (std::int64_t k = 1; k < rivals; ++k) {
        const std::size_t other = draw(random_, pieces_.size());
        if (pieces_[other].area() > pieces_[chosen].area()) chosen = other;
      }
      const Piece whole = pieces_[chosen];
      const bool thin = whole.upper - whole.lower < 3 || whole.top - whole.bottom < 3;
      if (!thin && chance(pinwheels)) {
        cut_pinwheel(chosen);
      } else {
        cut_across(chosen);
      }
    }
  }

  void cut_across(std::size_t chosen) {
    Piece rest = pieces_[chosen];
    Piece& piece = pieces_[chosen];
    if (below(2) == 0) {
      if (piece.upper - piece.lower < 2) return;
      piece.upper = rest.lower = cut(piece.lower, piece.upper);
    } else {
      if (piece.top - piece.bottom < 2) return;
      piece.top = rest.bottom = cut(piece.bottom, piece.top);
    }
    pieces_.push_back(rest);
  }

  // Cuts a piece into four around a fifth: no cut goes from edge to edge.
  void cut_pinwheel(std::size_t chosen) {
    const Piece w = pieces_[chosen];
    const std::int64_t x2 = cut(w.lower + 1, w.upper);
    const std::int64_t x1 = cut(w.lower, x2);
    const std::int64_t y2 = cut(w.bottom + 1, w.top);
    const std::int64_t y1 = cut(w.bottom, y2);
    pieces_[chosen] = {w.lower, x2, w.bottom, y1};
    pieces_.push_back({x2, w.upper, w.bottom, y2});
    pieces_.push_back({x1, w.upper, y2, w.top});
    pieces_.push_back({w.lower, x1, y1, w.top});
    pieces_.push_back({x1, x2, y1, y2});
  }

  std::int64_t next_size() { return broad_ ? spread(least_, most_) : between(least_, most_); }

  void draw_sizes(std::int64_t fewest_alive, std::int64_t most_alive, std::int64_t broad_percent) {
    const std::int64_t alive = between(fewest_alive, most_alive);
    broad_ = chance(broad_percent);
    const std::int64_t mean = std::max<std::int64_t>(1, height_ / alive);
    least_ = broad_ ? std::max<std::int64_t>(1, mean / 30)
                    : std::max<std::int64_t>(1, mean * between(30, 90) / 100);
    most_ = broad_ ? std::min(height_ / 2, mean * 8) : std::max(least_, 2 * mean - least_);
  }

  // Moves the time by a small random stride, or not at all.
  void stride() {
    if (!chance(together_)) now_ += 1 + below(2 * kSteps / static_cast<std::int64_t>(wanted_));
  }

  void run_ring() {
    draw_sizes(6, 40, 40);
    together_ = between(0, 40);
    const std::int64_t snaps = between(10, 90);
    std::vector<Piece> alive;  // by address; the piece at the cursor is the oldest
    std::int64_t cursor = 0;
    while (pieces_.size() + alive.size() < wanted_) {
      stride();
      std::int64_t end = std::min(height_, cursor + next_size());
      if (height_ - end < least_) end = height_;
      if (chance(snaps)) {
        const auto near = std::ranges::find_if(alive, [&](const Piece& p) { return p.top >= end; });
        if (near != alive.end() && near->top - cursor <= 2 * most_) end = near->top;
      }
      bool born_now = false;  // a step cannot both begin and end a buffer
      for (const Piece& p : alive) {
        born_now = born_now || (p.bottom < end && p.top > cursor && p.lower >= now_);
      }
      if (born_now) ++now_;
      std::erase_if(alive, [&](Piece& p) {
        if (p.bottom >= end || p.top <= cursor) return false;
        p.upper = now_;
        pieces_.push_back(p);
        return true;
      });
      const auto after =
          std::ranges::find_if(alive, [&](const Piece& p) { return p.bottom >= end; });
      alive.insert(after, {now_, 0, cursor, end});
      cursor = end == height_ ? 0 : end;
    }
    end_all(alive);
  }

  void end_all(std::vector<Piece>& alive) {
    for (Piece& p : alive) {
      p.upper = now_ + 1 + below(kSteps / 16);
      pieces_.push_back(p);
    }
  }

  // Fills a row of blocks without holes. Neighbouring blocks end to make room for new ones.
  void refill() {
    const bool window = kind_ == PackingKind::window;
    if (window) {
      draw_sizes(8, 24, 0);
    } else {
      draw_sizes(12, 45, 85);
    }
    together_ = window ? between(0, 30) : between(0, 60);
    const std::int64_t holes = window ? between(0, 25) : 0;
    const std::int64_t rivals = window ? between(3, 8) : between(1, 3);
    const std::int64_t widest = between(2, 4);
    std::vector<Piece> row;
    fill(row, 0, 0, height_);
    std::size_t alive = row.size();
    for (int tries = 0; pieces_.size() + alive < wanted_ && tries < 100'000; ++tries) {
      stride();
      std::size_t first = draw(random_, row.size());
      for (std::int64_t k = 1; k < rivals; ++k) {  // the oldest of a few
        const std::size_t other = draw(random_, row.size());
        if (row[other].lower < row[first].lower) first = other;
      }
      const std::size_t last =
          std::min(row.size(), first + static_cast<std::size_t>(between(1, widest)));
      for (std::size_t i = first; i < last; ++i) now_ = std::max(now_, row[i].lower + 1);
      std::vector<Piece> fresh;
      for (std::size_t i = first; i < last; ++i) end_piece(row[i]);
      fill(fresh, holes, row[first].bottom, row[last - 1].top);
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(first),
                row.begin() + static_cast<std::ptrdiff_t>(last));
      row.insert(row.begin() + static_cast<std::ptrdiff_t>(first), fresh.begin(), fresh.end());
      alive = static_cast<std::size_t>(std::ranges::count(row, 0, &Piece::upper));
    }
    now_ += 1 + below(kSteps / 16);
    for (Piece& piece : row) end_piece(piece);
  }

  // Ends a piece now. A piece with upper = 1 is a hole and not a buffer.
  void end_piece(Piece& piece) {
    if (piece.upper == 1) return;
    piece.upper = now_;
    pieces_.push_back(piece);
  }

  void fill(std::vector<Piece>& row, std::int64_t holes, std::int64_t bottom, std::int64_t top) {
    while (bottom < top) {
      std::int64_t end = bottom + next_size();
      if (top - end < least_) end = top;
      if (end - bottom > 2 * most_) end = bottom + (end - bottom) / 2;
      row.push_back({now_, chance(holes) ? 1 : 0, bottom, end});
      bottom = end;
    }
  }

  // In the forward half every layer pushes buffers that its backward turn pops. Short-lived buffers
  // fill the room above the stack.
  void push_and_pop() {
    draw_sizes(8, 30, 50);
    const std::int64_t layers = between(8, 40);
    const std::int64_t share = between(50, 90);  // per cent of the height that the stack reaches
    const std::int64_t kept = std::max<std::int64_t>(1, height_ * share / 100 / layers);
    const std::int64_t lasting =
        between(0, 60);  // per cent of transients that stay for another step
    std::vector<Piece> stack;
    std::vector<Piece> above;  // from the top of the memory downwards
    std::int64_t top = 0;
    const std::int64_t turns = 2 * layers;
    const auto each =
        std::max<std::int64_t>(1, (static_cast<std::int64_t>(wanted_) - 2 * layers) / turns);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      now_ += 2 + below(2 * kSteps / turns);
      if (turn < layers) {
        const std::int64_t size = std::max<std::int64_t>(1, kept * between(60, 130) / 100);
        const std::int64_t end = std::min(height_ - 1, top + size);
        std::int64_t from = top;
        const std::int64_t parts = between(1, 2);
        for (std::int64_t k = 0; k < parts && from < end; ++k) {
          const std::int64_t to = k + 1 == parts ? end : between(from + 1, end);
          stack.push_back({now_, turns - 1 - turn, from, to});  // upper: the turn that pops it
          from = to;
        }
        top = end;
      } else {
        while (!stack.empty() && stack.back().upper <= turn) {
          Piece piece = stack.back();
          stack.pop_back();
          piece.upper = now_;
          top = piece.bottom;
          pieces_.push_back(piece);
        }
      }
      renew(above, top, each, lasting);
    }
    ++now_;
    for (Piece& piece : above) {
      piece.upper = now_;
      pieces_.push_back(piece);
    }
    for (Piece& piece : stack) {
      piece.upper = now_;
      pieces_.push_back(piece);
    }
  }

  void renew(std::vector<Piece>& above, std::int64_t top, std::int64_t count,
             std::int64_t lasting) {
    std::erase_if(above, [&](Piece& piece) {
      if (piece.bottom >= top && chance(lasting)) return false;
      piece.upper = now_;
      pieces_.push_back(piece);
      return true;
    });
    std::vector<Piece> fresh;
    std::int64_t bottom = top;
    const auto fill_to = [&](std::int64_t end) {
      if (end <= bottom) return;
      std::int64_t parts =
          std::min(std::max<std::int64_t>(1, between(count / 2, count + count / 2)), end - bottom);
      if (end - bottom < (height_ - top) / 4) parts = std::min<std::int64_t>(parts, between(1, 2));
      for (; parts > 0; --parts) {
        const std::int64_t to =
            parts == 1
                ? end
                : bottom + between(1, std::max<std::int64_t>(1, 2 * (end - bottom) / parts - 1));
        fresh.push_back({now_, 0, bottom, std::min(to, end - (parts - 1))});
        bottom = fresh.back().top;
      }
    };
    for (const Piece& piece : above) {
      fill_to(piece.bottom);
      bottom = piece.top;
    }
    fill_to(height_);
    above.insert(above.end(), fresh.begin(), fresh.end());
    std::ranges::sort(above, {}, &Piece::bottom);
  }

  LayoutInstance finish() {
    const std::int64_t gone = chance(50) ? 0 : between(1, 12);     // per cent of the buffers
    const std::int64_t shorter = chance(50) ? 0 : between(1, 30);  // per cent end early
    for (std::size_t i = pieces_.size(); i > 1; --i) {
      std::swap(pieces_[i - 1], pieces_[draw(random_, i)]);
    }
    const std::int64_t unit = std::int64_t{1} << below(11);
    LayoutInstance instance{
        .name = "packing-" + std::string(PackingGenerator::kNames[at(static_cast<int>(kind_))])};
    for (Piece& piece : pieces_) {
      if (chance(gone)) continue;
      if (chance(shorter)) piece.upper -= below((piece.upper - piece.lower + 1) / 2);
      instance.buffers.push_back(
          {.lower = piece.lower, .upper = piece.upper, .size = unit * (piece.top - piece.bottom)});
    }
    instance.capacity = unit * height_;
    if (chance(50)) *instance.capacity += unit * (height_ * between(1, 8) / 200);
    return instance;
  }

  PackingKind kind_;
  std::mt19937_64 random_;
  std::size_t wanted_ = 0;
  std::int64_t height_ = 0;
  std::vector<Piece> pieces_;
  std::int64_t now_ = 0;
  std::int64_t slivers_ = 0;   // per cent of cuts
  std::int64_t together_ = 0;  // per cent of events at the time of the one before
  bool broad_ = false;
  std::int64_t least_ = 1;
  std::int64_t most_ = 1;
};

}  // namespace

LayoutInstance generate_packing(const PackingGenerator& generator) {
  LayoutInstance packing = Packing(generator).make();
  packing.name +=
      '-' + std::to_string(packing.buffers.size()) + "-seed" + std::to_string(generator.seed);
  return packing;
}

}  // namespace stowage
