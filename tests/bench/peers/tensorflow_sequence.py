"""TensorFlow's RaggedTensor on batches of sequences: the same lengths as rowan_bench_sequence. A line of JSON for each case."""

import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import arguments  # noqa: E402
import tensorflow as tf  # noqa: E402

args = arguments.parse()
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
SETS = 8

for batch, count, most in (("sentences", 5000, 24), ("long", 500, 250)):
    if args.tiny:
        count, most = 50, 5
    sizes = [1 + (((i + 1) * 0x9E3779B97F4A7C15 & 2**64 - 1) >> 40) % most for i in range(count)]
    ragged = [tf.RaggedTensor.from_row_lengths(tf.random.uniform((sum(sizes), args.width)), sizes) for _ in range(SETS)]
    times = []
    for turn in range(2 * SETS):
        start = time.perf_counter()
        ragged[turn % SETS].to_tensor().numpy()
        if turn >= SETS:
            times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    line = {"peer": "tensorflow", "op": "to_padded", "way": "RaggedTensor.to_tensor", "batch": batch, "width": args.width,
            "threads": args.threads, "ms_min": times[0], "ms_median": times[len(times) // 2]}
    print(json.dumps(line), flush=True)
