// Training steps of convolutional networks for generate_order(). Not installed.
//
// VGG: convolutions of five sizes of picture with a pool behind each, and three full layers
// (Simonyan and Zisserman, arXiv 1409.1556, configuration D). U-Net: convolutions down four sizes
// and up again, where each reads the last output of its size on the way down (Ronneberger et al.,
// 1505.04597). Every layer has an operator forward and one backward, which reads what the layer
// read and the gradients of what it made. Forward operators may run again. Weights and their
// gradients, which need the same memory in every plan, are left out, as in Checkmate (1910.02653,
// section 6).
#pragma once

#include <cstdint>

#include "instances/order/instance.h"

namespace stowage {

// Batches of 32 pictures, numbers of 4 bytes; times at 10^10 operations and 10^9 bytes a ms, twice
// that backward. About so many operators: more convolutions of each size, not below the published
// number.
OrderInstance vgg_graph(std::int64_t operators);
OrderInstance unet_graph(std::int64_t operators);

}  // namespace stowage
