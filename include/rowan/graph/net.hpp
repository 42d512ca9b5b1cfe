// rowan/graph/net.hpp: Net, operators in topological order.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The operator and its inputs: "fc(x, fc_0.w_0, fc_0.b_0)".
std::string describe(Operator const& op);

/// Rethrows the current exception. The text of an IndexError, ShapeError, TypeError, ValueError or LodError also names
/// the operator.
[[noreturn]] void throw_named(Operator const& op);

/// Runs f; its exceptions are rethrown by throw_named.
template <class F>
void run_named(Operator const& op, F const& f) {
    try {
        f();
    } catch (...) {
        throw_named(op);
    }
}

/// Runs the operator on values.
inline void run_on(AnyExec exec, Operator const& op, std::span<Value* const> in, std::span<Value* const> out) {
    op.kernel->run({.exec = exec, .in = in, .out = out, .attributes = op.attributes, .levels_from = op.levels_from});
}

/// The device-independent part of Net.
class NetOrder {
public:
    NetOrder() = default;
    explicit NetOrder(std::span<Variable* const> outputs);
    void append(Operator& op);
    std::span<Operator* const> operators() const noexcept { return order_; }
    std::span<Variable* const> inputs() const noexcept { return inputs_; }
    void run(Scope& scope, AnyExec exec) const;
    std::string dot() const;

private:
    static Value& value(Scope& scope, Variable& v);

    // Checks the operators from i on that change inputs, so that all of them run or none.
    void check_updates(Scope& scope, AnyExec exec, std::size_t i) const;

    // Whether operator i is the last reader of v and reads it only once.
    bool may_take(std::size_t i, Variable& v) const;

    void find_uses();

    std::vector<Operator*> order_;
    std::vector<Variable*> inputs_, outputs_;
    std::shared_ptr<MemoryPool> pool_ = std::make_shared<MemoryPool>();
    std::vector<std::vector<Variable*>> last_uses_;  // variables to clear after each operator
};

}  // namespace detail

/// The operators that some variables depend on, each once, in topological order.
template <class Device = Cpu>
class Net {
public:
    /// Traces back from the outputs through the operators that write them, and names unnamed variables.
    /// errors   GraphError if there is a cycle
    /// cost     O(operators, and their inputs and outputs)
    static Net trace_and_build(std::span<Variable* const> outputs) {
        Net net;
        net.order_ = detail::NetOrder(outputs);
        return net;
    }
    static Net trace_and_build(Variable& output) { return trace_and_build(std::array{&output}); }

    /// Appends an operator, such as one of an optimizer.
    /// errors   std::bad_alloc
    /// cost     one pass over the net
    void append(Operator& op) { order_.append(op); }

    /// The operators, in the order in which they run.
    std::span<Operator* const> operators() const noexcept { return order_.operators(); }

    /// The variables that must have a value before the net runs, in the order in which they are first read.
    std::span<Variable* const> inputs() const noexcept { return order_.inputs(); }

    /// Runs the operators on the values of their variables. If `scope.find` finds another variable of the same name,
    /// its value is used instead. Temporaries are cleared after their last use, except the outputs.
    /// errors   GraphError if an input has no value; those of the kernels, with the operator and its inputs named.
    ///          After an error the inputs have their previous values: everything that one of rowan's optimizers may
    ///          reject is checked before the first one runs. Only if there is no memory for a later one, or if an
    ///          optimizer is user-defined, are those updated before it changed
    /// cost     memory is allocated from, and returned to, the thread's MemoryPool, or the net's own if there is none
    void run(Scope& scope, Device exec = {}) const { order_.run(scope, exec); }

    /// The net in Graphviz's DOT language, with kinds, element types and dims.
    /// errors   std::bad_alloc
    /// cost     O(length of the text)
    std::string dot() const { return order_.dot(); }

private:
    detail::NetOrder order_;
};

}  // namespace rowan::inline v0

#include <rowan/graph/net_inl.hpp>
