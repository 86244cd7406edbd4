"""What a run prints for people."""

from __future__ import annotations

import sys
from typing import Any, Mapping

_LISTED = 40  # rows of the table


def tell(document: Mapping[str, Any]) -> None:
    def say(line: str) -> None:
        print(line, file=sys.stderr)

    say(
        f"scale     lengths divided by {document['scale']}, "
        f"{document['work_flop'] / 1e9:.3g} GFLOP; {document['notes'][0]}"
    )
    say(
        f"{'micro-batch':>11}  {'group':>5}  {'degree':>6}  {'sequences':>9}  {'tokens':>7}  "
        f"{'predicted ms':>12}  {'here ms':>11}  {'measured ms':>11}"
    )
    rows = document["groups"]
    for row in rows[:_LISTED]:
        say(
            f"{row['micro_batch']:>11}  {row['group']:>5}  {row['degree']:>6}  "
            f"{row['sequences']:>9}  {row['tokens']:>7}  {row['predicted_ms']:>12.4g}  "
            f"{row['predicted_here_ms']:>11.4g}  {row['measured_ms']:>11.4g}"
        )
    if len(rows) > _LISTED:
        say(f"and {len(rows) - _LISTED} more groups")
    for name in ("output", "input_gradient", "weight_gradient"):
        check = document[name]
        if check["compared"]:
            verdict = "pass" if check["passed"] else "FAIL"
            say(
                f"{name.replace('_', ' '):<16}{check['compared']} compared, worst error "
                f"{check['error']:.1e}, tolerance {check['tolerance']:.0e}: {verdict}"
            )
    here = ""
    if "prediction" in document:
        off = document["prediction"]
        say(
            f"model     rows are predicted from {off['packs']} other packs timed beside them: off by "
            f"{off['median_error']:.2%} in the median, {off['worst_error']:.2%} at worst; the step "
            f"by {off['step_error']:.2%}"
        )
        here = f", here at scale predicted {document['predicted_here_ms']:.4g} ms"
    say(
        f"{'pass' if document['passed'] else 'fail'}  predicted {document['predicted_ms']:.4g} ms "
        f"at full length{here}, measured {document['measured_ms']:.4g} ms"
    )
