"""Documents of every kind that the product reads: the samples, and the files that the command makes
from them."""

import pathlib
import struct
import subprocess

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"


class Pool:
    """Files by their names. A sample NAME has NAME.json, NAME-plan.json, NAME-outcome.json, ..."""

    def __init__(self, stowage, directory):
        self.stowage, self.directory = stowage, directory
        directory.mkdir(parents=True, exist_ok=True)
        for sample in SAMPLES.glob("*.*"):
            (directory / sample.name).write_bytes(sample.read_bytes())
        self.instances = sorted(sample.stem for sample in SAMPLES.glob("*.json"))
        for name in self.instances:
            self.make_of(name)
        self.make_others()
        self.files = {path.name: path.read_bytes() for path in sorted(directory.iterdir()) if path.is_file()}

    def call(self, *arguments, stdout=None):
        done = subprocess.run([self.stowage, *arguments], cwd=self.directory, capture_output=True, check=False)
        if stdout and done.stdout:
            (self.directory / stdout).write_bytes(done.stdout)

    def make_of(self, name):
        instance, plan = f"{name}.json", f"{name}-plan.json"
        layout = ("--layout", f"{name}-layout.json") if name.startswith("order") else ()
        self.call("solve", instance, "-o", plan, "--node-limit", "100", *layout, stdout=f"{name}-outcome.json")
        self.call("compare", instance, "--node-limit", "10", "--methods", "fast,auto",
                  stdout=f"{name}-comparison.json")
        if name.startswith(("scatter", "assign")):
            self.call("convert", instance, f"{name}-trainer.json", "--plan", plan)
            self.call("convert", instance, f"{name}-trainer.bin", "--plan", plan)

    def make_traces(self):
        """Writes files of lengths as traces and data sets have them."""
        lengths = [100, 20, 35, 7, 64]
        (self.directory / "trace.csv").write_text("TIME,Model,tokens\n" + "".join(
            f'{i},"a ""b"", c",{n}\n' for i, n in enumerate(lengths)))
        (self.directory / "trace.jsonl").write_text("".join(
            f'{{"time": {i}, "usage": {{"tokens": {n}}}, "ids": [0]}}\n' for i, n in enumerate(lengths)))
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(lengths)},), }}".ljust(117) + "\n"
        (self.directory / "array.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<5q", *lengths))
        (self.directory / "documents.idx").write_bytes(
            b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, 5, 4) + struct.pack("<5i", *lengths) +
            struct.pack("<5q", *(2 * sum(lengths[:i]) for i in range(5))) + struct.pack("<4q", 0, 2, 4, 5))

    def make_others(self):
        (self.directory / "lengths.txt").write_text("".join(f"{100 + i * 37 % 1000 * 9}\n" for i in range(12)))
        (self.directory / "lengths.json").write_text('{"lengths": [100, 20, 35, 7, 64]}\n')
        (self.directory / "work.json").write_text('{"lengths": [100, 20, 35, 7], "rows": [[[0], [1, 2]], [[3]]]}\n')
        (self.directory / "groups.json").write_text(
            '{"lengths": [100, 20, 35, 7], "sample_id_groups": [[[0], [0]], [[1, 2], [3]]]}\n')
        (self.directory / "steps.jsonl").write_text('[608, 1040]\n{"lengths": [608, 1040], "x-id": 3}\n[64]\n')
        self.make_traces()
        rows = ["degree,lengths_tokens,time_ms,peak_mib"]
        for i in range(36):
            degree, sequences = 1 << i % 3, 1 + i // 3 % 4 * 5
            tokens = degree * (200 + 137 * (i // 3 * 7 % 24)) // sequences
            everything = tokens * sequences
            ms = 3 + (1e-4 * tokens * everything + 0.05 * everything) / degree + (degree > 1) * 4 * degree
            rows.append(f"{degree},{' '.join([str(tokens)] * sequences)},{ms},{2000 + 1.5 * everything / degree}")
        (self.directory / "samples.csv").write_text("\n".join(rows) + "\n")
        self.call("fit", "samples.csv", "-o", "cost.json", "--mib-per-token", "0.75")
        self.call("fit", "samples.csv", "-o", "cost-table.json", "--table")
        self.call("partition", "lengths.txt", "--bins", "3", stdout="partition.json")
        self.call("convert", "table.csv", "table.json")
