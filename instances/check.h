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

// Returns every error of the instance. First, the errors that a reader would report for the
// instance's document, with pointers into that document. Second, errors that the document would
// leave out or repair: members beside a cost table, names that are not UTF-8, enumerators without a
// name. If there are no errors, the writers and the verifiers of the families may be called with
// the instance. solve() and verify() call this function themselves. Takes one pass over lengths or
// buffers. If there are errors or repeated layers, it takes the time and memory of writing the
// document and reading it again.
std::vector<InputError> check(const InstanceView& instance);

}  // namespace stowage
