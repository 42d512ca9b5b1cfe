#!/usr/bin/env python3
"""single_include/generate.py [--check] [FOLDER]: makes single_include/rowan/rowan.hpp of include/rowan/rowan.hpp and a few headers that it leaves
out, and beside it these and own_operator.hpp, which add nothing to it.

The headers of ours that it reaches are pasted, each once and after those that it includes. Other includes stay, but for those that an
earlier line has outside of any #if. With --check nothing is written, and it is an error when the file is not what would be written.
FOLDER is the one that has LICENSE in it.
"""
import argparse
import pathlib
import re
import sys

# What may hide a directive, or looks like the beginning of that: a quote within a number begins nothing.
TOKEN = re.compile(r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
  | (?P<literal> (?:u8|[uUL])?R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | \d[\w.']* | \w+ | .
""", re.VERBOSE | re.DOTALL)
OWN = "rowan/own_operator.hpp"
ASKED_FOR = ["rowan/train/keyed.hpp", "rowan/io/keyed_in_file.hpp"]  # what programs include besides rowan.hpp
OURS = re.compile(r"#\s*include\s*<(rowan/.+)>")


def without_text(token):
    """A token, its newlines alone where it is a comment, and no characters where it is a literal."""
    if token["comment"] or token["literal"]:
        return ('""' if token["literal"] else " ") + "\n" * token[0].count("\n")
    return token[0]


def read(path):
    """The lines of a header, each with its code, which lacks comments and what is in literals."""
    text = path.read_text(encoding="utf-8").rstrip("\n")
    lines = [(line, code.strip()) for line, code in zip(text.split("\n"), TOKEN.sub(without_text, text).split("\n"), strict=True)]
    return without_condition(lines)


def without_condition(lines):
    """The lines of a header for programs that have the functions of operators: without `#if !ROWAN_DECLARES_OPERATORS` around includes, and
    without the includes of the opposite."""
    kept = []
    block = None  # the condition of the includes, and those
    for line, code in lines:
        if code in ("#if !ROWAN_DECLARES_OPERATORS", "#if ROWAN_DECLARES_OPERATORS"):
            block = (code, [(line, code)])
        elif block is None:
            kept.append((line, code))
        else:
            block[1].append((line, code))
            if code == "#endif":
                condition, inner = block
                if not all(OURS.fullmatch(code) for _, code in inner[1:-1]):
                    kept += inner
                elif condition == "#if !ROWAN_DECLARES_OPERATORS":
                    kept += inner[1:-1]
                block = None
    return kept


def reached(headers, name):
    """A header and all of ours that it includes, directly or not."""
    seen, queue = set(), [name]
    while queue:
        if (name := queue.pop()) not in seen:
            seen.add(name)
            queue += [match[1] for _, code in headers.get(name, ()) if (match := OURS.fullmatch(code))]
    return seen


def paste(headers, name, lines, seen, path=()):
    """Appends a header to `lines` after what it includes, unless it is `seen`. The headers of `path` lead to it."""
    if name in path:
        sys.exit(" includes ".join([*path[path.index(name):], name]) + ": that has no end")
    if name not in headers:
        sys.exit(f"{path[-1]} includes <{name}>, which is not there")
    if name in seen:
        return
    seen.add(name)
    own = []
    depth = 0
    begun = False  # code that is no include
    needed = False  # there is code that stays
    definitions = []  # the headers of them, which come after this one
    dropped = False
    for line, code in headers[name]:
        depth += bool(re.match(r"#\s*if", code)) - bool(re.match(r"#\s*endif", code))
        include = re.match(r"#\s*include\b", code)
        mine = OURS.fullmatch(code)
        if include and code.endswith('"'):
            sys.exit(f"{name} has `{line}`: it needs angle brackets")
        if mine and (mine[1].endswith("_inl.hpp") or (begun and not depth)):  # also the members of a template, at the end
            definitions.append(mine[1])
            continue
        if mine and definitions:
            sys.exit(f"{name} has `{line}` after an include of definitions, which must be the last")
        if mine and begun:
            sys.exit(f"{name} has `{line}` inside an #if: put the #if into that header, and includes at the top")
        if mine:
            paste(headers, mine[1], lines, seen, (*path, name))
        if mine or code == "#pragma once" or (include and not depth and code in seen):
            dropped = True
        elif line or not dropped or own[-1:] not in ([], [""]):  # two blank lines around what is dropped are one
            own.append(line)
            dropped = dropped and not line
            needed = needed or bool(code)
        if include and not depth:
            seen.add(code)
        if definitions and code:
            sys.exit(f"{name} has `{line}` after an include of definitions, which must be the last")
        begun = begun or (code and not include and code not in ("#pragma once", "#if ROWAN_DEFINES_FUNCTIONS"))
    if needed:
        while own[-1:] == [""]:
            own.pop()
        lines += [*own, ""]
    for header in definitions:
        paste(headers, header, lines, seen)


def single(folder):
    """The text of the single header."""
    include = folder / "include"
    headers = {path.relative_to(include).as_posix(): read(path) for path in sorted(include.glob("rowan/**/*.hpp"))}
    lines, seen = [], set()
    for name in ["rowan/rowan.hpp", *ASKED_FOR]:
        paste(headers, name, lines, seen)
    for name, header in headers.items():
        if not any(code == "#pragma once" for _, code in header):
            sys.exit(f"{name} has no `#pragma once`")
        if reached(headers, name) == {name} != {"rowan/version.hpp"}:  # two copies of rowan would not be told so
            sys.exit(f"{name} includes none of ours: <rowan/version.hpp> is for all")
        left_out = re.match(r"rowan/(thrust|compiled|io)[./]|.*/detail/|rowan/distributed/mpi", name) or "rowan/io/detail/nanopb.hpp" in reached(headers, name)
        if name not in seen and not left_out and name != OWN:
            sys.exit(f"{name} is not reached from rowan/rowan.hpp, and needs no nanopb, Thrust or MPI, nor is it for files")
    version = ".".join(re.findall(r"^#define ROWAN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", "\n".join(lines), re.MULTILINE))
    licence = (folder / "LICENSE").read_text(encoding="utf-8").rstrip("\n").split("\n")
    what = f"rowan/rowan.hpp: rowan {version} in one file, but for Thrust, MPI, and files other than NumPy's. single_include/generate.py made it."
    return "\n".join([*(f"// {line}".rstrip() for line in (what, "", *licence)), "#pragma once", "", *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    arguments = parser.parse_args()
    files = {"rowan/rowan.hpp": single(arguments.folder)}
    for name in [OWN, *ASKED_FOR]:
        first = (arguments.folder / "include" / name).read_text(encoding="utf-8").split("\n")[0]
        files[name] = "\n".join([first, "#pragma once", "#include <rowan/rowan.hpp>", ""])
    for name, text in files.items():
        file = arguments.folder / "single_include" / name
        if not arguments.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            sys.exit("single_include is out of date: run single_include/generate.py and commit the result")


main()
