#include "instances/lengths/binary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "instances/lengths/entries.h"

namespace stowage {
namespace {

// Returns the unsigned integer of `size` bytes at `offset`. The bytes must be there.
std::uint64_t bits_at(std::string_view bytes, std::size_t offset, std::size_t size,
                      bool big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = big_endian ? offset + i : offset + size - 1 - i;
    bits = bits << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return bits;
}

InputError not_readable(std::string_view file, std::string message) {
  return {code::kLengthFormat, std::string(file), std::move(message)};
}

// The type of an array's elements: "<i8" is a signed little-endian integer of 8 bytes.
struct ElementType {
  bool big_endian = false;
  bool is_signed = true;
  std::size_t size = 8;
};

// Returns the value behind 'key': in the header of a .npy file, up to the end of a text or tuple.
std::string_view npy_value(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  const std::size_t colon = header.find(':', at);
  const std::size_t begin =
      colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos) return {};
  const char close = header[begin] == '(' ? ')' : header[begin] == '[' ? ']' : header[begin];
  const std::size_t end = header.find(close, begin + 1);
  return end == std::string_view::npos ? std::string_view() : header.substr(begin, end - begin + 1);
}

std::optional<ElementType> element_type(std::string_view quoted) {
  if (quoted.size() != 5) return std::nullopt;  // '<i8' with its quotation marks
  const std::string_view text = quoted.substr(1, 3);
  if (std::string_view("<>|=").find(text[0]) == std::string_view::npos) return std::nullopt;
  if (text[1] != 'i' && text[1] != 'u') return std::nullopt;
  if (std::string_view("1248").find(text[2]) == std::string_view::npos) return std::nullopt;
  return ElementType{.big_endian = text[0] == '>',
                     .is_signed = text[1] == 'i',
                     .size = static_cast<std::size_t>(text[2] - '0')};
}

// Returns the number of elements of a shape like "(512,)", nullopt for any other shape.
std::optional<std::uint64_t> one_dimension(std::string_view shape) {
  std::uint64_t count = 0;
  if (shape.size() < 4 || !shape.ends_with(",)")) return std::nullopt;
  const char* const last = shape.data() + shape.size() - 2;
  const auto [end, failure] = std::from_chars(shape.data() + 1, last, count);
  if (failure != std::errc() || end != last) return std::nullopt;
  return count;
}

// Returns the element as tokens, nullopt if it is beyond 63 bits.
std::optional<Tokens> element_at(std::string_view bytes, std::size_t offset,
                                 const ElementType& type) {
  std::uint64_t bits = bits_at(bytes, offset, type.size, type.big_endian);
  const std::uint64_t sign = std::uint64_t{1} << (8 * type.size - 1);
  if (type.is_signed && (bits & sign) != 0) bits |= ~(sign - 1);
  if (!type.is_signed && bits > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<Tokens>(bits);
}

void add_element(LengthEntries& entries, std::uint64_t index, std::optional<Tokens> value) {
  entries.add(
      value, [&] { return entries.file() + '[' + std::to_string(index) + ']'; },
      [&] { return value ? std::to_string(*value) : "beyond 2^63"; });
}

Result<LengthFile> with_remark(LengthEntries entries, std::string remark = "") {
  Result<std::vector<Tokens>> lengths = std::move(entries).take();
  if (!lengths) return lengths.errors();
  return LengthFile{*std::move(lengths), std::move(remark)};
}

struct Foreign {
  std::string_view magic;
  std::string_view name;
};

constexpr std::array<Foreign, 13> kForeign = {
    {{"PAR1", "a Parquet file"},
     {"ARROW1", "an Arrow file"},
     {"\xff\xff\xff\xff", "an Arrow stream"},
     {std::string_view("TNTIDX\0\0", 8), "an index of fairseq or of Megatron-LM before 2021"},
     {"\xff\xfe", "UTF-16 text"},
     {"\xfe\xff", "UTF-16 text"},
     {"\x1f\x8b", "compressed by gzip"},
     {"\x28\xb5\x2f\xfd", "compressed by zstd"},
     {"\xfd"
      "7zXZ",
      "compressed by xz"},
     {"BZh", "compressed by bzip2"},
     {"PK\x03\x04", "a ZIP archive, as .npz and .pt are"},
     {"\x89HDF", "an HDF5 file"},
     {"SQLite format 3", "a database of SQLite"}}};

}  // namespace

Result<LengthFile> read_npy_lengths(std::string_view bytes, std::string_view file,
                                    const LengthSelection& selection) {
  constexpr std::size_t kVersionEnd = 8;
  const std::uint64_t version =
      bytes.size() < kVersionEnd ? 0 : static_cast<unsigned char>(bytes[kNpyMagic.size()]);
  const std::size_t width = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || bytes.size() < kVersionEnd + width) {
    return not_readable(file, "must be a .npy file of version 1 to 3, is another or cut short");
  }
  const std::uint64_t header_bytes = bits_at(bytes, kVersionEnd, width, false);
  const std::size_t begin = kVersionEnd + width;
  if (header_bytes > bytes.size() - begin) {
    return not_readable(file, "must be a whole .npy file, is cut short in its header");
  }
  const std::string_view header = bytes.substr(begin, header_bytes);
  const std::string_view data = bytes.substr(begin + header_bytes);
  const std::string_view descr = npy_value(header, "descr");
  const std::optional<ElementType> type = element_type(descr);
  if (!type) {
    return not_readable(file, "must be an array of integers, is of the type " + in_quotes(descr) +
                                  ": save array.astype(numpy.int64)");
  }
  const std::string_view shape = npy_value(header, "shape");
  const std::optional<std::uint64_t> count = one_dimension(shape);
  if (!count) {
    return not_readable(file, "must be an array of one dimension, has the shape " +
                                  in_quotes(shape) + ": save array.reshape(-1)");
  }
  if (data.size() % type->size != 0 || data.size() / type->size != *count) {
    return not_readable(file, "must have " + std::to_string(*count) + " elements of " +
                                  std::to_string(type->size) + " bytes, has " +
                                  std::to_string(data.size()) + " bytes");
  }
  LengthEntries entries(file, selection);
  for (std::uint64_t i = 0; i < *count && entries.wanted() && !entries.over(); ++i) {
    if (entries.selected()) {
      add_element(entries, i, element_at(data, i * type->size, *type));
    } else {
      entries.skip();
    }
  }
  return with_remark(std::move(entries));
}

Result<LengthFile> read_megatron_lengths(std::string_view bytes, std::string_view file,
                                         const LengthSelection& selection) {
  constexpr std::size_t kHeaderBytes = 9 + 8 + 1 + 8 + 8;
  if (bytes.size() < kHeaderBytes) {
    return not_readable(file, "must be a whole index of Megatron-LM, is cut short in its header");
  }
  const std::uint64_t version = bits_at(bytes, 9, 8, false);
  const std::uint64_t sequences = bits_at(bytes, 18, 8, false);
  const std::uint64_t bounds = bits_at(bytes, 26, 8, false);
  if (version != 1) {
    return not_readable(file, "must be an index of Megatron-LM of version 1, is of version " +
                                  std::to_string(version));
  }
  // A sequence has a length (4 bytes) and a pointer (8), and may have a mode (1).
  const std::size_t body = bytes.size() - kHeaderBytes;
  if (sequences > body / 12 || bounds > body / 8 ||
      (body != 12 * sequences + 8 * bounds && body != 13 * sequences + 8 * bounds)) {
    return not_readable(file, "must have the bytes of " + std::to_string(sequences) +
                                  " sequences and " + std::to_string(bounds) +
                                  " bounds of documents, has " + std::to_string(body));
  }
  const auto bound = [&](std::uint64_t i) {
    return bits_at(bytes, kHeaderBytes + 12 * sequences + 8 * i, 8, false);
  };
  if (bounds == 0 || bound(0) != 0 || bound(bounds - 1) != sequences) {
    return not_readable(file, "must have documents from sequence 0 to sequence " +
                                  std::to_string(sequences) + ", has others");
  }
  LengthEntries entries(file, selection);
  for (std::uint64_t i = 0; i + 1 < bounds && entries.wanted() && !entries.over(); ++i) {
    if (bound(i + 1) < bound(i) || bound(i + 1) > sequences) {
      return not_readable(file,
                          "must have documents in order, is not at document " + std::to_string(i));
    }
    if (!entries.selected()) {
      entries.skip();
      continue;
    }
    Tokens tokens = 0;  // at most 2^29 bytes of 32-bit lengths: no overflow
    bool negative = false;
    for (std::uint64_t s = bound(i); s < bound(i + 1); ++s) {
      const auto length = static_cast<std::int32_t>(bits_at(bytes, kHeaderBytes + 4 * s, 4, false));
      negative = negative || length < 0;
      tokens += length;
    }
    add_element(entries, i, negative ? std::optional<Tokens>(-1) : tokens);
  }
  return with_remark(std::move(entries), bounds - 1 == sequences
                                             ? ""
                                             : "the lengths are those of the " +
                                                   std::to_string(bounds - 1) +
                                                   " documents, which have " +
                                                   std::to_string(sequences) + " sequences");
}

std::string_view foreign_format(std::string_view bytes) {
  const auto* const found =
      std::ranges::find_if(kForeign, [&](const Foreign& f) { return bytes.starts_with(f.magic); });
  return found == kForeign.end() ? std::string_view() : found->name;
}

}  // namespace stowage
