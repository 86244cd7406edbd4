// A graph of five operators, for certificates that are written by hand.
#pragma once

#include "instances/order/instance.h"

namespace stowage {

// Two branches from inputs of 9 bytes to outputs of 1 byte, each through a tensor of 20 bytes; the
// last operator reads both outputs. The first branch to start needs 38 bytes, which is the least
// peak.
inline OrderInstance two_branches() {
  return {.tensors = {{.size = 9, .input = true},
                      {.size = 9, .input = true},
                      {.size = 20},
                      {.size = 20},
                      {.size = 1, .output = true},
                      {.size = 1, .output = true}},
          .operators = {{.reads = {0}, .writes = {2}},
                        {.reads = {1}, .writes = {3}},
                        {.reads = {2}, .writes = {4}},
                        {.reads = {3}, .writes = {5}},
                        {.reads = {4, 5}}}};
}

}  // namespace stowage
