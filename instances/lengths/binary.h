// Binary files of lengths: arrays of NumPy and indexes of Megatron-LM's data sets.
#pragma once

#include <string_view>

#include "instances/lengths/entries.h"

namespace stowage {

// Reads an array of NumPy: versions 1 to 3 of the format, one dimension, integers of 1 to 8 bytes.
// Source: numpy.lib.format.
Result<LengthFile> read_npy_lengths(std::string_view bytes, std::string_view file,
                                    const LengthSelection& selection);

// Reads an index (.idx) of Megatron Core's IndexedDataset, version 1: the length of each document
// in tokens, which is the sum of its sequences. Source: megatron/core/datasets/indexed_dataset.py.
Result<LengthFile> read_megatron_lengths(std::string_view bytes, std::string_view file,
                                         const LengthSelection& selection);

// Returns the format that the first bytes show if no reader here knows it, for instance "a Parquet
// file". Returns an empty string for all other bytes.
std::string_view foreign_format(std::string_view bytes);

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr std::string_view kMegatronMagic{"MMIDIDX\0\0", 9};

}  // namespace stowage
