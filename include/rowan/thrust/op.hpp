// rowan/thrust/op.hpp: the operators of rowan/op on Thrust devices. On Cuda products of matrices need rowan/thrust/cublas.hpp too.
#pragma once

#include <rowan/op.hpp>
#include <rowan/thrust/accuracy.hpp>
#include <rowan/thrust/add.hpp>
#include <rowan/thrust/cast.hpp>
#include <rowan/thrust/compare.hpp>
#include <rowan/thrust/elementwise.hpp>
#include <rowan/thrust/gather.hpp>
#include <rowan/thrust/lookup_bag.hpp>
#include <rowan/thrust/lookup_table_grad.hpp>
#include <rowan/thrust/matmul.hpp>
#include <rowan/thrust/matrix_rows.hpp>
#include <rowan/thrust/merge.hpp>
#include <rowan/thrust/pieces.hpp>
#include <rowan/thrust/reduction.hpp>
#include <rowan/thrust/rowwise_adagrad.hpp>
#include <rowan/thrust/scale.hpp>
#include <rowan/thrust/scatter_add.hpp>
#include <rowan/thrust/sequence_expand.hpp>
#include <rowan/thrust/sequence_pool.hpp>
#include <rowan/thrust/sgd.hpp>
#include <rowan/thrust/squared_norm.hpp>
#include <rowan/thrust/sum.hpp>
#include <rowan/thrust/sum_rows.hpp>
#include <rowan/thrust/update_rows.hpp>
