// rowan/graph/scope.hpp: Scope, variables and operators by name, within another scope.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/var_spec.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
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

/// What a variable is for: what operators write, what a caller feeds, what training changes, what an optimizer keeps beside that, and the
/// seed that training gives an operator of chance for every batch; and the input of a step of which the recurrent layer is made later.
enum class Role : std::uint8_t { temporary, data, parameter, state, seed, step_input };

/// An operator between variables. It belongs to a scope.
struct Operator {
    op_kernel const* kernel = nullptr;           ///< what it runs
    std::shared_ptr<void const> attributes;  ///< of the type that its kernel takes
    /// Variables in the order of the slots.
    std::vector<Variable*> inputs, outputs;
    std::ptrdiff_t levels_from = -1;  ///< the input whose levels of sequences the results get, or -1
};

/// How a variable gets its first value: a function of a seed, or of none for a value that is written later, and of the execution that
/// is to make it, a Device; none is Device{}.
class Initializer {
public:
    /// Writes a first value.
    using Function = std::function<void(Value&, std::optional<std::uint64_t> seed, void const* device)>;

    Initializer() = default;  ///< none: the variable has no first value
    /// That function.
    template <class F>
    requires(!std::same_as<F, Initializer> && std::constructible_from<Function, F>) Initializer(F make)
        : make_(std::move(make)) {}

    explicit operator bool() const noexcept { return make_ != nullptr; }  ///< is there one?
    /// Calls it.
    void operator()(Value& value, std::optional<std::uint64_t> seed, void const* device = nullptr) const {
        make_(value, seed, device);
    }

private:
    Function make_;
};

/// A name, what is known beforehand of the value, the value, and the operators that read and write it.
class Variable {
public:
    /// Scope::new_var makes them.
    Variable(Scope& scope, VarSpec const& spec, Role role);
    Variable(Variable const&) = delete;
    Variable& operator=(Variable const&) = delete;
    ~Variable();

    /// Empty until the variable was named or is part of a net.
    std::string const& name() const noexcept { return name_; }
    /// Was it named by the program, and not because of its place in a net?
    bool has_own_name() const noexcept { return own_name_; }
    VarSpec const& spec() const noexcept { return spec_; }  ///< kind, element type, dims and levels
    Role role() const noexcept { return role_; }            ///< what it is for
    Scope& scope() const noexcept { return *scope_; }       ///< that it belongs to

    Value& value() noexcept { return value_; }  ///< empty before a net has run
    Value const& value() const noexcept { return value_; }

    /// How a parameter or state gets its first value; training calls it with a seed of the variable's own. Without one it makes room for a
    /// value that is read from a file.
    Initializer initialize;

    /// Of what is fed or trained: brings a value to the net's device, see detail::bring.
    void (*bring)(Value&, void const* device, bool own) = nullptr;

    /// Of a parameter that was made before the width of what it meets was known: settles its dims when it is.
    std::function<void(Variable&, std::int64_t width)> set_width;
    /// Other dims than those that it was declared with.
    void set_dims(Dims const& dims) { spec_.dims = dims; }
    /// Of what was made before its spec was known.
    void settle(VarSpec const& spec) { spec_ = spec; }

    std::span<Operator* const> readers() const noexcept;  ///< operators that read it
    std::span<Operator* const> writers() const noexcept;  ///< operators that write it

private:
    friend class Scope;

    std::string name_;
    bool own_name_ = false;
    VarSpec spec_;
    Role role_;
    Scope* scope_;
    Value value_;
    std::vector<Operator*> readers_, writers_;
};

/// Owns variables, operators between them, and inner scopes, whose `find` also looks here. Not for several threads at once.
class Scope {
public:
    Scope();  ///< with no scope around it
    /// A scope within another, which must live longer.
    explicit Scope(Scope& parent);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope();

    /// A variable of this name; none makes one that is named when a net first has it.
    /// errors   GraphError if the scope itself has that name already
    /// cost     O(log variables), two allocations
    Variable& new_var(std::string const& name, VarSpec const& spec, Role role = Role::temporary);

    /// The variable of that name here or in the scopes around this one, or nullptr.
    Variable* find(std::string_view name) const noexcept;

    /// The variable of that name here or in the scopes around this one.
    /// errors   GraphError if there is none
    /// cost     O(log variables) for each of these scopes
    Variable& get(std::string_view name) const;

    /// An inner scope, which lives as long as this one or until drop_scopes.
    /// errors   std::bad_alloc
    /// cost     one allocation
    Scope& new_scope();
    /// All inner scopes go, and what is in them.
    void drop_scopes() noexcept;
    /// Takes its operators from the readers of other scopes' variables, for a scope that goes before these.
    /// cost     for each operator, the number of readers of what it reads
    void forget_readers() noexcept;
    Scope* parent() const noexcept { return parent_; }              ///< the scope around this one, or nullptr
    std::size_t scopes() const noexcept { return scopes_.size(); }  ///< how many inner scopes there are
    /// In the order in which they were made.
    std::span<std::unique_ptr<Variable> const> variables() const noexcept;
    /// In the order in which they were made.
    std::span<std::unique_ptr<Operator> const> operators() const noexcept;

    /// Adds an operator that reads `inputs`, whose elements are of T..., and makes the variables that it writes.
    ///     Operator& op = scope.new_op<fc_op, Cpu, float, float, float>({&x, &w, &b});
    /// errors   what infer says of inputs that do not fit, with the operator's name; TypeError if elements are others
    /// cost     O(inputs and results), that of infer, and some allocations
    template <class Op, class Device, class... T>
    Operator& new_op(std::vector<Variable*> inputs, attributes_of<Op> attributes = {}) {
        return new_op(kernel_of<Op, Device, T...>::value, std::move(inputs),
                      std::make_shared<attributes_of<Op> const>(std::move(attributes)));
    }
    Operator& new_op(op_kernel const& kernel, std::vector<Variable*> inputs, std::shared_ptr<void const> attributes);

    /// Makes `v`, which nothing writes yet, result i of an operator.
    /// errors   GraphError if something writes it
    /// cost     O(1)
    void write_to(Operator& op, std::size_t i, Variable& v);

    /// Gives a variable of this scope a name.
    /// errors   GraphError if the scope itself has that name already
    /// cost     O(log variables)
    void set_name(Variable& v, std::string name, bool own = true);

private:
    Scope* parent_ = nullptr;
    std::vector<std::unique_ptr<Variable>> variables_;
    std::vector<std::unique_ptr<Operator>> operators_;
    std::vector<std::unique_ptr<Scope>> scopes_;
    std::map<std::string, Variable*, std::less<>> by_name_;
};

namespace detail {

/// Withdraws the operators of an inner scope from the variables outside of it, unless its layer is made in the end.
struct WithdrawnScope {
    Scope* scope;
    ~WithdrawnScope() {
        if (scope != nullptr) scope->forget_readers();
    }
};

inline Scope*& current_scope() {
    thread_local Scope* scope = nullptr;
    return scope;
}

}  // namespace detail

/// The scope that layers are added to: that of the innermost ScopeGuard of this thread, else one that the thread has.
/// errors   none
/// cost     O(1)
Scope& default_scope();

/// While it lives, another scope is this thread's default_scope().
class ScopeGuard {
public:
    /// `scope` must live longer.
    explicit ScopeGuard(Scope& scope) : before_(std::exchange(detail::current_scope(), &scope)) {}
    ScopeGuard(ScopeGuard const&) = delete;
    ScopeGuard& operator=(ScopeGuard const&) = delete;
    ~ScopeGuard() { detail::current_scope() = before_; }

private:
    Scope* before_;
};

}  // namespace rowan::inline v0

#include <rowan/graph/scope_inl.hpp>
