"""Files of sequence lengths: lists, traces, arrays, indexes of data sets, Parquet and Arrow."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Iterator, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import path_of, text
from ._errors import InputError, log

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 10_000_000  # lengths, as in a document (instances/limits.md)
_LONGEST = 2**53
_PARQUET = b"PAR1"
_ARROW_FILE = b"ARROW1"
_ARROW_STREAM = b"\xff\xff\xff\xff"  # what datasets.save_to_disk() writes


def read_lengths(
    file: Union[str, "os.PathLike[str]"], column: Union[str, None] = None
) -> NDArray[np.int64]:
    """Returns the lengths in a file, int64 [K], in tokens.

    Args:
        file: the path of a list with one length a line, a JSON array, JSON lines, a table with a
            header (.csv), an array of NumPy (.npy), an index of Megatron-LM (.idx), or a Parquet or
            Arrow file, a stream of Arrow as Hugging Face's datasets write it included. The first
            bytes decide.
        column: name of the column, or key of JSON lines, that has the lengths. In Parquet and Arrow
            a column of lists, such as input_ids, counts the elements of each.

    Files are read as `stowage convert` reads them, up to 2^29 bytes; Parquet and Arrow in batches by
    pyarrow, up to 10,000,000 lengths. What was skipped or summed is logged. Raises InputError (E402,
    E404, E405 and others) with every entry that is no length, InputTypeError, and ImportError where
    pyarrow is needed and missing.
    """
    path = path_of(file, "file")
    name = "" if column is None else text(column, "column")
    first = _first_bytes(path)
    if first.startswith((_PARQUET, _ARROW_FILE, _ARROW_STREAM)):
        return _columnar(path, first, name)
    lengths, remark = _core.lengths_in(str(path), name)
    if remark:
        log().info("%s: %s", path, remark)
    return lengths


def _first_bytes(path: Path) -> bytes:
    """Returns the first eight bytes of a plain file, and none of what cannot be read: the reader of
    text reports it. A pipe is not opened, since it would wait for its writer."""
    try:
        if not path.is_file():
            return b""
        with open(path, "rb") as opened:
            return opened.read(8)
    except (OSError, ValueError):
        return b""


def _columnar(path: Path, first: bytes, column: str) -> NDArray[np.int64]:
    try:
        arrow: Any = importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError(
            f"{path}: Parquet and Arrow files are read by pyarrow: pip install pyarrow",
            name="pyarrow",
        ) from None
    parts: list[NDArray[np.int64]] = []
    errors: list[tuple[str, str, str]] = []
    row = 0
    try:
        for values in _batches(arrow, path, first, column):
            row += len(values)
            if row > _MOST:
                message = f"must be at most {_MOST} rows, is more"
                raise InputError([("E108", str(path), message)])
            parts.append(_lengths_of(arrow, path, values, row - len(values), errors))
    except (arrow.ArrowException, OSError) as error:
        message = f"must be a whole Parquet or Arrow file, is not: {error}"
        raise InputError([("E405", str(path), message)]) from None
    if errors:
        raise InputError(_first(errors))
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _first(errors: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Returns the first 100 errors and, as the readers do, the number of the others."""
    if len(errors) <= 100:
        return errors
    return errors[:100] + [("E109", "", f"and {len(errors) - 100} more errors")]


def _batches(arrow: Any, path: Path, first: bytes, column: str) -> Iterator[Any]:
    """Yields the arrays of the column, one for each batch of the file."""
    if first.startswith(_PARQUET):
        parquet: Any = importlib.import_module("pyarrow.parquet")
        with parquet.ParquetFile(str(path)) as file:
            _require(path, column, file.schema_arrow.names)
            for batch in file.iter_batches(columns=[column]):
                yield batch.column(0)
        return
    with arrow.memory_map(str(path)) as source:
        if first.startswith(_ARROW_FILE):
            reader = arrow.ipc.open_file(source)
            _require(path, column, reader.schema.names)
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index).column(column)
        else:
            stream = arrow.ipc.open_stream(source)
            _require(path, column, stream.schema.names)
            for batch in stream:
                yield batch.column(column)


def _require(path: Path, column: str, names: list[str]) -> None:
    if names.count(column) == 1:
        return
    has = ", ".join(f'"{name}"' for name in names[:20]) + (", ..." if len(names) > 20 else "")
    message = f'must have the column "{column}" once, has {has}'
    if not column:
        message = f"must be read with a column of lengths (column=), has {has}"
    raise InputError([("E404", str(path), message)])


def _lengths_of(
    arrow: Any, path: Path, values: Any, first: int, errors: list[tuple[str, str, str]]
) -> NDArray[np.int64]:
    """Returns the lengths of a batch whose first row is `first`, and adds the errors of its rows."""
    types = arrow.types
    if types.is_list(values.type) or types.is_large_list(values.type):
        values = importlib.import_module("pyarrow.compute").list_value_length(values)
    elif not (types.is_integer(values.type) or types.is_floating(values.type)):
        message = f"must be a column of integers or lists, is of the type {values.type}"
        raise InputError([("E405", str(path), message)])
    missing = np.asarray(values.is_null().to_numpy(zero_copy_only=False), bool)
    numbers = np.asarray(values.fill_null(0).to_numpy(zero_copy_only=False))
    bad = missing | ~((numbers >= 1) & (numbers <= _LONGEST))
    if numbers.dtype.kind == "f":
        bad |= numbers != np.floor(numbers)
    for at in np.flatnonzero(bad):
        value = "missing" if missing[at] else str(numbers[at])
        message = f"must be an integer from 1 to {_LONGEST}, is {value}"
        errors.append(("E402", f"{path}[{first + int(at)}]", message))
    return np.where(bad, 1, numbers).astype(np.int64)
