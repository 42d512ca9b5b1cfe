# rowan/layer/shapes.py: shapes, reductions, products of matrices and positions of elements.
from __future__ import annotations

from typing import NamedTuple, Optional, Sequence

from rowan_cpp import Variable

from .data import apply, cast, positive, positives, results


def concat(x: Sequence[Variable], axis: int = 0) -> Variable:
    """Tensors joined along an axis; along the first one, batches with as many levels are joined."""
    return apply("concat", *x, axis=axis)


def split(x: Variable, sections: Sequence[int], axis: int = 0) -> list[Variable]:
    """Parts of these sizes along an axis."""
    return results("split", x, sections=sections, axis=axis)


def stack(x: Sequence[Variable], axis: int = 0) -> Variable:
    """Tensors joined along a new axis."""
    return apply("stack", *x, axis=positive(x[0], axis, 1) if x else axis)


def shape(x: Variable) -> Variable:
    """The dims of x when the net runs."""
    return apply("shape", x)


def reshape(x: Variable, shape: Sequence[int]) -> Variable:
    """The elements in another shape: -1 is what is left, 0 the dim of x."""
    shape = list(shape)
    if shape and shape[0] == -1 and len(x.shape) == len(shape) and list(x.shape[1:]) == shape[1:]:
        shape[0] = 0  # the same rows
    return apply("reshape", x, shape=shape)


def squeeze(x: Variable, axes: Sequence[int] = ()) -> Variable:
    """x without these dims of 1, or without all dims of 1."""
    return apply("squeeze", x, axes=positives(x, axes) or [i for i, dim in enumerate(x.shape) if dim == 1])


def unsqueeze(x: Variable, axes: Sequence[int]) -> Variable:
    """x with dims of 1 at these axes."""
    return apply("unsqueeze", x, axes=[positive(x, axis, len(axes)) for axis in axes])


def transpose(x: Variable, perm: Sequence[int] = ()) -> Variable:
    """The dims in another order, by default reversed."""
    return apply("transpose", x, perm=positives(x, perm))


def matmul(x: Variable, y: Variable, transpose_x: bool = False, transpose_y: bool = False) -> Variable:
    """Products of matrices, or of batches of them."""
    if len(x.shape) == len(y.shape) == 2 and not (transpose_x and transpose_y):
        return apply("matmul_tn" if transpose_x else "matmul_nt" if transpose_y else "matmul_nn", x, y)
    return apply("matmul", x, y, transpose_x=transpose_x, transpose_y=transpose_y)


def row_dot(x: Variable, y: Variable) -> Variable:
    """The dot products of rows."""
    return apply("row_dot", x, y)


def reduce_sum(x: Variable, axes: Sequence[int] = (), keep_dims: bool = False) -> Variable:
    """The sums of the elements along these axes, by default along all of them."""
    return apply("reduce_sum", x, axes=positives(x, axes), keep_dims=keep_dims)


def reduce_mean(x: Variable, axes: Sequence[int] = (), keep_dims: bool = False) -> Variable:
    """The means of the elements along these axes, by default along all of them."""
    return apply("reduce_mean", x, axes=positives(x, axes), keep_dims=keep_dims)


def reduce_max(x: Variable, axes: Sequence[int] = (), keep_dims: bool = False) -> Variable:
    """The greatest elements along these axes, by default along all of them."""
    return apply("reduce_max", x, axes=positives(x, axes), keep_dims=keep_dims)


def reduce_min(x: Variable, axes: Sequence[int] = (), keep_dims: bool = False) -> Variable:
    """The smallest elements along these axes, by default along all of them."""
    return apply("reduce_min", x, axes=positives(x, axes), keep_dims=keep_dims)


def reduce_prod(x: Variable, axes: Sequence[int] = (), keep_dims: bool = False) -> Variable:
    """The products of the elements along these axes, by default along all of them."""
    return apply("reduce_prod", x, axes=positives(x, axes), keep_dims=keep_dims)


def mean(x: Variable) -> Variable:
    """The mean of all elements."""
    return apply("reduce_mean", x)


def cumsum(x: Variable, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Variable:
    """Running sums along an axis."""
    return apply("cumsum", x, axis=positive(x, axis), exclusive=exclusive, reverse=reverse)


def argmax(x: Variable, axis: int = -1, keep_dims: bool = False) -> Variable:
    """The positions of the greatest elements along an axis."""
    return apply("argmax", x, axis=positive(x, axis), keep_dims=keep_dims)


def argmin(x: Variable, axis: int = -1, keep_dims: bool = False) -> Variable:
    """The positions of the smallest elements along an axis."""
    return apply("argmin", x, axis=positive(x, axis), keep_dims=keep_dims)


def argsort(x: Variable, axis: int = -1, descending: bool = False) -> Variable:
    """The positions along an axis in the order of their elements; equal ones keep their order, NaN is the greatest."""
    return apply("argsort", x, axis=positive(x, axis), descending=descending)


class TopK(NamedTuple):
    value: Variable
    indices: Variable


def top_k(x: Variable, k: int = 1) -> TopK:
    """The k greatest elements of rows, in descending order, and their positions."""
    return TopK(*results("top_k", x, k=k))


def one_hot(ids: Variable, depth: int, dtype: str = "float32") -> Variable:
    """Rows of zeros with a 1 at the id."""
    rows = apply("one_hot", ids, depth=depth)
    return rows if dtype == "float32" else cast(rows, dtype)
