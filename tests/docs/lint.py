#!/usr/bin/env python3
"""tests/docs/lint.py: finds, in Doxygen's XML, public names without a sentence and functions that lack a field of their contract.

A function of a namespace says its cost, its errors unless it is noexcept, its shapes if it takes tensors, and the source of a published
formula: a year or a framework. A constexpr function needs only a sentence. A member that may throw and is longer than a line says its cost
and errors. Overloads share a source; one without text shares all of the contract, and "as …" stands for that of the name after it. "The same"
and "as above" are wrong, because Doxygen puts each function on a page of its own.
"""
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

FIELDS = "shapes requires errors cost".split()
TENSORS = re.compile(r"\b(Tensor|SelectedRows|LoDTensor|TensorArray|Var|Array)\s*<")
FORMULAS = re.compile(r"sgd|momentum|(rowwise_)?adagrad|adam|adamax|adadelta|lamb|rmsprop|ftrl|(gru|lstm)_unit|(sequence_)?softmax|cross_entropy(_of_probabilities)?|"
                      r"clip_by_(global_)?norm|dropout|embedding_bag|sequence_pool")
ELSEWHERE = re.compile(r"^The same\b|\b[Aa]s above\b")  # another page says what it does
# Names that need no sentence: members with the standard library's names, and those of operators and dtype.
USUAL = re.compile(r"\w+ (value_type|shape_type|Device|swap|begin|end|size|empty|fields|op|options|attributes|inputs|outputs)|struct (dtype<.*|.*_op)")
# Those of the concept communicator, whose table says what they do.
COMMUNICATOR = re.compile(r"(Self|Threads|Mpi|Nccl) (rank|size|sum|allgather|alltoall|allgatherv|alltoallv|barrier|abort)")
SOURCE = re.compile(r"\b(19|20)\d\d\b|\b(Paddle|PyTorch|TensorFlow)'s\b")


def words(parts):
    return "".join(text for part in parts for text in part.itertext()).strip()


class Name:
    """A public name: where it is declared, and what its comment says."""
    def __init__(self, node, scope, in_class):
        self.place, self.kind, self.in_class = node.find("location").attrib, node.get("kind"), in_class
        self.name = node.findtext("name") or node.findtext("compoundname").removeprefix(scope + "::")
        self.path = f"{scope}::{self.name}"
        if self.kind == "variable":
            self.path = re.sub(r"< .* >$", "", self.path)  # a specialization
        self.code = words([*node.iterfind("type"), *node.iterfind("argsstring")])
        comments = [node.find("briefdescription"), node.find("detaileddescription")]
        self.order = [title.text for part in comments for title in part.iter("title") if title.text in FIELDS]
        self.fields = {*self.order, *(["source"] if SOURCE.search(words(comments)) else [])}
        self.elsewhere = ELSEWHERE.search(words(comments))
        for paragraph in [p for part in comments for p in part.iter("para")]:
            for field in paragraph.findall("simplesect"):
                paragraph.remove(field)
        self.text = words(comments)  # without the fields
        inside = re.sub(r"<.*", "", scope).split("::")[-1].strip()
        made = self.name == inside and re.search(rf"^\(\)|\b{inside} (const ?&|&&)", self.code)
        plain = made or re.match(r"operator\b|~", self.name) or inside.endswith("_op")  # what it does follows from its name
        plain = plain or COMMUNICATOR.fullmatch(f"{inside} {self.name}")
        self.plain = plain or re.fullmatch(r"Throws an? \w+\.", self.text)
        self.needs_sentence = not (self.plain or inside in ("dtype", "slot") or "::optim::" in scope or USUAL.fullmatch(f"{self.kind} {self.name}"))

    def is_long(self):
        """Whether the body has several lines, or is elsewhere, where Doxygen does not find it."""
        file, end = self.place.get("bodyfile"), int(self.place.get("bodyend", 0))
        lines = Path("include", file).read_text(encoding="utf-8").split("\n")[int(self.place["bodystart"]) - 1:max(0, end)] if file else []
        return not file or len(lines) > 1 and lines[-1].strip() == "}" and not lines[-2].endswith("{")

    def wanted(self):
        """The fields that the contract must have."""
        if self.kind != "function" or self.plain or re.search(r"\b(constexpr|consteval)\b|= ?(default|delete|0)$", self.code):
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
            if kind != "namespace" and place["file"].endswith("_inl.hpp"):  # a part of a class, which programs only see declared
                continue
            if kind == "concept" or kind != "namespace" and int(place.get("bodyend", -1)) > 0:  # else it is only announced
                yield Name(compound, re.match(r"(.*?)::\w+(<.*)?$", full)[1], False)
            for node in compound.iter("memberdef"):
                name = Name(node, full, kind != "namespace")
                # Neither a definition outside of the class, which Doxygen does not match, nor a deduction guide.
                inside = range(int(place.get("bodystart", 0)), int(place.get("bodyend", 0)) + 1)
                in_place = int(name.place["line"]) in inside and name.place["file"] == place["file"]
                if node.get("prot") == "public" and (in_place if name.in_class else not name.code.startswith("(")):
                    yield name


def main():
    names, overloads, wrong = list(public_names()), {}, []
    for name in names:
        overloads.setdefault(name.path, []).append(name)
    for name in names:
        referred = {name.path} if not name.text else set()
        for other in re.findall(r"\b[Aa]s ([\w:]*\w)", name.text):
            referred |= {path for path in overloads if ("::" + path).endswith("::" + other)}
        has = name.fields.union(*(other.fields for path in referred for other in overloads[path]))
        has |= {"source"} & {field for other in overloads[name.path] for field in other.fields}
        lacks = sorted(name.wanted() - has)
        lacks += ["sentence"] * (name.needs_sentence and not any(other.text or other.order for other in overloads[name.path]))
        lacks += ["text of its own"] * bool(name.elsewhere)
        lacks += [f"order {', '.join(FIELDS)}"] * (name.order != sorted(name.order, key=FIELDS.index))
        if lacks:
            wrong.append(f"include/{name.place['file']}:{name.place['line']}: {name.path}: no {', '.join(lacks)}")
    print(*wrong, f"{len(names)} public names, {sum(bool(name.wanted()) for name in names)} of them functions with a contract", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
