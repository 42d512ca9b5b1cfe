#!/usr/bin/env python3
"""Runs rowan_bench_cuda and PyTorch in turns on one GPU, and prints one table: times, shares of a copy's bandwidth, ratios.

    cmake --preset cuda -DROWAN_BENCH=ON -DCMAKE_CUDA_ARCHITECTURES=native
    cmake --build --preset cuda --target rowan_bench_cuda
    python3 tests/bench/cuda.py [--rounds 3] [--python PYTHON] [--tiny]

PYTHON has torch for CUDA; without it, only rowan is measured.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from machine import processor

HERE = pathlib.Path(__file__).resolve().parent


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{command[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rowan", default=str(HERE.parent.parent / "build/cuda/tests/bench/rowan_bench_cuda"), help="its program")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    args = parser.parse_args()
    tiny = ["--tiny"] if args.tiny else []
    best, facts = {}, {}
    for _ in range(args.rounds):
        for line in run([args.rowan, *tiny]) + run([args.python, str(HERE / "cuda/torch_rows.py"), *tiny]):
            if "op" not in line:
                facts |= line
            elif "ms" in line:
                place = best.setdefault((line["op"], line["ids"]), {})
                if line["ms"] < place.get(line["peer"], {"ms": float("inf")})["ms"]:
                    place[line["peer"]] = line
    if not best:
        sys.exit("nothing was measured")
    print(", ".join(f"{name}: {value}" for name, value in {"processor": processor(), **facts}.items()))
    print("\n| operation | ids | rowan ms | GB/s by the byte model | of a copy | PyTorch ms | PyTorch / rowan | PyTorch's way |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for (op, ids), place in best.items():
        ours, torch = place.get("rowan"), place.get("torch")
        if not ours:
            continue
        cells = [op, ids, f"{ours['ms']:.3f}", f"{ours['gbs']:.0f}", f"{ours['of_copy']:.0%}"]
        cells += [f"{torch['ms']:.3f}", f"{torch['ms'] / ours['ms']:.1f}x", torch["way"]] if torch else ["-", "-", "-"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
