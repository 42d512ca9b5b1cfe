# tests/python/processes.py: processes that multiprocessing forks after a parallel call run parallel calls too, with the same bits, and so does
# their parent afterwards. A process that is forked while batches are prefetched refuses the next one, and does not wait for ever.
import multiprocessing

import numpy
import rowan
from rowan import cpp

x = (numpy.arange(2**20, dtype="f4") * 7 % 23 / 8).reshape(1024, 1024)  # work for several threads


def softmax(threads):
    return numpy.asarray(cpp.run("softmax", x, threads=threads)).tobytes()


batches = rowan.prefetch(lambda epoch: range(5))(0)


def next_batch(_):
    try:
        return next(batches)
    except RuntimeError as e:
        return str(e)


if __name__ == "__main__":
    want = softmax(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(softmax, [1, 2, 2, 8]).get(60) == 4 * [want]  # a child that hangs is an error
        assert softmax(2) == want
        assert pool.map_async(softmax, [2]).get(60) == [want]
        assert next(batches) == 0
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert "is not in this process" in pool.map_async(next_batch, [0]).get(60)[0]
    assert list(batches) == [1, 2, 3, 4]
