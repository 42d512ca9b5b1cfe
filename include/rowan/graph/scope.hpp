// rowan/graph/scope.hpp: Scope, which owns named variables and operators and may be nested.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/limits.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sparse/placement.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

class Variable;
class Scope;

namespace detail {
class ScopeRollback;
class ScopeUse;
struct ScopeNames;
struct TableRole;
}  // namespace detail

/// What a variable is for. A temporary is the result of an operator. The caller feeds data. Training changes parameters
/// and the states of optimizers, and sets the seeds of random operators for every batch. A step_input is the input of a
/// step whose recurrent layer is created later. Places are the rows of keys, which are found before a net runs.
enum class Role : std::uint8_t { temporary, data, parameter, state, seed, step_input, places };

/// An operator with its input and output variables. It belongs to a scope.
struct Operator {
    op_kernel const* kernel = nullptr;  ///< the kernel to run
    Attributes attributes;              ///< of the type that the kernel takes
    /// Variables in the order of the slots.
    std::vector<Variable*> inputs = {}, outputs = {};
    std::ptrdiff_t levels_from = -1;  ///< the input whose levels the results get, or -1
    bool same_rows = false;           ///< whether its two inputs must have as many rows: it would broadcast others
    /// Of an operator with a net of its own: adds the operators of the gradient to that net, unless they are there.
    std::function<void()> build_backward = nullptr;
    /// Of an operator with a net of its own: the names of its last inputs in that net, such as "fc_0.w_0".
    std::vector<std::string> inner_names = {};
    bool leaves = false;  ///< whether its scope removes it from the lists of readers and writers
};

/// Creates the first value of a variable. The function takes a seed, or std::nullopt to only allocate a value that is
/// written later, and the execution that creates the value; none means Device{}.
class Initializer {
public:
    /// Writes the first value.
    using Function = std::function<void(Value&, std::optional<std::uint64_t> seed, AnyExec exec)>;

    Initializer() = default;  ///< empty: the variable has no first value
    /// Wraps a function.
    template <class F>
    requires(!std::same_as<F, Initializer> && std::constructible_from<Function, F>) Initializer(F make)
        : make_(std::move(make)) {}

    explicit operator bool() const noexcept { return make_ != nullptr; }  ///< whether it holds a function
    /// Calls the function.
    void operator()(Value& value, std::optional<std::uint64_t> seed, AnyExec exec = {}) const {
        make_(value, seed, exec);
    }

private:
    Function make_;
};

/// A name, a spec, a value, and the operators that read and write the value.
class Variable {
public:
    /// Used by Scope::new_var.
    ROWAN_IF_CALLED Variable(Scope& scope, VarSpec const& spec, Role role);
    Variable(Variable const&) = delete;
    Variable& operator=(Variable const&) = delete;

    /// Empty until the variable is named or becomes part of a net.
    std::string const& name() const noexcept { return name_; }
    /// Whether the program named it; false if its name was derived from its position in a net.
    bool has_own_name() const noexcept { return own_name_; }
    VarSpec const& spec() const noexcept { return spec_; }  ///< kind, element type, dims and levels
    Role role() const noexcept { return role_; }            ///< what it is used for
    Scope& scope() const noexcept { return *scope_; }       ///< the scope that owns it

    Value& value() noexcept { return value_; }  ///< empty before a net has run
    Value const& value() const noexcept { return value_; }

    /// Creates the first value of a parameter or state. Training calls it with a separate seed for each variable;
    /// without a seed it allocates a value that is read from a file.
    Initializer initialize;

    /// Of a table that is sharded: creates the first values of some rows, those of this process. `initialize` creates
    /// all.
    std::function<void(Value&, std::span<std::int64_t const> rows, std::optional<std::uint64_t> seed, AnyExec exec)>
        initialize_rows;
    /// Whether it is a table of which each of the ranks that train together has some rows.
    bool sharded() const noexcept { return initialize_rows != nullptr; }
    Placement placement;  ///< of its rows, if it is sharded
    int piece = 0;        ///< its number among the pieces of a table whose columns are cut

    /// For variables that are fed or trained: transfers a value to the net's device, see detail::bring.
    void (*bring)(Value&, AnyExec exec, bool own) = nullptr;

    /// Of tables by keys and in files, their states, and places in them.
    std::shared_ptr<detail::TableRole> table_role;

    /// Of a parameter whose rows may have missed steps of a deferred optimizer: makes up for these steps.
    std::function<void()> catch_up;

    /// For a parameter created before its input width was known: sets its dims once the width is known.
    std::function<void(Variable&, std::int64_t width)> set_width;
    /// Replaces the declared dims.
    void set_dims(Dims const& dims) { spec_.dims = dims; }
    /// Sets the spec of a variable that was created before its spec was known.
    void settle(VarSpec const& spec) { spec_ = spec; }

    ROWAN_IF_CALLED std::span<Operator* const> readers() const noexcept;  ///< operators that read it
    ROWAN_IF_CALLED std::span<Operator* const> writers() const noexcept;  ///< operators that write it

private:
    friend class Scope;

    std::string name_;
    bool own_name_ = false;
    VarSpec spec_;
    Role role_;
    Scope* scope_;
    Value value_;
    std::vector<Operator*> readers_, writers_;
    bool left_ = false;  // while a scope removes operators: whether these lists lack them
};

/// Owns variables, operators and inner scopes. `find` of an inner scope also searches this one. A scope is for one
/// thread at a time: Net::run and train throw GraphError if another thread uses its values. Predictor and infer may be
/// called from any number of threads.
class Scope {
public:
    ROWAN_IF_CALLED Scope();  ///< a scope without a parent
    /// A scope within `parent`, which must outlive it.
    ROWAN_IF_CALLED explicit Scope(Scope& parent);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;

    /// Creates a variable. With an empty name, it is named when it first becomes part of a net.
    /// errors   GraphError if this scope itself already has that name
    /// cost     O(log variables), two allocations
    ROWAN_IF_CALLED Variable& new_var(std::string const& name, VarSpec const& spec, Role role = Role::temporary);

    /// The variable of that name in this scope or the nearest parent that has one, or nullptr.
    ROWAN_IF_CALLED Variable* find(std::string_view name) const noexcept;

    /// The variable of that name in this scope or the nearest parent that has one.
    /// errors   GraphError if there is none
    /// cost     O(log variables) for each scope searched
    ROWAN_IF_CALLED Variable& get(std::string_view name) const;

    /// Creates an inner scope, which lives until drop_scopes is called or this scope is destroyed.
    /// errors   std::bad_alloc
    /// cost     two allocations
    ROWAN_IF_CALLED Scope& new_scope();
    /// Destroys all inner scopes and their contents.
    ROWAN_IF_CALLED void drop_scopes() noexcept;
    /// Removes its operators from the reader lists of other scopes' variables. Call it before destroying this scope if
    /// those variables outlive it.
    /// cost     one pass over the operators and over the readers of their inputs
    ROWAN_IF_CALLED void forget_readers() noexcept;
    Limits limits;  ///< of the runs of nets whose first output belongs to this scope

    Scope* parent() const noexcept { return parent_; }    ///< the enclosing scope, or nullptr
    ROWAN_IF_CALLED std::size_t scopes() const noexcept;  ///< the number of inner scopes
    /// The variables of this scope, in order of creation.
    ROWAN_IF_CALLED std::span<std::unique_ptr<Variable> const> variables() const noexcept;
    /// The operators of this scope, in order of creation.
    ROWAN_IF_CALLED std::span<std::unique_ptr<Operator> const> operators() const noexcept;

    /// Adds an operator that reads `inputs`, with element types T..., and creates its output variables.
    ///     Operator& op = scope.new_op<fc_op, Cpu, float, float, float>({&x, &w, &b});
    /// errors   those of Op::infer if the inputs do not fit; built-in operators name themselves in the text. If element
    ///          types are not T..., a TypeError is thrown only when a net runs the operator
    /// cost     O(inputs and results), that of infer, and some allocations
    template <class Op, class Device, class... T>
    Operator& new_op(std::vector<Variable*> inputs, attributes_of<Op> attributes = {}) {
        return new_op(kernel_of<Op, Device, T...>::value, std::move(inputs), detail::owned(std::move(attributes)));
    }
    ROWAN_IF_CALLED Operator& new_op(op_kernel const& kernel, std::vector<Variable*> inputs,
                                     Attributes attributes = {});

    /// Makes `v` result i of `op`; `v` takes the spec of that result and must have no writer yet.
    /// errors   GraphError if an operator already writes `v`
    /// cost     O(1)
    ROWAN_IF_CALLED void write_to(Operator& op, std::size_t i, Variable& v);

    /// Names a variable of this scope; `own` is what Variable::has_own_name returns afterwards.
    /// errors   GraphError if this scope itself already has that name
    /// cost     O(log variables)
    ROWAN_IF_CALLED void set_name(Variable& v, std::string name, bool own = true);

private:
    friend class detail::ScopeRollback;
    friend class detail::ScopeUse;
    friend struct detail::ScopeNames;

    // Removes operators from `first` on from the lists of readers and writers, or only from those of other scopes.
    ROWAN_IF_CALLED void unlink(std::size_t first, bool own) noexcept;

    // Removes all variables and operators but the first ones.
    ROWAN_IF_CALLED void truncate(std::size_t variables, std::size_t operators) noexcept;

    struct Parts;

    Scope* parent_ = nullptr;
    std::shared_ptr<Parts> parts_;  // of this scope alone
};

namespace detail {

/// Calls forget_readers() of an inner scope on destruction, unless `scope` was set to nullptr because its layer is
/// complete.
struct WithdrawnScope {
    Scope* scope;
    ~WithdrawnScope() {
        if (scope != nullptr) scope->forget_readers();
    }
};

/// Until its destruction, the thread that creates it uses the values of some scopes, alone.
class ScopeUse {
public:
    ROWAN_IF_CALLED ScopeUse();
    /// Enters a scope and all scopes that enclose it.
    ROWAN_IF_CALLED explicit ScopeUse(Scope& scope);
    ScopeUse(ScopeUse const&) = delete;
    ScopeUse& operator=(ScopeUse const&) = delete;
    ~ScopeUse();

    /// errors   GraphError if another thread uses the scope
    ROWAN_IF_CALLED void enter(Scope& scope);

private:
    Buffer<Scope*> entered_;
};

/// Removes on destruction what has been added to a scope since, unless `keep` was called.
class ScopeRollback {
public:
    ROWAN_IF_CALLED explicit ScopeRollback(Scope& scope);
    ScopeRollback(ScopeRollback const&) = delete;
    ScopeRollback& operator=(ScopeRollback const&) = delete;
    ~ScopeRollback() {
        if (scope_ != nullptr) scope_->truncate(variables_, operators_);
    }
    void keep() noexcept { scope_ = nullptr; }

private:
    Scope* scope_;
    std::size_t variables_, operators_;
};

/// The first result of an operator that is added to the default scope.
ROWAN_IF_CALLED Variable& first_result(op_kernel const& kernel, std::initializer_list<Variable*> inputs,
                                       Attributes attributes);

ROWAN_SHARED inline Scope*& current_scope() {
    thread_local Scope* scope = nullptr;
    return scope;
}

}  // namespace detail

/// The scope that layers are added to: that of this thread's innermost ScopeGuard, else a thread-local one.
/// errors   none
/// cost     O(1)
ROWAN_IF_CALLED Scope& default_scope();

/// Makes `scope` this thread's default_scope() for its lifetime, then restores the previous one.
class ScopeGuard {
public:
    /// `scope` must outlive the guard.
    explicit ScopeGuard(Scope& scope) : before_(std::exchange(detail::current_scope(), &scope)) {}
    ScopeGuard(ScopeGuard const&) = delete;
    ScopeGuard& operator=(ScopeGuard const&) = delete;
    ~ScopeGuard() { detail::current_scope() = before_; }

private:
    Scope* before_;
};

}  // namespace rowan::inline v0

#include <rowan/graph/scope_inl.hpp>
