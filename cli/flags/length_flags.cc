#include "cli/flags/length_flags.h"

#include "cli/terminal/error/error_codes.h"
#include "instances/json/limits.h"

namespace stowage {

void LengthFlags::declare(Flags& flags, const std::string& step) {
  flags.text("--lengths", lengths_, "SOURCE",
             "A file of lengths (see convert), or lognormal, uniform, constant; default lognormal");
  column_.declare(flags);
  flags.integer("--step", step_, "N", 0, kMaxSequences, "File: " + step + "; default 0");
  flags.toggle("--sample", sample_, "File: draw lines at random instead of a slice");
  flags.number("--mu", mu_, "X", 0, 30, "lognormal: mean of ln(tokens); default 7");
  flags.number("--sigma", sigma_, "X", 0, 10, "lognormal: deviation of ln(tokens); default 1.4");
  flags.integer("--least", least_, "N", 1, kMaxExact, "uniform, constant: tokens; default 1");
  flags.integer("--most", most_, "N", 1, kMaxExact, "uniform: tokens; default 8192");
  flags.choice("--above-limit", above_, {"drop", "clip"},
               "What happens to sequences beyond the limit; default drop");
  flags.integer("--seed", seed_, "N", 0, kMaxExact, "Seed of every draw; default 0");
}

AboveLimit LengthFlags::above_limit() const {
  return above_ == "clip" ? AboveLimit::clip : AboveLimit::drop;
}

std::uint64_t LengthFlags::seed() const { return static_cast<std::uint64_t>(seed_.value_or(0)); }

LengthSource LengthFlags::source() const {
  LengthSource source;
  if (lengths_ == "lognormal") {
    source.kind = LengthSource::Kind::lognormal;
    source.mu = mu_.value_or(7);
    source.sigma = sigma_.value_or(1.4);
  } else if (lengths_ == "uniform") {
    source.kind = LengthSource::Kind::uniform;
    source.least = least_.value_or(1);
    source.most = most_.value_or(8192);
  } else if (lengths_ == "constant") {
    source.kind = LengthSource::Kind::constant;
    source.least = least_.value_or(1);
  } else {
    source.kind = sample_ ? LengthSource::Kind::sample : LengthSource::Kind::slice;
    source.list = lengths_ == "-" ? "stdin" : lengths_;
    source.step = step_.value_or(0);
  }
  return source;
}

std::optional<InputError> LengthFlags::misplaced_flag() const {
  using Kind = LengthSource::Kind;
  const Kind kind = source().kind;
  const auto complaint = [this](const char* flag) {
    return InputError{kUsage, flag, "has no effect with --lengths " + lengths_};
  };
  if (kind != Kind::lognormal && mu_) return complaint("--mu");
  if (kind != Kind::lognormal && sigma_) return complaint("--sigma");
  if (kind != Kind::uniform && kind != Kind::constant && least_) return complaint("--least");
  if (kind != Kind::uniform && most_) return complaint("--most");
  if (kind != Kind::slice && step_) return complaint("--step");
  if (!from_file() && column_.given()) return complaint("--column");
  if (!from_file() && sample_) return complaint("--sample");
  return std::nullopt;
}

Loaded<std::vector<Tokens>> LengthFlags::list(Console& console) const {
  if (!from_file()) return {std::vector<Tokens>(), {}};
  return column_.read_at(console, lengths_);
}

bool LengthFlags::from_file() const {
  return lengths_ != "lognormal" && lengths_ != "uniform" && lengths_ != "constant";
}

}  // namespace stowage
