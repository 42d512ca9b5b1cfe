#!/usr/bin/env python3
"""Prints the functions of rowan that one call of Trainer::step enters, by file, and how many files and functions these are.

    python3 tests/bench/walk.py [--compiler g++]

The net is one fc of float with a mean squared error, on one thread, after a first step (walk/step.cpp). It is compiled
header-only and without optimisation, and notes all functions that it enters, also those that are always inlined;
addr2line, of binutils, finds their lines. A function is what a reader finds in a file of include/rowan: the instances of a template
are one, a lambda is one, and functions that the compiler writes, such as copy constructors, are none."""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import tempfile

from machine import ROOT

HEADERS = ROOT / "include/rowan"
COMPILER_WRITES = re.compile(r"=\s*default|^(template <.*> )?(struct|class)\b[^()]*$")


def entered(compiler):
    """The (file, line) of each function that the step enters, of all libraries but those in /usr."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/step"
        subprocess.run([compiler, "-std=c++20", "-fopenmp", "-O0", "-g", "-no-pie", "-I", ROOT / "include", "-finstrument-functions",
                        "-finstrument-functions-exclude-file-list=/usr/", ROOT / "tests/bench/walk/step.cpp", "-o", program],
                       check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        addresses = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        lines = subprocess.run(["addr2line", "-e", program], input=addresses, check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        file, number = line.split(" ")[0].rsplit(":", 1)
        yield pathlib.Path(file).resolve(), number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    functions = collections.defaultdict(dict)
    for file, number in entered(parser.parse_args().compiler):
        if HEADERS in file.parents:
            text = file.read_text().splitlines()[int(number) - 1].strip()
            if not COMPILER_WRITES.search(text):
                functions[file.relative_to(HEADERS)][int(number)] = text
    for file in sorted(functions):
        print(file)
        for number, text in sorted(functions[file].items()):
            print(f"{number:6} {text}")
    print("\n| room | files | functions |\n|---|---:|---:|")
    rooms = collections.defaultdict(list)
    for file, lines in functions.items():
        rooms[file.parts[0]].append(len(lines))
    for room, counts in sorted(rooms.items()):
        print(f"| {room} | {len(counts)} | {sum(counts)} |")
    print(f"| all | {len(functions)} | {sum(map(len, functions.values()))} |")


if __name__ == "__main__":
    main()
