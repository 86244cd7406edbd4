// Checks an instance that a program made, for which no reader has checked anything.
//
//   ScatterInstance step = ...;
//   for (const InputError& error : check(step)) std::cerr << to_string(error) << '\n';
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <vector>

#include "instances/instance.h"
#include "instances/result.h"

namespace stowage {

// Everything wrong with the instance: the errors that a reader would report for its document, with
// pointers into that document, and those of what the document would leave out or mend: members
// beside a cost table, names that are not UTF-8, enumerators without a name. If there are none, the
// writers and the verifiers of the families may be called with it; solve() and verify() ask by
// themselves. Takes a pass over lengths or buffers; where something is wrong or layers repeat, the
// time and memory of writing the document and reading it again.
std::vector<InputError> check(const InstanceView& instance);

}  // namespace stowage
