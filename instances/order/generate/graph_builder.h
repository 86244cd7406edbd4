// Builds a graph operator by operator. Generators use it. Not installed.
//
//   GraphBuilder graph;
//   const int x = graph.input("x", 64);
//   const int y = graph.run("f", {x}, "y", 32);      // writes a new tensor
//   graph.mark_output(y);
//   OrderInstance instance = std::move(graph).take();
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/instance.h"

namespace stowage {

// Returns an id such as "y7".
inline std::string numbered(const char* name, std::int64_t number) {
  return name + std::to_string(number);
}

class GraphBuilder {
 public:
  int input(std::string id, Bytes size) { return add({std::move(id), size, true, false}); }
  // Adds an input that is live from the start to the end; returns its index.
  int resident(std::string id, Bytes size) { return add({std::move(id), size, true, true}); }
  void mark_output(int tensor) { instance_.tensors[at(tensor)].output = true; }

  // Adds an operator and the tensor that it writes; returns the index of the tensor.
  int run(std::string id, const std::vector<int>& reads, std::string tensor, Bytes size) {
    const int made = add({std::move(tensor), size});
    instance_.operators.push_back({.id = std::move(id), .reads = indices(reads), .writes = {made}});
    return made;
  }
  // Adds an operator that changes `tensor` in place.
  void update(std::string id, const std::vector<int>& reads, int tensor) {
    instance_.operators.push_back(
        {.id = std::move(id), .reads = indices(reads), .updates = {tensor}});
  }

  OrderInstance take() && { return std::move(instance_); }

 private:
  int add(OrderTensor tensor) {
    instance_.tensors.push_back(std::move(tensor));
    return static_cast<int>(instance_.tensors.size()) - 1;
  }
  static std::vector<std::int64_t> indices(const std::vector<int>& tensors) {
    return {tensors.begin(), tensors.end()};
  }

  OrderInstance instance_;
};

}  // namespace stowage
