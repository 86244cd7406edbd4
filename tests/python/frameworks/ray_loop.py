"""A loop of Ray Train on two workers: prepare_data_loader() leaves the planned rows as they are.

Run with the name of a folder. Each worker trains an epoch and checks that it got the rows of a loop
without Ray; rank 0 writes the result to the folder.
"""

import sys
from pathlib import Path

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_data_loader


def train(folder):
    sys.path.insert(0, folder)
    import torch.distributed as dist
    from task import Tokenised, cluster_of, sampler_of

    from stowage.torch import PackedCollator, loader

    def made():
        rows = Tokenised()
        sampler = sampler_of(rows, cluster_of(dist.get_world_size(), [1]), dist.get_rank())
        return sampler, loader(rows, sampler, PackedCollator(sampler, pad_token_id=0))

    _, alone = made()
    want = [batch.input_ids.tolist() for batch in alone]
    sampler, own = made()
    prepared = prepare_data_loader(own)
    assert type(prepared).__module__.startswith("ray."), type(prepared)
    got = [batch.input_ids.tolist() for batch in prepared]
    assert got == want
    sampler, own = made()
    seen = 0
    for _, batches in sampler.steps_with(prepare_data_loader(own)):
        for _ in batches:
            seen += 1  # Ray has read one ahead; the state is behind what the loop has got
            state = sampler.state_dict()
            assert (state["step"], state["micro_batch"]) == behind(sampler, seen), (seen, state)
    assert seen == len(want)
    if dist.get_rank() == 0:
        Path(folder, "said").write_text(f"{dist.get_world_size()} workers got {seen} rows each")


def behind(sampler, seen):
    """Returns the step and the micro-batch after `seen` rows of the first epoch."""
    for number in range(sampler.steps):
        rows = sampler.rows_of(number, 0)
        plan = sampler.planner.plan(
            sampler.lengths[rows], ids=rows, loss_tokens=sampler.loss_tokens[rows]
        )
        if seen < plan.micro_batches:
            return number, seen
        seen -= plan.micro_batches
    return sampler.steps, 0


if __name__ == "__main__":
    folder, storage = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=True)
    TorchTrainer(
        train,
        train_loop_config=folder,
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=storage),
    ).fit()
    print(Path(folder, "said").read_text())
