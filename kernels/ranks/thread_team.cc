#include "kernels/ranks/thread_team.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

void Team::enter(int rank, const Post& mine) {
  std::unique_lock lock(mutex_);
  refuse_if_broken();
  posts_[rank] = mine;
  const auto generation = generation_;
  entered_[rank] = generation + 1;
  if (arrive()) return;
  changed_.notify_all();  // wakes ranks that wait for a message of this rank, which will not come
  changed_.wait(lock, [&] { return generation_ != generation || failed_ || someone_returned(); });
  // all ranks had entered, so this meeting completes despite a later failure
  if (generation_ != generation) return;
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
  if (spoiled_) throw Abandoned();  // failed_ is not tested: this collective is complete
}

void Team::send(int from, int to, int tag, std::span<const float> values) {
  std::vector<float> copy(values.begin(), values.end());
  const std::lock_guard lock(mutex_);
  if (failed_) throw Abandoned();
  messages_[{from, to, tag}].push_back(std::move(copy));
  changed_.notify_all();
}

std::vector<float> Team::receive(int to, int from, int tag) {
  std::unique_lock lock(mutex_);
  std::deque<std::vector<float>>& sent = messages_[{from, to, tag}];
  const auto in_collective = [&] { return entered_[from] == generation_ + 1; };
  changed_.wait(lock,
                [&] { return failed_ || !sent.empty() || returned_[from] || in_collective(); });
  if (failed_) throw Abandoned();
  if (sent.empty())
    throw std::runtime_error(returned_[from] ? kAlreadyReturned : kMixedCollectives);
  std::vector<float> values = std::move(sent.front());
  sent.pop_front();
  return values;
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

void Team::rank_returned(int rank) {
  const std::lock_guard lock(mutex_);
  returned_[rank] = true;
  changed_.notify_all();
}

std::shared_ptr<Team> Team::split_off(int colour, int size) {
  const std::lock_guard lock(mutex_);
  if (split_generation_ != generation_) {  // first caller of this collective
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
  if (someone_returned()) throw std::runtime_error(kAlreadyReturned);
}

bool Team::someone_returned() const {
  return std::ranges::find(returned_, true) != returned_.end();
}

}  // namespace stowage::kernels
