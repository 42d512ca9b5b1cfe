# tests/protobuf/descs.py FROM TO: copies every descriptor from the folder FROM to TO, by protoc's code for rowan.proto.
import pathlib
import sys

import rowan_pb2 as rowan

source, target = map(pathlib.Path, sys.argv[1:])
for path in source.iterdir():
    kind = path.name.split(".")[0]
    bytes_ = path.read_bytes()
    message = getattr(rowan, kind).FromString(bytes_)
    assert message.IsInitialized(), path.name
    assert message.SerializeToString(deterministic=True) == bytes_, path.name
    (target / path.name).write_bytes(message.SerializeToString())

# Created here from the numbers that the C++ tests use.
assert rowan.TensorDesc(data_type=5, dims=[3, 2]).SerializeToString() == (source / "TensorDesc.matrix").read_bytes()
assert rowan.TensorDesc(data_type=5, dims=[-1, 640, 480]).SerializeToString() == (source / "TensorDesc.unknown").read_bytes()
plain = rowan.VarDesc.FromString((source / "VarDesc.plain").read_bytes())
assert plain.persistable is False and not plain.HasField("persistable")
weights = rowan.VarDesc(name="w_0", type=rowan.VarDesc.LOD_TENSOR, persistable=True)
weights.lod_desc.tensor.data_type = 5
weights.lod_desc.tensor.dims.extend([480, 100])
assert weights.SerializeToString() == (source / "VarDesc.parameter").read_bytes()
assert len((source / "TensorDesc.large").read_bytes()) > 65536
