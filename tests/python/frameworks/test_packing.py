"""Tests of stowage.hf.check_packing() against a reference: the logits of a packed row and of its
sequences alone, in float64, on small random models of many architectures of transformers."""

import copy
import random
import warnings
import weakref

import pytest

transformers = pytest.importorskip("transformers")

import numpy as np
import torch
from torch import nn

import stowage
from stowage.hf import _packed_inputs, check_packing, flash_kwargs, model_inputs
from planned_loader import CLUSTER, FRAMEWORKS, loader_of, sampler_of, torchrun

torch.set_num_threads(1)  # rows are short

TINY = dict(
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    vocab_size=100,
    num_key_value_heads=2,
)
GPT = dict(n_embd=32, n_layer=2, n_head=4, vocab_size=100)
STATES = dict(hidden_size=32, num_hidden_layers=2, vocab_size=100)
LINEAR = dict(
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    linear_key_head_dim=8,
    linear_value_head_dim=8,
    num_experts=4,
    num_experts_per_tok=2,
    moe_intermediate_size=16,
    shared_expert_intermediate_size=16,
    layer_types=["linear_attention", "full_attention"],
)
HYBRID = dict(
    mamba_n_heads=8,
    mamba_d_head=8,
    mamba_d_state=8,
    mamba_n_groups=1,
    mamba_expand=2,
    mamba_chunk_size=16,
    attn_layer_indices=[1],
)
JAMBA = dict(
    mamba_d_state=8,
    mamba_dt_rank=4,
    attn_layer_period=2,
    attn_layer_offset=1,
    expert_layer_period=2,
    expert_layer_offset=1,
    num_experts=2,
    use_mamba_kernels=False,
)
ARCHITECTURES = {
    "Llama": ("LlamaForCausalLM", "LlamaConfig", TINY),
    "Qwen3": ("Qwen3ForCausalLM", "Qwen3Config", dict(head_dim=8, **TINY)),
    "Mistral": ("MistralForCausalLM", "MistralConfig", dict(sliding_window=4, **TINY)),
    "Gemma": ("GemmaForCausalLM", "GemmaConfig", dict(head_dim=8, **TINY)),
    "Gemma2": ("Gemma2ForCausalLM", "Gemma2Config", dict(head_dim=8, sliding_window=4, **TINY)),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", dict(n_positions=128, **GPT)),
    "GPT-NeoX": ("GPTNeoXForCausalLM", "GPTNeoXConfig", TINY),
    "Mixtral": ("MixtralForCausalLM", "MixtralConfig", dict(num_local_experts=4, **TINY)),
    "Bloom": ("BloomForCausalLM", "BloomConfig", dict(hidden_size=32, **GPT)),
    "Falcon": ("FalconForCausalLM", "FalconConfig", TINY),
    "Falcon with ALiBi": ("FalconForCausalLM", "FalconConfig", dict(alibi=True, **TINY)),
    "OPT": ("OPTForCausalLM", "OPTConfig", dict(ffn_dim=64, word_embed_proj_dim=32, **TINY)),
    "Mamba": ("MambaForCausalLM", "MambaConfig", STATES),
    "Mamba-2": (
        "Mamba2ForCausalLM",
        "Mamba2Config",
        dict(num_heads=8, head_dim=8, state_size=8, n_groups=2, chunk_size=16, **STATES),
    ),
    "Qwen3-Next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", dict(head_dim=8, **LINEAR, **TINY)),
    "Bamba": ("BambaForCausalLM", "BambaConfig", dict(**HYBRID, **TINY)),
    "Jamba": ("JambaForCausalLM", "JambaConfig", dict(**JAMBA, **TINY)),
    "LFM2": ("Lfm2ForCausalLM", "Lfm2Config", dict(layer_types=["conv", "full_attention"], **TINY)),
}
# The models with a leak by their documentation, so that the expectation does not come from a model
# without effect.
LEAKING = set(list(ARCHITECTURES)[8:])


def made(name, attention=None):
    kind, config, arguments = ARCHITECTURES[name]
    config = getattr(transformers, config)(**arguments)
    if attention is not None:
        config._attn_implementation = attention
    if name in ("Mixtral", "Qwen3-Next", "Jamba"):
        config._experts_implementation = "eager"  # the others compute in float32 at most
    torch.manual_seed(0)
    return getattr(transformers, kind)(config)


def positions_alone(batch):
    """Returns the arguments of trainers that do not pass seq_idx."""
    return dict(input_ids=batch.input_ids, position_ids=batch.position_ids, use_cache=False)


def truth(model, lengths=(9, 14, 6)):
    """Returns the largest difference between a row's logits and those of its sequences alone,
    relative to the largest logit."""
    model = copy.deepcopy(model).double().eval()
    draw = torch.Generator().manual_seed(7)
    parts = [torch.randint(3, 90, (length,), generator=draw) for length in lengths]
    places = torch.cat([torch.arange(length) for length in lengths])
    with torch.no_grad():
        row = model(
            input_ids=torch.cat(parts)[None], position_ids=places[None], use_cache=False
        ).logits[0]
        alone = [model(input_ids=part[None], use_cache=False).logits[0] for part in parts]
    off = [float((own - other).abs().max()) for own, other in zip(row.split(lengths), alone)]
    return max(off) / float(row.abs().max())


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_verdict_is_the_truth(name):
    model = made(name)
    off = truth(model)
    assert off < 1e-6 or off > 2e-5, "the truth is not plain"
    leaks = off > 1e-6
    assert leaks == (name in LEAKING)
    for kind in (torch.float64, torch.float32, torch.bfloat16):
        own = copy.deepcopy(model).to(kind)
        for inputs in (positions_alone, None):  # None: what model_inputs() gives
            if not leaks:
                found = check_packing(own, inputs=inputs)
                assert found.difference <= found.tolerance < 0.15 * found.scale
                continue
            with pytest.raises(stowage.Error) as raised:
                check_packing(own, inputs=inputs)
            said = str(raised.value)
            assert type(own).__name__ in said and "max_sequences_per_group=1" in said
            if inputs is positions_alone:
                assert "off by" in said and "layers.0" in said or ".h.0" in said


@pytest.mark.parametrize("name", ["Llama", "Mistral", "Qwen3", "GPT-2"])
def test_attention_in_eager_mode_is_right_as_well(name):
    assert check_packing(made(name, "eager")).difference < 1e-6


def test_says_which_layer_leaks_and_by_how_much():
    model = made("Mamba")
    with pytest.raises(stowage.Error, match=r"backbone\.layers\.0\.mixer \(MambaMixer\)") as raised:
        check_packing(model, inputs=positions_alone)
    by = float(str(raised.value).split("off by ")[1].split(" ")[0])
    assert 0.1 * 3 < by < 3  # 0.5 to 0.7 at a largest logit of 3.9


def test_only_the_second_layer_leaks():
    config = transformers.Lfm2Config(layer_types=["full_attention", "conv"], **TINY)
    with pytest.raises(stowage.Error, match=r"model\.layers\.1\.conv"):
        check_packing(transformers.Lfm2ForCausalLM(config), inputs=positions_alone)


def test_kernels_that_are_missing_are_named():
    with pytest.raises(stowage.Error, match="takes no packed row.*causal_conv1d"):
        check_packing(made("Bamba"))


class Own(nn.Module):
    """A model of one layer, correct or with one fault."""

    def __init__(self, fault=""):
        super().__init__()
        self.fault = fault
        self.embedding, self.places = nn.Embedding(50, 16), nn.Embedding(128, 16)
        self.dropout, self.head = nn.Dropout(0.5), nn.Linear(16, 50)

    def forward(self, input_ids, position_ids=None, **more):
        count = input_ids.shape[1]
        if position_ids is None or self.fault == "positions":
            position_ids = torch.arange(count)[None]
        tokens = self.embedding(input_ids)
        hidden = self.dropout(tokens + self.places(position_ids))
        if self.fault == "backwards":
            hidden = hidden + hidden.mean(1, keepdim=True)
        if self.fault == "rounding":  # as experts do whose share of the tokens changes
            hidden = hidden + 1e-8 * torch.tanh(tokens.sum((1, 2), keepdim=True))
        if self.fault == "a little":
            hidden = hidden + 1e-4 * nn.functional.pad(tokens, (0, 0, 1, -1))
        return self.head(hidden)


@pytest.mark.parametrize("fault", ["", "rounding"])
def test_a_model_of_ones_own_that_is_right(fault):
    torch.manual_seed(1)
    found = check_packing(Own(fault), lengths=[5, 30])
    assert found.lengths == (5, 30) and found.difference <= found.tolerance < 1e-5 * found.scale


@pytest.mark.parametrize(
    "fault, said",
    [
        ("positions", "otherwise than alone.*ignores position_ids"),
        ("backwards", "leaks between the sequences"),
        ("a little", "leaks between the sequences.*off by .*e-05|off by 0.000"),
    ],
)
def test_a_model_of_ones_own_that_is_wrong(fault, said):
    torch.manual_seed(1)
    with pytest.raises(stowage.Error, match=said):
        check_packing(Own(fault))


def test_leaves_no_trace():
    model = Own().train()
    model.dropout.eval()
    model.head.train()
    modes = [module.training for module in model.modules()]
    states = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    for _ in range(2):
        check_packing(model)
        assert [module.training for module in model.modules()] == modes
        assert all(p.grad is None for p in model.parameters())
        assert torch.equal(torch.get_rng_state(), states[0])
        assert np.random.get_state()[1].tolist() == states[1] and random.getstate() == states[2]
    wrong = Own("a little")
    with pytest.raises(stowage.Error):
        check_packing(wrong)
    assert wrong.training and not any(module._forward_hooks for module in wrong.modules())


@pytest.mark.parametrize("lengths", [[5], [], [5, 1]])
def test_refuses_lengths_that_make_no_row(lengths):
    with pytest.raises(ValueError, match="lengths: must be at least two"):
        check_packing(Own(), lengths=lengths)


def test_what_is_no_number_is_refused():
    model = Own()
    nn.init.constant_(model.head.bias, float("nan"))
    with pytest.raises(stowage.Error, match="finite"):
        check_packing(model)


def test_models_of_all_ranks():
    out = torchrun(FRAMEWORKS / "packing_ranks.py", processes=2)
    for wrap in ("fsdp", "ddp"):
        assert f"Llama {wrap}: apart" in out
        assert f"Mamba {wrap}: " in out and "leaks between the sequences" in out


def some_row(sequences=2):
    sampler = sampler_of(global_batch_size=10)
    _, batches = next(sampler.steps_with(loader_of(sampler, slice=None)))
    return next(batch for batch in batches if len(batch.cu_seqlens) > sequences)


def test_inputs_say_where_sequences_end():
    batch = some_row()
    given = model_inputs(batch, Own())
    starts = batch.cu_seqlens_padded.tolist()
    own = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert given["seq_idx"].dtype == torch.int32 and given["seq_idx"][0].tolist() == own.tolist()
    assert given["cu_seq_lens_q"].tolist() == starts and given["max_length_k"] == batch.max_seqlen
    assert set(model_inputs(batch, nn.Identity())) == set()

    class Narrow(nn.Module):
        def forward(self, input_ids, seq_idx):
            return input_ids

    assert set(model_inputs(batch, Narrow())) == {"input_ids", "seq_idx"}
    without = model_inputs(batch)
    assert set(given) - set(without) == set(flash_kwargs(batch))
    assert {**without, **flash_kwargs(batch)}.keys() == given.keys()


def test_parts_of_a_row_get_no_indices():
    for rank in range(CLUSTER.devices):
        sampler = sampler_of(rank, global_batch_size=10)
        for _, batches in sampler.steps_with(loader_of(sampler, slice="contiguous")):
            for batch in batches:
                assert ("seq_idx" in model_inputs(batch)) == (batch.degree == 1)


def test_warns_until_a_model_was_checked(monkeypatch):
    monkeypatch.setattr(_packed_inputs, "_checked", weakref.WeakSet())
    monkeypatch.setattr(_packed_inputs, "_checked_without", weakref.WeakSet())
    batch = some_row()
    with pytest.warns(UserWarning, match=r"check_packing\(model\)") as said:
        model_inputs(batch)
    with pytest.raises(stowage.Error):
        check_packing(Own("positions"))
    assert said[0].filename == _packed_inputs.__file__  # filters by module find it
    with pytest.warns(UserWarning):  # still
        model_inputs(batch)
    checked = Own()
    check_packing(checked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_inputs(batch)
        model_inputs(batch, checked)
    with pytest.warns(UserWarning):  # another one
        model_inputs(batch, Own())


class NeedsEnds(Own):
    """A model that separates sequences only if it gets their ends, like linear attention."""

    def forward(self, input_ids, position_ids=None, cu_seq_lens_q=None, **more):
        mixed = super().forward(input_ids, position_ids)
        starts = [0, input_ids.shape[1]] if cu_seq_lens_q is None else cu_seq_lens_q.tolist()
        parts = [mixed[:, a:b] + mixed[:, a:b].cumsum(1) for a, b in zip(starts, starts[1:])]
        return torch.cat(parts, dim=1)


def test_a_model_that_needs_the_ends_of_sequences(monkeypatch):
    monkeypatch.setattr(_packed_inputs, "_checked", weakref.WeakSet())
    monkeypatch.setattr(_packed_inputs, "_checked_without", weakref.WeakSet())
    model, batch = NeedsEnds(), some_row()
    check_packing(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_inputs(batch, model)
    with pytest.warns(UserWarning):  # without the model the ends are missing
        model_inputs(batch)
    with pytest.raises(stowage.Error, match="leaks between"):
        check_packing(model, inputs=positions_alone)
