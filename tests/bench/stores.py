#!/usr/bin/env python3
"""Runs rowan_bench_stores, PyTorch, FBGEMM, NumPy and fio in turns, and prints one table of ratios.

The peers run in the environment that peers.py makes (`python3 tests/bench/peers.py --tiny` creates it). Nothing else
should run on the machine. --file names a file of 4 GiB that is made if it is not there, on the disk to be measured.

    python3 tests/bench/stores.py [--rounds 3] [--threads 1,2] [--file FILE] [--tiny]
"""

import json
import pathlib
import shutil
import subprocess

from machine import arguments, numbers, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_stores")
parser.add_argument("--threads", type=numbers, default=[1, 2], help="such as 1,2")
parser.add_argument("--file", help="a file on the disk to be measured")
parser.add_argument("--depth", type=int, default=33, help="reads of fio that are in flight: as many as rowan has by default")
args = parser.parse_args()


def fio():
    """Random reads of 4 KiB in a second, by fio."""
    if not args.file or shutil.which("fio") is None:
        return []
    command = ["fio", "--name=r", f"--filename={args.file}", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", "--thread"]
    command += [f"--numjobs={args.depth}", "--group_reporting", "--time_based", "--runtime=3", "--readonly", "--output-format=json"]
    result = json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout)
    return [{"peer": "fio", "op": "cold, direct", "table": "file", "pages_s": result["jobs"][0]["read"]["iops"]}]


best = {}  # (op, table, threads) -> peer -> the best line
worker = [str(pathlib.Path(args.venvs) / "fb/bin/python"), str(HERE / "peers/torch_stores.py")]
for _ in range(args.rounds):
    for threads in args.threads:
        options = ["--threads", str(threads)] + (["--tiny"] if args.tiny else []) + (["--file", args.file] if args.file else [])
        for program in ([args.rowan], worker):
            output = subprocess.run(program + options, check=True, text=True, capture_output=True).stdout
            for line in map(json.loads, output.splitlines()):
                peers = best.setdefault((line["op"], line["table"], threads), {})
                if line["peer"] not in peers or line["ms"] < peers[line["peer"]]["ms"]:
                    peers[line["peer"]] = line
        for line in fio():
            peers = best.setdefault((line["op"], line["table"], threads), {})
            if "fio" not in peers or line["pages_s"] > peers["fio"]["pages_s"]:
                peers["fio"] = line

print(f"Processor: {processor()}.")
print(f"Million rows a second, the best of {args.rounds} rounds; in brackets, how many times a peer's rate rowan's is.\n")
print("| operation | table | threads | rowan | peers |")
print("| --- | --- | ---: | ---: | --- |")
for (op, table, threads), peers in best.items():
    if "rowan" not in peers:
        continue
    mine = peers.pop("rowan")
    cells = []
    for name, line in peers.items():
        unit = "pages_s" if name == "fio" else "million_rows_s"
        rate = f"{line[unit] / 1e3:.0f} thousand pages/s" if name == "fio" else f"{line[unit]:.1f}"
        cells.append(f"{name} {rate} ({mine[unit] / line[unit]:.2f}x)")
    extra = f", {mine['pages_s'] / 1e3:.0f} thousand pages/s, {mine['bytes_of_pages']:.3f} times their bytes read" if "pages_s" in mine else ""
    print(f"| {op} | {table} | {threads} | {mine['million_rows_s']:.1f}{extra} | {', '.join(cells)} |")
