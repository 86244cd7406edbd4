"""What becomes of sequences that no group of a cluster can hold."""

from __future__ import annotations

from typing import Literal, Optional

import numpy as np
from numpy.typing import NDArray

from ._cluster import Cluster
from ._errors import InputError, log
from ._lengths import Integers, as_integers
from ._step import Sequences

Oversize = Literal["raise", "drop", "clip"]
OVERSIZE = ("raise", "drop", "clip")


def fitted_sequences(
    cluster: Cluster,
    on_oversize: Oversize,
    lengths: Integers,
    ids: Optional[Integers],
    loss_tokens: Optional[Integers],
) -> tuple[NDArray[np.int64], Optional[NDArray[np.int64]], Sequences]:
    """Returns the lengths to plan, their loss tokens, and their ids."""
    tokens = as_integers(lengths, "lengths")
    if tokens.size == 0:
        raise InputError([("E201", "/lengths", "must hold at least one length, is empty")])
    names = np.arange(tokens.size) if ids is None else as_integers(ids, "ids").copy()
    targets = None if loss_tokens is None else as_integers(loss_tokens, "loss_tokens")
    for name, array in (("ids", names), ("loss_tokens", targets)):
        if array is not None and array.size != tokens.size:
            raise ValueError(f"{name}: must be as many as lengths, {tokens.size}, are {array.size}")
    if targets is not None:
        wrong = np.flatnonzero((targets < 0) | ((targets > tokens) & (tokens > 0)))
        if wrong.size:  # checked here, because indices change below
            raise InputError(
                (
                    "E205",
                    f"/loss_tokens/{at}",
                    f"must be from 0 to the {tokens[at]} tokens of the sequence, is {targets[at]}",
                )
                for at in wrong
            )
    none = np.zeros(0, np.int64)
    most = cluster.largest_sequence
    over = tokens > most
    if on_oversize == "raise" or not over.any():
        return tokens, targets, Sequences(names, none, none)
    if (low := np.flatnonzero(tokens < 1)).size:  # checked here, because indices change below
        raise InputError(
            ("E205", f"/lengths/{at}", f"must be at least 1, is {tokens[at]}") for at in low
        )
    if on_oversize == "clip":
        return _clipped(cluster, tokens, names, targets)
    kept = ~over
    if not kept.any():  # the search below raises Infeasible with a remedy
        return tokens, targets, Sequences(names, none, none)
    log().warning("%d sequences of more than %d tokens are dropped", int(over.sum()), most)
    left = None if targets is None else targets[kept]
    return tokens[kept], left, Sequences(names[kept], names[over], none)


def _clipped(
    cluster: Cluster,
    tokens: NDArray[np.int64],
    names: NDArray[np.int64],
    targets: Optional[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], Optional[NDArray[np.int64]], Sequences]:
    most = cluster.largest_sequence
    over = tokens > most
    none = np.zeros(0, np.int64)
    if most == 0:  # the search below raises Infeasible with a remedy
        return tokens, targets, Sequences(names, none, none)
    if targets is not None:
        require_known_targets(cluster, "clip", tokens, targets)
    log().warning("%d sequences are clipped to %d tokens", int(over.sum()), most)
    return np.minimum(tokens, most), targets, Sequences(names, none, names[over])


def require_known_targets(
    cluster: Cluster, on_oversize: Oversize, lengths: Integers, loss_tokens: Integers
) -> None:
    """Raises ValueError for sequences with targets that would be clipped."""
    most = cluster.largest_sequence
    over = as_integers(lengths, "lengths") > most
    unknown = int((over & (as_integers(loss_tokens, "loss_tokens") > 0)).sum())
    if on_oversize == "clip" and unknown:
        raise ValueError(
            f"loss_tokens: {unknown} sequences are clipped to {most} tokens, and how many of their "
            f"targets are left is unknown; pass numpy.minimum(lengths, {most}), and count the "
            f"targets of the cut rows: stowage.torch.target_counts(labels, longest={most})"
        )
