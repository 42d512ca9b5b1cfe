// rowan/thrust/op.hpp: the operators of rowan/op on Thrust devices. On Cuda products of matrices need rowan/thrust/cublas.hpp too.
#pragma once

#include <rowan/op.hpp>
#include <rowan/thrust/elementwise.hpp>
#include <rowan/thrust/matmul.hpp>
#include <rowan/thrust/sum_rows.hpp>
