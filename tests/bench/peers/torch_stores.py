"""PyTorch, FBGEMM and NumPy on the tables of rowan_bench_stores: the same ids and sizes. A line of JSON for each case."""

import json
import logging
import math
import os
import time

import arguments
import numpy
import torch

args = arguments.parse()
torch.set_num_threads(args.threads)
logging.disable(logging.CRITICAL)
N, POOLING, SETS, WIDTH = (400, 20, 4, 64) if args.tiny else (262_140, 20, 4, 64)


def draw(s, n, height):
    i = numpy.arange(s * n + 1, s * n + n + 1, dtype=numpy.uint64)
    return torch.from_numpy((i * numpy.uint64(0x9E3779B97F4A7C15) >> numpy.uint64(20)).astype(numpy.int64) % height)


def show(peer, op, table, rows, least):
    line = {"peer": peer, "op": op, "table": table, "threads": args.threads, "ms": least * 1e3, "million_rows_s": rows / least / 1e6}
    print(json.dumps(line), flush=True)


def measure(peer, op, table, rows, f):
    f(0)
    least = math.inf
    for turn in range(3 * SETS):
        start = time.perf_counter()
        f(turn % SETS)
        least = min(least, time.perf_counter() - start)
    show(peer, op, table, rows, least)


def table_of(height):
    i = torch.arange(1000 * WIDTH)
    some = ((i * 7919 % 2003) - 1001).float().div_(1000).view(1000, WIDTH)
    return some.repeat((height + 999) // 1000, 1)[:height].contiguous()


for name, height in (("in cache", 100 if args.tiny else 4_000), ("out of cache", 100 if args.tiny else 8_000_000)):
    ids = [draw(s, N, height) for s in range(SETS)]
    offsets = torch.arange(0, N + 1, POOLING)
    table = table_of(height)
    out = torch.empty(N, WIDTH)
    measure("torch", "float gather", name, N, lambda s: torch.index_select(table, 0, ids[s], out=out))
    bag = torch.nn.functional.embedding_bag
    measure("torch", "float bag", name, N, lambda s: bag(ids[s], table, offsets, mode="sum", include_last_offset=True))
    byte = torch.ops.quantized.embedding_bag_byte_prepack(table)
    four = torch.ops.quantized.embedding_bag_4bit_prepack(table)
    del table
    measure("torch", "int8 bag", name, N, lambda s: torch.ops.quantized.embedding_bag_byte_rowwise_offsets(byte, ids[s], offsets, False, 0, False, None, None, True))
    measure("torch", "int4 bag", name, N, lambda s: torch.ops.quantized.embedding_bag_4bit_rowwise_offsets(four, ids[s], offsets, False, 0, False, None, None, True))
    try:
        from fbgemm_gpu.split_embedding_configs import SparseType
        from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
        from fbgemm_gpu.split_table_batched_embeddings_ops_inference import IntNBitTableBatchedEmbeddingBagsCodegen
    except ImportError:
        continue
    for op, kind, weights in (("int8 bag", SparseType.INT8, byte), ("int4 bag", SparseType.INT4, four)):
        bags = IntNBitTableBatchedEmbeddingBagsCodegen(
            [("", height, WIDTH, kind, EmbeddingLocation.HOST)], device="cpu", pooling_mode=PoolingMode.SUM, output_dtype=SparseType.FP32
        )
        bags.fill_random_weights()
        narrow, starts = [i.int() for i in ids], offsets.int()
        measure("fbgemm", op, name, N, lambda s: bags(narrow[s], starts))
        del bags

if args.file and os.path.exists(args.file):
    row, n = 264, 400 if args.tiny else 65_536
    height = os.path.getsize(args.file) // row
    for peer in ("numpy.memmap", "torch.from_file"):
        least = math.inf
        for s in range(3):
            if peer == "numpy.memmap":
                mapped = numpy.memmap(args.file, numpy.uint8, "r", shape=(height, row))
                take = lambda i: mapped[i.numpy()]
            else:
                mapped = torch.from_file(args.file, size=height * row, dtype=torch.uint8).view(height, row)
                take = lambda i: mapped[i]
            file = os.open(args.file, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            ids = draw(s, n, height)
            start = time.perf_counter()
            take(ids)
            least = min(least, time.perf_counter() - start)
            os.close(file)
            del mapped
        show(peer, "cold, mapped", "file", n, least)
