"""Tests of stowage.torch.offloaded(): equal bits, what leaves, and what a hostile loop does."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest
import torch
from planned_loader import CLUSTER, DEVICES, HERE, loader_of, sampler_of, torchrun
from torch import nn
from torch.utils.checkpoint import checkpoint

import stowage
from stowage.torch import offloaded

SHARES = (0.0, 0.3, 0.5, 1.0)
SMALL = {"device": "cpu", "min_bytes": 64}


class Layer(nn.Module):
    """A block of a transformer without a mask: views, non-contiguous tensors and a softmax."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        parts = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(1)
        q, k, v = (part.transpose(0, 1) for part in parts)
        seen = torch.softmax(q @ k.mT, -1) @ v
        x = x + self.out(seen.transpose(0, 1).flatten(1))
        return x + self.mlp(x)


def model_of(layers: int = 3, dtype=torch.float32) -> nn.Sequential:
    torch.manual_seed(5)
    return nn.Sequential(*(Layer() for _ in range(layers))).to(dtype)


def row_of(dtype=torch.float32, tokens: int = 24):
    return torch.randn(tokens, 32, generator=torch.Generator().manual_seed(1)).to(dtype)


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return [own.grad.clone() for own in model.parameters()]


def same(one, other):
    return len(one) == len(other) and all(map(torch.equal, one, other))


def plain_and(share, run, model, **options):
    """Returns the gradients without and with offload, and the context."""
    want = gradients(model, run())
    away = offloaded(share, **{**SMALL, **options})
    with away:
        loss = run()
    return want, gradients(model, loss), away


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("share", SHARES)
def test_gradients_have_the_same_bits(share, dtype):
    model, x = model_of(dtype=dtype), row_of(dtype)
    want, have, away = plain_and(share, lambda: model(x).square().sum(), model)
    assert same(want, have)
    assert away.moved_mib >= share * away.saved_mib
    assert (away.moved_mib > 0) == (share > 0)


@pytest.mark.parametrize("bound", [1e-6, 0.01, 100])
def test_bounds_of_copies_in_flight_change_no_bit(bound):
    model, x = model_of(), row_of()
    want, have, _ = plain_and(0.7, lambda: model(x).square().sum(), model, in_flight_mib=bound)
    assert same(want, have)


def test_at_every_moment_the_share_has_left():
    """Sixteen equal storages: each prefix has its share, and no storage more."""
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        moved = []
        with offloaded(share, **SMALL) as away:
            x = torch.randn(64, requires_grad=True) * 1
            for number in range(1, 17):
                x = x.sigmoid()  # saves its output
                moved.append(round(away.moved_mib * 2**20) // 256)
                assert round(away.saved_mib * 2**20) // 256 == number
        assert moved == [-int(-share * n // 1) for n in range(1, 17)]
        x.sum().backward()


def test_a_storage_leaves_once_and_comes_back_as_each_view():
    base = torch.randn(4, 64, requires_grad=True) * 1.0
    with offloaded(1, **SMALL) as away:
        turned, half = base.t(), base[:, 16:48]
        loss = base.square().sum() + turned.pow(3).sum() + half.exp().sum() + (base @ turned).sum()
    kept = {base.untyped_storage().nbytes(), 4 * 32 * 4}  # of base and of exp(half)
    assert round(away.saved_mib * 2**20) == sum(kept)
    got = torch.autograd.grad(loss, base)[0]
    again = base.detach().requires_grad_()
    turned, half = again.t(), again[:, 16:48]
    want = again.square().sum() + turned.pow(3).sum() + half.exp().sum() + (again @ turned).sum()
    assert torch.equal(got, torch.autograd.grad(want, again)[0])


def test_an_address_that_is_used_again_is_another_storage():
    """The allocator gives the memory of a storage that has left to the next one."""
    torch.manual_seed(0)
    x = torch.randn(20_000, requires_grad=True)

    def run():
        y = x * 1
        for scale in range(1, 30):
            y = (y * (1 / scale)).sin() + y.detach().cos()
        return y.sum()

    want = torch.autograd.grad(run(), x)[0]
    for _ in range(3):
        with offloaded(1, **SMALL):
            loss = run()
            gc.collect()
        assert torch.equal(want, torch.autograd.grad(loss, x)[0])


def test_parameters_their_views_and_casts_stay():
    model = nn.Linear(64, 64, bias=False)
    x = torch.randn(8, 64, requires_grad=True)
    with offloaded(1, **SMALL) as away:
        loss = model(x).sum() + (x @ model.weight.t()[:, :32]).sum()
    assert away.saved_mib == 0
    loss.backward()
    with torch.autocast("cpu", torch.bfloat16), offloaded(1, **SMALL) as away:
        loss = model(torch.randn(8, 64)).float().sum()
    assert round(away.saved_mib * 2**20) == 8 * 64 * 2  # the row in bfloat16
    loss.backward()
    # A tensor that autograd does not know to be a view of a parameter.
    alias = model.weight.detach().requires_grad_(False).t()
    with offloaded(1, **SMALL) as without:
        (x * 1 @ alias).sum()
    with offloaded(1, model=model, **SMALL) as away:
        (x * 1 @ alias).sum()
    assert without.saved_mib - away.saved_mib == 64 * 64 * 4 / 2**20


def test_a_tied_tensor_leaves_once():
    x = torch.randn(64, 64, requires_grad=True) * 1
    with offloaded(1, **SMALL) as away:
        loss = (x @ x + x * x + x.t() @ x).sum()
    assert round(away.saved_mib * 2**20) == 64 * 64 * 4
    got = torch.autograd.grad(loss, x)[0]
    assert torch.equal(got, torch.autograd.grad((x @ x + x * x + x.t() @ x).sum(), x)[0])


def test_small_empty_and_odd_tensors_stay():
    x = torch.randn(4, 64, requires_grad=True)
    with offloaded(1, device="cpu") as away:  # 64 KiB
        loss = (x * 1).sigmoid().sum()
    assert away.saved_mib == 0 and away.moved_mib == 0
    loss.backward()
    with offloaded(1, device="cpu", min_bytes=0) as away:
        empty = torch.zeros(0, 5, requires_grad=True) * 2
        wide = (torch.randn(1, requires_grad=True) * 1).expand(9).sigmoid()
        sparse = torch.eye(3).to_sparse() @ (torch.ones(3, 2, requires_grad=True) * 2)
        loss = (empty * empty).sum() + wide.sum() + (sparse * sparse).sum()
        loss = loss + torch.view_as_real((torch.ones(4, requires_grad=True) * 1j).conj() ** 2).sum()
    loss.backward()
    assert away.moved_mib > 0
    part = torch.randn(100, 64, requires_grad=True) * 1
    with offloaded(1, device="cpu", min_bytes=0) as away:
        loss = part[:2].square().sum()  # a fiftieth of its storage
    assert away.saved_mib == 0
    loss.backward()
    # On a machine with CUDA, tensors of the CPU stay where the context is for CUDA.
    if not torch.cuda.is_available():
        with offloaded(1, device="cuda", min_bytes=0) as away:
            (torch.randn(100, 64, requires_grad=True) * 1).square().sum().backward()
        assert away.saved_mib == 0


@pytest.mark.parametrize("share", SHARES)
def test_modified_in_place_after_saving(share):
    """torch itself raises, and does so here whether the tensor has left or not."""
    for number in range(4):
        x = torch.randn(4, 64, requires_grad=True)
        with offloaded(share, **SMALL):
            all_saved = [(x * (1 + n)).sigmoid() for n in range(4)]
            loss = sum(own.sum() for own in all_saved)
        with torch.no_grad():
            all_saved[number].view(-1)[3:5].mul_(2)  # an alias
        with pytest.raises(RuntimeError, match="modified by an inplace operation.*version 1"):
            loss.backward()
    parameter = nn.Parameter(torch.randn(4, 64))
    with offloaded(share, **SMALL):
        loss = (parameter * 2 * parameter).sum()
    with torch.no_grad():
        parameter.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_in_place_operations_that_torch_allows():
    x = torch.randn(8, 64, requires_grad=True)

    def run():
        y = (x * 2).relu_()
        z = y + 1
        z.sigmoid_()  # saves the result
        w = z.clone()
        w[2:4] = 0
        return (w * w).sum()

    want = torch.autograd.grad(run(), x)[0]
    for share in SHARES:
        with offloaded(share, **SMALL):
            loss = run()
        assert torch.equal(torch.autograd.grad(loss, x)[0], want)


@pytest.mark.parametrize("share", SHARES)
def test_backward_twice_never_and_in_part(share):
    model, x = model_of(), row_of()
    want = gradients(model, model(x).square().sum())
    with offloaded(share, **SMALL):
        loss = model(x).square().sum()
    for _ in range(3):
        model.zero_grad()
        loss.backward(retain_graph=True)
        assert same(want, [own.grad for own in model.parameters()])
    assert same(want, gradients(model, loss))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    with offloaded(share, **SMALL):
        middle = model[0](x)
        loss = model[2](model[1](middle)).square().sum()
    torch.autograd.grad(loss, middle, retain_graph=True)  # the rear half
    assert same(want, gradients(model, loss))
    with offloaded(share, **SMALL):
        model(x)


def test_double_backward():
    x = torch.randn(6, 64, requires_grad=True)

    def run():
        return (x.sigmoid().exp() * x.sin()).sum()

    def second(loss):
        first = torch.autograd.grad(loss, x, create_graph=True)[0]
        return first, torch.autograd.grad(first.square().sum(), x)[0]

    want = second(run())
    for share in SHARES:
        with offloaded(share, **SMALL):
            loss = run()
        assert same(want, second(loss))
        with offloaded(share, **SMALL):  # the first backward pass inside
            assert same(want, second(run()))


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_gradient_checkpointing(reentrant, inside):
    model = model_of()
    x = row_of().requires_grad_()

    def run():
        y = x * 1
        for layer in model:
            y = checkpoint(layer, y, use_reentrant=reentrant)
        return y.square().sum()

    want = gradients(model, run())
    with offloaded(1, **SMALL) as away:
        loss = run()
        if inside:
            have = gradients(model, loss)
    assert away.moved_mib > 0, "the inputs of the layers leave"
    assert same(want, have if inside else gradients(model, loss))


def test_no_grad_inside_saves_nothing():
    model, x = model_of(), row_of()
    with offloaded(1, **SMALL) as away:
        with torch.no_grad():
            model(x)
        with torch.inference_mode():
            model(x)
    assert away.saved_mib == 0
    with torch.no_grad(), offloaded(1, **SMALL):
        model(x)


def test_an_exception_leaves_no_hook_behind():
    model, x = model_of(), row_of()
    away = offloaded(1, out_mib_per_ms=1e-4, **SMALL)
    begin = time.perf_counter()
    with pytest.raises(KeyError, match="mine"):
        with away:
            model[0](x)
            raise KeyError("mine")
    assert time.perf_counter() - begin < 2, "an exception does not wait for copies"
    want = gradients(model, model(x).square().sum())
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        model(x)
    assert packed
    away = offloaded(1, **SMALL)
    with away:
        loss = model(x).square().sum()
    assert same(want, gradients(model, loss))


def test_nested_contexts():
    model, x = model_of(), row_of()
    want = gradients(model, model(x).square().sum())
    outer, inner, nothing = offloaded(1, **SMALL), offloaded(0.5, **SMALL), offloaded(0, **SMALL)
    with outer:
        y = model[0](x)
        with inner:
            y = model[1](y)
        with nothing:
            y = model[2](y)
        loss = y.square().sum()
        with pytest.raises(stowage.Error, match="entered already"):
            outer.__enter__()
    assert 0 < inner.moved_mib < outer.moved_mib
    assert same(want, gradients(model, loss))


def test_a_context_is_entered_again_before_the_backward_pass():
    model, x = model_of(), row_of()
    want = gradients(model, model(x).square().sum() + model(2 * x).square().sum())
    away = offloaded(0.6, **SMALL)
    with away:
        one = model(x).square().sum()
    first = away.moved_mib
    with away:
        other = model(2 * x).square().sum()
    assert away.moved_mib == pytest.approx(first, rel=0.2)
    assert same(want, gradients(model, one + other))


def test_memory_is_released():
    """Sources go when they have left, hosts' copies with the graph, and the thread with the context."""
    x = torch.randn(1000, requires_grad=True) * 1
    with offloaded(1, **SMALL):
        y = x.sigmoid()
        source = weakref.ref(y.untyped_storage())
        z = (y * 1).sin().sum()
        storage = torch.multiprocessing.reductions.StorageWeakRef(y.untyped_storage())
        del y
    assert source() is None and storage.expired(), "the device's memory is free"
    before = threading.active_count()
    away = offloaded(1, **SMALL)
    with away:
        z = z + (x * 2).sigmoid().sum()
    assert any(own.name == "stowage-offload" for own in threading.enumerate())
    z.backward()
    del away, z
    gc.collect()
    for _ in range(100):
        if threading.active_count() < before:
            break
        time.sleep(0.02)
    assert threading.active_count() < before


def test_the_output_of_a_node_makes_no_cycle():
    gc.collect()
    gc.disable()
    try:
        for share in SHARES:
            with offloaded(share, **SMALL):
                y = (torch.randn(500, requires_grad=True) * 1).sigmoid().exp()
            gone = torch.multiprocessing.reductions.StorageWeakRef(y.untyped_storage())
            del y
            assert gone.expired()
    finally:
        gc.enable()


def test_copies_take_the_time_of_their_rates():
    """4 MiB at 0.02 MiB per ms out and 0.04 in: 200 ms and 100 ms."""
    x = torch.randn(2**18, requires_grad=True)
    away = offloaded(1, device="cpu", out_mib_per_ms=0.02, in_mib_per_ms=0.04)
    begin = time.perf_counter()
    with away:
        y = x * 1
        for _ in range(4):
            y = y.sin()
        loss = y.sum()
    middle = time.perf_counter()
    assert away.moved_mib == 4 and away.backward_stall_ms == 0
    loss.backward()
    end = time.perf_counter()
    assert 200 <= 1000 * (middle - begin) and 100 <= 1000 * (end - middle)
    assert 0 < away.forward_stall_ms <= 1000 * (middle - begin)
    assert 0 < away.backward_stall_ms <= 1000 * (end - middle)


def test_errors_of_copies_are_raised():
    x = torch.randn(4, 1000, requires_grad=True)
    with offloaded(1, **SMALL):
        loss = (x * 1).sigmoid().sum()

    class Full(Exception):
        pass

    class Host:
        def clone(self):
            raise Full("no memory")

    unit = loss.grad_fn.next_functions[0][0]._raw_saved_result.data.unit
    unit.host = Host()
    with pytest.raises(Full):
        loss.backward()


class Stream:
    """A stream of CUDA as far as CudaLink needs it: work is done at once, waits are recorded."""

    log: list = []

    def __init__(self, device=None):
        pass

    def wait_stream(self, other):
        self.log.append("behind compute")

    def wait_event(self, event):
        self.log.append(event)

    def record_event(self):
        return Event()


class Event:
    def __init__(self, enable_timing=False):
        pass

    def query(self):
        return False

    def record(self, stream):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1.0


def test_the_way_of_cuda_with_streams_that_are_told(monkeypatch):
    """Without a GPU: each copy out is awaited before its source may go, each copy back before its use."""
    from contextlib import nullcontext
    from types import SimpleNamespace

    from stowage.torch import _offload_links, _offload_pass

    compute = Stream()
    empty = torch.empty
    monkeypatch.setattr(_offload_links, "_cuda", SimpleNamespace(Stream=Stream, Event=Event))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: compute)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda own, stream: None)
    monkeypatch.setattr(
        torch, "empty", lambda *size, pin_memory=False, **more: empty(*size, **more)
    )
    monkeypatch.setattr(
        _offload_pass, "ThreadLink", lambda *rates: _offload_links.CudaLink(torch.device("cpu"))
    )
    model, x = model_of(), row_of()
    for share in (0.5, 1.0):
        for bound in (1e-6, 100):
            Stream.log = []
            want, have, away = plain_and(
                share, lambda: model(x).square().sum(), model, in_flight_mib=bound
            )
            assert same(want, have)
            waits = [own for own in Stream.log if isinstance(own, Event)]
            assert len(set(waits)) == Stream.log.count("behind compute") > 0
            assert away.forward_stall_ms > 0 and away.backward_stall_ms > 0


def test_threads_that_share_a_context():
    model, x = model_of(), row_of()
    want = gradients(model, model(x).square().sum())
    with offloaded(0.8, **SMALL):
        loss = model(x).square().sum()
    found, parameters = [], list(model.parameters())
    ways = [
        threading.Thread(
            target=lambda: found.append(torch.autograd.grad(loss, parameters, retain_graph=True))
        )
        for _ in range(4)
    ]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    assert len(found) == 4 and all(same(want, own) for own in found)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), float("inf"), -float("inf")])
def test_a_share_that_cannot_be(share):
    with pytest.raises(ValueError, match=r"share: must be from 0 to 1, is "):
        offloaded(share)


def test_arguments_are_named():
    for name, wrong in {
        "share": ["0.5", None, [0.5]],
        "model": [3, "model"],
        "device": ["xpu9", "meta", 1.5, "gpu"],
        "min_bytes": [-1, 1.5, "64"],
        "in_flight_mib": [0, -1, float("nan"), float("inf"), "2"],
        "out_mib_per_ms": [0, -1, float("nan"), "2"],
        "in_mib_per_ms": [0, -1, float("inf"), "2"],
    }.items():
        for value in wrong:
            with pytest.raises((ValueError, stowage.Error), match=f"^{name}: must be "):
                offloaded(**{"share": 0.5, **{name: value}})
    with pytest.raises(ValueError, match="are for the CPU"):
        offloaded(1, device="cuda", out_mib_per_ms=1)
    assert offloaded(np.float32(0.5)).share == 0.5


AWAY = CLUSTER.replace(
    memory_mib=64, offload={"mib_per_token": 0.75, "out_mib_per_ms": 50, "in_mib_per_ms": 50}
)


@pytest.mark.parametrize("slice", ["zigzag", "contiguous", None])
def test_rows_carry_the_share_of_their_batch(slice):
    shares = []
    for rank in range(DEVICES):
        sampler = sampler_of(rank, AWAY)
        for step, batches in sampler.steps_with(loader_of(sampler, slice)):
            planned = [0.0 if own is None else own.offload for own in step.of_rank(rank)]
            rows = list(batches)
            assert [row.offload for row in rows] == planned
            assert all(row.offload == 0 for row in rows if row.filler)
            assert rows[0].to("cpu").offload == planned[0]
            shares += planned
    assert 0.1 < max(shares) <= 1 and min(shares) >= 0


def test_the_example_trains_the_same_model_with_offload():
    out = torchrun(
        HERE.parents[2] / "examples" / "torch_ulysses.py", "--steps", "4", "--offload", "50"
    )
    assert "against training alone: losses differ by" in out
    assert "up to " in out and "up to 0%" not in out
