// A stream of training steps: the lengths of one global batch after another, read as they arrive.
//
//   StepStream steps(stream, "lengths.txt", cluster, {.batch_size = 512});
//   for (;;) {
//     Result<std::optional<ScatterInstance>> step = steps.next();
//     if (!step || !*step) break;  // an error, or the end
//     plan(**step);
//   }
//
// With a batch size, the stream is a list of lengths, one a line, and a step is `batch_size` lines.
// Without a batch size it is JSON lines. A step is a line with an array of lengths, or with an
// object whose `lengths` is an array. Other keys are `loss_tokens`, `id` (a text or an integer),
// keys that begin with x-, and `cost`: as in an instance, for this step and all that follow. A step
// that cannot be read changes no cost. The stream needs the memory of one step. A step has at most
// kMaxDocumentBytes; a longer line is treated as one without an end.
#pragma once

#include <atomic>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "instances/json/value.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"

namespace stowage {

struct StepStreamOptions {
  std::optional<std::int64_t> batch_size;  // at least 1
  bool drop_last = false;                  // leave out a last step of fewer lines
  std::optional<Tokens> clip;              // longer sequences are cut to this length
  std::string directory;                   // folder that files of costs are relative to
  // Once it is true, the stream ends before a step that has not been read whole. A thread that
  // waits for input must end the wait as well, by an end of `stream`. May be null; must outlive the
  // stream.
  const std::atomic<bool>* interrupt = nullptr;
};

class StepStream {
 public:
  // Every step is `cluster` with its own lengths; its name ends in "-" and the step's number.
  // Errors call the stream `name`. `stream` must outlive this object.
  StepStream(std::istream& stream, std::string name, ScatterInstance cluster,
             const StepStreamOptions& options);

  // Returns the number, from 0, of the step that next() or skip() reads.
  std::int64_t index() const { return index_; }

  // Returns "steps.jsonl:12": the line that was read last.
  std::string place() const;

  // Returns the number of sequences that were cut so far.
  std::int64_t clipped() const { return clipped_; }

  // Returns the next step, or nullopt at the end. Errors are those of `lengths` of an instance, and
  // E107 for a step that is too long. A wrong step counts in index(), and the step after it can
  // still be read. E110 if the stream broke off, and E107 for a line without an end: no step
  // follows these.
  Result<std::optional<ScatterInstance>> next();

  // Returns the id and the x- keys of the step that next() read last, in its order; empty if it has
  // none.
  std::vector<JsonMember> take_extras() { return std::move(extras_); }

  // Skips a step, of which only a new cost is read. Returns false at the end, and if next() would
  // read no more.
  bool skip();

  // Returns whether the stream ended, or will end, at an interrupt.
  bool interrupted() const { return options_.interrupt != nullptr && *options_.interrupt; }

 private:
  // The lines of a step that are kept.
  struct Lines {
    std::string text;
    bool too_long = false;
  };

  std::string error_place() const;
  bool read_line(Lines* kept);
  bool read_step(Lines* kept);
  void read_json(std::string_view text, ScatterInstance& step, ErrorList& errors);
  void clip(Tokens limit, ScatterInstance& step, ErrorList& errors);
  Result<std::optional<ScatterInstance>> end() const;

  std::istream& stream_;
  std::string name_;
  ScatterInstance cluster_;
  StepStreamOptions options_;
  std::string buffer_;  // not on the stack, which may be small
  std::vector<JsonMember> extras_;
  bool endless_ = false;  // a line was longer than any step
  std::int64_t index_ = 0;
  std::int64_t line_ = 0;  // lines read
  std::int64_t clipped_ = 0;
};

}  // namespace stowage
