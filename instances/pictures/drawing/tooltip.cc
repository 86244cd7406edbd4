#include "instances/pictures/drawing/tooltip.h"

#include <cmath>
#include <limits>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/text_width.h"

namespace stowage {
namespace {

constexpr std::size_t kListAll = 50'000;  // up to this many ids in all, tooltips list all of theirs
constexpr double kBrief = 60;             // ems: longest name

}  // namespace

std::string sequence_names(std::span<const std::int64_t> ids, std::size_t most) {
  if (ids.size() == 1) return "sequence " + grouped(ids.front());
  std::string text = counted(std::ssize(ids), "sequence");
  const std::size_t listed = std::min(ids.size(), most);
  for (std::size_t i = 0; i < listed; ++i) text += (i == 0 ? ": " : ", ") + grouped(ids[i]);
  if (listed < ids.size() && listed > 0) {
    text += " and " + grouped(static_cast<std::int64_t>(ids.size() - listed)) + " more";
  }
  return text;
}

std::string brief(const std::string& name) { return shortened(name, 1, kBrief); }

std::size_t ids_per_tooltip(std::size_t ids) {
  return ids <= kListAll ? std::numeric_limits<std::size_t>::max() : 6;
}

std::string ms_amount(double ms) { return ms_text(ms) + " ms"; }

std::string bytes_amount(double bytes) {
  return std::isfinite(bytes) ? grouped(std::llround(bytes)) + " bytes" : "-";
}

}  // namespace stowage
