# tests/python/conversion.py: arrays, lists and numbers become arrays of the declared type, or are refused by name.
import numpy
import rowan
from checks import Fresh, refused
from rowan import UNK, cpp, layer

with Fresh():
    given = {dtype: layer.data(dtype, [UNK], dtype) for dtype in ("float32", "float64", "int32", "int64", "bool")}

    def becomes(dtype, value, want):
        v = given[dtype]
        v.value = value
        assert v.value.dtype == dtype and v.value.tolist() == want, (v.value, want)

    def no(exception, sentence, dtype, value):
        def give():
            given[dtype].value = value
        refused(exception, sentence, give)

    # what has the same value in the declared type
    becomes("float32", numpy.array([0.5, -2.0]), [0.5, -2])
    becomes("float32", [1, 2.5], [1, 2.5])
    becomes("float32", numpy.array([1, 1 << 24]), [1, 1 << 24])
    becomes("float32", numpy.array([1, 2], "f2"), [1, 2])
    becomes("float32", numpy.array([1, 2], ">f4"), [1, 2])
    becomes("float32", numpy.array([True, False]), [1, 0])
    becomes("float32", [], [])
    becomes("float32", 2.5, 2.5)
    becomes("float32", [numpy.inf, -0.0], [numpy.inf, 0])
    becomes("float64", [0.1, 1 << 53], [0.1, 1 << 53])
    becomes("float64", numpy.array([0.5], "f4"), [0.5])
    becomes("int64", numpy.array([3, -4], "i4"), [3, -4])
    becomes("int64", [1, (1 << 63) - 1], [1, (1 << 63) - 1])
    becomes("int64", numpy.array([7], "u1"), [7])
    becomes("int32", numpy.array([(1 << 31) - 1, -(1 << 31)]), [(1 << 31) - 1, -(1 << 31)])
    becomes("int64", [], [])
    becomes("bool", [True, False], [True, False])
    given["float32"].value = [float("nan")]
    assert numpy.isnan(given["float32"].value).all()

    # what has not
    no(ValueError, 'float32[1] = 0.1 is not exact in float32: round it with numpy.array(..., "float32")', "float32", numpy.array([0.5, 0.1]))
    no(ValueError, "float32[1, 0] = 0.1 is not exact", "float32", [[0.5], [0.1]])
    no(ValueError, "float32[0] = 16777217 is not exact in float32", "float32", numpy.array([(1 << 24) + 1]))
    no(ValueError, "float32[0] = 1e+39 is not exact in float32", "float32", [1e39])
    no(ValueError, "float64[0] = 9223372036854775807 is not exact in float64", "float64", numpy.array([(1 << 63) - 1]))
    no(ValueError, "float64[1] = 9007199254740993 is not exact in float64", "float64", [0.5, (1 << 53) + 1])
    no(ValueError, "int32[2] = 2147483648 is not exact in int32", "int32", numpy.array([0, 1, 1 << 31]))
    no(ValueError, "int32[0] = -2147483649 is not exact in int32", "int32", [-(1 << 31) - 1])
    no(ValueError, "int64[0] = 9223372036854775808 is not exact in int64", "int64", numpy.array([1 << 63], "u8"))
    no(TypeError, "int64 is an array of float64, expected one of int64", "int64", numpy.array([1.0]))
    no(TypeError, "int64 is a list of float64, expected one of int64", "int64", [1.5])
    no(TypeError, "bool is a list of int64, expected one of bool", "bool", [0, 1])
    no(TypeError, "float32 is <class 'str'>, expected an array, a list or a number, of float32", "float32", "1")
    no(TypeError, "float32 is a list of <U1, expected one of float32", "float32", ["a"])
    no(TypeError, "float32 is an array of complex64", "float32", numpy.ones(1, "c8"))
    no(ValueError, "float32 is lists of different lengths, expected lists of the same length", "float32", [[1], [1, 2]])

    # nested lists of data with levels
    words = layer.data("words", [UNK], "int64", lod_level=2)
    words.value = [[[4, 3], []], [], [[1]]]
    values, lod = words.value
    assert values.tolist() == [4, 3, 1] and lod == [[0, 2, 2, 3], [0, 2, 2, 3]]
    rows = layer.data("rows", [UNK, 2], lod_level=1)
    rows.value = [[[1, 2], [3, 4]], []]
    assert rows.value[0].tolist() == [[1, 2], [3, 4]] and rows.value[1] == [[0, 2, 2]]
    rows.value = [[], []]
    assert rows.value[0].shape == (0, 2) and rows.value[1] == [[0, 0, 0]]
    rows.value = numpy.ones((3, 2)), [[0, 1, 3]]
    assert rows.value[0].dtype == "float32"
    refused(TypeError, "words[1] is <class 'int'>, expected a list, as there are 2 levels", setattr, words, "value", [[], 3])

# A batch of float64, lists and int32 trains as one of the declared types.
with Fresh():
    ids = layer.data("ids", [UNK], "int64", lod_level=1)
    cost = layer.cross_entropy(
        layer.fc(layer.embedding_bag(ids, 9, 4), 2), layer.data("label", [UNK], "int64"))
    exact = {"ids": (numpy.array([1, 8, 3]), [[0, 1, 3]]), "label": numpy.array([0, 1])}
    loose = {"ids": [[1], [8, 3]], "label": numpy.array([0, 1], "i4")}
    one, other = (rowan.train(cost, lambda epoch: [batch] * 3) for batch in (exact, loose))
    assert [one[name].tobytes() for name in one] == [other[name].tobytes() for name in other]
    refused(ValueError, "label[1] = 9223372036854775808 is not exact in int64", rowan.train, cost,
            lambda epoch: [{**exact, "label": numpy.array([0, 1 << 63], "u8")}])
print("conversion: exact, or refused by name")
