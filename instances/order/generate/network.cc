#include "instances/order/generate/network.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr Bytes kActivationBytes = 4;
constexpr double kOperationsPerMs = 1e10;
constexpr double kBytesPerMs = 1e9;

// The output of a layer: channels of `side` times `side` points.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t side = 1;

  std::int64_t numbers() const { return kBatch * channels * side * side; }
  Bytes bytes() const { return kActivationBytes * numbers(); }
};

// Adds layers one by one, then their backward operators from the last to the first.
class NetworkBuilder {
 public:
  int picture(Shape shape) {
    outputs_.push_back({shape, add_tensor("picture", shape.bytes(), true)});
    return 0;
  }
  int convolution(int in, std::int64_t channels, std::int64_t kernel) {
    const Shape from = outputs_[at(in)].shape;
    const Shape to{channels, from.side};
    const double operations =
        2.0 * static_cast<double>(kernel * kernel * from.channels * to.numbers());
    return add("conv", {in}, to, operations / kOperationsPerMs, true);
  }
  int full(int in, std::int64_t channels) {
    const Shape from = outputs_[at(in)].shape;
    const double operations =
        2.0 * static_cast<double>(from.channels * from.side * from.side * kBatch * channels);
    return add("full", {in}, {channels, 1}, operations / kOperationsPerMs, true);
  }
  int pool(int in) {
    const Shape from = outputs_[at(in)].shape;
    return add("pool", {in}, {from.channels, from.side / 2}, moved(from.bytes()), true);
  }
  int up(int in, std::int64_t channels) {
    const Shape from = outputs_[at(in)].shape;
    const Shape to{channels, from.side * 2};
    const double operations = 2.0 * static_cast<double>(from.channels * to.numbers());
    return add("up", {in}, to, operations / kOperationsPerMs, true);
  }
  int concatenation(int a, int b) {
    const Shape& first = outputs_[at(a)].shape;
    const Shape to{first.channels + outputs_[at(b)].shape.channels, first.side};
    return add("concat", {a, b}, to, moved(to.bytes()), false);
  }

  OrderInstance take(int last) && {
    const int loss = add("loss", {last}, {1, 1}, moved(outputs_[at(last)].shape.bytes()), true);
    instance_.tensors[at(outputs_[at(loss)].tensor)].output = true;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) add_backward(*layer);
    return std::move(instance_);
  }

 private:
  struct Output {
    Shape shape;
    int tensor = 0;
    std::vector<int> gradients;  // tensors, one of each layer that reads the output
  };
  struct Layer {
    std::string name;
    std::vector<int> ins;  // indices of outputs
    int out = 0;
    Ms ms = 0;
    bool reads_back = false;  // its backward operator reads the inputs of the layer
  };

  static double moved(Bytes bytes) { return static_cast<double>(bytes) / kBytesPerMs; }

  int add_tensor(std::string id, Bytes size, bool input = false) {
    instance_.tensors.push_back({.id = std::move(id), .size = size, .input = input});
    return static_cast<int>(instance_.tensors.size()) - 1;
  }

  int add(const char* kind, const std::vector<int>& ins, Shape shape, Ms ms, bool reads_back) {
    const int out = static_cast<int>(outputs_.size());
    const std::string name = kind + std::to_string(layers_.size());
    OrderOperator op{.id = name, .ms = ms, .recompute = true};
    for (const int in : ins) op.reads.push_back(outputs_[at(in)].tensor);
    outputs_.push_back({shape, add_tensor(name + ".y", shape.bytes()), {}});
    op.writes = {outputs_.back().tensor};
    instance_.operators.push_back(std::move(op));
    layers_.push_back({name, ins, out, ms, reads_back});
    return out;
  }

  void add_backward(const Layer& layer) {
    OrderOperator op{.id = layer.name + ".back", .ms = 2 * layer.ms};
    for (const int gradient : outputs_[at(layer.out)].gradients) op.reads.push_back(gradient);
    for (const int in : layer.ins) {
      Output& read = outputs_[at(in)];
      if (layer.reads_back) op.reads.push_back(read.tensor);
      if (in == 0) continue;  // no operator needs the gradient of the pictures
      const std::string name = layer.name + ".dx" + std::to_string(op.writes.size());
      read.gradients.push_back(add_tensor(name, read.shape.bytes()));
      op.writes.push_back(read.gradients.back());
    }
    instance_.operators.push_back(std::move(op));
  }

  OrderInstance instance_;
  std::vector<Output> outputs_;
  std::vector<Layer> layers_;
};

}  // namespace

OrderInstance vgg_graph(std::int64_t operators) {
  constexpr std::int64_t kOthers = 9;  // layers that are not convolutions
  constexpr std::int64_t kConvolutions = 13;
  const std::int64_t times = std::max<std::int64_t>(1, (operators / 2 - kOthers) / kConvolutions);
  NetworkBuilder network;
  int x = network.picture({3, 224});
  const std::pair<int, int> stages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  for (const auto& [convolutions, channels] : stages) {
    for (std::int64_t k = 0; k < times * convolutions; ++k) x = network.convolution(x, channels, 3);
    x = network.pool(x);
  }
  for (const int channels : {4096, 4096, 1000}) x = network.full(x, channels);
  return std::move(network).take(x);
}

OrderInstance unet_graph(std::int64_t operators) {
  constexpr std::int64_t kOthers = 14;  // layers that are not double convolutions
  constexpr std::int64_t kConvolutions = 18;
  const std::int64_t times = std::max<std::int64_t>(1, (operators / 2 - kOthers) / kConvolutions);
  NetworkBuilder network;
  int x = network.picture({3, 256});
  const auto stage = [&](std::int64_t channels) {
    for (std::int64_t k = 0; k < 2 * times; ++k) x = network.convolution(x, channels, 3);
  };
  std::vector<int> skipped;
  for (const int channels : {64, 128, 256, 512}) {
    stage(channels);
    skipped.push_back(x);
    x = network.pool(x);
  }
  stage(1024);
  for (const int channels : {512, 256, 128, 64}) {
    x = network.concatenation(network.up(x, channels), skipped.back());
    skipped.pop_back();
    stage(channels);
  }
  const int last = network.convolution(x, 2, 1);
  return std::move(network).take(last);
}

}  // namespace stowage
