#include "kernels/ranks/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace stowage::kernels::ranks_thread_ranks_test {
namespace {

using ::testing::HasSubstr;

using Counts = std::vector<std::int64_t>;

TEST(ThreadRanks, AllToAllDeliversUnevenParts) {
  const int size = 5;
  const auto error = run_ranks(size, [&](Communicator& world) {
    // Rank s sends (s + r) % 3 floats of value 10 s + r to rank r.
    Counts send(size), recv(size);
    std::vector<float> out, want;
    for (int r = 0; r < size; ++r) {
      const int me = world.rank();
      send[r] = recv[r] = (me + r) % 3;
      out.insert(out.end(), send[r], static_cast<float>(10 * me + r));
      want.insert(want.end(), recv[r], static_cast<float>(10 * r + me));
    }
    std::vector<float> in(want.size());
    for (int round = 0; round < 50; ++round) world.all_to_all_v(out, send, in, recv);
    if (in != want) throw std::runtime_error("wrong data");
  });
  EXPECT_FALSE(error) << error->message;
}

TEST(ThreadRanks, GatherReduceAndScatterAgree) {
  for (const int size : {1, 2, 3, 8}) {
    const auto error = run_ranks(size, [&](Communicator& world) {
      const Counts split = even_split(11, size);
      Counts counts(size);
      for (int r = 0; r < size; ++r) counts[r] = split[r + 1] - split[r];
      std::vector<float> values(11);
      for (int i = 0; i < 11; ++i) values[i] = 0.1f * static_cast<float>(i * (world.rank() + 1));
      std::vector<float> part(counts[world.rank()]), gathered(11), sum = values;
      world.reduce_scatter(values, part, counts);
      world.all_gather(part, gathered, counts);
      world.all_reduce(sum);
      if (sum != gathered) throw std::runtime_error("all_reduce is not reduce_scatter + gather");
      float want = 0;
      for (int r = 0; r < size; ++r) want += 0.1f * static_cast<float>(10 * (r + 1));
      if (sum[10] != want) throw std::runtime_error("not the sum in rank order");
      std::vector<float> back(world.rank() == 0 ? 11 : 0);
      scatter_rows(world, split, 1, world.rank() == 0 ? values : std::vector<float>{}, part);
      gather_rows(world, split, 1, part, back);
      if (world.rank() == 0 && back != values) throw std::runtime_error("scatter, gather");
    });
    EXPECT_FALSE(error) << error->message;
  }
}

TEST(ThreadRanks, RankZeroTellsDealsOutAndCollects) {
  for (const int size : {1, 2, 3, 8}) {
    const auto error = run_ranks(size, [&](Communicator& world) {
      const int me = world.rank();
      std::vector<float> told(3, static_cast<float>(me + 7));
      world.broadcast(told);
      if (told != std::vector<float>(3, 7.0f)) throw std::runtime_error("not what rank 0 said");
      // Rank r gets r % 3 floats of value r, adds 1 and hands them in.
      Counts counts;
      std::vector<float> all;
      for (int r = 0; me == 0 && r < size; ++r) {
        counts.push_back(r % 3);
        all.insert(all.end(), r % 3, static_cast<float>(r));
      }
      std::vector<float> mine(me % 3);
      world.scatter(all, counts, mine);
      if (mine != std::vector<float>(me % 3, static_cast<float>(me))) {
        throw std::runtime_error("another rank's part");
      }
      for (float& x : mine) ++x;
      std::vector<float> back(all.size());
      world.gather(mine, back, counts);
      for (float& x : all) ++x;
      if (back != all) throw std::runtime_error("not what was handed in");
    });
    EXPECT_FALSE(error) << error->message;
  }
}

TEST(ThreadRanks, DisagreementWithRankZeroIsAnError) {
  const auto told = run_ranks(3, [](Communicator& world) {
    std::vector<float> values(world.rank() == 2 ? 3 : 2);
    world.broadcast(values);
  });
  ASSERT_TRUE(told);
  EXPECT_EQ(told->rank, 2);
  EXPECT_EQ(told->message, kUnequalCounts);
  const Counts two(3, 2);
  const auto dealt = run_ranks(3, [&](Communicator& world) {
    const std::vector<float> all(world.rank() == 0 ? 6 : 0);
    std::vector<float> mine(world.rank() == 2 ? 3 : 2);
    world.scatter(all, two, mine);
  });
  ASSERT_TRUE(dealt);
  EXPECT_EQ(dealt->message, kUnequalCounts);
  const auto collected = run_ranks(3, [&](Communicator& world) {
    std::vector<float> all(world.rank() == 0 ? 6 : 0);
    world.gather(std::vector<float>(world.rank() == 2 ? 3 : 2), all, two);
  });
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->rank, 0);
  EXPECT_EQ(collected->message, kUnequalCounts);
}

TEST(ThreadRanks, MessagesAreReceivedByTagAndInOrder) {
  const auto error = run_ranks(3, [](Communicator& world) {
    const int me = world.rank(), to = (me + 1) % 3, from = (me + 2) % 3;
    for (int round = 0; round < 50; ++round) {
      for (const int tag : {1, 2, 1}) {
        const std::vector<float> values(tag, static_cast<float>(10 * me + round));
        world.send(values, to, tag);
      }
      world.send({}, to, 3);
      std::vector<float> none;
      world.receive(none, from, 3);
      for (const int tag : {2, 1, 1}) {
        std::vector<float> got(tag);
        world.receive(got, from, tag);
        if (got != std::vector<float>(tag, static_cast<float>(10 * from + round))) {
          throw std::runtime_error("not what was sent");
        }
      }
    }
  });
  EXPECT_FALSE(error) << error->message;
}

// Rank 1 waits for a message of rank 0, which runs `instead`.
std::optional<RankError> waits_in_vain(const std::function<void(Communicator&)>& instead) {
  return run_ranks(3, [&](Communicator& world) {
    const auto group = world.split(0);
    std::vector<float> values(2);
    if (group->rank() == 0) instead(*group);
    if (group->rank() == 1) group->receive(values, 0, 7);
  });
}

TEST(ThreadRanks, AMessageThatDoesNotComeIsAnError) {
  const auto thrown =
      waits_in_vain([](Communicator&) { throw std::runtime_error("lost a wheel"); });
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->rank, 0);
  EXPECT_EQ(thrown->message, "lost a wheel");
  const auto returned = waits_in_vain([](Communicator&) {});
  ASSERT_TRUE(returned);
  EXPECT_EQ(returned->rank, 1);
  EXPECT_EQ(returned->message, kAlreadyReturned);
  const auto collective = waits_in_vain([](Communicator& group) { group.barrier(); });
  ASSERT_TRUE(collective);
  const auto longer =
      waits_in_vain([](Communicator& group) { group.send(std::vector<float>(3), 1, 7); });
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->rank, 1);
  EXPECT_EQ(longer->message, kUnequalCounts);
  const auto other_tag =
      waits_in_vain([](Communicator& group) { group.send(std::vector<float>(2), 1, 8); });
  ASSERT_TRUE(other_tag);
  EXPECT_EQ(other_tag->message, kAlreadyReturned);
  const auto in_time =
      waits_in_vain([](Communicator& group) { group.send(std::vector<float>(2), 1, 7); });
  EXPECT_FALSE(in_time) << in_time->message;
}

TEST(ThreadRanks, ARankThatThrowsLetsTheOthersLeave) {
  for (int thrower = 0; thrower < 4; ++thrower) {
    std::atomic<int> left = 0;
    const auto error = run_ranks(4, [&](Communicator& world) {
      std::vector<float> values(3, 1);
      world.all_reduce(values);
      if (world.rank() == thrower) throw std::runtime_error("lost a wheel");
      try {
        for (;;) world.all_reduce(values);
      } catch (...) {
        ++left;
        throw;
      }
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rank, thrower);
    EXPECT_EQ(error->message, "lost a wheel");
    EXPECT_EQ(left, 3);
  }
}

TEST(ThreadRanks, ARankThatReturnsEarlyLetsTheOthersLeave) {
  const auto error = run_ranks(3, [](Communicator& world) {
    if (world.rank() != 1) world.barrier();
  });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("already returned"));
}

TEST(ThreadRanks, DisagreementIsAnErrorOnEveryRank) {
  const auto mixed = run_ranks(2, [](Communicator& world) {
    std::vector<float> values(2);
    if (world.rank() == 0) world.barrier();
    if (world.rank() == 1) world.all_reduce(values);
  });
  ASSERT_TRUE(mixed);
  EXPECT_THAT(mixed->message, HasSubstr("different collectives"));
  const auto counts = run_ranks(2, [](Communicator& world) {
    const Counts send = {1, 1}, recv = {1, world.rank() == 0 ? 2 : 1};
    std::vector<float> out(2), in(recv[0] + recv[1]);
    world.all_to_all_v(out, send, in, recv);
  });
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->rank, 0);
  EXPECT_THAT(counts->message, HasSubstr("disagree"));
  const auto sizes = run_ranks(2, [](Communicator& world) {
    std::vector<float> values(2 + world.rank());
    world.all_reduce(values);
  });
  EXPECT_TRUE(sizes);
}

TEST(ThreadRanks, ARingPassesOn) {
  for (const int size : {1, 2, 5}) {
    const auto error = run_ranks(size, [&](Communicator& world) {
      std::vector<float> mine(7, static_cast<float>(world.rank())), next(7);
      for (int step = 1; step <= size; ++step) {
        world.send_receive(mine, (world.rank() + 1) % size, next, (world.rank() + size - 1) % size);
        std::swap(mine, next);
        const auto from = static_cast<float>((world.rank() + size * step - step) % size);
        if (mine != std::vector<float>(7, from)) throw std::runtime_error("wrong data");
      }
    });
    EXPECT_FALSE(error) << error->message;
  }
  const auto error = run_ranks(3, [](Communicator& world) {
    std::vector<float> a(1), b(1);
    world.send_receive(a, 0, b, 0);  // rank 0 sends to itself, and no rank sends to the others
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rank, 1);
  EXPECT_THAT(error->message, HasSubstr("disagree"));
}

TEST(ThreadRanks, GroupsWorkApartAndTogether) {
  const auto error = run_ranks(6, [](Communicator& world) {
    const auto rows = world.split(world.rank() / 3), columns = world.split(world.rank() % 3);
    if (rows->size() != 3 || columns->size() != 2) throw std::runtime_error("wrong size");
    if (rows->rank() != world.rank() % 3) throw std::runtime_error("wrong rank");
    for (int round = 0; round < 20; ++round) {
      std::vector<float> sum = {static_cast<float>(world.rank())};
      rows->all_reduce(sum);
      if (sum[0] != (world.rank() < 3 ? 3 : 12)) throw std::runtime_error("wrong sum in a row");
      if (world.rank() < 3) rows->barrier();  // groups may call different collectives
      columns->all_reduce(sum);
      if (sum[0] != 15) throw std::runtime_error("wrong sum in a column");
      world.barrier();
    }
  });
  EXPECT_FALSE(error) << error->message;
}

TEST(ThreadRanks, AFailureInAGroupCanBeContained) {
  std::atomic<int> left = 0;
  const auto error = run_ranks(4, [&](Communicator& world) {
    try {
      const auto group = world.split(world.rank() / 2);
      std::vector<float> values(3);
      if (world.rank() == 1) throw std::runtime_error("lost a wheel");
      group->all_reduce(values);
    } catch (const Abandoned&) {
      if (world.rank() != 0) throw std::runtime_error("not in that group");
      ++left;
    } catch (const std::runtime_error&) {
      if (world.rank() != 1) throw;
    }
    world.barrier();  // still usable
  });
  EXPECT_FALSE(error) << error->message;
  EXPECT_EQ(left, 1);
}

TEST(ThreadRanks, AFailureOutsideAGroupReachesThoseInIt) {
  const auto error = run_ranks(4, [&](Communicator& world) {
    const auto group = world.split(world.rank() / 2);
    if (world.rank() == 3) throw std::runtime_error("lost a wheel");
    for (;;) group->barrier();
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rank, 3);
  EXPECT_EQ(error->message, "lost a wheel");
}

TEST(ThreadRanks, LeavingAGroupEarlyLetsTheOthersLeave) {
  const auto error = run_ranks(2, [](Communicator& world) {
    const auto group = world.split(0);
    if (world.rank() == 0) group->barrier();
  });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("already returned"));
}

TEST(Communicator, EvenSplitDealsTheRestToTheFirst) {
  EXPECT_EQ(even_split(11, 4), (Counts{0, 3, 6, 9, 11}));
  EXPECT_EQ(even_split(2, 4), (Counts{0, 1, 2, 2, 2}));
  EXPECT_EQ(even_split(0, 2), (Counts{0, 0, 0}));
}

}  // namespace
}  // namespace stowage::kernels::ranks_thread_ranks_test
