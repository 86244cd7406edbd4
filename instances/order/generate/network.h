// Training steps of convolutional networks for generate_order(). Not installed.
//
// VGG: convolutions of five sizes of picture with a pool behind each size, and three full layers
// (Simonyan and Zisserman, arXiv 1409.1556, configuration D). U-Net: convolutions down four sizes
// and up again, where each size on the way up reads the last output of that size on the way down
// (Ronneberger et al., 1505.04597). Every layer has a forward and a backward operator. The backward
// operator reads the inputs of the layer and the gradients of its output. Forward operators may run
// again. Weights and their gradients need the same memory in every plan and are left out, as in
// Checkmate (1910.02653, section 6).
#pragma once

#include <cstdint>

#include "instances/order/instance.h"

namespace stowage {

// Return graphs of roughly `operators` operators: more convolutions of each size, but not fewer
// than the published number. The batch has 32 pictures and numbers have 4 bytes. Forward times
// assume 10^10 operations and 10^9 bytes a ms; backward times are twice as long.
OrderInstance vgg_graph(std::int64_t operators);
OrderInstance unet_graph(std::int64_t operators);

}  // namespace stowage
