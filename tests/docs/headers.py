"""tests/docs/headers.py: the declarations of a header, with the comments above them. For filter.py and lint.py."""
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

# What declares nothing: comments, strings, directives, and our macros on lines of their own.
MASKED = re.compile("|".join((r"//[^\n]*", r"/\*.*?\*/", r'R"\((?:.|\n)*?\)"', r'"(?:\\.|[^"\\\n])*"', r"(?<!\w)'(?:\\.|[^'\\\n])+'",
                              r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", r"^[ \t]*ROWAN_[A-Z]+\(\S[^\n;{]*$")), re.S | re.M)
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Declaration:
    kind: str             # namespace, class, enum, function, guide (of deduction), alias, concept, variable or other
    name: str
    text: str             # without comments and without what is in the braces
    line: int             # of its first word, from 0
    scope: list = field(default_factory=list)  # the declarations around it
    public: bool = True
    comment: str = ""     # the lines `///` above it
    documented: bool = False  # by these, or by `///<` behind it
    body: bool = False    # whether declarations follow that are in it
    end: int = 0          # the last line

    @property
    def path(self):
        return "::".join(s.name for s in self.scope if s.name) + "::" + self.name


def closing(code, i):
    """Where the bracket at code[i] is closed."""
    depth = 0
    while i < len(code):
        if code[i] in PAIRS:
            depth += 1
        elif code[i] in PAIRS.values():
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError("a bracket is not closed")


def without_heads(text):
    """`text` without `template <…>` and a requires clause, as far as it would be taken for a name."""
    while found := re.match(r"\s*template\s*<", text):
        i, depth = found.end(), 1
        while depth:
            depth += {"<": 1, ">": -1}.get(text[i], 0) if text[i - 1] != "-" else 0
            i += 1
        text = re.sub(r"\A\s*requires\s+(?:[^\n(]*\n)?", "", text[i:])
        if re.match(r"requires\s*\(", text.lstrip()):
            text = text[closing(text, text.index("(")) + 1:]
    return re.sub(r"\A\s*(\[\[.*?\]\]\s*)?", "", text)


def named(text):
    """What kind of thing `text` declares, and its name."""
    text = without_heads(text)
    for pattern, kind in ((r"(?:inline )?namespace\b\s*([\w:]*(?: v0)?(?:::\w+)*)", "namespace"), (r"enum (?:class )?(\w+)", "enum"),
                          (r"concept (\w+)", "concept"), (r"using (\w+)\s*=", "alias"), (r"using (.+)", "other"),
                          (r"friend (?:class|struct)\b(.*)", "other"), (r"static_assert\b", "other"), (r"template\b", "other"),
                          (r"(?:class|struct|union) (?:\[\[\w+\]\] )?([\w:]+(?:\s*<[^{;]*?>)?)\s*(?:final)?\s*(?::[^:].*)?\Z", "class")):
        if found := re.match(pattern, text, re.S):
            return kind, found[1] if found.groups() else ""
    if found := re.search(r"\boperator\s*(\(\)|\[\]|[^\s(]+)", text):
        return "function", "operator" + found[1]
    flat, depth = "", 0  # what stands in angle brackets names nothing
    for i, c in enumerate(text):
        if c == "<":
            depth += 1
        if depth == 0:
            flat += c
        if c == ">" and text[i - 1] != "-" and depth:
            depth -= 1
    if "(" in flat and ("=" not in flat or flat.index("(") < flat.index("=")):
        found = re.search(r"(~?\w+)\s*\(", re.sub(r"\bexplicit\s*\(.*?\)|\b(decltype|requires)\s*\(.*?\)", "", flat))
        if not found:
            return "other", ""
        return "guide" if flat.startswith(found[0]) and re.search(r"\)\s*->", flat) else "function", found[1]
    found = re.search(r"(\w+)\s*(?:\[.*\]\s*)?(?:=.*|\{\})?\Z", flat.strip(), re.S)
    return ("variable", found[1]) if found else ("other", "")


def declarations(source):
    """All declarations of namespaces and classes in `source`, in order, those in function bodies left out."""
    code = MASKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)
    lines = source.split("\n")
    found, scope, access = [], [], []
    i = 0
    while True:
        while i < len(code) and (code[i].isspace() or code[i] == ";"):
            i += 1
        if i == len(code):
            return found
        if code[i] == "}":
            scope.pop().end = code.count("\n", 0, i)
            access.pop()
            i += 1
            continue
        if label := re.compile(r"(public|private|protected)\s*:(?!:)").match(code, i):
            access[-1] = label[1] == "public"
            i = label.end()
            continue
        begin, text, body = i, "", False
        while code[i:i + 1] != ";":
            if i == len(code):
                raise ValueError(f"{code.count(chr(10), 0, begin) + 1}: this declaration does not end")
            if code[i] in "([":
                end = closing(code, i)
                text += code[i:end + 1]
                i = end + 1
            elif code[i] == "{":
                kind, _ = named(text)
                flat = text
                while flat != (flat := re.sub(r"\((?!\))[^()]*(?:\(\)[^()]*)*\)", "()", flat)):
                    pass
                initial = re.search(r"\)[^:]*[^:]:[^:]", flat) and re.search(r"[\w>]\s*\Z", text)
                if kind in ("namespace", "class"):
                    body = True
                    break
                end = closing(code, i)
                i = end + 1
                text += "{}"
                if kind == "function" and not initial and not re.search(r"\brequires\s*(\(\))?\s*\{\}\Z", flat + "{}"):
                    text = text[:-2]
                    break
            else:
                text += code[i]
                i += 1
        kind, name = named(text)
        line = code.count("\n", 0, begin)
        last = code.count("\n", 0, i)
        above = line
        while above > 0 and re.match(r"\s*///(?!<)", lines[above - 1]):
            above -= 1
        comment = "\n".join(lines[above:line])
        behind = not body and "///<" in lines[last]
        declaration = Declaration(kind, re.sub(r"\s+", " ", name), text.strip(), line, list(scope), all(access), comment,
                                  bool(comment) or behind, body, last)
        found.append(declaration)
        if body:
            scope.append(declaration)
            access.append(kind == "namespace" or not declaration.text.startswith("class") and
                          not without_heads(text).startswith("class"))
            i += 1
        elif i < len(code) and code[i] == ";":
            i += 1


def public_headers():
    """Each header, its text and its declarations."""
    for header in sorted(Path("include/rowan").rglob("*.hpp")):
        if "detail" not in header.parts:
            text = header.read_text(encoding="utf-8")
            try:
                yield header, text, declarations(text)
            except ValueError as error:
                sys.exit(f"{header}:{error}")
