"""PyTorch and FBGEMM on the CPU, each operation in every efficient way."""

import logging

import torch
import torch.nn.functional as F

from workload import Workload

work = Workload()
torch.set_num_threads(work.threads)
height, width, n = work.height, work.width, work.lookups
ids = [torch.from_numpy(a) for a in work.ids]  # int64: with int32, index_add_ is serial
gradients = [torch.from_numpy(a) for a in work.gradients]
table = torch.empty(height, width).uniform_(-0.01, 0.01)  # written, so every page exists


def torch_way(op, way, run, prepare=None):
    work.measure("torch", op, way, run, prepare)


def sparse(k):
    return torch.sparse_coo_tensor(ids[k][None], gradients[k], (height, width), check_invariants=False)


def unique_and_add(k):
    rows, inverse = torch.unique(ids[k], return_inverse=True)
    return rows, torch.zeros(len(rows), width).index_add_(0, inverse, gradients[k])


out = torch.zeros(n, width)
torch_way("gather", "embedding", lambda k: F.embedding(ids[k], table))
torch_way("gather", "index_select", lambda k: torch.index_select(table, 0, ids[k]))
torch_way("gather_into", "index_select(out=)", lambda k: torch.index_select(table, 0, ids[k], out=out))
torch_way("scatter_add", "index_add_", lambda k: table.index_add_(0, ids[k], gradients[k]))
torch_way("merge", "coalesce", lambda k: sparse(k).coalesce())
torch_way("merge", "unique + index_add_", unique_and_add)
torch_way("sgd", "index_add_(-rate * g)", lambda k: table.index_add_(0, ids[k], gradients[k] * -0.01))

parameter = torch.nn.Parameter(table)


def set_gradient(k):
    parameter.grad = sparse(k)


for op, way, make in (
    ("sgd", "SGD.step", lambda: torch.optim.SGD([parameter], lr=0.01)),
    ("adagrad", "Adagrad.step", lambda: torch.optim.Adagrad([parameter], lr=0.01, initial_accumulator_value=0.1)),
    ("adam", "SparseAdam.step", lambda: torch.optim.SparseAdam([parameter], lr=0.001)),
):
    optimizer = make()
    torch_way(op, way, lambda k: optimizer.step(), set_gradient)
    del optimizer
    parameter.grad = None
del parameter, table, out

logging.disable(logging.CRITICAL)
from fbgemm_gpu.split_table_batched_embeddings_ops_training import (  # noqa: E402 (it reads what torch has set up)
    BoundsCheckMode,
    ComputeDevice,
    EmbeddingLocation,
    OptimType,
    PoolingMode,
    SplitTableBatchedEmbeddingBagsCodegen,
)

# Bags of one lookup: pooled and not pooled are then the same, and only pooled has the fast row-wise AdaGrad.
offsets = torch.arange(n + 1)
rate = torch.tensor(0.01)
epsilon = 1e-8


def fbgemm_way(op, way, run):
    work.measure("fbgemm", op, way, run)


for op, kind in (
    ("sgd", OptimType.EXACT_SGD),
    ("adagrad", OptimType.EXACT_ADAGRAD),
    ("rowwise_adagrad", OptimType.EXACT_ROWWISE_ADAGRAD),
):
    bags = SplitTableBatchedEmbeddingBagsCodegen(
        [(height, width, EmbeddingLocation.HOST, ComputeDevice.CPU)],
        optimizer=kind,
        learning_rate=0.01,
        eps=epsilon,
        pooling_mode=PoolingMode.SUM,
        bounds_check_mode=BoundsCheckMode.NONE,  # the default one rewrites the ids
    )
    bags.split_embedding_weights()[0].uniform_(-0.01, 0.01)
    state = []
    if op != "sgd":
        bags.split_optimizer_states()[0][0].fill_(0.1)
        state = [bags.momentum1_host, bags.momentum1_placements, bags.momentum1_offsets]
    if op == "sgd":
        fbgemm_way("gather", "forward", lambda k: bags(ids[k], offsets))

    outputs = [bags(i, offsets) for i in ids]
    fbgemm_way(op, "backward", lambda k: outputs[k].backward(gradients[k], retain_graph=True))  # it updates the table
    del outputs

    operator = getattr(torch.ops.fbgemm, f"split_embedding_backward_codegen_{op}_cpu")
    layout = (bags.weights_placements, bags.weights_offsets, bags.D_offsets, bags.max_D)
    sizes = (bags.hash_size_cumsum, bags.total_hash_size_bits)
    last = (int(PoolingMode.SUM), torch.empty(0), False, *state, rate) + ((epsilon,) if state else ())
    fbgemm_way(
        op,
        "backward operator alone",
        lambda k: operator(gradients[k], bags.weights_host, *layout, *sizes, ids[k], offsets, *last),
    )
    del bags, state, layout, sizes, last
