# rowan/layer/losses.py: losses that are several operators.
from __future__ import annotations

from typing import Any, Optional

from rowan_cpp import Reduction, Variable

from ..made import binary_cross_entropy_with_logits, cosine_similarity, sub
from .data import apply


def _loss(name: str, x: Variable, label: Variable, weights: Optional[Variable], **options: Any) -> Variable:
    return apply(name, x, label, **options) if weights is None else apply(f"weighted_{name}", x, label, weights, **options)


def ranknet(label: Variable, left: Variable, right: Variable, reduction: Reduction = Reduction.mean,
            weights: Optional[Variable] = None) -> Variable:
    """RankNet's loss: the cross entropy of sigmoid(left - right) and the label."""
    return binary_cross_entropy_with_logits(sub(left, right), label, reduction, weights=weights)


def margin_ranking(label: Variable, left: Variable, right: Variable, margin: float = 0.0,
                   reduction: Reduction = Reduction.mean, weights: Optional[Variable] = None) -> Variable:
    """max(0, margin - label · (left - right))."""
    return _loss("margin_ranking", sub(left, right), label, weights, margin=margin, reduction=reduction)


def cosine_embedding(x: Variable, y: Variable, label: Variable, margin: float = 0.0,
                     reduction: Reduction = Reduction.mean, weights: Optional[Variable] = None) -> Variable:
    """1 - cos for label 1, max(0, cos - margin) for label -1."""
    return _loss("cosine_embedding", cosine_similarity(x, y), label, weights, margin=margin, reduction=reduction)
