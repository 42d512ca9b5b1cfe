# rowan/operators.py: operators, all operators by name with their slots, attributes and a line about each.
from __future__ import annotations

from typing import Any, NamedTuple

import rowan_cpp as cpp

from . import layer

# Of the others, the layer of the same name says it.
_LINES = {
    "adadelta": "Adadelta: changes param and its states in place.",
    "adagrad": "AdaGrad: changes param and moment in place, by a dense or row-sparse gradient.",
    "adam": "Adam, or AdamW if decoupled: changes param and both moments in place.",
    "adamax": "AdaMax: changes param and its states in place.",
    "cast_f32": "The elements as float32.",
    "cast_f64": "The elements as float64.",
    "cast_i64": "The elements as int64.",
    "clip_by_global_norm": "All gradients, scaled so that their common norm is at most max_norm.",
    "crf_matches": "1 where the best tags of a sequence have the label, else 0.",
    "expand_rows": "The row x, once for each row of y.",
    "full_f32": "A float32 array of these dims, filled with the value.",
    "full_f64": "A float64 array of these dims, filled with the value.",
    "full_i64": "An int64 array of these dims, filled with the value.",
    "full_like": "An array of the shape of x, filled with the value.",
    "ftrl": "FTRL: changes param and its states in place.",
    "identity": "x itself.",
    "lamb": "LAMB: changes param and both moments in place, all rows by a row-sparse gradient too.",
    "embedding_bag": "A row for each sequence of ids: the sum, mean, … of their rows of the table.",
    "lookup_table": "A row of the table for each id; its gradient is row-sparse.",
    "interleave_rows": "Rows of x where ids are 1 and of y where they are 0, each in their order.",
    "momentum": "Momentum: changes param and velocity in place.",
    "moving_average": "decay · param + (1 - decay) · grad: changes param in place.",
    "matmul_nn": "The product of two matrices.",
    "matmul_nt": "The product of a matrix and a transposed one.",
    "matmul_tn": "The product of a transposed matrix and another.",
    "padded_sequence_context": "sequence_context with trained rows outside of sequences.",
    "rmsprop": "RMSProp: changes param and its states in place.",
    "nonzero_rows": "The numbers of the rows of x where ids are the value.",
    "rowwise_adagrad": "AdaGrad with one state for each row: changes param and moment in place.",
    "sgd": "param -= learning_rate · grad, in place, by a dense or row-sparse gradient.",
    "weighted_embedding_bag": "embedding_bag with a weight for each id.",
}


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
        doc = _LINES[name] if name in _LINES else (layer.__dict__[name].__doc__ if name in layer.__dict__ else "")
        return Operator(name, info["inputs"], info["outputs"], info["variadic"], attributes, doc)
    return {name: described(name, info) for name, info in cpp.operators().items()}
