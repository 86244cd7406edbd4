#include "instances/scatter/fit/json/check.h"

#include <optional>
#include <set>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// Fills in the exchange if the instance leaves only one, and adds an error if it cannot be used.
void check_exchange(const ScatterInstance& like, const std::string& pointer, TimedRow& row,
                    ErrorList& errors) {
  const std::string of_degree = "of degree " + std::to_string(row.degree);
  const std::string name(exchange_names()[static_cast<std::size_t>(row.exchange)]);
  if (row.degree == 1) {
    if (row.exchange == ExchangeKind::none) return;
    errors.add(code::kSampleExchange, pointer, "must be none for a group of degree 1, is " + name);
    return;
  }
  if (!like.cost.exchange) {
    if (row.exchange == ExchangeKind::all_to_all) row.exchange = ExchangeKind::none;
    if (row.exchange == ExchangeKind::none) return;
    errors.add(code::kSampleExchange, pointer,
               "must be all_to_all without an instance that has cost.exchange, is " + name);
    return;
  }
  if (row.exchange == ExchangeKind::none) {
    const auto kinds = like.cost.exchange->kinds.find(row.degree);
    if (kinds != like.cost.exchange->kinds.end() && kinds->second.size() == 1) {
      row.exchange = kinds->second.front();
      return;
    }
    errors.add(code::kSampleExchange, pointer,
               "must say which exchange a group " + of_degree + " used, is empty");
    return;
  }
  if (row.degree <= like.cluster.devices &&
      can_exchange(like.cluster, {row.degree, row.exchange})) {
    return;
  }
  errors.add(code::kSampleExchange, pointer,
             "must be one that a group " + of_degree + " can have on this cluster, is " + name);
}

std::optional<InputError> too_few(const ScatterInstance& like, const std::vector<TimedRow>& rows) {
  const std::size_t needed = Terms(like, rows, ExtraTerms()).terms().size() + 1;
  if (rows.size() >= needed) return std::nullopt;
  std::set<int> degrees;
  for (const TimedRow& row : rows) degrees.insert(row.degree);
  return InputError{code::kFewSamples, "/samples",
                    "must be at least " + std::to_string(needed) + " samples of " +
                        counted(std::ssize(degrees), "degree") +
                        ", one more than coefficients, "
                        "are " +
                        std::to_string(rows.size())};
}

}  // namespace

void check_sample(const ScatterInstance& like, const SamplePlaces& places, std::size_t index,
                  TimedRow& row, ErrorList& errors) {
  const auto at = [&](const char* member) { return places(index, member); };
  const auto most = static_cast<double>(kMaxExact);
  if (row.degree < 1 || row.degree > kMaxDevices) {
    errors.add(code::kIntegerRange, at("degree"),
               "must be an integer from 1 to " + std::to_string(kMaxDevices) + ", is " +
                   std::to_string(row.degree));
    return;
  }
  if (!(row.ms > 0 && row.ms <= most)) {
    errors.add(code::kNumberRange, at("ms"),
               "must be a number above 0, at most 2^53, is " + shortest(row.ms));
  }
  if (row.mib && !(*row.mib > 0 && *row.mib <= most)) {
    errors.add(code::kNumberRange, at("mib"),
               "must be a number above 0, at most 2^53, is " + shortest(*row.mib));
  }
  Tokens sum = 0;
  bool fits = !row.lengths.empty();
  for (const Tokens length : row.lengths) {
    fits = fits && length >= 1 && length <= kMaxExact / 2 - sum - common_multiple(like);
    if (!fits) break;
    sum += padded_length(like, length);
  }
  if (!fits) {
    errors.add(code::kIntegerRange, at("lengths"),
               "must be one length or more, each at least 1, of at most 2^52 tokens together");
  }
  check_exchange(like, at("exchange"), row, errors);
}

std::vector<InputError> check_samples(const ScatterInstance& like, const SamplePlaces& places,
                                      std::vector<TimedRow>& rows) {
  ErrorList errors;
  for (std::size_t i = 0; i < rows.size(); ++i) check_sample(like, places, i, rows[i], errors);
  if (!errors.empty()) return std::move(errors).take();
  if (auto error = too_few(like, rows)) return {*std::move(error)};
  return {};
}

}  // namespace stowage
