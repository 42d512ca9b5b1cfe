#!/usr/bin/env python3
"""tests/docs/lint.py: finds, in Doxygen's XML, public names without a sentence and functions that lack a field of their contract.

A function of a namespace says its cost, its errors, and its shapes if it takes tensors. A noexcept function has no errors, a constexpr
function needs only a sentence. A function that computes a published formula names its source: a year or a framework. Overloads share a
contract: one that says "as …", "the same" or nothing has the fields of the others of its name, or of the name after "as". A member that
may throw and whose body is longer than a line says its cost and errors. The fields have one order.
"""
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

FIELDS = "shapes requires errors cost".split()
TENSORS = re.compile(r"\b(Tensor|SelectedRows|LoDTensor|TensorArray|Var|Array)\s*<")
FORMULAS = re.compile(r"sgd|momentum|adagrad|rowwise_adagrad|adam|rmsprop|ftrl|gru_unit|lstm_unit|softmax|cross_entropy|clip_by_norm|"
                      r"softmax_with_cross_entropy|clip_by_global_norm|dropout|xavier|lookup_bag|sequence_pool|sequence_softmax")
SHARED = re.compile(r"\b[Tt]he same\b|\b[Aa]s (above|on the host|with|without)\b")  # another overload has the fields
# Names that need no sentence: the standard library's, an operator's and dtype's, which their own headers describe.
USUAL = re.compile(r"value_type|shape_type|Device|swap|begin|end|size|empty|fields|op|options|attributes|inputs|outputs|dtype<.*|struct .*_op")
SOURCE = re.compile(r"\b(19|20)\d\d\b|\b(Paddle|PyTorch|TensorFlow)'s\b")


def words(parts):
    return "".join(text for part in parts for text in part.itertext()).strip()


class Name:
    """A public name: where it is declared, and what its comment says."""

    def __init__(self, node, scope, in_class):
        self.place = node.find("location").attrib
        self.line = int(self.place["line"])
        self.kind, self.in_class = node.get("kind"), in_class
        self.name = node.findtext("name") or node.findtext("compoundname").removeprefix(scope + "::")
        self.path = f"{scope}::{self.name}"
        self.code = words([*node.iterfind("type"), *node.iterfind("argsstring")])
        comments = [node.find("briefdescription"), node.find("detaileddescription")]
        self.order = [title.text for part in comments for title in part.iter("title") if title.text in FIELDS]
        self.fields = {*self.order, *(["source"] if SOURCE.search(words(comments)) else [])}
        for paragraph in [p for part in comments for p in part.iter("para")]:
            for field in paragraph.findall("simplesect"):
                paragraph.remove(field)
        self.text = words(comments)  # without the fields
        inside = re.sub(r"<.*", "", scope).split("::")[-1].strip()
        made = self.name == inside and re.search(rf"^\(\)|\b{inside} (const ?&|&&)", self.code)
        self.plain = made or re.match(r"operator\b|~", self.name) or inside.endswith("_op")  # what it does follows from its name
        usual = USUAL.fullmatch(self.name) or USUAL.fullmatch(f"{self.kind} {self.name}")
        self.needs_sentence = not (self.plain or usual or inside in ("dtype", "slot"))

    def is_long(self):
        """Whether there is a body of lines of its own, or one elsewhere that Doxygen does not match."""
        if "bodyfile" not in self.place:
            return True
        start, end = int(self.place["bodystart"]), int(self.place["bodyend"])
        lines = Path("include", self.place["bodyfile"]).read_text(encoding="utf-8").split("\n")[start - 1:max(0, end)]
        return len(lines) > 1 and lines[-1].strip() == "}" and not lines[-2].endswith("{")

    def wanted(self):
        """The fields that the contract must have."""
        none = re.search(r"\b(constexpr|consteval)\b|= ?(default|delete|0)$", self.code) or re.fullmatch(r"Throws an? \w+\.", self.text)
        if self.kind != "function" or self.plain or none:
            return set()
        fields = {"cost"} if "noexcept" in self.code else {"cost", "errors"}
        if self.in_class:
            return fields if len(fields) == 2 and self.is_long() or self.fields & {"cost", "errors"} else set()
        return fields | {field for field, found in (("shapes", TENSORS.search(self.code)), ("source", FORMULAS.fullmatch(self.name))) if found}


def public_names():
    for file in sorted(Path("build/docs/xml").glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            kind, full = compound.get("kind"), compound.findtext("compoundname")
            if kind not in ("class", "struct", "union", "namespace", "concept") or compound.get("prot") in ("private", "protected"):
                continue
            place = compound.find("location").attrib
            if kind == "concept" or kind != "namespace" and int(place.get("bodyend", -1)) > 0:  # else it is only announced
                yield Name(compound, re.match(r"(.*?)::\w+(<.*)?$", full)[1], False)
            for node in compound.iter("memberdef"):
                name = Name(node, full, kind != "namespace")
                if name.in_class:  # not a definition outside of it that Doxygen does not match
                    declared = place["file"] == name.place["file"] and name.line in range(int(place["bodystart"]), int(place["bodyend"]) + 1)
                else:
                    declared = not name.code.startswith("(")  # not a deduction guide
                if declared and node.get("prot") == "public":
                    yield name


def main():
    names, overloads, wrong = list(public_names()), {}, []
    for name in names:
        overloads.setdefault(name.path, []).append(name)
    for name in names:
        referred = {name.path} if not name.text or SHARED.search(name.text) else set()
        for other in re.findall(r"\b[Aa]s ([\w:]*\w)", name.text):
            referred |= {path for path in overloads if ("::" + path).endswith("::" + other)}
        has = name.fields.union(*(other.fields for path in referred for other in overloads[path]))
        lacks = sorted(name.wanted() - has)
        if name.needs_sentence and not any(other.text or other.order for other in overloads[name.path]):
            lacks.append("sentence")
        if name.order != sorted(name.order, key=FIELDS.index):
            lacks.append(f"order {', '.join(FIELDS)}")
        if lacks:
            wrong.append(f"include/{name.place['file']}:{name.line}: {name.path}: no {', '.join(lacks)}")
    print(*wrong, f"{len(names)} public names, {sum(bool(name.wanted()) for name in names)} of them functions with a contract", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
