# rowan/layer/data.py: data, parameters and constants, and operators by name.
from __future__ import annotations

from operator import index
from typing import Any, Optional, Sequence, Union

import rowan_cpp as cpp
from rowan_cpp import UNK, Initializer, Variable

Init = Union[Initializer, tuple]


def data(name: str, shape: Sequence[int] = (UNK, UNK), dtype: str = "float32", lod_level: int = 0) -> Variable:
    """Data that every batch has under this name. The first batch sets UNK dims, except the first dim."""
    return cpp.variable(cpp.default_scope(), name, shape=shape, dtype=dtype, lod_level=lod_level)


def outermost_scope() -> cpp.Scope:
    """The scope of parameters, which all steps of a recurrent layer share."""
    scope = cpp.default_scope()
    while scope.parent is not None:
        scope = scope.parent
    return scope


def parameter(shape: Sequence[int], init: Init = (0.0, 0.0), name: str = "", dtype: str = "float32") -> Variable:
    """A variable that training changes. Its initial values are between two numbers, or a Initializer."""
    return cpp.variable(outermost_scope(), name, label="parameter", shape=shape, init=init, dtype=dtype)


def selected_rows(name: str, shape: Sequence[int], dtype: str = "float32", rows: Optional[Sequence[int]] = None,
                  init: Optional[Init] = None) -> Variable:
    """Data that is a SelectedRows: a table of which only some rows exist. With `rows`, a parameter that begins with
    these."""
    return cpp.selected_rows(name, shape, dtype, rows, init)


def results(operator: str, *read: Variable, **attributes: Any) -> list[Variable]:
    """All results of an operator."""
    return cpp.operator(operator, read=list(read), **attributes).writes


def apply(operator: str, *read: Variable, **attributes: Any) -> Variable:
    """The first result of an operator."""
    return results(operator, *read, **attributes)[0]


def full(shape: Sequence[int], value: float, dtype: str = "float32") -> Variable:
    """A constant: an array of this shape, float32, float64 or int64, filled with the value."""
    return apply({"float32": "full_f32", "float64": "full_f64", "int64": "full_i64"}[dtype], dims=shape, value=value)


def cast(x: Variable, dtype: str) -> Variable:
    """The elements as float32, float64 or int64."""
    return apply({"float32": "cast_f32", "float64": "cast_f64", "int64": "cast_i64"}[dtype], x)


def dropout(x: Variable, probability: float = 0.5) -> Variable:
    """In train, every element is 0 with this probability, else x / (1 - probability); elsewhere x."""
    if not 0 <= probability <= 1:
        raise ValueError(f"dropout: probability is {probability}, expected in [0, 1]")
    return apply("dropout", x, cpp.seed(), probability=probability)


def whole_number(name: str, given: Any) -> int:
    """The number, for functions that do not pass it to an operator."""
    try:
        return index(given)
    except TypeError:
        raise TypeError(f"{name} is {type(given)}, expected a whole number") from None
