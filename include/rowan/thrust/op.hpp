// rowan/thrust/op.hpp: the operators of rowan/op on Thrust devices. Matrix products on Cuda need thrust/cublas.hpp too.
#pragma once

#include <rowan/op.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/accuracy.hpp>
#include <rowan/thrust/op/cast.hpp>
#include <rowan/thrust/op/compare.hpp>
#include <rowan/thrust/op/detail/axis_sums.hpp>
#include <rowan/thrust/op/detail/concat_split.hpp>
#include <rowan/thrust/op/detail/matrix_rows.hpp>
#include <rowan/thrust/op/detail/reduction.hpp>
#include <rowan/thrust/op/embedding_bag.hpp>
#include <rowan/thrust/op/matmul.hpp>
#include <rowan/thrust/op/sum.hpp>
#include <rowan/thrust/sequence/sequence_expand.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>
#include <rowan/thrust/sparse/add.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/lookup_table_grad.hpp>
#include <rowan/thrust/sparse/merge.hpp>
#include <rowan/thrust/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/sparse/scale.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/sgd.hpp>
#include <rowan/thrust/sparse/squared_norm.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>
