#!/usr/bin/env python3
"""Runs rowan_bench_sequence and its peers in turns, and prints one table of ratios.

The peers run in the environments that peers.py makes (`python3 tests/bench/peers.py --tiny` creates them); missing
ones are skipped. Nothing else should run on the machine.

    python3 tests/bench/sequences.py [--rounds 3] [--threads 2] [--width 64] [--tiny]
"""

import json
import pathlib
import subprocess

from machine import arguments, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_sequence")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--width", type=int, default=64)
args = parser.parse_args()

options = [f"--threads={args.threads}", f"--width={args.width}"] + (["--tiny"] if args.tiny else [])
programs = [[args.rowan, "--threads", str(args.threads), "--width", str(args.width)] + (["--tiny"] if args.tiny else [])]
for environment, worker in (("fb", "torch_sequence.py"), ("tf", "tensorflow_sequence.py")):
    python = pathlib.Path(args.venvs) / environment / "bin/python"
    if python.exists():
        programs.append([str(python), str(HERE / "peers" / worker)] + options)

best = {}  # (batch, op) -> peer -> (least ms, way)
lines = {}
for _ in range(args.rounds):
    for program in programs:
        for text in subprocess.run(program, check=True, text=True, capture_output=True).stdout.splitlines():
            line = json.loads(text)
            if "error" in line:
                print(f"{line['peer']}, {line['way']}: {line['error']}")
                continue
            peers = best.setdefault((line["batch"], line["op"]), {})
            name = line.get("way", "rowan")
            if name not in peers or line["ms_min"] < peers[name]:
                peers[name] = line["ms_min"]
                if name == "rowan":
                    lines[line["batch"], line["op"]] = line

print(f"Processor: {processor()}.")
print(f"Least time in ms of {args.rounds} rounds, {args.threads} threads, {args.width} floats a row; in brackets, how many times rowan's.\n")
print("| batch | operation | rowan | ns per token | GB/s | of memcpy | peers |")
print("| --- | --- | ---: | ---: | ---: | ---: | --- |")
for (batch, op), peers in best.items():
    mine = lines[batch, op]
    others = [f"{way} {ms:.2f} ({ms / mine['ms_min']:.1f}x)" for way, ms in peers.items() if way != "rowan"]
    print(f"| {batch}, {mine['rows']} rows | {op} | {mine['ms_min']:.2f} | {mine['ns_per_token']:.1f} | {mine['gbs']:.1f} | {mine['of_memcpy']:.0%} | {', '.join(others)} |")
