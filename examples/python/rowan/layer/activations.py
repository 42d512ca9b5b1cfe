# rowan/layer/activations.py: silu, and softmax along an axis.
from __future__ import annotations

from typing import Optional

from rowan_cpp import Variable

from ..made import lod_reset, squeeze, swish, transpose, unsqueeze
from .data import apply, whole_number


def silu(x: Variable) -> Variable:
    """x / (1 + exp(-x)): swish with a beta of 1."""
    return swish(x)


def _along(operator: str, x: Variable, axis: Optional[int]) -> Variable:
    """The operator, which is for rows, along an axis."""
    if axis is None:
        return apply(operator, x)
    rank = len(x.shape)
    if not -rank <= whole_number("axis", axis) < rank:
        raise IndexError(f"{operator}: axis = {axis} is not in [-{rank}, {rank})")
    if rank == 1:
        return squeeze(apply(operator, unsqueeze(x, [0])), [0])
    if axis in (-1, rank - 1):
        return apply(operator, x)
    swapped = list(range(rank))
    swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
    y = transpose(apply(operator, transpose(x, swapped)), swapped)
    return lod_reset(y, x) if axis in (0, -rank) and x.lod_level else y


def softmax(x: Variable, axis: Optional[int] = None) -> Variable:
    """exp(x) / the sum of exp of the row, or along an axis."""
    return _along("softmax", x, axis)


def log_softmax(x: Variable, axis: Optional[int] = None) -> Variable:
    """The logarithms of softmax, also where its elements underflow."""
    return _along("log_softmax", x, axis)
