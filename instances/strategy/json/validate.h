// The rules that join several keys of a strategy instance: lists that must not be empty, limits of
// their products, experts and their ranks, measured costs. Not installed.
//
//   check_strategy(instance, root, errors);   // once its members are read without an error
#pragma once

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/strategy/instance.h"

namespace stowage {

// Adds errors E108 and E381 to E385, at places below `root`.
void check_strategy(const StrategyInstance& instance, const JsonPath& root, ErrorList& errors);

}  // namespace stowage
