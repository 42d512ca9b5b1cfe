#!/usr/bin/env python3
"""tests/includes.py: rooms of include/rowan include only lower rooms, umbrella headers include all their headers, and README.md names all headers;
a layer that is an operator has its name.

core <- detail <- sparse, sequence <- op <- graph <- layer <- train <- io <- distributed, where x/detail/ is part of room x. A room of thrust/ knows the room of
that name, what is below, and their rooms of thrust/. No other room knows thrust/."""
import pathlib
import re
import sys

rooms = ["core", "detail", "sparse", "sequence", "op", "graph", "layer", "train", "io", "distributed"]
below = {room: rooms[:i] for i, room in enumerate(rooms)}
below["sequence"].remove("sparse")
for room in rooms[:5]:
    below[f"thrust/{room}"] = [room, *below[room], *(f"thrust/{other}" for other in below[room])]
below["thrust"] = ["thrust/op", *below["thrust/op"]]

include = pathlib.Path(__file__).parents[1] / "include"
headers = {path.relative_to(include).as_posix(): path.read_text(encoding="utf-8") for path in include.glob("rowan/**/*.?pp")}
includes = {name: re.findall(r"^#include <(rowan/.+)>$", text, re.M) for name, text in headers.items()}
bottom = ("rowan/version.hpp", "rowan/fwd.hpp")
umbrellas = [name for name in headers if name.count("/") == 1 and name not in bottom]
wrong = []


def room_of(name):
    folders = name.split("/")[1:-1]
    if name in umbrellas:
        folders = [name.split("/")[1].removesuffix(".hpp")]
    return "/".join(folders[:2] if folders[:1] == ["thrust"] else folders[:1])


def reached(name):
    seen, left = set(), [name]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += includes.get(one, [])
    return seen


for name, others in includes.items():
    room = room_of(name)
    for other in others:
        if other not in headers:
            wrong.append(f"{name} includes <{other}>, which is not there")
        elif name in bottom and other not in bottom:
            wrong.append(f"{name} includes <{other}>, but all rooms are above it")
        elif room in below and other not in bottom and room_of(other) not in (room, *below[room]):
            wrong.append(f"{name} includes <{other}>, which is not below {room}")
    first = re.search(r"^#include .*$", headers[name], re.M)
    if name not in bottom and "#include <rowan/" not in first[0]:
        wrong.append(f"{name} includes another header before ours, which ask for C++20: <rowan/version.hpp> if no other")

public = [name for name in headers if not re.search(r"/detail/|/compiled|_inl\.hpp$", name) and name not in (*bottom, *umbrellas)]
for name in public:
    room = name.split("/")[1]
    if name == "rowan/distributed/mpi.hpp" or (room == "thrust" and re.search(r"/cu\w+\.hpp$", name)):  # MPI's and CUDA's own
        continue
    needs_nanopb = "rowan/io/detail/nanopb.hpp" in reached(name)
    if name in ("rowan/train/keyed.hpp", "rowan/io/keyed_in_file.hpp"):  # a program includes the kinds of tables that it has
        continue
    if needs_nanopb and room == "distributed":  # whose umbrella is for those who do not have it, too
        continue
    for umbrella in [f"rowan/{room}.hpp"] + ["rowan/rowan.hpp"] * (room not in ("thrust", "io") and not needs_nanopb):
        if name not in reached(umbrella):
            wrong.append(f"{umbrella} does not include <{name}>")
for name in reached("rowan/rowan.hpp"):
    if "/thrust" in name or name in ("rowan/io/detail/nanopb.hpp", "rowan/distributed/mpi.hpp"):
        wrong.append(f"rowan/rowan.hpp reaches <{name}>")

# The map: under the heading of a room, a row for one to three headers, or for folders. A layer of an operator's name needs no row.
named, room = set(), ""
for line in (include / "rowan/README.md").read_text(encoding="utf-8").split("\n"):
    if heading := re.match(r"#+ (?:`(\w+/)`)?", line):
        room = heading[1] or ""
    elif room and (row := re.match(r"\| (`.*?) \|", line)):
        names = [f"rowan/{room}{one}" for one in re.findall(r"`([^`]+)`", row[1])]
        wrong += [f"include/rowan/README.md names {one}, which is not there" for one in names if not (include / one).exists()]
        wrong += [f"include/rowan/README.md has a row for {len(names)} headers, more than 3: {row[1]}"] * (len(names) > 3)
        named.update(names)
operators = {name.rsplit("/", 1)[1] for name in public if name.startswith("rowan/op/")}
cuda = [path.relative_to(include).as_posix() for path in include.glob("rowan/**/*.cuh")]
for name in [*public, *(name for name in cuda if "/detail/" not in name)]:
    folder, header = name.rsplit("/", 1)
    if not {name, f"{folder}/"} & named and not (folder == "rowan/layer" and header in operators):
        wrong.append(f"include/rowan/README.md does not name {name.removeprefix('rowan/')}")

for operator, layer in re.findall(r"operator_layer<(\w+)_op>\s+(\w+)\{\}", headers["rowan/layer/operators.hpp"]):
    if layer != operator and layer != "mean":
        wrong.append(f"rowan/layer/operators.hpp gives layer::{layer} the operator {operator}")

print("\n".join(sorted(wrong)), end="\n" if wrong else "")
sys.exit(bool(wrong))
