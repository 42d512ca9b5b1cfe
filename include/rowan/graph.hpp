// rowan/graph.hpp: variables, scopes and nets of operators.
#pragma once

#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/limits.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/static_input.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/graph/while_loop.hpp>
