// Formats amounts of a family's objective for people and for JSON.
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

// Returns the amount without its unit, or "-" for nullopt.
std::string amount_text(const std::optional<double>& amount, const Unit& unit);

// Returns the amount with its unit, for instance "15 310 ms".
std::string with_unit(double amount, const Unit& unit);

// Writes the member `stem`_`unit`; its value is null for nullopt.
void write_amount(JsonWriter& json, std::string_view stem, const std::optional<double>& amount,
                  const Unit& unit);

// Writes the member `key`, a number without a unit; its value is null for nullopt.
void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& number);

}  // namespace stowage
