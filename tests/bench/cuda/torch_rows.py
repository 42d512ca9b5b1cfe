"""PyTorch on the GPU: the operations of rowan_bench_cuda at the same sizes, by CUDA's events. Prints lines of JSON."""

import argparse
import json

import numpy as np
import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

parser = argparse.ArgumentParser()
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()
HEIGHT, WIDTH, LOOKUPS, SETS, SENTENCES = (1 << 12, 64, 1 << 13, 2, 100) if args.tiny else (1 << 25, 64, 1 << 20, 8, 100_000)


def draw(kind, rng, k):
    if kind == "uniform":
        return rng.integers(0, HEIGHT, LOOKUPS)
    if kind == "one":
        return np.full(LOOKUPS, k)
    rank = (np.power(float(HEIGHT), rng.random(LOOKUPS)) - 1).astype(np.int64)
    return rank.clip(0, HEIGHT - 1) * 2654435761 % HEIGHT


def measure(op, way, ids, run, prepare=None):
    line = {"peer": "torch", "op": op, "way": way, "ids": ids}
    try:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for turn in range(3 * SETS):
            if prepare:
                prepare(turn % SETS)
            begin.record()
            run(turn % SETS)
            end.record()
            end.synchronize()
            if turn >= SETS:
                times.append(begin.elapsed_time(end))
        line["ms"] = sorted(times)[len(times) // 2]
    except Exception as error:  # one way that a version lacks must not end the others
        line["error"] = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps(line), flush=True)


print(json.dumps({"torch": torch.__version__, "card": torch.cuda.get_device_name(0)}), flush=True)
table = torch.empty(HEIGHT, WIDTH, device="cuda").uniform_(-0.01, 0.01)
rng = np.random.default_rng(1)
for kind in ("uniform", "zipf", "one"):
    ids = [torch.from_numpy(draw(kind, rng, k)).cuda() for k in range(SETS)]
    grads = [torch.randn(LOOKUPS, WIDTH, device="cuda") for _ in range(SETS)]
    out = torch.empty(LOOKUPS, WIDTH, device="cuda")
    coo = lambda k: torch.sparse_coo_tensor(ids[k][None], grads[k], (HEIGHT, WIDTH), check_invariants=False)  # noqa: E731
    measure("gather", "embedding", kind, lambda k: torch.nn.functional.embedding(ids[k], table))
    measure("gather_into", "index_select", kind, lambda k: torch.index_select(table, 0, ids[k], out=out))
    measure("scatter_add", "index_add_", kind, lambda k: table.index_add_(0, ids[k], grads[k]))
    torch.use_deterministic_algorithms(True)
    measure("scatter_add", "index_add_, deterministic", kind, lambda k: table.index_add_(0, ids[k], grads[k]))
    torch.use_deterministic_algorithms(False)
    measure("merge", "coalesce", kind, lambda k: coo(k).coalesce())
    parameter = torch.nn.Parameter(table)

    def grad(k):
        parameter.grad = coo(k)

    for op, optimizer in (("sgd", torch.optim.SGD), ("adagrad", torch.optim.Adagrad)):
        step = optimizer([parameter], lr=0.01)
        measure(op, f"optim.{optimizer.__name__}", kind, lambda k: step.step(), grad)
        del step
    parameter.grad = None

for batch, most in (("sentences", 24), ("long", 250)):
    count = SENTENCES * 24 // most
    sizes = [1 + (((i + 1) * 0x9E3779B97F4A7C15 & 2**64 - 1) >> 40) % most for i in range(count)]
    flat = [torch.rand(sum(sizes), WIDTH, device="cuda") for _ in range(SETS)]
    starts = torch.tensor([0] + sizes).cumsum(0).tolist()
    order = sorted(range(count), key=lambda i: -sizes[i])
    index = torch.tensor([starts[i] + t for t in range(max(sizes)) for i in order if sizes[i] > t]).cuda()
    cut = [x.split(sizes) for x in flat]
    packed = [pack_sequence(c, enforce_sorted=False) for c in cut]
    measure("unpack, map included", "pack_sequence", batch, lambda k: pack_sequence(cut[k], enforce_sorted=False))
    measure("unpack", "index_select with a ready index", batch, lambda k: torch.index_select(flat[k], 0, index))
    measure("pack", "pad_packed_sequence", batch, lambda k: pad_packed_sequence(packed[k], batch_first=True))
