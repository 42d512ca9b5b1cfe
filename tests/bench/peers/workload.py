"""The inputs of all peers, as in rowan_bench: ids, gradients and sizes; and timing."""

import argparse
import gc
import json
import time

import numpy as np


class Workload:
    """One case's data sets. They are used in turns, so that the last-level cache cannot hold all touched rows."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--ids", choices=("uniform", "zipf"), default="uniform")
        parser.add_argument("--threads", type=int, default=2)
        parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
        args = parser.parse_args()

        self.threads = args.threads
        self.width = 64
        self.table, self.height, self.lookups, self.sets = "2GiB", 8 << 20, 1 << 18, 8
        if args.tiny:
            self.table, self.height, self.lookups, self.sets = "256KiB", 1 << 10, 1 << 12, 2
        self.case = (
            f"f32/cpu/{args.ids}/table={self.table}/n={self.lookups}/width={self.width}/threads={self.threads}"
        )

        rng = np.random.default_rng(1)
        draw = self._uniform if args.ids == "uniform" else self._zipf
        self.ids = [draw(rng) for _ in range(self.sets)]
        self.gradients = [
            rng.standard_normal((self.lookups, self.width), dtype=np.float32) for _ in range(self.sets)
        ]

    def _uniform(self, rng):
        return rng.integers(0, self.height, self.lookups)

    def _zipf(self, rng):
        rank = (np.power(float(self.height), rng.random(self.lookups)) - 1).astype(np.int64)
        return rank.clip(0, self.height - 1) * 2654435761 % self.height  # spread the frequent rows over the table

    def measure(self, peer, op, way, run, prepare=None):
        """Times run(k) over the data sets k, two turns after a warm-up; prepare(k) is not timed."""
        line = {"peer": peer, "op": op, "way": way, "case": self.case}
        try:
            times = []
            for turn in range(2 * self.sets + 1):
                k = turn % self.sets
                if prepare:
                    prepare(k)
                start = time.perf_counter()
                run(k)
                times.append((time.perf_counter() - start) * 1e3)
            times = sorted(times[1:])
            line |= {"ms_min": times[0], "ms_median": (times[len(times) // 2 - 1] + times[len(times) // 2]) / 2}
        except Exception as error:  # one way that a version lacks must not end the others
            line["error"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(line), flush=True)
        gc.collect()
