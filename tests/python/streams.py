# tests/python/streams.py LIBRARY: rowan's streams and Paddle's own, both ways.
import ctypes
import os
import tempfile

import numpy
import paddle
from library import call, lib, refused
from paddle.base import core

print("paddle", paddle.__version__)

for name in "save", "copy", "copy_combined":
    getattr(lib, name).restype = ctypes.c_char_p
cpu = core.CPUPlace()
types = dict(bool="?", u8="u1", i32="i4", i64="i8", f16="f2", f32="f4", f64="f8", bf16="u2")  # uint16 is Paddle's bfloat16
lod = [[0, 2, 2, 3], [0, 1, 4, 6]]


def counting(type, rows):
    numbers = numpy.arange(rows * 3, dtype="f4").reshape(rows, 3)
    return (numbers.view("u4") >> 16).astype("u2") if type == "bf16" else numbers.astype(types[type])


def dense(array, levels=None):
    tensor = core.DenseTensor()
    tensor.set(array, cpu)
    if levels:
        tensor.set_lod(levels)
    return tensor


def selected_rows(array):
    rows = core.SelectedRows([0, 4, 7, 4], 10)
    rows.get_tensor().set(array, cpu)
    return rows


def read(path):
    with open(path, "rb") as file:
        return file.read()


folder = tempfile.TemporaryDirectory()
ours, theirs, copy = (os.path.join(folder.name, name) for name in ("ours", "theirs", "copy"))

for type in types:
    six, four = counting(type, 6), counting(type, 4)
    core.save_dense_tensor(dense(six, lod), theirs)
    call("save", type, False, ours)
    assert read(ours) == read(theirs), type
    back = core.DenseTensor()
    core.load_dense_tensor(back, ours)
    assert back.lod() == lod and numpy.array(back).tobytes() == six.tobytes() and list(back.shape()) == [6, 3], type

    for array in six, six[:0], six[0], six.reshape(3, 1, 2, 3), six.reshape(18)[1].reshape(()):
        core.save_dense_tensor(dense(array), theirs)
        call("copy", type, False, theirs, copy)
        assert read(copy) == read(theirs), (type, array.shape)
        core.load_dense_tensor(back, copy)
        assert numpy.array(back).tobytes() == array.tobytes() and list(back.shape()) == list(array.shape), (type, array.shape)

    core.save_selected_rows(selected_rows(four), theirs)
    call("save", type, True, ours)
    assert read(ours) == read(theirs), type
    rows = core.SelectedRows()
    core.load_selected_rows(rows, ours)
    assert list(rows.rows()) == [0, 4, 7, 4] and rows.height() == 10, type
    assert numpy.array(rows.get_tensor()).tobytes() == four.tobytes(), type
    call("copy", type, True, theirs, copy)
    assert read(copy) == read(theirs), type
    print(f"  {type}: the same bytes, and read back")

paddle.disable_static()
paddle.save(paddle.to_tensor(counting("f32", 2)), theirs, use_binary_format=True)
call("copy", "f32", False, theirs, copy)
assert (paddle.load(copy).numpy() == counting("f32", 2)).all()

tensors = [counting("f32", 4), counting("i64", 2), counting("f32", 1)]
names = ["a", "b", "c"]
core.save_combine_func([dense(t) for t in tensors], names, theirs, True, False, False)
call("copy_combined", theirs, copy)
assert read(copy) == read(theirs)
back = [dense(numpy.zeros(1, t.dtype)) for t in tensors]
core.load_combine_func(copy, names, back, False, cpu)
assert all((numpy.array(b) == t).all() for b, t in zip(back, tensors))
print("  combined: the same bytes, and read back")

core.save_dense_tensor(dense(numpy.zeros(3, "i2")), theirs)
refused("the stream's element type is i16, expected i32", "copy", "i32", False, theirs, copy)
core.save_dense_tensor(dense(counting("f32", 6), lod), theirs)
whole = read(theirs)
for n in range(len(whole)):
    with open(ours, "wb") as file:
        file.write(whole[:n])
    refused("", "copy", "f32", False, ours, copy)
core.save_selected_rows(selected_rows(counting("f32", 5)), theirs)
refused("the value has 5 rows, but 4 rows are named", "copy", "f32", True, theirs, copy)
bad = core.SelectedRows([0, 9, -3, 1], 4)
bad.get_tensor().set(counting("f32", 4), cpu)
core.save_selected_rows(bad, theirs)
refused("rows[1] = 9 is not in [0, 4)", "copy", "f32", True, theirs, copy)
print("  what Paddle writes and should not is refused")
