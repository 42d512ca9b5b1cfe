#!/usr/bin/env python3
"""The language model of examples/language_model.cpp and PyTorch's of the same sizes in turns, on the King James Bible: thousand
words a second, and the perplexity of the lines held out.

PyTorch computes the same sampled softmax (log-uniform samples without repetition, shared by a step), the same truncated
backpropagation with states that go on, clipping and Adam; with and without packed sequences. It runs in the environment of
peers.py. Nothing else should run on the machine. Needs Debian's bible-kjv.

    cmake --preset demo && cmake --build --preset demo --target language_model
    python3 tests/bench/language.py [--epochs 3] [--dim 128] [--threads 1,2] [--program build/demo/examples/language_model]
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import time

from machine import numbers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STREAMS, STEPS, SAMPLES, MIN_COUNT, RATE = 32, 32, 512, 3, 2e-3


def text(file):
    """The ids of the words to learn from and of those held out, and how many there are: as words/text.hpp."""
    parts = [], []
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        held_out = ((number * 2654435761) & 0xFFFFFFFF) * 10 >> 32 == 0
        parts[held_out].append(re.findall("[a-z]+|[0-9]+", line.lower()))
    counts = [item for item in collections.Counter(w for line in parts[0] for w in line).most_common() if item[1] >= MIN_COUNT]
    index = {w: i + 2 for i, (w, _) in enumerate(counts)}
    end = 1
    return [[i for line in part for i in [index.get(w, 0) for w in line] + [end]] for part in parts] + [len(index) + 2]


def torch_model(file, cell, dim, threads, epochs, packed):
    import numpy
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    train, test, words = text(file)
    table, w, b = torch.nn.Embedding(words, dim), torch.empty(words, dim), torch.zeros(words)
    torch.nn.init.uniform_(table.weight, -0.1, 0.1)
    torch.nn.init.uniform_(w, -0.05, 0.05)
    w, b = torch.nn.Parameter(w), torch.nn.Parameter(b)
    net = (torch.nn.GRU if cell == "gru" else torch.nn.LSTM)(dim, dim, batch_first=True)
    parameters = [*table.parameters(), *net.parameters(), w, b]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    random = numpy.random.default_rng(1)
    probability = torch.log1p(1 / torch.arange(1.0, words + 1)) / numpy.log(words + 1)

    def streams(ids):
        length = (len(ids) - 1) // STREAMS
        ids = torch.tensor(ids)
        return ids[:STREAMS * length].view(STREAMS, length), ids[1:STREAMS * length + 1].view(STREAMS, length)

    def run(x, state):
        rows = table(x)
        if packed:
            rows = torch.nn.utils.rnn.pack_padded_sequence(rows, torch.full((STREAMS,), x.shape[1]), batch_first=True)
        output, state = net(rows, state)
        if packed:
            output = torch.nn.utils.rnn.pad_packed_sequence(output, batch_first=True)[0]
        return output.reshape(-1, dim), state

    def sample():
        seen, tries = {}, 0
        while len(seen) < SAMPLES:
            drawn = numpy.minimum(numpy.exp(random.random(SAMPLES) * numpy.log(words + 1)).astype(int) - 1, words - 1)
            for c in drawn.tolist():
                tries += 1
                seen[c] = None
                if len(seen) == SAMPLES:
                    break
        return torch.tensor(list(seen)), -torch.expm1(tries * torch.log1p(-probability))

    x, y = streams(train)
    seconds = 0
    for _ in range(epochs):
        state, start = None, time.perf_counter()
        for begin in range(0, x.shape[1], STEPS):
            output, state = run(x[:, begin:begin + STEPS], state)
            state = tuple(s.detach() for s in state) if cell == "lstm" else state.detach()
            label = y[:, begin:begin + STEPS].reshape(-1)
            ids, counts = sample()
            log = counts.log()
            true = (output * w[label]).sum(1) + b[label] - log[label]
            scores = output @ w[ids].T + b[ids] - log[ids]
            scores = scores.masked_fill(ids[None] == label[:, None], -3e38)
            loss = torch.nn.functional.cross_entropy(torch.cat([true[:, None], scores], 1), torch.zeros(len(label), dtype=torch.long))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1)
            optimizer.step()
        seconds += time.perf_counter() - start
    x, y = streams(test)
    loss, state = 0, None
    with torch.no_grad():
        for begin in range(0, x.shape[1], 16):
            output, state = run(x[:, begin:begin + 16], state)
            loss += torch.nn.functional.cross_entropy(output @ w.T + b, y[:, begin:begin + 16].reshape(-1), reduction="sum").item()
    speed = len(train) * epochs / seconds / 1e3
    print(json.dumps({"speed": speed, "perplexity": numpy.exp(loss / x.numel())}))


def rowan(program, file, cell, dim, threads, epochs):
    command = [program, str(file), "--cell", cell, "--dim", str(dim), "--threads", str(threads), "--epochs", str(epochs)]
    out = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    words = int(re.match("([0-9]+) words", out)[1])
    seconds = sum(map(float, re.findall(r"^  ([0-9.]+) s,", out, re.M)))
    return {"speed": words * epochs / seconds / 1e3, "perplexity": float(re.findall(r"perplexity ([0-9.]+)", out)[-1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--cells", default="gru,lstm")
    parser.add_argument("--program", default=str(ROOT / "build/demo/examples/language_model"))
    parser.add_argument("--python", default=str(ROOT / "build/venvs/fb/bin/python"))
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)  # cell, threads, packed
    args = parser.parse_args()
    file = ROOT / "build/kjv.txt"
    if args.peer:
        return torch_model(file, args.peer[0], args.dim, int(args.peer[1]), args.epochs, args.peer[2] == "packed")
    verses = subprocess.run(["bible", "-f", "Gen1:1-Rev22:21"], check=True, text=True, capture_output=True).stdout
    file.write_text("".join(verse.split(" ", 1)[1] for verse in verses.splitlines(keepends=True)))
    print("| | threads | rowan | PyTorch | PyTorch, packed |\n| --- | ---: | ---: | ---: | ---: |")
    for cell in args.cells.split(","):
        for threads in args.threads:
            mine = rowan(args.program, file, cell, args.dim, threads, args.epochs)
            cells = [f"{mine['speed']:.1f}, perplexity {mine['perplexity']:.1f}"]
            for how in ("padded", "packed"):
                command = [args.python, __file__, "--epochs", str(args.epochs), "--dim", str(args.dim), "--peer", cell, str(threads), how]
                line = json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()[-1])
                cells.append(f"{line['speed']:.1f}, {line['perplexity']:.1f} ({mine['speed'] / line['speed']:.1f}x)")
            print(f"| {cell} | {threads} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
