// A stream of training steps: the lengths of one global batch after another, read as they come.
//
//   StepStream steps(stream, "lengths.txt", cluster, {.batch_size = 512});
//   for (;;) {
//     Result<std::optional<ScatterInstance>> step = steps.next();
//     if (!step || !*step) break;  // an error, or the end
//     plan(**step);
//   }
//
// With a batch size the stream is a list of lengths, one a line, and a step is so many lines.
// Without, it is JSON lines: a step is a line that holds an array of lengths or an object whose
// `lengths` is one. Other keys are `loss_tokens`, `id`, a text or an integer, those that begin with
// x-, and `cost`: as in an instance, for this step and all that follow. A step that cannot be read
// changes no cost.
// Memory is that of one step, however long the stream. A step is at most kMaxDocumentBytes long,
// and a line that is longer is taken for one without an end.
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
  std::optional<Tokens> clip;              // longer sequences are cut to so many tokens
  std::string directory;                   // that files of costs are relative to
  // Once it is true the stream ends before a step that has not been read whole. Who waits for input
  // must end the wait as well, with an end of `stream`. May be null; must outlive the stream.
  const std::atomic<bool>* interrupt = nullptr;
};

class StepStream {
 public:
  // Every step is `cluster` with its own lengths, and the name with "-" and the step's number
  // behind it. `name` is what the stream is called in errors. `stream` must outlive this.
  StepStream(std::istream& stream, std::string name, ScatterInstance cluster,
             const StepStreamOptions& options);

  // Number of the step that next() or skip() deals with, from 0.
  std::int64_t index() const { return index_; }

  // "steps.jsonl:12": the line last read.
  std::string place() const;

  // Sequences that were cut so far.
  std::int64_t clipped() const { return clipped_; }

  // The next step, or nothing at the end. Errors as for `lengths` of an instance, and E107 for a
  // step that is too long; a wrong step does not keep one from reading the one after it, and counts
  // in index(). E110 where the stream broke off, and E107 for a line without an end: nothing comes
  // after these.
  Result<std::optional<ScatterInstance>> next();

  // The id and the x- keys of the step that next() read last, in its order; empty without any.
  std::vector<JsonMember> take_extras() { return std::move(extras_); }

  // Passes over a step, of which only a new cost is read. False at the end, and where next() would
  // read no more.
  bool skip();

 private:
  // What is kept of the lines of a step.
  struct Lines {
    std::string text;
    bool too_long = false;
  };

  std::string error_place() const;
  bool interrupted() const { return options_.interrupt != nullptr && *options_.interrupt; }
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
