"""PyTorch and FBGEMM on the bags of rowan_bench_bags: the same ids and sizes. A line of JSON for each case."""

import json
import logging
import math
import time

import arguments
import torch

args = arguments.parse()
torch.set_num_threads(args.threads)
logging.disable(logging.CRITICAL)
TABLES, BATCH, HEIGHT, SETS = (3, 16, 100, 4) if args.tiny else (26, 2048, 200_000, 4)


def draw(s, n):
    i = torch.arange(s * n + 1, s * n + n + 1, dtype=torch.int64)
    u = ((i * -7046029254386353131) >> 40 & (1 << 24) - 1).double() / 2**24  # the multiplier of splitmix64
    rank = torch.exp(u * math.log(HEIGHT)).long() - 1
    return rank * 7919 % HEIGHT


def measure(peer, op, pooling, forward, backward=None):
    """The least time of forward, or of backward(what forward returns)."""
    least = math.inf
    for turn in range((1 if args.tiny else 3) * SETS):
        start = time.perf_counter()
        out = forward(turn % SETS)
        if backward is not None:
            start = time.perf_counter()
            backward(out)
        if turn >= SETS or args.tiny:
            least = min(least, (time.perf_counter() - start) * 1e3)
    line = {"peer": peer, "op": op, "width": args.width, "pooling": pooling, "threads": args.threads, "ms": least}
    print(json.dumps(line), flush=True)


for pooling in (20, 1):
    n = BATCH * pooling
    drawn = [draw(s, TABLES * n) for s in range(SETS)]
    offsets = torch.arange(0, TABLES * n + 1, pooling)
    grad = torch.ones(BATCH, TABLES * args.width)

    bags = [torch.nn.EmbeddingBag(HEIGHT, args.width, mode="sum", sparse=True, include_last_offset=True) for _ in range(TABLES)]
    optimizer = torch.optim.Adagrad([p for bag in bags for p in bag.parameters()])

    def forward(s):
        return torch.cat([bag(drawn[s][t * n : (t + 1) * n], offsets[: BATCH + 1]) for t, bag in enumerate(bags)], 1)

    def step(out):
        optimizer.zero_grad()
        out.backward(grad)
        optimizer.step()

    measure("torch", "forward", pooling, forward)
    measure("torch", "adagrad", pooling, forward, step)
    del bags, optimizer

    try:
        from fbgemm_gpu.split_embedding_configs import EmbOptimType
        from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
            ComputeDevice,
            EmbeddingLocation,
            PoolingMode,
            SplitTableBatchedEmbeddingBagsCodegen,
        )
    except ImportError:
        continue
    for op, kind in (("rowwise_adagrad", EmbOptimType.EXACT_ROWWISE_ADAGRAD), ("adagrad", EmbOptimType.EXACT_ADAGRAD)):
        spec = [(HEIGHT, args.width, EmbeddingLocation.HOST, ComputeDevice.CPU)] * TABLES
        batch = SplitTableBatchedEmbeddingBagsCodegen(spec, optimizer=kind, learning_rate=0.01, eps=1e-6, pooling_mode=PoolingMode.SUM)
        batch.init_embedding_weights_uniform(-0.01, 0.01)
        if op == "rowwise_adagrad":
            measure("fbgemm", "forward", pooling, lambda s: batch(drawn[s], offsets))
        measure("fbgemm", op, pooling, lambda s: batch(drawn[s], offsets), lambda out: out.backward(grad))
