// Whether an instance that a program made, and no reader, is one.
//
//   ScatterInstance step = ...;
//   for (const InputError& error : check(step)) std::cerr << to_string(error) << '\n';
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <vector>

#include "instances/families.h"
#include "instances/result.h"

namespace stowage {

// What keeps the instance from being one: the errors its document would be refused with, with
// pointers into that document; empty if solve(), verify() and the writers may be given it. Takes
// the time and memory of writing the document and reading it again.
std::vector<InputError> check(const Instance& instance);

}  // namespace stowage
