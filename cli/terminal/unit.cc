#include "cli/terminal/unit.h"

#include <cmath>
#include <cstdint>

#include "instances/numeric/numbers.h"

namespace stowage {

std::string amount_text(const std::optional<double>& amount, const Unit& unit) {
  if (!unit.integral) return ms_text(amount);
  return amount && std::isfinite(*amount) ? grouped(std::llround(*amount)) : "-";
}

std::string with_unit(double amount, const Unit& unit) {
  return amount_text(amount, unit) + ' ' + std::string(unit.name);
}

void write_amount(JsonWriter& json, std::string_view stem, const std::optional<double>& amount,
                  const Unit& unit) {
  json.key(std::string(stem) + '_' + std::string(unit.name));
  if (!amount) {
    json.null();
  } else if (unit.integral && std::isfinite(*amount)) {
    json.integer(std::llround(*amount));
  } else {
    json.number(*amount);
  }
}

void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  json.key(key);
  number ? json.number(*number) : json.null();
}

}  // namespace stowage
