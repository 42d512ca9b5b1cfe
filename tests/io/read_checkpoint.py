#!/usr/bin/env python3
"""tests/io/read_checkpoint.py FILE...: reads checkpoints with struct and numpy alone, and prints their contents."""
import struct, sys
import numpy

TYPES = {0: "?", 2: "<i4", 3: "<i8", 4: "<f2", 5: "<f4", 6: "<f8", 20: "u1"}  # others as bytes


def crc32c(data, crc=0xFFFFFFFF):
    for byte in data:
        crc ^= byte
        for _ in range(8): crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def fields(message):  # of a protobuf message: (number, value)
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128: return value
    at = 0
    while at < len(message):
        key, value = varint(), varint()
        if key & 7 == 2: value, at = message[at:at + value], at + value
        yield key >> 3, value


def read(path):
    file = open(path, "rb").read()
    magic, major, minor, header, described, payload, count, base, flags, _, crc, own = struct.unpack("<8sHHIQQQQIIII", file[:64])
    assert magic == b"\x89ROWAN\r\n" and major == 1 and header == 64 and crc32c(file[:60]) == own
    at, end = 64, 64 + described
    assert crc32c(file[64:end]) == crc and -(-end // 64) * 64 + payload == len(file)
    def number(form):
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, file, at - struct.calcsize(form))[0]
    def text():
        nonlocal at
        n = number("<I")
        at += n
        return file[at - n:at]
    program = text() if flags & 2 else None
    variables = {}
    for _ in range(count):
        number("<I")
        desc, element, size = dict(fields(text())), text().decode(), number("<I")
        sections = []
        for _ in range(number("<I")):
            first, n, crc = number("<Q"), number("<Q"), number("<I")
            assert crc32c(file[first:first + n]) == crc
            sections.append(file[first:first + n])
        tensor = desc[4] if desc[2] == 1 else dict(fields(desc[3]))[1]
        dims = [d for n, d in fields(tensor) if n == 2]
        rows = numpy.frombuffer(sections[-2], "<i8") if desc[2] == 1 else None
        shape = dims if rows is None else [len(rows)] + dims[1:]
        value = numpy.frombuffer(sections[-1], TYPES.get(dict(fields(tensor))[1], f"V{size}")).reshape(shape)
        lod = [numpy.frombuffer(s, "<i8") for s in sections[:-1]] if rows is None else []
        variables[desc[1].decode()] = element, dims, lod, rows, value
    assert at == end
    return base if flags & 1 else None, program, variables


if __name__ == "__main__":
    for path in sys.argv[1:]:
        base, program, variables = read(path)
        print(path.split("/")[-1], "-" if base is None else base, "-" if program is None else program.hex())
        for name, (element, dims, lod, rows, value) in variables.items():
            print(name, element, dims, [list(map(int, x)) for x in lod], "-" if rows is None else list(map(int, rows)), value.tobytes().hex())
