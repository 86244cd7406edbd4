// Layouts as MiniMalloc's tables (github.com/google/minimalloc): one line per buffer.
//
//   id,lower,upper,size,alignment,gaps,offset
//   b1,0,3,4,1,,
//   b2,3,9,4,8,5-7 8-9,16
//
//   Result<LayoutInstance> read = read_layout_csv(text, "A.1048576.csv");
//   instance.capacity = capacity_in_file_name("A.1048576.csv");   // the table does not hold it
//
// Columns stand in any order; alignment, gaps and offset (a pin) may be missing, and empty fields
// mean their defaults. `buffer` and `buffer_id` are other names of id, `start` and `begin` of
// lower. A column called `end` holds the last step instead of the first one after it, in the gaps
// as well. A column `hint` is read and ignored. Fields are not quoted. The format has no room for
// the layers of an instance.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/result.h"

namespace stowage {

// Returns whether the first line has several columns and names one of a table of buffers.
bool names_buffers(std::string_view text);

// `file` names the table in errors, which point at FILE:LINE or FILE:LINE:COLUMN. The errors are
// those of read_layout_instance(), E411 for the header, E412 for a line with too few or too many
// fields, and E413 for a field that cannot be read. A gap in which the buffer needs some of its
// bytes
// (`5-7@0:16`) is no gap of the instance, so every layout of the instance is a layout of the table;
// their number is stored in `partial_gaps`.
Result<LayoutInstance> read_layout_csv(std::string_view text, std::string_view file,
                                       std::int64_t* partial_gaps = nullptr);

// Returns the table. Columns of default values are left out. The alignment of the instance becomes
// one of each buffer. E414 for an id that the format cannot carry: an id with a comma, a control
// character or spaces around it, or one that a spreadsheet takes for a formula (=, +, - or @
// first).
Result<std::string> write_layout_csv(const LayoutInstance& instance);

// Returns the table with the plan's offsets, which pin the buffers. Requires one offset per buffer.
Result<std::string> write_layout_csv(const LayoutInstance& instance, const LayoutPlan& plan);

// Returns the capacity in bytes that the names of MiniMalloc's benchmarks carry: 1048576 for
// "A.1048576.csv". Returns nullopt if the last part but one of the name is not an integer up to
// 2^53.
std::optional<Bytes> capacity_in_file_name(const std::filesystem::path& path);

}  // namespace stowage
