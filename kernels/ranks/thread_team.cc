#include "kernels/ranks/thread_team.h"

#include <stdexcept>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

void Team::enter(int rank, const Post& mine) {
  std::unique_lock lock(mutex_);
  refuse_if_broken();
  posts_[rank] = mine;
  const auto generation = generation_;
  if (arrive()) return;
  changed_.wait(lock, [&] { return generation_ != generation || failed_ || returned_ > 0; });
  if (generation_ != generation) return;  // all were here: whatever failed since, finish first
  --arrived_;
  refuse_if_broken();
}

void Team::meet() {
  std::unique_lock lock(mutex_);
  const auto generation = generation_;
  if (arrive()) return;
  changed_.wait(lock, [&] { return generation_ != generation; });
}

void Team::leave(const std::string& fault) {
  if (!fault.empty()) {
    const std::lock_guard lock(mutex_);
    failed_ = spoiled_ = true;
  }
  meet();
  if (!fault.empty()) throw std::runtime_error(fault);
  const std::lock_guard lock(mutex_);
  if (spoiled_) throw Abandoned();  // not failed_: this collective is complete
}

void Team::fail() {
  std::vector<std::weak_ptr<Team>> children;
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
    children = children_;
  }
  for (const std::weak_ptr<Team>& child : children) {
    if (const auto team = child.lock()) team->fail();
  }
}

void Team::rank_returned() {
  const std::lock_guard lock(mutex_);
  ++returned_;
  changed_.notify_all();
}

std::shared_ptr<Team> Team::split_off(int colour, int size) {
  const std::lock_guard lock(mutex_);
  if (split_generation_ != generation_) {  // the first to ask
    split_generation_ = generation_;
    splits_.clear();
    std::erase_if(children_, [](const std::weak_ptr<Team>& child) { return child.expired(); });
  }
  std::shared_ptr<Team>& team = splits_[colour];
  if (!team) {
    team = std::make_shared<Team>(size);
    if (failed_) team->fail();
    children_.push_back(team);
  }
  return team;
}

bool Team::arrive() {
  if (++arrived_ < size_) return false;
  arrived_ = 0;
  ++generation_;
  changed_.notify_all();
  return true;
}

void Team::refuse_if_broken() const {
  if (failed_) throw Abandoned();
  if (returned_ > 0) throw std::runtime_error(kAlreadyReturned);
}

}  // namespace stowage::kernels
