# rowan/layer/__init__.py: layers, made of variables and operators of the default scope.
import difflib
import typing
import warnings

from rowan_cpp import (AdaGrad, Adadelta, Adam, AdamW, Adamax, Ftrl, Lamb, Momentum, RmsProp, RowwiseAdaGrad, Sgd,
                       ClipByGlobalNorm, ClipByNorm, ClipByValue, ConstantRate, CosineDecay, ExponentialDecay,
                       StepDecay, Warmup, Constant, Initializer, KaimingNormal, KaimingUniform, Normal, Uniform,
                       XavierNormal, XavierUniform, EarlyStop, MovingAverage, TrainCheckpoint, Pooling, Reduction, UNK,
                       array_read, array_size, array_stack, array_unstack, array_write, create_array, current_name,
                       static_input)

from ..made import *
from .data import data, parameter, selected_rows, results, apply, full, cast, dropout
from .elementwise import (less, less_equal, greater, greater_equal, equal, logical_and, logical_or, where)
from .losses import ranknet, margin_ranking, cosine_embedding
from .shapes import split, mean, TopK, top_k, one_hot
from .parametric import fc, embedding, embedding_bag, layer_norm, batch_norm
from .sequence import (sequence_first, sequence_last, Padded, sequence_pad, sequence_context, sequence_enumerate,
                       sequence_conv, Beam, beam_search, Decoded, beam_search_decode, crf_decoding)
from .recurrent import (Recurrence, LstmResult, rnn_with_last, rnn, map_fn, gru_unit, reset_first_gru_unit,
                        lstm_unit, lstmp_unit, stack_layers, lstm_with_last, lstm, gru_with_last, gru)
from .control import while_loop, cond, Divided, divide_rows, if_else

if not typing.TYPE_CHECKING:
    def __getattr__(name):
        """What has another name since; the operators have a table of theirs in C++."""
        now = {"FirstValues": "Initializer", "rank_loss": "ranknet"}.get(name) or current_name(name)
        if now not in globals():
            near = difflib.get_close_matches(name, [n for n, v in globals().items() if not isinstance(v, type(typing))], 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise AttributeError(f"module 'rowan.layer' has no attribute {name!r}{meant}")
        warnings.warn(f"rowan.layer.{name} is now rowan.layer.{now}", DeprecationWarning, stacklevel=2)
        return globals()[now]
