"""The works that beside_torch.py times: each in our form and in several forms of torch.

A work has the FLOP that are useful in it (causal pairs alone), what the table asks of it, and its
forms: functions without arguments, which return the results to compare. Ours is the form
"stowage". Torch gets sequences of equal length as a batch, which is its best case.
"""

import dataclasses
import itertools
import json
import pathlib
from collections.abc import Callable

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy, linear, rms_norm, scaled_dot_product_attention, silu

from own_works import OwnKernels

STEP = pathlib.Path(__file__).parents[2] / "instances/data/scatter/real/7b-64gpu-192k-code-0.json"
OWN = "stowage"
FEW_ROWS = 64  # of a product whose time is that of reading its weights
BEYOND_CACHES = 24 << 20  # floats that no cache holds


@dataclasses.dataclass
class Work:
    name: str
    flop: float  # 0: the work moves memory, and has no share of the limit
    at_least: float  # times as fast as torch's best
    forms: dict[str, Callable]
    share: float | None = None  # of the limit, at least
    tolerance: float = 1e-4  # of the results, relative to the largest entry


def explicit(q, k, v, mask):
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask, -1) @ v


def one_product(q, k, v, mask):
    """Attention with scale and mask inside the product."""
    shape = q.shape
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    logits = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=shape[-1] ** -0.5)
    return torch.bmm(torch.softmax(logits, -1), v).view(shape)


def library(backend=None):
    def run(q, k, v, mask):
        if backend is None:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=True)

    return run


ATTENTION = {
    "SDPA": library(),
    "SDPA, flash": library(SDPBackend.FLASH_ATTENTION),
    "SDPA, math": library(SDPBackend.MATH),
    "matmul, softmax": explicit,
    "baddbmm, softmax": one_product,
}


def passes(name, flop, own, forms, arrange, upstream, **asked):
    """Returns the works of both passes. `forms` maps names to (function, inputs); `arrange` brings
    a tensor of torch into the layout of ours."""
    forward, backward = {OWN: own.forward}, {OWN: own.backward}
    for form, (function, inputs) in forms.items():
        def run(function=function, inputs=inputs):
            with torch.no_grad():
                return arrange(function(*inputs))

        with_gradients = [x.requires_grad_() for x in inputs]
        out = function(*with_gradients)

        def run_backward(out=out, inputs=with_gradients):
            found = torch.autograd.grad(out, inputs, upstream, retain_graph=True)
            return [arrange(x) for x in found]

        forward[form], backward[form] = run, run_backward
    return [
        Work(f"{name}, forward", flop, forms=forward, **asked),
        Work(f"{name}, backward", 2.5 * flop, forms=backward, **asked),
    ]


def equal_packs(own, length, tokens, dim, **asked):
    """Attention on `tokens` tokens of one head in sequences of `length`."""
    batch = tokens // length
    mask = torch.full((length, length), float("-inf")).triu(1)
    inputs = [torch.randn(batch, 1, length, dim) for _ in range(3)]
    upstream = torch.randn(batch, 1, length, dim)
    packed = [x.reshape(tokens, 1, dim).clone() for x in (*inputs, upstream)]
    names = ATTENTION if length <= 256 else ("SDPA", "SDPA, flash")
    forms = {
        form: ((lambda q, k, v, f=ATTENTION[form]: f(q, k, v, mask)), [x.clone() for x in inputs])
        for form in names
    }
    flop = 4 * dim * (length + 1) / 2 * tokens
    what = f"one sequence of {length}" if batch == 1 else f"{batch} sequences of {length}"
    return passes(
        f"{what}, D {dim}", flop, own.attention([length] * batch, *packed), forms,
        lambda x: x.reshape(tokens, 1, dim), upstream, **asked,
    )


def real_pack(own, tokens, dim, heads, kv_heads, **asked):
    """Attention on the first sequences of a bundled step, lengths divided by 16."""
    lengths, divisor = [], 16
    for length in json.loads(STEP.read_text())["lengths"]:
        length = -(-length // divisor)
        if sum(lengths) + length <= tokens:
            lengths.append(length)
    total = sum(lengths)
    q = torch.randn(total, heads, dim)
    k, v = (torch.randn(total, kv_heads, dim) for _ in range(2))
    upstream = torch.randn(total, heads, dim)
    mask = torch.block_diag(*(torch.ones(n, n).tril() for n in lengths)).bool()

    def turned(x):
        return x.transpose(0, 1).unsqueeze(0)

    def one_by_one(q, k, v):
        parts = [x.split(lengths) for x in (q, k, v)]
        out = [
            scaled_dot_product_attention(*map(turned, part), is_causal=True, enable_gqa=True)
            for part in zip(*parts)
        ]
        return torch.cat(out, 2)[0].transpose(0, 1)

    def masked(q, k, v):
        out = scaled_dot_product_attention(
            *map(turned, (q, k, v)), attn_mask=mask, enable_gqa=True
        )
        return out[0].transpose(0, 1)

    forms = {
        "SDPA, one by one": (one_by_one, [x.clone() for x in (q, k, v)]),
        "SDPA, mask of blocks": (masked, [x.clone() for x in (q, k, v)]),
    }
    flop = 4 * dim * heads * sum(n * (n + 1) / 2 for n in lengths)
    return passes(
        f"{len(lengths)} of a real step ({total} tokens), D {dim}", flop,
        own.attention(lengths, q, k, v, upstream), forms, lambda x: x, upstream, **asked,
    )


def product(own, m, n, k, kind="", **asked):
    """A matrix product; `kind` names the operands that are stored transposed. Few rows take other
    weights B in every run, which come from memory, as in a model whose layers follow each other."""
    a = torch.randn(k, m).t() if "A" in kind else torch.randn(m, k)
    sets = max(1, BEYOND_CACHES // (n * k)) if m <= FEW_ROWS else 1
    stored = [torch.randn(n, k).t() if "B" in kind else torch.randn(k, n) for _ in range(sets)]
    linear_weights = [b.t().contiguous() for b in stored]  # as torch keeps those of a linear layer
    out, theirs = torch.empty(m, n), torch.empty(m, n)

    def ours(b):
        own.product(a, b, out)
        return out

    def in_turn(function, weights):
        following = itertools.cycle(weights)
        return lambda: function(next(following))

    forms = {
        OWN: in_turn(ours, stored),
        "mm": in_turn(lambda b: torch.mm(a, b, out=theirs), stored),
        "linear": in_turn(lambda b: linear(a, b), linear_weights),
    }
    name = f"{m} x {n} x {k}" + (f", {kind} transposed" if kind else "")
    return [Work(name, 2.0 * m * n * k, forms=forms, tolerance=2e-5 * k**0.5, **asked)]


def swiglu(own, tokens, ffn, **asked):
    gate, up, upstream = (torch.randn(tokens, ffn) for _ in range(3))
    out, dgate, dup = (torch.empty(tokens, ffn) for _ in range(3))

    class Own:
        @staticmethod
        def forward():
            own.swiglu_forward(gate, up, out)
            return out

        @staticmethod
        def backward():
            own.swiglu_backward(gate, up, upstream, dgate, dup)
            return [dgate, dup]

    def eager(gate, up):
        return silu(gate) * up

    forms = {
        "eager": (eager, [gate.clone(), up.clone()]),
        "compiled": (torch.compile(eager), [gate.clone(), up.clone()]),
    }
    return passes(f"SwiGLU, {tokens} x {ffn}", 0, Own, forms, lambda x: x, upstream, **asked)


def head(own, tokens, hidden, vocabulary, **asked):
    y = torch.randn(tokens, hidden)
    weights = torch.randn(hidden, vocabulary) * hidden**-0.5
    targets = torch.randint(vocabulary, (tokens,))
    logits, dy = torch.empty(tokens, vocabulary), torch.empty(tokens, hidden)
    gradient, few = torch.empty(hidden, vocabulary), targets.int()

    def ours():
        loss = own.head(y, weights, few, logits, dy, gradient)
        return [torch.tensor(loss), dy, gradient]

    def loss_of(y, weights):
        return cross_entropy(y @ weights, targets, reduction="sum")

    compiled = torch.compile(loss_of)
    leaves = [x.clone().requires_grad_() for x in (y, weights)]

    def both(function):
        loss = function(*leaves)
        return [loss.detach(), *torch.autograd.grad(loss, leaves)]

    forms = {OWN: ours, "eager": lambda: both(loss_of), "compiled": lambda: both(compiled)}
    name = f"head and loss, {tokens} x {hidden} x {vocabulary}"
    return [Work(name, 6.0 * tokens * hidden * vocabulary, forms=forms, **asked)]


@dataclasses.dataclass(frozen=True)
class Block:
    hidden: int = 1024
    heads: int = 16
    kv_heads: int = 4
    head_dim: int = 64
    ffn: int = 2816

    def sizes(self):
        """Returns the shapes of the nine weights, in the order of kWeightNames."""
        q, kv, h = self.heads * self.head_dim, self.kv_heads * self.head_dim, self.hidden
        return [(h,), (h, q), (h, kv), (h, kv), (q, h), (h,), (h, self.ffn), (h, self.ffn),
                (self.ffn, h)]


def rotate(x, cos, sin):
    low, high = x.chunk(2, -1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


def block(own, length, tokens, **asked):
    """A whole block, both passes, on `tokens` tokens in sequences of `length`."""
    shape, batch = Block(), tokens // length
    weights = [torch.randn(*size) * (size[0] ** -0.5 if len(size) > 1 else 1)
               for size in shape.sizes()]
    x, upstream = torch.randn(tokens, shape.hidden), torch.randn(tokens, shape.hidden)
    y, dx = torch.empty_like(x), torch.empty_like(x)
    mine = own.block(dataclasses.astuple(shape), [length] * batch, weights)
    half = shape.head_dim // 2
    turn = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(half) / half))
    cos, sin = turn.cos(), turn.sin()

    def heads(x, count):
        return x.view(batch, length, count, shape.head_dim).transpose(1, 2)

    def layer(x, norm, wq, wk, wv, wo, ffn_norm, gate, up, down):
        n = rms_norm(x, (shape.hidden,), norm, 1e-5)
        q = rotate(heads(n @ wq, shape.heads), cos, sin)
        k = rotate(heads(n @ wk, shape.kv_heads), cos, sin)
        o = scaled_dot_product_attention(
            q, k, heads(n @ wv, shape.kv_heads), is_causal=True, enable_gqa=True
        )
        a = x + o.transpose(1, 2).reshape(tokens, -1) @ wo
        n = rms_norm(a, (shape.hidden,), ffn_norm, 1e-5)
        return a + (silu(n @ gate) * (n @ up)) @ down

    compiled = torch.compile(layer)
    leaves = [value.clone().requires_grad_() for value in (x, *weights)]

    def both(function):
        out = function(*leaves)
        found = torch.autograd.grad(out, leaves, upstream)
        return [out.detach(), found[0]]

    def ours():
        mine.step(x, upstream, y, dx)
        return [y, dx]

    pairs = (length + 1) / 2 * tokens
    matrices = sum(weight.numel() for weight in weights if weight.dim() > 1)
    flop = 6.0 * matrices * tokens + 14.0 * shape.head_dim * shape.heads * pairs
    forms = {OWN: ours, "eager": lambda: both(layer), "compiled": lambda: both(compiled)}
    what = f"one sequence of {length}" if batch == 1 else f"{batch} sequences of {length}"
    return [Work(f"block, {what}", flop, forms=forms, tolerance=1e-3, **asked)]


def attention_works(own, dim):
    found = []
    for length, at_least in ((16, 1.0), (32, 1.2), (64, 1.0), (128, 1.0), (256, 1.0)):
        found += equal_packs(own, length, 4096, dim, at_least=at_least)
    for length in (1024, 4096, 16384):
        found += equal_packs(own, length, length, dim, at_least=1.0, share=0.80)
    return found


def product_works(own):
    hidden, ffn = Block().hidden, Block().ffn
    sizes = [
        (2048, 2048, 2048),
        (1024, hidden, hidden),
        (1024, ffn, hidden),
        (1024, hidden, ffn),
        (1024, hidden, ffn, "B"),
        (hidden, ffn, 1024, "A"),
        (64, hidden, hidden),
        (8, hidden, hidden),
        (8, ffn, hidden),
    ]
    return [work for size in sizes for work in product(own, *size, at_least=0.97)]


def parts(own: OwnKernels):
    """Returns the parts of the table: functions that make their works, by name."""
    return {
        "attention, D 64": lambda: attention_works(own, 64),
        "attention, D 128": lambda: attention_works(own, 128),
        "attention, real packs": lambda: real_pack(own, 8192, 64, 4, 2, at_least=1.0),
        "products": lambda: product_works(own),
        "SwiGLU and head": lambda: [
            *swiglu(own, 1024, Block().ffn, at_least=1.0),
            *head(own, 128, Block().hidden, 16000, at_least=1.0),
        ],
        "block": lambda: [
            *block(own, 2048, 2048, at_least=1.1),
            *block(own, 128, 2048, at_least=1.1),
        ],
    }
