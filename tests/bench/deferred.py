#!/usr/bin/env python3
"""Runs rowan_bench_deferred and PyTorch in turns, and prints one table of the times of steps, and one of the errors of closed forms of missed steps. Needs
20 GB of memory. With --errors it prints only the second one, which takes a second.

PyTorch runs in the environment that peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else
should run on the machine.

    python3 tests/bench/deferred.py [--rounds 1] [--threads 1,2] [--op momentum] [--flush] [--tiny] [--errors]

All of it takes an hour; an optimizer, named as in the table, five minutes. --flush measures flushes, too, which takes
minutes for each L2 penalty.
"""

import json
import pathlib
import subprocess

from machine import arguments, numbers, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_deferred", rounds=1)
parser.add_argument("--threads", type=numbers, default=[1, 2], help="such as 1,2")
parser.add_argument("--op", help="only this optimizer, such as momentum")
parser.add_argument("--flush", action="store_true", help="measure flushes, too")
parser.add_argument("--errors", action="store_true", help="only the table of errors")
args = parser.parse_args()

best = {}  # (op, threads) -> (peer, how) -> ms
worker = [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / "peers/torch_deferred.py")]
for _ in range(0 if args.errors else args.rounds):
    for threads in args.threads:
        for program in ([args.rowan], worker):
            options = ["--threads", str(threads)] + (["--tiny"] if args.tiny else []) + (["--op", args.op] if args.op else [])
            if args.flush and program == [args.rowan]:
                options.append("--flush")
            output = subprocess.run(program + options, check=True, text=True, capture_output=True).stdout
            for line in map(json.loads, output.splitlines()):
                times = best.setdefault((line["op"], threads), {})
                key = line["peer"], line["how"]
                times[key] = min(line["ms"], times.get(key, line["ms"]))

if best:
    print(f"Processor: {processor()}.")
    print(f"Milliseconds a step, the best of {args.rounds}; in brackets, how many times as long as a deferred step it takes. The closed form took turns with lazy")
    print("steps of its own, and the number beside it is the ratio to these.\n")
    print("| optimizer | threads | deferred | closed form | lazy | PyTorch, lazy | dense | PyTorch, dense |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for (op, threads), times in best.items():
    mine, closed = times["rowan", "deferred"], times["rowan", "closed form"]
    cells = [f"{mine:.2f}, {mine / times['rowan', 'lazy']:.1f} times lazy", f"{closed:.2f}, {closed / times['rowan', 'lazy, closed form']:.1f} times lazy"]
    for key in (("rowan", "lazy"), ("torch", "lazy"), ("rowan", "dense"), ("torch", "dense")):
        cells.append(f"{times[key]:.2f} ({times[key] / mine:.2f}x)" if key in times else "")
    print(f"| {op} | {threads} | {' | '.join(cells)} |")
if args.flush:
    print("\nMilliseconds of a flush after all steps, exact and with the closed form:\n")
    for (op, threads), times in best.items():
        print(f"- {op}, threads {threads}: {times['rowan', 'flush']:.0f}, {times['rowan', 'flush, closed form']:.0f}")

print("\nWhat Adam with its default options moves in missed steps, relative to dense updates. The formula with the square root and the corrections of the first")
print("step is HugeCTR's, that of the last step Caffe2's, which has no corrections.\n")
print("| step | missed | √v / epsilon | rowan | of the first step | of the last step |")
print("| ---: | ---: | ---: | ---: | ---: | ---: |")
for line in map(json.loads, subprocess.run([args.rowan, "--errors"], check=True, text=True, capture_output=True).stdout.splitlines()):
    print(f"| {line['step']:,} | {line['gap']:,} | {line['ratio']:g} | {line['rowan']:.0e} | {line['HugeCTR']:+.1%} | {line['Caffe2']:+.1%} |")
