"""The inputs and the timing of PyTorch's calls, as in tests/bench/op/calls.hpp."""

import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()
tiny = args.tiny
torch.set_num_threads(args.threads)


def filled(*shape):
    """Numbers in [-2, 2)."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7919 % 1000) / 250 - 2).reshape(shape)


def numbers(n, height):
    """Numbers in [0, height)."""
    return torch.arange(n) * 7919 % height


def least_ms(turns, calls, run):
    """The least milliseconds of a call in several turns of several calls; the first turn is not counted."""
    times = []
    with torch.no_grad():
        for _ in range(turns + 1):
            start = time.perf_counter()
            for _ in range(calls):
                run()
            times.append((time.perf_counter() - start) * 1e3 / calls)
    return min(times[1:])
