"""The table of offload of strategies in bench/results/0.1.0/README.md: models on H100s, 8 to 64 GPUs.

usage: python3 bench/terms/strategy_offload.py STOWAGE [MIB_PER_MS]

STOWAGE is the command. Each case is solved by `auto`, first with all activations on the devices, then
with activations that leave for the host at MIB_PER_MS each way, default 24: PCIe 4 of one GPU. Each
row has both steps and the largest share of a stage that is on the host. The exit code is 1 if a step
is longer with offload, if a plan is not proven optimal, or if the median step is no shorter.
"""
import json
import statistics
import subprocess
import sys

# Model, nodes of 8 GPUs, sequences, tokens of each.
CASES = [
    ("llama3-8b", 1, 64, "8K"),
    ("llama3-8b", 1, 16, "32K"),
    ("llama3-8b", 1, 8, "128K"),
    ("llama3-8b", 1, 8, "256K"),
    ("llama3-70b", 8, 256, "8K"),
    ("llama3-70b", 8, 64, "32K"),
    ("llama3-70b", 8, 64, "128K"),
    ("qwen3-32b", 4, 32, "64K"),
    ("qwen3-30b-a3b", 4, 32, "64K"),
]


def call(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr[-500:]}")
    return done.stdout


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    stowage = sys.argv[1]
    rate = sys.argv[2] if len(sys.argv) > 2 else "24"
    wrong = []
    ratios = []
    print("| model | GPUs | sequences | tokens | without, s | with, s | ratio | on the host |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for model, nodes, sequences, tokens in CASES:
        outcomes = []
        for more in ((), ("--offload", rate)):
            step = call(stowage, "generate", "strategy", "--preset", model, "--machine", "h100", "--nodes", str(nodes),
                        "--sequences", str(sequences), "--tokens", tokens, *more)
            outcomes.append(json.loads(call(stowage, "solve", "-", text=step)))
        without, away = (outcome["objective_ms"] for outcome in outcomes)
        share = max(stage.get("offload", 0) for stage in outcomes[1]["plan"]["stages"])
        ratios.append(away / without)
        print(f"| {model} | {8 * nodes} | {sequences} | {tokens} | {without / 1000:.1f} | {away / 1000:.1f} | "
              f"{ratios[-1]:.3f} | {share:.0%} |", flush=True)
        if away > without * (1 + 1e-9) or any(outcome["status"] != "optimal" for outcome in outcomes):
            wrong.append(f"{model} of {tokens} tokens: {without} ms, {away} ms")
    median = statistics.median(ratios)
    print(f"\nIn the median {median:.3f}, at best {min(ratios):.3f}.")
    if median >= 1:
        wrong.append(f"the median step is {median} times as long")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
