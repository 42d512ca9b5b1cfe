# rowan/layer/elementwise.py: arithmetic and comparisons of elements, which also give variables their + - * /.
from __future__ import annotations

from typing import Sequence, Union

from rowan_cpp import Variable

from .data import apply, full_like, whole_number

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
    return apply("unsqueeze", y, axes=list(range(len(y.shape), len(y.shape) + ones)))


def add(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """x + y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x."""
    return apply("add", x, y, axis=axis)


def sub(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """x - y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x."""
    return apply("sub", x, y, axis=axis)


def mul(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """x · y of elements; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x."""
    return apply("mul", x, y, axis=axis)


def div(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """x / y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x."""
    return apply("div", x, y, axis=axis)


def maximum(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """The greater elements; shapes are broadcast as by add."""
    return apply("maximum", x, y, axis=axis)


def minimum(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """The smaller elements; shapes are broadcast as by add."""
    return apply("minimum", x, y, axis=axis)


def sum(x: Sequence[Variable]) -> Variable:
    """The sum of tensors of one shape."""
    return apply("sum", *x)


def scale(x: Variable, factor: float, bias: float = 0.0) -> Variable:
    """factor · x + bias."""
    return apply("scale", x, factor=factor, bias=bias)


def clip(x: Variable, min: float, max: float) -> Variable:
    """x limited to [min, max]."""
    return apply("clip", x, min=min, max=max)


def clip_by_norm(x: Variable, max_norm: float) -> Variable:
    """x, scaled so that its norm is at most max_norm."""
    return apply("clip_by_norm", x, max_norm=max_norm)


def negate(x: Variable) -> Variable:
    """-x."""
    return apply("negate", x)


def less(x: Variable, y: Operand, axis: int = -1) -> Variable:
    """Whether x < y; shapes are broadcast as by add."""
    return apply("less", x, _aligned(x, y, axis))


def less_equal(x: Variable, y: Operand, axis: int = -1) -> Variable:
    """Whether x <= y."""
    return apply("less_equal", x, _aligned(x, y, axis))


def greater(x: Variable, y: Operand, axis: int = -1) -> Variable:
    """Whether x > y."""
    return apply("greater", x, _aligned(x, y, axis))


def greater_equal(x: Variable, y: Operand, axis: int = -1) -> Variable:
    """Whether x >= y."""
    return apply("greater_equal", x, _aligned(x, y, axis))


def equal(x: Variable, y: Operand, axis: int = -1) -> Variable:
    """Whether x == y."""
    return apply("equal", x, _aligned(x, y, axis))


def logical_and(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """Whether x and y."""
    return apply("logical_and", x, _aligned(x, y, axis))


def logical_or(x: Variable, y: Variable, axis: int = -1) -> Variable:
    """Whether x or y."""
    return apply("logical_or", x, _aligned(x, y, axis))


def logical_not(x: Variable) -> Variable:
    """Whether not x."""
    return apply("logical_not", x)


def isfinite(x: Variable) -> Variable:
    """Whether elements are neither infinite nor NaN."""
    return apply("isfinite", x)


def isnan(x: Variable) -> Variable:
    """Whether elements are NaN."""
    return apply("isnan", x)


def isinf(x: Variable) -> Variable:
    """Whether elements are infinity or -infinity."""
    return apply("isinf", x)


def where(condition: Variable, x: Operand, y: Operand) -> Variable:
    """The elements of x where the condition is true, else those of y; shapes are broadcast by NumPy's rules. One of them may be a number."""
    return apply("where", condition, x if isinstance(x, Variable) else _aligned(y, x, -1), y if isinstance(y, Variable) else _aligned(x, y, -1))


def any(x: Variable) -> Variable:
    """Whether any element is true."""
    return apply("any", x)


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
