// The rules on one row: its sequences or its part of one, tokens, room and time.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/assign/verify/rules/plan_checker.h"
#include "instances/proof/stated_number.h"
#include "instances/proof/violation_list.h"

namespace stowage {

// Returns the run of each row. A row without a range, or of several sequences, is a run alone.
std::vector<AssignPlanChecker::Run> AssignPlanChecker::runs_of(const AssignReplica& replica) {
  std::vector<Run> runs(replica.rows.size());
  for (std::size_t first = 0; first < runs.size();) {
    const AssignRow& row = replica.rows[first];
    std::size_t end = first + 1;
    while (row.part && end < runs.size() && replica.rows[end].part &&
           replica.rows[end].part->begin > 0 && replica.rows[end].sequences == row.sequences) {
      ++end;
    }
    for (std::size_t j = first; j < end; ++j) runs[j] = {first, end - first};
    first = end;
  }
  return runs;
}

// Returns the part that a row is if the plan chooses the ends of parts.
std::optional<AssignPlanChecker::PartOf> AssignPlanChecker::check_free_part(const Place& at,
                                                                            const Run& run,
                                                                            Tokens length) {
  const std::vector<AssignRow>& rows = plan_.replicas[at.replica].rows;
  const TokenRange& range = *at.row.part;
  const PartOf part{length, static_cast<Tokens>(at.index - run.first),
                    static_cast<Tokens>(run.count)};
  const Tokens begin = part.index == 0 ? 0 : rows[at.index - 1].part->end;
  const Tokens size = instance_.constraints.chunks->size;
  const bool last = part.index + 1 == part.count;
  const bool in_place = range.begin == begin && range.end > begin && range.end <= length &&
                        range.end - begin <= size && (!last || range.end == length);
  if (in_place && part.count <= chunks_->most_parts(length)) return part;
  found_.add(kChunk, [&] {
    return Description{at.pointer("/token_range"),
                       text(range.begin) + " to " + text(range.end) + ", part " + text(part.index) +
                           " of " + text(part.count),
                       "from " + text(begin) + ", up to " + text(size) + " tokens more, with the " +
                           text(length) + " in at most " + text(chunks_->most_parts(length)) +
                           " parts side by side"};
  });
  return std::nullopt;
}

// Returns the part that the row is, or nullopt if the row has no range or a wrong range.
std::optional<AssignPlanChecker::PartOf> AssignPlanChecker::check_part(const Place& at,
                                                                       const Run& run,
                                                                       const Scheme* scheme) {
  const AssignRow& row = at.row;
  const auto wrong = [&](const std::string& have, const std::string& need) {
    found_.add(kChunk, [&] { return Description{at.pointer("/token_range"), have, need}; });
    return std::nullopt;
  };
  if (!row.part) return std::nullopt;
  const std::string range = text(row.part->begin) + " to " + text(row.part->end);
  if (!chunks_) return wrong(range, "no range, since the instance asks for no chunks");
  if (row.sequences.size() != 1) {
    return wrong("a range of " + text(row.sequences.size()) + " sequences", "one sequence");
  }
  const std::int64_t id = row.sequences.front();
  const auto length = truth_.is_known(id) ? truth_.length(id) : std::nullopt;
  if (!length) return wrong(range, "tokens of a sequence of the instance");
  const Tokens size = instance_.constraints.chunks->size;
  PartOf part{*length, row.part->begin / size, chunks_->parts(*length)};
  if (part.count < 2) {
    return wrong(range, "no range, since " + stated_tokens(*length) + " are not above " +
                            stated_tokens(size));
  }
  if (chunks_->leaves_open()) {
    const std::optional<PartOf> free = check_free_part(at, run, *length);
    if (!free) return std::nullopt;
    part = *free;
  } else if (row.part->begin < 0 || part.index >= part.count ||
             chunks_->range(*length, part.index) != *row.part) {
    return wrong(range, "a multiple of " + text(size) + ", and up to " + text(size) +
                            " tokens more, of the " + text(*length));
  }
  if (part.index == 0 && scheme != nullptr && !chunks_->fits(*length, *scheme)) {
    found_.add(kChunkMemory, [&] {
      return Description{at.pointer(), stated_tokens(*length) + " cut into " + text(part.count),
                         "what a replica of " + name_text(scheme->name) + " has memory for"};
    });
  }
  return part;
}

// Checks that the parts of a sequence stand side by side, in order.
bool AssignPlanChecker::check_order(const Place& at, const std::optional<PartOf>& part,
                                    const std::optional<PartOf>& before) {
  const auto same = [&] {
    return at.row.sequences == plan_.replicas[at.replica].rows[at.index - 1].sequences;
  };
  const Tokens needed = before ? before->index + 1 : 0;
  if (before ? part && part->index == needed && same() : !part || part->index == 0) return true;
  found_.add(kChunkOrder, [&] {
    return Description{at.pointer(), part ? "part " + text(part->index) : "no part",
                       "part " + text(needed) + " of " +
                           (before ? "the sequence of the row before" : "a sequence")};
  });
  return false;
}

TimedChunk AssignPlanChecker::timed(Ms time, const std::optional<PartOf>& part) const {
  if (!part) return {.once = time};
  const bool twice = chunks_->goes_twice(part->index, part->count);
  return {.once = twice ? time * 3.0L / 4 : time,
          .twice = twice,
          .parts = part->index == 0 ? static_cast<std::size_t>(part->count) : 0};
}

std::optional<Ms> AssignPlanChecker::check_row(const Place& at, const std::optional<PartOf>& part,
                                               const Scheme* scheme) {
  const AssignRow& row = at.row;
  if (row.sequences.empty()) {
    found_.add(kEmptyRow, [&] {
      return Description{at.pointer(), "no sequence", "a sequence or more"};
    });
  }
  const RowSums sums = check_sequences(at, part);
  const bool sound = part.has_value() == row.part.has_value();
  if (sound) check_cu_seqlens(at);
  if (sums.all_known && sums.tokens != row.tokens) {
    found_.add(kTokens, [&] {
      return Description{at.pointer("/tokens"), stated_tokens(row.tokens),
                         stated_tokens(sums.tokens)};
    });
  }
  if (sums.all_known && sums.targets != row.loss_tokens) {
    found_.add(kLossTokens, [&] {
      return Description{at.pointer("/loss_tokens"), stated_tokens(row.loss_tokens),
                         stated_tokens(sums.targets)};
    });
  }
  if (sound && scheme != nullptr && !(sums.tokens && *sums.tokens <= scheme->max_tokens)) {
    found_.add(kCapacity, [&] {
      return Description{
          at.pointer(), stated_tokens(sums.tokens),
          "at most " + stated_tokens(scheme->max_tokens) + " on " + name_text(scheme->name)};
    });
  }
  if (sound && chunks_ && !part && sums.tokens &&
      *sums.tokens > instance_.constraints.chunks->size) {
    found_.add(kChunk, [&] {
      return Description{at.pointer(), stated_tokens(sums.tokens),
                         "at most " + stated_tokens(instance_.constraints.chunks->size) +
                             ", with longer sequences cut into rows of parts"};
    });
  }
  auto time =
      scheme != nullptr ? AssignReferenceModel::row_time(sums, *scheme) : std::optional<Ms>();
  if (time && part && chunks_->goes_twice(part->index, part->count)) {
    time = static_cast<Ms>(*time * 4.0L / 3);
  }
  check_ms(kRowTime, row.time_ms, time, [&] { return at.pointer("/time_ms"); });
  if (time || !std::isfinite(row.time_ms)) return time;
  return row.time_ms;
}

// Sums up a row's sequences. The sums of a row with a wrong range are unknown.
RowSums AssignPlanChecker::check_sequences(const Place& at, const std::optional<PartOf>& part) {
  RowSums sums{.all_known = part.has_value() == at.row.part.has_value()};
  for (std::size_t i = 0; i < at.row.sequences.size(); ++i) {
    const std::int64_t id = at.row.sequences[i];
    if (part) {
      truth_.add(id, *at.row.part, sums);
      if (part->index > 0) continue;  // the first part covers it; check_order() checks the rest
    } else {
      truth_.add(id, sums);
    }
    if (!truth_.is_known(id)) {
      found_.add(kUnknownSequence, [&] {
        return Description{at.pointer("/sequences/" + text(i)), "sequence " + text(id),
                           "an id below " + text(truth_.sequences())};
      });
      continue;
    }
    std::int64_t& first = first_seen_[static_cast<std::size_t>(id)];
    if (first == kNowhere) {
      first = rows_seen_;
      continue;
    }
    if (at.row.part && !part) continue;  // its wrong range is already reported
    found_.add(kCoverage, [&] {
      return Description{at.pointer("/sequences/" + text(i)),
                         "sequence " + text(id) + ", computed already in " + row_at(first),
                         "each sequence exactly once"};
    });
  }
  return sums;
}

// Returns the pointer of the row with this number, counted over the whole plan.
std::string AssignPlanChecker::row_at(std::int64_t number) const {
  std::size_t r = 0;
  auto left = static_cast<std::size_t>(number);
  for (; left >= plan_.replicas[r].rows.size(); ++r) left -= plan_.replicas[r].rows.size();
  return replica_at(r) + "/rows/" + text(left);
}

// Reports only the first wrong entry of a row, since one error moves all later entries.
void AssignPlanChecker::check_cu_seqlens(const Place& at) {
  const auto& ids = at.row.sequences;
  const auto& cu = at.row.cu_seqlens;
  const auto wrong = [&](std::string_view below, std::string have, std::string need) {
    found_.add(kCuSeqlens, [&] {
      return Description{at.pointer("/cu_seqlens") + std::string(below), std::move(have),
                         std::move(need)};
    });
  };
  if (cu.size() != ids.size() + 1) {
    wrong("", text(cu.size()) + " entries", text(ids.size() + 1) + ", one more than sequences");
    return;
  }
  if (cu[0] != 0) {
    wrong("/0", text(cu[0]), "0");
    return;
  }
  for (std::size_t i = 0; i < ids.size() && truth_.is_known(ids[i]); ++i) {
    const auto length =
        at.row.part ? std::optional(at.row.part->end - at.row.part->begin) : truth_.length(ids[i]);
    const auto end = length ? checked_add(cu[i], *length) : std::nullopt;
    if (end == cu[i + 1]) continue;
    wrong("/" + text(i + 1), text(cu[i + 1]), end ? text(*end) : "an end below 2^63");
    return;
  }
}

}  // namespace stowage
