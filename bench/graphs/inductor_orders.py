"""Compares orders of Inductor's graphs with the best of Inductor's own, and runs the compiled models.

    PYTHONPATH=build/release/python python3 bench/graphs/inductor_orders.py > inductor_orders.md

Fifteen small models are compiled on the CPU, forward and backward, once as Inductor orders their graphs
and once within stowage.inductor.use(). Prints one row for each graph: nodes, the peak of the best of
Inductor's orders as Inductor estimates it, the planned peak as a share of it, the gap, the seconds of the
solve, and, in the row of a model's first graph, the largest difference of results and gradients from the
model without compilation and the planned peak of a step that torch's profiler measured, as a share of
that of Inductor's order. The exit status is 1 if a plan is not proven or behind. Needs torch 2.13, and
transformers for nine of the models, all randomly initialised.
"""

import argparse
import sys

import torch
import torch._dynamo
import torch._inductor.config
import torch._inductor.memory
from torch import nn
from torch._inductor.virtualized import V
from torch.profiler import ProfilerActivity, profile

import stowage
import stowage.inductor
from joint_graphs import models as own_models

TOLERANCE = 2e-3  # of results, relative to the largest


class Output(nn.Module):
    """A model of transformers that returns one tensor."""

    def __init__(self, model, key):
        super().__init__()
        self.model, self.key = model, key

    def forward(self, batch):
        return self.model(**batch)[self.key]


def of_transformers():
    import transformers as t

    ids = torch.arange(64).view(2, 32) % 96
    small = dict(vocab_size=96, hidden_size=48, intermediate_size=96, num_hidden_layers=2)
    heads = dict(num_attention_heads=4)
    grouped = dict(heads, num_key_value_heads=2, head_dim=12, tie_word_embeddings=False)
    image = torch.rand(2, 3, 32, 32)
    yield "BERT", t.BertModel(t.BertConfig(**small, **heads)), "last_hidden_state", {"input_ids": ids}
    yield "Qwen3", t.Qwen3ForCausalLM(t.Qwen3Config(**small, **grouped)), "logits", {"input_ids": ids}
    gemma = t.Gemma2Config(**small, **grouped, sliding_window=8, query_pre_attn_scalar=12)
    yield "Gemma 2", t.Gemma2ForCausalLM(gemma), "logits", {"input_ids": ids}
    t5 = t.T5Config(vocab_size=96, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4)
    both = {"input_ids": ids, "decoder_input_ids": ids}
    yield "T5", t.T5ForConditionalGeneration(t5), "logits", both
    gpt = t.GPTNeoXConfig(**small, **heads)
    yield "GPT-NeoX", t.GPTNeoXForCausalLM(gpt), "logits", {"input_ids": ids}
    next_ = t.ConvNextConfig(hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 2, 1])
    yield "ConvNeXt", t.ConvNextModel(next_), "last_hidden_state", {"pixel_values": image}
    swin = t.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
    yield "Swin", t.SwinModel(swin), "last_hidden_state", {"pixel_values": image}
    seg = t.SegformerConfig(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], decoder_hidden_size=32)
    yield "SegFormer", t.SegformerForSemanticSegmentation(seg), "logits", {"pixel_values": image}
    efficient = t.MobileNetV2Config(depth_multiplier=0.35, image_size=32)
    yield "MobileNet v2", t.MobileNetV2Model(efficient), "last_hidden_state", {"pixel_values": image}


def models():
    yield from own_models()
    for name, model, key, batch in of_transformers():
        yield name, Output(model.eval(), key), batch


def step(run, model, batch):
    """Returns the result of a step, and the gradients."""
    model.zero_grad()
    result = run(batch)
    result.float().square().mean().backward()
    return [result.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def measured_peak(run, model, batch):
    """Returns the most bytes that torch's CPU allocator held above what it held before the step."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        step(run, model, batch)
    held = most = 0
    for event in sorted(found.profiler.kineto_results.events(), key=lambda each: each.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


def difference(have, want):
    return max(
        (float((a - b).abs().max()) / max(float(b.abs().max()), 1e-6) for a, b in zip(have, want)),
        default=0.0,
    )


def own_peaks(nodes, graph_outputs):
    """Returns Inductor's estimate of the peak of each of its orders."""
    memory = torch._inductor.memory
    inputs = memory.get_freeable_input_buf(nodes, set(V.graph.graph_inputs))
    names = {name: buffer for node in nodes for name, buffer in zip(node.get_buffer_names(), node.get_outputs())}
    orders = [nodes, memory.topological_sort_bfs(nodes), memory.topological_sort_dfs(nodes)]
    orders.append(memory.topological_sort_lpmf(nodes, inputs, names, graph_outputs))
    return [memory.estimate_peak_memory(each, inputs, graph_outputs)[0] for each in orders]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="a model")
    parser.add_argument("--seconds", type=float, default=0.6, help="of each solve")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    print("| model | graph | nodes | best peak of Inductor, bytes | planned / best | gap % | seconds | difference | measured / Inductor |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    behind = 0
    ordered = stowage.inductor.order_instance
    for name, model, batch in models():
        if options.only not in (None, name):
            continue
        seen = []

        def kept(nodes, graph_outputs, seen=seen):
            seen.append((len(nodes), min(own_peaks(nodes, graph_outputs))))
            return ordered(nodes, graph_outputs)

        expected = step(model, model, batch)
        torch._dynamo.reset()
        with torch._inductor.config.patch(force_disable_caches=True):
            plain = torch.compile(model)
            step(plain, model, batch)
            before = measured_peak(plain, model, batch)
        torch._dynamo.reset()
        stowage.inductor.order_instance = kept
        with stowage.inductor.use(time_limit=options.seconds) as planned:
            run = torch.compile(model)
            found = step(run, model, batch)
            after = measured_peak(run, model, batch)
        stowage.inductor.order_instance = ordered
        off = difference(found, expected)
        behind += off > TOLERANCE
        for at, ((nodes, best), outcome) in enumerate(zip(seen, planned.outcomes, strict=True)):
            late = outcome.status != "optimal" or outcome.objective > best or outcome.seconds > options.seconds
            behind += late
            of_model = f"{off:.1e} | {after / before:.4f}" if at == 0 else " | "
            print(
                f"| {name} | {at + 1} | {nodes} | {best} | {outcome.objective / best:.4f} | "
                f"{100 * outcome.gap:.2f} | {outcome.seconds:.3f} | {of_model} |" + (" behind" if late else ""),
                flush=True,
            )
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
