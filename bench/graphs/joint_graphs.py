"""Compares recomputation with torch's min-cut partitioner at the peak of torch's own plan.

    PYTHONPATH=build/release/python python3 bench/graphs/joint_graphs.py --seconds 2 > joint_graphs.md

Each model is traced by AOTAutograd into its joint graph, and torch partitions the graph for each
activation memory budget. The peak of the two graphs, in torch's order and with stowage's memory
model, is the capacity of stowage's plan. Prints one row for each model and budget: operators, the
peak, the time of operators that run again as a share of a step without them (torch's estimate, in
floating-point operations), the same for stowage's plan and its lower bound, and stowage's seconds.
The exit status is 1 if a plan takes more time than torch's, or more seconds than --seconds. Needs
torch 2.13; models are small and randomly initialised.
"""

import argparse
import sys
import time

import torch
import torch._functorch.config
from torch import nn
from torch._functorch.aot_autograd import aot_module
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.nn import functional as F

import stowage
import stowage.functorch

BUDGETS = [1.0, 0.7, 0.4, 0.0]
# A plan within this share of its bound is proven, so stowage does not look for a better one.
TOLERANCE = 1e-6


class Attention(nn.Module):
    def __init__(self, width, heads, causal, rotary=False):
        super().__init__()
        self.heads, self.causal, self.rotary = heads, causal, rotary
        self.qkv = nn.Linear(width, 3 * width, bias=not rotary)
        self.out = nn.Linear(width, width, bias=not rotary)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = split.unbind(0)
        if self.rotary:
            angle = torch.arange(length, device=x.device)[:, None] * 0.01
            turn = torch.cat([angle.cos().expand(-1, q.shape[-1]), angle.sin().expand(-1, 0)], -1)
            q, k = (t * turn + torch.roll(t, 1, -1) * (1 - turn) for t in (q, k))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Gelu(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


class SwiGlu(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, heads, llama=False, causal=True):
        super().__init__()
        norm = nn.RMSNorm if llama else nn.LayerNorm
        self.first, self.second = norm(width), norm(width)
        self.attention = Attention(width, heads, causal, rotary=llama)
        self.mlp = SwiGlu(width) if llama else Gelu(width)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Decoder(nn.Module):
    """GPT-2, or Llama with rotary positions, RMS norms and gated layers."""

    def __init__(self, llama, width=128, heads=4, layers=4, words=512, length=128):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = None if llama else nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads, llama) for _ in range(layers)))
        self.norm = nn.RMSNorm(width) if llama else nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids)
        if self.places is not None:
            x = x + self.places(torch.arange(ids.shape[1], device=ids.device))
        logits = self.head(self.norm(self.blocks(x)))
        return F.cross_entropy(logits.flatten(0, 1), ids.flatten())


class VisionTransformer(nn.Module):
    def __init__(self, width=96, heads=4, layers=6):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, stride=8)
        self.mark = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, 65, width))
        self.blocks = nn.Sequential(*(Block(width, heads, causal=False) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.mark.expand(len(x), -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


def convolution(inputs, outputs, kernel=3, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs, track_running_stats=False),
        nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, width=16, levels=3):
        super().__init__()
        widths = [width * 2**k for k in range(levels + 1)]
        self.stem = convolution(3, width)
        self.down = nn.ModuleList(
            nn.Sequential(convolution(a, b, stride=2), convolution(b, b))
            for a, b in zip(widths, widths[1:])
        )
        self.up = nn.ModuleList(
            nn.Sequential(convolution(a + b, a), convolution(a, a))
            for a, b in zip(widths, widths[1:])
        )
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, images):
        levels = [self.stem(images)]
        for down in self.down:
            levels.append(down(levels[-1]))
        x = levels.pop()
        for up in reversed(self.up):
            x = F.interpolate(x, scale_factor=2)
            x = up(torch.cat([x, levels.pop()], 1))
        return self.head(x)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = convolution(inputs, outputs, stride=stride)
        self.second = nn.Sequential(*list(convolution(outputs, outputs))[:2])
        self.short = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        widths = [width, width, width * 2, width * 4, width * 8]
        blocks = []
        for level, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            blocks += [Residual(inputs, outputs, 1 + (level > 0)), Residual(outputs, outputs, 1)]
        self.body = nn.Sequential(convolution(3, width), *blocks)
        self.head = nn.Linear(widths[-1], 10)

    def forward(self, images):
        return self.head(self.body(images).mean((2, 3)))


class Dense(nn.Module):
    def __init__(self, inputs, growth, layers):
        super().__init__()
        self.layers = nn.ModuleList(convolution(inputs + k * growth, growth) for k in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


class DenseNet(nn.Module):
    def __init__(self, width=16, growth=8, layers=4, blocks=3):
        super().__init__()
        body = [convolution(3, width)]
        for _ in range(blocks):
            body.append(Dense(width, growth, layers))
            width += growth * layers
            body += [convolution(width, width // 2, kernel=1), nn.AvgPool2d(2)]
            width //= 2
        self.body = nn.Sequential(*body)
        self.head = nn.Linear(width, 10)

    def forward(self, images):
        return self.head(self.body(images).mean((2, 3)))


def models():
    ids = torch.zeros(4, 128, dtype=torch.long)
    images = torch.zeros(8, 3, 64, 64)
    yield "GPT-2", Decoder(llama=False), ids
    yield "Llama", Decoder(llama=True), ids
    yield "ViT", VisionTransformer(), images
    yield "UNet", UNet(), images
    yield "ResNet", ResNet(), images
    yield "DenseNet", DenseNet(), images


class Found(Exception):
    """Ends a trace when its joint graph has been partitioned."""


def torch_plan(model, batch, budget):
    """Returns the joint graph and torch's order of its operators, repeated runs included."""

    def partition(joint_module, joint_inputs, **options):
        graph = stowage.functorch.tidied(joint_module)
        joint = stowage.functorch.JointGraph(graph, options["num_fwd_outputs"])
        passes = min_cut_rematerialization_partition(joint_module, joint_inputs, **options)
        number = {node.name: k for k, node in enumerate(joint.nodes) if node is not None}
        forward, backward = (
            [
                number[node.name]
                for node in each.graph.nodes
                if node.op == "call_function" and node.name in number
            ]
            for each in passes
        )
        raise Found(joint, [*forward, joint.nodes.index(None), *backward])

    with torch._functorch.config.patch(activation_memory_budget=budget):
        try:
            aot_module(model, fw_compiler=lambda graph, _: graph, partition_fn=partition)(batch)
        except Found as found:
            return found.args
    raise RuntimeError("the model has no joint graph")


def peak_of(instance, order):
    """Returns the most bytes that a step needs, counted from the last step to the first."""
    size = {each["id"]: each["size_bytes"] for each in instance["tensors"]}
    read = {name for each in instance["operators"] for name in each["reads"]}
    live = {
        each["id"]
        for each in instance["tensors"]
        if each.get("output") or each.get("input") and each["id"] not in read
    }
    peak = 0
    for step in reversed(order):
        operator = instance["operators"][step]
        live -= set(operator["writes"])
        live |= set(operator["reads"]) | set(operator.get("updates", ()))
        peak = max(peak, sum(size[name] for name in live | set(operator["writes"])))
    return max(peak, sum(each["size_bytes"] for each in instance["tensors"] if each.get("input")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each solve")
    parser.add_argument("--only", help="a model")
    options = parser.parse_args()
    torch.manual_seed(0)
    print("| model | budget | operators | peak bytes | torch % | stowage % | bound % | seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    behind = 0
    for name, model, batch in models():
        if options.only not in (None, name):
            continue
        for budget in BUDGETS:
            joint, order = torch_plan(model, batch, budget)
            instance = joint.instance()
            peak = peak_of(instance, order)
            instance = joint.instance(peak)
            ms = [each["ms"] for each in instance["operators"]]
            work = sum(ms)
            its = sum(ms[step] for step in order)
            begin = time.monotonic()
            outcome = stowage.solve(instance, time_limit=options.seconds)
            seconds = time.monotonic() - begin
            ours = outcome.objective if outcome.plan else float("inf")
            if outcome.plan:
                assert peak_of(instance, outcome.plan["order"]) <= peak
            late = ours > its * (1 + TOLERANCE) or seconds > options.seconds
            behind += late
            share = [100 * (each / work - 1) for each in (its, ours, outcome.bound)]
            print(
                f"| {name} | {budget} | {len(ms)} | {peak} | {share[0]:.4f} | {share[1]:.4f}"
                f" | {share[2]:.4f} | {seconds:.2f} |" + (" behind" if late else ""),
                flush=True,
            )
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
