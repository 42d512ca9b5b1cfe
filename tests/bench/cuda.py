#!/usr/bin/env python3
"""Runs rowan_bench_cuda, and PyTorch and FBGEMM, in turns on one GPU, and prints one table: times, shares of a copy's bandwidth, ratios.

    cmake --preset cuda -DROWAN_BENCH=ON -DCMAKE_CUDA_ARCHITECTURES=native
    cmake --build --preset cuda --target rowan_bench_cuda
    python3 tests/bench/cuda.py [--rounds 3] [--python PYTHON] [--tiny]

PYTHON has torch for CUDA, and perhaps fbgemm_gpu; without them, only rowan is measured.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys

from machine import processor

HERE = pathlib.Path(__file__).resolve().parent
failed = []  # the programs that did not end well


def run(command):
    """Yields the lines of JSON that a program prints, as it prints them."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            if line.startswith("{") and line.endswith("}\n"):
                yield json.loads(line)
            else:
                print(line, end="", file=sys.stderr)
    if program.returncode:
        print(f"{' '.join(command)} ends with status {program.returncode}", file=sys.stderr)
        failed.append(command[0])


def measure(args, ours, peers, facts):
    """Keeps the best line of each measurement."""
    tiny = ["--tiny"] if args.tiny else []
    for _ in range(args.rounds):
        for line in itertools.chain(run([args.rowan, *tiny]), run([args.python, str(HERE / "cuda/peers.py"), *tiny])):
            if "op" not in line:
                facts |= line
            elif "ms" in line:
                place = (line["op"], line["case"])
                best = ours if line["peer"] == "rowan" else peers.setdefault(place, {})
                key = place if best is ours else f"{line['peer']}: {line['way']}"
                if line["ms"] < best.get(key, {"ms": float("inf")})["ms"]:
                    best[key] = line
            elif "error" in line:
                print(f"{line['peer']}, {line['op']}, {line['case']}: {line['error']}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rowan", default=str(HERE.parent.parent / "build/cuda/tests/bench/rowan_bench_cuda"), help="its program")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    args = parser.parse_args()
    ours, peers, facts = {}, {}, {}
    try:
        measure(args, ours, peers, facts)
    except KeyboardInterrupt:
        print("interrupted: these are the measurements until then", file=sys.stderr)
    if not ours:
        sys.exit("nothing was measured")
    print(", ".join(f"{name}: {value}" for name, value in {"processor": processor(), **facts}.items()))
    print("\n| operation | case | rowan ms | GB/s by the byte model | of a copy | peers: times as long |")
    print("|---|---|---:|---:|---:|---|")
    for (op, case), line in ours.items():
        speed = [f"{line['gbs']:.0f}", f"{line['of_copy']:.0%}"] if line["gbs"] else ["-", "-"]
        others = (f"{name} {other['ms'] / line['ms']:.2f}x" for name, other in peers.get((op, case), {}).items())
        print("| " + " | ".join([op, case, f"{line['ms']:.3f}", *speed, "; ".join(others) or "-"]) + " |")
    if args.rowan in failed:
        sys.exit(f"{args.rowan} did not end well")


if __name__ == "__main__":
    main()
