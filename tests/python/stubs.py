# tests/python/stubs.py FOLDER MADE: the stub in FOLDER has the names and arguments of rowan_cpp, and rowan's functions have
# types.
import ast
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import rowan
from rowan import cpp, layer

folder, made = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
tree = ast.parse((folder / "rowan_cpp-stubs" / "__init__.pyi").read_text())
special = {"__init__", "__getitem__", "__contains__", "__len__", "__iter__", "__enter__", "__exit__", "__call__"}
arithmetic = {f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv") for side in ("", "r")} | {"__neg__"}
aliases = {"Given", "Result"}


def names_in(body):
    """The names that a module or a class of the stub defines, with their arguments."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = []
    return found


def arguments(node):
    a = node.args
    return [one.arg for one in a.posonlyargs + a.args if one.arg != "self"] + ([a.vararg.arg] if a.vararg else []) + \
        [one.arg for one in a.kwonlyargs] + ([a.kwarg.arg] if a.kwarg else [])


def documented(function):
    """The arguments of each overload, from pybind11's signatures."""
    name = re.escape(function.__name__)
    signatures = re.findall(rf"^(?:\d+\. )?{name}\((.*)\) -> ", function.__doc__ or "", re.M)
    return [[one.lstrip("*") for one in re.findall(r"(?:^|, )(\*{0,2}\w+)(?=:|,|$)", s) if one != "self"] for s in signatures if s != "*args, **kwargs" or len(signatures) == 1]


def same(where, function, nodes):
    got = [arguments(node) for node in nodes]
    for want in documented(function):
        if [name for name in want if re.match(r"arg\d+$", name)] or want in (["args"], ["args", "kwargs"]):
            continue  # without names
        assert want in got, f"{where}: the stub has {got}, the module {want}"


stub = names_in(tree.body)
module = {name for name in vars(cpp) if not name.startswith("__")} | {"__version__"}
assert set(stub) == module, set(stub) ^ module
for name, nodes in stub.items():
    value = getattr(cpp, name)
    if not inspect.isclass(value):
        if callable(value):
            same(name, value, nodes)
        continue
    inner = names_in(nodes[0].body)
    members = {m for m in vars(value) if not m.startswith("_") or m in special}
    if value.__init__ is object.__init__ or isinstance(vars(value).get("__init__"), type(object.__init__)):
        members -= {"__init__"}  # it cannot be called
    if name == "Variable":
        members |= arithmetic & set(vars(value))
    assert set(inner) == members, (name, set(inner) ^ members)
    for member in members:
        if callable(getattr(value, member)) and inner[member]:
            same(f"{name}.{member}", getattr(value, member), inner[member])

functions = {name: f for where in (layer, rowan.sparse) for name, f in vars(where).items() if getattr(f, "__module__", "") == where.__name__ and name not in ("gather", "__getattr__")}
typed = {name: nodes for name, nodes in names_in(ast.parse(made.read_text()).body).items() if nodes}
assert len(typed) > 80 and set(functions) == set(typed) - {"moving_average"}, set(functions) ^ set(typed)
for name, function in functions.items():
    assert [arguments(node) for node in typed[name]] == [list(inspect.signature(function).parameters)], name

assert (folder / "rowan" / "py.typed").exists()
for where in layer, rowan.sparse, rowan:
    for name, value in vars(where).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            untyped = [p for p in inspect.signature(value).parameters.values() if p.annotation is p.empty]
            assert not untyped and inspect.signature(value).return_annotation is not inspect.Signature.empty, (name, untyped)
            assert value.__doc__, name
if importlib.util.find_spec("mypy"):  # Debian: mypy
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(folder / "rowan_cpp-stubs" / "__init__.pyi", os.path.join(place, "rowan_cpp.pyi"))
        shutil.copytree(folder / "rowan", os.path.join(place, "rowan"))
        shutil.copy(made, os.path.join(place, "rowan"))
        subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "-p", "rowan"], cwd=place, check=True)
print(f"stubs: {len(module)} names")
