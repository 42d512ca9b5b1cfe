// rowan/thrust.hpp: everything of rowan/thrust/ that does not name CUDA. Not in rowan.hpp: it needs Thrust.
#pragma once

#include <rowan/thrust/add.hpp>
#include <rowan/thrust/copy.hpp>
#include <rowan/thrust/device.hpp>
#include <rowan/thrust/from_dense.hpp>
#include <rowan/thrust/gather.hpp>
#include <rowan/thrust/ids.hpp>
#include <rowan/thrust/lookup_table_grad.hpp>
#include <rowan/thrust/merge.hpp>
#include <rowan/thrust/retain.hpp>
#include <rowan/thrust/row_plan.hpp>
#include <rowan/thrust/rowwise_adagrad.hpp>
#include <rowan/thrust/scale.hpp>
#include <rowan/thrust/scatter_add.hpp>
#include <rowan/thrust/selected_rows.hpp>
#include <rowan/thrust/sgd.hpp>
#include <rowan/thrust/split.hpp>
#include <rowan/thrust/squared_norm.hpp>
#include <rowan/thrust/synchronize.hpp>
#include <rowan/thrust/tensor.hpp>
#include <rowan/thrust/to_dense.hpp>
#include <rowan/thrust/update_rows.hpp>
