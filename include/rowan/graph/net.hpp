// rowan/graph/net.hpp: Net, operators in an order in which they run.
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

/// "fc(x, fc_0.w_0, fc_0.b_0)"
std::string describe(Operator const& op);

/// Throws the error that is being handled once more, with the operator in its text if it is one of rowan's.
[[noreturn]] void throw_named(Operator const& op);

/// Runs f; its error names the operator, too.
template <class F>
void run_named(Operator const& op, F const& f) {
    try {
        f();
    } catch (...) {
        throw_named(op);
    }
}

/// What a Net is on any device.
class NetOrder {
public:
    NetOrder() = default;
    explicit NetOrder(std::span<Variable* const> outputs);
    void append(Operator& op);
    std::span<Operator* const> operators() const noexcept { return order_; }
    std::span<Variable* const> inputs() const noexcept { return inputs_; }
    void run(Scope& scope, void const* device) const;
    std::string dot() const;

private:
    static Value& value(Scope& scope, Variable& v);

    // Is this the last time that operator i or another one reads v?
    bool may_take(std::size_t i, Variable& v) const;

    void find_uses();

    std::vector<Operator*> order_;
    std::vector<Variable*> inputs_, outputs_;
    std::shared_ptr<MemoryPool> pool_ = std::make_shared<MemoryPool>();
    std::vector<std::vector<Variable*>> last_uses_;  // what may be let go after each operator
};

}  // namespace detail

/// The operators that some variables depend on, each once and after those whose results it reads.
template <class Device = Cpu>
class Net {
public:
    /// Traces back from the outputs through the operators that write them, and names what has no name yet.
    /// errors   GraphError if there is a cycle, or a result is read that nothing writes
    /// cost     O(operators, and what they read and write)
    static Net trace_and_build(std::span<Variable* const> outputs) {
        Net net;
        net.order_ = detail::NetOrder(outputs);
        return net;
    }
    static Net trace_and_build(Variable& output) { return trace_and_build(std::array{&output}); }

    /// Adds an operator at the end, such as one of an optimizer.
    /// errors   std::bad_alloc
    /// cost     one walk over the net
    void append(Operator& op) { order_.append(op); }

    /// In the order in which they run.
    std::span<Operator* const> operators() const noexcept { return order_.operators(); }

    /// The variables that must have a value before the net runs, in the order in which they are first read.
    std::span<Variable* const> inputs() const noexcept { return order_.inputs(); }

    /// Runs the operators on the values of their variables; where `scope` has a variable of that name, on its value instead. Values that
    /// nothing reads any more are let go, those of outputs stay.
    /// errors   GraphError if an input has no value; what a kernel says, with the names of operator and variables. Values of inputs stay,
    ///          but for those that an optimizer had changed before
    /// cost     memory comes from the thread's MemoryPool, or else from one of the net's own, and goes back to it
    void run(Scope& scope, Device exec = {}) const { order_.run(scope, &exec); }

    /// The net in Graphviz's language, with kinds, element types and dims.
    /// errors   std::bad_alloc
    /// cost     O(length of the text)
    std::string dot() const { return order_.dot(); }

private:
    detail::NetOrder order_;
};

}  // namespace rowan::inline v0

#include <rowan/graph/net_inl.hpp>
