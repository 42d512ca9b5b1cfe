# rowan: nets in Python over the C++ library. rowan.cpp is the binding, rowan.layer has layers that are made of it.
import rowan_cpp as cpp
from rowan_cpp import UNK, Trainer, __version__, infer, load_model, save_model, train

from . import framework, layer
from .prefetch import prefetch
