// Prints the backends that solve() may ask, and reads an instance that is wrong.
#include <stowage/stowage.h>

#include <iostream>

int main() {
  for (const stowage::MilpBackend backend : stowage::built_backends()) {
    std::cout << "backend " << name(backend) << '\n';
  }
  try {
    stowage::read_instance("[").value();
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}
