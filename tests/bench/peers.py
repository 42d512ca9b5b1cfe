#!/usr/bin/env python3
"""Runs rowan_bench and its peers in turns on one machine, and prints one table of ratios.

The peers (PyTorch and FBGEMM, TensorFlow, Paddle) are installed into separate virtual environments; one that
cannot be installed or does not run is named and skipped. Each round runs one process at a time: rowan, its program for
this processor if it was built, then each peer, for every number of threads and kind of ids. Nothing else should run on
the machine. Needs 12 GB of memory and 9 GB of disk.

    python3 tests/bench/peers.py                 the whole comparison, about half an hour
    python3 tests/bench/peers.py --tiny          a quick test
    python3 tests/bench/peers.py --from FILE     the table again, from what --save FILE wrote
"""

import argparse
import itertools
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

from machine import native, processor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The arguments of each environment's pip calls. The torch of the package index is built for CUDA; it loads with these
# of CUDA's libraries and without the rest, so its own list of dependencies is not followed.
CUDA = (
    "nvidia-cublas-cu12==12.8.4.1 nvidia-cuda-cupti-cu12==12.8.90 nvidia-cuda-runtime-cu12==12.8.90 "
    "nvidia-cudnn-cu12==9.10.2.21 nvidia-cufft-cu12==11.3.3.83 nvidia-cufile-cu12==1.13.1.3 "
    "nvidia-curand-cu12==10.3.9.90 nvidia-cusparse-cu12==12.5.8.93 nvidia-cusparselt-cu12==0.7.1 "
    "nvidia-nccl-cu12==2.27.5 nvidia-nvjitlink-cu12==12.8.93 nvidia-nvshmem-cu12==3.3.20"
)
ENVIRONMENTS = {
    "fb": (
        "numpy==2.4.6 filelock typing-extensions sympy networkx jinja2 fsspec fasttext-wheel==0.9.2",
        "--no-deps torch==2.9.0 fbgemm-gpu-cpu==1.4.2 " + (CUDA if platform.machine() == "x86_64" else ""),
    ),
    "tf": ("numpy==2.4.6 tensorflow-cpu==2.21.0",),
    "paddle": ("numpy==2.4.6 paddlepaddle==3.3.1",),
}
WORKERS = {"fb": "torch_fbgemm.py", "tf": "tensorflow_cpu.py", "paddle": "paddle_cpu.py"}
PEERS = {"torch": "PyTorch", "fbgemm": "FBGEMM", "tensorflow": "TensorFlow", "paddle": "Paddle"}
OPS = (
    "gather", "gather_into", "scatter_add", "merge", "merge_into", "sgd", "adagrad", "rowwise_adagrad", "adam",
)
ALLOCATING = {"gather_into": "gather", "merge_into": "merge"}  # what a peer is measured by that takes no output
HUGE_PAGES = {"THP_MEM_ALLOC_ENABLE": "1", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def note(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"


def install(name, folder):
    """Creates an environment if none with the same packages exists. Returns the error, or None."""
    steps = ENVIRONMENTS[name]
    stamp = folder / "rowan-packages.txt"
    if stamp.is_file() and stamp.read_text() == "\n".join(steps):
        return None
    note(f"{name}: installing {', '.join(word for step in steps for word in step.split() if '==' in word)}")
    commands = [[sys.executable, "-m", "venv", "--clear", str(folder)]]
    commands += [[str(folder / "bin/pip"), "install", "-q", "--no-cache-dir", *step.split()] for step in steps]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return last_line(done.stderr or done.stdout)
    stamp.write_text("\n".join(steps))
    return None


def run(command, environment=None):
    """Runs one process. Returns its JSON lines and, if it failed, the end of its output."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines, last_line(done.stderr) if done.returncode else None


class Comparison:
    """All measured lines, and their table."""

    def __init__(self, lines, tolerance):
        self.lines = lines
        self.slow = self.slow_rounds(tolerance)  # of each (ids, threads)

    def slow_rounds(self, tolerance):
        """Rounds whose memcpy was slower by more than `tolerance` than in the best one, as another program was running."""
        speeds = {}
        for line in self.lines:
            if line["peer"] == "rowan":
                speeds.setdefault((line["ids"], line["threads"]), {})[line["round"]] = line["memcpy_gbs"]
        return {
            case: {r for r, speed in rounds.items() if speed < (1 - tolerance) * max(rounds.values())}
            for case, rounds in speeds.items()
        }

    def pick(self, peer, op, case):
        """The fastest way of a peer: its least time, its name and its lines; and the least median of any way."""
        ways = {}
        for line in self.lines:
            at = (line["ids"], line["threads"])
            if (line["peer"], line["op"], at) == (peer, op, case) and line["round"] not in self.slow.get(case, ()):
                if "ms_min" in line:
                    ways.setdefault(line.get("way", op), []).append(line)
        if not ways:
            return self.pick(peer, ALLOCATING[op], case) if op in ALLOCATING and peer != "rowan" else None
        least = {way: min(line["ms_min"] for line in lines) for way, lines in ways.items()}
        way = min(least, key=least.get)
        return {
            "way": way,
            "min": least[way],
            "median": min(statistics.median(line["ms_median"] for line in lines) for lines in ways.values()),
            "spread": max(line["ms_min"] for line in ways[way]) / least[way] - 1,
            "lines": ways[way],
        }

    def table(self):
        peers = [peer for peer in PEERS if any(line["peer"] == peer for line in self.lines)]
        cases = sorted({(line["ids"], line["threads"]) for line in self.lines})
        names = sorted({"/".join(line["case"].split("/")[:2] + line["case"].split("/")[3:-1]) for line in self.lines})
        rounds = 1 + max(line["round"] for line in self.lines)
        slow = [f"{ids} with {threads} threads: {len(s)}" for (ids, threads), s in self.slow.items() if s]
        ways, spreads = {}, {}
        natives = any(line["peer"] == "native" for line in self.lines)

        print(f"Processor: {', '.join(sorted({line['processor'] for line in self.lines}))}.")
        print(f"Least time in ms of {rounds} rounds; in brackets, how many times rowan's. {', '.join(names)}.")
        if slow:
            print(f"Rounds left out, since memcpy was slow in them: {'; '.join(slow)}.")
        head = ["operation", "ids", "threads", "rowan", *["native / shipped"] * natives, *(PEERS[peer] for peer in peers)]
        head += ["fastest peer / rowan", "by medians", "GB/s by the byte model", "of memcpy", "of triad", "of random rows"]
        print("\n| " + " | ".join(head) + " |")
        print("|" + " --- |" * 3 + " ---: |" * (len(head) - 3))
        for op, case in itertools.product(OPS, cases):
            rowan = self.pick("rowan", op, case)
            found = {peer: best for peer in peers if (best := self.pick(peer, op, case))}
            for peer, best in [("rowan", rowan), *found.items()]:
                if best:
                    spreads[peer] = max(spreads.get(peer, 0), best["spread"])
            for peer, best in found.items():
                ways.setdefault(peer, {}).setdefault(op, set()).add(best["way"])
            if rowan:
                compiled = [f"{self.pick('native', op, case)['min'] / rowan['min']:.2f}"] if natives else []
                print("| " + " | ".join([op, case[0], str(case[1]), f"{rowan['min']:.2f}", *compiled, *self.cells(rowan, found, peers)]) + " |")

        if ways:
            print("\nThe peers' ways that were fastest:\n")
        for peer, ops in ways.items():
            listed = (f"{op} by {' or '.join(sorted(names))}" for op, names in ops.items())
            print(f"- {PEERS[peer]}: {'; '.join(listed)}")
        listed = (f"{PEERS.get(peer, peer)} {spread:.0%}" for peer, spread in spreads.items())
        print(f"\nLargest spread of a least time over the rounds: {', '.join(listed)}.")

    @staticmethod
    def cells(rowan, found, peers):
        cells = []
        for peer in peers:
            best = found.get(peer)
            cells.append(f"{best['min']:.2f} ({best['min'] / rowan['min']:.1f}x)" if best else "-")
        for time in ("min", "median"):
            times = [best[time] for best in found.values()]
            cells.append(f"{min(times) / rowan[time]:.1f}x" if times else "-")
        fastest = min(rowan["lines"], key=lambda line: line["ms_min"])
        speed = fastest["gbs"]
        return cells + [f"{speed:.1f}", *(f"{speed / fastest[base]:.0%}" for base in ("memcpy_gbs", "triad_gbs", "rows_gbs"))]


def measure(args):
    """All rounds. Yields every line with its conditions."""
    rowan = pathlib.Path(args.rowan)
    if not rowan.is_file():
        sys.exit(f"{rowan} is not there: cmake --preset bench && cmake --build --preset bench, or name it by --rowan")
    wanted = [name for name in WORKERS if name in args.peers]
    venvs = pathlib.Path(args.venvs).absolute()
    failures = {name: install(name, venvs / name) for name in wanted}
    tiny = ["--tiny"] if args.tiny else []
    pages = {"system": [{}], "huge": [HUGE_PAGES], "both": [{}, HUGE_PAGES]}[args.pages]

    def worker(name, ids, threads, environment, *options):
        command = [str(venvs / name / "bin/python"), str(HERE / "peers" / WORKERS[name])]
        command += ["--ids", ids, "--threads", str(threads), *options]
        return run(command, {"OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1", **environment})

    for name in wanted:
        if not failures[name]:
            failures[name] = worker(name, "uniform", 1, {}, "--tiny")[1]
    for name, failure in failures.items():
        if failure:
            note(f"{name} is skipped: {failure}")
    peers = [name for name in wanted if not failures[name]]

    programs = {"rowan": str(rowan)}
    if native(rowan):
        programs["native"] = native(rowan)
    told = set()
    width = "table=256KiB/n=4096/width=64" if args.tiny else "table=2GiB/n=262144/width=64"
    for turn, threads, ids in itertools.product(range(args.rounds), args.threads, args.ids):
        note(f"round {turn + 1} of {args.rounds}: {ids}, {threads} threads")
        facts = {"round": turn, "ids": ids, "threads": threads, "processor": processor()}
        for name, program in programs.items():
            command = [program, f"/{ids}/{width}/threads={threads}$", "--json", "--threads", str(threads), *tiny]
            lines, failure = run(command)
            if failure or not lines:
                sys.exit(f"{program}: {failure or 'no such case: ' + command[1]}")
            yield from ((line | {"peer": name}, facts) for line in lines)
        for name, environment in itertools.product(peers, pages):
            lines, failure = worker(name, ids, threads, environment, *tiny)
            if failure:
                note(f"{name} stopped: {failure}")
            for line in lines:
                if environment:
                    line["way"] += ", huge pages"
                if "error" in line and (line["peer"], line["way"]) not in told:
                    told.add((line["peer"], line["way"]))
                    note(f"{line['peer']}, {line['op']} by {line['way']}: {line['error']}")
                yield line, facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda kind: lambda text: [kind(word) for word in text.split(",")]  # noqa: E731
    parser.add_argument("--rowan", default=str(ROOT / "build/bench/tests/bench/rowan_bench"), help="its program, as shipped")
    parser.add_argument("--venvs", default=str(ROOT / "build/venvs"), help="folder of the peers' environments")
    parser.add_argument("--peers", type=listed(str), default=list(WORKERS), help="of fb,tf,paddle")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=listed(int), default=[1, 2], help="such as 1,2")
    parser.add_argument("--ids", type=listed(str), default=["uniform", "zipf"], help="of uniform,zipf (log-uniform)")
    pages = "pages of the peers' memory: as the system gives them, huge ones asked for, or the better of both"
    parser.add_argument("--pages", choices=("system", "huge", "both"), default="system", help=pages)
    parser.add_argument("--tolerance", type=float, default=0.1, help="how much slower a round's memcpy may be")
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    parser.add_argument("--save", metavar="FILE", help="write every measured line there")
    parser.add_argument("--from", metavar="FILE", dest="saved", help="measure nothing, read what --save wrote")
    args = parser.parse_args()

    lines = []
    if args.saved:
        lines = [json.loads(text) for text in pathlib.Path(args.saved).read_text().splitlines()]
    else:
        with open(args.save or os.devnull, "w") as file:
            for line, facts in measure(args):
                lines.append({**line, **facts})
                print(json.dumps(lines[-1]), file=file, flush=True)
    Comparison(lines, args.tolerance).table()


if __name__ == "__main__":
    main()
