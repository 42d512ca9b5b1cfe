# rowan/layer/sequence.py: layers of ragged sequences.
from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Union

from rowan_cpp import Pooling, Variable

from .data import Init, apply, parameter, results
from .parametric import fc


def sequence_pool(x: Variable, pool: Pooling = Pooling.sum, pad_value: float = 0.0) -> Variable:
    """A row for each sequence."""
    return apply("sequence_pool", x, pool=pool, pad_value=pad_value)


def sequence_first(x: Variable) -> Variable:
    """The first row of each sequence."""
    return sequence_pool(x, Pooling.first)


def sequence_last(x: Variable) -> Variable:
    """The last row of each sequence."""
    return sequence_pool(x, Pooling.last)


def sequence_softmax(x: Variable) -> Variable:
    """The softmax of each sequence."""
    return apply("sequence_softmax", x)


def sequence_reverse(x: Variable) -> Variable:
    """Each sequence from its end to its beginning."""
    return apply("sequence_reverse", x)


def sequence_expand(x: Variable, y: Variable, level: Optional[int] = None) -> Variable:
    """Row or sequence i of x for each element of sequence i of y."""
    return apply("sequence_expand", x, y, level=level)


def sequence_concat(x: Sequence[Variable], level: Optional[int] = None) -> Variable:
    """Sequence i of all tensors, one after the other; of the last level, or of another one."""
    return apply("sequence_concat", *x, level=level)


def sequence_reshape(x: Variable, width: int) -> Variable:
    """The elements of each sequence as rows of another width."""
    return apply("sequence_reshape", x, width=width)


def sequence_scatter(x: Variable, ids: Variable, updates: Variable) -> Variable:
    """x with updates added in row s at the ids of sequence s."""
    return apply("sequence_scatter", x, ids, updates)


def sequence_top_k_mean(x: Variable, ks: Sequence[int]) -> Variable:
    """For each sequence, column and k, the sum of the k greatest elements divided by k."""
    return apply("sequence_top_k_mean", x, ks=ks)


def reorder(x: Variable, y: Variable, level: Optional[int] = None, restore: bool = False) -> Variable:
    """The sequences of x in the order of the lengths of those of y, longest first, or back."""
    return apply("reorder", x, y, level=level, restore=restore)


def shrink(x: Variable, y: Variable, index: Variable, level: Optional[int] = None) -> Variable:
    """The first sequences of x, as many as y has that are longer than index; in the order of reorder."""
    return apply("shrink", x, y, index, level=level)


def sequence_slice(x: Variable, offset: Variable, length: Variable) -> Variable:
    """A part of each sequence."""
    return apply("sequence_slice", x, offset, length)


class Padded(NamedTuple):
    value: Variable
    length: Variable


def sequence_pad(x: Variable, pad_value: float = 0.0, length: Optional[int] = None,
                 pad_values: Sequence[float] = ()) -> Padded:
    """The sequences in one array [sequences, length, ...], and their lengths. pad_values has one for each column."""
    return Padded(*results("sequence_pad", x, pad_value=pad_value, length=length, pad_values=pad_values))


def sequence_unpad(x: Variable, length: Variable) -> Variable:
    """The sequences of a padded array."""
    return apply("sequence_unpad", x, length)


def sequence_mask(lengths: Variable, max_length: Optional[int] = None) -> Variable:
    """Whether a position of a padded array is in its sequence."""
    return apply("sequence_mask", lengths, max_length=max_length)


def sequence_erase(x: Variable, tokens: Sequence[int]) -> Variable:
    """The sequences without these tokens."""
    return apply("sequence_erase", x, tokens=tokens)


def edit_distance(x: Variable, y: Variable, normalized: bool = False) -> Variable:
    """The least number of insertions, deletions and substitutions of tokens between two sequences; `normalized` by the length of y."""
    return apply("edit_distance", x, y, normalized=normalized)


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


def sequence_attention(query: Variable, key: Variable, value: Variable, heads: int = 1, scale: float = 0.0,
                       causal: bool = False) -> Variable:
    """Attention of the rows of each sequence to those of the same sequence of key and value, without padding."""
    return apply("sequence_attention", query, key, value, heads=heads, scale=scale, causal=causal)


def lod_reset(x: Variable, y: Variable) -> Variable:
    """x with the levels of y."""
    return apply("lod_reset", x, y)


def lod_from_offsets(x: Variable, offset: Variable) -> Variable:
    """x with one level of these offsets."""
    return apply("lod_from_offsets", x, offset)


def drop_levels(x: Variable, levels: Optional[int] = None) -> Variable:
    """x without its outermost levels, by default without any."""
    return apply("drop_levels", x, levels=levels)


def pick_sequences(x: Variable, ids: Variable) -> Variable:
    """The sequences, or rows, of these numbers."""
    return apply("pick_sequences", x, ids)


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


def linear_chain_crf(emission: Variable, transition: Variable, label: Variable) -> Variable:
    """The negative log-likelihood of the labels of each sequence; transition is [tags + 2, tags]."""
    return apply("linear_chain_crf", emission, transition, label)


def crf_decoding(emission: Variable, transition: Variable, label: Optional[Variable] = None) -> Variable:
    """The best tags of each sequence, or with labels 1 where it has them."""
    if label is None:
        return apply("crf_decoding", emission, transition)
    return apply("crf_matches", emission, transition, label)
