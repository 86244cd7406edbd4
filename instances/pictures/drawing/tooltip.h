// Texts that the tooltips of all pictures share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace stowage {

// Returns "sequence 17", "3 sequences: 4, 8, 15", "80 sequences: 4, 8, ... and 68 more" with at
// most `most` ids.
std::string sequence_names(std::span<const std::int64_t> ids, std::size_t most);

// Returns the most ids that a tooltip lists, so that all tooltips together stay small; with few
// ids, all of them. `ids` counts an id as often as tooltips would repeat it.
std::size_t ids_per_tooltip(std::size_t ids);

// Returns the user's name, cut to the length of a tooltip's line: thousands of tooltips may contain
// it.
std::string brief(const std::string& name);

// Returns "9 806 ms".
std::string ms_amount(double ms);

// Returns "1 048 576 bytes".
std::string bytes_amount(double bytes);

}  // namespace stowage
