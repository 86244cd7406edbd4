"""tune.py searches on the tune part alone, pairs its runs, and writes what it found."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BENCH, STOWAGE = sys.argv[1:3]
sys.path.insert(0, str(ROOT / "bench"))

import tune  # noqa: E402  (the path comes first)


class Tune(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.here = Path(cls.directory.name)
        suite = cls.here / "suite.json"
        suite.write_text(json.dumps(
            {"suites": {"small": [{"drawn_assign": seed} for seed in range(6)]}}))
        for part in ("tune", "report"):
            subprocess.run([BENCH, suite, "small", "--part", part, "--write", cls.here / part],
                           check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_it(self, *more):
        return subprocess.run(
            [sys.executable, "-B", ROOT / "bench" / "tune.py", STOWAGE, "assign",
             self.here / "tune", "--node-limit", "20", "--method", "fast", *more],
            capture_output=True, text=True, check=False)

    def test_parts_are_those_of_the_benchmark(self):
        for part in ("tune", "report"):
            written = sorted((self.here / part).glob("*.json"))
            self.assertTrue(written)
            names = {json.loads(path.read_text())["name"] for path in written}
            self.assertEqual(set(tune.instances_in(self.here / part, part)), names)
            other = "report" if part == "tune" else "tune"
            with self.assertRaises(tune.Fault):
                tune.instances_in(self.here / part, other)

    def test_the_same_values_change_nothing(self):
        instances = tune.instances_in(self.here / "tune", "tune")
        run = self.run_it("--vary", "lns.ruins", "--trials", "1")  # `fast` has no such stage
        self.assertEqual(run.returncode, 0, run.stderr)
        evidence = json.loads(run.stdout)
        self.assertEqual(evidence["instances"], list(instances))
        trial = evidence["trials"][0]
        self.assertEqual((trial["plan_change"], trial["plans_better"], trial["plans_worse"]),
                         (0, 0, 0))
        self.assertIsNone(evidence["best"])

    def test_steps_halve_and_double(self):
        run = self.run_it("--vary", "fast.few", "--steps")
        self.assertEqual(run.returncode, 0, run.stderr)
        trials = json.loads(run.stdout)["trials"]
        self.assertEqual([trial["values"] for trial in trials],
                         [{"fast.few": 48}, {"fast.few": 192}])
        again = json.loads(self.run_it("--vary", "fast.few", "--steps").stdout)["trials"]
        for trial in trials + again:
            self.assertGreater(trial.pop("cpu_ratio"), 0)
        self.assertEqual(trials, again)

    def test_unknown_parameters_are_refused(self):
        run = self.run_it("--vary", "fast.fev")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("fast.fev is no parameter of assign", run.stderr)

    def test_changes_are_relative_and_paired(self):
        defaults = {"a": {"objective": 100, "bound": 90, "seconds": 1},
                    "b": {"objective": 50, "bound": 50, "seconds": 1}}
        trial = {"a": {"objective": 99, "bound": 90, "seconds": 3},
                 "b": {"objective": 50, "bound": 40, "seconds": 1}}
        row = tune.compared(defaults, trial)
        self.assertAlmostEqual(row["plan_change"], -0.005)
        self.assertEqual((row["plans_better"], row["plans_worse"]), (1, 0))
        self.assertAlmostEqual(row["bound_change"], -0.1)
        self.assertEqual((row["bounds_lower"], row["cpu_ratio"]), (1, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
