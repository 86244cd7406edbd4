#include "cli/answers/page/side_by_side.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 4> kUnits = {" ms", " bytes", " MiB", "%"};

struct Amount {
  double value = 0;
  std::string_view unit;  // of kUnits, or empty for a count
  bool rounded = false;   // read from a text that may be rounded
};

// Returns the amount at the beginning of a text: 9806 and " ms" of "9 806 ms, verified". Returns
// nullopt for a text that begins otherwise, and for "3 of 4".
std::optional<Amount> amount_of(const Fact& fact) {
  const std::string_view text = fact.text;
  std::string digits;
  std::size_t end = 0;
  const auto digit_at = [text](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  while (digit_at(end) || (end < text.size() && end > 0 && (text[end] == ' ' || text[end] == '.') &&
                           digit_at(end + 1))) {
    if (text[end] != ' ') digits += text[end];
    ++end;
  }
  Amount amount;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), amount.value);
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size()) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(end);
  const auto* const unit = std::ranges::find_if(
      kUnits, [rest](std::string_view each) { return rest.starts_with(each); });
  if (unit != kUnits.end()) amount.unit = *unit;
  if (unit == kUnits.end() && !rest.empty()) return std::nullopt;
  amount.value = fact.amount.value_or(amount.value);
  amount.rounded = !fact.amount && !amount.unit.empty() && amount.unit != " bytes";
  return amount;
}

std::string difference_text(const Amount& one, const Amount& other) {
  const double difference = other.value - one.value;
  if (difference == 0) return one.rounded || other.rounded ? "none as rounded" : "none";
  const std::string sign = difference < 0 ? "-" : "+";
  const double size = std::abs(difference);
  const std::string unit = one.unit == "%" ? " points" : std::string(one.unit);
  const bool measured = one.unit == " ms" || one.unit == " MiB" || one.unit == "%";
  // ms_text() has at most three decimals.
  if (measured && size < 0.001) {
    return "less than 0.001" + unit + (difference < 0 ? " lower" : " higher");
  }
  std::string text = sign + (measured ? ms_text(size) : grouped(std::llround(size))) + unit;
  if (one.value > 0 && one.unit != "%" && !one.unit.empty()) {
    text += " (" + sign + percent_text(size / one.value) + ')';
  }
  return text;
}

const Fact* find_fact(const std::vector<Fact>& facts, const std::string& label) {
  const auto found = std::ranges::find(facts, label, &Fact::label);
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ComparedFact> compare_facts(const std::vector<Fact>& one,
                                        const std::vector<Fact>& other) {
  std::vector<ComparedFact> rows;
  for (const Fact& fact : one) {
    ComparedFact row{.label = fact.label, .texts = {fact.text, ""}, .difference = ""};
    if (const Fact* const its = find_fact(other, fact.label)) {
      row.texts[1] = its->text;
      const std::optional<Amount> first = amount_of(fact);
      const std::optional<Amount> second = amount_of(*its);
      if (first && second && first->unit == second->unit) {
        row.difference = difference_text(*first, *second);
      }
    }
    rows.push_back(std::move(row));
  }
  for (const Fact& fact : other) {
    if (find_fact(one, fact.label) != nullptr) continue;
    rows.push_back({.label = fact.label, .texts = {"", fact.text}, .difference = ""});
  }
  return rows;
}

}  // namespace stowage
