// rowan/sparse.hpp: row-sparse tensors and the algorithms on them.
#pragma once

#include <rowan/core/memory_pool.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/from_dense.hpp>
#include <rowan/sparse/ftrl.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lane_rule.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/print.hpp>
#include <rowan/sparse/retain.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/sgd.hpp>
#include <rowan/sparse/split.hpp>
#include <rowan/sparse/squared_norm.hpp>
#include <rowan/sparse/to_dense.hpp>
#include <rowan/sparse/touched_rows.hpp>
#include <rowan/sparse/update_rows.hpp>
