"""Tests of read_lengths() on files that need NumPy alone."""

import logging
import sys

import numpy as np
import pytest

import stowage


def put(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    return tmp_path / "f"


def test_the_formats_of_the_command(tmp_path, caplog):
    for content, column in (
        (b"7\n8\n\n", None),
        (b"[7, 8]", None),
        (b"a,n\n1,7\n2,8.0\n", "n"),
        (b'{"n": 7}\n{"n": 8}\n', "n"),
    ):
        read = stowage.read_lengths(put(tmp_path, content), column)
        assert read.dtype == np.int64 and list(read) == [7, 8]
    assert not caplog.records
    with caplog.at_level(logging.INFO, "stowage"):
        assert list(stowage.read_lengths(put(tmp_path, b"n\n7\n"))) == [7]
    assert "taken for a header" in caplog.text


def test_errors_have_codes_and_places(tmp_path):
    for content, column, code in (
        (b"7\nx\n", None, "E402"),
        (b"a,n\n1,7\n", None, "E404"),
        (b"\x1f\x8b\x08", None, "E405"),
        (b"[7, -8]", None, "E205"),
    ):
        with pytest.raises(stowage.InputError) as refused:
            stowage.read_lengths(put(tmp_path, content), column)
        assert [e.code for e in refused.value.errors] == [code]
    with pytest.raises(stowage.InputError) as missing:
        stowage.read_lengths(tmp_path / "none")
    assert missing.value.errors[0].code == "E110"
    with pytest.raises(stowage.InputError):
        stowage.read_lengths(tmp_path)
    for wrong in (7, None, b"f"):
        with pytest.raises(stowage.InputTypeError):
            stowage.read_lengths(wrong)
    with pytest.raises(stowage.InputTypeError):
        stowage.read_lengths("f", column=7)


def test_parquet_without_pyarrow_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        stowage.read_lengths(put(tmp_path, b"PAR1...."), "n")
