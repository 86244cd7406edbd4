// The error codes of inputs, and the list that collects the errors.
//
// Each code is listed in instances/errors.md with its meaning and remedy; a test compares the two.
// A list keeps the first kMaxErrors and counts the rest, so that a million bad lengths fill neither
// the memory nor the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/json/text.h"
#include "instances/result.h"

namespace stowage {

namespace code {
// The text of a document.
inline constexpr char kSyntax[] = "E101";
inline constexpr char kEncoding[] = "E102";
inline constexpr char kByteOrderMark[] = "E103";
inline constexpr char kDuplicateKey[] = "E104";
inline constexpr char kNotFinite[] = "E105";
inline constexpr char kTooDeep[] = "E106";
inline constexpr char kTooManyBytes[] = "E107";
inline constexpr char kTooManyValues[] = "E108";
inline constexpr char kMoreErrors[] = "E109";
inline constexpr char kUnreadable[] = "E110";
inline constexpr char kTokenTooLong[] = "E111";
// Keys and types.
inline constexpr char kMissingKey[] = "E201";
inline constexpr char kUnknownKey[] = "E202";
inline constexpr char kWrongType[] = "E203";
inline constexpr char kFraction[] = "E204";
inline constexpr char kIntegerRange[] = "E205";
inline constexpr char kNumberRange[] = "E206";
inline constexpr char kFormat[] = "E207";
inline constexpr char kVersion[] = "E208";
inline constexpr char kProblem[] = "E209";
inline constexpr char kDegreeKey[] = "E210";
inline constexpr char kNoPlan[] = "E211";
// Rules of a scatter instance beyond its types.
inline constexpr char kDegrees[] = "E301";
inline constexpr char kDivisibility[] = "E302";
inline constexpr char kBandwidth[] = "E303";
inline constexpr char kTooManyTokens[] = "E304";
inline constexpr char kExchange[] = "E305";
inline constexpr char kLossTokens[] = "E306";
inline constexpr char kLogits[] = "E307";
inline constexpr char kRecomputation[] = "E308";
inline constexpr char kDeviceKinds[] = "E309";
inline constexpr char kTable[] = "E310";
inline constexpr char kPadding[] = "E311";
inline constexpr char kOffload[] = "E312";
inline constexpr char kMixed[] = "E313";
// Rules of a layout instance beyond its types.
inline constexpr char kLifetime[] = "E331";
inline constexpr char kGaps[] = "E332";
inline constexpr char kBufferId[] = "E333";
inline constexpr char kPin[] = "E334";
inline constexpr char kTooManyLayoutBytes[] = "E335";
inline constexpr char kOccurrences[] = "E336";
inline constexpr char kRecorded[] = "E337";
// Rules of an assign instance beyond its types.
inline constexpr char kNoScheme[] = "E341";
inline constexpr char kUnknownScheme[] = "E342";
inline constexpr char kTooManyReplicas[] = "E343";
inline constexpr char kNoReplica[] = "E344";
inline constexpr char kChunkConstraint[] = "E345";
inline constexpr char kChunkBytes[] = "E346";
// Requests for a balanced partition.
inline constexpr char kFewerThanBins[] = "E351";
inline constexpr char kUnequalCounts[] = "E352";
inline constexpr char kTooCostly[] = "E353";
inline constexpr char kAboveTokenLimit[] = "E354";
inline constexpr char kFewerThanMicroBatches[] = "E355";
inline constexpr char kKeptLabels[] = "E356";
// Samples of a fit.
inline constexpr char kSampleExchange[] = "E361";
inline constexpr char kFewSamples[] = "E362";
inline constexpr char kLoggedRun[] = "E363";
// Rules of an order instance beyond its types.
inline constexpr char kOrderId[] = "E371";
inline constexpr char kOrderName[] = "E372";
inline constexpr char kOrderWriter[] = "E373";
inline constexpr char kOrderUnwritten[] = "E374";
inline constexpr char kOrderCycle[] = "E375";
inline constexpr char kTooManyOrderBytes[] = "E376";
inline constexpr char kOrderRecompute[] = "E377";
inline constexpr char kOrderTokens[] = "E378";
inline constexpr char kOrderInPlace[] = "E379";
// Rules of a strategy instance beyond its types.
inline constexpr char kStrategyEmpty[] = "E381";
inline constexpr char kStrategyDevices[] = "E382";
inline constexpr char kStrategyTopK[] = "E383";
inline constexpr char kStrategyNoExperts[] = "E384";
inline constexpr char kStrategyMeasured[] = "E385";
inline constexpr char kStrategyRates[] = "E386";
inline constexpr char kStrategyConfiguration[] = "E387";
inline constexpr char kStrategyTrainer[] = "E388";
// Lists of lengths.
inline constexpr char kListPath[] = "E401";
inline constexpr char kListLine[] = "E402";
inline constexpr char kListRange[] = "E403";
inline constexpr char kLengthColumn[] = "E404";
inline constexpr char kLengthFormat[] = "E405";
// Tables of buffers and of samples.
inline constexpr char kCsvHeader[] = "E411";
inline constexpr char kCsvRow[] = "E412";
inline constexpr char kCsvField[] = "E413";
inline constexpr char kCsvId[] = "E414";
// Presets and generators.
inline constexpr char kPreset[] = "E501";
inline constexpr char kNotPublished[] = "E502";
inline constexpr char kNothingFits[] = "E503";
inline constexpr char kGenerator[] = "E504";
// Trainer files.
inline constexpr char kTrainerMagic[] = "E601";
inline constexpr char kTrainerHeader[] = "E602";
inline constexpr char kTrainerEntry[] = "E603";
inline constexpr char kTrainerTooLarge[] = "E604";
}  // namespace code

// Errors of a file or a stream as a whole.
inline InputError too_many_bytes(std::string_view name, std::size_t most_bytes) {
  return {code::kTooManyBytes, std::string(name),
          "must be at most " + std::to_string(most_bytes) + " bytes, is larger"};
}
inline InputError unreadable(std::string_view name, std::string_view problem) {
  return {code::kUnreadable, std::string(name),
          "must be a file that can be read, is " + std::string(problem)};
}

class ErrorList {
 public:
  static constexpr std::size_t kMaxErrors = 100;

  // Returns true while another error would be kept. A caller need not build a message for an error
  // that would not.
  bool room() const { return errors_.size() < kMaxErrors; }

  void add(std::string error_code, std::string pointer, std::string message) {
    if (room()) {
      errors_.push_back({std::move(error_code), std::move(pointer), std::move(message)});
    } else {
      ++more_;
    }
  }
  void add_unseen() { ++more_; }  // counts an error for which there is no room

  void append(const std::vector<InputError>& errors) {
    for (const InputError& e : errors) add(e.code, e.pointer, e.message);
  }

  bool empty() const { return errors_.empty(); }

  // Returns the number of errors so far, kept or not. It stays the same over a valid part of a
  // document.
  std::int64_t found() const { return static_cast<std::int64_t>(errors_.size()) + more_; }

  // Returns the errors. If some were left out, an E109 with their number closes the list.
  std::vector<InputError> take() && {
    if (more_ > 0) {
      errors_.push_back({code::kMoreErrors, "", "and " + std::to_string(more_) + " more errors"});
    }
    return std::move(errors_);
  }

 private:
  std::vector<InputError> errors_;
  std::int64_t more_ = 0;
};

// Adds E102 for a text in memory with a byte that is not UTF-8: no document could hold such a text.
inline void check_utf8(std::string_view text, const std::string& pointer, ErrorList& errors) {
  if (is_utf8(text)) return;
  errors.add(code::kEncoding, pointer, "must be UTF-8 text, is " + in_quotes(text));
}

}  // namespace stowage
