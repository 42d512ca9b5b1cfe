// rowan/graph/net.hpp: Net, operators in topological order.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Appends an argument to a text such as "fc(x = words": ", w = fc_0.w_0", ", b" if the name is that of the slot, or
/// ", x = [first, second]".
ROWAN_IF_CALLED void append_argument(std::string& call, std::string_view slot, std::span<std::string const> names);

/// The operator with its inputs: "fc(x = words, w = fc_0.w_0, b = fc_0.b_0)".
ROWAN_IF_CALLED std::string describe(Operator const& op);

/// Rethrows the current exception. The text of an IndexError, ShapeError, TypeError, ValueError or LodError also names
/// the operator.
ROWAN_IF_CALLED [[noreturn]] void throw_named(Operator const& op);

/// Runs f; its exceptions are rethrown by throw_named.
template <class F>
void run_named(Operator const& op, F const& f) {
    try {
        f();
    } catch (...) {
        throw_named(op);
    }
}

/// Throws unless both inputs of an operator with same_rows have as many rows.
ROWAN_IF_CALLED void check_same_rows(Operator const& op, std::span<Value* const> in);

/// Runs the operator on values.
ROWAN_IF_CALLED void run_on(AnyExec exec, Operator const& op, std::span<Value* const> in, std::span<Value* const> out);

/// The device-independent part of Net. Its variables are numbered: first the inputs, then the results.
class NetOrder {
public:
    NetOrder() = default;
    /// Names unnamed variables. Several threads may do so at the same time.
    ROWAN_IF_CALLED explicit NetOrder(std::span<Variable* const> outputs);
    /// cost     O(inputs and results of the operator): the numbers of all others stay
    ROWAN_IF_CALLED void append(Operator& op);
    ROWAN_IF_CALLED std::span<Operator* const> operators() const noexcept;
    ROWAN_IF_CALLED std::span<Variable* const> inputs() const noexcept;
    ROWAN_IF_CALLED std::size_t variables() const noexcept;
    /// Its number, or variables() if the net does not have it.
    ROWAN_IF_CALLED std::size_t number(Variable const& v) const;

    using After = std::function<void(Operator const&)>;

    /// Runs on the values of the variables.
    ROWAN_IF_CALLED void run(Scope& scope, AnyExec exec, After const& after = {}) const;

    /// Runs on values by number; those of the results must be empty. Temporaries are cleared after their last use.
    /// Several threads may do so at the same time.
    ROWAN_IF_CALLED void run(std::span<Value* const> values, AnyExec exec, After const& after = {}) const;
    ROWAN_IF_CALLED std::string dot() const;

private:
    struct Plan;

    ROWAN_IF_CALLED Plan const& plan() const;

    std::shared_ptr<Plan> plan_;  // copies share it until one of them appends; none: that of no operators
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
    /// cost     O(its inputs and results)
    void append(Operator& op) { order_.append(op); }

    /// The operators, in the order in which they run.
    /// errors   none
    /// cost     O(1)
    std::span<Operator* const> operators() const& noexcept { return order_.operators(); }
    std::vector<Operator*> operators() && {
        auto const all = order_.operators();
        return {all.begin(), all.end()};
    }

    /// The variables that must have a value before the net runs, in the order in which they are first read.
    /// errors   none
    /// cost     O(1)
    std::span<Variable* const> inputs() const& noexcept { return order_.inputs(); }
    std::vector<Variable*> inputs() && {
        auto const all = order_.inputs();
        return {all.begin(), all.end()};
    }

    /// Runs the operators on the values of their variables. If `scope.find` finds another variable of the same name,
    /// its value is used instead. Temporaries are cleared after their last use, except the outputs. Threads may run a
    /// net at the same time if each has a scope with variables of its own for the results; otherwise use a Predictor.
    /// errors   On error no variable changes. Exceptions: an optimizer for which there is no memory, or one of the user
    ///          that throws, when others have run. GraphError if an input has no value, or another thread uses the
    ///          variables; those of the kernels, with the operator and its inputs named
    /// cost     memory is allocated from, and returned to, the thread's MemoryPool, or the net's own if there is none;
    ///          the outputs of an earlier run keep their memory until the run is complete
    void run(Scope& scope, Device exec = {}) const { order_.run(scope, exec); }

    /// Runs the operators as run(scope, exec) does, and calls after(op) when one has run, such as to take its time. On a
    /// device, what it has enqueued may still go on.
    ///     net.run(scope, exec, [&](Operator const& op) { std::cout << op.kernel->name << ' ' << lap() << '\n'; });
    /// errors   those of run without it; what `after` throws, when no variable has changed
    /// cost     that of run, and of the calls
    void run(Scope& scope, Device exec, std::function<void(Operator const&)> const& after) const {
        order_.run(scope, exec, after);
    }

    /// The net in Graphviz's DOT language, with kinds, element types and dims.
    /// errors   std::bad_alloc
    /// cost     O(length of the text)
    std::string dot() const { return order_.dot(); }

private:
    detail::NetOrder order_;
};

}  // namespace rowan::inline v0

#include <rowan/graph/net_inl.hpp>
