# tests/python/library.py: calls functions of the library that is the script's last argument.
import ctypes
import sys

lib = ctypes.CDLL(sys.argv[-1])


def call(function, *arguments):
    said = getattr(lib, function)(*(a.encode() if isinstance(a, str) else a for a in arguments))
    if said is not None:
        raise RuntimeError(said.decode())


def refused(expected, function, *arguments):
    try:
        call(function, *arguments)
    except RuntimeError as error:
        assert expected in str(error), error
    else:
        raise AssertionError(f"{function} took what it should refuse: {expected}")
