"""PyTorch on the cases of rowan_bench_small. A line of JSON for each case."""

import json

import torch
import torch.nn.functional as F

from calls import filled, least_ms, numbers, tiny


def measure(rows):
    turns, calls = (1, 1) if tiny else (20, 30 if rows == 1024 else 1000)

    def one(op, run):
        print(json.dumps({"op": op, "rows": rows, "ms_min": least_ms(turns, calls, run)}), flush=True)

    x, y, w, b, square, table = *(filled(rows, 64) for _ in range(2)), filled(64), filled(64), filled(64, 64), filled(10000, 64)
    positive, label, ids = x.exp(), numbers(rows, 64), numbers(rows, 10000)
    parts = [filled(rows, 64) for _ in range(2)]
    one("add", lambda: x + y)
    one("mul", lambda: x * y)
    one("exp", lambda: x.exp())
    one("sqrt", lambda: positive.sqrt())
    one("clip", lambda: x.clamp(-1, 1))
    one("sigmoid", lambda: x.sigmoid())
    one("tanh", lambda: x.tanh())
    one("relu", lambda: x.relu())
    one("gelu", lambda: F.gelu(x))
    one("softmax", lambda: x.softmax(1))
    one("log_softmax", lambda: x.log_softmax(1))
    one("layer_norm", lambda: F.layer_norm(x, (64,), w, b))
    one("cross_entropy", lambda: F.cross_entropy(x, label))
    one("reduce_sum, axis 1", lambda: x.sum(1))
    one("reduce_max, axis 1", lambda: x.amax(1))
    one("argmax, axis 1", lambda: x.argmax(1))
    one("top_k, k 5", lambda: x.topk(5))
    one("cumsum, axis 1", lambda: x.cumsum(1))
    one("matmul, [64, 64]", lambda: x @ square)
    one("gather of [10000, 64]", lambda: F.embedding(ids, table))
    one("transpose", lambda: x.t().contiguous())
    one("concat of 2, axis 1", lambda: torch.cat(parts, 1))


for rows in (1, 16, 1024):
    measure(rows)
