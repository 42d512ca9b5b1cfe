# tests/python/checks.py: what the tests of the module share.
import numpy
from rowan import cpp


def refused(exception, sentence, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        assert type(error) is exception and sentence in str(error), f"{type(error).__name__}: {error}"
    else:
        raise AssertionError(f"this should be refused: {sentence}")


class Fresh(cpp.ScopeGuard):
    """A scope for one check."""

    def __init__(self):
        super().__init__(cpp.Scope())


def value_of(*outputs):
    """The values of variables."""
    cpp.Net(*outputs).run(cpp.default_scope())
    values = [v.value for v in outputs]
    return values[0] if len(values) == 1 else values


def floats(*shape, dtype="f4"):
    """Numbers that are exact in float32, of both signs."""
    size = int(numpy.prod(shape))
    return ((numpy.arange(size) * 7 % 23 - 11) / 8).astype(dtype).reshape(shape)


def near(got, want, tolerance=1e-5):
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert numpy.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True), (got, want)
