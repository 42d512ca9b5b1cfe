# tests/python/made.py: layers that are made of operators have the names, arguments and lines of these; former names of
# layers and operators are still taken, with a warning.
import inspect
import typing
import warnings

import numpy as np
import rowan
from checks import Fresh, floats, near, refused, value_of
from rowan import UNK, cpp, layer, made, sparse

# ---- what is made

operators = rowan.operators()
for name, function in made.layers.items():
    op, arguments = operators[name], inspect.signature(function).parameters
    assert (function.__name__, function.__module__, function.__doc__) == (name, "rowan.layer", op.doc) and op.doc.endswith("."), name
    more = ["weights"] if f"weighted_{name}" in operators and "weights" in operators[f"weighted_{name}"].inputs else []
    assert len(arguments) == len(op.inputs) + len(op.attributes) + len(more) and {*op.attributes, *more} == set(list(arguments)[len(op.inputs):]), name
    for key, (kind, first) in op.attributes.items():
        assert (list(first) if type(first) is list else first) == (list(arguments[key].default) if type(first) is list else arguments[key].default), (name, key)
        assert ("Optional" in str(arguments[key].annotation)) == kind.endswith(" | None") == (first is None), (name, key)
    assert (arguments[next(iter(arguments))].annotation == typing.Sequence[cpp.Variable]) == op.variadic, name
    assert getattr(layer, name) is function or getattr(layer, name).__module__.startswith("rowan.layer."), name
assert set(sparse.__dict__) >= {name for name, op in operators.items() if not op.outputs} - {"moving_average"}
assert str(inspect.signature(layer.argsort)) == "(x: rowan_cpp.Variable, axis: int = -1, descending: bool = False) -> rowan_cpp.Variable"
assert list(inspect.signature(layer.huber).parameters) == ["x", "y", "reduction", "delta", "weights"]
assert list(inspect.signature(sparse.adagrad).parameters) == ["param", "moment", "grad", "learning_rate", "epsilon", "weight_decay", "decoupled"]
assert all(op.doc for op in operators.values())

with Fresh():
    x = layer.data("x", [2, 3, 4])
    Z = x.value = floats(2, 3, 4)
    for got, want in [(layer.argsort(axis=-2, x=x), Z.argsort(1, kind="stable")), (layer.argmax(x, 2, keep_dims=True), Z.argmax(2)[..., None]),
                      (layer.stack([x, x], axis=-1), np.stack([Z, Z], -1)), (layer.squeeze(layer.unsqueeze(x, [-1, 0])), Z), (layer.silu(x), Z / (1 + np.exp(-Z))),
                      (layer.transpose(x, (-1, 0, 1)), Z.transpose(2, 0, 1)), (layer.reduce_max(x, [-1, 0], keep_dims=True), Z.max((0, 2), keepdims=True)),
                      (layer.concat((x, x), -1), np.concatenate([Z, Z], -1)), (layer.scale(x, 2, bias=None), 2 * Z)]:
        near(value_of(got), want)
    kept = layer.reshape(layer.data("rows", [UNK, 4]), [-1, 4])  # the same rows
    assert kept.shape == (UNK, 4)
    refused(TypeError, "argmax: missing a required argument: 'x'", layer.argmax)
    refused(TypeError, "argmax: got an unexpected keyword argument 'axes'", layer.argmax, x, axes=1)
    refused(TypeError, "sgd: too many positional arguments", sparse.sgd, 1, 2, 3, 4, 5, 6)
    for function in layer.argmax, layer.argsort, layer.softmax:
        refused(IndexError, "axis = 3 is not in [-3, 3)", function, x, axis=3)
    refused(IndexError, "is not in [-4, 4)", layer.stack, [x, x], axis=4)
    refused(TypeError, "is given None, expected a variable", layer.add, x, None)

# ---- former names

with Fresh(), warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert (layer.brelu, layer.softmax_with_cross_entropy, layer.log_loss) == (layer.hardtanh, layer.cross_entropy, layer.binary_cross_entropy_with_epsilon)
    assert (layer.sigmoid_cross_entropy_with_logits, layer.rank_loss, layer.margin_rank_loss) == (layer.binary_cross_entropy_with_logits, layer.ranknet, layer.margin_ranking)
    assert (layer.cosine_embedding_loss, layer.FirstValues) == (layer.cosine_embedding, layer.Initializer)
    assert [str(one.message) for one in seen][:2] == ["rowan.layer.brelu is now rowan.layer.hardtanh", "rowan.layer.softmax_with_cross_entropy is now rowan.layer.cross_entropy"]
    assert len(seen) == 8 and all(one.category is DeprecationWarning and one.filename == __file__ for one in seen)
    x = layer.data("x", [2, 3])
    top = layer.top_k(x)
    assert top.ids is top.indices and "TopK.indices" in str(seen[8].message) and seen[8].filename == __file__
    table, ids = layer.parameter([3, 2], name="table"), layer.data("ids", [UNK], "int64", lod_level=1)
    bag = cpp.operator("lookup_bag", [table, ids], pool=layer.Pooling.mean)
    assert bag.name == "embedding_bag" and str(seen[9].message) == "the operator lookup_bag is now embedding_bag"
    assert cpp.operator("fill_f32", [], dims=[2]).name == "full_f32" and cpp.operator("elementwise_mul", [x, x]).name == "mul"
    assert (cpp.run("brelu", np.array([-1, 30], "f4")) == [0, 24]).all() and len(seen) == 13
    refused(RuntimeError, 'there is no operator "sum_rows"', cpp.operator, "sum_rows", [x])  # it needs attributes now
    refused(RuntimeError, 'there is no operator "sigmod" (did you mean sigmoid?)', cpp.operator, "sigmod", [x])
    refused(AttributeError, "module 'rowan.layer' has no attribute 'no_such_layer'", getattr, layer, "no_such_layer")
    refused(AttributeError, "module 'rowan.layer' has no attribute 'fill_f32'", getattr, layer, "fill_f32")
    assert len(seen) == 13
    assert (layer.squared_error, layer.broadcast_mul, layer.broadcast_min) == (layer.mse, layer.mul, layer.minimum) and len(seen) == 16
assert [cpp.current_name(name) for name in ("rows_where", "mul", "cross_entropy", "nothing")] == ["nonzero_rows", None, None, None]
with warnings.catch_warnings():
    warnings.simplefilter("error")
    refused(DeprecationWarning, "the operator brelu is now hardtanh", cpp.run, "brelu", np.zeros(1, "f4"))
print(f"made: {len(made.layers)} layers")
