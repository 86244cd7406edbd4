"""Compares the peaks of ONNX models with and without outputs in place.

    PYTHONPATH=build/release/python python3 bench/graphs/onnx_in_place.py [MODEL.onnx ...] > onnx_in_place.md

Prints one row for each model: operators, the least peak if every tensor has memory of its own, the
least peak if element-wise nodes may write over an input that ends with them and views share the memory
of their tensor, whether both are proven, the ratio, and the outputs in place. Weights are left out: they
are in memory at all steps. Without arguments the models are the light ones of the package onnx. The
exit status is 1 if a peak is not proven within --seconds, or rises.
"""

import argparse
import pathlib
import sys

import onnx

import stowage
import stowage.onnx


def solved(path, in_place, seconds):
    instance = stowage.onnx.order_instance(path, weights=False, in_place=in_place)
    return instance, stowage.solve(instance, time_limit=seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=5, help="for each peak; default 5")
    given = parser.parse_args()
    light = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    print("| model | operators | alone, MiB | in place, MiB | ratio | outputs in place | proven |")
    print("|---|---|---|---|---|---|---|")
    good = True
    for path in given.models or sorted(light.glob("*.onnx")):
        instance, alone = solved(path, False, given.seconds)
        _, shared = solved(path, True, given.seconds)
        proven = alone.status == shared.status == "optimal"
        ratio = shared.objective / alone.objective
        good = good and proven and ratio <= 1
        print(
            f"| {path.stem.removeprefix('light_')} | {len(instance['operators'])} | "
            f"{alone.objective / 2**20:.2f} | {shared.objective / 2**20:.2f} | {ratio:.3f} | "
            f"{len(shared.plan.get('in_place', []))} | {'both' if proven else 'no'} |",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
