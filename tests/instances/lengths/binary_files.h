// Makes small binary files of lengths as NumPy and Megatron-LM write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// Appends the `size` lowest bytes of a number.
inline void put_bytes(std::string& out, std::int64_t value, std::size_t size,
                      bool big_endian = false) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t shift = 8 * (big_endian ? size - 1 - i : i);
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xFFU);
  }
}

// Returns a .npy file of a type like "<i8" and a shape like "(3,)".
inline std::string npy_file(std::string_view type, std::string_view shape,
                            const std::vector<std::int64_t>& values, int version = 1) {
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }";
  header.resize((header.size() + 12 + 64) / 64 * 64 - 12, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  put_bytes(file, static_cast<std::int64_t>(header.size()), version == 1 ? 2 : 4);
  file += header;
  for (const std::int64_t value : values) {
    put_bytes(file, value, static_cast<std::size_t>(type.back() - '0'), type.front() == '>');
  }
  return file;
}

// Returns an index (.idx) of sequences of these lengths; `documents` are the bounds of the
// documents in sequences. `modes`: with a mode for each sequence, as multimodal data has.
inline std::string megatron_index(const std::vector<std::int64_t>& lengths,
                                  const std::vector<std::int64_t>& documents, bool modes = false) {
  std::string file("MMIDIDX\0\0", 9);
  put_bytes(file, 1, 8);
  put_bytes(file, 8, 1);  // the code of uint16
  put_bytes(file, static_cast<std::int64_t>(lengths.size()), 8);
  put_bytes(file, static_cast<std::int64_t>(documents.size()), 8);
  for (const std::int64_t length : lengths) put_bytes(file, length, 4);
  std::int64_t pointer = 0;
  for (const std::int64_t length : lengths) {
    put_bytes(file, pointer, 8);
    pointer += 2 * length;
  }
  for (const std::int64_t bound : documents) put_bytes(file, bound, 8);
  if (modes) file += std::string(lengths.size(), '\0');
  return file;
}

}  // namespace stowage
