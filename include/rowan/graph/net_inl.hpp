// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.
#pragma once

#include <rowan/graph/net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void append_argument(std::string& call, std::string_view slot, std::span<std::string const> names) {
    if (names.empty()) return;
    if (!call.ends_with('(')) call.append(", ");
    bool const is_list = names.size() > 1;
    if (is_list || names[0] != slot) call.append(slot).append(is_list ? " = [" : " = ");
    char const* separator = "";
    for (std::string const& name : names) call.append(std::exchange(separator, ", ")).append(name);
    if (is_list) call.append("]");
}

ROWAN_FUNCTION std::string describe(Operator const& op) {
    std::string text(op.kernel->name);
    text.append("(");
    auto const& slots = op.kernel->inputs;
    for (std::size_t k = 0; k < slots.size() && !op.inputs.empty(); ++k) {
        std::vector<std::string> names;
        for (Variable const* v : in_slot(op.inputs, slots.size(), k)) names.push_back(v->name());
        append_argument(text, slots[k], names);
    }
    return text.append(")");
}

ROWAN_FUNCTION void throw_named(Operator const& op) { rethrow_in(describe(op)); }

ROWAN_FUNCTION NetOrder::NetOrder(std::span<Variable* const> outputs)
    : outputs_(outputs.begin(), outputs.end()), limiting_(outputs.empty() ? nullptr : &outputs[0]->scope()) {
    auto const order = trace(outputs);
    name_variables(order);
    for (Operator* const op : order) add(*op);
}

ROWAN_FUNCTION void NetOrder::append(Operator& op) {
    name_variables(std::array{&op});
    add(op);
}

ROWAN_FUNCTION std::size_t NetOrder::number(Variable const& v) const {
    auto const found = places_.find(&v);
    return found == places_.end() ? variables() : number(found->second);
}

ROWAN_FUNCTION void NetOrder::run(Scope& scope, AnyExec exec, After const& after) const {
    std::optional<MemoryPool::Guard> guard;
    if (current_pool() == nullptr) guard.emplace(*pool_);
    std::size_t const inputs = inputs_.variables.size();
    Buffer<Variable*> there;
    there.reserve(variables());
    {
        auto const lock = lock_names(scope);
        for (auto const* list : {&inputs_, &results_}) {
            for (Variable* const v : list->variables) there.push_back(&variable(scope, *v));
        }
    }
    ScopeUse use;  // of the variables that are written
    for (Variable const* v : std::span(there).subspan(inputs)) use.enter(v->scope());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        if (!order_[i]->kernel->checks_first) continue;
        for (Place const v : uses_[i].in) use.enter(there[number(v)]->scope());
    }
    Buffer<Value*> values;
    values.reserve(there.size());
    for (Variable* const v : there) values.push_back(&v->value());
    std::span<Value* const> const results = std::span(values).subspan(inputs);
    Buffer<Value> before(results.size());  // restored after an error
    for (std::size_t i = 0; i < results.size(); ++i) std::swap(before[i], *results[i]);
    try {
        run(values, exec, after);
    } catch (...) {
        for (std::size_t i = results.size(); i-- > 0;) *results[i] = std::move(before[i]);
        throw;
    }
}

ROWAN_FUNCTION void NetOrder::run(std::span<Value* const> values, AnyExec exec, After const& after) const {
    for (std::size_t i = 0; i < inputs_.variables.size(); ++i) {
        Variable const& v = *inputs_.variables[i];
        if (values[i]->empty())
            throw GraphError(std::string("the variable \"")
                                 .append(v.name())
                                 .append("\" has no value: it is ")
                                 .append(v.role() == Role::data        ? "fed by the caller"
                                         : v.role() == Role::parameter ? "a parameter"
                                                                       : "written by no operator"));
    }
    LimitedRun const limited(limiting_ == nullptr ? Limits{} : limiting_->limits);
    Buffer<Value*> in, out;
    bool updates = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        Uses const& uses = uses_[i];
        if (op.kernel->checks_first && !std::exchange(updates, true)) check_updates(values, exec, i);
        in.clear();
        out.clear();
        for (Place const v : uses.in) in.push_back(values[number(v)]);
        for (Place const v : uses.out) out.push_back(values[number(v)]);
        if (uses.may_move && end(uses.in[0]) == i) {
            *out[0] = std::move(*in[0]);
            in[0] = out[0];
        }
        run_named(op, [&] { run_on(exec, op, in, out); });
        for (auto const* list : {&uses.in, &uses.out}) {
            for (Place const v : *list) {
                if (end(v) == i) values[number(v)]->clear();
            }
        }
        if (after) after(op);
    }
}

ROWAN_FUNCTION std::string NetOrder::dot() const {
    std::ostringstream text;
    text << "digraph net {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n";
    std::unordered_set<Variable const*> shown;
    auto const show = [&](Variable const& v) {
        if (!shown.insert(&v).second) return;
        char const* const shape = v.role() == Role::parameter ? "box, style=filled, fillcolor=lightgrey"
                                  : v.role() == Role::data    ? "box, style=rounded"
                                                              : "plaintext";
        text << "  \"" << v.name() << "\" [shape=" << shape << ", label=\"" << v.name() << "\\n"
             << kind_text(v.spec()) << ' ' << v.spec().dims;
        if (v.spec().lod_level > 0) text << ", levels " << v.spec().lod_level;
        text << "\"];\n";
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        text << "  op" << i << " [shape=ellipse, label=\"" << op.kernel->name << "\"];\n";
        for (Variable const* v : op.inputs) {
            show(*v);
            text << "  \"" << v->name() << "\" -> op" << i << ";\n";
        }
        for (Variable const* v : op.outputs) {
            show(*v);
            text << "  op" << i << " -> \"" << v->name() << "\";\n";
        }
    }
    text << "}\n";
    return text.str();
}

ROWAN_FUNCTION void check_same_rows(Operator const& op, std::span<Value* const> in) {
    if (in[0]->rows() != in[1]->rows())
        throw ShapeError(std::string(op.kernel->inputs[1]) + ".shape(0)", std::to_string(in[1]->rows()),
                         std::to_string(in[0]->rows()));
}

ROWAN_FUNCTION Variable& NetOrder::variable(Scope& scope, Variable& v) {
    if (&v.scope() == &scope || v.name().empty()) return v;
    Variable* const there = scope.find(v.name());
    return there == nullptr ? v : *there;
}

ROWAN_FUNCTION void NetOrder::check_updates(std::span<Value* const> values, AnyExec exec, std::size_t i) const {
    Buffer<Value*> in;
    while (++i < order_.size()) {  // the first one checks itself
        Operator const& op = *order_[i];
        if (!op.kernel->checks_first) continue;
        in.clear();
        for (Place const v : uses_[i].in) in.push_back(values[number(v)]);
        if (std::ranges::any_of(in, [](Value const* v) { return v->empty(); })) continue;  // written later
        run_named(op, [&] {
            op.kernel->run({.exec = exec, .in = in, .out = {}, .attributes = op.attributes, .only_checks = true});
        });
    }
}

ROWAN_FUNCTION NetOrder::Uses NetOrder::uses_of(Operator const& op) {
    Uses uses;
    auto const find = [this](std::vector<Variable*> const& variables, Variables& of_new, std::vector<Place>& to) {
        for (Variable* const v : variables) {
            if (auto const found = places_.find(v); found != places_.end()) {
                to.push_back(found->second);
                continue;
            }
            auto const k = static_cast<Place>(of_new.variables.size());
            to.push_back(&of_new == &results_ ? ~k : k);
            of_new.variables.push_back(v);
            of_new.ends.push_back(kept);
            places_.emplace(v, to.back());
        }
    };
    find(op.inputs, inputs_, uses.in);
    find(op.outputs, results_, uses.out);
    uses.may_move = op.kernel->in_place && std::ranges::count(uses.in, uses.in[0]) == 1;
    return uses;
}

ROWAN_FUNCTION void NetOrder::add(Operator& op) {
    std::size_t const before[] = {inputs_.variables.size(), results_.variables.size(), uses_.size()};
    try {
        uses_.push_back(uses_of(op));
        order_.push_back(&op);
    } catch (...) {
        auto const forget = [this](Variables& list, std::size_t size) {
            while (list.variables.size() > size) {
                places_.erase(list.variables.back());
                list.variables.pop_back();
            }
            list.ends.resize(size);
        };
        forget(inputs_, before[0]);
        forget(results_, before[1]);
        uses_.resize(before[2]);
        throw;
    }
    auto const use = [&, i = order_.size() - 1](Variable const& v, Place p) {
        bool const clears = v.role() == Role::temporary && !v.writers().empty() && !outputs_.contains(&v);
        (p < 0 ? results_ : inputs_).ends[index(p)] = clears ? i : kept;
    };
    for (std::size_t k = 0; k < op.inputs.size(); ++k) use(*op.inputs[k], uses_.back().in[k]);
    for (std::size_t k = 0; k < op.outputs.size(); ++k) use(*op.outputs[k], uses_.back().out[k]);
}

}  // namespace rowan::inline v0::detail

#endif
