"""TensorFlow on the CPU. Keras' AdaGrad is not here: it does not sum duplicates first."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # noqa: E402

from workload import Workload  # noqa: E402

work = Workload()
tf.config.threading.set_intra_op_parallelism_threads(work.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
raw = tf.raw_ops
height, width, n = work.height, work.width, work.lookups
ids = [tf.constant(a) for a in work.ids]
gradients = [tf.constant(a) for a in work.gradients]
positions = tf.range(n, dtype=tf.int64)
table = tf.Variable(tf.random.uniform([height, width], -0.01, 0.01))
moment = tf.Variable(tf.fill([height, width], 0.1))


def way(op, name, run):
    work.measure("tensorflow", op, name, run)


def unique_and_sum(i, g):
    rows, inverse = tf.unique(i)
    return rows, raw.UnsortedSegmentSum(data=g, segment_ids=inverse, num_segments=tf.shape(rows)[0])


def fused_sum(i, g):  # the gradient of a pooled lookup in bags of one: unique and sum in one operation
    summed, rows = raw.SparseSegmentSumGradV2(
        grad=g, indices=i, segment_ids=positions, dense_output_dim0=tf.constant(n, tf.int32)
    )
    return rows, summed


way("gather", "ResourceGather", lambda k: raw.ResourceGather(resource=table.handle, indices=ids[k], dtype=tf.float32))
way(
    "scatter_add",
    "ResourceScatterAdd",
    lambda k: raw.ResourceScatterAdd(resource=table.handle, indices=ids[k], updates=gradients[k]),
)
way(
    "sgd",
    "ResourceScatterSub(rate * g)",
    lambda k: raw.ResourceScatterSub(resource=table.handle, indices=ids[k], updates=0.01 * gradients[k]),
)

for name, merge in (("unique + UnsortedSegmentSum", unique_and_sum), ("SparseSegmentSumGradV2", fused_sum)):

    def sgd(i, g):
        rows, summed = merge(i, g)
        raw.ResourceScatterSub(resource=table.handle, indices=rows, updates=0.01 * summed)

    def adagrad(i, g):
        rows, summed = merge(i, g)
        raw.ResourceSparseApplyAdagradV2(
            var=table.handle, accum=moment.handle, lr=0.01, epsilon=1e-7, grad=summed, indices=rows
        )

    for op, f in (("merge", merge), ("sgd", sgd), ("adagrad", adagrad)):
        graph = tf.function(f)
        way(op, name, lambda k: graph(ids[k], gradients[k]))
