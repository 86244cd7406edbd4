// An error of the command line or of an input, with the file that it belongs to.
#pragma once

#include <string>

#include "instances/result.h"

namespace stowage {

// `file` is set for errors inside a file.
struct CliError {
  std::string file;
  InputError error;
};

}  // namespace stowage
