# rowan/layer/shapes.py: layers of shapes and of positions that are more than an operator with one result.
from __future__ import annotations

import warnings
from typing import NamedTuple, Sequence

from rowan_cpp import Variable

from ..made import reduce_mean
from .data import apply, cast, results


def split(x: Variable, sections: Sequence[int], axis: int = 0) -> list[Variable]:
    """Parts of these sizes along an axis."""
    return results("split", x, sections=sections, axis=axis)


def mean(x: Variable) -> Variable:
    """The mean of all elements."""
    return reduce_mean(x)


class TopK(NamedTuple):
    value: Variable
    indices: Variable

    @property
    def ids(self) -> Variable:
        """The former name of indices."""
        warnings.warn("TopK.ids is now TopK.indices", DeprecationWarning, stacklevel=2)
        return self.indices


def top_k(x: Variable, k: int = 1) -> TopK:
    """The k greatest elements of rows, in descending order, and their positions."""
    return TopK(*results("top_k", x, k=k))


def one_hot(ids: Variable, depth: int, dtype: str = "float32") -> Variable:
    """Rows of zeros with a 1 at the id."""
    rows = apply("one_hot", ids, depth=depth)
    return rows if dtype == "float32" else cast(rows, dtype)
