"""Tests that stowage_bench_verify confirms the files that stowage_bench kept, and refuses files
that changed since."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH, VERIFY = sys.argv[1:3]
SUITE = {"suites": {"small": [{"buffers": {"kind": "random", "buffers": 20, "steps": 30,
                                           "bytes": 1000, "seed": s}} for s in (1, 2)]}}


class Verify(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        here = Path(self.directory.name)
        self.suite, self.plans, self.results = here / "suite.json", here / "plans", here / "r.jsonl"
        self.suite.write_text(json.dumps(SUITE))
        run = subprocess.run([BENCH, self.suite, "small", "fast", "--plans", self.plans],
                             capture_output=True, text=True, check=True)
        self.results.write_text(run.stdout)

    def verify(self):
        return subprocess.run([VERIFY, self.suite, self.plans, self.results],
                              capture_output=True, text=True, check=False)

    def test_confirms_what_was_kept(self):
        run = self.verify()
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout, "Every plan behind these 2 results was verified anew.\n")

    def test_counts_every_fault(self):
        for plan in self.plans.iterdir():
            plan.unlink()
        run = self.verify()
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("2 results are not what their plans say\n", run.stderr)

    def test_results_that_say_more_than_their_plans(self):
        setup, first, second = self.results.read_text().splitlines()
        record = json.loads(first)
        record["objective"] -= 1
        self.results.write_text("\n".join([setup, json.dumps(record), second]) + "\n")
        run = self.verify()
        self.assertEqual(run.returncode, 1)
        self.assertIn("objective", run.stderr)

    def test_instances_that_the_suite_does_not_have(self):
        self.suite.write_text(json.dumps({"suites": {"small": SUITE["suites"]["small"][:1]}}))
        run = self.verify()
        self.assertEqual(run.returncode, 1)
        self.assertIn("the suite has no such instance", run.stderr)

    def test_what_cannot_be_read(self):
        self.results.write_text("nonsense\n")
        self.assertEqual(self.verify().returncode, 2)
        self.results.unlink()
        self.assertEqual(self.verify().returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
