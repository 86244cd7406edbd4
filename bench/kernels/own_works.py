"""The kernels as Python functions over torch tensors, by the C functions of works.h.

    own = OwnKernels("build/release/bench/kernels/libstowage_bench_works.so", "v3")
    own.product(a, b, out)

Tensors are float32 and contiguous, unless a function says otherwise. Nothing is checked or copied.
"""

import ctypes

import torch

LEVELS = ("v4", "v3", "v2", "portable")  # the widest first
POINTER = ctypes.c_void_p


class Attention(ctypes.Structure):
    """StowageAttention of works.h."""

    _fields_ = [
        ("sequences", ctypes.c_int64),
        ("cu", POINTER),
        *((name, ctypes.c_int32) for name in ("heads", "kv_heads", "dim")),
        *((name, POINTER) for name in ("q", "k", "v", "o", "lse", "upstream", "dq", "dk", "dv")),
    ]


class BlockShape(ctypes.Structure):
    """StowageBlockShape of works.h."""

    _fields_ = [
        (name, ctypes.c_int32) for name in ("hidden", "heads", "kv_heads", "head_dim", "ffn")
    ]


def at(tensor):
    return POINTER(tensor.data_ptr())


def cumulated(lengths):
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)


class OwnAttention:
    """Attention of packed sequences: q (tokens, heads, dim), k and v (tokens, kv_heads, dim)."""

    def __init__(self, library, lengths, q, k, v, upstream):
        self.library = library
        self.kept = [cumulated(lengths), q, k, v, upstream]
        self.o = torch.empty_like(q)
        self.lse = torch.empty(2, q.shape[1], q.shape[0])
        self.gradients = [torch.empty_like(x) for x in (q, k, v)]
        self.task = Attention(
            len(lengths), at(self.kept[0]), q.shape[1], k.shape[1], q.shape[2],
            *map(at, (q, k, v, self.o, self.lse, upstream, *self.gradients)),
        )

    def forward(self):
        self.library.stowage_attention_forward(ctypes.byref(self.task))
        return self.o

    def backward(self):
        self.library.stowage_attention_backward(ctypes.byref(self.task))
        return self.gradients


class OwnBlock:
    """A block over packed sequences; `weights` in the order of kWeightNames."""

    def __init__(self, library, shape, lengths, weights):
        self.library = library
        pointers = (POINTER * len(weights))(*map(at, weights))
        cu = cumulated(lengths)
        self.block = POINTER(
            library.stowage_block(
                BlockShape(*shape), ctypes.c_int64(len(lengths)), at(cu), pointers
            )
        )

    def step(self, x, upstream, y, dx):
        self.library.stowage_block_step(self.block, at(x), at(upstream), at(y), at(dx))

    def __del__(self):
        self.library.stowage_block_end(self.block)


class OwnKernels:
    def __init__(self, path, level=None):
        self.library = ctypes.CDLL(path)
        self.library.stowage_multiply_add.restype = ctypes.c_double
        self.library.stowage_head.restype = ctypes.c_double
        self.library.stowage_block.restype = POINTER
        wanted = LEVELS if level is None else (level,)
        self.level = next((at for at in wanted if self.library.stowage_use_level(at.encode())), None)
        if self.level is None:
            raise SystemExit(f"this machine has no level {level}; choose one of {', '.join(LEVELS)}")

    def multiply_add(self):
        """Runs about 4 ms of multiply-adds in registers and returns their FLOP."""
        return self.library.stowage_multiply_add(ctypes.c_int64(4000))

    def product(self, a, b, out):
        """out = a b for matrices of any strides; `out` is contiguous."""
        sizes = map(ctypes.c_int64, (a.shape[0], b.shape[1], a.shape[1]))
        a_strides, b_strides = (map(ctypes.c_int64, x.stride()) for x in (a, b))
        self.library.stowage_product(*sizes, at(a), *a_strides, at(b), *b_strides, at(out))

    def attention(self, lengths, q, k, v, upstream):
        return OwnAttention(self.library, lengths, q, k, v, upstream)

    def swiglu_forward(self, gate, up, out):
        count = ctypes.c_int64(gate.numel())
        self.library.stowage_swiglu_forward(count, *map(at, (gate, up, out)))

    def swiglu_backward(self, gate, up, upstream, dgate, dup):
        count = ctypes.c_int64(gate.numel())
        self.library.stowage_swiglu_backward(count, *map(at, (gate, up, upstream, dgate, dup)))

    def head(self, y, weights, targets, logits, dy, gradient):
        """Returns the summed loss of y (tokens, hidden) and int32 targets; writes the rest."""
        return self.library.stowage_head(
            ctypes.c_int64(y.shape[0]), ctypes.c_int32(y.shape[1]), ctypes.c_int64(weights.shape[1]),
            *map(at, (y, weights, targets, logits, dy, gradient)),
        )

    def block(self, shape, lengths, weights):
        return OwnBlock(self.library, shape, lengths, weights)
