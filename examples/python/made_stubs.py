# made_stubs.py FILE: writes the types of rowan.made, for editors and mypy.
import inspect
import sys

from rowan import layer, made

kept = {name: f for name, f in made.layers.items() if getattr(layer, name) is f}  # the others are written by hand
lines = ["from typing import Callable, Dict, Optional, Sequence, Union", "import numpy, rowan_cpp", f"__all__ = {[*kept]}",
         "layers: Dict[str, Callable[..., rowan_cpp.Variable]]"]
for name, function in {**kept, **made.optimizers}.items():
    signature = inspect.signature(function)
    arguments = [p.replace(default=p.empty if p.default is p.empty else ...) for p in signature.parameters.values()]
    lines.append(f"def {name}{signature.replace(parameters=arguments)}: ...".replace("= Ellipsis", "= ..."))
with open(sys.argv[1], "w") as file:
    print(*lines, sep="\n", file=file)
