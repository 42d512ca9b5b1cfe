# rowan/layer/parametric.py: layers with parameters: fc, embedding and normalisation.
from __future__ import annotations

from typing import Optional, Sequence, Union

import rowan_cpp as cpp
from rowan_cpp import UNK, Constant, Pooling, Variable, XavierUniform

from .data import Init, apply, full, outermost_scope, parameter, selected_rows


def fc(input: Variable, output_size: Optional[int] = None, weight: Optional[Init] = None,
       bias: Union[bool, Init] = True, name: str = "") -> Variable:
    """input · W + b; output_size is by default the width of the input. bias may be its first values, or False."""
    dtype, init = input.dtype, (0.0, 0.0) if bias is True else bias
    if bias is False:
        size = input.shape[1] if output_size is None else output_size
        w = parameter([input.shape[1], size], XavierUniform() if weight is None else weight,
                      name and name + ".w_0", dtype)
        return apply("matmul", input, w)
    w, b = (cpp.variable(outermost_scope(), name and name + slot, label="parameter", dtype=dtype)
            for slot in (".w_0", ".b_0"))
    return apply("fc", input, w, b, output_size=output_size, weight=weight, bias=init)


def _table(table: Optional[Variable], height: Optional[int], width: Optional[int], init: Init, name: str,
           dtype: str, rows: Optional[Sequence[int]]) -> Variable:
    if table is not None:
        return table
    if height is None or width is None:
        raise TypeError("embedding: it needs a table, or height and width")
    if rows is not None:
        return selected_rows(name, [height, width], dtype, rows, init)
    return parameter([height, width], init, name, dtype)


def embedding(ids: Variable, height: Optional[int] = None, width: Optional[int] = None,
              padding_id: Optional[int] = None, name: str = "", init: Init = (-0.1, 0.1), dtype: str = "float32",
              table: Optional[Variable] = None, rows: Optional[Sequence[int]] = None,
              unknown: Optional[int] = None) -> Variable:
    """A row of a table for each id: of a given one, or of a new one of that name. Its gradient is row-sparse. A new one
    with `rows` is a SelectedRows: only these exist at first. Ids that the table does not have read the row unknown;
    without it they are errors."""
    table = _table(table, height, width, init, name, dtype, rows)
    return apply("lookup_table", table, ids, padding_id=padding_id, unknown=unknown)


def embedding_bag(ids: Variable, height: Optional[int] = None, width: Optional[int] = None,
                  pool: Pooling = Pooling.sum, padding_id: Optional[int] = None, name: str = "",
                  init: Init = (-0.1, 0.1), dtype: str = "float32", table: Optional[Variable] = None,
                  weight: Optional[Variable] = None, rows: Optional[Sequence[int]] = None,
                  unknown: Optional[int] = None) -> Variable:
    """A row for each sequence of ids: the sum, mean, … of their rows, each with a weight if there are weights."""
    table = _table(table, height, width, init, name, dtype, rows)
    if weight is None:
        return apply("embedding_bag", table, ids, pool=pool, padding_id=padding_id, unknown=unknown)
    return apply("weighted_embedding_bag", table, ids, weight, pool=pool, padding_id=padding_id, unknown=unknown)


def layer_norm(x: Variable, begin_axis: int = -1, epsilon: float = 1e-5, scale: bool = True, shift: bool = True,
               name: str = "") -> Variable:
    """Rows with mean 0 and variance 1, with trained scale and shift."""
    axis = begin_axis + len(x.shape) if begin_axis < 0 else begin_axis
    tail = list(x.shape[axis:])

    def row(trained: bool, first: float, slot: str) -> Variable:
        return parameter(tail, Constant(first), name and name + slot, x.dtype) if trained else full(tail, first, x.dtype)
    return apply("layer_norm", x, row(scale, 1, ".w_0"), row(shift, 0, ".b_0"), begin_axis=axis, epsilon=epsilon)


def batch_norm(x: Variable, momentum: float = 0.9, epsilon: float = 1e-5, scale: bool = True, shift: bool = True,
               name: str = "") -> Variable:
    """Columns with mean 0 and variance 1, by the batch in train and by moving statistics elsewhere."""
    if cpp.default_scope().parent is not None:
        raise RuntimeError("batch_norm is not for steps, loops and branches: use layer_norm")
    if len(x.shape) != 2 or x.shape[1] == UNK:
        raise ValueError(f"batch_norm: x.shape is {list(x.shape)}, expected a matrix of known width")
    row = [x.shape[1]]

    def named(first: float, slot: str) -> Variable:
        return parameter(row, Constant(first), name and name + slot, x.dtype)
    w = named(1, ".w_0") if scale else full(row, 1, x.dtype)
    b = named(0, ".b_0") if shift else full(row, 0, x.dtype)
    return apply("batch_norm", x, w, b, named(0, ".mean_0"), named(1, ".variance_0"), cpp.seed(), momentum=momentum,
                 epsilon=epsilon)
