# rowan/layer/__init__.py: layers, made of variables and operators of the default scope.
from rowan_cpp import (AdaGrad, Adadelta, Adam, AdamW, Adamax, Ftrl, Lamb, Momentum, RmsProp, RowwiseAdaGrad, Sgd,
                       ClipByGlobalNorm, ClipByNorm, ClipByValue, ConstantRate, CosineDecay, ExponentialDecay,
                       StepDecay, Warmup, Constant, Initializer, KaimingNormal, KaimingUniform, Normal, Uniform,
                       XavierNormal, XavierUniform, EarlyStop, MovingAverage, Pooling, Reduction, UNK, array_read,
                       array_size, array_stack, array_unstack, array_write, create_array, static_input)

from .data import (data, parameter, selected_rows, results, apply, full, full_like, cast, dropout)
from .elementwise import (add, sub, mul, div, maximum, minimum, sum, scale, clip, clip_by_norm, negate, less, less_equal, greater, greater_equal, equal,
    logical_and, logical_or, logical_not, isfinite, isnan, isinf, where, any)
from .activations import (tanh, sigmoid, relu, softmax, log_softmax, exp, log, sqrt, rsqrt, square, abs, pow, sin,
    cos, sign, floor, ceil, round, relu6, hardtanh, leaky_relu, elu, gelu, swish, softplus, softsign, hard_sigmoid,
    hard_swish, stanh, thresholded_relu)
from .losses import (mse, cross_entropy_of_probabilities, cross_entropy, huber, smooth_l1,
    binary_cross_entropy_with_logits, binary_cross_entropy, binary_cross_entropy_with_epsilon, hinge, kl_div, cosine_similarity, ranknet,
    margin_ranking, cosine_embedding, accuracy)
from .shapes import (concat, split, stack, shape, reshape, squeeze, unsqueeze, transpose, matmul, row_dot, reduce_sum,
    reduce_mean, reduce_max, reduce_min, reduce_prod, mean, cumsum, argmax, argmin, argsort, TopK, top_k, one_hot)
from .parametric import (fc, embedding, embedding_bag, layer_norm, batch_norm)
from .sequence import (sequence_pool, sequence_first, sequence_last, sequence_softmax, sequence_reverse,
    sequence_expand, sequence_concat, sequence_reshape, sequence_scatter, sequence_top_k_mean,
    reorder, shrink, sequence_slice, Padded, sequence_pad, sequence_unpad, sequence_mask,
    sequence_erase, edit_distance, sequence_context, sequence_enumerate, sequence_conv, sequence_attention, lod_reset,
    lod_from_offsets, drop_levels, pick_sequences, Beam, beam_search, Decoded, beam_search_decode, linear_chain_crf,
    crf_decoding)
from .recurrent import (Recurrence, LstmResult, rnn_with_last, rnn, map_fn, gru_unit, reset_first_gru_unit,
    lstm_unit, lstmp_unit, stack_layers, lstm_with_last, lstm, gru_with_last, gru)
from .control import (while_loop, cond, Divided, divide_rows, if_else)
