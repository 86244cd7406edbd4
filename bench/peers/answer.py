"""What a peer says of one instance. `plan` is where its solution or plan lies, None if it found none;
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
