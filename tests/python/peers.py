# tests/python/peers.py PEER LIBRARY: tests the exchange of tensors with NumPy, PyTorch or Arrow.
import ctypes
import importlib
import os
import sys
import tempfile

from library import call, lib, refused

peer = sys.argv[1]
module = importlib.import_module(peer)
print(peer, module.__version__)

for name in "share", "take", "add_one", "save_npy", "copy_npy":
    getattr(lib, name).restype = ctypes.c_char_p
lib.lod_offsets.restype = ctypes.c_void_p
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
names = {False: b"dltensor", True: b"dltensor_versioned"}  # capsules keep pointers to these
used = {False: b"used_dltensor", True: b"used_dltensor_versioned"}


class Shared:
    """A tensor of rowan's, as a producer of capsules."""

    def __init__(self, type, versioned):
        self.type, self.versioned = type, versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, max_version=None, **_):
        versioned = self.versioned and max_version is not None and max_version[0] >= 1
        managed = ctypes.c_void_p()
        call("share", self.type, versioned, ctypes.byref(managed))
        self.versioned = versioned  # what was asked for
        return capsule_new(managed, names[versioned], None)


def take(type, capsule):
    versioned = capsule_name(capsule) == names[True]
    call("take", type, versioned, ctypes.c_void_p(capsule_pointer(capsule, names[versioned])))
    capsule_rename(capsule, used[versioned])  # now it is ours to delete


def give(array):
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:  # before DLPack 1.0
        return array.__dlpack__()


def check_dlpack(types, consume, make, values, writable):
    for type, their in types.items():
        kinds = set()
        for versioned in False, True:
            shared = Shared(type, versioned)
            array = consume(shared)
            kinds.add(shared.versioned)
            want = [[0, 1, 2], [3, 4, 5]] if type != "bool" else [[0, 1, 1], [1, 1, 1]]
            assert values(array) == want, (type, values(array))
            call("add_one", type)  # they see it
            assert values(array) == [[x + 1 if type != "bool" else 1 for x in row] for row in want], (type, values(array))
            if writable(array):
                array[1, 2] = 0
                call("add_one", type)
                assert values(array)[1][2] == 1, (type, values(array))
            lib.let_go()
            assert values(array)[0][1] == (3 if type != "bool" and writable(array) else 2 if type != "bool" else 1)  # it lives on
            del array

        array = make(their)
        before = sys.getrefcount(array)
        take(type, give(array))
        call("add_one", type)
        assert values(array) == [[1, 2], [3, 4]] if type != "bool" else [[1, 1], [1, 1]], (type, values(array))
        array[0, 0] = 0
        lib.let_go()
        assert sys.getrefcount(array) == before, type
        print(f"  {type}: shared with {peer} by {' and '.join(sorted(names[k].decode() for k in kinds))}")


def check_numpy():
    numpy = module
    types = dict(f32="f4", f64="f8", i32="i4", i64="i8", u8="u1", f16="f2")
    try:
        numpy.array([True]).__dlpack__()
        types["bool"] = "?"
    except BufferError:  # until NumPy 1.25
        pass

    def make(type):
        return numpy.arange(4, dtype="f4").reshape(2, 2).astype(type)

    check_dlpack(types, numpy.from_dlpack, make, lambda a: a.astype("f8").tolist(), lambda a: a.flags.writeable)
    strided = numpy.zeros((2, 3), "f4").T
    capsule = give(strided)
    try:
        take("f32", capsule)
        raise AssertionError("strides were not refused")
    except RuntimeError as error:
        assert "strides[1] is 3, expected 1" in str(error), error

    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "ours.npy"), os.path.join(folder, "theirs.npy")

        def same_bytes():
            with open(ours, "rb") as a, open(theirs, "rb") as b:
                assert a.read() == b.read()

        for type, their in {**types, "bool": "?"}.items():
            want = numpy.arange(6, dtype="f4").reshape(2, 3).astype(their)
            call("save_npy", type, ours)
            got = numpy.load(ours)
            assert got.dtype == want.dtype and (got == want).all(), type
            for array in want, want[:, :0], want[1], want.reshape(1, 2, 1, 3, 1), want[0, 0], numpy.zeros(0, their):
                numpy.save(theirs, array)
                call("copy_npy", type, theirs, ours)
                same_bytes()
            numpy.save(theirs, numpy.asfortranarray(want))
            call("copy_npy", type, theirs, ours)
            numpy.save(theirs, want)
            same_bytes()
            for version in (2, 0), (3, 0):
                with open(theirs, "wb") as file:
                    numpy.lib.format.write_array(file, want, version)
                call("copy_npy", type, theirs, ours)
                assert (numpy.load(ours) == want).all()
            print(f"  {type}: read and written as NumPy does")
        numpy.save(theirs, numpy.zeros(3, ">f4"))
        refused("is >f4, expected <f4", "copy_npy", "f32", theirs, ours)
        numpy.save(theirs, numpy.zeros(3, "c8"))
        refused("is <c8, expected <f4", "copy_npy", "f32", theirs, ours)
        numpy.save(theirs, numpy.zeros(3, [("a", "f4")]))
        refused("a structured type", "copy_npy", "f32", theirs, ours)
        numpy.save(theirs, numpy.array([None]), allow_pickle=True)
        refused("is |O, expected <f4", "copy_npy", "f32", theirs, ours)
        call("save_npy", "bf16", ours)
        assert numpy.load(ours).view("u2").tolist() == [[0, 0x3F80, 0x4000], [0x4040, 0x4080, 0x40A0]]
        try:
            import ml_dtypes
            numpy.save(theirs, numpy.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16))
            same_bytes()
            call("copy_npy", "bf16", theirs, ours)
            same_bytes()
            print("  bf16: read and written as ml_dtypes does")
        except ImportError:
            pass


def check_torch():
    torch = module
    types = dict(f32="float32", f64="float64", i32="int32", i64="int64", u8="uint8", f16="float16", bf16="bfloat16")
    if tuple(int(x) for x in torch.__version__.split(".")[:2]) >= (2, 1):
        types["bool"] = "bool"

    def make(type):
        return torch.arange(4, dtype=torch.float32).reshape(2, 2).to(getattr(torch, type))

    check_dlpack(types, torch.from_dlpack, make, lambda a: a.double().tolist(), lambda a: True)


def check_arrow():
    arrow = module
    offsets = []
    for level in 0, 1:
        count = ctypes.c_uint64()
        address = lib.lod_offsets(ctypes.c_uint64(level), ctypes.byref(count))
        offsets.append((arrow.foreign_buffer(address, 8 * count.value), count.value))
    words = arrow.array(["a", "b", "c", "d", "e", "f"])
    for buffer, count in reversed(offsets):
        words = arrow.LargeListArray.from_buffers(arrow.large_list(words.type), count - 1, [None, buffer], children=[words])
        assert words.buffers()[1].address == buffer.address  # where the Lod has them
    words.validate(full=True)
    assert words.to_pylist() == [[["a"], ["b", "c", "d"]], [], [["e", "f"]]], words.to_pylist()


{"numpy": check_numpy, "torch": check_torch, "pyarrow": check_arrow}[peer]()
