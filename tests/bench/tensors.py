#!/usr/bin/env python3
"""Runs rowan_bench_tensors and PyTorch in turns, and prints one table of ratios.

PyTorch runs in the environment that peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else
should run on the machine.

    python3 tests/bench/tensors.py [--rounds 3] [--threads 1] [--tiny]
"""

import argparse
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rowan", default=str(ROOT / "build/bench/tests/bench/rowan_bench_tensors"), help="its program")
parser.add_argument("--venvs", default=str(ROOT / "build/venvs"), help="folder of the peers' environments")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
args = parser.parse_args()

options = ["--threads", str(args.threads)] + (["--tiny"] if args.tiny else [])
programs = {
    "rowan": [args.rowan] + options,
    "PyTorch": [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / "peers/torch_tensors.py")] + options,
}
best = {}  # op -> peer -> least ms
for _ in range(args.rounds):
    for peer, program in programs.items():
        for text in subprocess.run(program, check=True, text=True, capture_output=True).stdout.splitlines():
            line = json.loads(text)
            peers = best.setdefault(line["op"], {})
            peers[peer] = min(peers.get(peer, line["ms_min"]), line["ms_min"])

print(f"Least time in ms of {args.rounds} rounds, threads: {args.threads}; in brackets, how many times rowan's.\n")
print("| | rowan | PyTorch |")
print("|---|---:|---:|")
for op, ms in best.items():
    print(f"| {op} | {ms['rowan']:.3f} | {ms['PyTorch']:.3f} ({ms['PyTorch'] / ms['rowan']:.1f}x) |")
