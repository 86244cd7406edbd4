"""The table of mixed micro-batches in bench/results/0.1.0/README.md: six lists on 64 GPUs.

usage: python3 bench/terms/mixed.py STOWAGE

STOWAGE is the command. Each step has 512 sequences of a list, groups of one device or of all that
exchange by all-to-all, and is solved by `fast` without and with mixed micro-batches whose work hides
all of an exchange, and by `skrull` with them. Each row has the three steps, `fast` with them beside both others, and its gap to
the proven bound. The exit code is 1 if `fast` with mixed micro-batches is behind one of the others.
"""
import json
import statistics
import subprocess
import sys

LISTS = ["arxiv_long", "chat_sharegpt", "code_files", "docs_md", "laws_de", "mix_longalign_style"]
CLUSTERS = [("gpt-7b on A100", ("--preset", "gpt-7b")), ("llama3-8b on H100", ("--preset", "llama3-8b", "--machine", "h100"))]


def call(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr[-500:]}")
    return done.stdout


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stowage = sys.argv[1]
    ratios, behind = [], []
    print("| cluster | list | without, s | skrull, s | with, s | to without | to skrull | gap |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for cluster, flags in CLUSTERS:
        for name in LISTS:
            made = [stowage, "generate", "scatter", *flags, "--devices", "64", "--degrees", "local-or-sharded", "--lengths",
                    f"instances/data/lengths/{name}.txt", "--count", "512"]
            mixed = call(*made, "--mixed", "1")
            same = json.loads(mixed)
            del same["mixed"]
            plain = json.dumps(same)
            solved = [json.loads(call(stowage, "solve", "-", "--method", method, text=step))
                      for method, step in (("fast", plain), ("skrull", mixed), ("fast", mixed))]
            without, skrull, ours = (outcome["objective_ms"] for outcome in solved)
            ratios.append((ours / without, ours / skrull))
            print(f"| {cluster} | `{name}` | {without / 1000:.2f} | {skrull / 1000:.2f} | {ours / 1000:.2f} | {ours / without:.3f} | "
                  f"{ours / skrull:.3f} | {solved[2]['gap']:.1%} |", flush=True)
            if ours > min(without, skrull) * (1 + 1e-9):
                behind.append(f"{cluster}, {name}: {ours} ms, behind {min(without, skrull)} ms")
    for column, other in enumerate(("without", "skrull")):
        values = [row[column] for row in ratios]
        print(f"\nTo {other}: {statistics.median(values):.3f} in the median, {min(values):.3f} at best.")
    for line in behind:
        print(line, file=sys.stderr)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
