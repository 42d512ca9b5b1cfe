"""A DLRM in PyTorch, trained on a log of clicks or on random ones. A line of JSON: examples per second, and how well it predicts.

A log has a line for each example: the label, 13 integers and 26 categories in hexadecimal, separated by tabs, as
Criteo's; fields may be empty. The loss and the AUC are those of all batches, each before the step on it.

All tables are one, and its lookup is F.embedding: with 26 nn.EmbeddingBag the forward pass of the tables takes 2 to 6
times as long, and their step 1.3 to 2.6 times, on one thread; with one nn.EmbeddingBag both take about as long.
Row-wise AdaGrad is by hand, since PyTorch has none.
"""

import argparse
import json
import math
import statistics
import time

import torch
import torch.nn.functional as F


def numbers(text):
    return [int(number) for number in text.split(",")]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--batch", type=int, default=2048)
parser.add_argument("--dim", type=int, default=16, help="width of the embeddings")
parser.add_argument("--bottom", type=numbers, default=[64], help="hidden sizes of the MLP on numbers, which ends in dim")
parser.add_argument("--top", type=numbers, default=[64, 32], help="hidden sizes of the MLP that ends in the logit")
parser.add_argument("--rows", type=int, default=100_000, help="rows of each of the 26 tables")
parser.add_argument("--steps", type=int, default=200, help="at most, of a log")
parser.add_argument("--warm-up", type=int, default=20, help="steps that are not timed")
parser.add_argument("--tables", choices=["bags", "joined"], default="joined")
parser.add_argument("--optimizer", choices=["adagrad", "rowwise_adagrad"], default="rowwise_adagrad", help="of the tables")
parser.add_argument("--table-rate", type=float, default=0.1)
parser.add_argument("--rate", type=float, default=0.002, help="of Adam, for the MLPs")
parser.add_argument("--bfloat16", action="store_true", help="tables of bfloat16")
parser.add_argument("--log", help="a file; else ids are random, with a log-uniform distribution")
parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
args = parser.parse_args()
if args.tiny:
    args.batch, args.rows, args.steps, args.warm_up = 64, 100, 6, 2
torch.set_num_threads(args.threads)
torch.manual_seed(1)
NUMBERS, TABLES = 13, 26


def read_log():
    """Batches of a log: numbers, rows of the one table, labels. The rest of less than a batch is left out."""
    batches, x, ids, labels = [], [], [], []
    with open(args.log, encoding="ascii") as log:
        for line in log:
            fields = line.rstrip("\n").split("\t")
            labels.append(float(fields[0]))
            x.append([math.log1p(max(int(f), 0)) if f else -1.0 for f in fields[1 : 1 + NUMBERS]])
            ids.append([t * args.rows + int(f or "0", 16) % args.rows for t, f in enumerate(fields[1 + NUMBERS :])])
            if len(labels) == args.batch:
                batches.append((torch.tensor(x), torch.tensor(ids), torch.tensor(labels)))
                x, ids, labels = [], [], []
                if len(batches) == args.steps:
                    break
    return batches


def draw():
    ids = torch.exp(torch.rand(args.batch, TABLES, dtype=torch.float64) * math.log(args.rows)).long() - 1
    ids = ids * 7919 % args.rows + torch.arange(TABLES) * args.rows
    return torch.rand(args.batch, NUMBERS), ids, (torch.rand(args.batch) < 0.25).float()


def mlp(sizes, last):
    layers = [layer for n, m in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(n, m), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers, *last)


class RowwiseAdagrad:
    def __init__(self, table):
        self.table, self.moment = table, torch.zeros(len(table))

    @torch.no_grad()
    def step(self):
        gradient = self.table.grad
        rows, inverse = torch.unique(gradient._indices()[0], return_inverse=True)  # faster than coalesce
        value = torch.zeros(len(rows), args.dim).index_add_(0, inverse, gradient._values().float())
        self.moment.index_add_(0, rows, value.square().mean(1))
        value *= (-args.table_rate / (self.moment[rows].sqrt() + 1e-8)).unsqueeze(1)
        self.table.index_add_(0, rows, value.to(self.table.dtype))  # slower with alpha


batches = read_log() if args.log else [draw() for _ in range(args.steps)]
if len(batches) <= args.warm_up:
    raise SystemExit(f"{len(batches)} batches are too few: --warm-up takes {args.warm_up}")


def new_table(rows):
    values = torch.empty(rows, args.dim).uniform_(-args.rows**-0.5, args.rows**-0.5)
    return values.bfloat16() if args.bfloat16 else values


if args.tables == "bags":
    bags = [torch.nn.EmbeddingBag(args.rows, args.dim, mode="sum", sparse=True, _weight=new_table(args.rows)) for _ in range(TABLES)]
    tables = [bag.weight for bag in bags]
    batches = [(x, (ids % args.rows).T.contiguous(), label) for x, ids, label in batches]
    starts = torch.arange(args.batch)  # of the bags
else:
    tables = [torch.nn.Parameter(new_table(TABLES * args.rows))]
bottom = mlp([NUMBERS, *args.bottom, args.dim], [])
pairs = TABLES * (TABLES + 1) // 2
top = mlp([args.dim + pairs, *args.top], [torch.nn.Linear(args.top[-1], 1)])
dense = torch.optim.Adam([*bottom.parameters(), *top.parameters()], lr=args.rate, fused=True)
if args.optimizer == "adagrad":
    sparse = [torch.optim.Adagrad(tables, lr=args.table_rate)]
else:
    sparse = [RowwiseAdagrad(table) for table in tables]
i, j = torch.tril_indices(TABLES + 1, TABLES + 1, -1)
lower = i * (TABLES + 1) + j


def rows_of(ids):
    if args.tables == "bags":
        return torch.stack([bag(of_table, starts) for bag, of_table in zip(bags, ids)], 1)
    return F.embedding(ids, tables[0], sparse=True)


def logits(x, ids):
    low = bottom(x)
    vectors = torch.cat([low.unsqueeze(1), rows_of(ids).float()], 1)
    products = torch.bmm(vectors, vectors.transpose(1, 2)).view(len(x), -1)
    return top(torch.cat([low, products.index_select(1, lower)], 1)).squeeze(1)  # faster than indexing with i and j


def step(x, ids, label):
    dense.zero_grad()
    for table in tables:
        table.grad = None
    z = logits(x, ids)
    F.binary_cross_entropy_with_logits(z, label).backward()
    dense.step()
    for optimizer in sparse:
        optimizer.step()
    return z.detach()


def area(z, label):
    """Under the ROC curve: ties count half."""
    _, place, count = torch.unique(z, return_inverse=True, return_counts=True)
    rank = (count.cumsum(0) - (count - 1) / 2)[place].double()
    positives, negatives = label.sum().double(), (1 - label).sum().double()
    return (rank[label == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


seconds, predictions = [], []
for batch in batches:
    start = time.perf_counter()
    predictions.append(step(*batch))
    seconds.append(time.perf_counter() - start)
timed = seconds[args.warm_up :]
z, label = torch.cat(predictions), torch.cat([batch[2] for batch in batches])
line = {
    "peer": "torch",
    "optimizer": args.optimizer,
    "tables": args.tables,
    "type": "bfloat16" if args.bfloat16 else "float",
    "dim": args.dim,
    "threads": args.threads,
    "steps": len(batches),
    "examples_per_s": round(args.batch * len(timed) / sum(timed)),
    "examples_per_s_median_step": round(args.batch / statistics.median(timed)),
}
if args.log:
    line |= {"log_loss": F.binary_cross_entropy_with_logits(z.double(), label.double()).item(), "auc": area(z, label).item()}
print(json.dumps(line))
