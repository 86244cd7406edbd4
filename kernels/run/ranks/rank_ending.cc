#include "kernels/run/ranks/rank_ending.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "kernels/ranks/packed_integers.h"

namespace stowage::kernels {
namespace {

constexpr std::size_t kMessageWords = 64;
constexpr std::size_t kEndingWords = kMessageWords + 2;

std::vector<std::int64_t> words_of_ending(const RankEnding& ending) {
  std::vector<std::int64_t> words(kEndingWords);
  words[0] = ending.state;
  const std::size_t bytes = std::min(ending.message.size(), kMessageWords * sizeof(std::int64_t));
  words[1] = static_cast<std::int64_t>(bytes);
  std::memcpy(&words[2], ending.message.data(), bytes);
  return words;
}

RankEnding ending_of(std::span<const std::int64_t> words) {
  RankEnding ending{.state = static_cast<RankEnding::State>(words[0])};
  ending.message.resize(static_cast<std::size_t>(words[1]));
  std::memcpy(ending.message.data(), &words[2], ending.message.size());
  return ending;
}

}  // namespace

RankEnding guarded(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Abandoned& left) {
    return {RankEnding::abandoned, left.what()};
  } catch (const std::exception& error) {
    return {RankEnding::failed, error.what()};
  }
}

std::vector<RankEnding> gather_endings(Communicator& world, const RankEnding& mine) {
  constexpr std::int64_t kFloats = kEndingWords * kFloatsPerInteger;
  std::vector<float> all(world.rank() == 0 ? world.size() * kFloats : 0);
  world.gather(as_floats(words_of_ending(mine)), all,
               std::vector<std::int64_t>(world.size(), kFloats));
  const std::vector<std::int64_t> words = as_integers(all);
  std::vector<RankEnding> endings;
  for (std::span<const std::int64_t> rest(words); !rest.empty();
       rest = rest.subspan(kEndingWords)) {
    endings.push_back(ending_of(rest.first(kEndingWords)));
  }
  return endings;
}

std::optional<RankError> error_of(std::span<const RankEnding> endings) {
  for (const auto state : {RankEnding::failed, RankEnding::abandoned}) {
    for (std::size_t r = 0; r < endings.size(); ++r) {
      if (endings[r].state == state) return RankError{static_cast<int>(r), endings[r].message};
    }
  }
  return std::nullopt;
}

}  // namespace stowage::kernels
