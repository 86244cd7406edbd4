"""The exceptions of stowage, and its logger. Every exception is a `stowage.Error`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterable, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import logging

# The control characters of instances/json/text.h, since a terminal may show a traceback.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def log() -> logging.Logger:
    """Returns the package's logger. `import stowage` would take a tenth longer with logging and what
    logging imports."""
    import logging

    return logging.getLogger("stowage")


def printable(text: str) -> str:
    """Returns the text with a question mark for each control character, line ends included."""
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
    """A broken rule of a plan: at `where` (a JSON pointer) the plan has `have` and needs `need`."""

    rule: str
    where: str
    have: str
    need: str

    def __str__(self) -> str:
        return printable(f"{self.rule} at {self.where or '/'}: has {self.have}, needs {self.need}")


class Error(Exception):
    """The base class of all exceptions. `errors` lists the single errors; it is empty if the
    message is complete.

    The message has no control characters; the members of `errors` are unchanged.
    """

    errors: tuple[ErrorEntry, ...] = ()

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(Error, ValueError):
    """A document, a file or an argument breaks rules; `errors` lists all of them."""

    def __init__(self, entries: Iterable[tuple[str, str, str]]) -> None:
        self.errors = tuple(ErrorEntry(*entry) for entry in entries)
        super().__init__(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(entry) for entry in self.errors)


class InputTypeError(Error, TypeError):
    """An argument has a wrong type, such as lengths that are floats."""


class Infeasible(Error):
    """It is proven that no plan exists.

    `unplaceable`: int64 ids, in the caller's numbering, of sequences that fit in no group; empty if
    the proof has another reason. `remedy`: a sentence.
    """

    def __init__(self, message: str, unplaceable: NDArray[np.int64], remedy: str) -> None:
        super().__init__(message, unplaceable, remedy)
        self.unplaceable = unplaceable
        self.remedy = remedy

    def __str__(self) -> str:
        return printable(f"{self.args[0]}; remedy: {self.remedy}")


class NoPlan(Error):
    """The search found neither a plan nor a proof of infeasibility within the limits."""


class VerificationError(Error):
    """A plan breaks rules; `violations` lists them."""

    def __init__(self, violations: Iterable[tuple[str, str, str, str]]) -> None:
        self.violations = tuple(Violation(*entry) for entry in violations)
        super().__init__(self.violations)

    def __str__(self) -> str:
        return "\n".join(str(violation) for violation in self.violations)


class BackendError(Error):
    """A component of the search failed, and there is no plan."""
