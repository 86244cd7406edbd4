"""Parameters and stages: listed with their documentation, set, left out, reported, refused."""

import json
import os
import pickle
import subprocess

import pytest

import stowage
from conftest import drawn, two

COMMAND = os.environ.get("STOWAGE")

FAMILIES = ["scatter", "assign", "layout", "order", "strategy"]


@pytest.mark.parametrize("family", FAMILIES)
def test_each_parameter_is_documented(family):
    rows = stowage.params(family)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.least <= row.default <= row.most
        assert row.unit and row.evidence and row.effect.startswith("More: ")
        if row.integral:
            assert row.default == int(row.default)
    names = [stage.name for stage in stowage.stages(family)]
    assert len(set(names)) == len(names)


@pytest.mark.skipif(COMMAND is None, reason="no command was built")
def test_lists_are_those_of_the_command():
    for family in FAMILIES:
        document = json.loads(subprocess.check_output([COMMAND, "params", family, "--json"]))
        listed = [row["name"] for row in document["parameters"]]
        assert listed == [row.name for row in stowage.params(family)]
        assert [row["name"] for row in document["stages"]] == [
            row.name for row in stowage.stages(family)
        ]
    assert "lns.moves" in {row.name for row in stowage.params("scatter")}


def test_a_parameter_changes_the_search(cluster):
    lengths = drawn(60, 1)
    usual = stowage.Planner(cluster, method="auto", node_limit=30)
    other = stowage.Planner(
        cluster, method="auto", node_limit=30, params={"lns.moves": 20, "multistart.moves": 1}
    )
    assert usual.plan(lengths).plan != other.plan(lengths).plan
    again = stowage.Planner(
        cluster,
        method="auto",
        node_limit=30,
        params={"lns.moves": 2000.0},  # the default
    )
    assert usual.plan(lengths).plan == again.plan(lengths).plan


def test_a_pickled_planner_keeps_its_settings(cluster):
    planner = stowage.Planner(cluster, params={"multistart.moves": 7}, without=["quick_bound"])
    copy = pickle.loads(pickle.dumps(planner))
    assert copy.search == planner.search
    assert copy.search.params == {"multistart.moves": 7.0}
    assert copy.search.without == ("quick_bound",)


def test_an_outcome_reports_settings_and_stages():
    instance = two()
    settings = {"lns.moves": 50, "lns.cycle": 8, "rounds.dives": 3}  # lns.cycle is the default
    outcome = stowage.solve(instance, node_limit=20, params=settings, without=["subset_dp", "lns"])
    document = outcome.to_dict()
    assert document["parameters"] == {"lns.moves": 50, "rounds.dives": 3}
    assert document["without"] == ["subset_dp", "lns"]
    ran = [stage.name for stage in outcome.stages]
    assert ran and "lns" not in ran and outcome.stages[0].first_plan
    assert outcome.stages[0].runs == 1
    stowage.verify(instance, document)
    assert "parameters" not in stowage.solve(instance, node_limit=20).to_dict()


def test_every_solve_takes_them(cluster):
    settings = dict(params={"lns.moves": 50}, without=["lns"])
    row = stowage.compare(two(), methods=["auto"], node_limit=5, **settings)[0]
    assert row.outcome.to_dict()["without"] == ["lns"]
    assert stowage.explain(two(), node_limit=5, **settings)["binds"]
    assert stowage.Planner(cluster, **settings).plan([100, 200]).objective_ms > 0


def test_mistakes_are_named_all_at_once(cluster):
    wrong = {"lns.move": 5, "lns.cycle": 0, "rounds.dives": 1.5, "qqqq": 1}
    with pytest.raises(stowage.InputError) as raised:
        stowage.Planner(cluster, params=wrong, without=["lms", "lns"])
    errors = {(entry.code, entry.pointer): entry.message for entry in raised.value.errors}
    assert "did you mean 'lns.moves'?" in errors["E703", "params/lns.move"]
    assert "stowage.params('scatter') lists them" in errors["E703", "params/lns.move"]
    assert "whole number from 1 to 1000, is 0" in errors["E703", "params/lns.cycle"]
    assert "whole number from 1 to 1000, is 1.5" in errors["E703", "params/rounds.dives"]
    assert "did you mean" not in errors["E703", "params/qqqq"]
    assert "'lms' is no stage of scatter; did you mean 'lns'?" in errors["E702", "without"]
    assert len(raised.value.errors) == 5
    with pytest.raises(stowage.InputError, match="E703 params/lns.moves.*, is nan"):
        stowage.solve(two(), params={"lns.moves": float("nan")})


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"params": ["lns.moves"]}, "params: must be a mapping of names to numbers"),
        ({"params": {"lns.moves": "many"}}, r"params\['lns.moves'\]: must be a number"),
        ({"params": {5: 1}}, "params: must be a text, is 5"),
        ({"without": "lns"}, "without: must be a list"),
        ({"without": [5]}, "without: must be a text, is 5"),
    ],
    ids=str,
)
def test_refuses_types(cluster, wrong, said):
    with pytest.raises(stowage.InputTypeError, match=said):
        stowage.Planner(cluster, **wrong)
    with pytest.raises(stowage.InputTypeError, match=said):
        stowage.solve(two(), **wrong)


def test_an_unknown_family_is_named():
    for listed in (stowage.params, stowage.stages):
        with pytest.raises(ValueError, match="family: must be one of scatter, .*, is scater"):
            listed("scater")
