// rowan/graph/scope_inl.hpp: definitions of rowan/graph/scope.hpp.
#pragma once

#include <rowan/graph/scope.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/near_name.hpp>
#include <rowan/graph/detail/lock_names.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <string>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION Variable::Variable(Scope& scope, VarSpec const& spec, Role role)
    : spec_(spec), role_(role), scope_(&scope) {}

ROWAN_CALLED_FUNCTION std::span<Operator* const> Variable::readers() const noexcept { return readers_; }
ROWAN_CALLED_FUNCTION std::span<Operator* const> Variable::writers() const noexcept { return writers_; }

struct Scope::Parts {
    std::vector<std::unique_ptr<Variable>> variables;
    std::vector<std::unique_ptr<Operator>> operators;
    std::vector<std::unique_ptr<Scope>> scopes;
    std::map<std::string, Variable*, std::less<>> by_name;
    std::mutex naming;
    std::atomic<void const*> user = nullptr;  // identifies the thread of the ScopeUses
    int uses = 0;
};

ROWAN_CALLED_FUNCTION Scope::Scope() : parts_(std::make_shared<Parts>()) {}
ROWAN_CALLED_FUNCTION Scope::Scope(Scope& parent) : parent_(&parent), parts_(std::make_shared<Parts>()) {}

ROWAN_CALLED_FUNCTION Variable& Scope::new_var(std::string const& name, VarSpec const& spec, Role role) {
    if (!name.empty() && parts_->by_name.contains(name))
        throw GraphError({"the scope has a variable \"", name, "\" already"});
    parts_->variables.push_back(std::make_unique<Variable>(*this, spec, role));
    Variable& v = *parts_->variables.back();
    if (!name.empty()) set_name(v, name);
    return v;
}

ROWAN_CALLED_FUNCTION Variable* Scope::find(std::string_view name) const noexcept {
    for (Scope const* s = this; s != nullptr; s = s->parent_) {
        if (auto const found = s->parts_->by_name.find(name); found != s->parts_->by_name.end()) return found->second;
    }
    return nullptr;
}

ROWAN_CALLED_FUNCTION Variable& Scope::get(std::string_view name) const {
    if (Variable* const v = find(name)) return *v;
    detail::NearName near(name);
    for (Scope const* s = this; s != nullptr; s = s->parent_) {
        for (auto const& known : s->parts_->by_name) near.see(known.first);
    }
    throw GraphError({"there is no variable \"", name, "\"", near.text()});
}

ROWAN_CALLED_FUNCTION Scope& Scope::new_scope() {
    parts_->scopes.push_back(std::make_unique<Scope>(*this));
    return *parts_->scopes.back();
}

ROWAN_CALLED_FUNCTION void Scope::drop_scopes() noexcept { parts_->scopes.clear(); }

ROWAN_CALLED_FUNCTION void Scope::unlink(std::size_t first, bool own) noexcept {
    auto const some = std::span(parts_->operators).subspan(first);
    for (auto const& op : some) op->leaves = true;
    for (auto const& op : some) {
        for (auto const* list : {&op->inputs, &op->outputs}) {
            for (Variable* const v : *list) {
                if (std::exchange(v->left_, true) || (!own && v->scope_ == this)) continue;
                for (auto* of : {&v->readers_, &v->writers_})
                    std::erase_if(*of, [](Operator const* reader) { return reader->leaves; });
            }
        }
    }
    for (auto const& op : some) {
        for (auto const* list : {&op->inputs, &op->outputs}) {
            for (Variable* const v : *list) v->left_ = false;
        }
    }
    for (auto const& op : some) op->leaves = false;
}

ROWAN_CALLED_FUNCTION void Scope::forget_readers() noexcept { unlink(0, false); }

ROWAN_CALLED_FUNCTION void Scope::truncate(std::size_t variables, std::size_t operators) noexcept {
    unlink(operators, true);
    while (parts_->operators.size() > operators) parts_->operators.pop_back();
    while (parts_->variables.size() > variables) {
        if (auto const found = parts_->by_name.find(parts_->variables.back()->name());
            found != parts_->by_name.end() && found->second == parts_->variables.back().get())
            parts_->by_name.erase(found);
        parts_->variables.pop_back();
    }
}

ROWAN_CALLED_FUNCTION std::size_t Scope::scopes() const noexcept { return parts_->scopes.size(); }
ROWAN_CALLED_FUNCTION std::span<std::unique_ptr<Variable> const> Scope::variables() const noexcept {
    return parts_->variables;
}
ROWAN_CALLED_FUNCTION std::span<std::unique_ptr<Operator> const> Scope::operators() const noexcept {
    return parts_->operators;
}

namespace detail {

ROWAN_FUNCTION Attributes owned(no_attributes none) { return std::make_shared<no_attributes const>(none); }

ROWAN_CALLED_FUNCTION Variable& first_result(op_kernel const& kernel, std::initializer_list<Variable*> inputs,
                                             Attributes attributes) {
    return *default_scope().new_op(kernel, inputs, std::move(attributes)).outputs[0];
}

}  // namespace detail

ROWAN_CALLED_FUNCTION Operator& Scope::new_op(op_kernel const& kernel, std::vector<Variable*> inputs,
                                              Attributes attributes) {
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
    parts_->operators.push_back(std::move(op));
    Operator& added = *parts_->operators.back();
    for (Variable* const v : added.inputs) v->readers_.push_back(&added);
    for (Variable* const v : added.outputs) v->writers_.push_back(&added);
    return added;
}

ROWAN_CALLED_FUNCTION void Scope::write_to(Operator& op, std::size_t i, Variable& v) {
    if (!v.writers_.empty()) throw GraphError({op.kernel->name, ": its result is also written by another operator"});
    v.spec_ = op.outputs[i]->spec();
    v.writers_.push_back(&op);
    op.outputs[i] = &v;
}

ROWAN_CALLED_FUNCTION void Scope::set_name(Variable& v, std::string name, bool own) {
    if (!parts_->by_name.emplace(name, &v).second)
        throw GraphError({"the scope has a variable \"", name, "\" already"});
    v.name_ = std::move(name);
    v.own_name_ = own;
}

namespace detail {

ROWAN_CALLED_FUNCTION ScopeUse::ScopeUse() {}

ROWAN_CALLED_FUNCTION ScopeUse::ScopeUse(Scope& scope)
    : ScopeUse() {  // so that the destructor leaves them if one is in use
    for (Scope* s = &scope; s != nullptr; s = s->parent()) enter(*s);
}

ROWAN_CALLED_FUNCTION void ScopeUse::enter(Scope& scope) {
    void const* const me = &errno;  // identifies the thread, in all libraries of the process
    if (std::ranges::find(entered_, &scope) != entered_.end()) return;
    entered_.reserve(entered_.size() + 1);
    void const* user = nullptr;
    if (!scope.parts_->user.compare_exchange_strong(user, me, std::memory_order_acquire) && user != me)
        throw GraphError(
            "another thread runs or trains a net of this scope: use a Predictor, or a scope for each thread");
    ++scope.parts_->uses;
    entered_.push_back(&scope);
}

ROWAN_FUNCTION ScopeUse::~ScopeUse() {
    for (Scope* const s : entered_) {
        if (--s->parts_->uses == 0) s->parts_->user.store(nullptr, std::memory_order_release);
    }
}

struct ScopeNames {
    ROWAN_IF_CALLED static std::unique_lock<std::mutex> lock(Scope const& scope) {
        Scope const* outermost = &scope;
        while (outermost->parent() != nullptr) outermost = outermost->parent();
        return std::unique_lock(outermost->parts_->naming);
    }
};

ROWAN_CALLED_FUNCTION std::unique_lock<std::mutex> lock_names(Scope const& scope) { return ScopeNames::lock(scope); }

ROWAN_CALLED_FUNCTION ScopeRollback::ScopeRollback(Scope& scope)
    : scope_(&scope), variables_(scope.variables().size()), operators_(scope.operators().size()) {}

}  // namespace detail

ROWAN_CALLED_FUNCTION Scope& default_scope() {
    if (detail::current_scope() != nullptr) return *detail::current_scope();
    thread_local Scope scope;
    return scope;
}

}  // namespace rowan::inline v0

#endif
