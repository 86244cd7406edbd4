"""The answer of a peer for one instance. `plan` is the path of its solution or plan, None without one;
`bound` is its own lower bound of the model's objective, None if it gives none; `seconds` are CPU time of
its call, the reading of the model included, on one thread."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Answer:
    status: str
    plan: pathlib.Path | None
    bound: float | None
    seconds: float
