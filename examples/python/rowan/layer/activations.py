# rowan/layer/activations.py: functions of single elements, and softmax.
from __future__ import annotations

from typing import Optional

from rowan_cpp import Variable

from .data import apply


def tanh(x: Variable) -> Variable:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def sigmoid(x: Variable) -> Variable:
    """1 / (1 + exp(-x))."""
    return apply("sigmoid", x)


def relu(x: Variable) -> Variable:
    """x where x > 0, else 0."""
    return apply("relu", x)


def softmax(x: Variable, axis: Optional[int] = None) -> Variable:
    """exp(x) / the sum of exp of the row, or along an axis."""
    return apply("softmax", x, axis=axis)


def log_softmax(x: Variable, axis: Optional[int] = None) -> Variable:
    """The logarithms of softmax, also where its elements underflow."""
    return apply("log_softmax", x, axis=axis)


def exp(x: Variable) -> Variable:
    """exp(x)."""
    return apply("exp", x)


def log(x: Variable) -> Variable:
    """The natural logarithm."""
    return apply("log", x)


def sqrt(x: Variable) -> Variable:
    """The square root."""
    return apply("sqrt", x)


def rsqrt(x: Variable) -> Variable:
    """1 / √x."""
    return apply("rsqrt", x)


def square(x: Variable) -> Variable:
    """x · x."""
    return apply("square", x)


def abs(x: Variable) -> Variable:
    """|x|."""
    return apply("abs", x)


def pow(x: Variable, exponent: float = 1.0) -> Variable:
    """x to the power of an exponent."""
    return apply("pow", x, exponent=exponent)


def sin(x: Variable) -> Variable:
    """The sine."""
    return apply("sin", x)


def cos(x: Variable) -> Variable:
    """The cosine."""
    return apply("cos", x)


def sign(x: Variable) -> Variable:
    """-1, 0 or 1, the sign of x."""
    return apply("sign", x)


def floor(x: Variable) -> Variable:
    """The greatest integer not above x."""
    return apply("floor", x)


def ceil(x: Variable) -> Variable:
    """The smallest integer not below x."""
    return apply("ceil", x)


def round(x: Variable) -> Variable:
    """The nearest integer, of two the even one."""
    return apply("round", x)


def relu6(x: Variable, threshold: float = 6.0) -> Variable:
    """x limited to [0, threshold]."""
    return apply("relu6", x, threshold=threshold)


def hardtanh(x: Variable, min: float = 0.0, max: float = 24.0) -> Variable:
    """x limited to [min, max]."""
    return apply("hardtanh", x, min=min, max=max)


def leaky_relu(x: Variable, alpha: float = 0.01) -> Variable:
    """x where x > 0, else alpha · x."""
    return apply("leaky_relu", x, alpha=alpha)


def elu(x: Variable, alpha: float = 1.0) -> Variable:
    """x where x > 0, else alpha · (exp(x) - 1)."""
    return apply("elu", x, alpha=alpha)


def gelu(x: Variable, approximate: bool = False) -> Variable:
    """x · Φ(x), or its approximation by tanh."""
    return apply("gelu", x, approximate=approximate)


def swish(x: Variable, beta: float = 1.0) -> Variable:
    """x / (1 + exp(-beta · x))."""
    return apply("swish", x, beta=beta)


def softplus(x: Variable, beta: float = 1.0) -> Variable:
    """log(1 + exp(beta · x)) / beta."""
    return apply("softplus", x, beta=beta)


def softsign(x: Variable) -> Variable:
    """x / (1 + |x|)."""
    return apply("softsign", x)


def hard_sigmoid(x: Variable, slope: float = 0.2, offset: float = 0.5) -> Variable:
    """slope · x + offset, limited to [0, 1]."""
    return apply("hard_sigmoid", x, slope=slope, offset=offset)


def hard_swish(x: Variable, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> Variable:
    """x · min(max(x + offset, 0), threshold) / scale."""
    return apply("hard_swish", x, threshold=threshold, scale=scale, offset=offset)


def stanh(x: Variable, scale_a: float = 0.67, scale_b: float = 1.7159) -> Variable:
    """scale_b · tanh(scale_a · x)."""
    return apply("stanh", x, scale_a=scale_a, scale_b=scale_b)


def thresholded_relu(x: Variable, threshold: float = 1.0) -> Variable:
    """x where x > threshold, else 0."""
    return apply("thresholded_relu", x, threshold=threshold)
