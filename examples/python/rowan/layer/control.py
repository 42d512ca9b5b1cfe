# rowan/layer/control.py: loops, conditionals and arrays of tensors.
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence, Union

import rowan_cpp as cpp
from rowan_cpp import Variable, array_read, array_size, array_stack, array_unstack, array_write, create_array

from ..made import pick_sequences
from .data import apply, cast


def _one_or_all(results: list[Variable], one: bool) -> Any:
    return results[0] if one else results


def while_loop(states: Union[Variable, Sequence[Variable]], condition: Callable, body: Callable,
               max_iterations: int = 0) -> Any:
    """Runs body(*states), which returns the next states, while condition(*states) is true. A state is a variable, also
    an array of create_array. Gradients flow through all iterations."""
    first = [states] if isinstance(states, Variable) else list(states)
    return _one_or_all(cpp.while_loop(first, condition, body, max_iterations), isinstance(states, Variable))


def cond(condition: Variable, then: Callable, otherwise: Callable) -> Any:
    """The results of then() if the condition is true, else those of otherwise(); the layers of one of them run."""
    is_one = []

    def first() -> Any:
        made = then()
        is_one.append(isinstance(made, Variable))
        return made
    results = cpp.cond(condition, first, otherwise)
    return _one_or_all(results, is_one[0])


class Divided(NamedTuple):
    marked: Variable
    others: Variable
    is_marked: Variable


def divide_rows(mask: Variable, x: Variable) -> Divided:
    """The rows or sequences of x whose mask is true, the others, and the mask as 0 and 1."""
    marks = cast(mask, "int64")
    marked, others = (pick_sequences(x, apply("nonzero_rows", marks, x, value=value)) for value in (1, 0))
    return Divided(marked, others, marks)


def if_else(mask: Variable, x: Variable, then: Callable, otherwise: Callable) -> Variable:
    """then of the rows of x whose mask is true and otherwise of the rest, in the order of x."""
    parts = divide_rows(mask, x)
    return apply("interleave_rows", parts.is_marked, then(parts.marked), otherwise(parts.others))
