"""Tests of attn_implementation="stowage": models of transformers on groups of varying size."""

import pytest

transformers = pytest.importorskip("transformers")

import dataclasses
from pathlib import Path

import torch
from hf_groups import MODELS, build_model
from task import Tokenised, cluster_of, sampler_of
from planned_loader import torchrun

import stowage
from stowage._sequence_attention import Terms, attend
from stowage.hf import attention, model_inputs
from stowage.torch import Groups, PackedBatch, PackedCollator, loader

HERE = Path(__file__).parent
LOOPS = HERE.parent / "loops"


@pytest.mark.parametrize("name", MODELS)
def test_groups_train_what_one_process_trains(name):
    out = torchrun(HERE / "hf_groups.py", name, processes=4)
    lines = [line for line in out.splitlines() if "weights differ by" in line]
    assert len(lines) == 3 + len(MODELS[name][2])
    assert all("degrees [1, 2, 4]" in line for line in lines)


def test_a_rank_without_a_group_is_checked_as_well():
    assert torchrun(HERE / "hf_groups.py", processes=3).count("checked, differs by") == 3


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_program_of_the_page(processes, tmp_path):
    cluster_of(processes).save(tmp_path / "cluster.json")
    out = torchrun(LOOPS / "pages.py", "groups", tmp_path, processes=processes)
    assert "4 steps, weights differ by" in out


def test_a_planned_trainer_runs_on_groups():
    out = torchrun(HERE / "hf_groups_trainer.py", processes=4)
    assert "degrees [1, 2, 4]" in out and "resumed" in out


def seen_by_scores(query, key, value, terms):
    """Returns the attention of the last queries of a sequence, computed from the full matrix of
    scores."""
    key = key.repeat_interleave(len(query) // len(key), 0)
    value = value.repeat_interleave(len(query) // len(value), 0)
    n, m = query.shape[1], key.shape[1]
    scores = torch.einsum("hqd,hkd->hqk", query, key) * terms.scale
    if terms.softcap is not None:
        scores = terms.softcap * torch.tanh(scores / terms.softcap)
    at, other = torch.arange(m - n, m)[:, None], torch.arange(m)
    visible = other <= at
    if terms.window is not None:
        visible &= at - other < terms.window
    weights = torch.where(visible, scores.exp(), 0.0)
    total = weights.sum(-1, keepdim=True)
    if terms.sinks is not None:
        total = total + terms.sinks.exp()[:, None, None]
    return torch.einsum("hqk,hkd->hqd", weights / total, value)


@pytest.mark.parametrize("window", [None, 1, 7, 300, 5000])
@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("sinks", [False, True])
def test_a_sequence_is_attended_to_by_the_formula(window, softcap, sinks):
    made = torch.Generator().manual_seed(1)
    for queries, keys, of_keys in [(1, 1, 4), (600, 600, 2), (37, 600, 1), (300, 301, 4)]:
        query = torch.randn(4, queries, 6, generator=made, dtype=torch.float64)
        key = torch.randn(of_keys, keys, 6, generator=made, dtype=torch.float64)
        value = torch.randn(of_keys, keys, 5, generator=made, dtype=torch.float64)
        each = torch.randn(4, generator=made, dtype=torch.float64) if sinks else None
        terms = Terms(0.4, window, softcap, each)
        torch.testing.assert_close(
            attend(query, key, value, terms), seen_by_scores(query, key, value, terms)
        )


def row_of(lengths, **more):
    starts = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    ids = torch.arange(sum(lengths))[None] % 61
    return PackedBatch(
        input_ids=ids,
        labels=ids,
        position_ids=torch.cat([torch.arange(length) for length in lengths])[None],
        cu_seqlens=starts,
        cu_seqlens_padded=starts,
        max_seqlen=max(lengths),
        ranks=(0,),
        loss_denominator=sum(lengths),
        **more,
    )


@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt_oss"])
def test_a_row_on_one_rank_is_its_sequences(name):
    model, right = build_model(name, "stowage"), build_model(name, "eager")
    row = row_of([40, 9, 64])
    have = model(**model_inputs(row, model)).logits
    parts = [right(input_ids=ids).logits for ids in row.input_ids.split([40, 9, 64], dim=1)]
    torch.testing.assert_close(have, torch.cat(parts, dim=1), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["llama", "gemma2", "gemma3", "gpt_oss"])
def test_without_a_packed_row_it_is_what_transformers_computes(name):
    model, right = build_model(name, "stowage").eval(), build_model(name, "eager").eval()
    ids = torch.arange(120)[None] % 61
    torch.testing.assert_close(model(ids).logits, right(ids).logits, rtol=1e-4, atol=2e-5)
    if name in ("llama", "gemma3"):  # transformers has no SDPA with soft caps and sinks
        right = build_model(name, "sdpa").eval()
        both, padding = ids.view(2, 60), torch.ones(2, 60, dtype=torch.int64)
        padding[1, :20] = 0
        have = model(both, attention_mask=padding).logits
        want = right(both, attention_mask=padding).logits
        torch.testing.assert_close(have, want, rtol=1e-4, atol=2e-5)
        more = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
        assert torch.equal(model.generate(ids, **more), right.generate(ids, **more))
        padded = {"attention_mask": padding.flip(1), **more}
        for way in ({}, {"num_beams": 3}, {"cache_implementation": "static"}):
            found = model.generate(both, **padded, **way)
            assert torch.equal(found, right.generate(both, **padded, **way)), way


def test_a_packed_row_that_the_model_is_not_told_of_is_refused():
    model = build_model("llama", "stowage")
    row = row_of([40, 9])
    with pytest.raises(stowage.Error, match="must know where its sequences begin"):
        model(input_ids=row.input_ids, position_ids=row.position_ids, use_cache=False)


class Opaque(torch.nn.Module):
    """A wrapper whose model and configuration nobody finds."""

    def __init__(self, model):
        super().__init__()
        self.inside = model

    def forward(self, **named):
        return self.inside(**named)


class Narrow(Opaque):
    """A wrapper that takes no other arguments than these."""

    def __init__(self, model):
        super().__init__(model)
        self.config = model.config

    def forward(self, input_ids, position_ids, labels, shift_labels, num_items_in_batch, use_cache):
        return self.inside(input_ids=input_ids, position_ids=position_ids, use_cache=use_cache)


def test_a_wrapper_that_loses_the_row_is_refused():
    model, row = build_model("llama", "stowage"), row_of([100])
    own = {name: getattr(row, name)[:, 50:] for name in ("input_ids", "labels", "position_ids")}
    part = dataclasses.replace(row, ranks=(0, 1), slice="contiguous", **own)
    with pytest.raises(stowage.Error, match="Narrow must take stowage_row"):
        model_inputs(part, Narrow(model))
    for wrapper in (Opaque(model), model):
        with pytest.raises(stowage.Error, match="whose first token has position 50"):
            wrapper(**model_inputs(part, wrapper if wrapper is not model else None))


def gpt2():
    config = transformers.GPT2Config(vocab_size=61, n_embd=16, n_layer=2, n_head=2, n_positions=512)
    torch.manual_seed(3)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="stowage")
    return model.double().eval()


@pytest.mark.parametrize("model", [build_model("llama", "stowage"), gpt2()], ids=["rotary", "learned"])
def test_other_positions_than_the_rows_are_refused(model):
    row, other = row_of([40, 9, 64]), row_of([9, 40, 64])
    right = model_inputs(row, model)
    model(**right)
    for wrong in (None, other.position_ids, row.position_ids + 1):
        with pytest.raises(stowage.Error, match="position_ids"):
            model(**{**right, "position_ids": wrong})
    with pytest.raises(stowage.Error, match="masks more than what comes after"):
        model(**right, attention_mask=torch.ones(1, 113).tril(-1))
    same = model(**{**right, "position_ids": row.position_ids.clone()}).logits
    torch.testing.assert_close(same, model(**right).logits, rtol=0, atol=0)


def test_a_row_that_each_rank_would_count_is_refused():
    row = dataclasses.replace(row_of([40, 8]), ranks=(0, 1))
    with pytest.raises(stowage.Error, match="each of 2 ranks would count the whole row"):
        model_inputs(row, build_model("llama", "stowage"))


def test_a_balance_loss_of_experts_is_refused():
    model = build_model("gpt_oss", "stowage")
    model.config.output_router_logits = True
    with pytest.raises(stowage.Error, match="would add a whole balance loss"):
        model_inputs(row_of([40, 9]), model)
    model.config.router_aux_loss_coef = 0.0
    assert "labels" in model_inputs(row_of([40, 9]), model)


def test_adapters_and_checkpointing_change_nothing():
    peft = pytest.importorskip("peft")
    row = row_of([40, 9, 64])
    gradients = []
    for reentrant in (None, False, True):
        model = build_model("llama", "stowage").train()
        if reentrant is not None:
            more = {"use_reentrant": reentrant}
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=more)
        model(**model_inputs(row, model)).loss.backward()
        gradients.append([each.grad for each in model.parameters()])
    assert all(map(torch.equal, gradients[0] * 2, gradients[1] + gradients[2]))
    right = model(**model_inputs(row, model)).loss
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"]))
    assert torch.equal(adapted(**model_inputs(row, adapted)).loss, right)


def test_what_attention_cannot_compute_is_refused():
    row = row_of([40, 9])
    model = build_model("llama", "stowage")
    given = model_inputs(row, model)
    with pytest.raises(stowage.Error, match="masks more than what comes after"):
        model(**given, attention_mask=torch.zeros(1, 1, 49, 49, dtype=torch.float64))
    with pytest.raises(stowage.Error, match="must have one row of 49 tokens, has 1 of 30 queries"):
        model(**{**given, "input_ids": row.input_ids[:, :30], "position_ids": None})
    shared = row_of([40, 8], slice="zigzag")
    shared = shared.__class__(**{**vars(shared), "ranks": (0, 1)})
    with pytest.raises(stowage.Error, match="its process group is not known"):
        model(**model_inputs(shared, model))
    with pytest.raises(TypeError, match="groups: must be stowage.torch.Groups, is list"):
        attention([])
    with pytest.raises(ValueError, match="exchange: must be one of all_to_all, all_gather, ring"):
        attention(Groups(cluster_of(1)), exchange="p2p")
    llama4 = transformers.Llama4TextConfig(
        vocab_size=61,
        hidden_size=16,
        intermediate_size=24,
        intermediate_size_mlp=24,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        num_local_experts=2,
        attention_chunk_size=16,
        pad_token_id=0,
    )
    chunked = transformers.AutoModelForCausalLM.from_config(llama4, attn_implementation="stowage")
    with pytest.raises(stowage.Error, match="nothing else but a window; it has chunked_overlay"):
        chunked(**model_inputs(row, chunked))


def test_a_trainer_refuses_rows_that_the_model_cannot_take(tmp_path):
    class PlannedTrainer(stowage.hf.StowageTrainer, transformers.Trainer):
        pass

    def trainer(implementation, degrees, slice):
        rows = Tokenised()
        sampler = sampler_of(rows, cluster_of(2, degrees), 0)
        collator = PackedCollator(sampler, pad_token_id=0, slice=slice)
        PlannedTrainer(
            model=build_model("llama", implementation),
            args=transformers.TrainingArguments(tmp_path, use_cpu=True, report_to=[]),
            step_loader=loader(rows, sampler, collator, by_step=True),
        )

    for implementation, degrees, slice, said in [
        ("sdpa", [1], "zigzag", "must deliver whole rows"),
        ("sdpa", [1, 2], None, "groups must be of one rank"),
        ("stowage", [1, 2], None, "must share their rows"),
    ]:
        with pytest.raises(ValueError, match=said):
            trainer(implementation, degrees, slice)
    with pytest.raises(ValueError) as caught:  # of another size than this job, and nothing else
        trainer("stowage", [1, 2], "zigzag")
    assert "rows" not in str(caught.value) and "must have the 1 processes" in str(caught.value)
