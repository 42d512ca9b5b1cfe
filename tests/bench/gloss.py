#!/usr/bin/env python3
"""The gloss classifier of examples/gloss_classifier.cpp in PyTorch: same text, split, model and optimizers.

With --peer fasttext in fastText: same text, split and sizes; its own optimizer is SGD with a rate that falls to 0. Prints
seconds of training per epoch and the test accuracy; with --against [PROGRAM], also those of that program, by default
rowan_bench_gloss, in turns with all peers or the one named, for each number of threads and of words in an n-gram, and
their ratios. Needs a Python that has torch, and fasttext-wheel for fastText, such as that of peers.py:

    build/venvs/fb/bin/python tests/bench/gloss.py --against
    build/venvs/fb/bin/python tests/bench/gloss.py --against --peer fasttext --epochs 5 --threads 1 2 --word-ngrams 1 2
"""
import argparse
import importlib.util
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter

from machine import processor

SHIPPED = pathlib.Path(__file__).resolve().parent.parent.parent / "build/bench/tests/bench/rowan_bench_gloss"


def glosses(folder):
    """Yields (is_test, label, words) in file order."""
    for part, name in enumerate(("noun", "verb", "adj", "adv")):
        with open(f"{folder}/data.{name}", encoding="latin-1") as lines:
            for line in lines:
                if line.startswith("  "):
                    continue
                head, gloss = line.split("|", 1)
                offset, label = head.split(" ", 2)[:2]
                h = (4 * int(offset) + part) * 2654435761 % 2**32
                yield h * 10 >> 32 == 0, int(label), re.findall("[a-z]+|[0-9]+", gloss.lower())


def compare(args):
    """Compares with each number of threads and of words in an n-gram."""
    print("processor:", processor())
    for words in args.word_ngrams:
        for threads in args.threads:
            compare_in_turns(args, threads, words)


def compare_in_turns(args, threads, words):
    """Runs the program and the peers in turns, each in a separate process, and prints the best epoch of each."""
    options = [f"--{name}={getattr(args, name)}" for name in ("model", "epochs", "seed", "dim", "device", "wordnet")] + [f"--threads={threads}"]
    ngrams = [f"--word-ngrams={words}", f"--minn={args.minn}", f"--maxn={args.maxn}"]
    plain = words == 1 and args.maxn == 0
    script = [sys.executable, __file__, *options]
    commands = {"rowan": [args.against, *options, *([] if plain else ngrams)]}
    if plain and args.peer != "fasttext":
        commands["torch"] = script
    if args.model == "bag" and args.peer != "torch" and importlib.util.find_spec("fasttext"):
        commands["fasttext"] = [*script, "--peer=fasttext", *ngrams]
    best, accuracy = dict.fromkeys(commands, float("inf")), {}
    characters = f", {args.minn} to {args.maxn} characters" if args.maxn else ""
    print(f"threads {threads}, up to {words} words{characters}")
    for _ in range(args.rounds):
        for name, command in commands.items():
            lines = subprocess.run(command, check=True, text=True, stdin=subprocess.DEVNULL, capture_output=True).stdout
            seconds = [float(x) for x in re.findall(r"([0-9.]+) s,", lines)]
            accuracies = re.findall("test accuracy ([0-9.]+)", lines)
            best[name] = min(best[name], *seconds)
            accuracy.setdefault(name, set()).add(accuracies[-1])
            print(name, *(f"{x:.3f} s" for x in seconds), *accuracies, flush=True)
    for name, seconds in best.items():
        found = " to ".join(sorted({min(accuracy[name]), max(accuracy[name])}))
        print(f"an epoch: {name} {seconds:.3f} s, {seconds / best['rowan']:.1f} times as long; after {args.epochs}, {found} are right")


def fasttext_classifier(args):
    """Its calls read the text first: the time of an epoch is what four more take, of two calls each the faster."""
    import fasttext

    with tempfile.TemporaryDirectory() as folder:
        files = {is_test: pathlib.Path(folder, f"{is_test}.txt") for is_test in (False, True)}
        lines = {False: [], True: []}
        for is_test, label, words in glosses(args.wordnet):
            lines[is_test].append(f"__label__{label} {' '.join(words)}\n")
        random.Random(args.seed).shuffle(lines[False])  # it takes the lines in their order
        for is_test, file in files.items():
            file.write_text("".join(lines[is_test]), encoding="latin-1")

        def train(epochs):
            start = time.perf_counter()
            model = fasttext.train_supervised(
                str(files[False]),
                dim=args.dim,
                epoch=epochs,
                thread=args.threads[0],
                lr=0.5,
                minCount=1,
                wordNgrams=args.word_ngrams[0],
                minn=args.minn,
                maxn=args.maxn,
                verbose=0,
                seed=args.seed,
            )
            return time.perf_counter() - start, model

        calls = [(train(args.epochs), train(args.epochs + 4)) for _ in range(2)]
        few, more = (min(seconds for seconds, _ in kind) for kind in zip(*calls))
        seconds = (more - few) / 4
        accuracy = calls[0][0][1].test(str(files[True]))[1]
        print(f"fasttext, threads {args.threads[0]}, {args.epochs} epochs: {seconds:.3f} s, test accuracy {accuracy:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("bag", "gru", "attention"), default="bag")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: PROGRAM was built with CUDA, and torch has it")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--word-ngrams", type=int, nargs="+", default=[1], help="runs of up to so many words, not in PyTorch")
    parser.add_argument("--minn", type=int, default=0, help="characters of an n-gram within a word, not in PyTorch")
    parser.add_argument("--maxn", type=int, default=0, help="0: none")
    parser.add_argument("--wordnet", default="/usr/share/wordnet")
    parser.add_argument("--against", metavar="PROGRAM", nargs="?", const=str(SHIPPED), help="the gloss_classifier that was built")
    parser.add_argument("--rounds", type=int, default=3, help="turns with it")
    parser.add_argument("--peer", choices=("torch", "fasttext"), help="default: with --against both, else torch")
    args = parser.parse_args()
    if args.against:
        return compare(args)
    if args.peer == "fasttext":
        return fasttext_classifier(args)
    torch_classifier(args)


def torch_classifier(args):
    import torch
    from torch.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence

    torch.set_num_threads(args.threads[0])
    torch.manual_seed(args.seed)

    parts = {False: [], True: []}
    for is_test, label, words in glosses(args.wordnet):
        parts[is_test].append((words, label))
    counts = Counter(word for words, _ in parts[False] for word in words)
    ids = {word: k for k, (word, _) in enumerate(counts.most_common(), 1)}  # ties: first seen
    train, test = (
        [(torch.tensor([ids.get(word, 0) for word in words]), label) for words, label in parts[is_test]]
        for is_test in (False, True)
    )
    tokens = sum(counts.values())
    print(f"{len(train)} training and {len(test)} test sentences, {len(ids) + 1} ids, {tokens} training tokens")

    if args.model == "bag":
        table = torch.nn.EmbeddingBag(len(ids) + 1, args.dim, mode="mean", sparse=True)
    else:
        table = torch.nn.Embedding(len(ids) + 1, args.dim, sparse=True)
    gru = torch.nn.GRU(args.dim, args.dim)  # PyTorch begins with uniform(-1 / sqrt(dim), 1 / sqrt(dim))
    attention = torch.nn.Sequential(torch.nn.Linear(args.dim, args.dim), torch.nn.Tanh(), torch.nn.Linear(args.dim, 1))
    fc = torch.nn.Linear(args.dim, 45)
    for layer in (table, gru, attention, fc):
        layer.to(args.device)
    torch.nn.init.uniform_(table.weight, -0.1, 0.1)
    torch.nn.init.uniform_(fc.weight, -0.125, 0.125)
    torch.nn.init.uniform_(fc.bias, -0.125, 0.125)
    trained = {"bag": [fc], "gru": [fc, gru], "attention": [fc, gru, attention]}[args.model]
    optimizers = [
        torch.optim.Adagrad(table.parameters(), lr=0.1, eps=1e-10),
        torch.optim.Adam([p for layer in trained for p in layer.parameters()], lr=2e-3),
    ]

    def scores(batch):
        if args.model != "bag":
            ids = pack_sequence([words for words, _ in batch], enforce_sorted=False).to(args.device)
            rows = PackedSequence(table(ids.data), ids.batch_sizes, ids.sorted_indices, ids.unsorted_indices)
            states, last = gru(rows)
            if args.model == "gru":
                return fc(last[0])
            states, lengths = pad_packed_sequence(states)
            inside = (torch.arange(len(states))[:, None, None] < lengths[:, None]).to(args.device)
            weights = attention(states).masked_fill(~inside, float("-inf")).softmax(0)
            return fc((states * weights).sum(0))
        lengths = torch.tensor([0] + [len(words) for words, _ in batch[:-1]])
        return fc(table(torch.cat([words for words, _ in batch]).to(args.device), lengths.cumsum(0).to(args.device)))

    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        order = torch.randperm(len(train)).tolist()
        loss_sum = 0.0
        for begin in range(0, len(order), 64):
            batch = [train[i] for i in order[begin : begin + 64]]
            loss = torch.nn.functional.cross_entropy(scores(batch), torch.tensor([label for _, label in batch], device=args.device))
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            loss_sum += loss.item() * len(batch)
        seconds = time.perf_counter() - start
        with torch.no_grad():
            right = 0
            for begin in range(0, len(test), 64):
                batch = test[begin : begin + 64]
                right += (scores(batch).argmax(1) == torch.tensor([label for _, label in batch], device=args.device)).sum().item()
        print(
            f"torch {torch.__version__}, {args.device}, threads {args.threads[0]}, seed {args.seed}, epoch {epoch}: {seconds:.2f} s, "
            f"test accuracy {right / len(test):.4f}, training loss {loss_sum / len(train):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
