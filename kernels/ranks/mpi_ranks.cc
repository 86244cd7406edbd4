// Longer than 300 lines: one communicator over MPI, whose parts share its requests and failures.
#include "kernels/ranks/mpi_ranks.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace stowage::kernels {
namespace {

// The call that a rank announces, or the end of its calls.
enum class Call : std::int64_t {
  barrier,
  all_to_all_v,
  broadcast,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_reduce,
  ring,
  split,
  message,
  failed,
  returned
};

using Counts = std::vector<std::int64_t>;

// One rank's announcement: five integers, then the counts that it sends to and expects from each
// rank.
struct Announcement {
  Counts words;

  static constexpr std::size_t kHead = 5;
  Announcement() = default;
  explicit Announcement(int ranks) : words(kHead + 2 * static_cast<std::size_t>(ranks)) {}

  Call call() const { return static_cast<Call>(words[0]); }
  std::int64_t& size() { return words[1]; }  // floats of the single array
  std::int64_t size() const { return words[1]; }
  std::int64_t& to() { return words[2]; }  // target of a ring step; the colour of a split
  std::int64_t to() const { return words[2]; }
  std::int64_t& from() { return words[3]; }
  std::int64_t from() const { return words[3]; }
  // floats that a ring step expects; a split's free context
  std::int64_t& other() { return words[4]; }
  std::int64_t other() const { return words[4]; }
  std::span<std::int64_t> sends() { return std::span(words).subspan(kHead, ranks()); }
  std::span<std::int64_t> expects() { return std::span(words).subspan(kHead + ranks(), ranks()); }
  std::span<const std::int64_t> sends() const { return std::span(words).subspan(kHead, ranks()); }
  std::span<const std::int64_t> expects() const {
    return std::span(words).subspan(kHead + ranks(), ranks());
  }
  std::size_t ranks() const { return (words.size() - kHead) / 2; }
};

// Sleeps between polls, with growing intervals. MPI's own waiting functions spin.
class Naps {
 public:
  void wait() {
    if (polls_++ < kEager) return std::this_thread::yield();
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongest);
  }

 private:
  static constexpr int kEager = 50;
  static constexpr std::chrono::microseconds kShortest{10}, kLongest{200};
  int polls_ = 0;
  std::chrono::microseconds nap_ = kShortest;
};

void wait_for(std::vector<MPI_Request>& requests) {
  for (Naps naps;; naps.wait()) {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
  }
}

// Words of a message's header: Call::message, its floats, its tag. No announcement has this length.
constexpr int kMessageWords = 3;
// MPI counts are ints, so long arrays are sent in pieces of this many floats.
constexpr std::size_t kPiece = std::size_t{1} << 30;

// The state that the groups of one process share: context numbers for message tags, and sends whose
// completion is not awaited.
class Post {
 public:
  // Contexts are numbered so that no rank belongs to two living groups with the same number.
  std::int64_t free_context = 1;

  static int announcement_tag(std::int64_t context) { return static_cast<int>(2 * context); }
  static int data_tag(std::int64_t context) { return static_cast<int>(2 * context + 1); }

  static void send_pieces(std::span<const float> out, int rank, std::int64_t context,
                          std::vector<MPI_Request>& requests) {
    for (; !out.empty(); out = out.subspan(std::min(kPiece, out.size()))) {
      MPI_Isend(out.data(), static_cast<int>(std::min(kPiece, out.size())), MPI_FLOAT, rank,
                data_tag(context), MPI_COMM_WORLD, &requests.emplace_back());
    }
  }

  // Sends a message, and keeps its buffer until the send is complete.
  void send(std::int64_t context, int rank, int tag, std::span<const float> values) {
    std::erase_if(messages_, [](Message& sent) {
      int done = 0;
      MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &done,
                  MPI_STATUSES_IGNORE);
      return done != 0;
    });
    Message& message = messages_.emplace_back();
    message.head = {static_cast<std::int64_t>(Call::message),
                    static_cast<std::int64_t>(values.size()), tag};
    message.values.assign(values.begin(), values.end());
    MPI_Isend(message.head.data(), kMessageWords, MPI_INT64_T, rank, announcement_tag(context),
              MPI_COMM_WORLD, &message.requests.emplace_back());
    send_pieces(message.values, rank, context, message.requests);
  }

  // Announces to the other ranks that this rank leaves the group, without waiting.
  void leave(std::int64_t context, Call how, std::vector<int> others) {
    for (const int rank : others) {
      Sent& sent = sent_.emplace_back();
      sent.word = static_cast<std::int64_t>(how);
      MPI_Isend(&sent.word, 1, MPI_INT64_T, rank, announcement_tag(context), MPI_COMM_WORLD,
                &sent.request);
    }
    left_.push_back({context, std::move(others)});
  }

  // Receives messages that arrived for groups that this rank left, so that they do not accumulate.
  void tidy() {
    sent_.remove_if([](Sent& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    for (Left& group : left_) {
      std::erase_if(group.unheard, [&](int rank) { return heard_end(rank, group.context); });
    }
    left_.remove_if([](const Left& group) { return group.unheard.empty(); });
  }

 private:
  struct Message {
    std::array<std::int64_t, kMessageWords> head{};
    std::vector<float> values;
    std::vector<MPI_Request> requests;
  };
  struct Sent {
    std::int64_t word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Left {
    std::int64_t context;
    std::vector<int> unheard;  // ranks that have not announced that they left too
  };

  // Receives late announcements of a rank. Returns true once the announcement of its end arrives.
  static bool heard_end(int rank, std::int64_t context) {
    for (;;) {
      int arrived = 0, count = 0;
      MPI_Status status;
      MPI_Iprobe(rank, announcement_tag(context), MPI_COMM_WORLD, &arrived, &status);
      if (arrived == 0) return false;
      MPI_Get_count(&status, MPI_INT64_T, &count);
      Counts words(count);
      MPI_Recv(words.data(), count, MPI_INT64_T, rank, announcement_tag(context), MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      if (words[0] >= static_cast<std::int64_t>(Call::failed)) return true;
    }
  }

  std::list<Message> messages_;
  std::list<Sent> sent_;
  std::list<Left> left_;
};

[[maybe_unused]] std::int64_t sum(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

class MpiRank : public Communicator {
 public:
  // members[r] is the rank in MPI_COMM_WORLD of rank r of this group.
  MpiRank(Post& post, std::vector<int> members, int rank, std::int64_t context)
      : post_(post), members_(std::move(members)), rank_(rank), context_(context) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }

  void barrier() override { announce(Announcement(size()), Call::barrier); }

  void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                    std::span<float> recv, std::span<const std::int64_t> recv_counts) override {
    assert(sum(send_counts) == static_cast<std::int64_t>(send.size()));
    assert(sum(recv_counts) == static_cast<std::int64_t>(recv.size()));
    Announcement mine(size());
    std::ranges::copy(send_counts, mine.sends().begin());
    std::ranges::copy(recv_counts, mine.expects().begin());
    const auto all = announce(std::move(mine), Call::all_to_all_v);
    for (int s = 0; s < size(); ++s) {
      for (int r = 0; r < size(); ++r) agree(all[s].sends()[r] == all[r].expects()[s]);
    }
    exchange(send, send_counts, recv, recv_counts);
  }

  void broadcast(std::span<float> values) override {
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(values.size());
    const auto said = announce(std::move(words), Call::broadcast);
    for (const Announcement& one : said) agree(one.size() == said[0].size());
    spread(values);
  }

  void scatter(std::span<const float> all, std::span<const std::int64_t> counts,
               std::span<float> mine) override {
    assert(rank_ != 0 || sum(counts) == static_cast<std::int64_t>(all.size()));
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(mine.size());
    if (rank_ == 0) std::ranges::copy(counts, words.sends().begin());
    const auto said = announce(std::move(words), Call::scatter);
    for (int r = 0; r < size(); ++r) agree(said[0].sends()[r] == said[r].size());
    Counts sends(size()), receives(size());
    if (rank_ == 0) sends.assign(counts.begin(), counts.end());
    receives[0] = static_cast<std::int64_t>(mine.size());
    exchange(all, sends, mine, receives);
  }

  void gather(std::span<const float> mine, std::span<float> all,
              std::span<const std::int64_t> counts) override {
    assert(rank_ != 0 || sum(counts) == static_cast<std::int64_t>(all.size()));
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(mine.size());
    if (rank_ == 0) std::ranges::copy(counts, words.expects().begin());
    const auto said = announce(std::move(words), Call::gather);
    for (int s = 0; s < size(); ++s) agree(said[0].expects()[s] == said[s].size());
    Counts sends(size()), receives(size());
    sends[0] = static_cast<std::int64_t>(mine.size());
    if (rank_ == 0) receives.assign(counts.begin(), counts.end());
    exchange(mine, sends, all, receives);
  }

  void all_gather(std::span<const float> mine, std::span<float> all,
                  std::span<const std::int64_t> counts) override {
    assert(sum(counts) == static_cast<std::int64_t>(all.size()));
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(mine.size());
    std::ranges::copy(counts, words.expects().begin());
    const auto said = announce(std::move(words), Call::all_gather);
    for (const Announcement& one : said) {
      for (int s = 0; s < size(); ++s) agree(one.expects()[s] == said[s].size());
    }
    tell_all(mine, all, counts);
  }

  void reduce_scatter(std::span<const float> all, std::span<float> mine,
                      std::span<const std::int64_t> counts) override {
    assert(sum(counts) == static_cast<std::int64_t>(all.size()));
    assert(counts[rank_] == static_cast<std::int64_t>(mine.size()));
    std::vector<float> parts(size() * mine.size());
    Announcement words(size());
    std::ranges::copy(counts, words.expects().begin());
    const auto said = announce(std::move(words), Call::reduce_scatter);
    for (const Announcement& one : said) agree(std::ranges::equal(one.expects(), counts));
    reduce(all, mine, counts, parts);
  }

  void all_reduce(std::span<float> values) override {
    const Counts split = even_split(static_cast<std::int64_t>(values.size()), size());
    Counts counts(size());
    for (int r = 0; r < size(); ++r) counts[r] = split[r + 1] - split[r];
    std::vector<float> mine(counts[rank_]), parts(size() * mine.size());
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(values.size());
    for (const Announcement& one : announce(std::move(words), Call::all_reduce)) {
      agree(one.size() == static_cast<std::int64_t>(values.size()));
    }
    reduce(values, mine, counts, parts);
    tell_all(mine, values, counts);
  }

  void send_receive(std::span<const float> send, int to, std::span<float> recv, int from) override {
    Announcement words(size());
    words.size() = static_cast<std::int64_t>(send.size());
    words.to() = to;
    words.from() = from;
    words.other() = static_cast<std::int64_t>(recv.size());
    const auto said = announce(std::move(words), Call::ring);
    for (int r = 0; r < size(); ++r) {
      const Announcement& source = said[said[r].from()];
      agree(source.to() == r && source.size() == said[r].other());
    }
    Counts sends(size()), receives(size());
    sends[to] = static_cast<std::int64_t>(send.size());
    receives[from] = static_cast<std::int64_t>(recv.size());
    exchange(send, sends, recv, receives);
  }

  void send(std::span<const float> values, int to, int tag) override {
    if (dead_) throw Abandoned();
    post_.send(context_, members_[to], tag, values);
  }

  void receive(std::span<float> values, int from, int tag) override {
    if (dead_) throw Abandoned();
    std::deque<std::vector<float>>& mine = received_[{from, tag}];
    while (mine.empty()) take_message(from);
    agree(mine.front().size() == values.size());
    std::ranges::copy(mine.front(), values.begin());
    mine.pop_front();
  }

  std::unique_ptr<Communicator> split(int colour) override;

 protected:
  // Leaves the group; called once.
  void leave(Call how) {
    dead_ = true;
    std::vector<int> others;
    for (int r = 0; r < size(); ++r) {
      if (r != rank_) others.push_back(members_[r]);
    }
    post_.leave(context_, how, std::move(others));
  }

 private:
  // Exchanges announcements with all ranks. Throws on all ranks if the announcements show that the
  // collective cannot complete.
  std::vector<Announcement> announce(Announcement mine, Call call) {
    if (dead_) throw Abandoned();
    mine.words[0] = static_cast<std::int64_t>(call);
    std::vector<Announcement> all(size(), Announcement(size()));
    std::vector<MPI_Request> requests;
    requests.reserve(2 * static_cast<std::size_t>(size()));
    const auto count = static_cast<int>(mine.words.size());
    for (int r = 0; r < size(); ++r) {
      if (r == rank_) continue;
      MPI_Irecv(all[r].words.data(), count, MPI_INT64_T, members_[r],
                Post::announcement_tag(context_), MPI_COMM_WORLD, &requests.emplace_back());
      MPI_Isend(mine.words.data(), count, MPI_INT64_T, members_[r],
                Post::announcement_tag(context_), MPI_COMM_WORLD, &requests.emplace_back());
    }
    wait_for(requests);
    all[rank_] = std::move(mine);
    const auto any = [&](auto is) { return std::ranges::any_of(all, is); };
    dead_ = any([&](const Announcement& one) { return one.call() != call; });
    if (!dead_) return all;
    if (any([](const Announcement& one) { return one.call() == Call::failed; })) {
      throw Abandoned();
    }
    if (any([](const Announcement& one) { return one.call() == Call::returned; })) {
      throw std::runtime_error(kAlreadyReturned);
    }
    throw std::runtime_error(kMixedCollectives);
  }

  // Waits for a message of rank `from` and stores it under its tag. Throws if the rank announces
  // another call instead; the announcement is kept for later receivers.
  void take_message(int from) {
    const int tag = Post::announcement_tag(context_);
    MPI_Status status;
    Naps naps;
    for (int arrived = 0; arrived == 0;) {
      MPI_Iprobe(members_[from], tag, MPI_COMM_WORLD, &arrived, &status);
      if (arrived == 0) naps.wait();
    }
    int count = 0;
    MPI_Get_count(&status, MPI_INT64_T, &count);
    Counts head(kMessageWords);
    if (count != kMessageWords) {
      dead_ = true;
      if (count > 1) throw std::runtime_error(kMixedCollectives);
      MPI_Recv(head.data(), 1, MPI_INT64_T, members_[from], tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (head[0] == static_cast<std::int64_t>(Call::failed)) throw Abandoned();
      throw std::runtime_error(kAlreadyReturned);
    }
    MPI_Recv(head.data(), count, MPI_INT64_T, members_[from], tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    std::vector<float> values(head[1]);
    std::vector<MPI_Request> requests;
    receive(values, from, requests);
    wait_for(requests);
    received_[{from, static_cast<int>(head[2])}].push_back(std::move(values));
  }

  // Every rank evaluates the same conditions, so either all ranks continue or all throw.
  void agree(bool condition) {
    if (condition) return;
    dead_ = true;
    throw std::runtime_error(kUnequalCounts);
  }

  // Exchanges data whose counts are agreed on, in rank order on both sides.
  void exchange(std::span<const float> send, std::span<const std::int64_t> send_counts,
                std::span<float> recv, std::span<const std::int64_t> recv_counts) {
    std::vector<MPI_Request> requests;
    for (int r = 0; r < size(); ++r) {
      const std::span<const float> out = send.first(send_counts[r]);
      const std::span<float> in = recv.first(recv_counts[r]);
      send = send.subspan(out.size());
      recv = recv.subspan(in.size());
      if (r == rank_) {
        std::ranges::copy(out, in.begin());
      } else {
        receive(in, r, requests);
        deliver(out, r, requests);
      }
    }
    wait_for(requests);
  }

  // Broadcasts rank 0's values over a binomial tree: a rank forwards the values after it received
  // them, so that rank 0 sends log2(size()) times.
  void spread(std::span<float> values) {
    int below = 1;  // number of ranks, from this rank on, that receive the values through this rank
    for (; below < size() && (rank_ & below) == 0; below *= 2) {
    }
    std::vector<MPI_Request> requests;
    if (rank_ != 0) {
      receive(values, rank_ - below, requests);
      wait_for(requests);
      requests.clear();
    }
    for (below /= 2; below > 0; below /= 2) {
      if (rank_ + below < size()) deliver(values, rank_ + below, requests);
    }
    wait_for(requests);
  }

  // Sends one array to all ranks.
  void tell_all(std::span<const float> mine, std::span<float> all,
                std::span<const std::int64_t> counts) {
    std::vector<MPI_Request> requests;
    for (int r = 0; r < size(); ++r) {
      const std::span<float> in = all.first(counts[r]);
      all = all.subspan(in.size());
      if (r == rank_) {
        std::ranges::copy(mine, in.begin());
      } else {
        receive(in, r, requests);
        deliver(mine, r, requests);
      }
    }
    wait_for(requests);
  }

  // Computes mine = sum over ranks, in rank order, of the part of their arrays for this rank.
  // `parts` has room for all these parts.
  void reduce(std::span<const float> all, std::span<float> mine,
              std::span<const std::int64_t> counts, std::span<float> parts) {
    const Counts receives(size(), static_cast<std::int64_t>(mine.size()));
    exchange(all, counts, parts, receives);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      float total = parts[i];
      for (int s = 1; s < size(); ++s) total += parts[s * mine.size() + i];
      mine[i] = total;
    }
  }

  void receive(std::span<float> in, int from, std::vector<MPI_Request>& requests) const {
    for (; !in.empty(); in = in.subspan(std::min(kPiece, in.size()))) {
      MPI_Irecv(in.data(), static_cast<int>(std::min(kPiece, in.size())), MPI_FLOAT, members_[from],
                Post::data_tag(context_), MPI_COMM_WORLD, &requests.emplace_back());
    }
  }
  void deliver(std::span<const float> out, int to, std::vector<MPI_Request>& requests) const {
    Post::send_pieces(out, members_[to], context_, requests);
  }

  Post& post_;
  const std::vector<int> members_;
  const int rank_;
  const std::int64_t context_;
  bool dead_ = false;  // no further collective can complete
  std::map<std::pair<int, int>, std::deque<std::vector<float>>> received_;  // by sender and by tag
};

// A rank of a group that was split off. Its destruction announces the rank's end in this group.
class GroupRank final : public MpiRank {
 public:
  GroupRank(Post& post, std::vector<int> members, int rank, std::int64_t context)
      : MpiRank(post, std::move(members), rank, context), unwinding_(std::uncaught_exceptions()) {}
  ~GroupRank() override {
    leave(std::uncaught_exceptions() > unwinding_ ? Call::failed : Call::returned);
  }

 private:
  const int unwinding_;
};

std::unique_ptr<Communicator> MpiRank::split(int colour) {
  post_.tidy();
  Announcement mine(size());
  mine.to() = colour;
  mine.other() = post_.free_context;
  const auto said = announce(std::move(mine), Call::split);
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

}  // namespace

struct MpiProcess::State {
  Post post;
  std::unique_ptr<MpiRank> world;
};

bool mpi_built_in() { return true; }

MpiProcess::MpiProcess() : state_(std::make_unique<State>()) {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> members(size);
  std::iota(members.begin(), members.end(), 0);
  state_->world = std::make_unique<MpiRank>(state_->post, std::move(members), rank, 0);
}

MpiProcess::~MpiProcess() {
  state_->post.tidy();
  MPI_Finalize();
}

Communicator& MpiProcess::world() { return *state_->world; }

void MpiProcess::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort does not return
}

}  // namespace stowage::kernels
