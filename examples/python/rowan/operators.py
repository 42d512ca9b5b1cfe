# rowan/operators.py: operators, all operators by name with their slots, attributes and a line about each.
from __future__ import annotations

from typing import Any, NamedTuple

import rowan_cpp as cpp


class Attribute(NamedTuple):
    """An attribute of an operator: the name of its type, and its default."""
    type: str
    default: Any


class Operator(NamedTuple):
    """An operator: the names of its inputs and outputs, whether the first input may be several, attributes by name."""
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    variadic: bool
    attributes: dict[str, Attribute]
    doc: str


def operators() -> dict[str, Operator]:
    """All operators by name."""
    def described(name: str, info: dict[str, Any]) -> Operator:
        attributes = {key: Attribute(*value) for key, value in info["attributes"].items()}
        return Operator(name, info["inputs"], info["outputs"], info["variadic"], attributes, info["brief"])
    return {name: described(name, info) for name, info in cpp.operators().items()}
