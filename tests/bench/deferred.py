#!/usr/bin/env python3
"""Runs rowan_bench_deferred and PyTorch in turns, and prints one table of the times of steps. Needs 20 GB of memory.

PyTorch runs in the environment that peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else
should run on the machine.

    python3 tests/bench/deferred.py [--rounds 1] [--threads 1,2] [--tiny]
"""

import json
import pathlib
import subprocess

from machine import arguments, numbers, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_deferred", rounds=1)
parser.add_argument("--threads", type=numbers, default=[1, 2], help="such as 1,2")
args = parser.parse_args()

best = {}  # (op, threads) -> (peer, how) -> ms
worker = [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / "peers/torch_deferred.py")]
for _ in range(args.rounds):
    for threads in args.threads:
        for program in ([args.rowan], worker):
            options = ["--threads", str(threads)] + (["--tiny"] if args.tiny else [])
            output = subprocess.run(program + options, check=True, text=True, capture_output=True).stdout
            for line in map(json.loads, output.splitlines()):
                times = best.setdefault((line["op"], threads), {})
                key = line["peer"], line["how"]
                times[key] = min(line["ms"], times.get(key, line["ms"]))

print(f"Processor: {processor()}.")
print(f"Milliseconds a step, the best of {args.rounds}; in brackets, how many times as long as a deferred step it takes.\n")
print("| optimizer | threads | deferred | lazy | PyTorch, lazy | dense | PyTorch, dense | flush, ms |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for (op, threads), times in best.items():
    mine = times["rowan", "deferred"]
    cells = [f"{mine:.2f}, {mine / times['rowan', 'lazy']:.1f} times lazy"]
    for key in (("rowan", "lazy"), ("torch", "lazy"), ("rowan", "dense"), ("torch", "dense")):
        cells.append(f"{times[key]:.2f} ({times[key] / mine:.2f}x)" if key in times else "")
    print(f"| {op} | {threads} | {' | '.join(cells)} | {times['rowan', 'flush']:.0f} |")
