// tests/cuda/nets.cu: nets, built and trained on the processor in a CUDA source.
#include "train/train.cpp"
