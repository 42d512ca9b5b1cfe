"""PyTorch and FBGEMM on batches of sequences: the same lengths as rowan_bench_sequence. A line of JSON for each case."""

import json
import logging
import time

import arguments
import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

args = arguments.parse()
torch.set_num_threads(args.threads)
logging.disable(logging.CRITICAL)
SETS = 8


def lengths(batch):
    count, most = (50, 5) if args.tiny else {"sentences": (5000, 24), "long": (500, 250)}[batch]
    return [1 + (((i + 1) * 0x9E3779B97F4A7C15 & 2**64 - 1) >> 40) % most for i in range(count)]


def measure(peer, op, way, batch, run):
    line = {"peer": peer, "op": op, "way": way, "batch": batch, "width": args.width, "threads": args.threads}
    try:
        times = []
        for turn in range(2 * SETS):
            start = time.perf_counter()
            run(turn % SETS)
            if turn >= SETS:
                times.append((time.perf_counter() - start) * 1e3)
        times.sort()
        line |= {"ms_min": times[0], "ms_median": times[len(times) // 2]}
    except Exception as error:  # one way that a version lacks must not end the others
        line["error"] = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps(line), flush=True)


for batch in ("sentences", "long"):  # of "skewed", pack_sequence would pad 10,000 sentences to 10,000 words: 26 GB
    sizes = lengths(batch)
    rows = sum(sizes)
    flat = [torch.rand(rows, args.width) for _ in range(SETS)]
    cut = [x.split(sizes) for x in flat]
    packed = [pack_sequence(c, enforce_sorted=False) for c in cut]
    starts = torch.tensor([0] + sizes).cumsum(0)
    first = starts.tolist()
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    index = torch.tensor([first[i] + t for t in range(max(sizes)) for i in order if sizes[i] > t])
    measure("torch", "index_select", "index_select", batch, lambda k: torch.index_select(flat[k], 0, index))
    measure("torch", "unpack", "pack_sequence", batch, lambda k: pack_sequence(cut[k], enforce_sorted=False))
    measure("torch", "pack", "pad_packed_sequence", batch, lambda k: pad_packed_sequence(packed[k], batch_first=True))
    measure("torch", "to_padded", "pad_sequence", batch, lambda k: pad_sequence(cut[k], batch_first=True))
    jagged = [torch.nested.nested_tensor_from_jagged(x, offsets=starts, min_seqlen=min(sizes), max_seqlen=max(sizes)) for x in flat]
    measure("torch", "to_padded", "jagged nested to_padded_tensor", batch, lambda k: jagged[k].to_padded_tensor(0.0))
    try:
        import fbgemm_gpu  # noqa: F401
    except ImportError:
        continue
    most = max(sizes)
    measure("fbgemm", "to_padded", "jagged_to_padded_dense", batch,
            lambda k: torch.ops.fbgemm.jagged_to_padded_dense(flat[k], [starts], [most], 0.0))
