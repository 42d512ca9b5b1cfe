# rowan/layer/recurrent.py: recurrent layers, and the cells of their steps.
from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import rowan_cpp as cpp
from rowan_cpp import UNK, Uniform, Variable, static_input

from ..made import add, clip, concat, matmul, mul, sigmoid, sub, tanh
from .data import Init, apply, dropout as dropout_layer, parameter, results
from .parametric import fc
from .shapes import split

Memory = Union[int, Variable]


class Recurrence(NamedTuple):
    output: Variable
    last: Any  # a variable, or a list of them


class LstmResult(NamedTuple):
    output: Variable
    h: list[Variable]
    c: list[Variable]


def rnn_with_last(x: Variable, memory: Union[Memory, Sequence[Memory]], step: Callable, reverse: bool = False,
                  level: int = -1) -> Recurrence:
    """Runs step(x_t, state), which returns (output, state), for every step of the sequences of x. A memory is the width
    of a state that begins with zeros, or its first value. With a list of memories, states are lists."""
    several = isinstance(memory, (list, tuple))
    memories: Any = list(memory) if isinstance(memory, (list, tuple)) else [memory]
    kinds = [x.dtype] + [m.dtype for m in memories if isinstance(m, Variable)]
    dtype = "float64" if "float64" in kinds else "float32"
    function: Any = step if several else lambda x_t, states: step(x_t, states[0])
    output, last = cpp.rnn_with_last(x, memories, function, reverse, level, dtype)
    return Recurrence(output, last if several else last[0])


def rnn(input: Variable, memory: Any = None, step: Optional[Callable] = None, *, step_net: Optional[Variable] = None,
        concat_output: bool = True, reverse: bool = False, level: int = -1) -> Variable:
    """The outputs of rnn_with_last. With `step_net`, the step is an expression of memories and the step's input."""
    if step_net is not None:
        return cpp.rnn(input, step_net, concat_output, reverse)
    if step is None:
        raise TypeError("rnn: it needs a memory and a step, or a step_net")
    return rnn_with_last(input, memory, step, reverse, level).output


def map_fn(x: Variable, function: Callable, level: int = -1) -> Variable:
    """function of each row or sequence of the sequences of x."""
    return rnn_with_last(x, [], lambda x_t, states: (function(x_t), []), level=level).output


class _Gates:
    """The contribution of the input to the gates of a cell, and weight and bias for that of the state."""

    def __init__(self, gates: int, x: Variable, size: int, weight: Optional[Init], state: Optional[int] = None):
        self.first = _first(size, weight)
        self.x = fc(x, gates * size, self.first, self.first)
        self.w = parameter([size if state is None else state, gates * size], self.first, dtype=x.dtype)
        self.b = parameter([gates * size], self.first, dtype=x.dtype)


def _first(size: int, weight: Optional[Init]) -> Init:
    if size < 1:
        raise ValueError(f"the size of a cell is {size}, expected 1 or more")
    return Uniform(-1 / math.sqrt(size), 1 / math.sqrt(size)) if weight is None else weight


def gru_unit(x: Variable, before: Variable, size: int, weight: Optional[Init] = None) -> Variable:
    """The state of a GRU after one step."""
    gates = _Gates(3, x, size, weight)
    return apply("gru_unit", gates.x, before, gates.w, gates.b)


def reset_first_gru_unit(x: Variable, before: Variable, size: int, weight: Optional[Init] = None) -> Variable:
    """The state of a GRU that resets the state before the product, as Paddle's, after one step."""
    first = _first(size, weight)
    from_x = split(fc(x, 3 * size, first, first), [2 * size, size], 1)
    gates = split(sigmoid(add(from_x[0], fc(before, 2 * size, first, first))), [size, size], 1)
    candidate = tanh(add(from_x[1], fc(mul(gates[0], before), size, first, first)))
    return add(candidate, mul(gates[1], sub(before, candidate)))


def _lstm_step(gates: _Gates, h: Variable, c: Variable) -> list[Variable]:
    return results("lstm_unit", gates.x, h, c, gates.w, gates.b)[:2]  # and what the gradient needs


def lstm_unit(x: Variable, before: Variable, size: int, weight: Optional[Init] = None) -> tuple[Variable, Variable]:
    """The output of an LSTM after one step, and its state, which is output and cell side by side."""
    gates = _Gates(4, x, size, weight)
    h, c = _lstm_step(gates, *split(before, [size, size], 1))
    return h, concat([h, c], 1)


def lstmp_unit(x: Variable, before: Variable, size: int, projection: int = 0, peepholes: bool = False,
               cell_clip: float = 0.0, weight: Optional[Init] = None) -> tuple[Variable, Variable]:
    """lstm_unit with peepholes, a projection of the output and clipped cells."""
    width = projection or size
    gates = _Gates(4, x, size, weight, width)
    h_prev, c_prev = split(before, [width, size], 1)
    g = split(add(gates.x, apply("fc", h_prev, gates.w, gates.b)), [size] * 4, 1)

    def gate(total: Variable, cell: Variable) -> Variable:
        return sigmoid(add(total, mul(cell, parameter([size], gates.first, dtype=x.dtype))) if peepholes else total)
    i, f = gate(g[0], c_prev), gate(g[1], c_prev)
    c = add(mul(f, c_prev), mul(i, tanh(g[2])))
    c = clip(c, -cell_clip, cell_clip) if cell_clip else c
    out = mul(gate(g[3], c), tanh(c))
    h = matmul(out, parameter([size, width], gates.first, dtype=x.dtype)) if projection else out
    return h, concat([h, c], 1)


def stack_layers(x: Variable, direction: Callable, layers: int = 1, bidirectional: bool = False,
                 dropout: float = 0.0) -> Variable:
    """direction(x, reverse) for each layer, and in reverse if it is bidirectional, with dropout between the layers."""
    if layers < 1:
        raise ValueError(f"stack_layers: layers is {layers}, expected 1 or more")
    for k in range(layers):
        x = dropout_layer(x, dropout) if k and dropout else x
        forward = direction(x, False)
        x = concat([forward, direction(x, True)], 1) if bidirectional else forward
    return x


def _check_first(name: str, states: Sequence[Variable], size: int, layers: int, bidirectional: bool) -> None:
    if not isinstance(states, (list, tuple)) or not all(isinstance(state, Variable) for state in states):
        raise TypeError(f"{name} is {states}, expected a list of variables: one for each layer and direction")
    if states and len(states) != layers * (2 if bidirectional else 1):
        raise ValueError(f"the number of {name} is {len(states)}, expected one for each layer and direction")
    for state in states:
        if len(state.shape) != 2 or state.shape[1] not in (UNK, size):
            raise ValueError(f"{name} has the shape {list(state.shape)}, expected [sequences, {size}]")


def lstm_with_last(x: Variable, size: int, layers: int = 1, bidirectional: bool = False, dropout: float = 0.0,
                   weight: Optional[Init] = None, h: Sequence[Variable] = (), c: Sequence[Variable] = ()) -> LstmResult:
    """LSTM layers as torch.nn.LSTM, with sequences of any lengths: the output, and the last states. The states begin
    with h and c, one for each layer and direction, or with zeros."""
    _check_first("lstm: h", h, size, layers, bidirectional)
    _check_first("lstm: c", c, size, layers, bidirectional)
    last_h: list[Variable] = []
    last_c: list[Variable] = []

    def step(x_t: Variable, before: list[Variable]) -> tuple:
        out, cell = _lstm_step(_Gates(4, x_t, size, weight), *before)
        return out, [out, cell]

    def direction(y: Variable, reverse: bool) -> Variable:
        k = len(last_h)
        made = rnn_with_last(y, [h[k] if h else size, c[k] if c else size], step, reverse)
        last_h.append(made.last[0])
        last_c.append(made.last[1])
        return made.output
    return LstmResult(stack_layers(x, direction, layers, bidirectional, dropout), last_h, last_c)


def lstm(x: Variable, size: int, layers: int = 1, bidirectional: bool = False, dropout: float = 0.0,
         weight: Optional[Init] = None, h: Sequence[Variable] = (), c: Sequence[Variable] = ()) -> Variable:
    """The output of lstm_with_last."""
    return lstm_with_last(x, size, layers, bidirectional, dropout, weight, h, c).output


def gru_with_last(x: Variable, size: int, layers: int = 1, bidirectional: bool = False, dropout: float = 0.0,
                  weight: Optional[Init] = None, h: Sequence[Variable] = ()) -> Recurrence:
    """GRU layers as torch.nn.GRU, with sequences of any lengths: the output, and the last states. The states begin with
    h, one for each layer and direction, or with zeros."""
    _check_first("gru: h", h, size, layers, bidirectional)
    last: list[Variable] = []

    def step(x_t: Variable, before: Variable) -> tuple:
        now = gru_unit(x_t, before, size, weight)
        return now, now

    def direction(y: Variable, reverse: bool) -> Variable:
        made = rnn_with_last(y, h[len(last)] if h else size, step, reverse)
        last.append(made.last)
        return made.output
    return Recurrence(stack_layers(x, direction, layers, bidirectional, dropout), last)


def gru(x: Variable, size: int, layers: int = 1, bidirectional: bool = False, dropout: float = 0.0,
        weight: Optional[Init] = None, h: Sequence[Variable] = ()) -> Variable:
    """The output of gru_with_last."""
    return gru_with_last(x, size, layers, bidirectional, dropout, weight, h).output
