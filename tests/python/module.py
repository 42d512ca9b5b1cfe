# tests/python/module.py PROGRAM: tests the module of examples/python: arrays are shared, not copied; invalid arguments
# raise an exception with rowan's text; nets trained in Python have the bits of those that PROGRAM trains in C++.
import gc
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref

import numpy
import rowan
from rowan import UNK, cpp, layer

program = sys.argv[1]
folder = tempfile.mkdtemp()
floats = lambda *shape: numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape)


def address(array):
    return array.__array_interface__["data"][0]


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


# ---- the module refuses a NumPy that its pybind11 cannot read, here one in name only (pybind11 2.12 looks for more of it)

with open(os.path.join(folder, "numpy.py"), "w") as file:
    file.write("__version__ = '2.0.0'")
alone = subprocess.run([sys.executable, "-c", "import rowan_cpp"], capture_output=True, text=True,
                       env={**os.environ, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"})
assert alone.returncode == 1 and ("which cannot read the arrays of NumPy 2.0.0: build it with pybind11 2.12" in alone.stderr
                                  or "'numpy' is not a package" in alone.stderr), alone.stderr

# ---- arrays, by their addresses

with Fresh():
    for dtype in "float32", "float64", "int32", "int64", "bool":
        v = layer.data("v_" + dtype, dtype=dtype)
        for array in (numpy.ones((3, 2), dtype), numpy.ones((3, 2), dtype)[1:], numpy.ones((0, 2), dtype), numpy.ones((), dtype)):
            v.value = array
            assert v.value.dtype == array.dtype and v.value.shape == array.shape and (v.value == array).all()
            assert array.size == 0 or address(v.value) == address(array), dtype
            assert not v.value.flags.writeable
    v = layer.data("v")
    v.value = floats(5, 2), [[0, 2, 2], [0, 1, 5]]
    values, lod = v.value
    assert lod == [[0, 2, 2], [0, 1, 5]] and (values == floats(5, 2)).all()

    array = floats(3, 2)
    gone = weakref.ref(array)
    v.value = array
    seen = v.value
    del array
    gc.collect()
    assert gone() is not None and (seen == floats(3, 2)).all()  # the tensor keeps it
    v.value = None
    assert v.value is None and gone() is not None  # what was given out does, too
    del seen
    assert gone() is None

    def give(value):
        v.value = value
    refused(ValueError, "v.strides is (4, 8), expected those of row-major order", give, floats(3, 2).T)
    refused(ValueError, "v.strides is (8,), expected", give, floats(6)[::2])
    refused(ValueError, "ndim is 9, expected in [0, 8]", give, numpy.ones((1,) * 9, "f4"))
    refused(ValueError, "lod[0][2] = 6", give, (floats(5, 2), [[0, 2, 6]]))
    refused(ValueError, "lod[0][1] = -1", give, (floats(5, 2), [[0, -1, 5]]))
    v.value = floats(5, 2), (numpy.array([0, 2, 5], "i4"),)
    assert v.value[1] == [[0, 2, 5]]
    for levels, where, what in (("abc", "", "str"), (3, "", "int"), (["abc"], "[0]", "str"), ([0, 5], "[0]", "int"),
                                ([[0, 1.5, 5]], "[0][1]", "float"), ([[0, None]], "[0][1]", "NoneType"),
                                (numpy.array([[0, 5]], "f4"), "[0][0]", "numpy.float32")):
        sentence = f"v.lod{where} is <class '{what}'>, expected a list of whole numbers for each level"
        refused(TypeError, sentence, give, (floats(5, 2), levels))
    refused(OverflowError, "too big", give, (floats(5, 2), [[0, 1 << 70]]))
    refused(OverflowError, "v.lod[0][1] = 9223372036854775808 is too big", give, (floats(5, 2), [numpy.array([0, 1 << 63], "u8")]))
    for dtype in "i1", "u1", "<i2", ">u2", "u4", "i8", ">i8", "u8":
        v.value = floats(5, 2), [numpy.array([0, 2, 5], dtype)]
        assert v.value[1] == [[0, 2, 5]], dtype
    v.value = floats(5, 2), numpy.array([[0, 9, 1, 9, 2], [0, 9, 2, 9, 5]])[:, ::2]
    assert v.value[1] == [[0, 1, 2], [0, 2, 5]]
    v.value = floats(5, 2), [[0, 2, 5]]
    assert v.value[1] == [[0, 2, 5]]
    unaligned = numpy.frombuffer(bytes(9), "u1")[1:].view("f4")
    refused(RuntimeError, "is not a multiple of 4", give, unaligned)

# A batch is read without a copy, and a net returns the memory that it wrote.
with Fresh():
    x = layer.data("x", [UNK, 2])
    same = layer.apply("identity", x)
    array = floats(3, 2)
    array.setflags(write=False)
    y = rowan.infer(same, {"x": array}, rowan.train(layer.mse(layer.fc(x), x), lambda epoch: [{"x": array}]))
    assert (y == array).all() and not y.flags.writeable and address(x.value) == address(array)
print("arrays: the same addresses")

# ---- scopes, variables, operators

with Fresh():
    scope = cpp.default_scope()
    inner = scope.new_scope()
    x = cpp.variable(scope, "x", shape=[UNK, 3])
    assert scope.find("x") is x and inner.find("x") is x and scope.find("z") is None and inner.parent is scope and scope.parent is None
    assert (x.name, x.label, x.persistable, x.dtype, x.shape, x.lod_level) == ("x", "data", False, "float32", (UNK, 3), 0)
    h, W, b = cpp.variable(scope), cpp.variable(scope, label="parameter"), cpp.variable(scope, label="parameter")
    op = cpp.operator("FC", read=[x, W, b], output_size=5, write=[h])
    assert op.name == "fc" and op.reads == [x, W, b] and op.writes == [h]
    assert x.readers == W.readers == b.readers == h.writers == [op] and x.writers == h.readers == []
    assert W.shape == (3, 5) and b.shape == (5,) and h.shape == (UNK, 5) and W.label == "parameter" and W.persistable and h.label is None
    net = cpp.Net(h)
    assert net.operators == [op] and net.inputs == [x, W, b] and h.name == "fc_0.out_0"
    assert '"fc_0.w_0" -> op0' in net.dot()
    refused(RuntimeError, 'the variable "x" has no value: it is fed by the caller', net.run, scope)
    x.value, W.value, b.value = floats(4, 3), floats(3, 5), floats(5)
    net.run(scope, threads=2)
    assert (h.value == floats(4, 3) @ floats(3, 5) + floats(5)).all()
    W.value = floats(2, 5)
    refused(ValueError, "fc(x, w = fc_0.w_0, b = fc_0.b_0): w.shape(0) is 2, expected 3, the width of x", net.run, scope)

    refused(RuntimeError, 'the scope has a variable "x" already', layer.data, "x")
    refused(RuntimeError, 'there is no operator "fcc" (did you mean fc?)', cpp.operator, "fcc", read=[x], write=[cpp.variable(scope)])
    refused(RuntimeError, 'operator tanh has no attribute "slope": its attributes are none', layer.apply, "tanh", x, slope=2)
    refused(RuntimeError, 'operator scale has no attribute "facter" (did you mean factor?): its attributes are factor, bias', layer.apply, "scale", x, facter=2)
    refused(TypeError, "operator scale: factor is <class 'str'>, expected a number", layer.apply, "scale", x, factor="2")
    refused(TypeError, "axis is <class 'float'>, expected a whole number", layer.apply, "concat", x, x, axis=1.0)
    refused(TypeError, "sections[1] is <class 'float'>, expected a list of", layer.apply, "split", x, sections=(1, 2.0), axis=1)
    refused(TypeError, "pool is <class 'int'>, expected <class 'rowan_cpp.Pooling'>", layer.sequence_pool, x, pool=3)
    refused(TypeError, "output_size is <class 'float'>, expected a whole number", layer.fc, x, 4.0)
    refused(TypeError, "the input of operator mse is LoDTensor<f32>, LoDTensor<i64>", layer.mse, x, layer.data("ids", [UNK], "int64"))
    refused(ValueError, "w.shape(0)", layer.apply, "fc", x, layer.parameter([2, 5]), layer.parameter([5]))
    refused(ValueError, "output_size is -1, expected 0 or more", layer.fc, x, -1)
    refused(ValueError, "output_size is None, expected a size", layer.fc, layer.data("wide"))
    refused(RuntimeError, 'the variable "fc_0.out_0" that it writes has a value from elsewhere', cpp.operator, "tanh", read=[x], write=[h])
    refused(RuntimeError, 'the variable "x" that it writes', cpp.operator, "tanh", read=[h], write=[x])
    refused(TypeError, "operator tanh is given None, expected a variable", layer.tanh, None)
    for function in cpp.append_backward, rowan.framework.add_to, cpp.ScopeGuard, cpp.variable:
        refused(TypeError, "incompatible", function, *([None] if function is not cpp.add_to else [None, x]))
    twice = cpp.variable(scope)
    refused(RuntimeError, "that it writes is written twice", cpp.operator, "split", read=[h], write=[twice, twice], sections=[2, 3], axis=1)
    refused(RuntimeError, 'there is no label "trained"', cpp.variable, scope, "w", label="trained")
    refused(TypeError, "dtype is float16, expected one of float32", cpp.variable, scope, "w", dtype="float16")
    refused(ValueError, "is -5, expected a count or UNK", cpp.variable, scope, "w", shape=[-5])
    with Fresh():
        refused(RuntimeError, 'the variable "x" is of another scope', layer.tanh, x)

    # A call that raises changes nothing.
    x, W, b = cpp.variable(scope, "x2", shape=[UNK, 3]), cpp.variable(scope, label="parameter"), cpp.variable(scope, label="parameter")
    one, two = cpp.variable(scope), cpp.variable(scope)
    refused(RuntimeError, "operator tanh has no more than 1 results", cpp.operator, "tanh", read=[x], write=[one, two])
    for read, write, attributes in (([x, W, b], [one], dict(output_size=4, slope=1)), ([x, W, b], [one, two], dict(output_size=4)),
                                    ([x, W, W], [one], dict(output_size=4)), ([x, W, b], [one], dict(output_size=-4))):
        try:
            cpp.operator("fc", read=read, write=write, **attributes)
        except Exception:
            assert x.readers == W.readers == b.readers == one.writers == two.writers == [] and W.shape == b.shape == (), attributes
        else:
            raise AssertionError(f"this should be refused: {attributes}")
    op = cpp.operator("fc", read=[x, W, b], output_size=numpy.int32(4), write=[one])
    assert x.readers == W.readers == b.readers == one.writers == [op] and W.shape == (3, 4) and b.shape == (4,)

    # Numbers can be Python's or NumPy's, and lists any sequences.
    rows = layer.data("rows", [UNK, 3], lod_level=1)
    for pad in 2, 2.0, numpy.int64(2), numpy.float32(2):
        rows.value = floats(2, 3), [[0, 0, 2]]
        pooled = layer.sequence_pool(rows, pad_value=pad)
        cpp.Net(pooled).run(scope)
        assert (pooled.value == [[2, 2, 2], [3, 5, 7]]).all()
    for sections in (1, 2), [1, 2], numpy.array([1, 2]):
        assert layer.apply("split", x, sections=sections, axis=numpy.uint8(1)).shape == (UNK, 1)
    for axes in (-1,), [1], numpy.array([1]):
        assert layer.reduce_sum(x, axes).shape == (UNK,)
    assert layer.reduce_sum(x, [0], keep_dims=True).shape == (1, 3)
    refused(TypeError, "keep_dims is <class 'int'>, expected a bool", layer.reduce_sum, x, keep_dims=1)

    # Operators without inputs.
    for constant, dtype, value in (layer.full([2, 3], 1.5), "f4", 1.5), (layer.full([2, 3], 7, "int64"), "i8", 7):
        cpp.Net(constant).run(scope)
        assert constant.value.dtype == dtype and (constant.value == numpy.full((2, 3), value)).all() and constant.writers[0].reads == []
    refused(RuntimeError, "operator full_f32: it writes a variable at least", cpp.operator, "full_f32", read=[], write=[])
    refused(RuntimeError, "operator tanh reads x, but it is given 0 variables", layer.apply, "tanh")
    refused(RuntimeError, "operator fc reads x, w, b, but it is given 1 variables", layer.apply, "fc", x)

    # A guard can be entered again inside itself.
    guard, outer = cpp.ScopeGuard(inner), cpp.default_scope()
    with guard:
        with guard:
            assert cpp.default_scope() is inner
        assert cpp.default_scope() is inner
    assert cpp.default_scope() is outer
    refused(RuntimeError, "ScopeGuard: it is left more often than entered", guard.__exit__, None, None, None)
    with cpp.ScopeGuard(inner):
        assert layer.tanh(x).writers[0].reads == [x]  # of a scope around it

# Any object keeps its scope alive, and each thread has its own default scope.
held = cpp.Scope().new_scope().new_var("alone")
gc.collect()
assert held.name == "alone" and held.shape == (UNK, UNK)
others = []
thread = threading.Thread(target=lambda: others.append(layer.fc(layer.data("x", [UNK, 2]), 3)))
thread.start()
thread.join()
assert others[0].writers[0].reads[0].name == "x" and cpp.default_scope().find("x") is None
print("scopes: found, named, refused")

# ---- training, against C++

random = numpy.random.RandomState(3)
lod = numpy.array([0, 3, 4, 4, 9])
given = dict(x=random.uniform(-1, 1, (64, 3)).astype("f4"), y=random.uniform(-1, 1, (64, 2)).astype("f4"), lod=lod,
             words=random.randint(0, 50, 9), label=random.randint(0, 4, 4), moves=random.uniform(-1, 1, (9, 1)).astype("f4"),
             balances=random.uniform(-1, 1, (9, 1)).astype("f4"))
for name, array in given.items():
    numpy.save(os.path.join(folder, name), array)
x, y, words, label, moves, balances = (given[name] for name in ("x", "y", "words", "label", "moves", "balances"))
levels = [lod.tolist()]


def plain():
    predict = layer.fc(layer.tanh(layer.fc(layer.data("x"), 24)), 2)
    batches = [{"x": x[i:i + 16], "y": y[i:i + 16]} for i in range(0, 64, 16)]
    return predict, layer.mse(predict, layer.data("y")), batches, dict(optimizer=layer.Adam(learning_rate=0.01))


def bags(**options):
    ids = layer.data("words", [UNK], "int64", lod_level=1)
    predict = layer.fc(layer.sequence_pool(layer.embedding(ids, height=50, width=8, name="table"), layer.Pooling.mean), 4)
    cost = layer.cross_entropy(predict, layer.data("label", [UNK], "int64"))
    return predict, cost, [{"words": (words, [lod]), "label": label}], options


def recurrent():
    memory = rowan.framework.tensor()
    states = layer.rnn(input=layer.fc(layer.data("moves", lod_level=1), 8),
                       step_net=layer.fc(rowan.framework.add_to(memory, None), 8), concat_output=True)
    predict = layer.fc(states, 1)
    cost = layer.mse(predict, layer.data("balances", lod_level=1))
    return predict, cost, [{"moves": (moves, levels), "balances": (balances, levels)}], dict(optimizer=layer.Momentum(learning_rate=0.01))


def read(path):
    with open(path, "rb") as file:
        return file.read()


subprocess.run([program, folder], check=True)
nets = {
    "plain": plain,
    "words": lambda: bags(optimizer=layer.AdaGrad(learning_rate=0.1)),
    "rows": lambda: bags(optimizer=layer.RmsProp(momentum=0.5), optimizers={"table": layer.RowwiseAdaGrad(learning_rate=0.1), "fc_0.b_0": layer.Adadelta(rho=0.8, lazy=False)},
                         clip=layer.ClipByGlobalNorm(max_norm=0.1), schedule=layer.Warmup(steps=2, then=layer.CosineDecay(steps=4))),
    "ftrl": lambda: bags(optimizer=layer.Ftrl(learning_rate=0.1, l2=0.5),
                         optimizers={"table": layer.Lamb(epsilon=1e-3, weight_decay=0.1), "fc_0.w_0": layer.Adamax(beta2=0.9, lazy=False)},
                         clip=layer.ClipByNorm(max_norm=0.1),
                         schedule=layer.ExponentialDecay(rate=0.5, steps=3)),
    "sgd": lambda: bags(optimizer=layer.Sgd(learning_rate=0.1), clip=layer.ClipByValue(min=-0.01, max=0.02),
                        schedule=lambda step: 0.5 ** (step // 2)),  # StepDecay there
    "recurrent": recurrent,
}
for name, build in nets.items():
    path = os.path.join(folder, name)
    with Fresh():
        predict, cost, batches, options = build()
        costs = []
        parameters = rowan.train(cost, lambda epoch: (b for b in batches), epochs=5, seed=7, threads=2, **options,
                                 on_batch=lambda epoch, batch, value: costs.append((epoch, batch, value)))
        assert [c[:2] for c in costs] == [(e, b) for e in range(5) for b in range(len(batches))] and costs[-1][2] < costs[0][2]
        assert parameters.steps == len(costs)
        assert sorted(parameters) == sorted(file[:-4] for file in os.listdir(path)) and len(parameters) == len(os.listdir(path))
        for variable in parameters:
            there = numpy.load(os.path.join(path, variable + ".npy"))
            assert parameters[variable].shape == there.shape and parameters[variable].tobytes() == there.tobytes(), (name, variable)
            assert address(parameters[variable]) == address(parameters[variable])
        rowan.save_model(predict, parameters, path + ".python")
        assert read(path + ".python") == read(path + ".rowan"), name
        answer = rowan.infer(predict, batches[0], parameters)

        part = rowan.train(cost, rowan.prefetch(lambda epoch: batches), epochs=2, seed=7, **options)
        part = rowan.train(cost, rowan.prefetch(lambda epoch: batches), epochs=3, seed=7, resume=part, **options)
        assert all(part[variable].tobytes() == parameters[variable].tobytes() for variable in parameters) and part.steps == parameters.steps
        trainer = rowan.Trainer(cost, seed=7, threads=2, **options)
        assert [trainer.step(batch) for _ in range(5) for batch in batches] == [c[2] for c in costs] and trainer.steps == len(costs)
        part = trainer.parameters()
        assert all(part[variable].tobytes() == parameters[variable].tobytes() for variable in parameters) and part.steps == parameters.steps
        parameters[variable][...] = 0  # is the parameter itself
        assert (parameters[variable] == 0).all()

    same = lambda one, other: [numpy.array(one[0]).tobytes(), one[1]] == [numpy.array(other[0]).tobytes(), other[1]]
    pair = lambda value: value if isinstance(value, tuple) else (value, None)
    with Fresh():  # into a net that has never seen a batch, and into none
        fed = {name: batches[0][name] for name in batches[0] if name not in ("y", "label", "balances")}
        untrained = build()[0]
        assert same(pair(rowan.infer(untrained, fed, rowan.load_model(untrained, path + ".rowan"))), pair(answer)), name
        loaded, theirs = rowan.load_model(path + ".rowan")
        gc.collect()
        assert same(pair(rowan.infer(loaded, fed, theirs)), pair(answer)), name
    print(f"{name}: the bits of C++")

# ---- training, errors

with Fresh():
    predict, cost, batches, _ = plain()
    whole = batches[0]
    train = lambda *batch: rowan.train(cost, lambda epoch: batch)
    refused(ValueError, "y.shape() is [4], expected [UNK, UNK]", train, {"x": floats(4, 3), "y": floats(4)})
    refused(ValueError, "mse: y.shape(1) is 3, expected 2", train, {"x": floats(4, 3), "y": floats(4, 3)})
    refused(RuntimeError, 'the parameter "fc_0.w_0" are not known: give the data its shape', train)
    refused(RuntimeError, "are not known", rowan.train, cost, lambda epoch: batches, epochs=0)
    refused(TypeError, "the batch is <class 'list'>, expected a dict", train, [1])
    refused(TypeError, "object is not iterable", rowan.train, cost, lambda epoch: 3)
    first = train(whole)
    refused(RuntimeError, 'the batch has no "y"; it has "x"', train, {"x": whole["x"]})
    refused(RuntimeError, 'the batch has a value for "z", but there is no data variable of that name', train, {**whole, "z": x})
    refused(ValueError, "x.shape() is [16, 2], expected [UNK, 3]", train, whole, {**whole, "x": floats(16, 2)})
    refused(ValueError, "x[0, 0] = 0.1 is not exact in float32", train, {**whole, "x": whole["x"].astype("f8") + 0.1 - whole["x"]})
    refused(ValueError, "x.strides", train, whole, {**whole, "x": x[:32:2]})
    refused(TypeError, "x.lod is <class 'str'>, expected a list", train, whole, {**whole, "x": (whole["x"], "abc")})
    refused(ValueError, "x.lod().levels() is 1, expected 0", train, {**whole, "x": (whole["x"], [[0, 16]])})
    refused(ValueError, "the cost mse_0.out_0 is inf", train, {**whole, "y": whole["y"] * numpy.float32(1e38)})
    refused(ValueError, "learning_rate is nan", rowan.train, cost, lambda epoch: batches, layer.Sgd(learning_rate=float("nan")))
    refused(ValueError, "learning_rate is -0.1, expected 0 or more", rowan.train, cost, lambda epoch: batches, layer.Sgd(learning_rate=-0.1))

    scheduled = lambda schedule: rowan.train(cost, lambda epoch: batches, schedule=schedule)
    refused(TypeError, "schedule is <class 'int'>, expected a function of the step", scheduled, 3)
    refused(TypeError, "schedule(1) is <class 'str'>, expected a number", scheduled, lambda step: "one" if step else 1)
    refused(KeyError, "2", scheduled, lambda step: {0: 1, 1: 1}[step])
    refused(ValueError, "the schedule's factor for step 0 is inf", scheduled, lambda step: float("inf"))
    refused(ValueError, "steps is 0, expected 1 or more", scheduled, layer.CosineDecay(steps=0))
    assert layer.Warmup(steps=4, then=lambda step: step + 2)(1) == 1 and layer.Warmup(steps=4)(5) == 1 and layer.StepDecay(steps=1)(2) == 0.1 * 0.1
    refused(RuntimeError, 'there is no parameter "w"', rowan.train, cost, lambda epoch: batches, optimizers={"w": layer.Sgd()})
    refused(ValueError, "max_norm is -1", rowan.train, cost, lambda epoch: batches, clip=layer.ClipByNorm(-1))

    endless = lambda **functions: rowan.train(cost, lambda epoch: batches * 3, epochs=1000, **functions).steps
    size, kept = 3 * len(batches), []
    assert endless(on_batch=lambda epoch, batch, value: (epoch, batch) != (1, 2)) == size + 3
    assert endless(on_epoch=lambda epoch, parameters: kept.append(parameters) or numpy.float32(epoch) < 2) == 3 * size
    assert [p.steps for p in kept] == [size, 2 * size, 3 * size] and (kept[0]["fc_0.w_0"] != kept[1]["fc_0.w_0"]).any()
    refused(TypeError, "incompatible function arguments", endless, on_epoch=3)
    refused(TypeError, "positional argument", endless, on_epoch=lambda epoch: False)
    with Fresh():
        refused(RuntimeError, "are not known: give the data its shape", rowan.Trainer, plain()[1])
    refused(ValueError, "learning_rate is nan", rowan.Trainer, cost, layer.Sgd(learning_rate=float("nan")))
    trainer = rowan.Trainer(cost)
    refused(RuntimeError, 'the batch has no "y"; it has "x"', trainer.step, {"x": whole["x"]})
    refused(TypeError, "incompatible function arguments", trainer.step, [1])
    del trainer

    def stops(epoch):
        yield whole
        raise KeyError("no more")
    refused(KeyError, "no more", rowan.train, cost, stops)
    refused(KeyError, "no more", rowan.train, cost, rowan.prefetch(stops))
    refused(ValueError, "prefetch: batches is 0, expected 1 or more", rowan.prefetch, stops, 0)
    refused(ValueError, "the number of batches of epoch 0 is 0", rowan.train, cost, lambda epoch: [])

    def rings(*_):
        raise TimeoutError("at once")
    signal.signal(signal.SIGALRM, rings)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    refused(TimeoutError, "at once", rowan.train, cost, lambda epoch: itertools.repeat(whole))

    def hears(epoch, batch, value):
        raise LookupError(f"{epoch} {batch}")
    refused(LookupError, "0 0", rowan.train, cost, lambda epoch: batches, on_batch=hears)
    refused(KeyError, 'there is no parameter "w"', first.__getitem__, "w")
    refused(FileNotFoundError, "absent.rowan: No such file", rowan.load_model, predict, os.path.join(folder, "absent.rowan"))
    with open(os.path.join(folder, "cut.rowan"), "wb") as cut:
        cut.write(read(os.path.join(folder, "plain.rowan"))[:-9])
    refused(ValueError, "byte ", rowan.load_model, cut.name)
    refused(RuntimeError, "the file belongs to another net", rowan.load_model, predict, os.path.join(folder, "words.rowan"))

    # Another thread runs Python while a net is trained, and the batches are freed after the training.
    array = whole["x"].copy()
    gone, ran = weakref.ref(array), threading.Event()
    batch = {**whole, "x": array}
    thread = threading.Thread(target=ran.set)
    rowan.train(cost, lambda epoch: [batch] * 50, on_batch=lambda e, b, value: thread.start() if b == 0 else b < 49 or ran.wait(10))
    assert ran.is_set()
    thread.join()
    del array, batch
    layer_x = cpp.default_scope().find("x")
    layer_x.value = None
    gc.collect()
    assert gone() is None
    layer_x.value = whole["x"]  # the scope goes after Python has
print("refusals: with rowan's sentences")
