"""Tests the NumPy reader of trainer files in docs/reference/trainer.md.

usage: trainer_numpy_test.py STOWAGE SOURCE_DIR      exit code 77 without NumPy

For scatter and assign steps, padded and not: both forms of the file rebuild the plan they were made
of, and the loss denominators sum to the tokens of the step.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy (Debian: python3-numpy)")
    sys.exit(77)

STOWAGE, SOURCE = sys.argv[1:]
PAGE = pathlib.Path(SOURCE, "docs", "reference", "trainer.md").read_text(encoding="utf-8")
BLOCKS = PAGE.split("\n```python\n")[1:]
assert len(BLOCKS) == 1, "docs/reference/trainer.md has one reader"
exec(BLOCKS[0].split("\n```")[0])  # defines read_trainer

STEPS = {
    "scatter": ["generate", "scatter", "--preset", "gpt-7b", "--count", "300", "--seed", "3"],
    "unpadded": ["generate", "scatter", "--preset", "gpt-7b", "--count", "50", "--pad-multiple", "1"],
    "assign": ["generate", "assign", "--preset", "llama-32b", "--seed", "5"],
    "targets": ["generate", "scatter", "--preset", "gpt-7b", "--count", "40", "--seed", "9"],
    "away": ["generate", "scatter", "--preset", "gpt-7b", "--count", "200", "--seed", "3", "--devices", "16",
             "--offload", "24"],
    "empty": ["generate", "scatter", "--count", "0"],
}


def stowage(*words):
    subprocess.run([STOWAGE, *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


def rows_of(plan):
    """Returns a plan's packed rows by (micro-batch, group)."""
    if plan["problem"] == "scatter":
        return {(m, g): group for m, micro_batch in enumerate(plan["micro_batches"])
                for g, group in enumerate(micro_batch["groups"])}
    return {(j, r): row for r, replica in enumerate(plan["replicas"])
            for j, row in enumerate(replica["rows"])}


def check(instance, plan, binary, text):
    rows = rows_of(plan)
    pad = instance["pad_multiple"]
    lengths = np.array(instance["lengths"], np.int64)
    assert len(text["batches"]) == len(rows) == len(binary["micro_batch"])
    for b, batch in enumerate(text["batches"]):
        # The JSON form and the binary form must agree.
        for key in ("micro_batch", "group", "degree", "stages", "max_seqlen"):
            assert binary[key][b] == batch[key], key
        for key in ("sequences", "position_resets", "cu_seqlens", "cu_seqlens_padded"):
            assert binary[key][b].dtype == np.dtype("<i4")
            assert binary[key][b].tolist() == batch[key], key
        assert binary["loss_denominators"][b] == batch["loss_denominator"]
        ranks = list(range(binary["first_rank"][b], binary["first_rank"][b] + len(batch["ranks"])))
        assert ranks == batch["ranks"] and len(ranks) == batch["degree"] * batch["stages"]

        # The plan, reconstructed from the file alone.
        row = rows.pop((batch["micro_batch"], batch["group"]))
        assert batch["sequences"] == row["sequences"]
        assert batch["cu_seqlens_padded"] == row["cu_seqlens"]
        assert binary["cu_seqlens_padded"][b][-1] == row["tokens"]
        if plan["problem"] == "scatter":
            assert batch["degree"] == row["degree"] and ranks[0] == row["first_rank"]
            assert batch.get("offload", 0) == row.get("offload", 0)
        else:
            scheme = instance["schemes"][plan["replicas"][batch["group"]]["scheme"]]
            assert (batch["degree"], batch["stages"]) == (scheme["tp"], scheme["pp"])

        # The values that the trainer would compute itself.
        own = lengths[batch["sequences"]]
        padded = -(-own // pad) * pad
        assert np.array_equal(np.diff(binary["cu_seqlens"][b]), own)
        assert np.array_equal(np.diff(binary["cu_seqlens_padded"][b]), padded)
        assert batch["max_seqlen"] == padded.max()
        positions = np.arange(row["tokens"])
        positions -= np.repeat(binary["position_resets"][b], padded)
        assert np.array_equal(np.flatnonzero(positions == 0), binary["position_resets"][b])
    if text["version"] == 4:
        assert binary["offload"].tolist() == [batch["offload"] for batch in text["batches"]]
    assert not rows, "every row of the plan is in the file"

    # The schedule of every rank: each batch is on its ranks, and no other rank is busy.
    schedule = binary["schedule"]
    devices = instance["cluster"]["devices"] if "cluster" in instance else instance["devices"]
    assert schedule.shape == (text["ranks"], text["micro_batches"])
    assert text["ranks"] == devices and schedule.tolist() == text["schedule"]
    for b, batch in enumerate(text["batches"]):
        assert np.flatnonzero(schedule[:, batch["micro_batch"]] == b).tolist() == batch["ranks"]
    assert (schedule >= 0).sum() == sum(len(batch["ranks"]) for batch in text["batches"])

    # The loss counts every target of the step once; by default all tokens are targets.
    targets = np.array(instance.get("loss_tokens", instance["lengths"]), np.int64)
    away = any(row.get("offload") for row in rows_of(plan).values())
    assert text["version"] == (4 if away else 2 if "loss_tokens" in instance else 1)
    for b, batch in enumerate(text["batches"]):
        if text["version"] == 2:
            assert binary["loss_tokens"][b].tolist() == batch["loss_tokens"]
            assert np.array_equal(batch["loss_tokens"], targets[batch["sequences"]])
        assert batch["loss_denominator"] == targets[batch["sequences"]].sum()
    assert binary["loss_denominators"].sum() == targets.sum() == binary["loss_denominator"]
    assert text["loss_denominator"] == targets.sum()


def main():
    for name, words in STEPS.items():
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            stowage(*words, "-o", at / "step.json")
            if name == "targets":
                step = json.loads((at / "step.json").read_text(encoding="utf-8"))
                step["loss_tokens"] = [length * i // 50 for i, length in enumerate(step["lengths"])]
                (at / "step.json").write_text(json.dumps(step), encoding="utf-8")
            stowage("solve", at / "step.json", "--method", "fast", "-o", at / "plan.json")
            stowage("convert", at / "step.json", at / "step.bin", "--plan", at / "plan.json")
            stowage("convert", at / "step.json", at / "t.json", "--plan", at / "plan.json")
            stowage("convert", at / "t.json", at / "again.bin")
            assert (at / "again.bin").read_bytes() == (at / "step.bin").read_bytes()
            read = lambda file, at=at: json.loads((at / file).read_text(encoding="utf-8"))
            # The page that was executed above defines read_trainer().
            if name == "away":
                assert read("t.json")["version"] == 4, "the case has a group that offloads"
            check(read("step.json"), read("plan.json"), read_trainer(at / "step.bin"), read("t.json"))  # noqa: F821
            print(name, "holds", len(read("t.json")["batches"]), "batches")


main()
