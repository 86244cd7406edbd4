#include "instances/result.h"

#include <ostream>

namespace stowage {

std::ostream& operator<<(std::ostream& out, const InputError& error) {
  return out << to_string(error);
}

}  // namespace stowage
