// The layout instance: buffers with known lifetimes that share one memory.
//
// Buffer i has a size in bytes and lives from step `lower` up to, but not including, step `upper`.
// Two buffers that need memory at the same step must not overlap in address. The peak, the largest
// offset + size, is minimised, or a capacity is to be met. This is dynamic storage allocation.
// Source: MEMO (arXiv 2407.12117, section 4.2); the file format is in instances/layout/README.md.
//
//   LayoutInstance trace{.name = "three",
//                        .buffers = {{.id = "x", .lower = 0, .upper = 2, .size = 64},
//                                    {.id = "y", .lower = 1, .upper = 3, .size = 32},
//                                    {.id = "z", .lower = 2, .upper = 4, .size = 64}}};
//   // x and z may share their bytes: the peak is 96.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/model/recorded_block.h"
#include "instances/units.h"

namespace stowage {

// Steps [lower, upper), lower < upper.
struct Lifetime {
  std::int64_t lower = 0;
  std::int64_t upper = 0;

  bool operator==(const Lifetime&) const = default;
};

struct Buffer {
  std::string id;  // unique; empty means its index
  std::int64_t lower = 0;
  std::int64_t upper = 0;       // lower < upper
  Bytes size = 0;               // >= 0
  Bytes alignment = 1;          // the offset is a multiple of it; any number >= 1
  std::optional<Bytes> offset;  // pinned here; a multiple of the alignment
  std::vector<Lifetime> gaps;   // steps inside the lifetime at which its bytes are free for
                                // others; ascending, disjoint, not touching, inside [lower, upper)

  bool operator==(const Buffer&) const = default;
};

// A block that the trace repeats, e.g. the forward pass of one transformer layer: occurrence r
// consists of the buffers occurrences[r] (indices). The j-th buffers of any two occurrences have
// the same size and alignment, lifetimes and gaps shifted by one amount for the whole occurrence.
// No buffer stands in two occurrences, none is pinned.
struct RepeatedBlock {
  std::string name;
  std::vector<std::vector<std::int64_t>> occurrences;

  bool operator==(const RepeatedBlock&) const = default;
};

struct LayoutInstance {
  std::string name;
  std::optional<Bytes> capacity;  // no offset + size may exceed it
  Bytes alignment = 1;  // of every buffer, beside its own: the least common multiple holds
  std::vector<Buffer> buffers;
  std::vector<RepeatedBlock> layers;
  std::optional<RecordedBlock> recorded_from;  // whose kernels issue these buffers

  bool operator==(const LayoutInstance&) const = default;
};

}  // namespace stowage
