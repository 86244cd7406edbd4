"""Tests of stowage.hf with a model of transformers, whose loss of a packed row must equal that of
its sequences, and with TRL's collator and trainer."""

import pytest

transformers = pytest.importorskip("transformers")

import numpy as np
import torch

import stowage
from stowage.hf import flash_kwargs, model_inputs, packed_dataset
from planned_loader import CLUSTER, LENGTHS, Documents, loader_of, sampler_of


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=600,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    return transformers.LlamaForCausalLM(config).double().eval()


def test_a_step_has_the_mean_loss_of_its_sequences(model):
    documents = Documents()
    total, alone, targets = 0.0, 0.0, 0
    for rank in range(4):
        sampler = sampler_of(rank, global_batch_size=10)
        step, batches = next(sampler.steps_with(loader_of(sampler, slice=None)))
        for batch in batches:
            if batch.filler or rank != batch.ranks[0]:
                continue
            with torch.no_grad():
                total += float(model(**model_inputs(batch)).loss)
                for row in batch.sequences.tolist():
                    ids = torch.from_numpy(documents[row]["input_ids"])[None]
                    labels = torch.from_numpy(documents[row]["labels"])[None]
                    logits = model(input_ids=ids).logits[0, :-1]
                    alone += float(
                        torch.nn.functional.cross_entropy(logits, labels[0, 1:], reduction="sum")
                    )
                    targets += int((labels[0, 1:] != -100).sum())
    assert targets == step.loss_denominator
    assert total == pytest.approx(alone / targets, rel=1e-6)


def test_flash_attention_gets_the_padded_row():
    sampler = sampler_of()
    _, batches = next(sampler.steps_with(loader_of(sampler, slice=None)))
    batch = next(batch for batch in batches if not batch.filler)
    given = flash_kwargs(batch)
    assert given["cu_seq_lens_q"].dtype == torch.int32
    assert given["cu_seq_lens_k"][-1] == batch.input_ids.shape[1]
    assert given["max_length_q"] == int(given["cu_seq_lens_q"].diff().max())


MOST = 450  # tokens of a row: TRL's max_length
SINGLE = CLUSTER.replace(
    degrees=[1], memory_mib=1000, max_tokens_per_rank=MOST, no_idle_ranks=True, pad_multiple=1
)


@pytest.fixture
def trl():
    return pytest.importorskip("trl")


def samples():
    from datasets import Dataset

    return Dataset.from_list(
        [{key: row.tolist() for key, row in Documents()[i].items()} for i in range(len(LENGTHS))]
    )


def steps():
    planner = stowage.Planner(SINGLE)
    return [planner.plan(LENGTHS[rows], ids=rows) for rows in np.split(np.arange(len(LENGTHS)), 2)]


def test_rows_are_as_trl_packs_them(trl):
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    planned = steps()
    packed = packed_dataset(samples(), planned)
    theirs = trl.pack_dataset(samples(), MOST)
    assert sorted(packed.column_names) == sorted(theirs.column_names)
    assert sorted(sum(packed["seq_lengths"], [])) == sorted(LENGTHS.tolist())
    assert max(map(len, packed["input_ids"])) <= MOST
    collator = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
    batches = [step.batch(b) for step in planned for b in step.schedule.T.ravel()]
    assert len(batches) == len(packed) and len(packed) % SINGLE.devices == 0
    for row, batch in zip(packed, batches):
        made = collator([row])
        starts = batch.cu_seqlens
        assert made["cu_seq_lens_q"].tolist() == starts.tolist()
        assert made["max_length_q"] == batch.max_seqlen
        places = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
        assert made["position_ids"][0].tolist() == places.tolist()
        first = [Documents()[i]["input_ids"][0] for i in batch.sequences]
        assert made["input_ids"][0][starts[:-1].tolist()].tolist() == first
        assert (made["labels"][0][starts[:-1].tolist()] == -100).all()


def test_refuses_plans_of_wider_groups():
    wide = stowage.Planner(CLUSTER).plan([500, 30, 30, 30])
    with pytest.raises(ValueError, match="every group must be one rank"):
        packed_dataset(samples(), [wide])


def test_trls_trainer_takes_the_rows_as_planned(trl, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_DISABLED", "true")
    from tokenizers import Tokenizer, models

    words = {f"w{i}": i for i in range(599)}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({**words, "pad": 599}, unk_token="pad")),
        pad_token="pad",
        eos_token="pad",
    )
    one = stowage.Planner(SINGLE.replace(devices=1))
    step = one.plan(LENGTHS)
    rows = packed_dataset(samples(), [step])
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=600,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
    )
    model = transformers.LlamaForCausalLM(config)
    alone, targets = 0.0, 0
    for row in step.batch(int(step.schedule[0, 0])).sequences.tolist():
        ids, labels = (torch.tensor(Documents()[row][name]) for name in ("input_ids", "labels"))
        with torch.no_grad():
            logits = model(input_ids=ids[None]).logits[0, :-1]
        alone += float(
            torch.nn.functional.cross_entropy(
                logits, labels[1:], ignore_index=-100, reduction="sum"
            )
        )
        targets += int((labels[1:] != -100).sum())
    arguments = trl.SFTConfig(
        output_dir=str(tmp_path),
        padding_free=True,
        max_length=None,
        per_device_train_batch_size=1,
        max_steps=3,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        train_sampling_strategy="sequential",
        dataset_kwargs={"skip_prepare_dataset": True},
    )
    trainer = trl.SFTTrainer(
        model=model, args=arguments, train_dataset=rows, processing_class=tokenizer
    )
    seen, compute = [], trainer.compute_loss

    def watched(model, inputs, *others, **more):
        seen.append(inputs["input_ids"][0].tolist())
        return compute(model, inputs, *others, **more)

    monkeypatch.setattr(trainer, "compute_loss", watched)
    trainer.train()
    assert seen == [rows[i]["input_ids"] for i in range(3)]
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[0] == pytest.approx(alone / targets, rel=1e-3)


def test_clipped_rows_are_cut():
    from datasets import Dataset

    rows = {"input_ids": [[1, 2, 3, 4], [5, 6], [7, 8, 9], [10]], "mask": [[1] * 4, [0] * 2, [1] * 3, [0]]}
    three = SINGLE.replace(devices=1, memory_mib=3, max_tokens_per_rank=None)
    step = stowage.Planner(three, on_oversize="clip").plan([4, 2, 3, 1])
    made = packed_dataset(Dataset.from_dict(rows), [step])
    assert all(len(ids) == len(mask) <= 3 for ids, mask in zip(made["input_ids"], made["mask"]))
    assert sorted(sum(made["input_ids"], [])) == [1, 2, 3, 5, 6, 7, 8, 9, 10]
    other = stowage.Planner(three).plan([3, 2, 3, 1])  # nothing was clipped: row 0 is another one
    with pytest.raises(ValueError, match="row 0 must have the 3 tokens that were planned, has 4"):
        packed_dataset(Dataset.from_dict(rows), [other])
