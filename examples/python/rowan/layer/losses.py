# rowan/layer/losses.py: losses and metrics.
from __future__ import annotations

from typing import Optional, Sequence

from rowan_cpp import Reduction, Variable

from .data import apply
from .elementwise import sub


def mse(x: Variable, y: Variable, reduction: Reduction = Reduction.mean) -> Variable:
    """(x - y)²."""
    return apply("mse", x, y, reduction=reduction)


def cross_entropy_of_probabilities(x: Variable, label: Variable, reduction: Reduction = Reduction.mean,
                  ignore_index: Optional[int] = None, axis: Optional[int] = None,
                  weights: Sequence[float] = ()) -> Variable:
    """-log(probability of the label), from probabilities; classes are along an axis, and may have weights."""
    return apply("cross_entropy_of_probabilities", x, label, reduction=reduction, ignore_index=ignore_index, axis=axis, weights=weights)


def cross_entropy(x: Variable, label: Variable, reduction: Reduction = Reduction.mean,
                               ignore_index: Optional[int] = None, axis: Optional[int] = None,
                               weights: Sequence[float] = ()) -> Variable:
    """-log(probability of the label), from scores; labels may be probabilities."""
    return apply("cross_entropy", x, label, reduction=reduction, ignore_index=ignore_index, axis=axis,
                 weights=weights)


def huber(x: Variable, y: Variable, reduction: Reduction = Reduction.mean, delta: float = 1.0) -> Variable:
    """Huber's loss: quadratic up to delta, then linear."""
    return apply("huber", x, y, reduction=reduction, delta=delta)


def smooth_l1(x: Variable, y: Variable, reduction: Reduction = Reduction.mean, beta: float = 1.0) -> Variable:
    """The smooth L1 loss."""
    return apply("smooth_l1", x, y, reduction=reduction, beta=beta)


def binary_cross_entropy_with_logits(x: Variable, y: Variable, reduction: Reduction = Reduction.mean,
                                      ignore_index: Optional[int] = None) -> Variable:
    """The cross entropy of sigmoid(x) and the probabilities y."""
    return apply("binary_cross_entropy_with_logits", x, y, reduction=reduction, ignore_index=ignore_index)


def binary_cross_entropy(x: Variable, y: Variable, reduction: Reduction = Reduction.mean,
                         ignore_index: Optional[int] = None) -> Variable:
    """The cross entropy of the probabilities x and y."""
    return apply("binary_cross_entropy", x, y, reduction=reduction, ignore_index=ignore_index)


def binary_cross_entropy_with_epsilon(x: Variable, y: Variable, reduction: Reduction = Reduction.mean, epsilon: float = 1e-4) -> Variable:
    """The cross entropy, with epsilon added to the probabilities."""
    return apply("binary_cross_entropy_with_epsilon", x, y, reduction=reduction, epsilon=epsilon)


def hinge(x: Variable, y: Variable, reduction: Reduction = Reduction.mean) -> Variable:
    """max(0, 1 - x · (2 y - 1)) for labels y of 0 and 1."""
    return apply("hinge", x, y, reduction=reduction)


def kl_div(x: Variable, y: Variable, reduction: Reduction = Reduction.mean) -> Variable:
    """y · (log(y) - x), for x of log probabilities."""
    return apply("kl_div", x, y, reduction=reduction)


def cosine_similarity(x: Variable, y: Variable, epsilon: float = 1e-8) -> Variable:
    """The cosines of rows."""
    return apply("cosine_similarity", x, y, epsilon=epsilon)


def ranknet(label: Variable, left: Variable, right: Variable, reduction: Reduction = Reduction.mean) -> Variable:
    """RankNet's loss: the cross entropy of sigmoid(left - right) and the label."""
    return binary_cross_entropy_with_logits(sub(left, right), label, reduction)


def margin_ranking(label: Variable, left: Variable, right: Variable, margin: float = 0.0,
                     reduction: Reduction = Reduction.mean) -> Variable:
    """max(0, margin - label · (left - right))."""
    return apply("margin_ranking", sub(left, right), label, margin=margin, reduction=reduction)


def cosine_embedding(x: Variable, y: Variable, label: Variable, margin: float = 0.0,
                          reduction: Reduction = Reduction.mean) -> Variable:
    """1 - cos for label 1, max(0, cos - margin) for label -1."""
    return apply("cosine_embedding", cosine_similarity(x, y), label, margin=margin, reduction=reduction)


def accuracy(x: Variable, label: Variable, k: Optional[int] = None) -> Variable:
    """The fraction of rows whose label is among the k greatest elements."""
    return apply("accuracy", x, label, k=k)
