# rowan.prefetch: batches that are made while the net runs.
from __future__ import annotations

import collections
import concurrent.futures
import operator
import os
from typing import Any, Callable, Iterable


def prefetch(reader: Callable[[int], Iterable[Any]], batches: int = 1) -> Callable[[int], Iterable[Any]]:
    """The same reader, which makes this many batches ahead, in a thread of its own: train(cost, prefetch(reader))."""
    if operator.index(batches) < 1:
        raise ValueError(f"prefetch: batches is {batches}, expected 1 or more")

    def ahead(epoch):
        end, process = object(), os.getpid()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            iterator = thread.submit(lambda: iter(reader(epoch))).result()
            waiting = collections.deque(thread.submit(next, iterator, end) for _ in range(batches))
            while True:
                if os.getpid() != process:
                    raise RuntimeError("prefetch: the thread that makes these batches is not in this process, which was"
                                       " forked after it began")
                waiting.append(thread.submit(next, iterator, end))
                batch = waiting.popleft().result()
                if batch is end:
                    return
                yield batch
    return ahead
