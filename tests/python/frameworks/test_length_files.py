"""Tests of read_lengths() on files that NumPy, pyarrow, datasets and Megatron Core write."""

import gzip

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import stowage

LENGTHS = [4808, 3180, 7]


def table(**columns):
    return pyarrow.table({"text": ["a", "b", "c"], **columns})


def parquet(path, data):
    pyarrow.parquet.write_table(data, path, row_group_size=2)


def arrow(path, data):
    with pyarrow.ipc.new_file(str(path), data.schema) as writer:
        writer.write_table(data, max_chunksize=2)


def stream(path, data):
    with pyarrow.ipc.new_stream(str(path), data.schema) as writer:
        writer.write_table(data, max_chunksize=2)


WRITERS = pytest.mark.parametrize("write", [parquet, arrow, stream])


@WRITERS
@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array(LENGTHS),
        pyarrow.array(LENGTHS, pyarrow.uint16()),
        pyarrow.array([float(n) for n in LENGTHS]),
        pyarrow.array([[1] * n for n in LENGTHS]),
        pyarrow.array([[1] * n for n in LENGTHS], pyarrow.large_list(pyarrow.int8())),
    ],
    ids=["int64", "uint16", "double", "list", "large_list"],
)
def test_a_column_of_integers_or_lists(tmp_path, write, column):
    path = tmp_path / "trace"
    write(path, table(n=column))
    read = stowage.read_lengths(path, column="n")
    assert read.dtype == np.int64 and list(read) == LENGTHS


def test_no_rows(tmp_path):
    arrow(tmp_path / "none.arrow", pyarrow.table({"n": pyarrow.array([], pyarrow.int64())}))
    assert stowage.read_lengths(tmp_path / "none.arrow", "n").shape == (0,)


@WRITERS
def test_every_row_that_is_no_length_is_listed(tmp_path, write):
    path = tmp_path / "trace"
    write(path, table(n=pyarrow.array([4, None, -5]), f=pyarrow.array([0.5, 2.0, float("nan")])))
    with pytest.raises(stowage.InputError) as refused:
        stowage.read_lengths(path, "n")
    assert [(e.code, e.pointer) for e in refused.value.errors] == [
        ("E402", f"{path}[1]"),
        ("E402", f"{path}[2]"),
    ]
    assert refused.value.errors[0].message.endswith("is missing")
    with pytest.raises(stowage.InputError) as refused:
        stowage.read_lengths(path, "f")
    assert [e.pointer for e in refused.value.errors] == [f"{path}[0]", f"{path}[2]"]


@WRITERS
def test_columns_and_types_that_cannot_be_lengths(tmp_path, write):
    path = tmp_path / "trace"
    write(path, table(n=pyarrow.array(LENGTHS)))
    for column, code in ((None, "E404"), ("m", "E404"), ("text", "E405")):
        with pytest.raises(stowage.InputError) as refused:
            stowage.read_lengths(path, column)
        assert [e.code for e in refused.value.errors] == [code]
    whole = path.read_bytes()
    for size in range(8, len(whole), 97):
        path.write_bytes(whole[:size])
        try:
            assert set(stowage.read_lengths(path, "n")) <= set(LENGTHS)  # batches before the cut
        except stowage.InputError as error:
            assert {e.code for e in error.errors} <= {"E402", "E404", "E405"}


def test_a_data_set_on_disk(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"input_ids": [[1] * n for n in (5, 9)]})
    rows.save_to_disk(tmp_path / "set")
    (file,) = (tmp_path / "set").glob("data-*.arrow")
    assert list(stowage.read_lengths(file, "input_ids")) == [5, 9]


def test_an_index_of_megatron_core(tmp_path):
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    torch = pytest.importorskip("torch")
    builder = indexed.IndexedDatasetBuilder(str(tmp_path / "d.bin"), dtype=np.uint16)
    for lengths in ([5, 4], [7]):
        builder.add_document(torch.zeros(sum(lengths), dtype=torch.int32), lengths)
    builder.finalize(str(tmp_path / "d.idx"))
    assert list(stowage.read_lengths(tmp_path / "d.idx")) == [9, 7]


def test_files_of_numpy_and_compressed_files(tmp_path):
    for dtype in (np.int64, np.uint16, ">i4"):
        np.save(tmp_path / "a.npy", np.array(LENGTHS, dtype))
        assert list(stowage.read_lengths(tmp_path / "a.npy")) == LENGTHS
    np.savez(tmp_path / "a.npz", np.array(LENGTHS))
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"7\n"))
    np.save(tmp_path / "o.npy", np.array([[1], None], object), allow_pickle=True)
    np.save(tmp_path / "two.npy", np.ones((2, 2), np.int64))
    for name in ("a.npz", "a.gz", "o.npy", "two.npy"):
        with pytest.raises(stowage.InputError) as refused:
            stowage.read_lengths(tmp_path / name)
        assert [e.code for e in refused.value.errors] == ["E405"]
