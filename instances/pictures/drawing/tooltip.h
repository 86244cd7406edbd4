// Words that the tooltips of all pictures share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace stowage {

// "sequence 17", "3 sequences: 4, 8, 15", "80 sequences: 4, 8, ... and 68 more" with at most `most`
// ids.
std::string sequence_names(std::span<const std::int64_t> ids, std::size_t most);

// How many ids a tooltip may list, so that all tooltips together stay small: every id where there
// are few. `ids` counts them as often as tooltips would repeat them.
std::size_t ids_per_tooltip(std::size_t ids);

// A name of somebody's, cut where it is longer than a tooltip's line: there may be thousands of
// tooltips with it.
std::string brief(const std::string& name);

// "9 806 ms"
std::string ms_amount(double ms);

// "1 048 576 bytes"
std::string bytes_amount(double bytes);

}  // namespace stowage
