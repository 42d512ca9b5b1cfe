# tests/python/layers.py: every layer that is written by hand, against formulas of NumPy, in float32 and float64. Those that are made: made.py.
import inspect
import math

import numpy as np
import rowan
from checks import Fresh, floats, near, refused, value_of
from rowan import UNK, cpp, layer

called = set()


class Layers:
    """The layers, which notes those that are called."""

    def __getattr__(self, name):
        called.add(name)
        return getattr(layer, name)


L = Layers()
sigmoid = lambda x: 1 / (1 + np.exp(-x))
softmax = lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def given(**arrays):
    """Data of these values; a pair is an array and its lod."""
    made = []
    for name, value in arrays.items():
        array = value[0] if isinstance(value, tuple) else value
        levels = len(value[1]) if isinstance(value, tuple) else 0
        v = L.data(name, array.shape, str(array.dtype), levels) if not levels else L.data(name, [UNK, *array.shape[1:]], str(array.dtype), levels)
        v.value = value
        made.append(v)
    return made[0] if len(made) == 1 else made


def parameters_of(*outputs):
    """Sets the parameters of a net to numbers, and returns these by name."""
    values = {}
    for i, v in enumerate(rowan.Net(*outputs).inputs):
        if v.label == "parameter":
            v.value = values[v.name] = floats(*v.shape, dtype=v.dtype) / 2 + i / 8
    return values


for dtype in "f4", "f8":
    X, Y = floats(3, 4, dtype=dtype), floats(3, 4, dtype=dtype)[::-1].copy()
    P = (np.abs(X) + 0.25) / 2

    # ---- elements
    with Fresh():
        x, y, p = given(x=X, y=Y, p=P)
        for got, want in [
                (L.tanh(x), np.tanh(X)), (L.pow(p, 1.5), P ** 1.5), (L.silu(x), X * sigmoid(X)),  # two that are made, see made.py
                (-x + y * 2 - 3, -X + 2 * Y - 3), (1 / p + 2 - x, 1 / P + 2 - X), (x / 2 * y, X / 2 * Y), (3 - x, 3 - X),
                (x + L.reduce_mean(y, [1], keep_dims=True), X + Y.mean(1, keepdims=True)),
                (L.less(x, y), X < Y), (L.less_equal(x, 0.5), X <= 0.5), (L.greater(x, y), X > Y), (L.greater_equal(x, y), X >= Y), (L.equal(x, 0.5), X == 0.5),
                (L.logical_and(L.greater(x, 0), L.less(y, 0)), (X > 0) & (Y < 0)), (L.logical_or(L.greater(x, 0), L.less(y, 0)), (X > 0) | (Y < 0)),
                (L.where(L.less(x, y), x, L.reduce_sum(y, [0])), np.where(X < Y, X, Y.sum(0))), (L.where(L.less(x, y), x, 7), np.where(X < Y, X, 7)), (L.where(L.less(x, y), 7, y), np.where(X < Y, 7, Y)),
                (L.full([2, 3], 7, x.dtype), np.full((2, 3), 7)), (L.cast(x, "int64"), X.astype("i8")), (L.dropout(x, 0.3), X), (L.apply("identity", x), X)]:
            near(value_of(got), want)
        refused(ValueError, "dropout: probability is 2", L.dropout, x, 2)

        # ---- losses
        near(value_of(L.ranknet(p, x, y)), [(np.log1p(np.exp(X - Y)) - (X - Y) * P).mean()], 1e-4)
        near(value_of(L.margin_ranking(L.full_like(x, 1), x, y, 0.5)), [np.maximum(0, 0.5 - (X - Y)).mean()], 1e-4)
        cosines = (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)
        near(value_of(L.cosine_embedding(x, y, L.full_like(L.cosine_similarity(x, y), 1))), [(1 - cosines).mean()])
        w = np.array([2, 0, 0.5], dtype)
        weights = given(weights=w)
        near(value_of(L.mse(x, y, weights=weights)), [((X - Y) ** 2 * w[:, None]).sum() / 10])
        near(value_of(L.binary_cross_entropy_with_logits(x, p, layer.Reduction.sum, pos_weight=3, weights=weights)), [(w[:, None] * (3 * P * np.log1p(np.exp(-X)) + (1 - P) * np.log1p(np.exp(X)))).sum()], 1e-4)
        near(value_of(L.ranknet(p, x, y, weights=weights)), [((np.log1p(np.exp(X - Y)) - (X - Y) * P) * w[:, None]).sum() / 10], 1e-4)
        near(value_of(L.margin_ranking(L.full_like(x, 1), x, y, 0.5, weights=weights)), [(np.maximum(0, 0.5 - (X - Y)) * w[:, None]).sum() / 10], 1e-4)
        near(value_of(L.cosine_embedding(x, y, L.full_like(L.cosine_similarity(x, y), 1), weights=weights)), [((1 - cosines) * w).sum() / 2.5])
        near(value_of(L.clip(x, min=-np.inf, max=0.25)), np.minimum(X, 0.25))
        label = given(label=np.array([2, 0, 3]))
        picked = np.log(softmax(X)[[0, 1, 2], [2, 0, 3]])
        near(value_of(L.cross_entropy(x, label, layer.Reduction.sum, weights=np.array([2, 1, 4, 0.5]))), [-(picked * [4, 2, 0.5]).sum()])
        refused(TypeError, "weights[1] is <class 'str'>, expected a number", layer.cross_entropy, x, label, weights=[1, "2", 3, 4])

        # ---- shapes
        Z = floats(2, 3, 4, dtype=dtype)
        z = given(z=Z)
        for got, want in [
                (L.split(x, [1, 3], 1)[1], X[:, 1:]), (L.matmul(x, y, transpose_y=True), X @ Y.T), (L.matmul(x, y, transpose_x=True), X.T @ Y), (L.matmul(x, L.transpose(y)), X @ Y.T),
                (L.matmul(z, z, transpose_y=True), Z @ Z.transpose(0, 2, 1)), (L.reshape(L.mean(x), [1]), [X.mean()]), (L.one_hot(label, 4, x.dtype), np.eye(4)[[2, 0, 3]])]:
            near(value_of(got), want)
        row = given(row=floats(3, dtype=dtype) + 0.25)  # at axis 1 of z
        R = row.value[None, :, None]
        for got, want in [
                (L.less(z, row, 1), Z < R), (L.less_equal(z, row, 1), Z <= R), (L.greater(z, row, 1), Z > R), (L.greater_equal(z, row, 1), Z >= R), (L.equal(z, row, 1), Z == R),
                (L.equal(x, row, 0), X == R[0]), (L.logical_and(L.less(z, 0), L.less(row, 0), 1), (Z < 0) & (R < 0)), (L.logical_or(L.less(z, 0), L.less(row, 0), 1), (Z < 0) | (R < 0))]:
            near(value_of(got), want)
        refused(ValueError, "axis is -2", layer.less, z, row, axis=-2)
        refused(ValueError, "y rank is 1, expected at most 0, the dims of x from 3 on", layer.less, z, row, axis=3)
        refused(TypeError, "axis is <class 'float'>, expected a whole number", layer.softmax, z, axis=1.0)
        refused(TypeError, "axis is <class 'str'>, expected a whole number", layer.less, z, row, axis="1")
        refused(ValueError, "axis is 1, expected none for a number", layer.less, z, 2.0, axis=1)
        top = L.top_k(x, 2)
        assert (value_of(top.value) == -np.sort(-X)[:, :2]).all() and (value_of(top.indices) == np.argsort(-X, kind="stable")[:, :2]).all()
        assert len(L.results("top_k", x)) == 2

    # ---- layers with parameters
    with Fresh():
        x, ids = given(x=X, ids=(np.array([2, 0, 2]), [[0, 1, 3]]))
        fc, plain = L.fc(x, 2, name="one"), L.fc(x, 2, bias=False, name="two")
        norm, batch = L.layer_norm(x, name="rows"), L.batch_norm(x, name="columns")
        table = L.parameter([3, 2], name="table", dtype=x.dtype)
        looked, bag = L.embedding(ids, table=table), L.embedding_bag(ids, pool=layer.Pooling.mean, table=table)
        weighted = L.embedding_bag(ids, table=table, weight=given(weight=X[:, 0].copy()))
        w = parameters_of(fc, plain, norm, batch, looked)
        near(value_of(fc), X @ w["one.w_0"] + w["one.b_0"])
        near(value_of(plain), X @ w["two.w_0"])
        unit = lambda x, axis: (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + 1e-5)
        near(value_of(norm), unit(X, 1) * w["rows.w_0"] + w["rows.b_0"])
        w["columns.variance_0"] = np.abs(w["columns.variance_0"]) + 1
        cpp.default_scope().find("columns.variance_0").value = w["columns.variance_0"]
        near(value_of(batch), (X - w["columns.mean_0"]) / np.sqrt(w["columns.variance_0"] + 1e-5) * w["columns.w_0"] + w["columns.b_0"])
        T = w["table"]
        near(value_of(looked)[0], T[[2, 0, 2]])
        near(value_of(bag), [T[2], T[[0, 2]].mean(0)])
        near(value_of(weighted), [X[0, 0] * T[2], X[1, 0] * T[0] + X[2, 0] * T[2]])
        some = L.selected_rows("some", [10, 2], x.dtype)
        some.value = rowan.SelectedRows(10, [2, 0], T[[2, 0]])
        near(value_of(L.embedding(ids, table=some))[0], T[[2, 0, 2]])
        refused(ValueError, "batch_norm: x.shape is [3, 4, 1]", layer.batch_norm, layer.unsqueeze(x, [2]))
        trained = rowan.train(layer.mse(batch, x), lambda epoch: [{"x": X}])
        near(trained["columns.mean_0"], 0.1 * X.mean(0), 1e-4)

    # ---- sequences
    with Fresh():
        S, lod = floats(6, 2, dtype=dtype), [[0, 3, 3, 6]]
        parts = [S[0:3], S[3:3], S[3:6]]
        s, t = given(s=(S, lod), t=(floats(3, 2, dtype=dtype), [[0, 1, 2, 3]]))
        V = floats(3, 2, dtype=dtype)
        for got, want in [(L.sequence_first(t), V), (L.sequence_last(t), V), (L.drop_levels(L.sequence_unpad(*L.sequence_pad(s))), S)]:
            near(value_of(got), want)
        near(value_of(L.sequence_context(s, 0, 2, pad_value=5))[0], np.hstack([S, np.vstack([S[1:3], [[5, 5]], S[4:6], [[5, 5]]])]))
        tokens = given(tokens=(np.array([4, 1, 4, 2]), [[0, 3, 4]]))
        assert value_of(L.sequence_enumerate(tokens, 2, 9))[0].reshape(-1, 2).tolist() == [[4, 1], [1, 4], [4, 9], [2, 9]]
        conv = L.sequence_conv(s, 3, train_padding=True, name="conv")
        w = parameters_of(conv)
        above, below = w["conv.w_1"]
        context = np.vstack([np.hstack([np.vstack([above, p[:-1]]), p, np.vstack([p[1:], below])]) for p in (S[:3], S[3:])])
        near(value_of(conv)[0], context @ w["conv.w_0"] + w["conv.b_0"])

        # two tags, by all paths
        transition = L.parameter([4, 2], name="transition", dtype=s.dtype)
        path = L.crf_decoding(s, transition)
        A = parameters_of(path)["transition"]
        score = lambda p, tags: A[0, tags[0]] + A[1, tags[-1]] + sum(p[i, k] for i, k in enumerate(tags)) + sum(A[2 + a, b] for a, b in zip(tags, tags[1:]))
        every = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        best = [max(every, key=lambda k: score(p, k)) for p in (S[:3], S[3:])]
        assert value_of(path)[0].ravel().tolist() == [*best[0], *best[1]]
        assert value_of(L.crf_decoding(s, transition, given(tags=(np.array([0, 1, 0, 1, 1, 0]), lod))))[0].shape == (6, 1)

        # one step of a beam search from a beginning, of the four tokens
        scores = np.log(softmax(np.array([[1, 3, 2, 0]], dtype)))
        prefixes, step, before = given(prefixes=(np.array([0]), [[0, 1]]), step=(scores, [[0, 1]]), before=(np.zeros(1, dtype), [[0, 1]]))
        beam = L.beam_search(prefixes, step, before, beam_size=2, end_id=3)
        got = value_of(beam.prefixes, beam.last, beam.scores, beam.parents)
        assert got[0][0].tolist() == [0, 1, 0, 2] and got[1][0].tolist() == [1, 2] and got[3].tolist() == [0, 0]
        near(got[2][0], scores[0, [1, 2]])
        done = L.beam_search_decode(beam.prefixes, beam.scores)
        assert value_of(done.sentences)[0].tolist() == [0, 1, 0, 2]

    # ---- recurrent layers
    def gru_step(x, h, w, i=0):
        gx, gh = x @ w[i] + w[i + 1], h @ w[i + 2] + w[i + 3]
        n = h.shape[-1]
        r, z = sigmoid(gx[..., :n] + gh[..., :n]), sigmoid(gx[..., n:2 * n] + gh[..., n:2 * n])
        c = np.tanh(gx[..., 2 * n:] + r * gh[..., 2 * n:])
        return c + z * (h - c)

    def lstm_step(x, state, w):
        h, c = state
        i, f, g, o = np.split(x @ w[0] + w[1] + h @ w[2] + w[3], 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    def run(part, step, state):
        out = []
        for x in part:
            state = step(x, state)
            out.append(state[0] if isinstance(state, tuple) else state)
        return out, state

    def by_role(net):
        """The weights of a cell in the order of gru_step, by their shapes and operators: fc's first."""
        values = parameters_of(net)
        return [values[v.name] for v in rowan.Net(net).inputs if v.label == "parameter"]

    with Fresh():
        s = given(s=(S, lod))
        made = L.gru_with_last(s, 3)
        w = by_role(made.output)
        outs = [run(p, lambda x, h: gru_step(x, h, w), np.zeros(3)) for p in parts]
        near(value_of(made.output)[0], np.vstack([o for o, _ in outs if o]))
        near(value_of(made.last[0]), [h for _, h in outs])
    with Fresh():
        s = given(s=(S, lod))
        made = L.lstm_with_last(s, 3)
        w = by_role(made.output)
        outs = [run(p, lambda x, h: lstm_step(x, h, w), (np.zeros(3), np.zeros(3))) for p in parts]
        near(value_of(made.output)[0], np.vstack([o for o, _ in outs if o]))
        near(value_of(made.h[0]), [h for _, (h, _) in outs])
        near(value_of(made.c[0]), [c for _, (_, c) in outs])
        h0, c0 = given(h0=V.repeat(2, 1)[:, :3].copy(), c0=-V.repeat(2, 1)[:, 1:].copy())
        again = L.lstm_with_last(s, 3, h=[h0], c=[c0])
        w = by_role(again.output)
        first = [(h0.value[i], c0.value[i]) for i in range(3)]
        outs = [run(p, lambda x, h: lstm_step(x, h, w), f) for p, f in zip(parts, first)]
        near(value_of(again.output)[0], np.vstack([o for o, _ in outs if o]))
        near(value_of(again.h[0]), [h for _, (h, _) in outs])
        near(value_of(again.c[0]), [c for _, (_, c) in outs])
        refused(ValueError, "the number of lstm: h is 1, expected one for each layer and direction", layer.lstm, s, 3, bidirectional=True, h=[h0])
        refused(TypeError, "expected a list of variables: one for each layer and direction", layer.lstm, s, 3, h=h0)
        refused(ValueError, "gru: h has the shape [3, 3], expected [sequences, 2]", layer.gru, s, 2, h=[h0])
        told = L.gru_with_last(s, 3, h=[h0])
        w = by_role(told.output)
        near(value_of(told.last[0]), [run(p, lambda x, h: gru_step(x, h, w), f)[1] for p, (f, _) in zip(parts, first)])
        deep = L.lstm(s, 3, layers=2, bidirectional=True, dropout=0.5)
        assert deep.shape == (UNK, 6) and L.gru(s, 3, bidirectional=True).shape == (UNK, 6)
        assert rowan.train(layer.mean(deep), lambda epoch: [{"s": (S, lod)}] * 3).steps == 3
        for cell, width in ((L.lstm_unit, 6), (L.lstmp_unit, 6)):
            assert L.rnn(s, width, lambda x, h: cell(x, h, 3)).shape == (UNK, 3)
        assert L.rnn(s, 5, lambda x, h: layer.lstmp_unit(x, h, 3, projection=2, peepholes=True, cell_clip=1)).shape == (UNK, 2)
        assert L.rnn(s, 3, lambda x, h: (L.reset_first_gru_unit(x, h, 3),) * 2).shape == (UNK, 3)
        assert L.rnn(s, 3, lambda x, h: (L.gru_unit(x, h, 3),) * 2, reverse=True).shape == (UNK, 3)
        refused(ValueError, "layers is 0", L.stack_layers, s, None, layers=0)

    with Fresh():
        s, boot = given(s=(S, lod), boot=V)
        sums, last = L.rnn_with_last(s, boot, lambda x, total: (layer.add(x, total),) * 2)
        near(value_of(last), V + [p.sum(0) for p in parts])
        several = L.rnn_with_last(s, [2, boot], lambda x, states: (states[1], [layer.add(x, states[0]), layer.scale(states[1], 2)]))
        near(value_of(several.last[1]), V * [[8], [1], [8]])
        near(value_of(L.map_fn(s, lambda x: layer.scale(x, 3)))[0], 3 * S)
        whole = L.rnn(s, 2, lambda x, h: (layer.sequence_pool(L.static_input(s)), h))
        near(value_of(whole)[0], np.vstack([[S[:3].sum(0)] * 3, [S[3:].sum(0)] * 3]))
        refused(TypeError, "rnn: what the step returns is", layer.rnn, s, 2, lambda x, h: x)
        refused(ValueError, "number of states after a step is 2, expected 1", layer.rnn, s, 2, lambda x, h: (x, [h, h]))
        refused(ZeroDivisionError, "division by zero", layer.rnn, s, 2, lambda x, h: 1 / 0)
        kept = []
        refused(RuntimeError, "stop", layer.rnn, s, 2, lambda x, h: kept.append(layer.add(x, h)) or exec('raise RuntimeError("stop")'))
        assert kept[0].shape == (UNK, 2) and s.readers == [op for op in s.readers if op.name != "add"]

    # ---- loops and conditionals, with gradients
    with Fresh():
        x, flag = given(x=X, flag=np.array([True]))
        w = L.parameter([4, 4], name="w", dtype=x.dtype)
        i, y = L.while_loop([L.full([1], 0, "int64"), x], lambda i, y: L.less(i, 3), lambda i, y: [L.scale(i, 1, 1), L.matmul(y, w)])
        W = parameters_of(y)["w"] / 4
        w.value = W
        near(value_of(y), X @ W @ W @ W, 1e-4)
        assert value_of(i).tolist() == [3]
        near(value_of(L.while_loop(x, lambda y: L.less(L.reduce_max(L.reshape(y, [12]), keep_dims=True), 10), lambda y: y * 2)), X * 2 ** math.ceil(math.log2(10 / X.max())))
        (_, g), = rowan.append_backward(L.mean(y))
        D = np.full((3, 4), 1 / 12)
        near(value_of(g), X.T @ (D @ W.T @ W.T) + (X @ W).T @ (D @ W.T) + (X @ W @ W).T @ D, 1e-4)
        taken, other = L.cond(flag, lambda: (x * 2, x), lambda: (x * 3, x))
        near(value_of(taken), 2 * X)
        flag.value = [False]
        near(value_of(L.cond(flag, lambda: x * 2, lambda: L.tanh(x))), np.tanh(X))
        refused(TypeError, "the condition is", layer.cond, x, lambda: x, lambda: x)
        refused(ValueError, "the number of results if false is 2, expected 1", layer.cond, flag, lambda: x, lambda: (x, x))
        mask = given(mask=np.array([True, False, True]))
        near(value_of(L.if_else(mask, x, lambda a: a * 2, lambda b: L.tanh(b))), np.where([[True], [False], [True]], 2 * X, np.tanh(X)))
        parts3 = L.divide_rows(mask, x)
        assert (value_of(parts3.marked) == X[[0, 2]]).all() and (value_of(parts3.others) == X[[1]]).all()
        array = L.create_array([4], x.dtype)
        _, rows = L.while_loop([L.full([1], 0, "int64"), array], lambda i, a: L.less(i, 3),
                               lambda i, a: [L.scale(i, 1, 1), L.array_write(a, i, L.array_read(L.array_unstack(x), i))])
        assert (value_of(L.array_stack(rows)) == X).all() and value_of(L.array_size(rows)).tolist() == [3]
        refused(ValueError, "number of states after an iteration is 0, expected 1", layer.while_loop, x, lambda y: flag, lambda y: [])
        refused(TypeError, "the condition is another result", layer.while_loop, x, lambda y: y, lambda y: y)

functions = {name for name, value in vars(layer).items() if inspect.isfunction(value) and value.__module__.startswith("rowan.layer.")}
functions |= {"array_read", "array_size", "array_stack", "array_unstack", "array_write", "create_array", "static_input"}
assert not functions - called, functions - called
print(f"layers: all {len(functions)}, in float32 and float64")
