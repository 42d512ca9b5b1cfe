"""tests/single/generate.py: what single_include/generate.py makes of small trees of headers, and what it refuses."""
import pathlib
import subprocess
import sys
import tempfile

GENERATE = pathlib.Path(__file__).resolve().parents[2] / "single_include/generate.py"
ONCE = "#pragma once\n"
NEXT = "#include <rowan/version.hpp>\n"
VERSION = "#define ROWAN_VERSION_MAJOR 1\n#define ROWAN_VERSION_MINOR 2\n#define ROWAN_VERSION_PATCH 3\n"
HEAD = "// rowan/rowan.hpp: rowan 1.2.3 in one file, but for what needs nanopb or Thrust. single_include/generate.py made it.\n"
HEAD += "//\n// A licence\n//\n// of two paragraphs\n#pragma once\n\n" + VERSION + "\n"
failed = 0


def check(name, got, want):
    global failed
    if got != want:
        failed = 1
        print(f"{name}\n--- is\n{got}\n--- and not\n{want}")


def generate(folder, *arguments):
    run = subprocess.run([sys.executable, GENERATE, *arguments, folder], capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def tree(headers):
    """A folder with the headers rowan/NAME.hpp, which begin with ONCE and NEXT unless they have a #pragma. The umbrella includes `a`."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=temporary))
    (folder / "LICENSE").write_text("A licence\n\nof two paragraphs\n", encoding="utf-8")
    headers = {"rowan": "#include <rowan/a.hpp>\n", "version": VERSION, **headers}
    for name, text in headers.items():
        path = folder / "include/rowan" / f"{name}.hpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if "pragma" in text else f"{ONCE}{NEXT * (name != 'version')}{text}", encoding="utf-8")
    return folder


def makes(name, headers, want):
    folder = tree(headers)
    check(f"{name}: errors", generate(folder), "")
    check(name, (folder / "single_include/rowan/rowan.hpp").read_text(encoding="utf-8"), HEAD + want)
    check(f"{name}: --check", generate(folder, "--check"), "")


def refuses(name, headers, want):
    folder = tree(headers)
    check(name, generate(folder), want + "\n")
    check(f"{name}: nothing is written", (folder / "single_include").exists(), False)


with tempfile.TemporaryDirectory() as temporary:
    makes("each header once, after those that it includes", {
        "a": "// rowan/a.hpp: a.\n#pragma once\n\n#include <rowan/b.hpp>\n#include <rowan/sub/c.hpp>\n\n#include <vector>\n\nint a = b;\n",
        "b": "#include <rowan/sub/c.hpp>  // c\n\n# include <string>\nint b = c;\n",
        "sub/c": "int c;\n",
    }, "int c;\n\n# include <string>\nint b = c;\n\n// rowan/a.hpp: a.\n\n#include <vector>\n\nint a = b;\n")

    others = "#include <vector>\n#ifndef Y\n# if Z\n#include <set>\n# endif\n#include <map>\n#endif\n#include <set>\n#include <map>\n"
    makes("what others have, once outside of #if and untouched within", {
        "a": "#include <rowan/b.hpp>\n#include <vector>\n#include <string>\n#ifdef X\n#include <vector>\n#include <map>\n#endif\nint a;\n",
        "b": f"{others}int b;\n",
    }, f"{others}int b;\n\n"
       "#include <string>\n#ifdef X\n#include <vector>\n#include <map>\n#endif\nint a;\n")

    makes("what a header that has nothing else includes", {
        "a": "#include <rowan/b.hpp>\n#include <rowan/c.hpp>\n#include <vector>\nstd::vector<int> a;\n",
        "b": "// rowan/b.hpp: b.\n#pragma once\n\n#include <rowan/version.hpp>\n\n#include <vector>\n",
        "c": "// rowan/c.hpp: c.\n#pragma once\n\n#include <rowan/b.hpp>\n#include <vector>\n",
    }, "// rowan/b.hpp: b.\n\n#include <vector>\n\nstd::vector<int> a;\n")

    text = """\
/*
#include <rowan/nowhere.hpp>
#if X
*/
// the next line too \\
#include <rowan/nowhere.hpp>
auto raw = R"end(
#include <rowan/nowhere.hpp>
)"
#ifdef Y
)end";
auto u8raw = u8R"(
#if 1 /* " ' )";
auto quotes = "\\"/*", slashes = "//", one = '"', two = '\\'', big = 1'000'000, hex = 0x1'0; /* '
#include <rowan/nowhere.hpp>
*/
#include <vector>


int after;
"""
    makes("what looks like a directive in comments and literals", {
        "a": "#include <rowan/b.hpp>\n#include <vector>\nint a;\n",
        "b": text,
    }, text + "\nint a;\n")

    makes("what is left out", {
        "a": "int a;\n", "detail/helper": "", "thrust": "#include <rowan/thrust/b.hpp>\n", "thrust/b": "#include <rowan/a.hpp>\n",
        "detail/nanopb": "#include <pb.h>\n", "io/desc": "#include <rowan/a.hpp>\n#include <rowan/detail/nanopb.hpp>\n",
        "io/model": "#include <rowan/io/desc.hpp>\n", "io": "#include <rowan/io/model.hpp>\n",
    }, "int a;\n")

    refuses("a header that nothing reaches", {"a": "", "io/npy": ""},
            "rowan/io/npy.hpp is not reached from rowan/rowan.hpp, and needs neither nanopb nor Thrust")
    refuses("a missing header", {"a": "#include <rowan/b.hpp>\n"}, "rowan/a.hpp includes <rowan/b.hpp>, which is not there")
    refuses("a cycle", {"a": "#include <rowan/b.hpp>\n", "b": "#include <rowan/c.hpp>\n", "c": "#include <rowan/b.hpp>\n"},
            "rowan/b.hpp includes rowan/c.hpp includes rowan/b.hpp: that has no end")
    refuses("a header that includes itself", {"a": "#include <rowan/a.hpp>\n"}, "rowan/a.hpp includes rowan/a.hpp: that has no end")
    place = "inside an #if or below other code: put the #if into that header, and includes at the top"
    refuses("one of ours inside #if", {"a": "#ifdef X\n#include <rowan/b.hpp>\n#endif\n", "b": ""},
            f"rowan/a.hpp has `#include <rowan/b.hpp>` {place}")
    refuses("one of ours below code", {"a": "int a;\n#include <rowan/b.hpp>\n", "b": ""},
            f"rowan/a.hpp has `#include <rowan/b.hpp>` {place}")
    refuses("an include in quotes", {"a": '#include "b.hpp"\n', "b": ""}, 'rowan/a.hpp has `#include "b.hpp"`: it needs angle brackets')
    refuses("none of ours", {"a": ONCE}, "rowan/a.hpp includes none of ours: <rowan/version.hpp> is for all")
    refuses("no #pragma once", {"a": "// #pragma once\n"}, "rowan/a.hpp has no `#pragma once`")

    folder = tree({"a": "int a;\n"})
    late = "single_include is out of date: run single_include/generate.py and commit the result\n"
    check("no file", generate(folder, "--check"), late)
    generate(folder)
    with (folder / "single_include/rowan/rowan.hpp").open("a", encoding="utf-8") as file:
        file.write("\n")
    check("a line too many", generate(folder, "--check"), late)

sys.exit(failed)
