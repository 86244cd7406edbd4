#include "formulations/assign/lp/pattern_lp.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;

// The numbers behind a level of detail.
struct Fineness {
  std::size_t bands = 0;    // bands of the longest sequence where the bubble depends on it, at most
  double next = 0;          // ratio of the longest lengths of successive bands
  std::int64_t pieces = 0;  // initial ranges of rows
  std::size_t single = 0;   // longest kinds that get a class each
  std::size_t classes = 0;  // classes of the other kinds
  std::int64_t steps = 0;   // largest number of steps of a part
};

Fineness fineness(PatternDetail detail) {
  constexpr Fineness kUsual{
      .bands = 4, .next = 0.65, .pieces = 5, .single = 24, .classes = 40, .steps = 3};
  Fineness all = kUsual;
  switch (detail) {
    case PatternDetail::rough:
      all = {.bands = 1, .next = 0, .pieces = 1, .single = 4, .classes = 8, .steps = 1};
      break;
    case PatternDetail::usual:
      break;
    case PatternDetail::fine:
      all.bands = 8;
      all.next = 0.8;
  }
  return all;
}

// Returns the longest length of each band of the longest sequence. The longest sequence lengthens
// the bubble.
std::vector<Tokens> bands_of_longest(const std::vector<AssignKind>& kinds, const Scheme& scheme,
                                     const Fineness& fineness) {
  std::vector<Tokens> bands;
  const Tokens top = std::min(scheme.max_tokens, kinds.front().length);
  if (scheme.pp > 1) {
    double limit = static_cast<double>(top);
    for (std::size_t k = 1; k < fineness.bands; ++k) {
      limit *= fineness.next;
      const auto shorter = std::ranges::partition_point(
          kinds, [&](const AssignKind& kind) { return static_cast<double>(kind.length) > limit; });
      if (shorter == kinds.end()) break;
      if (shorter->length < top && (bands.empty() || shorter->length < bands.front())) {
        bands.insert(bands.begin(), shorter->length);
      }
    }
  }
  bands.push_back(top);
  return bands;
}

// Returns a pattern with all its parts and without prices.
RowPattern shape_of(const RowRange& range, Tokens longest, std::int64_t most_steps) {
  RowPattern shape{.least_rows = range.least, .most_rows = range.most, .longest = longest};
  for (const bool of_rows : {true, false}) {
    if (of_rows && shape.most_rows == 0) continue;
    for (std::int64_t steps = 1; steps <= most_steps; ++steps) {
      shape.parts.push_back({.of_rows = of_rows, .steps = steps});
    }
  }
  return shape;
}

}  // namespace

std::vector<std::vector<RowRange>> first_ranges(const AssignTable& table, int strategy, Ms time,
                                                PatternDetail detail) {
  std::vector<std::vector<RowRange>> all;
  const auto last = static_cast<int>(table.kinds().size()) - 1;
  for (const SchemeGroup& group : table.groups(strategy)) {
    const Scheme& scheme = table.schemes()[at(group.scheme)];
    // Returns how many rows are full of tokens when the time is filled by work of this kind.
    const auto full_rows = [&](int kind) {
      const Ms work = table.kind_work(kind, group.scheme);
      const double tokens = static_cast<double>(table.kinds()[at(kind)].length);
      return work > 0 ? time / work * tokens / static_cast<double>(scheme.max_tokens) : kInfinity;
    };
    const double limit = std::min(static_cast<double>(table.size()),
                                  scheme.fixed_ms > 0 ? time / scheme.fixed_ms + 1 : kInfinity);
    // With fewer rows than `few`, tokens limit the work, so that one more row never hurts. Tokens
    // do not bind from `many` rows on.
    const auto few = static_cast<std::int64_t>(
        scheme.pp > 1 ? 1 : std::max(1.0, std::min(limit, 0.9 * full_rows(0))));
    const auto many =
        std::max(few + 1, static_cast<std::int64_t>(std::min(limit, full_rows(last) + 2)));
    std::vector<RowRange> ranges{{1, few}};
    const std::int64_t pieces = std::min(fineness(detail).pieces, many - few);
    for (std::int64_t k = 0; k < pieces; ++k) {
      ranges.push_back(
          {few + 1 + (many - few) * k / pieces, few + (many - few) * (k + 1) / pieces});
    }
    ranges.push_back({many + 1, 0});
    all.push_back(std::move(ranges));
  }
  return all;
}

AssignPatterns::AssignPatterns(const AssignTable& table, int strategy, Ms time,
                               std::vector<std::vector<RowRange>> ranges, PatternDetail detail)
    : table_(table), strategy_(strategy), time_(time), detail_(detail), ranges_(std::move(ranges)) {
  const auto& kinds = table.kinds();
  const Fineness fine = fineness(detail);
  const double share =
      static_cast<double>(table.total_tokens()) / static_cast<double>(fine.classes);
  double tokens = 0;
  for (int k = 0; k < static_cast<int>(kinds.size()); ++k) {
    const AssignKind& kind = kinds[at(k)];
    if (classes_.empty() || classes_.size() <= fine.single || tokens >= share) {
      classes_.push_back({k, k, 0});
      tokens = 0;
    }
    classes_.back().last = k + 1;
    classes_.back().count += kind.count;
    tokens += static_cast<double>(kind.length) * kind.count;
  }
  model_.add_variable({.name = "rho", .objective = 1});
  for (std::size_t q = 0; q < classes_.size(); ++q) {
    covered_.push_back({.name = "R1_" + std::to_string(q), .lower = 1});
  }
  for (std::size_t g = 0; g < table.groups(strategy).size(); ++g) add_group(g);
  for (Row& row : covered_) model_.add_row(std::move(row));
}

void AssignPatterns::add_group(std::size_t g) {
  const SchemeGroup& group = table_.groups(strategy_)[g];
  const Scheme& scheme = table_.schemes()[at(group.scheme)];
  const Fineness fine = fineness(detail_);
  std::vector<RowPattern> shapes;
  std::vector<int> range_of;
  const std::vector<Tokens> bands = bands_of_longest(table_.kinds(), scheme, fine);
  for (std::size_t r = 0; r < ranges_[g].size(); ++r) {
    for (const Tokens longest : bands) {
      shapes.push_back(shape_of(ranges_[g][r], longest, fine.steps));
      range_of.push_back(static_cast<int>(r));
    }
  }
  const std::vector<Ms> least = least_longest(table_, group.scheme, shapes);
  const std::string of_group = "_" + std::to_string(g);
  Row limit{.name = "R4" + of_group, .lower = 0, .terms = {{0, static_cast<double>(group.count)}}};
  const bool alone = alone_holds_longest(table_, strategy_, g);
  Row without{.name = "R6" + of_group, .lower = 0, .terms = {{0, group.count - 1.0}}};
  std::vector<Pattern> patterns;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    Pattern pattern{.range = range_of[p], .shape = std::move(shapes[p])};
    const RowRange range{pattern.shape.least_rows, pattern.shape.most_rows};
    const Ms room = most_work(scheme, range, least[p], time_);
    if (room >= 0) {
      add_pattern(pattern, group.scheme, room, of_group + "_" + std::to_string(p));
      limit.terms.push_back({pattern.replicas, -1});
      if (pattern.shape.longest < table_.kinds().front().length) {
        without.terms.push_back({pattern.replicas, -1});
      }
    }
    patterns.push_back(std::move(pattern));
  }
  model_.add_row(std::move(limit));
  if (alone && bands.size() > 1) model_.add_row(std::move(without));
  patterns_.push_back(std::move(patterns));
}

// Adds the rows of a pattern, the number of replicas with it, and the shares of classes in it.
void AssignPatterns::add_pattern(Pattern& pattern, int scheme, Ms room, const std::string& suffix) {
  const RowPattern& shape = pattern.shape;
  pattern.replicas = model_.add_variable({.name = "k" + suffix});
  const auto add_row = [&](const std::string& name) {
    return model_.add_row({.name = name + suffix, .lower = 0, .terms = {{pattern.replicas, 1}}});
  };
  pattern.first_row = add_row("R2");
  add_row("R3");
  for (std::size_t k = 0; k < shape.parts.size(); ++k) add_row("R3_" + std::to_string(k));
  for (std::size_t q = 0; q < classes_.size(); ++q) {
    const Class& each = classes_[q];
    if (table_.kinds()[at(each.first)].length > shape.longest) continue;
    if (table_.kind_work(each.first, scheme) > room) continue;
    const int x = model_.add_variable({.name = "x" + suffix + "_" + std::to_string(q)});
    covered_[q].terms.push_back({x, 1});
    const std::vector<double> use = use_of(each, shape, scheme, room);
    for (std::size_t k = 0; k < use.size(); ++k) {
      if (use[k] > 0) model_.add_term(pattern.first_row + static_cast<int>(k), {x, -use[k]});
    }
  }
}

// Returns the shares that all sequences of a class take of a replica with this pattern: of its
// work, of its tokens, and of each part.
std::vector<double> AssignPatterns::use_of(const Class& each, const RowPattern& shape, int scheme,
                                           Ms room) const {
  const auto max_tokens = static_cast<double>(table_.schemes()[at(scheme)].max_tokens);
  const auto most = static_cast<double>(shape.most_rows);
  std::vector<double> use(2 + shape.parts.size(), 0);
  for (int k = each.first; k < each.last; ++k) {
    const AssignKind& kind = table_.kinds()[at(k)];
    const double count = kind.count;
    const double share = room > 0 ? table_.kind_work(k, scheme) / room : 0;
    const double row_share = static_cast<double>(kind.length) / max_tokens;
    use[0] += count * share;
    if (most > 0) use[1] += count * row_share / most;
    for (std::size_t p = 0; p < shape.parts.size(); ++p) {
      const PartPrice& price = shape.parts[p];
      use[2 + p] += count * (price.of_rows ? part_of(price.steps, row_share) / most
                                           : part_of(price.steps, share));
    }
  }
  return use;
}

StrategyProof AssignPatterns::proof(std::span<const double> duals, std::string strategy) const {
  const auto dual = [&](int row) { return std::max(0.0, duals[at(row)]); };
  StrategyProof proof{.strategy = std::move(strategy), .by = "patterns"};
  for (std::size_t g = 0; g < patterns_.size(); ++g) {
    const SchemeGroup& group = table_.groups(strategy_)[g];
    SchemePrices prices{.scheme = table_.schemes()[at(group.scheme)].name};
    for (const Pattern& pattern : patterns_[g]) {
      RowPattern priced = pattern.shape;
      if (pattern.first_row >= 0) {
        priced.time = dual(pattern.first_row);
        priced.tokens = dual(pattern.first_row + 1);
        for (std::size_t k = 0; k < priced.parts.size(); ++k) {
          priced.parts[k].price = dual(pattern.first_row + 2 + static_cast<int>(k));
        }
      }
      std::erase_if(priced.parts, [](const PartPrice& part) { return !(part.price > 0); });
      prices.patterns.push_back(std::move(priced));
    }
    proof.schemes.push_back(std::move(prices));
  }
  return proof;
}

std::vector<std::vector<RowRange>> AssignPatterns::finer(std::span<const double> values) const {
  std::vector<std::vector<RowRange>> all;
  bool split = false;
  for (std::size_t g = 0; g < ranges_.size(); ++g) {
    std::vector<bool> used(ranges_[g].size(), false);
    for (const Pattern& pattern : patterns_[g]) {
      if (pattern.replicas >= 0 && values[at(pattern.replicas)] > 1e-6) {
        used[at(pattern.range)] = true;
      }
    }
    all.emplace_back();
    for (std::size_t r = 0; r < ranges_[g].size(); ++r) {
      const RowRange& range = ranges_[g][r];
      const std::int64_t width = range.most - range.least + 1;
      if (!used[r] || range.most == 0 || width == 1) {
        all.back().push_back(range);
        continue;
      }
      split = true;
      const std::int64_t pieces = std::min(width, fineness(detail_).pieces);
      for (std::int64_t k = 0; k < pieces; ++k) {
        all.back().push_back(
            {range.least + width * k / pieces, range.least + width * (k + 1) / pieces - 1});
      }
    }
  }
  if (!split) all.clear();
  return all;
}

}  // namespace stowage
