// The rules of instances/verify.h for assign plans. Longer than 300 lines because it is one list: a
// reader finds all rules in one place, in the order in which a plan is checked.

#include "instances/assign/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "instances/assign/verify/chunk_reference.h"
#include "instances/assign/verify/reference_model.h"
#include "instances/numeric/tolerances.h"
#include "instances/proof/pipeline_reference.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/violation.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kStrategy,
  kScheme,
  kReplicas,
  kCoverage,
  kUnknownSequence,
  kEmptyRow,
  kTokens,
  kLossTokens,
  kCuSeqlens,
  kCapacity,
  kChunk,
  kChunkOrder,
  kChunkMemory,
  kRowTime,
  kReplicaTime,
  kObjective,
  kSimulated,
  kRowsMultipleOf,
  kEqualRows,
  kAllowEmpty,
  kBound,
  kInstanceHash,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "number",           "strategy",  "scheme",       "replicas",         "coverage",
    "unknown_sequence", "empty_row", "tokens",       "loss_tokens",      "cu_seqlens",
    "capacity",         "chunk",     "chunk_order",  "chunk_memory",     "row_time",
    "replica_time",     "objective", "simulated",    "rows_multiple_of", "equal_rows",
    "allow_empty",      "bound",     "instance_hash"};

constexpr std::int64_t kNowhere = -1;

// Returns true for finite numbers that differ by no more than the tolerance.
bool agree(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(a - b) <= kVerifierDiffers * std::max(std::abs(a), std::abs(b));
}

std::string ms(double value) { return text(value) + " ms"; }

std::string tokens(std::optional<Tokens> value) {
  return value ? text(*value) + " tokens" : "more than 2^63 tokens";
}

std::string name_text(std::string_view name) {
  constexpr std::size_t kShown = 40;
  std::string shown = '"' + std::string(name.substr(0, kShown));
  return shown + (name.size() > kShown ? "...\"" : "\"");
}

std::string replica_at(std::size_t r) { return "/replicas/" + text(r); }

// A row and its place in the plan.
struct Place {
  const AssignRow& row;
  std::size_t replica;
  std::size_t index;

  std::string pointer(std::string_view below = "") const {
    return replica_at(replica) + "/rows/" + text(index) + std::string(below);
  }
};

// The part of a sequence that a row with a valid range of tokens is.
struct PartOf {
  Tokens length = 0;  // of the sequence
  Tokens index = 0;   // of the part
  Tokens count = 0;   // of the sequence's parts
};

// The true times of a replica.
struct ReplicaTimes {
  Ms estimate;   // T
  Ms simulated;  // 1F1B
};

// Walks over the plan once. Each step returns the true time of its part, or nullopt if a violation
// leaves the time unknown. A stated time then stands in for the true time, so that one error is not
// reported again at every level above it.
class AssignVerifier {
 public:
  AssignVerifier(const AssignInstance& instance, const AssignPlan& plan)
      : instance_(instance),
        plan_(plan),
        truth_(instance),
        chunks_(instance.constraints.chunks
                    ? std::optional<ChunkReference>(*instance.constraints.chunks)
                    : std::nullopt),
        first_seen_(instance.lengths.size(), kNowhere),
        found_(kRuleNames) {}

  std::vector<Violation> run() && {
    check_strategy();
    std::optional<ReplicaTimes> slowest = ReplicaTimes{0, 0};
    for (std::size_t r = 0; r < plan_.replicas.size(); ++r) {
      const auto times = check_replica(r);
      if (slowest && times) {
        slowest->estimate = std::max(slowest->estimate, times->estimate);
        slowest->simulated = std::max(slowest->simulated, times->simulated);
      } else {
        slowest = std::nullopt;
      }
    }
    check_nothing_is_missing();
    check_loss_tokens();
    check_row_counts();
    const auto objective = slowest ? std::optional(slowest->estimate) : std::nullopt;
    const auto simulated = slowest ? std::optional(slowest->simulated) : std::nullopt;
    check_ms(kObjective, plan_.objective_ms, objective, [] { return "/objective_ms"; });
    check_ms(kSimulated, plan_.simulated_1f1b_ms, simulated, [] { return "/simulated_1f1b_ms"; });
    check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by,
                   objective.value_or(plan_.objective_ms));
    return std::move(found_).take();
  }

 private:
  // Compares a stated time with the true time, if that is known.
  template <class Where>
  void check_ms(Rule rule, Ms have, std::optional<Ms> need, Where where) {
    if (!std::isfinite(have)) {
      found_.add(kNumber, [&] { return Description{where(), text(have), "a finite number"}; });
    } else if (need && !agree(have, *need)) {
      found_.add(rule, [&] { return Description{where(), ms(have), ms(*need)}; });
    }
  }

  void check_strategy() {
    const Strategy* strategy = truth_.strategy(plan_.strategy);
    if (strategy == nullptr) {
      found_.add(kStrategy, [&] {
        return Description{"/strategy", name_text(plan_.strategy), "a strategy of the instance"};
      });
      return;
    }
    std::map<std::string_view, std::int64_t> have;
    for (const AssignReplica& replica : plan_.replicas) ++have[replica.scheme];
    for (std::size_t g = 0; g < instance_.schemes.size() && g < strategy->replicas.size(); ++g) {
      const std::string& name = instance_.schemes[g].name;
      const auto found = have.find(name);
      const std::int64_t count = found == have.end() ? 0 : found->second;
      if (count == strategy->replicas[g]) continue;
      found_.add(kReplicas, [&] {
        return Description{
            "/replicas", text(count) + " of scheme " + name_text(name),
            text(strategy->replicas[g]) + ", as strategy " + name_text(strategy->name) + " has"};
      });
    }
  }

  std::optional<ReplicaTimes> check_replica(std::size_t r) {
    const AssignReplica& replica = plan_.replicas[r];
    const Scheme* scheme = truth_.scheme(replica.scheme);
    if (scheme == nullptr) {
      found_.add(kScheme, [&] {
        return Description{replica_at(r) + "/scheme", name_text(replica.scheme),
                           "a scheme of the instance"};
      });
    }
    std::vector<Ms> rows;
    std::vector<TimedChunk> chunks;
    bool all_known = scheme != nullptr;
    std::optional<PartOf> before;  // the previous row, if more parts must follow it
    const std::vector<Run> runs = runs_of(replica);
    for (std::size_t j = 0; j < replica.rows.size(); ++j, ++rows_seen_) {
      const Place at{replica.rows[j], r, j};
      const std::optional<PartOf> part = check_part(at, runs[j], scheme);
      const bool in_order = check_order(at, part, before);
      before = part && part->index + 1 < part->count ? part : std::nullopt;
      const auto time = check_row(at, part, scheme);
      if (time) rows.push_back(*time);
      if (time && chunks_) chunks.push_back(timed(*time, part));
      all_known = all_known && time && in_order && part.has_value() == at.row.part.has_value();
    }
    if (before) {
      all_known = false;
      found_.add(kChunkOrder, [&] {
        return Description{replica_at(r) + "/rows", "part " + text(before->index) + " at the end",
                           "all " + text(before->count) + " parts of its sequence"};
      });
    }
    std::optional<ReplicaTimes> times;
    if (all_known) {
      times = {AssignReferenceModel::replica_time(rows, scheme->pp),
               chunks_ ? ChunkReference::simulated(chunks, scheme->pp)
                       : reference_end_of_1f1b(rows, scheme->pp)};
    }
    const auto estimate = times ? std::optional(times->estimate) : std::nullopt;
    check_ms(kReplicaTime, replica.time_ms, estimate, [&] { return replica_at(r) + "/time_ms"; });
    return times;
  }

  // Neighbouring rows that are parts of the same sequence.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 1;
  };

  // Returns the run of each row. A row without a range, or of several sequences, is a run alone.
  static std::vector<Run> runs_of(const AssignReplica& replica) {
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
  std::optional<PartOf> check_free_part(const Place& at, const Run& run, Tokens length) {
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
                         text(range.begin) + " to " + text(range.end) + ", part " +
                             text(part.index) + " of " + text(part.count),
                         "from " + text(begin) + ", up to " + text(size) +
                             " tokens more, with the " + text(length) + " in at most " +
                             text(chunks_->most_parts(length)) + " parts side by side"};
    });
    return std::nullopt;
  }

  // Returns the part that the row is, or nullopt if the row has no range or a wrong range.
  std::optional<PartOf> check_part(const Place& at, const Run& run, const Scheme* scheme) {
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
      return wrong(range, "no range, since " + tokens(*length) + " are not above " + tokens(size));
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
        return Description{at.pointer(), tokens(*length) + " cut into " + text(part.count),
                           "what a replica of " + name_text(scheme->name) + " has memory for"};
      });
    }
    return part;
  }

  // Checks that the parts of a sequence stand side by side, in order.
  bool check_order(const Place& at, const std::optional<PartOf>& part,
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

  TimedChunk timed(Ms time, const std::optional<PartOf>& part) const {
    if (!part) return {.once = time};
    const bool twice = chunks_->goes_twice(part->index, part->count);
    return {.once = twice ? time * 3.0L / 4 : time,
            .twice = twice,
            .parts = part->index == 0 ? static_cast<std::size_t>(part->count) : 0};
  }

  std::optional<Ms> check_row(const Place& at, const std::optional<PartOf>& part,
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
        return Description{at.pointer("/tokens"), tokens(row.tokens), tokens(sums.tokens)};
      });
    }
    if (sums.all_known && sums.targets != row.loss_tokens) {
      found_.add(kLossTokens, [&] {
        return Description{at.pointer("/loss_tokens"), tokens(row.loss_tokens),
                           tokens(sums.targets)};
      });
    }
    if (sound && scheme != nullptr && !(sums.tokens && *sums.tokens <= scheme->max_tokens)) {
      found_.add(kCapacity, [&] {
        return Description{
            at.pointer(), tokens(sums.tokens),
            "at most " + tokens(scheme->max_tokens) + " on " + name_text(scheme->name)};
      });
    }
    if (sound && chunks_ && !part && sums.tokens &&
        *sums.tokens > instance_.constraints.chunks->size) {
      found_.add(kChunk, [&] {
        return Description{at.pointer(), tokens(sums.tokens),
                           "at most " + tokens(instance_.constraints.chunks->size) +
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
  RowSums check_sequences(const Place& at, const std::optional<PartOf>& part) {
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
  std::string row_at(std::int64_t number) const {
    std::size_t r = 0;
    auto left = static_cast<std::size_t>(number);
    for (; left >= plan_.replicas[r].rows.size(); ++r) left -= plan_.replicas[r].rows.size();
    return replica_at(r) + "/rows/" + text(left);
  }

  // Reports only the first wrong entry of a row, since one error moves all later entries.
  void check_cu_seqlens(const Place& at) {
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
      const auto length = at.row.part ? std::optional(at.row.part->end - at.row.part->begin)
                                      : truth_.length(ids[i]);
      const auto end = length ? checked_add(cu[i], *length) : std::nullopt;
      if (end == cu[i + 1]) continue;
      wrong("/" + text(i + 1), text(cu[i + 1]), end ? text(*end) : "an end below 2^63");
      return;
    }
  }

  void check_nothing_is_missing() {
    for (std::size_t id = 0; id < first_seen_.size(); ++id) {
      if (first_seen_[id] != kNowhere) continue;
      found_.add(kCoverage, [&] {
        return Description{"/replicas", "sequence " + text(id) + " nowhere",
                           "each sequence exactly once"};
      });
    }
  }

  // Compares with the instance, not with the rows: missing sequences are a violation of their own.
  void check_loss_tokens() {
    std::optional<Tokens> all = 0;
    for (std::int64_t id = 0; id < truth_.sequences(); ++id) {
      all = all ? checked_add(*all, truth_.targets(id)) : all;
    }
    if (all == plan_.loss_tokens) return;
    found_.add(kLossTokens, [&] {
      return Description{"/loss_tokens", tokens(plan_.loss_tokens), tokens(all)};
    });
  }

  void check_row_counts() {
    const RowConstraints& asked = instance_.constraints;
    std::size_t equal = 0;  // the number of rows of the first replica that has rows
    for (std::size_t r = 0; r < plan_.replicas.size(); ++r) {
      const std::size_t rows = plan_.replicas[r].rows.size();
      const auto add = [&](Rule rule, const std::string& need) {
        found_.add(rule, [&] {
          return Description{replica_at(r) + "/rows", text(rows) + " rows", need};
        });
      };
      if (rows == 0) {
        if (!asked.allow_empty) add(kAllowEmpty, "a row or more on every replica");
        continue;
      }
      if (asked.rows_multiple_of > 1 &&
          rows % static_cast<std::size_t>(asked.rows_multiple_of) != 0) {
        add(kRowsMultipleOf, "a multiple of " + text(asked.rows_multiple_of));
      }
      if (equal == 0) equal = rows;
      if (asked.equal_rows && rows != equal) {
        add(kEqualRows, text(equal) + ", as the replicas before it have");
      }
    }
  }

  const AssignInstance& instance_;
  const AssignPlan& plan_;
  const AssignReferenceModel truth_;
  const std::optional<ChunkReference> chunks_;  // if the instance asks for chunks
  std::vector<std::int64_t> first_seen_;        // by id: the number of its row, or kNowhere
  std::int64_t rows_seen_ = 0;
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> assign_verify_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

std::vector<Violation> verify(const AssignInstance& instance, const AssignPlan& plan) {
  return AssignVerifier(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const AssignPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(kRuleNames, kInstanceHash, plan.instance_hash, instance_hash);
}

}  // namespace stowage
