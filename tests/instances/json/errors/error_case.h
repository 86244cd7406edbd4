// A way to break an input, and the errors that its reader must give.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/scatter/json/json.h"
#include "tests/instances/json_fixture.h"

namespace stowage::json_errors_test {

using Errors = std::vector<InputError>;

template <class T>
Errors errors_of(const Result<T>& result) {
  return result ? Errors{} : result.errors();
}

struct Case {
  std::string name;
  std::function<Errors()> read;
  std::vector<std::string> expected;  // prefixes of the errors, in order
};

// The instance with one text replaced by another.
inline Case instance_case(std::string name, std::string from, std::string to,
                          std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_scatter_instance(with(kValidInstance, from, to))); },
          std::move(expected)};
}

inline Case plan_case(std::string name, std::string from, std::string to,
                      std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_scatter_plan(with(kValidPlan, from, to))); },
          std::move(expected)};
}

inline std::string times(int count, std::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace stowage::json_errors_test
