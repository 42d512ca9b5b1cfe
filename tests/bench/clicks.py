#!/usr/bin/env python3
"""The click model of examples/click_model.cpp beside DLRMs in PyTorch of the same sizes, in turns, on the same log.

rowan reads the log from its file, parses it and gives rows to new keys while it trains; PyTorch's batches are tensors
before the clock runs, and its ids are keys modulo the rows of a table. Prints examples per second, the best of all turns,
of rowan also without the time to read the log, and the AUC on the way. Needs a Python that has torch, such as that of peers.py:

    cmake --preset bench && cmake --build --preset bench --target rowan_bench_clicks rowan_bench_click_log
    build/venvs/fb/bin/python tests/bench/clicks.py
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

from machine import native, processor

HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE.parent.parent / "build/bench/tests/bench"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--batch", type=int, default=2048)
parser.add_argument("--dim", type=int, default=16)
parser.add_argument("--bottom", default="64", help="hidden layers for the numbers")
parser.add_argument("--top", default="128,64", help="hidden layers for the interactions")
parser.add_argument("--rounds", type=int, default=3, help="turns")
parser.add_argument("--examples", type=int, default=250_000, help="lines of the log, which is made where it is missing")
args = parser.parse_args()

folder = BUILT / f"clicks_{args.examples}"
if not (folder / "day_0.tsv").exists():
    subprocess.run([BUILT / "rowan_bench_click_log", folder, "--days=1", f"--examples={args.examples}"], check=True)
log = folder / "day_0.tsv"
sizes = [f"--{name}={getattr(args, name)}" for name in ("threads", "batch", "dim", "bottom", "top")]
rowan = [BUILT / "rowan_bench_clicks", log, *sizes]
torch = [sys.executable, HERE / "peers/torch_dlrm.py", f"--log={log}", f"--steps={args.examples // args.batch}", *sizes]
commands = {
    "rowan": rowan,
    "torch, 26 tables, AdaGrad": [*torch, "--tables=bags", "--optimizer=adagrad"],
    "torch, 26 tables, row-wise AdaGrad by hand": [*torch, "--tables=bags"],
    "torch, one table, row-wise AdaGrad by hand": [*torch, "--tables=joined"],
}
if native(rowan[0]):
    commands["rowan, -march=native"] = [native(rowan[0]), *rowan[1:]]

best, area = dict.fromkeys([*commands, "rowan, without reading the log"], 0.0), {}
for _ in range(args.rounds):
    for name, command in commands.items():
        out = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        if name.startswith("torch"):
            line = json.loads(out)
            speed, area[name] = line["examples_per_s"], line["auc"]
        else:
            speed, area[name] = float(re.search(r"(\d+) examples/s", out)[1]), float(re.search(r"AUC ([0-9.]+)", out)[1])
            seconds, reading = map(float, re.search(r"([0-9.]+) s, ([0-9.]+) of them", out).groups())
            if name == "rowan":
                area["rowan, without reading the log"] = area[name]
                alone = speed * seconds / (seconds - reading)
                best["rowan, without reading the log"] = max(best["rowan, without reading the log"], alone)
        best[name] = max(best[name], speed)
print(f"{processor()}, {args.threads} threads, batches of {args.batch}, dim {args.dim}, bottom {args.bottom}, top {args.top}")
for name, speed in best.items():
    print(f"{name:44} {speed:9.0f} examples/s, AUC {area[name]:.3f}, {best['rowan'] / speed:5.1f} times as long as rowan")
