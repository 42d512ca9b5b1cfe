#!/usr/bin/env python3
"""Runs rowan_bench_tensors, or with --small rowan_bench_small, and PyTorch in turns, and prints one table of ratios.

If the same program was built for this processor (`…_native`), it takes turns, too. PyTorch runs in the environment that
peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else should run on the machine.

    python3 tests/bench/tensors.py [--small] [--rounds 3] [--threads 1] [--tiny]
"""

import argparse
import json
import pathlib
import subprocess

from machine import native, processor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def measure(programs, rounds):
    """The least ms of each case by each program: op -> rows, None if it says none -> program -> ms."""
    best = {}
    for _ in range(rounds):
        for name, program in programs.items():
            for text in subprocess.run(program, check=True, text=True, capture_output=True).stdout.splitlines():
                line = json.loads(text)
                ms = best.setdefault(line["op"], {}).setdefault(line.get("rows"), {})
                ms[name] = min(ms.get(name, line["ms_min"]), line["ms_min"])
    return best


def compiled(ms):
    return f"{ms['native'] / ms['rowan']:.2f}" if "native" in ms else "-"


def table(best):
    print("| | rowan | native / shipped | PyTorch |")
    print("|---|---:|---:|---:|")
    for op, sizes in best.items():
        ms = sizes[None]
        print(f"| {op} | {ms['rowan']:.3f} | {compiled(ms)} | {ms['PyTorch']:.3f} ({ms['PyTorch'] / ms['rowan']:.1f}x) |")


def table_of_small(best):
    rows = list(next(iter(best.values())))
    print("| | " + " | ".join(f"{n:,} row{'s' * (n > 1)} | PyTorch" for n in rows) + " | native / shipped |")
    print("|---|" + "---:|" * (2 * len(rows) + 1))
    for op, sizes in best.items():
        cells = [f"{1e6 * ms['rowan']:.0f} | {1e6 * ms['PyTorch']:.0f} ({ms['PyTorch'] / ms['rowan']:.1f}x)" for ms in sizes.values()]
        print(f"| {op} | {' | '.join(cells)} | {', '.join(compiled(ms) for ms in sizes.values())} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="calls with few rows, in nanoseconds")
    parser.add_argument("--rowan", help="its program, as shipped")
    parser.add_argument("--venvs", default=str(ROOT / "build/venvs"), help="folder of the peers' environments")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    args = parser.parse_args()

    kind = "small" if args.small else "tensors"
    rowan = args.rowan or str(ROOT / f"build/bench/tests/bench/rowan_bench_{kind}")
    options = ["--threads", str(args.threads)] + (["--tiny"] if args.tiny else [])
    programs = {"rowan": [rowan, *options]}
    if native(rowan):
        programs["native"] = [native(rowan), *options]
    programs["PyTorch"] = [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / f"peers/torch_{kind}.py"), *options]
    best = measure(programs, args.rounds)

    print(f"Processor: {processor()}.")
    print(f"Least time in {'ns' if args.small else 'ms'} of {args.rounds} rounds, threads: {args.threads}; in brackets, how many times rowan's.\n")
    (table_of_small if args.small else table)(best)


if __name__ == "__main__":
    main()
