# rowan.prefetch: batches that are made while the net runs.
import collections
import concurrent.futures


def prefetch(reader, batches=1):
    """The same reader, which makes this many batches ahead, in a thread of its own: train(cost, prefetch(reader))."""
    def ahead(epoch):
        end = object()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            iterator = thread.submit(lambda: iter(reader(epoch))).result()
            waiting = collections.deque(thread.submit(next, iterator, end) for _ in range(batches))
            while True:
                waiting.append(thread.submit(next, iterator, end))
                batch = waiting.popleft().result()
                if batch is end:
                    return
                yield batch
    return ahead
