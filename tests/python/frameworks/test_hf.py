"""stowage.hf with a model of transformers: a packed row gives the loss of its sequences."""

import pytest

transformers = pytest.importorskip("transformers")

import torch

from stowage.hf import flash_kwargs, model_inputs
from test_torch import Documents, loader_of, sampler_of


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
            if batch.idle or rank != batch.ranks[0]:
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
    batch = next(batch for batch in batches if not batch.idle)
    given = flash_kwargs(batch)
    assert given["cu_seq_lens_q"].dtype == torch.int32
    assert given["cu_seq_lens_k"][-1] == batch.input_ids.shape[1]
    assert given["max_length_q"] == int(given["cu_seq_lens_q"].diff().max())
