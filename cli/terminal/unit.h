// Amounts of a family's objective, for people and in JSON.
//
//   write_amount(json, "objective", 15310.4, kMs);      // "objective_ms": 15310.4
//   amount_text(1048576, kBytes) == "1 048 576"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "instances/json/writer.h"
#include "instances/unit.h"

namespace stowage {

// The amount without its unit; "-" when there is none.
std::string amount_text(const std::optional<double>& amount, const Unit& unit);

// "15 310 ms"
std::string with_unit(double amount, const Unit& unit);

// The member `stem`_`unit`; null when there is no amount.
void write_amount(JsonWriter& json, std::string_view stem, const std::optional<double>& amount,
                  const Unit& unit);

// The member `key` of a number without a unit; null when there is none.
void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& number);

}  // namespace stowage
