#!/usr/bin/env python3
"""tests/docs/lint.py: names every public function whose comment lacks a field of its contract; ends with how many names there are.

A function of a namespace says what it costs, which errors it throws, and shapes where it takes tensors. What is noexcept has no errors;
what is constexpr is asked of types and dims, and needs a sentence alone. What computes a formula that somebody published says whose it is:
by name and year, or as a framework's. Overloads share a contract: one that says "as …", "the same" or nothing has the fields that another
of its name, or of the name after "as", has. A member of a class that may throw and has a body of more than a line says what it costs and
throws. A shorter one that says neither costs O(1) and throws std::bad_alloc at most; else it says both. The fields have one order. Of all
else Doxygen wants a sentence.
"""
import re
import sys

from filter import FIELDS, hidden, is_operator
from headers import public_headers

TENSORS = re.compile(r"\b(Tensor|SelectedRows|LoDTensor|TensorArray|Var|Array)<")
FORMULAS = re.compile(r"(sgd|momentum|adagrad|rowwise_adagrad|adam|rmsprop|ftrl|gru_unit|lstm_unit|softmax|cross_entropy|clip_by_norm|"
                      r"softmax_with_cross_entropy|clip_by_global_norm|dropout|xavier|lookup_bag|sequence_pool|sequence_softmax)\Z")

SHARED = re.compile(r"\b[Tt]he same\b|\b[Aa]s (above|on the host|with|without)\b")  # says that another overload has the fields


def wanted(declaration):
    """The fields that the contract of `declaration` must have."""
    if re.search(r"\b(constexpr|consteval|noreturn)\b", declaration.text):
        return set()
    fields = {"cost"} if "noexcept" in declaration.text else {"cost", "errors"}
    if is_member(declaration):
        return fields
    if TENSORS.search(declaration.text):
        fields.add("shapes")
    if FORMULAS.match(declaration.name):
        fields.add("source")
    return fields


def said(declaration):
    """The fields that the comment of `declaration` has; `source` for a year, or whose function it is."""
    found = {field for field in FIELDS if re.search(rf"/// {field}  ", declaration.comment)}
    if re.search(r"\b(19|20)\d\d\b|\b(Paddle|PyTorch|TensorFlow)'s\b", declaration.comment):
        found.add("source")
    return found


def is_member(declaration):
    return declaration.scope[-1].kind == "class"


def has_contract(declaration, lines):
    """Whether it is a function of a namespace, or a member that has a longer body or says what it costs or throws, and is no operator's."""
    if declaration.kind != "function" or declaration.name.startswith("operator"):
        return False
    if not is_member(declaration):
        return True
    longer = lines[declaration.end].strip() == "}" and "noexcept" not in declaration.text
    return (longer or said(declaration) & {"cost", "errors"}) and not is_operator(declaration.scope)


def main():
    sets = {}  # the overloads of each name
    names = 0
    for header, text, found in public_headers():
        for d in found:
            if hidden(d):
                continue
            names += 1
            if has_contract(d, text.split("\n")):
                sets.setdefault(d.path.replace("rowan::inline v0", "rowan"), []).append((header, d))

    missing = 0
    for path, overloads in sets.items():
        for header, d in overloads:
            has = said(d)
            text = re.split(rf"/// (?:{'|'.join(FIELDS)})  ", d.comment)[0]
            referred = {path} if not text or SHARED.search(text) else set()
            for name in re.findall(r"\b[Aa]s ([\w:]+)", text):
                referred |= {known for known in sets if ("::" + known).endswith("::" + name)}
            for name in referred:
                has |= set().union(*(said(other) for _, other in sets[name]))
            lacks = sorted(wanted(d) - has)
            if lacks:
                missing += 1
                print(f"{header}:{d.line + 1}: {path}: no {', '.join(lacks)}")
            order = re.findall(rf"/// ({'|'.join(FIELDS)})  ", d.comment)
            if order != sorted(order, key=FIELDS.index):
                missing += 1
                print(f"{header}:{d.line + 1}: {path}: not in the order {', '.join(FIELDS)}")
    print(f"{names} public names, {sum(map(len, sets.values()))} of them functions with a contract")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
