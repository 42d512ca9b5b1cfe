#!/usr/bin/env python3
"""tests/headers.py ROOM FOLDER COMPILER [ARGUMENT...]: compiles every header of a room of include/rowan alone; the room `.` means the
headers outside of rooms. Those of detail/ and definitions (_inl.hpp), which others include, only if the environment has ROWAN_EVERY_HEADER.
What a header includes anyway, one way or another, is taken precompiled from FOLDER. The check `cuda` compiles the headers that need nvcc."""
import os
import pathlib
import re
import subprocess
import sys

precompiled = ["rowan/core/tensor.hpp", "rowan/thrust/core/tensor.hpp", "rowan/sparse/detail/row_sums.hpp", "rowan/sequence/detail/sequences.hpp",
               "rowan/op/operator.hpp", "rowan/graph/scope.hpp", "rowan/layer/var.hpp", "rowan/op/builtin_ops.hpp", "rowan/train/optimizer.hpp",
               "rowan/io/checkpoint.hpp"]

room, folder, *compiler = sys.argv[1:]
compiler = [argument for argument in compiler if argument != "-fsyntax-only"]  # where a file is to come out
folder = pathlib.Path(folder)
include = pathlib.Path(__file__).parents[1] / "include"
includes = {
    path.relative_to(include).as_posix(): re.findall(r"^#include <(rowan/.+)>$", path.read_text(encoding="utf-8"), re.M)
    for path in include.glob("rowan/**/*.hpp")
}


def reached(name):
    seen, left = set(), list(includes[name])
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += includes[one]
    return seen


def compiles(text, arguments):
    return subprocess.run([*compiler, *arguments, "-"], input=text, text=True, cwd=include).returncode == 0


def first_of(name):
    """The arguments that include what is precompiled, which is compiled when it is first asked for."""
    known = [one for one in precompiled if one in reached(name)]
    if not known:
        return []
    largest = max(known, key=lambda one: len(reached(one)))
    stub = folder.resolve() / largest.replace("/", "_")
    if not stub.exists():
        folder.mkdir(parents=True, exist_ok=True)
        instantiated = ["-fpch-instantiate-templates"] if "clang" in compiler[0] else []  # once, and not in every file that includes it
        if not compiles(f"#include <{largest}>\n", [*instantiated, "-x", "c++-header", "-o", f"{stub}.gch"]):
            return []
        stub.write_text(f"#include <{largest}>\n")
    return ["-include", str(stub)]


for old in folder.glob("*.hpp*"):
    old.unlink()
names = [name for name in sorted(includes) if name.startswith("rowan/" if room == "." else f"rowan/{room}/")]
if room == ".":
    names = [name for name in names if name.count("/") == 1]
if "ROWAN_EVERY_HEADER" not in os.environ:
    names = [name for name in names if not re.search(r"/detail/|_inl\.hpp$", name)]
own = ("/thrust/cu", "/cuda_memory.hpp", "/distributed/mpi.hpp", "/distributed/detail/mpi_")  # compiled where their libraries are
bad = [name for name in names if not any(one in name for one in own) and not compiles(f"#include <{name}>\n", ["-fsyntax-only", *first_of(name), "-x", "c++"])]
print("".join(f"<{name}> does not compile alone\n" for name in bad), end="")
sys.exit(bool(bad))
