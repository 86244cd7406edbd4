"""Tests of the tables and profiles, on results that are small enough to compute by hand."""
import io
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import profile_svg  # noqa: E402  (the path comes first)
import records  # noqa: E402
import tables  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def result(instance, method, objective, bound, **more):
    return {"record": "result", "suite": "suite", "instance": instance, "problem": "scatter",
            "size": 512, "devices": 64, "method": method, "kind": "ours", "seed": 0,
            "time_limit_s": None, "status": "optimal" if objective == bound else "feasible",
            "stopped_by": "", "objective": objective, "bound": bound, "bound_by": method,
            "method_bound": None, "found_by": "", "cpu_s": 1, "wall_s": 1, "first_s": None,
            "best_s": None, "nodes": 0, "memory_mib": 1, "plan": "", **more}


class Reading(unittest.TestCase):
    def fault_of(self, line):
        with self.assertRaises(records.Fault) as caught:
            records.read_results(io.StringIO(GOOD + line), "results.jsonl")
        return str(caught.exception)

    def test_errors_name_the_line(self):
        self.assertRegex(self.fault_of("nonsense\n"), "^results.jsonl:2: ")
        self.assertRegex(self.fault_of("3\n"), "^results.jsonl:2: must be an object")
        self.assertRegex(self.fault_of('{"record": "result", "suite": 3}\n'),
                         "^results.jsonl:2: suite has the wrong type")
        self.assertRegex(self.fault_of('{"record": "result", "suite": "s"}\n'),
                         "^results.jsonl:2: instance is missing")
        self.assertRegex(self.fault_of(GOOD.replace('"size"', '"sizes": 3, "size"')),
                         "^results.jsonl:2: sizes is unknown")
        self.assertRegex(self.fault_of(GOOD.replace('"bound": 1.5', '"bound": null')),
                         "^results.jsonl:2: bound has the wrong type")

    def test_what_may_be_missing(self):
        setup = ('{"record": "setup", "date": "2026-01-31", "commit": "", "cpu": "c", "cores": 2,'
                 ' "memory_gib": 23.5, "system": "s", "compiler": "g++", "backends": ""}\n')
        setups, results = records.read_results(io.StringIO(setup + GOOD), "")
        self.assertEqual(setups[0]["protocol"], 1)
        self.assertIsNone(results[0]["method_bound"])
        self.assertEqual(tables.setup_line(setups[0]), "2026-01-31, commit unknown, c (2 cores, "
                         "23.5 GiB), s, g++, MILP by nobody\n")


GOOD = ('{"record": "result", "suite": "s", "instance": "i", "problem": "layout", "size": 3, '
        '"devices": 0, "method": "fast", "kind": "ours", "seed": 0, "time_limit_s": null, '
        '"status": "feasible", "stopped_by": "", "objective": 2, "bound": 1.5, "bound_by": "load", '
        '"found_by": "", "cpu_s": 0.1, "wall_s": 0.1, "first_s": 0.1, "best_s": 0.1, "nodes": 0, '
        '"memory_mib": 1}\n')


class Summary(unittest.TestCase):
    def test_the_best_of_all_runs_is_known(self):
        best = records.best_known([result("a", "x", 12, 8), result("a", "y", 10, 7),
                                   result("a", "z", 11, 9), result("b", "x", 5, 5)])
        self.assertEqual(best["a"], {"objective": 10, "objective_by": "y",
                                     "bound": 9, "bound_by": "z"})
        self.assertAlmostEqual(records.relative_gap(10, 9), 0.1)
        self.assertEqual(records.relative_gap(5, 5), 0)
        self.assertEqual(records.relative_gap(0, 0), 0)

    def test_each_method_against_its_bound_and_the_best(self):
        results = [result("a", "x", 12, 9, cpu_s=0.1), result("b", "x", 5, 5, cpu_s=0.3),
                   result("a", "y", 10, 9),
                   result("b", "y", None, 0, time_limit_s=2, cpu_s=2)]
        x, y, limited = records.summarise(results)
        self.assertEqual((x["method"], x["instances"], x["planned"], x["proven"]), ("x", 2, 2, 1))
        self.assertAlmostEqual(x["median_gap"], 0.125)
        self.assertAlmostEqual(x["worst_gap"], 0.25)
        self.assertAlmostEqual(x["worst_excess"], 0.2)
        self.assertEqual(x["most_cpu_s"], 0.3)
        self.assertEqual(y["method"], "y")
        self.assertEqual((limited["method"], limited["planned"]), ("y 2 s", 0))
        rows = tables.summary_table(results).splitlines()
        self.assertEqual(rows[2], "| x | ours | 2 | 2 | 1 | 12.50 % | 25.00 % | 10.00 % | 20.00 % "
                         "| 0.175 | 0.300 |")
        self.assertEqual(rows[4], "| y 2 s | ours | 1 | 0 | 0 | - | - | - | - | 2.000 | 2.000 |")

    def test_middle_and_mean(self):
        self.assertEqual(records.median([]), 0)
        self.assertEqual(records.median([3, 1, 2]), 2)
        self.assertEqual(records.median([4, 1, 2, 3]), 2.5)
        self.assertAlmostEqual(records.shifted_geometric_mean([1, 7], 1), 3)

    def test_instances_and_details(self):
        results = [result("a", "x", 12345.6, 9, first_s=0.5, best_s=12.34),
                   result("a", "y", 9, 9), result("b", "y", None, 7)]
        self.assertEqual(tables.instance_table(results).splitlines()[2:],
                         ["| a | 512 | 64 | 9.0 | x | 9.0 | 0.00 % | 12346 | 9.0* |",
                          "| b | 512 | 64 | 7.0 | y | - | - | - | - |"])
        self.assertEqual(tables.detail_table(results).splitlines()[2:4],
                         ["| a | x | 12346 | 9.0 | x | 99.93 % | 0.500 | 12.3 | - | 0 |",
                          "| a | y | 9.0 | 9.0 | y | 0.00 % | - | - | 1.000 | 0 |"])
        self.assertIn("| 3 |", tables.detail_table([result("a", "x", 3, 2, problem="layout")]))

    def test_older_protocols_are_told_in_a_history(self):
        run = [result("a", "x", 12, 9)]
        text = tables.history_table([([{"date": "d", "commit": "c", "protocol": 1}], run),
                                     ([{"date": "e", "commit": "f", "protocol": 2}], run)])
        self.assertIn("| d [1] | c | suite | x | 1 | 0 | 25.00 % | 25.00 % | 1.000 |", text)
        self.assertIn("| e | f | suite |", text)


class Parts(unittest.TestCase):
    def test_the_rule_is_that_of_the_runner(self):
        # Bit 32 of cbf29ce484222325, af63dc4c8601ec8c and 85944171f73967e8, as in suite_test.cc.
        self.assertEqual([records.part_of(name) for name in ("", "a", "foobar")],
                         ["tune", "tune", "report"])

    def test_each_part_has_a_row_of_its_own(self):
        rows = tables.parts_table([result("a", "x", 12, 9), result("foobar", "x", 5, 5),
                                   result("foobar", "y", 10, 9)]).splitlines()[2:]
        cells = [[cell.strip() for cell in row.split("|")[1:6]] for row in rows]
        self.assertEqual(cells, [["x", "tune", "1", "1", "0"], ["x", "report", "1", "1", "1"],
                                 ["y", "report", "1", "1", "0"]])


class Headline(unittest.TestCase):
    def test_has_medians_over_our_plans(self):
        table = tables.headline_table([
            result("a", "auto", 100, 90, time_limit_s=10), result("a", "batch-ada", 150, 90),
            result("a", "megatron-dynamic", 120, 0), result("a", "fast", 101, 90, cpu_s=0.05),
            result("b", "auto", 200, 200, time_limit_s=10), result("b", "batch-ada", 200, 0),
            result("b", "flexsp", 220, 0), result("b", "fast", 200, 200, cpu_s=0.07),
            result("c", "batch-ada", 1, 0)])
        self.assertEqual(table.splitlines()[0], "| over 2 real steps | median (range) |")
        self.assertIn("| step time with the best single degree for all groups, over ours "
                      "| 1.25 (1.00 to 1.50) |", table)
        self.assertIn("dynamic planner, over ours | 1.20", table)
        self.assertIn("published planner, over ours | 1.10", table)
        self.assertIn("| proven gap of our plan after 10 s | 5.00 (0.00 to 10.00) % |", table)
        self.assertIn("| CPU time of our planner for training loops | 60 (50 to 70) ms |", table)


class Gains(unittest.TestCase):
    def test_ratios_to_the_default_method_by_length_list(self):
        def step(instance, method, objective, **more):
            seconds = 20 if method == "flexsp" else 0.04
            return result(instance, method, objective, 90, cpu_s=seconds, **more)
        docs = "7b-64gpu-docs_md-"
        table = tables.gains_table([
            step(docs + "0", "auto", 100), step(docs + "0", "batch-ada", 150),
            step(docs + "0", "fast", 101), step(docs + "1", "auto", 100),
            step(docs + "1", "batch-ada", 130), step(docs + "1", "flexsp", 110),
            step(docs + "1", "megatron-dynamic", 105), step(docs + "0", "verl", 120),
            step(docs + "0", "megatron-hybrid", 115), step(docs + "1", "bytescale", 125),
            step("7b-64gpu-chat-0", "auto", 100),
            step(docs + "0", "flexsp-chunks", 120, method_bound=108)])
        self.assertIn("| docs_md | 2 | 1.40 (1.30 to 1.50) | 1.05 (1.05 to 1.05) | "
                      "1.15 (1.15 to 1.15) | 1.25 (1.25 to 1.25) | "
                      "1.20 (1.20 to 1.20) | - | 1.10 (1.10 to 1.10) | "
                      "1.08 (1.08 to 1.08) | 1.010 (1.010 to 1.010) | 10.00 (10.00 to 10.00) | "
                      "20 s | 40 ms |", table)
        self.assertIn("| chat | 1 | - | - | - | - | - | - | - | - | - | 10.00 (10.00 to 10.00) | - | - |",
                      table)
        self.assertIn("| all | 3 | 1.40", table)

    def test_no_ratios_without_the_default_method(self):
        self.assertIn("| step | 1 | - | - | - | - | - | - | - | - | - | - | - | - |",
                      tables.gains_table([result("step", "fast", 101, 90)]))


class Exchanges(unittest.TestCase):
    def test_compare_the_choice_with_the_best_single_kind(self):
        results = [result("step-all-to-all", "fast", 120, 90), result("step-ring", "fast", 110, 90),
                   result("step-all-gather", "fast", 130, 90),
                   result("step-two-level", "fast", 150, 90),
                   result("step-choice", "fast", 100, 90)]
        table = tables.exchange_table(results)
        self.assertIn("| step | 120.0 | 110.0 | 130.0 | 150.0 | 100.0 | 10.00 % | 1.100 |", table)
        self.assertTrue(table.endswith("| median |  |  |  |  |  |  | 1.100 |\n"))


class Rules(unittest.TestCase):
    def test_compare_each_step_with_itself_without_them(self):
        results = []
        for step, plain, ruled, peer in [("7b-docs_md-0", 100, 101, 110),
                                         ("7b-docs_md-1", 200, 206, 206)]:
            results += [result(step, "fast", plain, plain),
                        result(step, "megatron-dynamic", 220, 90),
                        result(step + "-rules", "fast", ruled, plain, cpu_s=2),
                        result(step + "-rules", "megatron-dynamic", peer, 90)]
        table = tables.rules_table(results)
        self.assertIn("| docs_md | 2 | 1.020 (1.010 to 1.030) | 1.000 (1.000 to 1.000) | "
                      "1.95 (0.99 to 2.91) | 1.0446 (1.0000 to 1.0891) | "
                      "1.6500 (1.1000 to 2.2000) | 2.00 (2.00 to 2.00) |", table)
        self.assertIn("| all | 2 |", table)


class Options(unittest.TestCase):
    def test_compare_each_step_with_itself_without_any(self):
        table = tables.options_table([result("a", "fast", 100, 90, cpu_s=0.04),
                                      result("a-options-rules", "fast", 100, 95, cpu_s=0.05),
                                      result("a-rules", "fast", 100, 80, cpu_s=0.06)])
        self.assertIn("| a | 40 | 10.00 % | 50 | 5.00 % | 1.25 | 60 | 20.00 % | 1.50 |", table)
        self.assertTrue(table.endswith("| median |  |  |  |  | 1.25 |  |  | 1.50 |\n"))


class Pipelines(unittest.TestCase):
    def test_compare_what_was_planned_for_a_pipeline_with_what_was_not(self):
        results = [result("step-p4", "fast", 100, 90), result("step-p4-flat", "fast", 120, 0),
                   result("step-p4", "auto", 95, 95), result("step-p8", "fast", 200, 180),
                   result("step-p8-flat", "fast", 200, 0)]
        table = tables.pipeline_table(results)
        self.assertIn("| step-p4 | 120.0 | 100.0 | 1.200 | 10.00 % | 95.0 | 0.00 % |", table)
        self.assertIn("| step-p8 | 200.0 | 200.0 | 1.000 | 10.00 % |  |  |", table)
        self.assertIn("| median |  |  | 1.100 | 10.00 % |  | 0.00 % |", table)


class Filling(unittest.TestCase):
    def test_replaces_what_stands_between_the_markers(self):
        text = tables.filled("before\n<!-- table history - -->\nan old table\n"
                             "<!-- end of table -->\nafter\n", ROOT)
        self.assertIn("before\n<!-- table history - -->\n| date |", text)
        self.assertIn("|\n<!-- end of table -->\nafter\n", text)
        self.assertNotIn("old", text)

    def test_the_site_has_more_tables(self):
        text = tables.for_site("before\n<!-- site table history - -->\n*On the site.*\nafter\n", ROOT)
        self.assertTrue(text.startswith("before\n| date |") and text.endswith("|\nafter\n"))
        self.assertNotIn("On the site", text)
        with self.assertRaises(records.Fault) as caught:
            tables.for_site("\n<!-- site table summary nowhere none.jsonl -->\n", ROOT)
        self.assertIn("line 2", str(caught.exception))

    def test_the_site_shows_tables_as_they_were_printed(self):
        table = "| a | b |\n|---|---:|\n| x | 1 |\n"
        for file, right in ((table, True), ("Errors.\n\n" + table + "\nMemory.\n\n" + table, True),
                            (table + "| y |\n", False), ("| a |\n|---|\n", False),
                            ("Errors.\n", False), ("", False)):
            with self.subTest(file=file), tempfile.TemporaryDirectory() as folder:
                Path(folder, "t.txt").write_text(file, encoding="utf-8")
                page = "<!-- site table printed - t.txt -->\n*On the site.*\n"
                if right:
                    self.assertEqual(tables.for_site(page, Path(folder)), file)
                else:
                    with self.assertRaises(records.Fault) as caught:
                        tables.for_site(page, Path(folder))
                    self.assertIn("t.txt", str(caught.exception))

    def test_says_which_marker_is_wrong(self):
        def fault_of(document):
            with self.assertRaises(records.Fault) as caught:
                tables.filled(document, ROOT)
            return str(caught.exception)
        end = "\n<!-- end of table -->\n"
        self.assertIn("line 2", fault_of("\n<!-- table history - -->\n"))
        self.assertIn("none.jsonl", fault_of("<!-- table summary nowhere none.jsonl -->" + end))
        self.assertIn("suite with results", fault_of("<!-- table summary scatter -->" + end))
        self.assertIn("one of summary", fault_of(
            "<!-- table nonsense growth bench/results/0.1.0/growth.jsonl -->" + end))

    def test_every_document_has_tables(self):
        for name in tables.DOCUMENTS:
            self.assertIn("\n" + tables.TABLE, (ROOT / name).read_text(encoding="utf-8"))
        self.assertIn("\n" + tables.PROFILE, (ROOT / "bench/results/0.1.0/README.md").read_text(encoding="utf-8"))


class Profile(unittest.TestCase):
    def titles(self, svg):
        return [e.text for e in ElementTree.fromstring(svg.encode()).iter(SVG + "title")]

    def test_measures_against_the_best_bound_of_all_results(self):
        # The second method proves 100 on x, so the first method's plan is optimal despite its own
        # lower bound.
        results = [result("x", "one", 100, 50), result("y", "one", None, 10),
                   result("x", "two", 200, 100), result("y", "two", 20, 20)]
        svg = profile_svg.profile_svg(results)
        self.assertEqual(self.titles(svg), ["one: 1 of 2 instances planned",
                                            "two: 2 of 2 instances planned"])
        # half of the instances, at the left end
        self.assertIn('points="72,238 72,238 72,148 784,148"', svg)
        results[0], results[1] = results[1], results[0]
        self.assertEqual(profile_svg.profile_svg(results), svg)

    def test_counts_instances_within_the_gap(self):
        # Four instances, three planned: a quarter at the left end, a half at 1 %, three at 10 %.
        svg = profile_svg.profiles([("four", 4, [("a<b>", 0, [0.1, 0.0, 0.01])])])
        self.assertEqual(self.titles(svg), ["a<b>: 3 of 4 instances planned"])
        # The plot is 180 px high and begins at x = 72; 0.01 % to 10 % are three decades of 712 px.
        self.assertIn('<polyline class="l1" points="72,238 72,238 72,193 546.67,193 546.67,148 '
                      '784,148 784,103 784,103">', svg)

    def test_tells_many_methods_apart(self):
        methods = [(f"method {m}", m, [0.01 * m]) for m in range(14)]
        svg = profile_svg.profiles([("many", 1, methods)])
        root = ElementTree.fromstring(svg.encode())
        self.assertEqual(len({e.get("class") for e in root.iter(SVG + "polyline")}), 14)
        # Names in the legend end before the next mark and before the edge.
        marks = [(float(e.get("y1")), float(e.get("x1"))) for e in root.iter(SVG + "line")
                 if e.get("class").startswith("l")]
        for y, x in marks:
            end = x + 26 + profile_svg.text_width("method 10")
            self.assertLessEqual(end, min([a for b, a in marks if b == y and a > x], default=800))

    def test_needs_no_plan(self):
        self.titles(profile_svg.profiles([("none", 2, [("nothing", 0, [])])]))

    def test_a_method_looks_the_same_in_all_suites(self):
        results = [result("x", "one", 2, 1), result("x", "one", 2, 1, time_limit_s=5),
                   result("x", "two", 2, 1, suite="other"), result("x", "one", 2, 1, suite="other")]
        svg = profile_svg.profile_svg(results)
        looks = [line.split('"')[1] for line in svg.splitlines() if line.startswith("<polyline")]
        self.assertEqual(looks, ["l1", "l5", "l2", "l1"])


if __name__ == "__main__":
    unittest.main()
