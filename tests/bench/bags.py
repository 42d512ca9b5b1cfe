#!/usr/bin/env python3
"""Runs rowan_bench_bags, PyTorch and FBGEMM in turns, and prints one table of ratios.

The peers run in the environment that peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else
should run on the machine.

    python3 tests/bench/bags.py [--rounds 3] [--threads 1,2] [--widths 16,64,128] [--tiny]
"""

import json
import pathlib
import subprocess

from machine import arguments, numbers, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_bags")
parser.add_argument("--threads", type=numbers, default=[1, 2], help="such as 1,2")
parser.add_argument("--widths", type=numbers, default=[16, 64, 128], help="floats per row")
args = parser.parse_args()

worker = [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / "peers/torch_bags.py")]
best = {}  # (op, pooling, width, threads) -> peer -> least ms
for _ in range(args.rounds):
    for threads in args.threads:
        for width in args.widths:
            options = ["--threads", str(threads), "--width", str(width)] + (["--tiny"] if args.tiny else [])
            for program in ([args.rowan], worker):
                output = subprocess.run(program + options, check=True, text=True, capture_output=True).stdout
                for line in map(json.loads, output.splitlines()):
                    op, _, way = line["op"].partition(", ")
                    times = best.setdefault((op, line["pooling"], width, threads), {})
                    name = way or line["peer"]
                    times[name] = min(times.get(name, line["ms"]), line["ms"])

print(f"Processor: {processor()}.")
print(f"Least time in ms of {args.rounds} rounds; in brackets, how many times rowan's.\n")
print("| operation | ids a bag | width | threads | rowan | 26 calls | FBGEMM | PyTorch |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for (op, pooling, width, threads), times in best.items():
    mine = times["rowan"]
    cells = [f"{times[name]:.2f} ({times[name] / mine:.1f}x)" if name in times else "-" for name in ("26 calls", "fbgemm", "torch")]
    print(f"| {op} | {pooling} | {width} | {threads} | {mine:.2f} | {' | '.join(cells)} |")
