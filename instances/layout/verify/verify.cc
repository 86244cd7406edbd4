// The rules of instances/verify.h for layout plans.

#include "instances/layout/verify/verify.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "instances/layout/verify/number_set.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/violation.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kOffsets,
  kOffsetRange,
  kAlignment,
  kPin,
  kOverlap,
  kCapacity,
  kPeak,
  kBound,
  kInstanceHash,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "offsets",  "offset_range", "alignment", "pin",          "overlap",
    "capacity", "peak",         "bound",     "instance_hash"};

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

std::string bytes(Bytes value) { return text(value) + " bytes"; }

std::string offset_at(std::size_t buffer) { return "/offsets/" + text(buffer); }

// The event that a buffer begins or stops to need its bytes at `step`.
struct Event {
  std::int64_t step = 0;
  std::uint32_t buffer = 0;
  bool begins = false;
};

class LayoutVerifier {
 public:
  LayoutVerifier(const LayoutInstance& instance, const LayoutPlan& plan)
      : instance_(instance),
        plan_(plan),
        count_(std::min(instance.buffers.size(), plan.offsets.size())),
        found_(kRuleNames) {}

  std::vector<Violation> run() && {
    if (plan_.offsets.size() != instance_.buffers.size()) {
      found_.add(kOffsets, [&] {
        return Description{"/offsets", text(plan_.offsets.size()) + " offsets",
                           text(instance_.buffers.size()) + ", one per buffer"};
      });
    }
    spans_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      const auto last = end(i);
      if (last) spans_[i] = {offset(i), *last, 0};
      check_offset(i, last);
    }
    check_overlap();
    check_peak();
    return std::move(found_).take();
  }

 private:
  const Buffer& buffer(std::size_t i) const { return instance_.buffers[i]; }
  Bytes offset(std::size_t i) const { return plan_.offsets[i]; }

  // Returns the end of the buffer, or nullopt if it leaves the range of addresses.
  std::optional<Bytes> end(std::size_t i) const {
    const auto end = checked_add(offset(i), buffer(i).size);
    return offset(i) >= 0 && end && *end <= kMaxExact ? end : std::nullopt;
  }

  void check_offset(std::size_t i, std::optional<Bytes> last) {
    if (!last) {
      found_.add(kOffsetRange, [&] {
        return Description{offset_at(i), text(offset(i)),
                           "an offset from 0 that ends, with " + bytes(buffer(i).size) +
                               ", at most at " + text(kMaxExact)};
      });
    }
    for (const Bytes unit : {buffer(i).alignment, instance_.alignment}) {
      if (unit <= 1 || offset(i) % unit == 0) continue;
      found_.add(kAlignment, [&] {
        return Description{offset_at(i), text(offset(i)), "a multiple of " + text(unit)};
      });
      break;
    }
    if (buffer(i).offset && offset(i) != *buffer(i).offset) {
      found_.add(kPin, [&] {
        return Description{offset_at(i), text(offset(i)),
                           text(*buffer(i).offset) + ", where the buffer is pinned"};
      });
    }
    if (instance_.capacity && last && *last > *instance_.capacity) {
      found_.add(kCapacity, [&] {
        return Description{offset_at(i), "an end at " + bytes(*last),
                           "at most the capacity, " + bytes(*instance_.capacity)};
      });
    }
  }

  // Adds two events for each range of steps of a buffer's lifetime without its gaps.
  void add_events(std::size_t i, std::vector<Event>& events) const {
    std::int64_t from = buffer(i).lower;
    const auto until = [&](std::int64_t to) {
      if (from >= to) return;
      events.push_back({from, static_cast<std::uint32_t>(i), true});
      events.push_back({to, static_cast<std::uint32_t>(i), false});
    };
    for (const Lifetime& gap : buffer(i).gaps) {
      until(gap.lower);
      from = gap.upper;
    }
    until(buffer(i).upper);
  }

  // The bytes [begin, end) of a buffer, and the number of distinct begins of other buffers below.
  // The default is that of a buffer out of range.
  struct Span {
    Bytes begin = 0;
    Bytes end = -1;
    std::size_t rank = 0;
  };

  // Ranks the buffers that hold bytes. Returns true if they are disjoint at all steps.
  bool rank_spans() {
    struct Start {
      Bytes begin = 0;
      std::uint32_t buffer = 0;
    };
    std::vector<Start> order;
    order.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (holds_bytes(i)) order.push_back({spans_[i].begin, static_cast<std::uint32_t>(i)});
    }
    if (!std::ranges::is_sorted(order, {}, &Start::begin)) {
      std::ranges::sort(order, {}, &Start::begin);
    }
    bool apart = true;
    for (std::size_t k = 1; k < order.size(); ++k) {
      const Span& below = spans_[order[k - 1].buffer];
      Span& span = spans_[order[k].buffer];
      span.rank = below.rank + (below.begin < span.begin ? 1 : 0);
      apart = apart && below.end <= span.begin;
    }
    return apart;
  }

  bool holds_bytes(std::size_t i) const { return spans_[i].begin < spans_[i].end; }

  // Walks the steps with the buffers that need memory, by address. The buffers in the walk are
  // disjoint: a buffer that overlaps one of them is reported and left out.
  void check_overlap() {
    if (rank_spans()) return;
    std::vector<Event> events;
    for (std::size_t i = 0; i < count_; ++i) {
      if (holds_bytes(i)) add_events(i, events);
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      if (a.step != b.step) return a.step < b.step;
      if (a.begins != b.begins) return b.begins;  // lifetimes are half-open
      return a.buffer < b.buffer;
    });
    RankSet live(count_);
    std::vector<std::uint32_t> who(count_);  // buffer that lives at a rank
    std::vector<Overlap> overlaps(count_);
    for (const Event& event : events) {
      const Span& span = spans_[event.buffer];
      if (!event.begins) {
        if (live.contains(span.rank) && who[span.rank] == event.buffer) live.erase(span.rank);
        continue;
      }
      std::size_t other = kNobody;
      const std::size_t above = live.next(span.rank);
      if (above != RankSet::kNone && spans_[who[above]].begin < span.end) other = who[above];
      if (other == kNobody) {
        const std::size_t below = live.previous(span.rank);
        if (below != RankSet::kNone && spans_[who[below]].end > span.begin) other = who[below];
      }
      if (other == kNobody) {
        live.insert(span.rank);
        who[span.rank] = event.buffer;
      } else if (overlaps[event.buffer].other == kNobody) {
        overlaps[event.buffer] = {other, event.step};
      }
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (overlaps[i].other != kNobody) tell(i, overlaps[i]);
    }
  }

  struct Overlap {
    std::size_t other = kNobody;
    std::int64_t step = 0;
  };

  std::string span(std::size_t i) const {
    return '[' + text(spans_[i].begin) + ", " + text(spans_[i].end) + ')';
  }

  void tell(std::size_t i, const Overlap& overlap) {
    found_.add(kOverlap, [&] {
      return Description{offset_at(i),
                         "bytes " + span(i) + " beside buffer " + text(overlap.other) + " in " +
                             span(overlap.other) + " at step " + text(overlap.step),
                         "bytes of its own"};
    });
  }

  void check_peak() {
    std::optional<Bytes> peak = 0;
    if (count_ < instance_.buffers.size()) peak = std::nullopt;
    for (std::size_t i = 0; i < count_; ++i) {
      const Bytes last = spans_[i].end;
      peak = peak && last >= 0 ? std::optional(std::max(*peak, last)) : std::nullopt;
    }
    if (peak && plan_.peak_bytes != *peak) {
      found_.add(kPeak, [&] {
        return Description{"/peak_bytes", bytes(plan_.peak_bytes), bytes(*peak)};
      });
    }
    check_bound(peak.value_or(plan_.peak_bytes));
  }

  void check_bound(Bytes peak) {
    const Bytes bound = plan_.bound_bytes;
    if (bound < 0 || bound > peak) {
      found_.add(kBound, [&] {
        return Description{"/bound_bytes", bytes(bound), "from 0 to the peak, " + bytes(peak)};
      });
    }
    check_bound_name(found_, kBound, bound > 0, plan_.bound_by);
  }

  const LayoutInstance& instance_;
  const LayoutPlan& plan_;
  const std::size_t count_;  // buffers that have an offset
  std::vector<Span> spans_;
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> layout_verify_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

std::vector<Violation> verify(const LayoutInstance& instance, const LayoutPlan& plan) {
  return LayoutVerifier(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const LayoutPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(kRuleNames, kInstanceHash, plan.instance_hash, instance_hash);
}

}  // namespace stowage
