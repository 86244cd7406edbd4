#include "instances/scatter/step_stream.h"

#include <algorithm>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/lengths/json.h"
#include "instances/lengths/list.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/padding.h"
#include "instances/scatter/json/time_table.h"

namespace stowage {
namespace {

// Returns the members that the reader of steps does not read, and the id.
std::vector<JsonMember> extras_of(JsonValue::Object& members) {
  std::vector<JsonMember> extras;
  for (JsonMember& member : members) {
    const bool id = member.key == "id" && (member.value.string() || member.value.integer());
    if (id || member.key.starts_with("x-")) extras.push_back(std::move(member));
  }
  return extras;
}

// Reads an array. Lists of files are refused, because a stream has no folder.
std::vector<Tokens> read_targets(const ObjectReader& reader, const std::vector<Tokens>& lengths,
                                 ErrorList& errors) {
  const JsonValue* value = reader.find("loss_tokens");
  if (value == nullptr) return {};
  const std::int64_t before = errors.found();
  const JsonPath path = reader.at("loss_tokens");
  std::vector<Tokens> targets = read_integers(*value, path, {0, kMaxExact}, errors);
  if (errors.found() == before) check_loss_tokens(targets, lengths, path, errors);
  return targets;
}

void read_json_step(std::string_view text, const std::string& directory, ScatterInstance& step,
                    std::vector<JsonMember>& extras, ErrorList& errors) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    errors.add(
        code::kSyntax, "1:1",
        "must be a step, is an empty line: remove it, or write [] for a step of no sequence");
    return;
  }
  std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return;
  const JsonPath root;
  if (document->array() != nullptr) {
    step.lengths = read_lengths(*document, root, largest_multiple(step), errors);
  } else if (document->object() != nullptr) {
    const ObjectReader reader(*document, root, errors, {"cost", "id", "lengths", "loss_tokens"});
    if (const JsonValue* cost = reader.find("cost")) {
      step.cost = read_scatter_cost(*cost, reader.at("cost"), directory, &step.cluster, errors);
      if (errors.empty()) check_table(step, reader.at("cost"), errors);
    }
    if (const JsonValue* lengths = reader.require("lengths")) {
      const std::int64_t before = errors.found();
      step.lengths = read_lengths(*lengths, reader.at("lengths"), largest_multiple(step), errors);
      if (errors.found() == before) step.loss_tokens = read_targets(reader, step.lengths, errors);
    }
    const JsonValue* const id = reader.find("id");
    if (id != nullptr && id->string() == nullptr && id->integer() == nullptr) {
      add_wrong_type(*id, reader.at("id"), "a text or an integer", errors);
    }
    extras = extras_of(*document->object());
  } else {
    add_wrong_type(
        *document, root,
        "an array of lengths or {\"lengths\": [...]} (a list with a length a line needs a "
        "batch size)",
        errors);
  }
}

}  // namespace

StepStream::StepStream(std::istream& stream, std::string name, ScatterInstance cluster,
                       const StepStreamOptions& options)
    : stream_(stream),
      name_(std::move(name)),
      cluster_(std::move(cluster)),
      options_(options),
      buffer_(std::size_t{1} << 16, '\0') {}

std::string StepStream::place() const { return name_ + ':' + std::to_string(line_); }

// Returns the place in errors: the lines of a list; empty for a JSON line, whose errors have a
// pointer.
std::string StepStream::error_place() const { return options_.batch_size ? place() : ""; }

// Reads the next line, its end included, and appends it to `kept`, unless that is null or would be
// too long. Returns false at the end.
bool StepStream::read_line(Lines* kept) {
  bool any = false;
  std::size_t length = 0;
  while (true) {
    stream_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto got = static_cast<std::size_t>(stream_.gcount());
    const bool more = stream_.fail() && got == buffer_.size() - 1;  // the line continues
    if (stream_.bad() || interrupted() || (got == 0 && !any)) return false;
    any = true;
    length += got;
    endless_ = length > kMaxDocumentBytes + 1;  // the newline counts
    if (endless_) {
      ++line_;
      return false;
    }
    const bool ended = !more && !stream_.eof();  // its newline is counted, but not stored
    if (kept != nullptr && !kept->too_long) {
      kept->too_long = kept->text.size() + got > kMaxDocumentBytes;
      if (kept->too_long) {
        kept->text = std::string();
      } else {
        kept->text.append(buffer_.data(), ended ? got - 1 : got);
      }
    }
    if (!more) break;
    stream_.clear();
  }
  if (kept != nullptr && !kept->too_long) kept->text += '\n';
  ++line_;
  return true;
}

// Reads the lines of one step. Returns false if there are none.
bool StepStream::read_step(Lines* kept) {
  const std::int64_t count = options_.batch_size.value_or(1);
  std::int64_t got = 0;
  while (got < count && !endless_ && read_line(kept)) ++got;
  if (stream_.bad() || endless_ || interrupted()) return false;
  return got == count || (got > 0 && !(options_.batch_size && options_.drop_last));
}

Result<std::optional<ScatterInstance>> StepStream::end() const {
  if (stream_.bad()) return unreadable(error_place(), "cut short by a read error");
  if (endless_) {
    return InputError{
        code::kTooManyBytes, error_place(),
        "must be a line of at most " + std::to_string(kMaxDocumentBytes) + " bytes, is longer"};
  }
  return std::optional<ScatterInstance>();
}

// Reads a step, which changes the cost of later steps if it is valid.
void StepStream::read_json(std::string_view text, ScatterInstance& step, ErrorList& errors) {
  const std::int64_t before = errors.found();
  read_json_step(text, options_.directory, step, extras_, errors);
  if (errors.found() == before) cluster_.cost = step.cost;
}

bool StepStream::skip() {
  Lines lines;
  if (!read_step(options_.batch_size ? nullptr : &lines)) return false;
  ++index_;
  if (lines.text.find("\"cost\"") == std::string::npos) return true;
  ErrorList errors;  // the reader of the step reports them
  ScatterInstance step = cluster_;
  read_json(lines.text, step, errors);
  return true;
}

// Cuts the sequences of more than `limit` tokens. Only the labels could tell how many targets a cut
// leaves. So a cut sequence with targets is an error.
void StepStream::clip(Tokens limit, ScatterInstance& step, ErrorList& errors) {
  for (std::size_t id = 0; id < step.lengths.size(); ++id) {
    Tokens& length = step.lengths[id];
    if (length <= limit) continue;
    if (!step.loss_tokens.empty() && step.loss_tokens[id] > 0) {
      errors.add(code::kLossTokens,
                 JsonPath().key("loss_tokens").index(static_cast<std::int64_t>(id)).pointer(),
                 "must be 0 for a sequence that is clipped, from " + std::to_string(length) +
                     " to " + std::to_string(limit) + " tokens, is " +
                     std::to_string(step.loss_tokens[id]) +
                     ": cut the sequences first, and count the targets that are left");
    }
    length = limit;
    ++clipped_;
  }
}

Result<std::optional<ScatterInstance>> StepStream::next() {
  Lines lines;
  extras_.clear();
  const std::int64_t first_line = line_ + 1;
  if (!read_step(&lines)) return end();
  ScatterInstance step = cluster_;
  step.name += '-' + std::to_string(index_++);
  if (lines.too_long) return too_many_bytes(error_place(), kMaxDocumentBytes);
  ErrorList errors;
  if (options_.batch_size) {
    Result<std::vector<Tokens>> lengths = read_length_list(lines.text, name_, {.line = first_line});
    if (!lengths) return lengths.errors();
    step.lengths = *std::move(lengths);
    check_padded_sum(step.lengths, largest_multiple(step), JsonPath(), errors);
  } else {
    read_json(lines.text, step, errors);
  }
  check_costs(step.lengths.size(), step.cluster.degrees.size(), "degrees", JsonPath(), errors);
  if (!errors.empty()) return std::move(errors).take();
  if (options_.clip) clip(*options_.clip, step, errors);
  if (!errors.empty()) return std::move(errors).take();
  return std::optional<ScatterInstance>(std::move(step));
}

}  // namespace stowage
