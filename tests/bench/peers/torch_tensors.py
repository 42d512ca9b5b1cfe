"""PyTorch on the cases of rowan_bench_tensors. A line of JSON for each case."""

import json

import torch
import torch.nn.functional as F

from calls import filled, least_ms, numbers, tiny

n, batch, turns = (64, 4, 1) if tiny else (4096, 64, 30)


def measure(op, run):
    print(json.dumps({"op": op, "ms_min": least_ms(turns, 1, run)}), flush=True)


def with_gradient(op, run, *inputs, parameters=()):
    """Measures run(*inputs), and the gradients of parameters and inputs of floats. The gradient of a result is the result."""
    measure(op, lambda: run(*inputs))
    inputs = [t.detach().requires_grad_(t.is_floating_point()) for t in inputs]
    results = run(*inputs)
    results = [t for t in (results if isinstance(results, tuple) else (results,)) if t.requires_grad]
    wanted = [*(t for t in inputs if t.requires_grad), *parameters]
    gradients = [t.detach().clone() for t in results]
    measure(op + ", gradient", lambda: torch.autograd.grad(results, wanted, gradients, retain_graph=True))


x, row, column, cube = filled(n, 256), filled(256), filled(n, 1), filled(batch, 128, 256)
measure("[4096, 256] + [256]", lambda: x + row)
with_gradient("[4096, 256] * [4096, 1]", torch.mul, x, column)
with_gradient("gelu [4096, 256]", F.gelu, x)
measure("gelu, by tanh [4096, 256]", lambda: F.gelu(x, approximate="tanh"))
with_gradient("sigmoid [4096, 256]", torch.sigmoid, x)
with_gradient("dropout [4096, 256]", F.dropout, x)

measure("reduce_sum [4096, 256], axis 0", lambda: x.sum(0))
measure("reduce_sum [4096, 256], axis 1", lambda: x.sum(1))
measure("reduce_mean [4096, 256], axis 0", lambda: x.mean(0))
measure("reduce_mean [4096, 256], axis 1", lambda: x.mean(1))
measure("reduce_sum [64, 128, 256], axis 1", lambda: cube.sum(1))
with_gradient("reduce_max [4096, 256], axis 1", lambda x: x.amax(1), x)
measure("argmax [4096, 256], axis 1", lambda: x.argmax(1))
with_gradient("top_k [4096, 256], k 5", lambda x: x.topk(5), x)
with_gradient("cumsum [4096, 256], axis 1", lambda x: x.cumsum(1), x)

square, a, b = filled(n, n), filled(batch, 128, 64), filled(batch, 64, 128)
measure("transpose [4096, 4096]", lambda: square.t().contiguous())
measure("transpose [64, 128, 256], axes 1 and 2", lambda: cube.transpose(1, 2).contiguous())
measure("matmul [64, 128, 64], [64, 64, 128]", lambda: a @ b)
del square

with_gradient("softmax [4096, 256]", lambda x: x.softmax(1), x)
measure("softmax [64, 128, 256], axis 1", lambda: cube.softmax(1))
with_gradient("log_softmax [4096, 256]", lambda x: x.log_softmax(1), x)
with_gradient("cross_entropy [4096, 256]", F.cross_entropy, x, numbers(n, 256))
with_gradient("layer_norm [4096, 256]", lambda x, w, b: F.layer_norm(x, (256,), w, b), x, row, row.clone())
mean, variance = torch.zeros(256), torch.ones(256)
with_gradient("batch_norm [4096, 256]", lambda x, w, b: F.batch_norm(x, mean, variance, w, b, True), x, row, row.clone())

bags, height = (64, 1000) if tiny else (16384, 100000)
ids, starts = numbers(16 * bags, height), torch.arange(0, 16 * bags, 16)
with_gradient(
    "embedding_bag [100000, 64], 16384 bags of 16",
    lambda table, ids: F.embedding_bag(ids, table, starts, mode="sum", sparse=True),
    filled(height, 64),
    ids,
)
rows = [filled(batch, 1, 128, 64) for _ in range(3)]  # one head: without that dim, it takes a slower way
with_gradient("sequence_attention [64, 128, 64]", F.scaled_dot_product_attention, *rows)

size = 16 if tiny else 256
x = filled(size, size)
lstm, gru = torch.nn.LSTMCell(size, size), torch.nn.GRUCell(size, size)
with_gradient("LSTM cell [256, 256]", lambda x, h, c: lstm(x, (h, c)), x, x, x, parameters=lstm.parameters())
with_gradient("GRU cell [256, 256]", gru, x, x, parameters=gru.parameters())
