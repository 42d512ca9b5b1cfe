# rowan/sparse.py: algorithms on arrays and SelectedRows, without nets. Optimizers change param and its states in place.
from __future__ import annotations

from typing import Any, Optional, Union

import numpy
from rowan_cpp import SelectedRows, run

Gradient = Union[numpy.ndarray, SelectedRows]


def gather(table: numpy.ndarray, ids: Any, padding_id: Optional[int] = None,
           unknown: Optional[int] = None) -> numpy.ndarray:
    """Row id of the table for each id; the row unknown for ids that the table does not have."""
    return run("lookup_table", table, ids, padding_id=padding_id, unknown=unknown)


def sgd(param: numpy.ndarray, grad: Gradient, learning_rate: float = 0.01) -> None:
    """param -= learning_rate · grad."""
    run("sgd", param, grad, learning_rate=learning_rate)


def momentum(param: numpy.ndarray, velocity: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """Momentum: learning_rate, momentum, nesterov, weight_decay."""
    run("momentum", param, velocity, grad, **options)


def adagrad(param: numpy.ndarray, moment: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """AdaGrad: learning_rate, epsilon."""
    run("adagrad", param, moment, grad, **options)


def rowwise_adagrad(param: numpy.ndarray, moment: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """AdaGrad with one state for each row: learning_rate, epsilon."""
    run("rowwise_adagrad", param, moment, grad, **options)


def adam(param: numpy.ndarray, moment: numpy.ndarray, moment2: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """Adam: learning_rate, beta1, beta2, epsilon, step, counted from 1, weight_decay, decoupled."""
    run("adam", param, moment, moment2, grad, **options)


def adamax(param: numpy.ndarray, moment: numpy.ndarray, norm: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """AdaMax: learning_rate, beta1, beta2, epsilon, step, counted from 1, weight_decay."""
    run("adamax", param, moment, norm, grad, **options)


def adadelta(param: numpy.ndarray, mean_square: numpy.ndarray, mean_step: numpy.ndarray, grad: Gradient,
             **options: Any) -> None:
    """Adadelta: learning_rate, rho, epsilon, weight_decay."""
    run("adadelta", param, mean_square, mean_step, grad, **options)


def lamb(param: numpy.ndarray, moment: numpy.ndarray, moment2: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """LAMB, of all rows: learning_rate, beta1, beta2, epsilon, step, counted from 1, weight_decay."""
    run("lamb", param, moment, moment2, grad, **options)


def rmsprop(param: numpy.ndarray, moment: numpy.ndarray, velocity: numpy.ndarray, grad: Gradient,
            **options: Any) -> None:
    """RMSProp: learning_rate, rho, momentum, epsilon."""
    run("rmsprop", param, moment, velocity, grad, **options)


def ftrl(param: numpy.ndarray, moment: numpy.ndarray, linear: numpy.ndarray, grad: Gradient, **options: Any) -> None:
    """FTRL: learning_rate, l1, l2, lr_power."""
    run("ftrl", param, moment, linear, grad, **options)
