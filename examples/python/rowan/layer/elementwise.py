# rowan/layer/elementwise.py: arithmetic and comparisons of elements, which also give variables their + - * /.
from __future__ import annotations

from typing import Protocol, Union

from rowan_cpp import Variable

from ..made import add, div, full_like, layers, mul, negate, scale, sub, unsqueeze
from .data import apply, whole_number

Operand = Union[Variable, float]


def _aligned(x: Variable, y: Operand, axis: int) -> Variable:
    """y with the dims of 1 that align it with x at the axis."""
    if not isinstance(y, Variable):
        if axis != -1:
            raise ValueError(f"axis is {axis}, expected none for a number")
        return full_like(x, y)
    if whole_number("axis", axis) < -1:
        raise ValueError(f"axis is {axis}, expected -1 or a dim of x")
    ones = len(x.shape) - len(y.shape) - axis
    if axis == -1 or ones == 0:
        return y
    if ones < 0:
        most = max(0, len(x.shape) - axis)
        raise ValueError(f"y rank is {len(y.shape)}, expected at most {most}, the dims of x from {axis} on")
    return unsqueeze(y, list(range(len(y.shape), len(y.shape) + ones)))


class _Comparison(Protocol):
    def __call__(self, x: Variable, y: Operand, axis: int = -1) -> Variable: ...


def _comparison(name: str) -> _Comparison:
    def compare(x: Variable, y: Operand, axis: int = -1) -> Variable:
        return apply(name, x, _aligned(x, y, axis))
    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = layers[name].__doc__
    return compare


less, less_equal, greater, greater_equal, equal, logical_and, logical_or = map(
    _comparison, ("less", "less_equal", "greater", "greater_equal", "equal", "logical_and", "logical_or"))


def where(condition: Variable, x: Operand, y: Operand) -> Variable:
    """The elements of x where the condition is true, else those of y; shapes are broadcast by NumPy's rules. One of
    them may be a number."""
    return apply("where", condition, *(z if isinstance(z, Variable) else full_like(other, z)  # type: ignore[arg-type]
                                       for z, other in ((x, y), (y, x))))


def _arithmetic(both, right, left):
    def forward(x, y):
        if isinstance(y, Variable):
            return both(x, y)
        return right(x, float(y)) if isinstance(y, (int, float)) else NotImplemented

    def backward(y, x):
        return left(float(x), y) if isinstance(x, (int, float)) else NotImplemented
    return forward, backward


for _name, _functions in {
    "add": _arithmetic(add, lambda x, s: scale(x, 1, s), lambda s, y: scale(y, 1, s)),
    "sub": _arithmetic(sub, lambda x, s: scale(x, 1, -s), lambda s, y: scale(y, -1, s)),
    "mul": _arithmetic(mul, scale, lambda s, y: scale(y, s)),
    "truediv": _arithmetic(div, lambda x, s: scale(x, 1 / s), lambda s, y: div(full_like(y, s), y)),
}.items():
    setattr(Variable, f"__{_name}__", _functions[0])
    setattr(Variable, f"__r{_name}__", _functions[1])
setattr(Variable, "__neg__", negate)
