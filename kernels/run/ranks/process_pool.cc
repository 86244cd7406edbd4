#include "kernels/run/ranks/process_pool.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "kernels/ranks/packed_integers.h"
#include "kernels/run/ranks/rank_ending.h"

namespace stowage::kernels {
namespace {

enum class Order : std::int64_t { stop, prepare, run, other };

// Sends rank 0's integers to every rank and returns them.
std::vector<std::int64_t> broadcast_integers(Communicator& world,
                                             std::vector<std::int64_t> integers) {
  std::vector<float> count = as_floats(std::vector{static_cast<std::int64_t>(integers.size())});
  world.broadcast(count);
  integers.resize(as_integers(count)[0]);
  std::vector<float> floats = as_floats(integers);
  world.broadcast(floats);
  return as_integers(floats);
}

void broadcast_weights(Communicator& world, BlockWeights<float>& weights) {
  for (std::vector<float>* tensor : weights.tensors()) world.broadcast(*tensor);
}

std::vector<std::int64_t> words_of(const BlockShape& block) {
  return {block.hidden,
          block.heads,
          block.kv_heads,
          block.head_dim,
          block.ffn,
          std::bit_cast<std::int64_t>(block.rope_theta),
          std::bit_cast<std::int64_t>(block.norm_epsilon),
          block.value_dim};
}

BlockShape block_of(std::span<const std::int64_t> words) {
  return {.hidden = static_cast<int>(words[0]),
          .heads = static_cast<int>(words[1]),
          .kv_heads = static_cast<int>(words[2]),
          .head_dim = static_cast<int>(words[3]),
          .ffn = static_cast<int>(words[4]),
          .rope_theta = std::bit_cast<double>(words[5]),
          .norm_epsilon = std::bit_cast<double>(words[6]),
          .value_dim = static_cast<int>(words[7])};
}

// A group of a run; all ranks hold the same list of groups.
struct Member {
  GroupTask task;
  std::vector<std::int32_t> cu_seqlens;  // storage of task.cu_seqlens
  TokenLayout layout;
  int first = 0;  // number of its first rank in the world

  bool has(int rank) const { return rank >= first && rank < first + task.ranks; }
};

std::vector<std::int64_t> words_of(const GroupTask& task) {
  std::vector<std::int64_t> words = {static_cast<std::int64_t>(task.exchange.kind),
                                     task.exchange.chunk_size,
                                     task.exchange.retained,
                                     task.tokens,
                                     task.ranks,
                                     task.window,
                                     task.threads,
                                     static_cast<std::int64_t>(task.cu_seqlens.size()),
                                     static_cast<std::int64_t>(task.exchange.cuts.size())};
  words.insert(words.end(), task.cu_seqlens.begin(), task.cu_seqlens.end());
  words.insert(words.end(), task.exchange.cuts.begin(), task.exchange.cuts.end());
  return words;
}

// Parses the words after Order::run, one task after another.
std::vector<Member> members_of(std::span<const std::int64_t> words) {
  std::vector<Member> members;
  int first = 0;
  while (!words.empty()) {
    Member member{.task = {.exchange = {.kind = static_cast<ExchangeKind>(words[0]),
                                        .chunk_size = words[1],
                                        .retained = words[2]},
                           .tokens = words[3],
                           .ranks = static_cast<int>(words[4]),
                           .window = words[5],
                           .threads = static_cast<int>(words[6])},
                  .first = first};
    constexpr std::size_t kHead = 9;
    for (const std::int64_t entry : words.subspan(kHead, words[7])) {
      member.cu_seqlens.push_back(static_cast<std::int32_t>(entry));
    }
    const auto cuts = words.subspan(kHead + words[7], words[8]);
    member.task.exchange.cuts.assign(cuts.begin(), cuts.end());
    words = words.subspan(kHead + words[7] + words[8]);
    first += member.task.ranks;
    members.push_back(std::move(member));
  }
  for (Member& member : members) {  // the vector does not move any more, so spans may refer to it
    member.task.cu_seqlens = member.cu_seqlens;
    member.layout = layout_of(member.task);
  }
  return members;
}

// Returns the number of floats that a finished rank sends: y, dx, its seconds, and the gradient if
// it is the first rank of its group.
std::int64_t result_floats(const Model& model, const Member& member, int rank) {
  const int place = rank - member.first;
  const auto rows = static_cast<std::int64_t>(member.layout.of(place).size());
  std::int64_t count = 2 * rows * model.block.hidden + kFloatsPerInteger;
  if (place == 0) {
    for (const std::int64_t size : weight_sizes(model.block)) count += size;
  }
  return count;
}

std::vector<float> result_of(const RankShare& share, bool first) {
  std::vector<float> result = share.y;
  result.insert(result.end(), share.dx.begin(), share.dx.end());
  const std::vector<float> seconds =
      as_floats(std::vector{std::bit_cast<std::int64_t>(share.seconds)});
  result.insert(result.end(), seconds.begin(), seconds.end());
  if (first) {
    for (const std::vector<float>* tensor : share.gradient.tensors()) {
      result.insert(result.end(), tensor->begin(), tensor->end());
    }
  }
  return result;
}

// Removes the first `count` floats from `rest` and returns them.
std::span<const float> take(std::span<const float>& rest, std::int64_t count) {
  const std::span<const float> taken = rest.first(count);
  rest = rest.subspan(count);
  return taken;
}

// Calls visit(group, place) for every rank that has a group, in rank order.
template <class Visit>
void for_each_rank(const std::vector<Member>& members, Visit visit) {
  for (std::size_t g = 0; g < members.size(); ++g) {
    for (int place = 0; place < members[g].task.ranks; ++place) visit(g, place);
  }
}

// Returns x and then upstream of this rank's rows. Rank 0 holds the inputs in `groups`.
std::vector<float> scatter_inputs(Communicator& world, std::int64_t width,
                                  const std::vector<Member>& members,
                                  std::span<const GroupWork> groups) {
  std::vector<float> all;
  std::vector<std::int64_t> counts(world.size());
  for_each_rank(members, [&](std::size_t g, int place) {
    const std::span<const std::int64_t> rows = members[g].layout.of(place);
    counts[members[g].first + place] = 2 * static_cast<std::int64_t>(rows.size()) * width;
    if (world.rank() != 0) return;
    for (const std::span<const float> source : {groups[g].x, groups[g].upstream}) {
      const std::vector<float> part = take_rows(rows, width, source);
      all.insert(all.end(), part.begin(), part.end());
    }
  });
  std::vector<float> mine(counts[world.rank()]);
  world.scatter(all, counts, mine);
  return mine;
}

// Returns, on rank 0, the results of all ranks that finished, in rank order.
std::vector<float> gather_results(Communicator& world, const Model& model,
                                  const std::vector<Member>& members,
                                  std::span<const RankEnding> endings,
                                  std::span<const float> mine) {
  std::vector<std::int64_t> counts(world.size());
  std::int64_t total = 0;
  if (world.rank() == 0) {
    for_each_rank(members, [&](std::size_t g, int place) {
      const int rank = members[g].first + place;
      if (endings[rank].state != RankEnding::finished) return;
      total += counts[rank] = result_floats(model, members[g], rank);
    });
  }
  std::vector<float> all(total);
  world.gather(mine, all, counts);
  return all;
}

// Removes the next group's output from `rest`, the data of gather_results(), and returns it.
GroupOutput take_output(const Model& model, const Member& group,
                        std::span<const RankEnding> endings, std::size_t floats,
                        std::span<const float>& rest) {
  const std::int64_t width = model.block.hidden;
  GroupOutput out;
  out.error = error_of(endings);
  out.y.resize(floats);
  out.dx.resize(floats);
  for (int place = 0; place < group.task.ranks; ++place) {
    if (endings[place].state != RankEnding::finished) continue;
    const std::span<const std::int64_t> where = group.layout.of(place);
    const auto count = static_cast<std::int64_t>(where.size()) * width;
    put_rows(where, width, take(rest, count), out.y);
    put_rows(where, width, take(rest, count), out.dx);
    out.seconds = std::max(
        out.seconds, std::bit_cast<double>(as_integers(take(rest, kFloatsPerInteger)).front()));
    if (place > 0) continue;
    out.gradient = zero_weights<float>(model.block);
    for (std::vector<float>* tensor : out.gradient.tensors()) {
      std::ranges::copy(take(rest, static_cast<std::int64_t>(tensor->size())), tensor->begin());
    }
  }
  return out;
}

// Executes one run on every rank. `groups` and `outputs` are used on rank 0 and empty on other
// ranks.
void take_part(Communicator& world, const ShareProgram& program, const Model& model,
               const std::vector<Member>& members, std::span<const GroupWork> groups,
               std::span<GroupOutput> outputs) {
  const int me = world.rank();
  const auto mine = std::ranges::find_if(members, [&](const Member& m) { return m.has(me); });
  const Member* member = mine == members.end() ? nullptr : &*mine;
  const std::vector<float> rows = scatter_inputs(world, model.block.hidden, members, groups);
  const std::span<const float> both(rows);
  RankShare share;
  const RankEnding ending = guarded([&] {
    const auto group = world.split(static_cast<int>(mine - members.begin()));
    if (member == nullptr) return;
    share = program(*group, model, member->task, both.first(both.size() / 2),
                    both.subspan(both.size() / 2));
  });

  const std::vector<RankEnding> endings = gather_endings(world, ending);
  const bool has_result = member != nullptr && ending.state == RankEnding::finished;
  const std::vector<float> result =
      has_result ? result_of(share, me == member->first) : std::vector<float>();
  const std::vector<float> results = gather_results(world, model, members, endings, result);
  if (me != 0) return;
  std::span<const float> rest(results);
  for (std::size_t g = 0; g < members.size(); ++g) {
    const auto ended = std::span(endings).subspan(members[g].first, members[g].task.ranks);
    outputs[g] = take_output(model, members[g], ended, groups[g].x.size(), rest);
  }
}

}  // namespace

ProcessPool::~ProcessPool() {
  if (talking_) return;
  try {
    broadcast_integers(world_, {static_cast<std::int64_t>(Order::stop)});
  } catch (
      const std::exception&) {  // the other ranks have ended, so there is no receiver for the error
  }
}

void ProcessPool::prepare(const Model& model) {
  model_.emplace(model);
  talking_ = true;
  std::vector<std::int64_t> words = words_of(model.block);
  words.insert(words.begin(), static_cast<std::int64_t>(Order::prepare));
  broadcast_integers(world_, words);
  BlockWeights<float> weights = model.weights;
  broadcast_weights(world_, weights);
  talking_ = false;
}

std::vector<GroupOutput> ProcessPool::run(std::span<const GroupWork> groups) {
  std::vector<GroupOutput> outputs(groups.size());
  std::vector<GroupWork> sound;
  std::vector<std::int64_t> words;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    try {
      layout_of(groups[g].task);  // must throw before the other ranks receive the task
    } catch (const std::length_error& error) {
      outputs[g].error = RankError{0, error.what()};
      continue;
    }
    sound.push_back(groups[g]);
    const std::vector<std::int64_t> more = words_of(groups[g].task);
    words.insert(words.end(), more.begin(), more.end());
  }
  const std::vector<Member> members = members_of(words);
  words.insert(words.begin(), static_cast<std::int64_t>(Order::run));
  talking_ = true;
  broadcast_integers(world_, words);
  std::vector<GroupOutput> done(sound.size());
  take_part(world_, program_, *model_, members, sound, done);
  talking_ = false;
  std::size_t next = 0;
  for (GroupOutput& output : outputs) {
    if (!output.error) output = std::move(done[next++]);
  }
  return outputs;
}

void ProcessPool::run_other(std::vector<std::int64_t> words, const OtherWork& work) {
  words.insert(words.begin(), static_cast<std::int64_t>(Order::other));
  talking_ = true;
  broadcast_integers(world_, words);
  work(world_, std::span(words).subspan(1));
  talking_ = false;
}

void serve(Communicator& world, const ShareProgram& program, const OtherWork& other) {
  BlockShape block;
  BlockWeights<float> weights;
  for (;;) {
    const std::vector<std::int64_t> words = broadcast_integers(world, {});
    const auto rest = std::span(words).subspan(1);
    switch (static_cast<Order>(words[0])) {
      case Order::stop:
        return;
      case Order::prepare:
        block = block_of(rest);
        weights = zero_weights<float>(block);
        broadcast_weights(world, weights);
        break;
      case Order::run:
        take_part(world, program, {block, weights}, members_of(rest), {}, {});
        break;
      case Order::other:
        other(world, rest);
        break;
    }
  }
}

}  // namespace stowage::kernels
