#!/usr/bin/env python3
"""tests/docs/filter.py FOLDER: writes README, headers and examples to FOLDER as Doxygen is to read them. Lines keep their numbers.

Of a header, the first line becomes the brief of its page, the fields of contracts headed paragraphs, and what is indented by four or more
a drawing. What Doxygen takes for commands is escaped. Namespaces detail are left out, and of names the inline namespace. What follows
from the name is said here, once, and not in every header: members of operators, copies and moves, further overloads. An example becomes
a page of its own. In the README headings get the anchors that GitHub gives them, links to examples lead to their pages, and other files
are named.
"""
import re
import sys
from pathlib import Path

from headers import public_headers

FIELDS = "shapes requires errors cost".split()

OPERATOR = {  # what op/registry.hpp says of every operator
    "name": "The name in nets and files.",
    "inputs": "The slots of what run reads, in its order.",
    "outputs": "The slots of what run makes, in its order.",
    "attributes": "The last argument of run.",
    "grad": "The rule of the gradient.",
    "infer": "Kind, element type and dims of what run makes.",
    "run": "The kernel.",
    "row_inputs": "A bit for each input of which row i alone decides row i of what run makes.",
    "sums_rows": "The results are sums over the rows of these inputs.",
    "row_wise": "Rows are treated apart.",
}
ELEMENT = {  # what core/dtype.hpp says of every element type
    "name": "Its name, in texts.",
    "wire": "Its number in files.",
    "sum": "The type in which sums and products are formed.",
    "widen": "The element as a sum.",
    "narrow": "A sum, rounded once.",
}
USUAL = {  # what the standard library says of every container, and what means the same everywhere
    "value_type": "The type of an element.",
    "shape_type": "The type of a shape: a list of dims.",
    "Device": "Where the elements are.",
    "swap": "Exchanges what both have, without a copy.",
    "begin": "Where iteration begins.",
    "end": "Where iteration ends.",
    "size": "How many there are.",
    "empty": "Are there none?",
    "operator[]": "Number i, which is not checked.",
    "operator==": "Whether both are equal.",
    "operator<<": "Prints what is in a message, for people.",
    "fields": "The members by name, for files.",
    "op": "The operator.",
    "options": "Its attributes.",
}


def escaped(text):
    """`text` with what Doxygen takes for commands escaped, but for what stands in backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"[\\@<>#$%&~]|::|\"", lambda m: "\\" + m[0], part) for part in parts[::2]]
    return re.sub(r"\bet al\. ", r"et al.\\ ", "`".join(parts))


def comment(lines):
    """The lines of a comment `///` as one of Doxygen's, as many as there were. It is a block, whose drawings stay as they are."""
    texts = [re.sub(r"\s*///", "", line) for line in lines]
    in_field = in_drawing = False
    for i, text in enumerate(texts):
        if found := re.match(rf" ({'|'.join(FIELDS)}) {{2,}}(.*)", text):
            in_field = True
            texts[i] = f"@{found[1]} {escaped(found[2])}"
        elif in_field:
            texts[i] = escaped(text.strip())
        elif text.startswith("     ") or in_drawing:
            goes_on = next((after for after in texts[i + 1:] if after.strip()), "").startswith("     ")
            texts[i] = ("" if in_drawing else "@verbatim ") + text[5:] + ("" if goes_on else " @endverbatim")
            in_drawing = goes_on
        else:
            texts[i] = escaped(text.strip())
    texts[0] = "/** " + texts[0]
    texts[-1] += " */"
    return texts


def is_operator(scope):
    return bool(scope) and scope[-1].kind == "class" and scope[-1].name.split("<")[0].endswith("_op")


def said(declaration, overloads):
    """What need not be said in the header, as it follows from the name, or None."""
    name, scope = declaration.name, declaration.scope
    inside = scope[-1].name.split("<")[0] if scope else ""
    if declaration.kind == "class" and name.endswith("_op"):
        return f"The operator {name[:-3]}; op/registry.hpp says what its members are."
    if declaration.kind == "class" and name.startswith("dtype<"):
        return f"What rowan knows of {name[6:-1]}."
    if is_operator(scope) and name in OPERATOR:
        return OPERATOR[name]
    if inside == "dtype" and name in ELEMENT:
        return ELEMENT[name]
    if declaration.kind == "guide":
        return "The types follow from the arguments."
    if declaration.kind == "function":
        if name == "~" + inside:
            return "Lets go of what it has."
        if name in (inside, "operator=") and (found := re.search(rf"\b{inside}\s*(const&|&&)", declaration.text)):
            what = "moved" if found[1] == "&&" else "copied"
            return f"Is not {what}." if declaration.text.endswith("delete") else f"Is {what}."
        if name == "operator=" and re.search(rf"\({inside} other\)", declaration.text):
            return "Is copied or moved."
        if re.fullmatch(r"operator[-+*/%&|^]=", name):
            return "In place: whoever has an alias sees it."
        if (declaration.path, len(scope)) in overloads:
            return "@overload"
    return USUAL.get(name)


def hidden(declaration):
    """Whether `declaration` is none of the public things: private, in a namespace detail, one of xtensor's, or only announced."""
    if declaration.kind in ("namespace", "other") or declaration.kind == "class" and not declaration.body:
        return True
    return not declaration.public or any(left_out(d) for d in declaration.scope)


def left_out(declaration):
    """Whether it is a namespace that users do not name."""
    return declaration.kind == "namespace" and {"detail", "xt"} & set(declaration.name.split("::")) != set()


def filtered(source, found):
    lines = source.split("\n")
    overloads = set()
    before = {}  # line -> what is put before it
    for d in found:
        if left_out(d):
            lines[d.line:d.end + 1] = [""] * (d.end + 1 - d.line)
        if not hidden(d):
            if not d.documented and (text := said(d, overloads)):
                before[d.line] = f"/** {text} */ "
            if d.documented or d.line in before:
                overloads.add((d.path, len(d.scope)))

    out = []
    head = "/// @file"  # takes the place of #pragma once
    i = 0
    while i < len(lines):
        line = lines[i]
        end = i
        while end < len(lines) and re.match(r"\s*///(?!<)", lines[end]):
            end += 1
        if head:
            out.append(head)
            text = re.sub(r"^// (rowan/\S+: )?", "", line)
            head = "/// " + ("" if i else "@brief ") + escaped(text) if line.startswith("//") else None
        elif end > i:
            out += comment(lines[i:end])
            i = end - 1
        else:
            line = line.replace("rowan::inline v0", "rowan")
            if slot := re.match(r"ROWAN_SLOT\((\w+)\)(?:\s*// (.*))?", line):
                line = f"/** {slot[2] or 'What is called ' + slot[1]} */ struct {slot[1]} {{}};"
            if two := re.fullmatch(r"(\s+[\w:<>* ]+ )(\w+)(\{\})?, (\w+)(\{\})?;", line):
                line = f"{two[1]}{two[2]}; /** As {two[2]}. */ {two[1]}{two[4]};"
            code, mark, text = line.partition("///<")
            out.append(before.get(i, "") + code + mark + escaped(text))
        i += 1
    return "\n".join(out)


def readme(source):
    text = re.sub(r"^(##+ +)(.+)$", lambda m: f"{m[1]}{m[2]} {{#{m[2].lower().replace(' ', '-')}}}", source, flags=re.M)
    text = re.sub(r"\[([^\[\]\n]+)\]\(examples/(\w+)\.cpp\)", lambda m: f'<a href="{m[2]}_8cpp-example.html">{m[1]}</a>', text)
    return re.sub(r"\[([^\[\]\n]+)\]\(((?!https?:|#)[^()\s]+)\)", r"\1 (`\2`)", text)


def main():
    def write(path, text):
        path = Path(sys.argv[1]) / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("README.md", readme(Path("README.md").read_text(encoding="utf-8")))
    for header, text, found in public_headers():
        write(header, filtered(text, found))
    for path in Path("examples").glob("*.cpp"):
        write(path, f"/** @example {path.name} */\n")


if __name__ == "__main__":
    main()
