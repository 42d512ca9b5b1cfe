# tests/python/nets.py: operators by name, gradients, SelectedRows, TensorArray, float64 nets and training options.
import os
import tempfile

import numpy
import rowan
from checks import Fresh, floats, near, refused, value_of
from rowan import UNK, cpp, layer

# ---- operators: every one has a line, slots and attributes, and its layer the same defaults

import inspect

every = rowan.operators()
assert len(every) > 100 and every["scale"].attributes == {"factor": ("float", 1.0), "bias": ("float", 0.0)}
assert every["fc"].inputs == ("x", "w", "b") and every["concat"].variadic and not every["fc"].variadic
assert every["lookup_table"].attributes == {"padding_id": ("int | None", None), "unknown": ("int | None", None)}
assert every["sequence_pool"].attributes["pool"] == ("Pooling", layer.Pooling.sum)
assert every["cross_entropy_of_probabilities"].attributes["weights"] == ("list[float]", [])
assert every["adam"].attributes["beta2"] == ("float", 0.999) and every["adam"].outputs == ()
for name, operator in every.items():
    assert operator.doc and "\n" not in operator.doc.split(". ")[0], name
    if inspect.isfunction(getattr(layer, name, None)):
        for parameter in inspect.signature(getattr(layer, name)).parameters.values():
            if parameter.default is not parameter.empty and parameter.name in operator.attributes:
                default = operator.attributes[parameter.name].default
                assert parameter.default == default or (parameter.default, default) == ((), []), (name, parameter)

# operators on values
near(cpp.run("fc", [[1.0, 2.0]], [[1.0], [1.0]], [3.0]), [[6.0]])
assert cpp.run("sequence_pool", (floats(3, 2), [[0, 1, 3]]), pool=layer.Pooling.max).shape == (2, 2)
assert cpp.run("sequence_expand", (floats(2, 1), [[0, 1, 2]]), (numpy.zeros(5, "i8"), [[0, 3, 5]]))[0].shape == (5, 1)
value, ids = cpp.run("top_k", [[3.0, 1.0, 2.0]], k=2)
assert value.tolist() == [[3, 2]] and ids.tolist() == [[0, 2]]
refused(RuntimeError, 'there is no operator "tanhh" (did you mean tanh?)', cpp.run, "tanhh", [1.0])
refused(TypeError, "LoDTensor<f32>, LoDTensor<f64>", cpp.run, "mse", floats(2, 2), floats(2, 2, dtype="f8"))

# ---- SelectedRows and the optimizers, against formulas

for dtype in "f4", "f8":
    value = floats(4, 2, dtype=dtype)
    g = rowan.SelectedRows(5, [3, 0, 3, 1], value)
    dense = numpy.zeros((5, 2), dtype)
    numpy.add.at(dense, [3, 0, 3, 1], value)
    assert (g.height, g.shape, g.dtype, g.rows.tolist()) == (5, (5, 2), {"f4": "float32", "f8": "float64"}[dtype], [3, 0, 3, 1])
    assert (g.value == value).all() and not g.is_merged and (g.to_dense() == dense).all()
    merged = g.merge()
    assert merged.is_merged and merged.rows.tolist() == [0, 1, 3] and (merged.to_dense() == dense).all()
    for grad in g, dense:
        p = numpy.ones((5, 2), dtype)
        rowan.sparse.sgd(p, grad, 0.5)
        assert (p == 1 - dense / 2).all()
        p, m = numpy.ones((5, 2), dtype), numpy.full((5, 2), 2, dtype)
        rowan.sparse.adagrad(p, m, grad, learning_rate=0.5, epsilon=0)
        near(m, 2 + dense ** 2)
        near(p, 1 - 0.5 * dense / numpy.sqrt(m))
    p, m, v = numpy.ones((5, 2), dtype), numpy.zeros((5, 2), dtype), numpy.zeros((5, 2), dtype)
    rowan.sparse.adam(p, m, v, g, learning_rate=0.1)
    assert (p[[2, 4]] == 1).all() and (m[[2, 4]] == 0).all()
    near(m, 0.1 * dense)
    near(v, 0.001 * dense ** 2)
    near(p, 1 - 0.1 * dense / (numpy.abs(dense) + 1e-8))
    p, m, u = numpy.ones((5, 2), dtype), numpy.zeros((5, 2), dtype), numpy.zeros((5, 2), dtype)
    rowan.sparse.adamax(p, m, u, dense, learning_rate=0.1)
    near(u, numpy.abs(dense) + 1e-8)
    near(p, 1 - 0.1 * dense / (numpy.abs(dense) + 1e-8))
    p, s, d = numpy.ones((5, 2), dtype), numpy.zeros((5, 2), dtype), numpy.zeros((5, 2), dtype)
    rowan.sparse.adadelta(p, mean_square=s, mean_step=d, grad=g, rho=0.75, epsilon=0.5)
    step = numpy.sqrt(0.5 / (dense ** 2 / 4 + 0.5)) * dense
    near(s, dense ** 2 / 4)
    near(d, step ** 2 / 4)
    near(p, 1 - step)
    for grad in g, dense:
        p, m, v = numpy.ones((5, 2), dtype), numpy.zeros((5, 2), dtype), numpy.zeros((5, 2), dtype)
        rowan.sparse.lamb(p, m, v, grad, learning_rate=0.1, weight_decay=0.5)
        r = dense / (numpy.abs(dense) + 1e-6) + 0.5
        near(m, 0.1 * dense)
        near(v, 0.001 * dense ** 2)
        near(p, 1 - 0.1 * numpy.sqrt(10 / (r ** 2).sum()) * r)
assert rowan.SelectedRows(3, [0], [[1, 2]]).dtype == "float64"
refused(IndexError, "rows[1] = 5 is not in [0, 5)", rowan.SelectedRows, 5, [0, 5], floats(2, 2))
refused(ValueError, "value", rowan.SelectedRows, 5, [0], floats(2, 2))
refused(TypeError, "value is an array of int64", rowan.SelectedRows, 5, [0], numpy.array([[1]]))
refused(TypeError, "sgd: param is <class 'list'>, expected an array that may be written", rowan.sparse.sgd, [[1.0]], [[1.0]])
fixed = numpy.ones((5, 2))
fixed.setflags(write=False)
refused(TypeError, "sgd: param is", rowan.sparse.sgd, fixed, numpy.ones((5, 2)))
p = numpy.ones((5, 2))
refused(ValueError, "learning_rate", rowan.sparse.sgd, p, numpy.ones((5, 2)), float("nan"))
assert (p == 1).all() and (rowan.sparse.gather(p, [4, 0]) == 1).all()
refused(IndexError, "ids[0] = 5 is not in [0, 5)", rowan.sparse.gather, p, [5])

# ---- gradients in nets, several outputs, an optimizer as an operator

for dtype in "float32", "float64":
    with Fresh():
        scope = cpp.default_scope()
        ids, y = layer.data("ids", [UNK], "int64"), layer.data("y", [UNK, 3], dtype)
        table = layer.parameter([6, 3], (-1, 1), name="table", dtype=dtype)
        rows = layer.embedding(ids, table=table)
        h = layer.tanh(layer.fc(rows, 3))
        cost = layer.mse(h, y)
        gradients = rowan.append_backward(cost)
        net = rowan.Net(cost, h, [g for _, g in gradients])
        assert net.outputs[:2] == [cost, h]
        ids.value, y.value = [1, 4, 1], floats(3, 3)
        by_name = {p.name: g for p, g in gradients}
        assert sorted(by_name) == ["fc_0.b_0", "fc_0.w_0", "table"] and by_name["table"].kind == "selected_rows"
        first = {"table": floats(6, 3, dtype="f8"), "fc_0.w_0": floats(3, 3, dtype="f8").T.copy(), "fc_0.b_0": floats(3, dtype="f8")}
        for p, _ in gradients:
            p.value = first[p.name].copy()  # the variable shares it
        net.run(scope)
        e = first["table"][[1, 4, 1]]
        want = numpy.tanh(e @ first["fc_0.w_0"] + first["fc_0.b_0"])
        near(h.value, want)
        near(cost.value, [((want - floats(3, 3)) ** 2).mean()])
        d = 2 * (want - floats(3, 3)) / 9 * (1 - want ** 2)
        near(by_name["fc_0.w_0"].value, e.T @ d)
        near(by_name["fc_0.b_0"].value, d.sum(0))
        g = by_name["table"].value
        assert isinstance(g, rowan.SelectedRows) and g.rows.tolist() == [1, 4, 1] and g.dtype == dtype
        near(g.value, d @ first["fc_0.w_0"].T)
        net.append(cpp.operator("sgd", read=[table, by_name["table"]], learning_rate=0.5))
        change = numpy.zeros((6, 3))
        numpy.add.at(change, [1, 4, 1], d @ first["fc_0.w_0"].T)
        net.run(scope)
        near(table.value, first["table"] - 0.5 * change)
        refused(RuntimeError, "Net: it needs an output at least", rowan.Net)
        refused(TypeError, "Net: an output is None", rowan.Net, cost, None)
        refused(RuntimeError, "does not depend on a parameter", rowan.append_backward, layer.mse(y, y))
        refused(TypeError, "cost is of other elements", rowan.append_backward, ids)

# ---- TensorArray

rows = floats(6, 2)
steps, steps_map = rowan.TensorArray.unpack((rows, [[0, 2, 3, 6]]))
assert len(steps) == 3 and steps_map.order.tolist() == [2, 0, 1] and steps_map.steps == 3
assert (steps.read(0) == rows[[3, 0, 2]]).all() and (steps.read(2) == rows[[5]]).all()
values, lod = steps.pack(0, steps_map)
assert (values == rows).all() and lod == [[0, 2, 3, 6]]
for dtype in "float32", "float64", "int64":
    array = rowan.TensorArray(dtype)
    array.write(1, [3, 4])
    refused(IndexError, "0", array.read, 0)
    array.write(0, [1, 2])
    assert len(array) == 2 and array.dtype == dtype and array.stack().tolist() == [[1, 2], [3, 4]] and array.stack(1).tolist() == [[1, 3], [2, 4]]
    assert array.concat().tolist() == [1, 2, 3, 4]
refused(ValueError, "value[0] = 0.1 is not exact", rowan.TensorArray().write, 0, [0.1])
refused(TypeError, "dtype is half, expected one of", rowan.TensorArray, "half")
parts = rowan.TensorArray.unstack(rows)
assert len(parts) == 6 and (parts.stack() == rows).all()
with Fresh():
    x = layer.data("x", [4, 2])
    total = layer.array_stack(layer.array_write(layer.array_unstack(x), layer.full([1], 4, "int64"), layer.full([2], 7)))
    x.value = floats(4, 2)
    assert (value_of(total) == numpy.vstack([floats(4, 2), [[7, 7]]])).all()
    array = layer.array_unstack(x)
    assert array.kind == "tensor_array" and len(value_of(array)) == 4

# ---- float64 nets: the formulas to double precision, and files

with Fresh():
    x, y = layer.data("x", [UNK, 3], "float64"), layer.data("y", [UNK, 2], "float64")
    predict = layer.fc(layer.tanh(layer.fc(x, 4)), 2)
    cost = layer.mse(predict, y)
    random = numpy.random.RandomState(1)
    batch = {"x": random.uniform(-1, 1, (8, 3)), "y": random.uniform(-1, 1, (8, 2))}
    p = rowan.train(cost, lambda epoch: [batch] * 20, layer.Adam(learning_rate=0.01))
    assert all(p[name].dtype == "float64" for name in p)
    forward = lambda p: numpy.tanh(batch["x"] @ p["fc_0.w_0"] + p["fc_0.b_0"]) @ p["fc_1.w_0"] + p["fc_1.b_0"]
    answer = rowan.infer(predict, {"x": batch["x"]}, p)
    near(answer, forward(p), 1e-14)
    trainer = rowan.Trainer(cost, layer.Adam(learning_rate=0.01), resume=p)
    near(trainer.step(batch), ((forward(p) - batch["y"]) ** 2).mean(), 1e-14)
    assert trainer.steps == 21
    path = os.path.join(tempfile.mkdtemp(), "model")
    rowan.save_model(predict, p, path)
    assert (rowan.infer(predict, {"x": batch["x"]}, rowan.load_model(predict, path)) == answer).all()
    rowan.save_parameters(p, path + ".all")
    again = rowan.load_parameters(path + ".all")
    assert again.steps == 20 and all((again[name] == p[name]).all() for name in p)
with Fresh():
    assert (rowan.infer(*(lambda m: (m[0], {"x": batch["x"]}, m[1]))(rowan.load_model(path))) == answer).all()

# ---- results of any type, and several at once

with Fresh():
    words, tags = (layer.data(name, [UNK], "int64", lod_level=1) for name in ("words", "tags"))
    emission = layer.fc(layer.embedding(words, 5, 4), 3)
    transition = layer.parameter([5, 3], name="transition")
    cost = layer.reduce_mean(layer.linear_chain_crf(emission, transition, tags))
    batch = {"words": [[1, 2], [3]], "tags": [[0, 1], [2]]}
    p = rowan.train(cost, lambda epoch: [batch] * 20, layer.Adam(learning_rate=0.1))
    path, best = layer.crf_decoding(emission, transition), layer.argmax(emission)
    tagged, lod = rowan.infer(path, batch, p)
    assert tagged.dtype == "int64" and tagged.ravel().tolist() == [0, 1, 2] and lod == [[0, 2, 3]]
    predictor = rowan.Predictor([emission, best, best], p)
    for several in predictor(batch), predictor(batch, threads=1), rowan.infer((emission, best, best), batch, p):
        (scores, _), *positions = several
        assert type(several) is tuple and scores.dtype == "float32" and len(positions) == 2
        for found in positions:
            found = found[0] if isinstance(found, tuple) else found
            assert found.dtype == "int64" and (found.ravel() == scores.argmax(1)).all()
    file = os.path.join(tempfile.mkdtemp(), "model")
    rowan.save_model(path, p, file)
    assert (rowan.infer(path, batch, rowan.load_model(path, file))[0] == tagged).all()
    refused(TypeError, "predict[1]", rowan.infer, [path, 1], batch, p)
    refused(TypeError, "a variable, or a list or tuple of variables", rowan.Predictor, 1, p)
    refused(ValueError, "len(predict)", rowan.infer, [], batch, p)
    refused(RuntimeError, "written by no operator", rowan.infer, [path, words], batch, p)
    refused(RuntimeError, '"tags", which the net does not read', rowan.Predictor(path, p, refuse_other_feeds=True), batch)
    x, rows = layer.data("x", [UNK, 3]), numpy.array([[3, 1, 2]], "f4")
    value, ids = rowan.infer(layer.top_k(x, 2), {"x": rows}, p)
    assert value.tolist() == [[3, 2]] and ids.tolist() == [[0, 2]]
    outputs = [layer.less(x, 2.5), layer.array_unstack(x), *(layer.cast(x, dtype) for dtype in ("int64", "float64"))]
    less, array, *casts = rowan.infer(outputs, {"x": rows}, p)
    assert less.dtype == "bool" and less.tolist() == [[False, True, True]] and len(array) == 1
    assert [c.dtype.name for c in casts] == ["int64", "float64"] and all((c == rows).all() for c in casts)
with Fresh():
    loaded, p = rowan.load_model(file)
    assert loaded.dtype == "int64" and (rowan.infer(loaded, {"words": batch["words"]}, p)[0] == tagged).all()

# ---- options of train

with Fresh():
    x, y = layer.data("x", [UNK, 1]), layer.data("y", [UNK, 1])
    predict = layer.fc(x, 1, weight=layer.Constant(0.5), name="line")
    cost = layer.mse(predict, y)
    batch = {"x": [[1], [2]], "y": [[2], [4]]}
    seen = []

    def far(p):
        seen.append(float(p["line.w_0"][0, 0]))
        return abs(seen[-1] - 1)
    p = rowan.train(cost, lambda epoch: [batch], layer.Sgd(learning_rate=0.05), epochs=50, metrics={"far": far},
                    stop=layer.EarlyStop("far", patience=2), average=layer.MovingAverage(0.5))
    assert 3 <= len(seen) < 50 and abs(p["line.w_0"][0, 0] - 1) == min(abs(s - 1) for s in seen)
    assert sorted(p.trained()) == ["line.b_0", "line.w_0"] and "line.w_0@average" in p.states()
    assert sorted(p.averaged()) == ["line.b_0", "line.w_0"] and p.averaged()["line.w_0"] == p["line.w_0@average"]
    first = rowan.train(cost, lambda epoch: [batch], layer.Sgd(), initial={"line.w_0": [[3]]}, rates={"line.b_0": 0})
    assert first["line.b_0"] == 0 and 2.5 < first["line.w_0"][0, 0] < 3
    near(rowan.train(cost, lambda epoch: [batch], layer.AdamW(learning_rate=0.1, weight_decay=0.5))["line.w_0"], [[0.5 * 0.95 + 0.1]])
    adam, batches, steps = layer.Adam(learning_rate=0.1), [batch, {"x": [[3]], "y": [[1]]}, {"x": [[1]], "y": [[5]]}], []
    saves = layer.TrainCheckpoint(os.path.join(tempfile.mkdtemp(), "run"), every=2)

    def end(epoch, number, cost):
        steps.append((epoch, number))
        if steps == [(0, 0), (0, 1), (0, 2)]:
            raise KeyboardInterrupt
        return len(steps) != 6
    try:
        rowan.train(cost, lambda epoch: batches, adam, epochs=3, on_batch=end, checkpoint=saves)
    except KeyboardInterrupt:
        rowan.train(cost, lambda epoch: batches, adam, epochs=3, on_batch=end, checkpoint=saves)
    p = rowan.train(cost, lambda epoch: batches, adam, epochs=3, on_batch=end, checkpoint=saves)
    assert steps == [(0, 0), (0, 1), (0, 2), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)], steps
    whole = rowan.train(cost, lambda epoch: batches, adam, epochs=3)
    assert p.steps == whole.steps == 9 and all((p[name] == whole[name]).all() for name in whole)
    refused(RuntimeError, "options.folder is empty", rowan.train, cost, lambda epoch: batches, checkpoint=layer.TrainCheckpoint(""))
    refused(TypeError, "there is no option epoch", rowan.Trainer, cost, epoch=3)
    refused(TypeError, "there is no option seeds (did you mean seed?)", rowan.train, cost, lambda epoch: [batch], seeds=3)
    refused(TypeError, "rates is <class 'int'>", rowan.train, cost, lambda epoch: [batch], rates=3)
    refused(RuntimeError, '"w"', rowan.train, cost, lambda epoch: [batch], rates={"w": 1})
    refused(TypeError, "metrics: far is <class 'str'>, expected a number", rowan.train, cost, lambda epoch: [batch], metrics={"far": str})

# ---- the mean of the gradients of some batches makes a step

with Fresh():
    x = layer.data("x", [UNK, 1])
    cost = layer.mean(layer.fc(x, 1, weight=layer.Constant(0), name="line"))
    batches = [{"x": [[k]]} for k in (1, 2, 4)]
    p = rowan.train(cost, lambda epoch: batches, layer.Sgd(learning_rate=0.5), parts=2)
    assert p.steps == 2 and p["line.w_0"][0, 0] == -2.75 and p["line.b_0"][0] == -1
    trainer = rowan.Trainer(cost, layer.Sgd(learning_rate=0.5), parts=3)
    assert trainer.step([{"x": [[1], [2], [3]]}, {"x": [[4]]}]) == 0 and trainer.steps == 1
    assert trainer.parameters()["line.w_0"][0, 0] == -1.25
    refused(ValueError, "batches is 4", trainer.step, batches + batches[:1])
    refused(ValueError, "parts", rowan.train, cost, lambda epoch: batches, parts=0)
    refused(TypeError, "parts is <class 'str'>", rowan.train, cost, lambda epoch: batches, parts="2")

# ---- tables of which only some rows exist, as data and as parameters

for dtype in "float32", "float64":
    with Fresh():
        ids = layer.data("ids", [UNK], "int64")
        given, trained = layer.selected_rows("given", [100, 2], dtype), layer.selected_rows("trained", [100, 2], dtype, [7, 3], layer.Constant(1))
        assert (given.kind, given.label, trained.kind, trained.label, given.shape) == ("selected_rows", "data", "selected_rows", "parameter", (100, 2))
        own = layer.embedding(ids, 100, 2, name="own", init=(1.0, 1.0), dtype=dtype, rows=[3, 7])
        cost = layer.mean(layer.embedding(ids, table=given) * layer.embedding(ids, table=trained) * own)
        rows = rowan.SelectedRows(100, [3, 5, 7], floats(3, 2, dtype="f4" if dtype == "float32" else "f8"))
        p = rowan.train(cost, lambda epoch: [{"ids": [7, 3, 7], "given": rows}], layer.Sgd(learning_rate=1.5))
        near(p["trained"].value, 1 - numpy.array([2, 1])[:, None] / 4 * rows.value[[2, 0]])
        assert p["trained"].rows.tolist() == [7, 3] and p["own"].rows.tolist() == [3, 7] and p["trained"].dtype == dtype
        more = rowan.train(cost, lambda epoch: [{"ids": [5], "given": rows}], layer.Adam(), initial={"trained": rows, "own": rows})
        assert more["trained"].rows.tolist() == [3, 5, 7] and (more["trained"].value[[0, 2]] == rows.value[[0, 2]]).all()
        near(rowan.infer(own, {"ids": [7]}, p), p["own"].value[[1]])
        path = os.path.join(tempfile.mkdtemp(), "model")
        rowan.save_model(own, p, path)
        predict, loaded = rowan.load_model(path)
        assert (rowan.infer(predict, {"ids": [7, 3]}, loaded) == p["own"].value[[1, 0]]).all() and loaded["own"].height == 100
        refused(IndexError, "ids[0] = 5 is not a row of the table", rowan.infer, own, {"ids": [5]}, p)
        refused(TypeError, "given is <class 'list'>, expected a SelectedRows", rowan.train, cost, lambda epoch: [{"ids": [7], "given": [[1.0, 2.0]]}])
        refused(TypeError, "given", rowan.train, cost, lambda epoch: [{"ids": [7], "given": rowan.SelectedRows(100, [7], floats(1, 2, dtype="f8" if dtype == "float32" else "f4"))}])
        refused(TypeError, "ids", rowan.train, cost, lambda epoch: [{"ids": rows, "given": rows}])
        refused(IndexError, "rows[1] = 100 is not in [0, 100)", layer.selected_rows, "one", [100, 2], rows=[1, 100])
        refused(RuntimeError, "init is of a parameter, which has rows", layer.selected_rows, "one", [100, 2], init=(0.0, 1.0))
        refused(TypeError, "dtype is int64, expected float32 or float64", layer.selected_rows, "one", [100, 2], "int64")

for auc in rowan.Auc(), rowan.Auc(4095):
    assert numpy.isnan(auc.value())
    auc.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    near(auc.value(), 0.75)
refused(ValueError, "probability[0]", auc.update, [2.0], [1])
metric = rowan.PrecisionRecall(2)
metric.update(numpy.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]), [0, 0, 1])
assert metric.precision(1) == 0.5 and metric.recall(0) == 0.5 and metric.recall() == 0.75
print("nets: gradients, rows, arrays, float64, options")
