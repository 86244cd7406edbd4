// The layout instance: buffers with known lifetimes that share one memory.
//
// Buffer i has a size in bytes and lives from step `lower` up to, but not including, step `upper`.
// Two buffers that need memory at the same step must not overlap in address. A plan minimises the
// peak, the largest offset + size, or meets a capacity. This problem is dynamic storage allocation.
// Source: MEMO (arXiv 2407.12117, section 4.2). The file format is in docs/reference/layout.md.
// Source: MEMO (arXiv 2407.12117, section 4.2); the file format is in docs/reference/layout.md.
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
  std::vector<Lifetime> gaps;   // steps inside the lifetime at which other buffers may use its
                                // bytes; ascending, disjoint, not touching, in [lower, upper)

  bool operator==(const Buffer&) const = default;
};

// A block that the trace repeats, e.g. the forward pass of one transformer layer. Occurrence r
// consists of the buffers with the indices occurrences[r]. The j-th buffers of any two occurrences
// have the same size and alignment, and lifetimes and gaps that differ by one shift for the whole
// occurrence. No buffer stands in two occurrences, and none is pinned.
struct RepeatedBlock {
  std::string name;
  std::vector<std::vector<std::int64_t>> occurrences;

  bool operator==(const RepeatedBlock&) const = default;
};

struct LayoutInstance {
  std::string name;
  std::optional<Bytes> capacity;  // no offset + size may exceed it
  Bytes alignment = 1;            // of every buffer: the least common multiple with its own holds
  std::vector<Buffer> buffers;
  std::vector<RepeatedBlock> layers;
  std::optional<RecordedBlock> recorded_from;  // the step whose kernels allocate the buffers

  bool operator==(const LayoutInstance&) const = default;
};

}  // namespace stowage
