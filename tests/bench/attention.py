#!/usr/bin/env python3
"""The encoder-decoder of examples/15_attention.cpp in PyTorch, with padding and masks: same task, sizes and optimizer.

Prints seconds per epoch; with --against [PROGRAM], also those of the example, by default rowan_bench_attention (the
time of the whole program, with its test, over its 10 epochs), in turns, and their ratio. Needs a Python that has torch,
such as that of peers.py:

    build/venvs/fb/bin/python tests/bench/attention.py --against
"""
import argparse
import os
import pathlib
import random
import subprocess
import time

import torch
from torch.nn.utils.rnn import pad_sequence

from machine import processor

SHIPPED = pathlib.Path(__file__).resolve().parent.parent.parent / "build/bench/tests/bench/rowan_bench_attention"
EPOCHS = 10


def batches(epoch):
    """100 batches of 64 sequences: the numbers, what the decoder wrote before, the sorted numbers, and the lengths."""
    for seed in range(100 * epoch, 100 * epoch + 100):
        draw = random.Random(seed)
        numbers = [[draw.randint(1, 20) for _ in range(draw.randint(1, 8))] for _ in range(64)]
        ordered = [sorted(s) for s in numbers]
        before = [[0, *s[:-1]] for s in ordered]
        padded = [pad_sequence([torch.tensor(s) for s in x], batch_first=True) for x in (numbers, before, ordered)]
        yield *padded, torch.tensor([len(s) for s in numbers])


class Sorter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers, self.before = torch.nn.Embedding(21, 32), torch.nn.Embedding(21, 32)
        self.encoder, self.decoder = (torch.nn.GRU(32, 32, batch_first=True) for _ in range(2))
        self.query, self.mixed, self.scores = torch.nn.Linear(32, 32), torch.nn.Linear(64, 64), torch.nn.Linear(64, 21)

    def forward(self, numbers, before, lengths):
        encoded, _ = self.encoder(self.numbers(numbers))
        last = encoded[torch.arange(len(lengths)), lengths - 1]
        decoded, _ = self.decoder(self.before(before), last[None])
        mask = (torch.arange(numbers.shape[1]) < lengths[:, None])[:, None, :]
        found = torch.nn.functional.scaled_dot_product_attention(self.query(decoded), encoded, encoded, attn_mask=mask)
        return self.scores(torch.tanh(self.mixed(torch.cat([decoded, found], 2))))


def torch_epoch(threads):
    """The seconds of the fastest epoch, without the time to draw the numbers."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = Sorter()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    best = float("inf")
    for epoch in range(3):
        data = list(batches(epoch))
        start = time.perf_counter()
        for numbers, before, ordered, lengths in data:
            scores = model(numbers, before, lengths)
            loss = torch.nn.functional.cross_entropy(scores.transpose(1, 2), ordered, ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--against", metavar="PROGRAM", nargs="?", const=str(SHIPPED), help="the example that was built")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    best = {"torch": float("inf"), "rowan": float("inf")}
    for _ in range(args.rounds):
        best["torch"] = min(best["torch"], torch_epoch(args.threads))
        if args.against:
            start = time.perf_counter()
            subprocess.run([args.against], check=True, env={**os.environ, "OMP_NUM_THREADS": str(args.threads)}, stdout=subprocess.DEVNULL)
            best["rowan"] = min(best["rowan"], (time.perf_counter() - start) / EPOCHS)
    print("processor:", processor())
    print(f"an epoch: torch {torch.__version__} {best['torch']:.3f} s")
    if args.against:
        print(f"an epoch: rowan {best['rowan']:.3f} s, torch takes {best['torch'] / best['rowan']:.1f} times as long")


main()
