// rowan/op/functions.hpp: all functions of tensors, and what is declared of their operators.
#pragma once

#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/class_sampler.hpp>
#include <rowan/op/loss/functions.hpp>
#include <rowan/op/loss/huffman_tree.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/norm/functions.hpp>
#include <rowan/op/optimizer/functions.hpp>
#include <rowan/op/optimizer/moving_average.hpp>
#include <rowan/op/recurrent/functions.hpp>
#include <rowan/op/reduce/functions.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/op/shape/aliases.hpp>
#include <rowan/op/shape/functions.hpp>
#include <rowan/op/slots.hpp>
#include <rowan/op/table/functions.hpp>
#include <rowan/op/table/join_bags.hpp>
#include <rowan/op/table/weighted_functions.hpp>
#include <rowan/op/var_spec.hpp>
