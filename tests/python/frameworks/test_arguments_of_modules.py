"""Arguments of wrong types to the modules that need a framework: each error names the argument."""

import numpy as np
import pytest

import stowage
from planned_loader import CLUSTER

WRONG = [object(), 5, "64k", 1.5, [object()], {"a": object()}, b"x"]
RAW = (
    "incompatible",
    "not iterable",
    "has no attribute",
    "not supported",
    "expected str",
    "__index__",
)


def refused(call, name, wrong=WRONG):
    count = 0
    for value in wrong:
        try:
            call(value)
        except (stowage.Error, ValueError, TypeError) as error:
            said = str(error)
            assert name in said and not any(raw in said for raw in RAW), f"{value!r}: {said}"
            count += 1
    assert count
    with pytest.raises((stowage.Error, ValueError, TypeError)):
        call(object())


def test_onnx():
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node("Relu", ["a"], ["b"])
    tensors = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 3]) for name in "ab"
    ]
    model = onnx.helper.make_model(
        onnx.helper.make_graph([node], "one", tensors[:1], tensors[1:]),
        opset_imports=[onnx.helper.make_opsetid("", 17)],
    )
    instance = stowage.onnx.order_instance
    assert instance(model, dimensions={"n": np.int64(4)})["operators"]
    refused(lambda value: instance(value), "model", [object(), 5, 1.5, b"x", [3]])
    refused(lambda value: instance(model, dimensions=value), "dimensions")
    refused(lambda value: instance(model, dimensions={"n": value}), "dimensions/n")
    refused(lambda value: instance(model, dimensions={"n": 4}, alignment=value), "alignment")
    refused(lambda value: instance(model, dimensions={"n": 4}, capacity_bytes=value), "capacity")
    refused(lambda value: stowage.onnx.reordered(model, value), "order")


def test_verl():
    pytest.importorskip("verl")
    balanced = stowage.verl.get_seqlen_balanced_partitions
    refused(lambda value: balanced(value, 2, True), "seqlen_list")
    refused(lambda value: balanced([1, 2], value, True), "", ["2", 1.5, None, [2], object()])


def test_deepspeed():
    pytest.importorskip("deepspeed")
    batches = stowage.deepspeed.batches_by_plan
    refused(lambda value: batches(value), "steps")
    step = stowage.Planner(CLUSTER.replace(degrees=[1], memory_mib=1000)).plan([5] * 8)
    refused(lambda value: batches([step], value), "accumulation", ["2", 1.5, 0, -1, [2], object()])
    refused(lambda value: stowage.deepspeed.UlyssesGroups(value), "cluster")


def test_megatron():
    pytest.importorskip("megatron.core")
    refused(lambda value: stowage.megatron.register(value), "planner")
    refused(lambda value: stowage.megatron.use(value), "planner")
    planner = stowage.Planner(CLUSTER)
    refused(lambda value: stowage.megatron.register(planner, value), "name", [5, object(), b"x"])


def test_hf():
    pytest.importorskip("torch")
    refused(lambda value: stowage.hf.check_packing(value), "model")
    import torch

    model = torch.nn.Linear(2, 2)
    refused(lambda value: stowage.hf.check_packing(model, lengths=value), "lengths")


def test_torchtitan():
    titan = pytest.importorskip("torchtitan.trainer")
    module = stowage.torchtitan
    rows = module.StepDataLoader.Config(rows=lambda tokenizer: [])
    config = titan.Trainer.Config()
    refused(lambda value: module.planned(value, rows), "config")
    refused(lambda value: module.planned(config, value), "dataloader")
    made = module.planned(config, rows)
    assert made.training.disable_cuda_graphs and type(made) is module.PlannedTrainer.Config
    for section, name in [
        ("parallelism", "pipeline_parallel_degree"),
        ("parallelism", "context_parallel_degree"),
    ]:
        other = titan.Trainer.Config()
        setattr(getattr(other, section), name, 2)
        with pytest.raises(ValueError, match=rf"{section}.{name}: must be 1, is 2"):
            module.planned(other, rows)
    with pytest.raises(
        ValueError, match="must be StepDataLoader.Config, is BaseDataLoader.Config; training.dis"
    ):
        module.PlannedTrainer.Config(dataloader=config.dataloader)
