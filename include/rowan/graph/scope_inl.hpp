// rowan/graph/scope_inl.hpp: definitions of rowan/graph/scope.hpp.
#pragma once

#include <rowan/graph/scope.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/near_name.hpp>

#include <algorithm>
#include <cerrno>

namespace rowan::inline v0 {

ROWAN_FUNCTION Variable::Variable(Scope& scope, VarSpec const& spec, Role role)
    : spec_(spec), role_(role), scope_(&scope) {}

ROWAN_FUNCTION Variable::~Variable() = default;

ROWAN_FUNCTION std::span<Operator* const> Variable::readers() const noexcept { return readers_; }
ROWAN_FUNCTION std::span<Operator* const> Variable::writers() const noexcept { return writers_; }

ROWAN_FUNCTION Scope::Scope() = default;
ROWAN_FUNCTION Scope::Scope(Scope& parent) : parent_(&parent) {}
ROWAN_FUNCTION Scope::~Scope() = default;

ROWAN_FUNCTION Variable& Scope::new_var(std::string const& name, VarSpec const& spec, Role role) {
    if (!name.empty() && by_name_.contains(name))
        throw GraphError(std::string("the scope has a variable \"").append(name).append("\" already"));
    variables_.push_back(std::make_unique<Variable>(*this, spec, role));
    Variable& v = *variables_.back();
    if (!name.empty()) set_name(v, name);
    return v;
}

ROWAN_FUNCTION Variable* Scope::find(std::string_view name) const noexcept {
    for (Scope const* s = this; s != nullptr; s = s->parent_) {
        if (auto const found = s->by_name_.find(name); found != s->by_name_.end()) return found->second;
    }
    return nullptr;
}

ROWAN_FUNCTION Variable& Scope::get(std::string_view name) const {
    if (Variable* const v = find(name)) return *v;
    detail::NearName near(name);
    for (Scope const* s = this; s != nullptr; s = s->parent_) {
        for (auto const& known : s->by_name_) near.see(known.first);
    }
    throw GraphError(std::string("there is no variable \"").append(name).append("\"").append(near.text()));
}

ROWAN_FUNCTION Scope& Scope::new_scope() {
    scopes_.push_back(std::make_unique<Scope>(*this));
    return *scopes_.back();
}

ROWAN_FUNCTION void Scope::drop_scopes() noexcept { scopes_.clear(); }

ROWAN_FUNCTION void Scope::unlink(std::size_t first, bool own) noexcept {
    auto const some = std::span(operators_).subspan(first);
    auto const each = [&](auto const& f) {
        for (auto const& op : some) {
            for (auto const* list : {&op->inputs, &op->outputs}) {
                for (Variable* const v : *list) f(*v);
            }
        }
    };
    for (auto const& op : some) op->leaves = true;
    each([&](Variable& v) {
        if (std::exchange(v.left_, true) || (!own && v.scope_ == this)) return;
        for (auto* list : {&v.readers_, &v.writers_})
            std::erase_if(*list, [](Operator const* op) { return op->leaves; });
    });
    each([](Variable& v) { v.left_ = false; });
    for (auto const& op : some) op->leaves = false;
}

ROWAN_FUNCTION void Scope::forget_readers() noexcept { unlink(0, false); }

ROWAN_FUNCTION void Scope::truncate(std::size_t variables, std::size_t operators) noexcept {
    unlink(operators, true);
    while (operators_.size() > operators) operators_.pop_back();
    while (variables_.size() > variables) {
        if (auto const found = by_name_.find(variables_.back()->name());
            found != by_name_.end() && found->second == variables_.back().get())
            by_name_.erase(found);
        variables_.pop_back();
    }
}

ROWAN_FUNCTION std::span<std::unique_ptr<Variable> const> Scope::variables() const noexcept { return variables_; }
ROWAN_FUNCTION std::span<std::unique_ptr<Operator> const> Scope::operators() const noexcept { return operators_; }

namespace detail {

ROWAN_FUNCTION Attributes owned(no_attributes none) { return std::make_shared<no_attributes const>(none); }

ROWAN_FUNCTION Variable& first_result(op_kernel const& kernel, std::initializer_list<Variable*> inputs,
                                      Attributes attributes) {
    return *default_scope().new_op(kernel, inputs, std::move(attributes)).outputs[0];
}

}  // namespace detail

ROWAN_FUNCTION Operator& Scope::new_op(op_kernel const& kernel, std::vector<Variable*> inputs, Attributes attributes) {
    std::vector<VarSpec> specs;
    for (Variable const* v : inputs) specs.push_back(v->spec());
    if (kernel.normal != nullptr) attributes = kernel.normal(specs, attributes);
    auto const made = kernel.infer(specs, attributes);
    auto op = std::make_unique<Operator>(
        Operator{.kernel = &kernel, .attributes = std::move(attributes), .inputs = std::move(inputs)});
    op->same_rows =
        kernel.has_row_rules &&
        std::ranges::all_of(specs, [](VarSpec const& s) { return s.type == VarType::LOD_TENSOR && !s.dims.empty(); }) &&
        !kernel.row_traits(op->attributes).sums_rows && kernel.row_inputs(specs, op->attributes) == 0b11;
    for (VarSpec const& spec : made) op->outputs.push_back(&new_var("", spec));
    if (!made.empty() && made[0].lod_level > 0) {
        // The first input with these levels; rather one that is not repeated, as the other one is broadcast.
        auto const repeated = [&](Dims const& dims, Dims const& result) {
            return dims.size() < result.size() || (!result.empty() && dims[0] == 1 && result[0] != 1);
        };
        auto const find = [&](bool any) {
            for (std::size_t i = 0; i < specs.size() && op->levels_from < 0; ++i) {
                if (specs[i].lod_level == made[0].lod_level && (any || !repeated(specs[i].dims, made[0].dims)))
                    op->levels_from = static_cast<std::ptrdiff_t>(i);
            }
        };
        find(false);
        find(true);
    }
    operators_.push_back(std::move(op));
    Operator& added = *operators_.back();
    for (Variable* const v : added.inputs) v->readers_.push_back(&added);
    for (Variable* const v : added.outputs) v->writers_.push_back(&added);
    return added;
}

ROWAN_FUNCTION void Scope::write_to(Operator& op, std::size_t i, Variable& v) {
    if (!v.writers_.empty())
        throw GraphError(std::string(op.kernel->name).append(": its result is also written by another operator"));
    v.spec_ = op.outputs[i]->spec();
    v.writers_.push_back(&op);
    op.outputs[i] = &v;
}

ROWAN_FUNCTION void Scope::set_name(Variable& v, std::string name, bool own) {
    if (!by_name_.emplace(name, &v).second)
        throw GraphError(std::string("the scope has a variable \"").append(name).append("\" already"));
    v.name_ = std::move(name);
    v.own_name_ = own;
}

namespace detail {

ROWAN_FUNCTION void ScopeUse::enter(Scope& scope) {
    void const* const me = &errno;  // identifies the thread, in all libraries of the process
    if (std::ranges::find(entered_, &scope) != entered_.end()) return;
    entered_.reserve(entered_.size() + 1);
    void const* user = nullptr;
    if (!scope.user_.compare_exchange_strong(user, me, std::memory_order_acquire) && user != me)
        throw GraphError(
            "another thread runs or trains a net of this scope: use a Predictor, or a scope for each thread");
    ++scope.uses_;
    entered_.push_back(&scope);
}

ROWAN_FUNCTION ScopeUse::~ScopeUse() {
    for (Scope* const s : entered_) {
        if (--s->uses_ == 0) s->user_.store(nullptr, std::memory_order_release);
    }
}

ROWAN_FUNCTION std::unique_lock<std::mutex> lock_names(Scope const& scope) {
    Scope const* outermost = &scope;
    while (outermost->parent() != nullptr) outermost = outermost->parent();
    return std::unique_lock(outermost->naming_);
}

}  // namespace detail

ROWAN_FUNCTION Scope& default_scope() {
    if (detail::current_scope() != nullptr) return *detail::current_scope();
    thread_local Scope scope;
    return scope;
}

}  // namespace rowan::inline v0

#endif
