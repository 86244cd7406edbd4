#include "instances/scatter/fit/terms.h"

#include <algorithm>
#include <set>

#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"

namespace stowage {
namespace {

using Kind = CostTerm::Kind;

// Returns the load of a group with these sequences, packed.
Load packed_load(const ScatterInstance& unit, GroupForm form, std::span<const Tokens> lengths) {
  const Ms overhead = group_overhead_ms(unit, form);
  Load load{overhead, overhead};
  for (const Tokens length : lengths) {
    load += sequence_load(unit, padded_length(unit, length), form);
  }
  return load;
}

double bandwidth_of(double ms_per_mib) {
  return ms_per_mib > 0 ? std::min(1 / ms_per_mib, kFreeMibPerMs) : kFreeMibPerMs;
}

}  // namespace

bool CostTerm::inverse() const {
  return kind == Kind::bandwidth || kind == Kind::inside_bandwidth ||
         kind == Kind::across_bandwidth;
}

std::string CostTerm::name() const {
  switch (kind) {
    case Kind::quadratic:
      return "quadratic_ms";
    case Kind::linear:
      return "linear_ms";
    case Kind::fixed:
      return "fixed_ms";
    case Kind::sequence_fixed:
      return "sequence_fixed_ms";
    case Kind::split:
      return "split_ms";
    case Kind::latency:
      return "all_to_all.latency_ms." + std::to_string(degree);
    case Kind::bandwidth:
      return "all_to_all.mib_per_ms." + std::to_string(degree);
    case Kind::inside_latency:
      return "exchange.inside_latency_ms";
    case Kind::inside_bandwidth:
      return "exchange.inside_mib_per_ms";
    case Kind::across_latency:
      return "exchange.across_latency_ms";
    case Kind::across_bandwidth:
      return "exchange.across_mib_per_ms";
  }
  return "";
}

Terms::Terms(const ScatterInstance& like, std::span<const TimedRow> rows, const ExtraTerms& extra)
    : like_(like) {
  if (like_.cost.exchange) like_.cost.exchange->overlap = extra.overlap;
  if (!(like_.cost.all_to_all.mib_per_token > 0)) like_.cost.all_to_all.mib_per_token = 1;
  choose_terms(rows, extra);
  evaluate(rows);
}

Terms::Terms(const Terms& others, std::span<const TimedRow> rows)
    : like_(others.like_), terms_(others.terms_) {
  evaluate(rows);
}

void Terms::evaluate(std::span<const TimedRow> rows) {
  std::size_t parts = 0;
  for (const TimedRow& row : rows) {
    first_part_.push_back(parts);
    parts += like_.rules.packed ? 1 : row.lengths.size();
  }
  first_part_.push_back(parts);
  compute_.assign(parts * terms_.size(), 0);
  transfer_.assign(parts * terms_.size(), 0);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const ScatterInstance one = unit(terms_[t]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (terms_[t].degree != 0 && terms_[t].degree != rows[r].degree) continue;
      const GroupForm form{rows[r].degree, rows[r].exchange};
      const std::span<const Tokens> lengths = rows[r].lengths;
      for (std::size_t p = first_part_[r]; p < first_part_[r + 1]; ++p) {
        const Load load = packed_load(
            one, form, like_.rules.packed ? lengths : lengths.subspan(p - first_part_[r], 1));
        compute_[p * terms_.size() + t] = load.compute;
        transfer_[p * terms_.size() + t] = load.transfer;
      }
    }
  }
}

void Terms::choose_terms(std::span<const TimedRow> rows, const ExtraTerms& extra) {
  terms_ = {{Kind::quadratic}, {Kind::linear}, {Kind::fixed}};
  if (extra.per_sequence) terms_.push_back({Kind::sequence_fixed});
  if (extra.split) terms_.push_back({Kind::split});
  if (like_.cost.exchange) {
    bool inside = false;
    bool across = false;
    for (const TimedRow& row : rows) {
      if (row.degree == 1) continue;
      const bool crosses = may_cross_nodes(like_.cluster, row.degree);
      across = across || crosses;
      inside = inside || !crosses || row.exchange == ExchangeKind::two_level;
    }
    if (inside) terms_.insert(terms_.end(), {{Kind::inside_latency}, {Kind::inside_bandwidth}});
    if (across) terms_.insert(terms_.end(), {{Kind::across_latency}, {Kind::across_bandwidth}});
    return;
  }
  std::set<int> degrees;
  for (const TimedRow& row : rows) {
    if (row.degree > 1) degrees.insert(row.degree);
  }
  for (const int degree : degrees) {
    terms_.insert(terms_.end(), {{Kind::latency, degree}, {Kind::bandwidth, degree}});
  }
}

bool Terms::knows(int degree) const {
  if (degree == 1) return true;
  const auto has = [&](Kind kind, int own) {
    return std::ranges::any_of(
        terms_, [&](const CostTerm& term) { return term.kind == kind && term.degree == own; });
  };
  if (!like_.cost.exchange) return has(Kind::latency, degree);
  return has(may_cross_nodes(like_.cluster, degree) ? Kind::across_latency : Kind::inside_latency,
             0);
}

// Returns the instance with that coefficient 1 and the others 0, so that only its term takes time.
ScatterInstance Terms::unit(const CostTerm& term) const {
  ScatterInstance one = like_;
  one.lengths.clear();
  one.loss_tokens.clear();
  one.rules = {};
  one.cost = {.tile_tokens = like_.cost.tile_tokens, .window = like_.cost.window};
  if (like_.cost.exchange) {
    one.cost.exchange = like_.cost.exchange;
    one.cost.exchange->inside_mib_per_ms = kInfinity;
    one.cost.exchange->across_mib_per_ms = kInfinity;
    one.cost.exchange->inside_latency_ms = 0;
    one.cost.exchange->across_latency_ms = 0;
  }
  switch (term.kind) {
    case Kind::quadratic:
      one.cost.quadratic_ms = 1;
      break;
    case Kind::linear:
      one.cost.linear_ms = 1;
      break;
    case Kind::fixed:
      one.cost.fixed_ms = 1;
      break;
    case Kind::sequence_fixed:
      one.cost.sequence_fixed_ms = 1;
      break;
    case Kind::split:
      one.cost.split_ms = 1;
      break;
    case Kind::latency:
      one.cost.all_to_all.latency_ms[term.degree] = 1;
      break;
    case Kind::bandwidth:
      one.cost.all_to_all.mib_per_token = like_.cost.all_to_all.mib_per_token;
      one.cost.all_to_all.mib_per_ms[term.degree] = 1;
      break;
    case Kind::inside_latency:
      one.cost.exchange->inside_latency_ms = 1;
      break;
    case Kind::inside_bandwidth:
      one.cost.exchange->inside_mib_per_ms = 1;
      break;
    case Kind::across_latency:
      one.cost.exchange->across_latency_ms = 1;
      break;
    case Kind::across_bandwidth:
      one.cost.exchange->across_mib_per_ms = 1;
      break;
  }
  return one;
}

Design Terms::design(std::span<const std::size_t> rows,
                     const std::vector<double>& coefficients) const {
  const std::size_t columns = terms_.size();
  Design made{.columns = columns, .values = std::vector<double>(rows.size() * columns, 0)};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t p = first_part_[rows[k]]; p < first_part_[rows[k] + 1]; ++p) {
      double compute = 0;
      double transfer = 0;
      for (std::size_t t = 0; t < coefficients.size(); ++t) {
        compute += coefficients[t] * compute_[p * columns + t];
        transfer += coefficients[t] * transfer_[p * columns + t];
      }
      const double share = coefficients.empty() ? 0.5 : transfer > compute ? 1 : 0;
      for (std::size_t t = 0; t < columns; ++t) {
        made.values[k * columns + t] +=
            share * transfer_[p * columns + t] + (1 - share) * compute_[p * columns + t];
      }
    }
  }
  return made;
}

std::vector<double> Terms::coefficients(const ScatterCost& cost) const {
  const auto at_degree = [](const std::map<int, double>& all, int degree) {
    const auto found = all.find(degree);
    return found == all.end() ? 0 : found->second;
  };
  const auto ms_per_mib = [](double bandwidth) {
    return bandwidth > 0 && bandwidth < kFreeMibPerMs ? 1 / bandwidth : 0;
  };
  const auto value = [&](const CostTerm& term) -> double {
    switch (term.kind) {
      case Kind::quadratic:
        return cost.quadratic_ms;
      case Kind::linear:
        return cost.linear_ms;
      case Kind::fixed:
        return cost.fixed_ms;
      case Kind::sequence_fixed:
        return cost.sequence_fixed_ms;
      case Kind::split:
        return cost.split_ms;
      case Kind::latency:
        return at_degree(cost.all_to_all.latency_ms, term.degree);
      case Kind::bandwidth:
        return cost.all_to_all.mib_per_token > 0
                   ? ms_per_mib(at_degree(cost.all_to_all.mib_per_ms, term.degree))
                   : 0;
      case Kind::inside_latency:
        return cost.exchange->inside_latency_ms;
      case Kind::inside_bandwidth:
        return ms_per_mib(cost.exchange->inside_mib_per_ms);
      case Kind::across_latency:
        return cost.exchange->across_latency_ms;
      case Kind::across_bandwidth:
        return ms_per_mib(cost.exchange->across_mib_per_ms);
    }
    return 0;
  };
  std::vector<double> all;
  all.reserve(terms_.size());
  for (const CostTerm& term : terms_) all.push_back(value(term));
  return all;
}

ScatterCost Terms::cost(const std::vector<double>& coefficients) const {
  ScatterCost cost{.tile_tokens = like_.cost.tile_tokens,
                   .window = like_.cost.window,
                   .exchange = like_.cost.exchange};
  const auto set = [&](const CostTerm& term, double value) {
    switch (term.kind) {
      case Kind::quadratic:
        cost.quadratic_ms = value;
        break;
      case Kind::linear:
        cost.linear_ms = value;
        break;
      case Kind::fixed:
        cost.fixed_ms = value;
        break;
      case Kind::sequence_fixed:
        cost.sequence_fixed_ms = value;
        break;
      case Kind::split:
        cost.split_ms = value;
        break;
      case Kind::latency:
        cost.all_to_all.latency_ms[term.degree] = value;
        break;
      case Kind::bandwidth:
        cost.all_to_all.mib_per_token = like_.cost.all_to_all.mib_per_token;
        cost.all_to_all.mib_per_ms[term.degree] = bandwidth_of(value);
        break;
      case Kind::inside_latency:
        cost.exchange->inside_latency_ms = value;
        break;
      case Kind::inside_bandwidth:
        cost.exchange->inside_mib_per_ms = bandwidth_of(value);
        break;
      case Kind::across_latency:
        cost.exchange->across_latency_ms = value;
        break;
      case Kind::across_bandwidth:
        cost.exchange->across_mib_per_ms = bandwidth_of(value);
        break;
    }
  };
  for (std::size_t t = 0; t < terms_.size(); ++t) set(terms_[t], coefficients[t]);
  return cost;
}

}  // namespace stowage
