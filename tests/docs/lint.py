#!/usr/bin/env python3
"""tests/docs/lint.py: names every public function whose comment lacks a field of its contract, and ends with how many names there are.

A function of a namespace says what it costs, which errors it throws, and shapes where it takes tensors; a constexpr one, which is asked of types
and dims, need not, and a noexcept one has no errors.
What computes a formula that somebody published says who, and in which year. Overloads share a contract: one that says "as", "the same" or
nothing has the fields that another of its name has. Members of classes, operators and what is in namespaces detail are left to Doxygen,
which wants a sentence of each.
"""
import re
import sys
from pathlib import Path

from filter import FIELDS, hidden
from headers import declarations

TENSORS = re.compile(r"\b(Tensor|SelectedRows|LoDTensor|TensorArray|Var|Array)<")
FORMULAS = re.compile(r"(sgd|momentum|adagrad|rowwise_adagrad|adam|rmsprop|ftrl|gru_unit|lstm_unit|cross_entropy|softmax_with_cross_entropy|"
                      r"clip_by_norm|dropout|xavier|rnn|lookup_bag|weighted_bag)\Z")


def wanted(declaration):
    """The fields that the contract of `declaration` must have."""
    if re.search(r"\b(constexpr|consteval|noreturn)\b", declaration.text):
        return set()
    fields = {"cost"} if "noexcept" in declaration.text else {"cost", "errors"}
    if TENSORS.search(declaration.text):
        fields.add("shapes")
    if FORMULAS.match(declaration.name):
        fields.add("source")
    return fields


def fields(declaration):
    """The fields that the comment of `declaration` has; `source` for a year."""
    found = {field for field in FIELDS if re.search(rf"/// {field}  ", declaration.comment)}
    return found | {"source"} if re.search(r"\b(19|20)\d\d\b", declaration.comment) else found


def main():
    sets = {}
    names = 0
    for header in sorted(Path("include/rowan").rglob("*.hpp")):
        if "detail" in header.parts:
            continue
        for d in declarations(header.read_text(encoding="utf-8")):
            if hidden(d):
                continue
            names += 1
            if d.kind == "function" and all(s.kind == "namespace" for s in d.scope) and \
                    not d.name.startswith("operator"):
                sets.setdefault(d.path, []).append((header, d))
    missing = 0
    for path, overloads in sets.items():
        has = set()
        for _, d in overloads:
            has |= fields(d)
        for header, d in overloads:
            own = fields(d)
            refers = not d.comment or re.search(r"\b[Aa]s |\b[Tt]he same\b", d.comment)
            lacks = sorted(wanted(d) - (own | has if refers else own))
            if lacks:
                missing += 1
                print(f"{header}:{d.line + 1}: {path.replace('rowan::inline v0', 'rowan')}: no {', '.join(lacks)}")
    print(f"{names} public names, {sum(map(len, sets.values()))} of them functions with a contract")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
