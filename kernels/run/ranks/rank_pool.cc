#include "kernels/run/ranks/rank_pool.h"

#include <algorithm>
#include <stdexcept>

namespace stowage::kernels {
namespace {

GroupOutput run_on_threads(const Model& model, const GroupWork& group) {
  const GroupTask& task = group.task;
  const std::int64_t width = model.block.hidden;
  GroupOutput out{.y = std::vector<float>(group.x.size()),
                  .dx = std::vector<float>(group.x.size())};
  TokenLayout layout;
  try {
    layout = layout_of(task);
  } catch (const std::length_error& error) {
    out.error = RankError{0, error.what()};
    return out;
  }
  std::vector<double> seconds(task.ranks);  // each rank writes its own entry
  // Each rank uses only its own rows of the packed data.
  const std::vector<float> x = take_rows(layout.rows, width, group.x);
  const std::vector<float> upstream = take_rows(layout.rows, width, group.upstream);
  std::vector<float> y(x.size()), dx(x.size());
  out.error = run_ranks(task.ranks, [&](Communicator& world) {
    const int me = world.rank();
    const bool root = me == 0;
    const std::int64_t count = layout.split[me + 1] - layout.split[me];
    std::vector<float> my_x(count * width), my_upstream(count * width);
    const std::span<const float> nothing;
    scatter_rows(world, layout.split, width, root ? x : nothing, my_x);
    scatter_rows(world, layout.split, width, root ? upstream : nothing, my_upstream);
    RankShare share = run_share(world, model, task, my_x, my_upstream);
    gather_rows(world, layout.split, width, share.y, root ? std::span(y) : std::span<float>{});
    gather_rows(world, layout.split, width, share.dx, root ? std::span(dx) : std::span<float>{});
    seconds[me] = share.seconds;
    if (root) out.gradient = std::move(share.gradient);
  });
  if (out.error) return out;
  put_rows(layout.rows, width, y, out.y);
  put_rows(layout.rows, width, dx, out.dx);
  out.seconds = std::ranges::max(seconds);
  return out;
}

}  // namespace

std::vector<GroupOutput> ThreadPool::run(std::span<const GroupWork> groups) {
  std::vector<GroupOutput> outputs;
  outputs.reserve(groups.size());
  for (const GroupWork& group : groups) outputs.push_back(run_on_threads(*model_, group));
  return outputs;
}

}  // namespace stowage::kernels
