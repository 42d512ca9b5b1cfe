#!/usr/bin/env python3
"""Prints what of compiling takes gigabytes or minutes, and the sizes of programs.

    python3 tests/bench/compile.py [--compiler g++]

Compiles two programs that take most, the sources of the compiled library, one after another, and links small programs
with them: some 20 minutes on one core. Needs nanopb. GB are the most that the compiler had at one time, the kB of
`/usr/bin/time -f %M` divided by a million; seconds are those of the processor. A size is that of the stripped program,
linked dynamically with libstdc++ and libgomp. `bash tests/run.sh cost` shows what compiling takes in all, in MB."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from machine import ROOT, processor

HEADER_ONLY = ["-std=c++20", "-O2", "-fopenmp", f"-I{ROOT}/include"]
COMPILED = [*HEADER_ONLY, "-DROWAN_COMPILED"]
LIBRARY = [*COMPILED, "-ffunction-sections", "-fdata-sections"]


def run(command):
    """Runs a compiler. Returns the most GB that it had, and its seconds."""
    child = subprocess.Popen(command, env={**os.environ, "CCACHE_DISABLE": "1"})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return usage.ru_maxrss / 1e6, usage.ru_utime + usage.ru_stime


def row(what, gigabytes, seconds, target):
    print(f"| {what} | {gigabytes:.2f} | {seconds:.0f} | {target} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    compiler = parser.parse_args().compiler
    cost = ROOT / "tests/cost"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def compiled(source, flags):
            return run([compiler, *flags, "-c", source, "-o", folder / f"{source.stem}.o"])

        print(f"{processor()}, {subprocess.run([compiler, '--version'], capture_output=True, text=True).stdout.splitlines()[0]}\n")
        print("| | GB | seconds | at most, GB |\n|---|---:|---:|---:|")
        row("13_text_classifier, header-only", *compiled(ROOT / "examples/13_text_classifier.cpp", HEADER_ONLY), 3)
        row("own element type and operator in a net, compiled", *compiled(cost / "own.cpp", COMPILED), 1.3)
        seconds = 0
        library = folder / "librowan.a"
        for source in sorted((ROOT / "include/rowan/compiled").glob("*.cpp")):
            used = compiled(source, LIBRARY)
            row(f"compiled/{source.name}", *used, 2)
            seconds += used[1]
            run(["ar", "rc", library, folder / f"{source.stem}.o"])
        print(f"| all of the compiled library | | {seconds:.0f} | |")
        for program in "infer", "server":
            compiled(cost / f"{program}.cpp", COMPILED)
        for program in "own", "infer", "server":
            run([compiler, "-fopenmp", folder / f"{program}.o", library, "-lprotobuf-nanopb", "-Wl,--gc-sections", "-o", folder / program])
            run(["strip", folder / program])
        for program in "own", "infer":
            if subprocess.run([folder / program], cwd=folder).returncode:
                sys.exit(f"tests/cost/{program}.cpp: a result is wrong")

        print("\n| | MB | at most |\n|---|---:|---:|")
        for program, what, target in ("infer", "a program that only runs a net built in code", 2.5), ("server", "a server of load_model", ""):
            print(f"| {what} | {(folder / program).stat().st_size / 1e6:.2f} | {target} |")


if __name__ == "__main__":
    main()
