#!/usr/bin/env python3
"""Prints the golden values of tests/sparse/row_formats.cpp.

Rows are quantised by FBGEMM, PyTorch, ml_dtypes and GGUF's Python package, and codes are decoded by NumPy, in float32:

    python3 -m venv build/venvs/formats
    build/venvs/formats/bin/pip install numpy torch==2.9.0 fbgemm-gpu-cpu==1.4.2 ml_dtypes gguf
    build/venvs/formats/bin/python tests/sparse/row_formats.py
"""

import gguf
import ml_dtypes
import numpy as np
import torch

import fbgemm_gpu  # noqa: F401, its operators

HEIGHT, WIDTH = 64, 96


def fnv(data):
    """FNV-1a of the bytes of an array."""
    state = 0xCBF29CE484222325
    for byte in np.ascontiguousarray(data).view(np.uint8).reshape(-1).tolist():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return f"0x{state:016x}"


def one_nan(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).copy()
    bits[(bits & 0x7FFFFFFF) > 0x7F800000] = 0x7FC00000
    return bits


def table():
    """Numbers of many magnitudes, of both signs, a row of zeros and one of equal numbers."""
    i = np.arange(HEIGHT * WIDTH, dtype=np.int64).reshape(HEIGHT, WIDTH)
    steps = (i * 7919 + i * i * 31) % 4001 - 2000
    x = np.ldexp(steps.astype(np.float32), (np.arange(HEIGHT) % 17 - 14)[:, None])
    x[5] = 0
    x[6] = 2.5
    return x


def float8(x, dtype, largest):
    most = np.abs(x).max(axis=1, keepdims=True)
    scale = np.where(most == 0, np.float32(1), (most / np.float32(largest)).astype(np.float32))
    codes = (x / scale).astype(np.float32).clip(-largest, largest).astype(dtype).view(np.uint8)
    return np.concatenate([codes, scale.astype(np.float32).view(np.uint8)], axis=1)


def mx(x, dtype, largest, most_exponent):
    blocks = x.reshape(HEIGHT, WIDTH // 32, 32)
    most = np.abs(blocks).max(axis=2)
    exponent = np.where(most == 0, 0, np.floor(np.log2(np.where(most == 0, 1, most))) - most_exponent + 127).clip(0, 254)
    scale = np.ldexp(np.float32(1), exponent.astype(np.int64) - 127)
    codes = (blocks / scale[:, :, None]).astype(np.float32).clip(-largest, largest).astype(dtype).view(np.uint8)
    return np.concatenate([codes.reshape(HEIGHT, WIDTH), exponent.astype(np.uint8)], axis=1)


x = table()
t = torch.from_numpy(x)
rows = {
    "int8": torch.ops.fbgemm.FloatToFused8BitRowwiseQuantized(t).numpy(),
    "int8_half": torch.ops.fbgemm.FloatToFusedNBitRowwiseQuantizedSBHalf(t, 8).numpy(),
    "int4": torch.ops.fbgemm.FloatToFusedNBitRowwiseQuantizedSBHalf(t, 4).numpy(),
    "float8_e4m3": float8(x, ml_dtypes.float8_e4m3fn, 448),
    "float8_e5m2": float8(x, ml_dtypes.float8_e5m2, 57344),
    "mxfp8_e4m3": mx(x, ml_dtypes.float8_e4m3fn, 448, 8),
    "mxfp8_e5m2": mx(x, ml_dtypes.float8_e5m2, 57344, 15),
    "q8_0": gguf.quants.quantize(x, gguf.GGMLQuantizationType.Q8_0).view(np.uint8),
}
prepacked = {
    "int8": torch.ops.quantized.embedding_bag_byte_prepack(t).numpy(),
    "int4": torch.ops.quantized.embedding_bag_4bit_prepack(t).numpy(),
}
print("rows that formats have of the table, and what FBGEMM or GGUF read of them")
for name, bytes_of in rows.items():
    same = " (PyTorch: " + ("the same bytes" if np.array_equal(prepacked[name], bytes_of) else "OTHER BYTES") + ")" if name in prepacked else ""
    print(f"{name} {fnv(bytes_of)}{same}")

print("all codes with all scales, in float32")
codes = np.arange(256, dtype=np.uint8)
halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
floats = np.ldexp(np.float32(1.375), np.arange(-126, 128)).astype(np.float32)
with np.errstate(all="ignore"):
    q = codes.astype(np.float32)
    print("int8", fnv(one_nan(q[None, :] * floats[:, None] + np.float32(-0.625))))
    print("int8_half", fnv(one_nan((q[None, ::17] * halves[:, None]) + np.float32(-0.625))))
    print("int4", fnv(one_nan((np.arange(16, dtype=np.float32)[None, :] * halves[:, None]) + np.float32(-0.625))))
    print("q8_0", fnv(one_nan(codes.view(np.int8)[::8].astype(np.float32)[None, :] * halves[:, None])))
    e8m0 = codes.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    for name, dtype in (("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)):
        values = codes.view(dtype).astype(np.float32)
        print("float8_" + name, fnv(one_nan(values[None, :] * floats[:, None])))
        print("mxfp8_" + name, fnv(one_nan(values[None, :] * e8m0[:, None])))
