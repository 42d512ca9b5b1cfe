// rowan/op.hpp: all operators, which are tag types with kernels and gradients.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/full.hpp>
#include <rowan/op/functions.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/loss/class_sampler.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/loss/hierarchical_softmax.hpp>
#include <rowan/op/loss/huffman_tree.hpp>
#include <rowan/op/loss/nce.hpp>
#include <rowan/op/loss/negative_sampling.hpp>
#include <rowan/op/loss/sample_classes.hpp>
#include <rowan/op/loss/sampled_softmax.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/slots.hpp>
#include <rowan/op/table/join_bags.hpp>
#include <rowan/op/table/update_bags.hpp>
#include <rowan/op/var_spec.hpp>
