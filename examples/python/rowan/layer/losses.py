# rowan/layer/losses.py: losses that are several operators.
from __future__ import annotations

from rowan_cpp import Reduction, Variable

from ..made import binary_cross_entropy_with_logits, cosine_similarity, sub
from .data import apply


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
