"""Paddle on the CPU: its kernels for these operations use one thread."""

import os

from workload import Workload

work = Workload()
os.environ["FLAGS_paddle_num_threads"] = str(work.threads)  # read when paddle is imported

import paddle  # noqa: E402

paddle.set_device("cpu")
height, width, n = work.height, work.width, work.lookups
ids = [paddle.to_tensor(a) for a in work.ids]
gradients = [paddle.to_tensor(a) for a in work.gradients]


def way(op, name, run, prepare=None):
    work.measure("paddle", op, name, run, prepare)


table = paddle.uniform([height, width], min=-0.01, max=0.01)
way("gather", "embedding", lambda k: paddle.nn.functional.embedding(ids[k], table))
way("gather", "index_select", lambda k: paddle.index_select(table, ids[k]))
way("scatter_add", "index_add_", lambda k: paddle.index_add_(table, ids[k], 0, gradients[k]))
del table

embedding = paddle.nn.Embedding(height, width, sparse=True)


def set_gradient(k):
    embedding.clear_gradients()
    embedding(ids[k]).backward(gradients[k])


way("merge", "merge_selected_rows", lambda k: paddle._C_ops.merge_selected_rows(embedding.weight.grad), set_gradient)
for op, name, make in (
    ("sgd", "SGD.step", lambda p: paddle.optimizer.SGD(0.01, parameters=p)),
    ("adagrad", "Adagrad.step", lambda p: paddle.optimizer.Adagrad(0.01, parameters=p, initial_accumulator_value=0.1)),
    ("adam", "Adam(lazy_mode).step", lambda p: paddle.optimizer.Adam(0.001, parameters=p, lazy_mode=True)),
):
    optimizer = make(embedding.parameters())
    way(op, name, lambda k: optimizer.step(), set_gradient)
    del optimizer
