"""What stowage raises. Every exception is a `stowage.Error`."""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The control characters of instances/json/text.h: a traceback may be shown on a terminal.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with a question mark in the place of each control character, line ends included."""
    return _CONTROL.sub("?", text)


class ErrorEntry(NamedTuple):
    """One broken rule of an input; instances/errors.md lists the codes and remedies.

    `pointer` is a JSON pointer into the document, `FILE:LINE`, or the name of an argument.
    """

    code: str
    pointer: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.code} {self.pointer or '/'}: {self.message}")


class Violation(NamedTuple):
    """One broken rule of a plan: `have` stands at `where` (a JSON pointer), `need` should."""

    rule: str
    where: str
    have: str
    need: str

    def __str__(self) -> str:
        return printable(f"{self.rule} at {self.where or '/'}: has {self.have}, needs {self.need}")


class Error(Exception):
    """The base of all. `errors` lists what is wrong; empty where a text says it all.

    The text of an error has no control characters; its members are as they were found.
    """

    errors: tuple[ErrorEntry, ...] = ()

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(Error, ValueError):
    """A document, a file or an argument breaks rules: all of them, in `errors`."""

    def __init__(self, entries: Iterable[tuple[str, str, str]]) -> None:
        self.errors = tuple(ErrorEntry(*entry) for entry in entries)
        super().__init__(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(entry) for entry in self.errors)


class InputTypeError(Error, TypeError):
    """An argument is of a type that is not taken, such as lengths that are floats."""


class Infeasible(Error):
    """It is proven that no plan exists.

    `unplaceable`: int64 ids, as the caller counts them, of sequences that fit no group; empty where
    the proof is another. `remedy`: a sentence.
    """

    def __init__(self, message: str, unplaceable: NDArray[np.int64], remedy: str) -> None:
        super().__init__(message, unplaceable, remedy)
        self.unplaceable = unplaceable
        self.remedy = remedy

    def __str__(self) -> str:
        return printable(f"{self.args[0]}; remedy: {self.remedy}")


class NoPlan(Error):
    """No plan was found within the limits, and none was refuted."""


class VerificationError(Error):
    """A plan breaks rules: `violations` lists them."""

    def __init__(self, violations: Iterable[tuple[str, str, str, str]]) -> None:
        self.violations = tuple(Violation(*entry) for entry in violations)
        super().__init__(self.violations)

    def __str__(self) -> str:
        return "\n".join(str(violation) for violation in self.violations)


class BackendError(Error):
    """Something failed inside the search, and there is no plan."""
