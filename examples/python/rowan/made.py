# rowan/made.py: the layers that are one operator, and the optimizers on arrays, made of rowan_cpp.operators().
from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any, Callable, Optional, Sequence, Union

import rowan_cpp as cpp
from numpy import ndarray
from rowan_cpp import Pooling, Reduction, SelectedRows, Variable

_TYPES: dict[str, Any] = {"float": float, "int": int, "bool": bool, "str": str, "list[int]": Sequence[int],
                          "list[float]": Sequence[float], "Pooling": Pooling, "Reduction": Reduction}
# Operators without a layer of their name; most are parts of others.
_PARTS = {"cast_f32", "cast_f64", "cast_i64", "clip_by_global_norm", "crf_matches", "expand_rows", "full_f32", "full_f64",
          "full_i64", "identity", "interleave_rows", "lookup_table", "nonzero_rows",
          "padded_sequence_context", "to_dense", "weighted_embedding_bag"}
# Inputs that have better names than the slots.
_INPUTS = {"linear_chain_crf": ("emission", "transition", "label"), "sequence_mask": ("lengths",)}


def _function(name: str, info: dict[str, Any], call: Callable, kinds: list, result: Any) -> Callable:
    """The function of the operator's inputs and attributes; call(name, *inputs, **attributes) is its body."""
    def parameter(key: str, kind: Any, first: Any = Parameter.empty) -> Parameter:
        return Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, default=first, annotation=kind)

    def option(key: str, kind: str, first: Any) -> Parameter:
        bare = _TYPES[kind.replace(" | None", "")]
        return parameter(key, Optional[bare] if kind.endswith("None") else bare,
                         tuple(first) if isinstance(first, list) else first)
    several, slots = info["variadic"], _INPUTS.get(name, info["inputs"])
    more = [parameter("weights", Optional[Variable], None)] if call is _layer and f"weighted_{name}" in _LOSSES else []
    options = sorted(info["attributes"].items(), key=lambda one: one[0] != "reduction")  # which is first in all losses
    signature = Signature([*map(parameter, slots, kinds), *(option(key, *value) for key, value in options), *more],
                          return_annotation=result)

    def made(*arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        inputs = [given.pop(slot) for slot in slots]
        weights = given.pop("weights", None) if more else None
        if weights is not None:
            return call(f"weighted_{name}", *inputs, weights, **given)
        return call(name, *(inputs.pop(0) if several else ()), *inputs, **given)
    made.__name__ = made.__qualname__ = name
    made.__doc__, made.__signature__ = info["brief"], signature  # type: ignore[attr-defined]
    return made


def _layer(name: str, *inputs: Variable, **attributes: Any) -> Variable:
    return cpp.operator(name, read=list(inputs), **attributes).writes[0]


# The losses with a weight for each row, which are calls of the losses without.
_LOSSES = {name for name, info in cpp.operators().items() if "weights" in info["inputs"]}
layers, optimizers = {}, {}
for _name, _info in cpp.operators().items():
    _slots, _outputs = len(_info["inputs"]), set(_info["outputs"]) - {"saved"}
    if len(_outputs) == 1 and _name not in _PARTS | _LOSSES:
        _kinds: list = [Sequence[Variable] if _info["variadic"] else Variable] + [Variable] * (_slots - 1)
        layers[_name] = _function(_name, _info, _layer, _kinds, Variable)
        layers[_name].__module__ = "rowan.layer"
    elif not _outputs:
        _kinds = [ndarray] * (_slots - 1) + [Union[ndarray, SelectedRows]]
        optimizers[_name] = _function(_name, _info, cpp.run, _kinds, None)
        optimizers[_name].__module__ = "rowan.sparse"
globals().update(layers, **optimizers)
__all__ = list(layers)
