"""Tests of files that are not UTF-8, as editors and spreadsheets write them: E102 with the place,
as in the command."""

import json

import pytest

import stowage
import stowage.calibrate
from conftest import two

TABLE = "degree,lengths_tokens,time_ms\n1,128,3.5\n1,256,5.9\n"


@pytest.fixture
def files(tmp_path):
    """Returns paths of a document and of a table in several encodings, and of a document in UTF-8."""

    def put(name, content):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    document = json.dumps(dict(two(), name="é\nü"), ensure_ascii=False, indent=1)
    return {
        "utf-16": put("u.json", document.encode("utf-16")),
        "latin-1": put("l.json", document.encode("latin-1")),
        "table": put("t.csv", TABLE.encode("utf-16")),
        "accents": put("a.csv", (TABLE + "2,é,7\n").encode("latin-1")),
        "cut": put("c.json", document.encode()[: document.encode().index("ü".encode()) + 1]),
        "good": put("g.json", json.dumps(two()).encode()),
    }


READERS = {
    "solve": stowage.solve,
    "methods": stowage.methods,
    "compare": stowage.compare,
    "explain": stowage.explain,
    "Cluster.load": stowage.Cluster.load,
    "verify": lambda path: stowage.verify(two(), path),
    "start": lambda path: stowage.solve(two(), start=path),
    "explain a plan": lambda path: stowage.explain(two(), path),
    "OrderRows": lambda path: stowage.OrderRows(path, {}),
    "arrange": lambda path: stowage.arrange(path, {}),
    "with_cost": stowage.Cluster.preset(devices=8).with_cost,
    "read_trainer": stowage.read_trainer,
    "fit": stowage.calibrate.fit,
}


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cut"])
@pytest.mark.parametrize("reader", READERS)
def test_readers_name_the_place(files, reader, encoding):
    path = files[encoding]
    with pytest.raises(stowage.InputError) as raised:
        READERS[reader](path)
    (entry,) = raised.value.errors
    if reader == "read_trainer":  # its bytes have no name
        assert entry.code in ("E102", "E101")
        return
    assert entry.code == "E102" and "must be UTF-8 text, is byte" in entry.message
    place = {"utf-16": "1:1", "latin-1": "5:11", "cut": "5:14"}[encoding]
    assert entry.pointer.endswith(place) and path.split("/")[-1] in str(raised.value)


@pytest.mark.parametrize("name, place", [("table", "1:1"), ("accents", "4:3")])
def test_tables_name_the_place(files, name, place):
    with pytest.raises(stowage.InputError, match=f"E102 {files[name]}:{place}: must be UTF-8"):
        stowage.calibrate.fit(files[name])


def test_names_of_files_that_are_not_unicode():
    for call in (stowage.solve, stowage.Cluster.load, stowage.calibrate.fit, stowage.read_trainer):
        with pytest.raises(stowage.InputTypeError, match="must be Unicode text"):
            call("\udcff.json")


def test_what_is_missing_is_named(tmp_path):
    for call in (stowage.solve, stowage.Cluster.load, stowage.calibrate.fit):
        with pytest.raises(stowage.InputError, match="E110 .*none.json"):
            call(tmp_path / "none.json")
