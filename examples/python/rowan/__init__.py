# rowan: nets in Python over the C++ library. rowan.cpp is the binding, rowan.layer has layers that are made of it.
import rowan_cpp as cpp
from rowan_cpp import (UNK, Auc, Net, Parameters, PrecisionRecall, Predictor, SelectedRows, StepMap, TensorArray,
                       Trainer, __version__, append_backward, infer, load_model, load_parameters, run, save_model,
                       save_parameters, train)

from . import framework, layer, sparse
from .operators import Attribute, Operator, operators
from .prefetch import prefetch
