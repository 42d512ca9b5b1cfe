# rowan/sparse.py: algorithms on arrays and SelectedRows, without nets. Optimizers change param and its states in place.
from __future__ import annotations

from typing import Any, Optional

import numpy
from rowan_cpp import SelectedRows, run

from .made import (adadelta, adagrad, adam, adamax, ftrl, lamb, momentum, rmsprop, rowwise_adagrad, sgd)


def gather(table: numpy.ndarray, ids: Any, padding_id: Optional[int] = None,
           unknown: Optional[int] = None) -> numpy.ndarray:
    """Row id of the table for each id; the row unknown for ids that the table does not have."""
    return run("lookup_table", table, ids, padding_id=padding_id, unknown=unknown)
