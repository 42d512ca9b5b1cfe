# rowan.layer: layers, made of variables and operators of the default scope.
from rowan_cpp import UNK, Pooling, Reduction, rnn
from rowan_cpp import AdaGrad, Adam, Ftrl, Momentum, RmsProp, RowwiseAdaGrad, Sgd
from rowan_cpp import ClipByGlobalNorm, ClipByNorm, ClipByValue
from rowan_cpp import ConstantRate, CosineDecay, ExponentialDecay, StepDecay, Warmup
import rowan_cpp as cpp


def data(name, shape=(UNK, UNK), dtype="float32", lod_level=0):
    """Data that every batch has under this name. The first batch sets UNK dims, except the first dim."""
    return cpp.variable(cpp.default_scope(), name, shape=shape, dtype=dtype, lod_level=lod_level)


def parameter(shape, init=(0.0, 0.0), name=""):
    """A variable that training changes. Its initial values are between the two numbers."""
    return cpp.variable(cpp.default_scope(), name, label="parameter", shape=shape, init=init)


def apply(operator, *read, **attributes):
    """The first result of an operator."""
    output = cpp.variable(cpp.default_scope())
    cpp.operator(operator, read=read, write=[output], **attributes)
    return output


def full(shape, value, dtype="float32"):
    """A constant: an array of this shape, float32 or int64, filled with the value."""
    return apply({"float32": "fill_f32", "int64": "fill_i64"}[dtype], dims=shape, value=value)


def fc(input, output_size=None):
    """input · W + b; output_size is by default the width of the input."""
    W = cpp.variable(cpp.default_scope(), label="parameter")
    b = cpp.variable(cpp.default_scope(), label="parameter")
    return apply("fc", input, W, b, output_size=output_size)


def mse(input1, input2):
    """The mean of the squared differences."""
    return apply("mse", input1, input2)


def tanh(x):
    return apply("tanh", x)


def sigmoid(x):
    return apply("sigmoid", x)


def relu(x):
    return apply("relu", x)


def softmax(x):
    return apply("softmax", x)


def softmax_with_cross_entropy(x, label):
    """The mean over the rows of -log(probability of the label), from scores."""
    return apply("softmax_with_cross_entropy", x, label, reduction=Reduction.mean)


def reduce_sum(x, axes=(), keep_dims=False):
    """The sums of the elements along these axes, by default along all of them."""
    return apply("reduce_sum", x, axes=axes, keep_dims=keep_dims)


def embedding(ids, height, width, padding_id=None, name=""):
    """A row of a table of that name for each id. The table's gradient is row-sparse."""
    table = parameter([height, width], init=(-0.1, 0.1), name=name)
    return apply("lookup_table", table, ids, padding_id=padding_id)


def sequence_pool(x, pool=Pooling.sum, pad_value=0.0):
    """A row for each sequence."""
    return apply("sequence_pool", x, pool=pool, pad_value=pad_value)
