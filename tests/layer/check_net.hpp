// tests/layer/check_net.hpp: nets of layers, run on given values.
#pragma once

#include "catch.hpp"
#include "finite_differences.hpp"
#include "inputs.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

using namespace rowan;

/// A parameter of doubles with a value from the seed.
inline layer::Var<double> parameter(Dims const& dims, std::uint64_t seed, std::string const& name = "") {
    auto const v = layer::parameter<double>(dims, {-1, 1}, name);
    v->initialize(v->value(), seed);
    return v;
}

template <class V>
void set(Variable& v, V value) {
    v.value().set(std::move(value));
}

/// The value of a layer in a net without parameters.
template <class T>
LoDTensor<T> run(layer::Var<T> const& out, Feeds const& feeds = {}) {
    return infer(out, feeds, Parameters());
}

}  // namespace test
