"""PyTorch on the cases of rowan_bench_tensors. A line of JSON for each case."""

import argparse
import json
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()
torch.set_num_threads(args.threads)
n, batch, turns = (64, 4, 1) if args.tiny else (4096, 64, 30)


def filled(*shape):
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7919 % 1000) / 250 - 2).reshape(shape)


def measure(op, run, turns=turns):
    times = []
    with torch.no_grad():
        for _ in range(turns + 1):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"op": op, "ms_min": min(times[1:])}), flush=True)


x, row, column, square = filled(n, 256), filled(256), filled(n, 1), filled(n, n)
cube, a, b = filled(batch, 128, 256), filled(batch, 128, 64), filled(batch, 64, 128)
label = torch.arange(n) * 7 % 256
F = torch.nn.functional
measure("[4096, 256] + [256]", lambda: x + row)
measure("[4096, 256] * [4096, 1]", lambda: x * column)
measure("reduce_sum [4096, 256], axis 0", lambda: x.sum(0))
measure("reduce_sum [4096, 256], axis 1", lambda: x.sum(1))
measure("reduce_mean [4096, 256], axis 0", lambda: x.mean(0))
measure("reduce_mean [4096, 256], axis 1", lambda: x.mean(1))
measure("reduce_sum [64, 128, 256], axis 1", lambda: cube.sum(1))
measure("reduce_max [4096, 256], axis 1", lambda: x.amax(1))
measure("transpose [4096, 4096]", lambda: square.t().contiguous(), 1 if args.tiny else 5)
measure("transpose [64, 128, 256], axes 1 and 2", lambda: cube.transpose(1, 2).contiguous())
measure("matmul [64, 128, 64], [64, 64, 128]", lambda: a @ b)
measure("softmax [4096, 256]", lambda: x.softmax(1))
measure("softmax [64, 128, 256], axis 1", lambda: cube.softmax(1))
measure("log_softmax [4096, 256]", lambda: x.log_softmax(1))
measure("cross_entropy [4096, 256]", lambda: F.cross_entropy(x, label))
measure("gelu [4096, 256]", lambda: F.gelu(x))
measure("gelu, by tanh [4096, 256]", lambda: F.gelu(x, approximate="tanh"))
