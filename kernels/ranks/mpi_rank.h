// A rank of a group of processes: its collectives over announcements and transfers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/ranks/communicator.h"
#include "kernels/ranks/mpi_announcement.h"
#include "kernels/ranks/mpi_post.h"
#include "kernels/ranks/mpi_transfers.h"

namespace stowage::kernels {

class MpiRank : public Communicator {
 public:
  // members[r] is the rank in MPI_COMM_WORLD of rank r of this group.
  MpiRank(MpiPost& post, std::vector<int> members, int rank, std::int64_t context)
      : post_(post), members_(std::move(members)), rank_(rank), context_(context) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void barrier() override { announce(MpiAnnouncement(size()), MpiCall::barrier); }
  void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                    std::span<float> recv, std::span<const std::int64_t> recv_counts) override;
  void broadcast(std::span<float> values) override;
  void scatter(std::span<const float> all, std::span<const std::int64_t> counts,
               std::span<float> mine) override;
  void gather(std::span<const float> mine, std::span<float> all,
              std::span<const std::int64_t> counts) override;
  void all_gather(std::span<const float> mine, std::span<float> all,
                  std::span<const std::int64_t> counts) override;
  void reduce_scatter(std::span<const float> all, std::span<float> mine,
                      std::span<const std::int64_t> counts) override;
  void all_reduce(std::span<float> values) override;
  void send_receive(std::span<const float> send, int to, std::span<float> recv, int from) override;
  void send(std::span<const float> values, int to, int tag) override;
  void receive(std::span<float> values, int from, int tag) override;

  std::unique_ptr<Communicator> split(int colour) override;

 protected:
  void leave(MpiCall how);

 private:
  std::vector<MpiAnnouncement> announce(MpiAnnouncement mine, MpiCall call);
  void take_message(int from);
  void agree(bool condition);
  void exchange(std::span<const float> send, std::span<const std::int64_t> send_counts,
                std::span<float> recv, std::span<const std::int64_t> recv_counts);
  void spread(std::span<float> values);
  void tell_all(std::span<const float> mine, std::span<float> all,
                std::span<const std::int64_t> counts);
  void reduce(std::span<const float> all, std::span<float> mine,
              std::span<const std::int64_t> counts, std::span<float> parts);
  void receive(std::span<float> in, int from, MpiTransfers& transfers) const {
    transfers.receive(in, members_[from], MpiPost::data_tag(context_));
  }
  void deliver(std::span<const float> out, int to, MpiTransfers& transfers) const {
    transfers.send(out, members_[to], MpiPost::data_tag(context_));
  }

  MpiPost& post_;
  const std::vector<int> members_;
  const int rank_;
  const std::int64_t context_;
  bool dead_ = false;  // no further collective can complete
  std::map<std::pair<int, int>, std::deque<std::vector<float>>> received_;  // by sender and by tag
};

// A rank of a group that was split off. Its destruction announces the rank's end in this group.
class GroupRank final : public MpiRank {
 public:
  GroupRank(MpiPost& post, std::vector<int> members, int rank, std::int64_t context)
      : MpiRank(post, std::move(members), rank, context), unwinding_(std::uncaught_exceptions()) {}

  ~GroupRank() override {
    leave(std::uncaught_exceptions() > unwinding_ ? MpiCall::failed : MpiCall::returned);
  }

 private:
  const int unwinding_;
};

}  // namespace stowage::kernels
