#include "kernels/ranks/mpi_rank.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace stowage::kernels {

void MpiRank::all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                           std::span<float> recv, std::span<const std::int64_t> recv_counts) {
  assert(sum_of(send_counts) == static_cast<std::int64_t>(send.size()));
  assert(sum_of(recv_counts) == static_cast<std::int64_t>(recv.size()));
  MpiAnnouncement mine(size());
  std::ranges::copy(send_counts, mine.sends().begin());
  std::ranges::copy(recv_counts, mine.expects().begin());
  const auto all = announce(std::move(mine), MpiCall::all_to_all_v);
  for (int s = 0; s < size(); ++s) {
    for (int r = 0; r < size(); ++r) agree(all[s].sends()[r] == all[r].expects()[s]);
  }
  exchange(send, send_counts, recv, recv_counts);
}

void MpiRank::broadcast(std::span<float> values) {
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(values.size());
  const auto said = announce(std::move(words), MpiCall::broadcast);
  for (const MpiAnnouncement& one : said) agree(one.size() == said[0].size());
  spread(values);
}

void MpiRank::scatter(std::span<const float> all, std::span<const std::int64_t> counts,
                      std::span<float> mine) {
  assert(rank_ != 0 || sum_of(counts) == static_cast<std::int64_t>(all.size()));
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(mine.size());
  if (rank_ == 0) std::ranges::copy(counts, words.sends().begin());
  const auto said = announce(std::move(words), MpiCall::scatter);
  for (int r = 0; r < size(); ++r) agree(said[0].sends()[r] == said[r].size());
  MpiCounts sends(size()), receives(size());
  if (rank_ == 0) sends.assign(counts.begin(), counts.end());
  receives[0] = static_cast<std::int64_t>(mine.size());
  exchange(all, sends, mine, receives);
}

void MpiRank::gather(std::span<const float> mine, std::span<float> all,
                     std::span<const std::int64_t> counts) {
  assert(rank_ != 0 || sum_of(counts) == static_cast<std::int64_t>(all.size()));
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(mine.size());
  if (rank_ == 0) std::ranges::copy(counts, words.expects().begin());
  const auto said = announce(std::move(words), MpiCall::gather);
  for (int s = 0; s < size(); ++s) agree(said[0].expects()[s] == said[s].size());
  MpiCounts sends(size()), receives(size());
  sends[0] = static_cast<std::int64_t>(mine.size());
  if (rank_ == 0) receives.assign(counts.begin(), counts.end());
  exchange(mine, sends, all, receives);
}

void MpiRank::all_gather(std::span<const float> mine, std::span<float> all,
                         std::span<const std::int64_t> counts) {
  assert(sum_of(counts) == static_cast<std::int64_t>(all.size()));
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(mine.size());
  std::ranges::copy(counts, words.expects().begin());
  const auto said = announce(std::move(words), MpiCall::all_gather);
  for (const MpiAnnouncement& one : said) {
    for (int s = 0; s < size(); ++s) agree(one.expects()[s] == said[s].size());
  }
  tell_all(mine, all, counts);
}

void MpiRank::reduce_scatter(std::span<const float> all, std::span<float> mine,
                             std::span<const std::int64_t> counts) {
  assert(sum_of(counts) == static_cast<std::int64_t>(all.size()));
  assert(counts[rank_] == static_cast<std::int64_t>(mine.size()));
  std::vector<float> parts(size() * mine.size());
  MpiAnnouncement words(size());
  std::ranges::copy(counts, words.expects().begin());
  const auto said = announce(std::move(words), MpiCall::reduce_scatter);
  for (const MpiAnnouncement& one : said) agree(std::ranges::equal(one.expects(), counts));
  reduce(all, mine, counts, parts);
}

void MpiRank::all_reduce(std::span<float> values) {
  const MpiCounts split = even_split(static_cast<std::int64_t>(values.size()), size());
  MpiCounts counts(size());
  for (int r = 0; r < size(); ++r) counts[r] = split[r + 1] - split[r];
  std::vector<float> mine(counts[rank_]), parts(size() * mine.size());
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(values.size());
  for (const MpiAnnouncement& one : announce(std::move(words), MpiCall::all_reduce)) {
    agree(one.size() == static_cast<std::int64_t>(values.size()));
  }
  reduce(values, mine, counts, parts);
  tell_all(mine, values, counts);
}

void MpiRank::send_receive(std::span<const float> send, int to, std::span<float> recv, int from) {
  MpiAnnouncement words(size());
  words.size() = static_cast<std::int64_t>(send.size());
  words.to() = to;
  words.from() = from;
  words.other() = static_cast<std::int64_t>(recv.size());
  const auto said = announce(std::move(words), MpiCall::ring);
  for (int r = 0; r < size(); ++r) {
    const MpiAnnouncement& source = said[said[r].from()];
    agree(source.to() == r && source.size() == said[r].other());
  }
  MpiCounts sends(size()), receives(size());
  sends[to] = static_cast<std::int64_t>(send.size());
  receives[from] = static_cast<std::int64_t>(recv.size());
  exchange(send, sends, recv, receives);
}

void MpiRank::send(std::span<const float> values, int to, int tag) {
  if (dead_) throw Abandoned();
  post_.send(context_, members_[to], tag, values);
}

void MpiRank::receive(std::span<float> values, int from, int tag) {
  if (dead_) throw Abandoned();
  std::deque<std::vector<float>>& mine = received_[{from, tag}];
  while (mine.empty()) take_message(from);
  agree(mine.front().size() == values.size());
  std::ranges::copy(mine.front(), values.begin());
  mine.pop_front();
}

// Leaves the group; called once.
void MpiRank::leave(MpiCall how) {
  dead_ = true;
  std::vector<int> others;
  for (int r = 0; r < size(); ++r) {
    if (r != rank_) others.push_back(members_[r]);
  }
  post_.leave(context_, how, std::move(others));
}

// Exchanges announcements with all ranks. Throws on all ranks if the announcements show that the
// collective cannot complete.
std::vector<MpiAnnouncement> MpiRank::announce(MpiAnnouncement mine, MpiCall call) {
  if (dead_) throw Abandoned();
  mine.words[0] = static_cast<std::int64_t>(call);
  std::vector<MpiAnnouncement> all(size(), MpiAnnouncement(size()));
  MpiTransfers transfers;
  for (int r = 0; r < size(); ++r) {
    if (r == rank_) continue;
    transfers.receive(all[r].words, members_[r], MpiPost::announcement_tag(context_));
    transfers.send(std::span<const std::int64_t>(mine.words), members_[r],
                   MpiPost::announcement_tag(context_));
  }
  transfers.wait();
  all[rank_] = std::move(mine);
  const auto any = [&](auto is) { return std::ranges::any_of(all, is); };
  dead_ = any([&](const MpiAnnouncement& one) { return one.call() != call; });
  if (!dead_) return all;
  if (any([](const MpiAnnouncement& one) { return one.call() == MpiCall::failed; })) {
    throw Abandoned();
  }
  if (any([](const MpiAnnouncement& one) { return one.call() == MpiCall::returned; })) {
    throw std::runtime_error(kAlreadyReturned);
  }
  throw std::runtime_error(kMixedCollectives);
}

// Waits for a message of rank `from` and stores it under its tag. Throws if the rank announces
// another call instead; the announcement is kept for later receivers.
void MpiRank::take_message(int from) {
  const int tag = MpiPost::announcement_tag(context_);
  const int count = await_words(members_[from], tag);
  MpiCounts head(kMessageWords);
  if (count != kMessageWords) {
    dead_ = true;
    if (count > 1) throw std::runtime_error(kMixedCollectives);
    take_words(std::span(head).first(1), members_[from], tag);
    if (head[0] == static_cast<std::int64_t>(MpiCall::failed)) throw Abandoned();
    throw std::runtime_error(kAlreadyReturned);
  }
  take_words(head, members_[from], tag);
  std::vector<float> values(head[1]);
  MpiTransfers transfers;
  receive(values, from, transfers);
  transfers.wait();
  received_[{from, static_cast<int>(head[2])}].push_back(std::move(values));
}

// Every rank evaluates the same conditions, so either all ranks continue or all throw.
void MpiRank::agree(bool condition) {
  if (condition) return;
  dead_ = true;
  throw std::runtime_error(kUnequalCounts);
}

// Exchanges data whose counts are agreed on, in rank order on both sides.
void MpiRank::exchange(std::span<const float> send, std::span<const std::int64_t> send_counts,
                       std::span<float> recv, std::span<const std::int64_t> recv_counts) {
  MpiTransfers transfers;
  for (int r = 0; r < size(); ++r) {
    const std::span<const float> out = send.first(send_counts[r]);
    const std::span<float> in = recv.first(recv_counts[r]);
    send = send.subspan(out.size());
    recv = recv.subspan(in.size());
    if (r == rank_) {
      std::ranges::copy(out, in.begin());
    } else {
      receive(in, r, transfers);
      deliver(out, r, transfers);
    }
  }
  transfers.wait();
}

// Broadcasts rank 0's values over a binomial tree: a rank forwards the values after it received
// them, so that rank 0 sends log2(size()) times.
void MpiRank::spread(std::span<float> values) {
  int below = 1;  // number of ranks, from this rank on, that receive the values through this rank
  for (; below < size() && (rank_ & below) == 0; below *= 2) {
  }
  MpiTransfers transfers;
  if (rank_ != 0) {
    receive(values, rank_ - below, transfers);
    transfers.wait();
  }
  for (below /= 2; below > 0; below /= 2) {
    if (rank_ + below < size()) deliver(values, rank_ + below, transfers);
  }
  transfers.wait();
}

// Sends one array to all ranks.
void MpiRank::tell_all(std::span<const float> mine, std::span<float> all,
                       std::span<const std::int64_t> counts) {
  MpiTransfers transfers;
  for (int r = 0; r < size(); ++r) {
    const std::span<float> in = all.first(counts[r]);
    all = all.subspan(in.size());
    if (r == rank_) {
      std::ranges::copy(mine, in.begin());
    } else {
      receive(in, r, transfers);
      deliver(mine, r, transfers);
    }
  }
  transfers.wait();
}

// Computes mine = sum over ranks, in rank order, of the part of their arrays for this rank.
// `parts` has room for all these parts.
void MpiRank::reduce(std::span<const float> all, std::span<float> mine,
                     std::span<const std::int64_t> counts, std::span<float> parts) {
  const MpiCounts receives(size(), static_cast<std::int64_t>(mine.size()));
  exchange(all, counts, parts, receives);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    float total = parts[i];
    for (int s = 1; s < size(); ++s) total += parts[s * mine.size() + i];
    mine[i] = total;
  }
}

std::unique_ptr<Communicator> MpiRank::split(int colour) {
  post_.tidy();
  MpiAnnouncement mine(size());
  mine.to() = colour;
  mine.other() = post_.free_context;
  const auto said = announce(std::move(mine), MpiCall::split);
  std::int64_t context = 0;
  std::vector<int> members;
  int place = 0;
  for (int r = 0; r < size(); ++r) {
    context = std::max(context, said[r].other());
    if (said[r].to() != colour) continue;
    if (r == rank_) place = static_cast<int>(members.size());
    members.push_back(members_[r]);
  }
  post_.free_context = context + 1;
  return std::make_unique<GroupRank>(post_, std::move(members), place, context);
}

}  // namespace stowage::kernels
