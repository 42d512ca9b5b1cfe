# rowan/layer/sequence.py: layers of ragged sequences that are more than an operator with one result.
from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Union

from rowan_cpp import Pooling, Variable

from ..made import sequence_pool
from .data import Init, apply, parameter, results
from .parametric import fc


def sequence_first(x: Variable) -> Variable:
    """The first row of each sequence."""
    return sequence_pool(x, Pooling.first)


def sequence_last(x: Variable) -> Variable:
    """The last row of each sequence."""
    return sequence_pool(x, Pooling.last)


class Padded(NamedTuple):
    value: Variable
    length: Variable


def sequence_pad(x: Variable, pad_value: float = 0.0, length: Optional[int] = None,
                 pad_values: Sequence[float] = ()) -> Padded:
    """The sequences in one array [sequences, length, ...], and their lengths. pad_values has one for each column."""
    return Padded(*results("sequence_pad", x, pad_value=pad_value, length=length, pad_values=pad_values))


def sequence_context(x: Variable, start: int, length: int, pad_value: float = 0.0,
                     padding: Optional[Variable] = None) -> Variable:
    """For each row the rows around it, side by side; `padding` has the rows outside of sequences."""
    if padding is None:
        return apply("sequence_context", x, start=start, length=length, pad_value=pad_value)
    return apply("padded_sequence_context", x, padding, start=start, length=length, pad_value=pad_value)


def sequence_enumerate(x: Variable, size: int = 2, pad_value: int = 0) -> Variable:
    """For each id the ids from it on, `size` of them."""
    return sequence_context(x, 0, size, pad_value)


def sequence_conv(x: Variable, output_size: Optional[int] = None, length: int = 3, start: Optional[int] = None,
                  train_padding: bool = False, weight: Optional[Init] = None, bias: Union[bool, Init] = True,
                  name: str = "") -> Variable:
    """A convolution along sequences with a filter of `length` rows."""
    width, start = x.shape[1], -(length // 2) if start is None else start
    outside = max(0, -start) + max(0, start + length - 1)
    padding = None
    if train_padding and outside:
        padding = parameter([outside, width], name=name and name + ".w_1", dtype=x.dtype)
    context = sequence_context(x, start, length, padding=padding)
    return fc(context, width if output_size is None else output_size, weight, bias, name)


class Beam(NamedTuple):
    prefixes: Variable
    last: Variable
    scores: Variable
    parents: Variable


def beam_search(prefixes: Variable, log_probability: Variable, scores: Variable, beam_size: int = 4,
                end_id: int = 1) -> Beam:
    """One step of a beam search."""
    return Beam(*results("beam_search", prefixes, log_probability, scores, beam_size=beam_size, end_id=end_id))


class Decoded(NamedTuple):
    sentences: Variable
    scores: Variable


def beam_search_decode(prefixes: Variable, scores: Variable) -> Decoded:
    """The sentences that a beam search found, best first, and their scores."""
    return Decoded(*results("beam_search_decode", prefixes, scores))


def crf_decoding(emission: Variable, transition: Variable, label: Optional[Variable] = None) -> Variable:
    """The best tags of each sequence, or with labels 1 where it has them."""
    if label is None:
        return apply("crf_decoding", emission, transition)
    return apply("crf_matches", emission, transition, label)
