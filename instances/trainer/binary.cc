// Reads and writes trainer files as bytes: docs/reference/trainer.md, "The binary form". Numbers
// are little-endian on every machine. A size is used only after the file is known to have that many
// bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <limits>
#include <string>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/trainer/stated.h"
#include "instances/trainer/step.h"

namespace stowage {
namespace {

// The first byte is neither ASCII nor the start of a UTF-8 character: no text begins like this.
constexpr std::string_view kMagic = "\x93STOWAGE";
constexpr std::uint32_t kNewestVersion = 4;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::array<std::string_view, 3> kProblems = {"", "scatter", "assign"};  // by number

struct Header {
  std::uint32_t version = 1;
  std::uint32_t problem = 0;  // index into kProblems
  std::uint64_t bytes = 0;    // of the file
  std::int64_t loss_denominator = 0;
  std::uint32_t ranks = 0;
  std::uint32_t micro_batches = 0;
  std::uint32_t batches = 0;
  std::uint32_t sequences = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t hash_bytes = 0;
  // From version 3 on, 0 before: the bytes and the number of the names of recomputation choices, 0
  // in version 4 if there are none, and 1 if there are loss_tokens.
  std::uint32_t way_bytes = 0;
  std::uint16_t ways = 0;
  std::uint16_t targets = 0;

  bool has_targets() const { return version == 2 || targets == 1; }
  bool has_ways() const { return version == 3 || ways > 0; }
  bool has_offload() const { return version >= 4; }

  // Returns the bytes of a file with this header. The counts are 32-bit numbers, whose product with
  // a small factor fits 64 bits. Ranks times micro-batches must be checked before this call.
  std::uint64_t expected_bytes() const {
    const std::uint64_t slots = std::uint64_t{ranks} * micro_batches;
    return kHeaderBytes + 8ULL * batches + 4ULL * (6ULL * batches + batches + 1) +
           4ULL * ((has_targets() ? 3ULL : 2ULL) * sequences +
                   2ULL * (std::uint64_t{sequences} + batches) + slots) +
           (has_ways() ? 4ULL * (std::uint64_t{ways} + batches) : 0) +
           (has_offload() ? 8ULL * batches : 0) + name_bytes + hash_bytes + way_bytes;
  }
};

template <std::integral T>
void put(std::string& out, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
  }
}

template <std::integral T>
void put(std::string& out, const std::vector<T>& values) {
  for (const T value : values) put(out, value);
}

// Takes numbers off the front of bytes; the caller has checked that they suffice.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <std::integral T>
  T take() {
    std::make_unsigned_t<T> bits = 0;
    const std::string_view from = text(sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bits |= static_cast<std::make_unsigned_t<T>>(
          static_cast<std::make_unsigned_t<T>>(static_cast<unsigned char>(from[i])) << (8 * i));
    }
    return static_cast<T>(bits);
  }

  template <std::integral T>
  std::vector<T> take(std::size_t count) {
    std::vector<T> values(count);
    for (T& value : values) value = take<T>();
    return values;
  }

  std::string_view text(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

Header take_header(Cursor& cursor) {
  cursor.text(kMagic.size());
  Header header;
  header.version = cursor.take<std::uint32_t>();
  header.problem = cursor.take<std::uint32_t>();
  header.bytes = cursor.take<std::uint64_t>();
  header.loss_denominator = cursor.take<std::int64_t>();
  header.ranks = cursor.take<std::uint32_t>();
  header.micro_batches = cursor.take<std::uint32_t>();
  header.batches = cursor.take<std::uint32_t>();
  header.sequences = cursor.take<std::uint32_t>();
  header.name_bytes = cursor.take<std::uint32_t>();
  header.hash_bytes = cursor.take<std::uint32_t>();
  header.way_bytes = cursor.take<std::uint32_t>();
  header.ways = cursor.take<std::uint16_t>();
  header.targets = cursor.take<std::uint16_t>();
  return header;
}

std::string number(std::uint64_t value) { return std::to_string(value); }

// Returns all faults of the header of a file of `bytes` bytes.
std::vector<InputError> header_faults(const Header& header, std::size_t bytes) {
  ErrorList errors;
  if (header.version < 1 || header.version > kNewestVersion) {
    errors.add(code::kVersion, "byte 8", "must be version 1 to 4, is " + number(header.version));
    return std::move(errors).take();
  }
  if (header.problem == 0 || header.problem >= kProblems.size()) {
    errors.add(code::kTrainerHeader, "byte 12",
               "must be problem 1 (scatter) or 2 (assign), is " + number(header.problem));
  }
  const auto at_most = [&](const char* where, const char* what, std::uint64_t most,
                           std::uint64_t have) {
    if (have <= most) return;
    errors.add(code::kTrainerTooLarge, where,
               "must hold at most " + number(most) + ' ' + what + ", is " + number(have));
  };
  at_most("byte 32", "ranks", kMaxDevices, header.ranks);
  at_most("byte 36", "micro-batches", kMaxTrainerSlots, header.micro_batches);
  at_most("byte 36", "ranks times micro-batches", kMaxTrainerSlots,
          std::uint64_t{header.ranks} * header.micro_batches);
  at_most("byte 40", "batches", kMaxTrainerSlots, header.batches);
  at_most("byte 44", "sequences", kMaxSequences, header.sequences);
  if (header.version < 3 && (header.way_bytes != 0 || header.ways != 0 || header.targets != 0)) {
    errors.add(code::kTrainerHeader, "byte 56", "must be eight times 0 before version 3, is not");
  }
  if (header.ways > kMaxRecomputations || header.targets > 1) {
    errors.add(code::kTrainerHeader, "byte 60",
               "must be at most " + number(kMaxRecomputations) + " names, and 0 or 1, is " +
                   number(header.ways) + " and " + number(header.targets));
  }
  if (!errors.empty()) return std::move(errors).take();
  if (header.bytes != header.expected_bytes()) {
    errors.add(code::kTrainerHeader, "byte 16",
               "must be the bytes that the counts add up to, " + number(header.expected_bytes()) +
                   ", is " + number(header.bytes));
  } else if (header.bytes != bytes) {
    errors.add(code::kTrainerHeader, "byte 16",
               "must be the bytes of the file, " + number(bytes) + ", is " + number(header.bytes) +
                   (bytes < header.bytes ? ": the file is cut short" : ""));
  }
  if (errors.empty()) return {};
  return std::move(errors).take();
}

// Cuts the columns into batches. Requires valid offsets.
void cut(TrainerStep& step, const std::vector<std::int32_t>& first,
         const std::vector<std::int32_t>& sequences, const std::vector<std::int32_t>& cu_seqlens,
         const std::vector<std::int32_t>& cu_padded, const std::vector<std::int32_t>& targets) {
  for (std::size_t b = 0; b < step.batches.size(); ++b) {
    TrainerBatch& batch = step.batches[b];
    const std::ptrdiff_t begin = first[b];
    const std::ptrdiff_t end = first[b + 1];
    // A batch has one sum more than sequences, and so has each batch before it.
    const auto sums = static_cast<std::ptrdiff_t>(b);
    batch.sequences.assign(sequences.begin() + begin, sequences.begin() + end);
    batch.cu_seqlens.assign(cu_seqlens.begin() + begin + sums, cu_seqlens.begin() + end + sums + 1);
    batch.cu_seqlens_padded.assign(cu_padded.begin() + begin + sums,
                                   cu_padded.begin() + end + sums + 1);
    if (targets.empty()) continue;
    batch.loss_tokens.assign(targets.begin() + begin, targets.begin() + end);
  }
}

// Adds E102 if the text, which begins at this byte of the file, is not UTF-8. Control characters
// are allowed, since JSON escapes them.
void check_utf8(std::string_view text, std::size_t start, ErrorList& errors) {
  for (std::size_t at = 0; const auto bad = first_bad_byte(text.substr(at));) {
    at += *bad;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= ' ') {
      return errors.add(code::kEncoding, "byte " + number(start + at),
                        "must be UTF-8 text, is byte " + number(byte));
    }
    ++at;
  }
}

// Returns the names of the recomputation choices: each once, in the order of its first batch.
std::vector<std::string> ways_of(const TrainerStep& step) {
  std::vector<std::string> ways;
  for (const TrainerBatch& batch : step.batches) {
    if (std::ranges::count(ways, batch.recomputation) == 0) ways.push_back(batch.recomputation);
  }
  return ways;
}

// Gives each batch the name with its index. Returns false if an index has no name, or if the names
// differ from the used ones in their order.
bool name_ways(TrainerStep& step, const std::vector<std::string>& ways,
               const std::vector<std::int32_t>& indices) {
  for (std::size_t b = 0; b < step.batches.size(); ++b) {
    if (indices[b] < 0 || indices[b] >= std::ssize(ways)) return false;
    step.batches[b].recomputation = ways[static_cast<std::size_t>(indices[b])];
  }
  return ways == ways_of(step);
}

bool are_offsets(const std::vector<std::int32_t>& first, std::uint32_t sequences) {
  if (first.front() != 0 || static_cast<std::uint32_t>(first.back()) != sequences) return false;
  for (std::size_t i = 1; i < first.size(); ++i) {
    if (first[i] < first[i - 1]) return false;
  }
  return true;
}

}  // namespace

std::string write_trainer_binary(const TrainerStep& step) {
  const TrainerStated stated = stated_of(step);
  Header header{.version = static_cast<std::uint32_t>(step.version()),
                .problem = step.problem == "assign" ? 2U : 1U,
                .loss_denominator = stated.loss_denominator,
                .ranks = static_cast<std::uint32_t>(step.ranks),
                .micro_batches = static_cast<std::uint32_t>(step.micro_batches),
                .batches = static_cast<std::uint32_t>(step.batches.size()),
                .sequences = static_cast<std::uint32_t>(stated.position_resets.size()),
                .name_bytes = static_cast<std::uint32_t>(step.name.size()),
                .hash_bytes = static_cast<std::uint32_t>(step.instance_hash.size())};
  std::vector<std::string> ways;
  if (header.version >= 3) {
    if (!step.batches.front().recomputation.empty()) ways = ways_of(step);
    for (const std::string& way : ways) header.way_bytes += static_cast<std::uint32_t>(way.size());
    header.ways = static_cast<std::uint16_t>(ways.size());
    header.targets = step.batches.front().loss_tokens.empty() ? 0 : 1;
  }
  header.bytes = header.expected_bytes();
  std::string out(kMagic);
  // A step with trainer_faults() may state any number of ranks.
  out.reserve(std::min<std::uint64_t>(header.bytes, std::uint64_t{1} << 28));
  put(out, header.version);
  put(out, header.problem);
  put(out, header.bytes);
  put(out, header.loss_denominator);
  for (const std::uint32_t count : {header.ranks, header.micro_batches, header.batches,
                                    header.sequences, header.name_bytes, header.hash_bytes}) {
    put(out, count);
  }
  put(out, header.way_bytes);
  put(out, header.ways);
  put(out, header.targets);
  put(out, stated.loss_denominators);
  if (header.has_offload()) {
    for (const TrainerBatch& batch : step.batches) {
      put(out, std::bit_cast<std::uint64_t>(batch.offload));
    }
  }
  const auto column = [&](auto member) {
    for (const TrainerBatch& batch : step.batches) put(out, std::int32_t{batch.*member});
  };
  column(&TrainerBatch::micro_batch);
  column(&TrainerBatch::group);
  column(&TrainerBatch::first_rank);
  column(&TrainerBatch::degree);
  column(&TrainerBatch::stages);
  put(out, stated.max_seqlens);
  std::int32_t first = 0;
  put(out, first);
  for (const TrainerBatch& batch : step.batches) {
    first += static_cast<std::int32_t>(batch.sequences.size());
    put(out, first);
  }
  for (const TrainerBatch& batch : step.batches) put(out, batch.sequences);
  put(out, stated.position_resets);
  for (const TrainerBatch& batch : step.batches) put(out, batch.cu_seqlens);
  for (const TrainerBatch& batch : step.batches) put(out, batch.cu_seqlens_padded);
  for (const TrainerBatch& batch : step.batches) put(out, batch.loss_tokens);
  put(out, stated.schedule);
  if (header.has_ways()) {
    for (const TrainerBatch& batch : step.batches) {
      const auto way = std::ranges::find(ways, batch.recomputation) - ways.begin();
      put(out, static_cast<std::int32_t>(way));
    }
    for (const std::string& way : ways) put(out, static_cast<std::int32_t>(way.size()));
  }
  out += step.name + step.instance_hash;
  for (const std::string& way : ways) out += way;
  return out;
}

bool is_trainer_binary(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<TrainerStep> read_trainer_binary(std::string_view bytes) {
  if (!is_trainer_binary(bytes) || bytes.size() < kHeaderBytes) {
    return InputError{code::kTrainerMagic, "byte 0",
                      "must be a trainer file: 0x93, STOWAGE and 56 more bytes of header"};
  }
  Cursor cursor(bytes);
  const Header header = take_header(cursor);
  if (auto errors = header_faults(header, bytes.size()); !errors.empty()) return errors;

  TrainerStep step{.problem = std::string(kProblems[header.problem]),
                   .ranks = static_cast<int>(header.ranks),
                   .micro_batches = static_cast<int>(header.micro_batches)};
  step.batches.resize(header.batches);
  TrainerStated stated{.loss_denominator = header.loss_denominator};
  stated.loss_denominators = cursor.take<std::int64_t>(header.batches);
  if (header.has_offload()) {
    for (TrainerBatch& batch : step.batches) {
      batch.offload = std::bit_cast<double>(cursor.take<std::uint64_t>());
    }
  }
  const auto column = [&](auto member) {
    for (TrainerBatch& batch : step.batches) batch.*member = cursor.take<std::int32_t>();
  };
  column(&TrainerBatch::micro_batch);
  column(&TrainerBatch::group);
  column(&TrainerBatch::first_rank);
  column(&TrainerBatch::degree);
  column(&TrainerBatch::stages);
  stated.max_seqlens = cursor.take<std::int32_t>(header.batches);
  const auto first = cursor.take<std::int32_t>(std::size_t{header.batches} + 1);
  const auto sequences = cursor.take<std::int32_t>(header.sequences);
  stated.position_resets = cursor.take<std::int32_t>(header.sequences);
  const auto cu_seqlens = cursor.take<std::int32_t>(std::size_t{header.sequences} + header.batches);
  const auto cu_padded = cursor.take<std::int32_t>(std::size_t{header.sequences} + header.batches);
  const auto targets = cursor.take<std::int32_t>(header.has_targets() ? header.sequences : 0);
  stated.schedule = cursor.take<std::int32_t>(std::size_t{header.ranks} * header.micro_batches);
  const bool recomputes = header.has_ways();
  const auto indices = cursor.take<std::int32_t>(recomputes ? header.batches : 0);
  const auto way_bytes = cursor.take<std::int32_t>(recomputes ? header.ways : 0);
  step.name = cursor.text(header.name_bytes);
  step.instance_hash = cursor.text(header.hash_bytes);
  const std::string_view all_ways = cursor.text(header.way_bytes);
  if (!are_offsets(first, header.sequences)) {
    return InputError{code::kTrainerEntry, "first_sequence",
                      "must start with 0, never fall and end with the number of sequences"};
  }
  ErrorList texts;
  const std::size_t after_numbers =
      bytes.size() - header.name_bytes - header.hash_bytes - header.way_bytes;
  check_utf8(step.name, after_numbers, texts);
  check_utf8(step.instance_hash, after_numbers + header.name_bytes, texts);
  check_utf8(all_ways, bytes.size() - header.way_bytes, texts);
  if (!texts.empty()) return std::move(texts).take();
  cut(step, first, sequences, cu_seqlens, cu_padded, targets);
  if (recomputes) {
    std::vector<std::string> ways;
    std::size_t at = 0;
    for (const std::int32_t own : way_bytes) {
      const auto size = static_cast<std::size_t>(std::max(own, 0));
      ways.emplace_back(all_ways.substr(std::min(at, all_ways.size()), size));
      at += size;
    }
    if (at != all_ways.size() || !name_ways(step, ways, indices)) {
      return InputError{
          code::kTrainerEntry, "recomputation",
          "must be an index for each batch, of names in the order of their first batch"};
    }
  }
  if (auto faults = trainer_faults(step); !faults.empty()) return faults;
  if (auto errors = contradictions(step, stated); !errors.empty()) return errors;
  return step;
}

Result<TrainerStep> read_trainer_file(std::string_view bytes) {
  const bool binary = !bytes.empty() && bytes.front() == kMagic.front();
  return binary ? read_trainer_binary(bytes) : read_trainer_json(bytes);
}

}  // namespace stowage
