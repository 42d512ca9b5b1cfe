"""PyTorch's optimizers on the table of rowan_bench_deferred, with dense gradients and, where it has them, sparse ones. A line of JSON for each."""

import json
import math
import time

import arguments
import torch

args = arguments.parse()
torch.set_num_threads(args.threads)
HEIGHT, LOOKUPS, WIDTH = (1000, 16, 64) if args.tiny else (8_400_000, 8192, 64)


def measure(op, how, steps, make, sparse):
    if args.op not in (None, op):
        return
    table = torch.nn.Parameter((torch.arange(HEIGHT * WIDTH) % 11 * 0.013 - 0.06).view(HEIGHT, WIDTH))
    optimizer = make([table])
    torch.manual_seed(1)
    total = 0
    for step in range(steps + 1):
        if sparse:
            ids = (torch.rand(LOOKUPS) * math.log(HEIGHT + 1)).exp().sub(1).long().clamp(max=HEIGHT - 1)
            table.grad = torch.sparse_coo_tensor(ids[None], (torch.rand(LOOKUPS, WIDTH) - 0.5) * 0.01, (HEIGHT, WIDTH))
        elif table.grad is None:
            table.grad = torch.zeros(HEIGHT, WIDTH)
        start = time.perf_counter()
        optimizer.step()
        total += (time.perf_counter() - start) * (step > 0)
    print(json.dumps({"peer": "torch", "op": op, "how": how, "threads": args.threads, "ms": total * 1e3 / steps}), flush=True)


measure("adam", "dense", 3, lambda p: torch.optim.Adam(p, lr=0.001), False)
measure("adam", "lazy", 50, lambda p: torch.optim.SparseAdam(p, lr=0.001), True)
measure("adamw", "dense", 3, lambda p: torch.optim.AdamW(p, lr=0.001, weight_decay=0.01), False)
measure("rmsprop", "dense", 3, lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.9), False)
measure("momentum", "dense", 3, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9), False)
measure("adagrad, L2", "dense", 3, lambda p: torch.optim.Adagrad(p, lr=0.01, weight_decay=0.01), False)
measure("sgd, L2", "dense", 3, lambda p: torch.optim.SGD(p, lr=0.01, weight_decay=0.01), False)
