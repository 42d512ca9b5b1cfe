#!/usr/bin/env python3
"""word2vec of examples/word2vec.cpp, gensim and PyTorch in turns, on the King James Bible: thousand words a second and the
mean loss of a pair in the lines held out, one of 20, after all epochs.

gensim runs in an environment of its own, which is made at the first call; PyTorch in that of peers.py. Nothing else should
run on the machine. Needs Debian's bible-kjv.

    cmake --preset demo && cmake --build --preset demo --target word2vec
    python3 tests/bench/words.py [--epochs 5] [--rounds 2] [--program build/demo/examples/word2vec]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOLD_OUT, DIM, WINDOW, NEGATIVE, MIN_COUNT, SAMPLE = 20, 100, 5, 5, 5, 1e-3
MODELS = {"skip-gram": [], "CBOW": ["--cbow"], "skip-gram, tree": ["--hs"], "CBOW, tree": ["--cbow", "--hs"]}


def lines(file):
    """The words of the lines to learn from, and of those held out."""
    parts = [], []
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        parts[number % HOLD_OUT == 0].append(re.findall("[a-z]+|[0-9]+", line.lower()))
    return parts


def words_and_contexts(index, test):
    """The number of each word, and those of its contexts."""
    for words in test:
        ids = [index[w] for w in words if w in index]
        for i, word in enumerate(ids):
            contexts = ids[max(0, i - WINDOW):i] + ids[i + 1:i + 1 + WINDOW]
            if contexts:
                yield word, contexts


def held_out_loss(inputs, outputs, index, counts, test, mean):
    """The loss of each word and one of its contexts, or of the mean of these, with five random words."""
    import numpy

    random = numpy.random.default_rng(7)
    sums = numpy.cumsum(numpy.asarray(counts, float) ** 0.75)
    loss = pairs = 0
    for word, contexts in words_and_contexts(index, test):
        x = inputs[contexts].mean(axis=0, keepdims=True) if mean else inputs[contexts]
        others = numpy.searchsorted(sums / sums[-1], random.random(NEGATIVE))
        loss += numpy.logaddexp(0, -(x @ outputs[word])).sum() + numpy.logaddexp(0, x @ outputs[others[others != word]].T).sum()
        pairs += len(x)
    return float(loss) / pairs


def held_out_tree_loss(made, test, mean):
    """The same with hierarchical softmax: a term for each node on the path of a word in gensim's tree."""
    import numpy

    inputs = made.wv.vectors
    nodes = [made.wv.get_vecattr(w, "point")[:len(made.wv.get_vecattr(w, "code"))] for w in made.wv.index_to_key]
    signs = [1 - 2.0 * made.wv.get_vecattr(w, "code") for w in made.wv.index_to_key]
    loss = pairs = 0
    for word, contexts in words_and_contexts(made.wv.key_to_index, test):
        x = inputs[contexts].mean(axis=0, keepdims=True) if mean else inputs[contexts]
        loss += numpy.logaddexp(0, -(x @ made.syn1[nodes[word]].T) * signs[word]).sum()
        pairs += len(x)
    return float(loss) / pairs


def report(peer, model, threads, words, seconds, loss):
    print(json.dumps({"peer": peer, "model": model, "threads": threads, "speed": words / seconds / 1e3, "loss": loss}), flush=True)


def gensim(file, model, workers, epochs):
    import gensim.models

    train, test = lines(file)
    cbow, tree = "CBOW" in model, "tree" in model
    made = gensim.models.Word2Vec(vector_size=DIM, window=WINDOW, min_count=MIN_COUNT, sample=SAMPLE, sg=not cbow, hs=tree, negative=0 if tree else NEGATIVE,
                                  workers=workers, seed=1)
    made.build_vocab(train)
    words = sum(len([w for w in line if w in made.wv.key_to_index]) for line in train)
    start = time.perf_counter()
    made.train(train, total_examples=len(train), total_words=words, epochs=epochs)
    seconds = time.perf_counter() - start
    if tree:
        loss = held_out_tree_loss(made, test, cbow)
    else:
        counts = [made.wv.get_vecattr(w, "count") for w in made.wv.index_to_key]
        loss = held_out_loss(made.wv.vectors, made.syn1neg, made.wv.key_to_index, counts, test, cbow)
    report("gensim", model, workers, words * epochs, seconds, loss)


def torch_skip_gram(file, threads, epochs):
    """Batches of 1,024 pairs; the pairs of an epoch are made beforehand, which does not count."""
    import collections

    import numpy
    import torch

    torch.set_num_threads(threads)
    train, test = lines(file)
    counted = [item for item in collections.Counter(w for line in train for w in line).most_common() if item[1] >= MIN_COUNT]
    index = {w: i for i, (w, _) in enumerate(counted)}
    counts = numpy.array([n for _, n in counted], float)
    random = numpy.random.default_rng(1)
    share = counts / (counts.sum() * SAMPLE)
    keep = (numpy.sqrt(share) + 1) / share
    sums = torch.tensor(numpy.cumsum(counts ** 0.75) / (counts ** 0.75).sum())
    inputs = torch.nn.Embedding(len(index), DIM, sparse=True)
    outputs = torch.nn.Embedding(len(index), DIM, sparse=True)
    torch.nn.init.uniform_(inputs.weight, -0.5 / DIM, 0.5 / DIM)
    torch.nn.init.zeros_(outputs.weight)
    optimizer = torch.optim.SGD([*inputs.parameters(), *outputs.parameters()], lr=0.025)
    seconds = 0
    for epoch in range(epochs):
        pairs = []
        for line in train:
            ids = [index[w] for w in line if w in index]
            ids = [i for i in ids if keep[i] >= 1 or random.random() < keep[i]]
            for i, word in enumerate(ids):
                radius = random.integers(1, WINDOW + 1)
                pairs += [(word, ids[k]) for k in range(max(0, i - radius), min(len(ids), i + radius + 1)) if k != i]
        pairs = torch.tensor(pairs)
        start = time.perf_counter()
        for begin in range(0, len(pairs), 1024):
            word, context = pairs[begin:begin + 1024].T
            optimizer.param_groups[0]["lr"] = 0.025 * max(1e-4, 1 - (epoch + begin / len(pairs)) / epochs)
            others = torch.searchsorted(sums, torch.rand(len(word), NEGATIVE, dtype=sums.dtype))
            targets = torch.cat([word[:, None], others], 1)
            scores = (outputs(targets) @ inputs(context)[:, :, None])[:, :, 0]
            signs = torch.ones_like(scores)
            signs[:, 1:] = -1
            hit = (others == word[:, None])
            terms = torch.nn.functional.softplus(-signs * scores)
            loss = terms[:, 0].sum() + terms[:, 1:].masked_fill(hit, 0).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seconds += time.perf_counter() - start
    words = sum(len([w for w in line if w in index]) for line in train)
    loss = held_out_loss(inputs.weight.detach().numpy(), outputs.weight.detach().numpy(), index, counts, test, False)
    report("PyTorch", "skip-gram", threads, words * epochs, seconds, float(loss))


def rowan(program, file, model, threads, epochs):
    command = [program, file, "--threads", str(threads), "--epochs", str(epochs), "--hold-out", str(HOLD_OUT), *MODELS[model]]
    text = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    words = int(re.search(r"([0-9]+) words of the text", text)[1])
    seconds = sum(map(float, re.findall(r"^  ([0-9.]+) s,", text, re.M)))
    loss = float(re.findall(r"held out ([0-9.]+)", text)[-1])
    report("rowan", model, threads, words * epochs, seconds, loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "build/demo/examples/word2vec"))
    parser.add_argument("--venvs", default=str(ROOT / "build/venvs"))
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)  # peer, model, threads
    args = parser.parse_args()
    file = ROOT / "build/kjv.txt"
    if args.peer:
        peer, model, threads = args.peer
        if peer == "rowan":
            return rowan(args.program, str(file), model, int(threads), args.epochs)
        return gensim(file, model, int(threads), args.epochs) if peer == "gensim" else torch_skip_gram(file, int(threads), args.epochs)
    verses = subprocess.run(["bible", "-f", "Gen1:1-Rev22:21"], check=True, text=True, capture_output=True).stdout
    file.write_text("".join(verse.split(" ", 1)[1] for verse in verses.splitlines(keepends=True)))
    venvs = pathlib.Path(args.venvs)
    if not (venvs / "gensim/bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", venvs / "gensim"], check=True)
        subprocess.run([venvs / "gensim/bin/pip", "install", "-q", "gensim==4.4.0"], check=True)
    best = {}
    for _ in range(args.rounds):
        for model in MODELS:
            for threads in (1, 2):
                peers = [("rowan", sys.executable), ("gensim", venvs / "gensim/bin/python")]
                if model == "skip-gram" and (venvs / "fb/bin/python").exists():
                    peers.append(("PyTorch", venvs / "fb/bin/python"))
                for peer, python in peers:
                    command = [python, __file__, "--epochs", str(args.epochs), "--program", args.program, "--peer", peer, model, str(threads)]
                    line = json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()[-1])
                    key = model, threads, line["peer"]
                    if key not in best or line["speed"] > best[key]["speed"]:
                        best[key] = line
    print("| | threads | rowan | gensim | PyTorch |\n| --- | ---: | ---: | ---: | ---: |")
    for model in MODELS:
        for threads in (1, 2):
            mine = best[model, threads, "rowan"]
            cells = []
            for peer in ("rowan", "gensim", "PyTorch"):
                line = best.get((model, threads, peer))
                if line is None:
                    cells.append("")
                    continue
                ratio = "" if peer == "rowan" else f" ({mine['speed'] / line['speed']:.1f}x)"
                cells.append(f"{line['speed']:.0f}, loss {line['loss']:.3f}{ratio}")
            print(f"| {model} | {threads} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
