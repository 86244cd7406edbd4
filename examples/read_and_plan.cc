// Reads an instance of any family from a file, plans it and prints what a verifier says of the
// plan. One header has everything.
#include <stowage/stowage.h>

#include <fstream>
#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: read_and_plan INSTANCE\n";
    return 2;
  }
  try {
    std::ostringstream text;
    text << std::ifstream(argv[1]).rdbuf();
    // Throws a line for each error of the file.
    const stowage::Instance instance = stowage::read_instance(text.str()).value();
    stowage::Budget budget({.time_limit_s = 1});
    const stowage::Outcome outcome = stowage::solve(instance, {}, budget);
    std::cout << to_string(outcome.status);
    if (!outcome.plan) return 1;
    std::cout << ", objective " << outcome.objective.value_or(0) << '\n';
    const auto violations = verify(instance, *outcome.plan);
    for (const stowage::Violation& violation : violations) std::cerr << violation << '\n';
    return violations.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
