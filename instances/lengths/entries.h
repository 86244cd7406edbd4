// The entries of a file of lengths: those that are selected, and what collects them for the readers
// of the formats.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/lengths/list.h"
#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

// The entries of a file that are read.
struct LengthChoice {
  std::string column;         // empty: none was named
  LengthSelection selection;  // of the entries; a header is no entry. `line` is not used.
};

struct LengthFile {
  std::vector<Tokens> lengths;  // tokens
  std::string remark;           // a sentence on what was skipped or summed; empty if nothing was
};

// Returns the integer that a field holds: digits, which may end in a point and zeros (4808.0).
inline std::optional<Tokens> whole_number(std::string_view field) {
  Tokens value = 0;
  const char* const last = field.data() + field.size();
  const auto [end, failure] = std::from_chars(field.data(), last, value);
  if (failure != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(last - end));
  const bool zeros = rest.size() > 1 && rest.front() == '.' &&
                     rest.find_first_not_of('0', 1) == std::string_view::npos;
  if (!rest.empty() && !zeros) return std::nullopt;
  return value;
}

class LengthEntries {
 public:
  LengthEntries(std::string_view file, const LengthSelection& selection)
      : file_(file), selection_(selection) {}

  // Returns whether another entry may be selected.
  bool wanted() const { return !selection_.count || count_ - selection_.first < *selection_.count; }
  // Returns whether the next entry is selected.
  bool selected() const { return wanted() && count_ >= selection_.first; }
  // Passes over the next entry.
  void skip() { ++count_; }

  // Adds the next entry, which must be selected: `value`, or nullopt for one that is no integer.
  // `place` and `shown` return the place and the value for an E402.
  template <class Place, class Shown>
  void add(std::optional<Tokens> value, Place place, Shown shown) {
    ++count_;
    if (value && *value >= selection_.least && *value <= kMaxExact) {
      if (lengths_.size() < static_cast<std::size_t>(kMaxSequences)) {
        lengths_.push_back(*value);
      } else if (!beyond_limit_) {
        beyond_limit_ = true;
        errors.add(
            code::kTooManyValues, place(),
            "must be at most " + std::to_string(kMaxSequences) + " selected entries, is more");
      }
    } else if (errors.room()) {
      errors.add(code::kListLine, place(),
                 "must be an integer from " + std::to_string(selection_.least) + " to " +
                     std::to_string(kMaxExact) + ", is " + shown());
    } else {
      errors.add_unseen();
    }
  }

  // Adds the next entry, which must be selected, or nothing if an error of it was added already.
  void add_read(std::optional<Tokens> value) {
    ++count_;
    if (value) lengths_.push_back(*value);
  }

  // Returns true if reading may stop, since all that follow would be the same error.
  bool over() const { return beyond_limit_; }

  std::string file() const { return std::string(file_); }

  // Returns the selected entries, or all errors. E403 for a selection beyond the end.
  Result<std::vector<Tokens>> take() && {
    const std::int64_t needed = selection_.first + selection_.count.value_or(0);
    if (count_ < needed) {
      errors.add(code::kListRange, file(),
                 "must hold " + std::to_string(needed) +
                     " entries for the selection, is a list of " + std::to_string(count_));
    }
    if (!errors.empty()) return std::move(errors).take();
    return std::move(lengths_);
  }

  ErrorList errors;

 private:
  std::string_view file_;
  LengthSelection selection_;
  std::int64_t count_ = 0;
  std::vector<Tokens> lengths_;
  bool beyond_limit_ = false;
};

}  // namespace stowage
