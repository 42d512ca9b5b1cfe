"""PyTorch and FBGEMM on the GPU: the operations of rowan_bench_cuda at the same sizes, by CUDA's events. Prints lines of JSON.

Where FBGEMM's GPU package cannot be imported, only PyTorch is measured. `--tiny --device cpu` checks that PyTorch's part runs.
"""

import argparse
import json
import time

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

try:
    from fbgemm_gpu.split_embedding_configs import EmbOptimType, SparseType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation
    from fbgemm_gpu.split_table_batched_embeddings_ops_training import ComputeDevice, SplitTableBatchedEmbeddingBagsCodegen
except Exception as error:  # an ImportError, or an OSError of a library that it lacks
    EmbOptimType = None
    print(json.dumps({"fbgemm": f"{type(error).__name__}: {error}"[:200]}), flush=True)

parser = argparse.ArgumentParser()
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
args = parser.parse_args()
DEVICE, SETS = args.device, 3


def clocked(run, k):
    if DEVICE == "cpu":
        begin = time.perf_counter()
        run(k)
        return 1000 * (time.perf_counter() - begin)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run(k)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def measure(op, way, case, run, prepare=None, peer="torch"):
    line = {"peer": peer, "op": op, "way": way, "case": case}
    try:
        times = []
        for turn in range(3 * SETS):
            if prepare:
                prepare(turn % SETS)
                if DEVICE == "cuda":
                    torch.cuda.synchronize()  # else its kernels would hide the time to enqueue what is measured
            ms = clocked(run, turn % SETS)
            if turn >= SETS:
                times.append(ms)
        line["ms"] = sorted(times)[len(times) // 2]
    except Exception as error:  # one way that a version lacks must not end the others
        line["error"] = f"{type(error).__name__}: {error}"[:300]
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
    print(json.dumps(line), flush=True)


def draw(kind, height, lookups, k):
    if kind == "one row":
        return torch.full((lookups,), k, device=DEVICE)
    u = torch.rand(lookups, device=DEVICE, dtype=torch.float64)
    if kind == "uniform":
        return (u * height).long()
    return (float(height) ** u - 1).long().clamp(0, height - 1) * 2654435761 % height


def table(gib, width, lookups, kind, dtype, moments=True):
    height = int(gib * 2**30 / (width * dtype.itemsize))
    case = f"{kind}, {lookups} of {width} {'float' if dtype.itemsize == 4 else 'bfloat16'}, {round(gib)} GiB"
    weight = torch.empty(height, width, device=DEVICE, dtype=dtype).uniform_(-0.01, 0.01)
    ids = [draw(kind, height, lookups, k) for k in range(SETS)]
    grads = [torch.randn(lookups, width, device=DEVICE, dtype=dtype) for _ in range(SETS)]
    out = torch.empty(lookups, width, device=DEVICE, dtype=dtype)
    coo = lambda k: torch.sparse_coo_tensor(ids[k][None], grads[k], (height, width), check_invariants=False)  # noqa: E731
    measure("gather", "embedding", case, lambda k: functional.embedding(ids[k], weight))
    measure("gather_into", "index_select", case, lambda k: torch.index_select(weight, 0, ids[k], out=out))
    measure("scatter_add", "index_add_", case, lambda k: weight.index_add_(0, ids[k], grads[k]))
    torch.use_deterministic_algorithms(True)
    measure("scatter_add", "index_add_, deterministic", case, lambda k: weight.index_add_(0, ids[k], grads[k]))
    torch.use_deterministic_algorithms(False)
    measure("merge", "coalesce", case, lambda k: coo(k).coalesce())
    parameter = torch.nn.Parameter(weight)

    def grad(k):
        parameter.grad = coo(k)

    optimizers = [("sgd", torch.optim.SGD)] + ([("adagrad", torch.optim.Adagrad)] if moments else [])
    for op, optimizer in optimizers:
        step = optimizer([parameter], lr=0.01)
        measure(op, f"optim.{optimizer.__name__}", case, lambda k: step.step(), grad)
        del step
    del parameter, weight
    if EmbOptimType:
        fused(case, height, width, ids, grads, dtype, moments)


def fused(case, height, width, ids, grads, dtype, moments):
    """FBGEMM's table batches, whose backward is the optimizer's step."""
    offsets = torch.arange(len(ids[0]) + 1, device=DEVICE)
    kinds = {"sgd": EmbOptimType.EXACT_SGD, "rowwise_adagrad": EmbOptimType.EXACT_ROWWISE_ADAGRAD, "adagrad": EmbOptimType.EXACT_ADAGRAD}
    for op, optimizer in kinds.items():
        if op == "adagrad" and not moments:
            continue
        try:
            precision = SparseType.FP32 if dtype.itemsize == 4 else SparseType.BF16
            tables = SplitTableBatchedEmbeddingBagsCodegen(
                [(height, width, *((EmbeddingLocation.DEVICE, ComputeDevice.CUDA) if DEVICE == "cuda" else (EmbeddingLocation.HOST, ComputeDevice.CPU)))],
                optimizer=optimizer,
                learning_rate=0.01,
                eps=1e-10,
                weights_precision=precision,
                output_dtype=precision,
            )
            if op == "sgd":
                measure("gather", "table batch", case, lambda k: tables(ids[k], offsets), peer="fbgemm")
            made = {}

            def forward(k):
                made["out"] = tables(ids[k], offsets)

            measure(op, f"{optimizer.name}, backward", case, lambda k: made["out"].backward(grads[k]), forward, peer="fbgemm")
            del tables, made
        except Exception as error:
            print(json.dumps({"peer": "fbgemm", "op": op, "case": case, "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)


def rows():
    few, many, million, gib = (512, 2048, 1000, 0.001) if args.tiny else (262_144, 1 << 22, 1_000_000, 16)
    f32, bf16 = torch.float32, torch.bfloat16
    for kind in ("uniform", "log-uniform"):
        for lookups in (few, many):
            table(gib, 64, lookups, kind, f32)
    table(gib, 64, million, "one row", f32)
    for width in (32, 128, 256):
        table(gib, width, many, "uniform", f32)
    for width in (64, 128):
        table(gib, width, many, "uniform", bf16)
    table(gib, 64, many, "log-uniform", bf16)
    for kind in ("uniform", "log-uniform"):
        table(4 * gib, 64, many, kind, f32, moments=False)


def sequences():
    width = 64
    for batch, most in (("sentences", 24), ("long", 250)):
        count = (100 if args.tiny else 100_000) * 24 // most
        sizes = [1 + (((i + 1) * 0x9E3779B97F4A7C15 & 2**64 - 1) >> 40) % most for i in range(count)]
        flat = [torch.rand(sum(sizes), width, device=DEVICE) for _ in range(SETS)]
        starts = torch.tensor([0] + sizes).cumsum(0).tolist()
        order = sorted(range(count), key=lambda i: -sizes[i])
        index = torch.tensor([starts[i] + t for t in range(max(sizes)) for i in order if sizes[i] > t]).to(DEVICE)
        cut = [x.split(sizes) for x in flat]
        packed = [pack_sequence(c, enforce_sorted=False) for c in cut]
        measure("unpack, map included", "pack_sequence", batch, lambda k: pack_sequence(cut[k], enforce_sorted=False))
        measure("unpack", "index_select with a ready index", batch, lambda k: torch.index_select(flat[k], 0, index))
        measure("pack", "pad_packed_sequence", batch, lambda k: pad_packed_sequence(packed[k], batch_first=True))


def layers():
    scale = 64 if args.tiny else 1
    new = lambda *shape: torch.rand(*shape, device=DEVICE) * 2 - 1  # noqa: E731
    for width in (64, 1000):
        n = 65_536 // scale
        case = f"{n} rows of {width}"
        x, g, w, b = new(n, width), new(n, width), new(width), new(width)
        y = x.softmax(1)
        measure("softmax", "softmax", case, lambda k: x.softmax(1))
        measure("softmax_grad", "_softmax_backward_data", case, lambda k: torch._softmax_backward_data(g, y, 1, torch.float32))
        measure("layer_norm", "layer_norm", case, lambda k: functional.layer_norm(x, (width,), w, b))
        measure("sigmoid", "sigmoid", case, lambda k: x.sigmoid())
    for n in (256 // scale, 8192 // scale):
        size = 512 // scale
        case = f"{n} rows of {size}"
        h, c, x3, x4 = new(n, size), new(n, size), new(n, 3 * size), new(n, 4 * size)
        w3, b3, w4, b4 = new(size, 3 * size), new(3 * size), new(size, 4 * size), new(4 * size)

        def gru(k):
            g = torch.addmm(b3, h, w3)
            r, z = (x3[:, : 2 * size] + g[:, : 2 * size]).sigmoid().chunk(2, 1)
            candidate = torch.tanh(x3[:, 2 * size :] + r * g[:, 2 * size :])
            return (1 - z) * candidate + z * h

        def lstm(k):
            i, f, u, o = (x4 + torch.addmm(b4, h, w4)).chunk(4, 1)
            cell = f.sigmoid() * c + i.sigmoid() * u.tanh()
            return o.sigmoid() * cell.tanh()

        with torch.no_grad():
            measure("GRU cell", "operators", case, gru)
            measure("LSTM cell", "operators", case, lstm)
            if DEVICE == "cuda":  # the kernels behind GRUCell and LSTMCell
                t3, t4, zero3, zero4 = w3.t().contiguous(), w4.t().contiguous(), torch.zeros_like(b3), torch.zeros_like(b4)
                measure("GRU cell", "_thnn_fused_gru_cell", case, lambda k: torch._thnn_fused_gru_cell(x3, h @ t3.t(), h, zero3, b3))
                measure("LSTM cell", "_thnn_fused_lstm_cell", case, lambda k: torch._thnn_fused_lstm_cell(x4, h @ t4.t(), c, zero4, b4))
    for length in (32, 256):
        count, heads, width = 64 * 256 // length // scale + 1, 8, 512
        case = f"{count} sequences of {length}"
        q, k_, v = (new(count, heads, length, width // heads).requires_grad_() for _ in range(3))
        g = new(count, heads, length, width // heads)
        attention = lambda: functional.scaled_dot_product_attention(q, k_, v, scale=0.125)  # noqa: E731
        made = {}

        def forward(k):
            made["out"] = attention()
            q.grad = k_.grad = v.grad = None

        with torch.no_grad():
            measure("attention", "scaled_dot_product_attention, equal lengths", case, lambda k: attention())
        measure("attention_grad", "scaled_dot_product_attention, equal lengths", case, lambda k: made["out"].backward(g), forward)


print(json.dumps({"torch": torch.__version__}), flush=True)
rows()
sequences()
layers()
