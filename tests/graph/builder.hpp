// tests/graph/builder.hpp: nets of doubles, built by hand.
#pragma once

#include "finite_differences.hpp"

#include <rowan/graph/scope.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/loss/mse.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace test {

using namespace rowan;

struct Builder {
    Scope scope;

    Variable& parameter(char const* name, Tensor<double>::shape_type const& shape, std::uint64_t seed) {
        Dims dims;
        for (std::size_t const d : shape) dims.push_back(static_cast<std::int64_t>(d));
        Variable& v = scope.new_var(name, tensor_spec<double>(dims), Role::parameter);
        v.value() = value(LoDTensor<double>(values(shape, seed)));
        return v;
    }
    template <class T = double>
    Variable& data(char const* name, Dims const& dims, std::size_t levels = 0) {
        return scope.new_var(name, tensor_spec<T>(dims, levels), Role::data);
    }
    template <class Op, class... T>
    Variable& op(std::vector<Variable*> inputs, attributes_of<Op> attributes = {}) {
        return *scope.new_op<Op, Cpu, T...>(std::move(inputs), std::move(attributes)).outputs[0];
    }
    Variable& fc(Variable& x, Variable& w, Variable& b) { return op<fc_op, double, double, double>({&x, &w, &b}); }
    Variable& mse(Variable& x, Variable& y) { return op<mse_op, double, double>({&x, &y}); }
    void feed(char const* name, LoDTensor<double> v) { test::feed(scope, name, std::move(v)); }
};

inline LoDTensor<double>& tensor(Variable& v) { return v.value().get<LoDTensor<double>>(); }

}  // namespace test
