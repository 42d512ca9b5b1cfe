// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.
#pragma once

#include <rowan/graph/net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/only_checking.hpp>
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string describe(Operator const& op) {
    std::string text(op.kernel->name);
    char const* comma = "(";
    for (Variable const* v : op.inputs) text.append(std::exchange(comma, ", ")).append(v->name());
    return text.append(op.inputs.empty() ? "()" : ")");
}

ROWAN_FUNCTION void throw_named(Operator const& op) { rethrow_in(describe(op)); }

ROWAN_FUNCTION NetOrder::NetOrder(std::span<Variable* const> outputs)
    : order_(trace(outputs)), outputs_(outputs.begin(), outputs.end()) {
    name_variables(order_);
    find_uses();
}

ROWAN_FUNCTION void NetOrder::append(Operator& op) {
    order_.push_back(&op);
    name_variables(std::span(&order_.back(), 1));
    find_uses();
}

ROWAN_FUNCTION void NetOrder::run(Scope& scope, AnyExec exec) const {
    std::optional<MemoryPool::Guard> guard;
    if (current_pool() == nullptr) guard.emplace(*pool_);
    for (Variable* const v : inputs_) {
        if (value(scope, *v).empty())
            throw GraphError(std::string("the variable \"")
                                 .append(v->name())
                                 .append("\" has no value: it is ")
                                 .append(v->role() == Role::data        ? "fed by the caller"
                                         : v->role() == Role::parameter ? "a parameter"
                                                                        : "written by no operator"));
    }
    for (Operator const* op : order_) {
        for (Variable* const v : op->outputs) value(scope, *v).clear();  // frees their memory for the new values
    }
    LimitedRun const limited(outputs_.empty() ? Limits{} : outputs_[0]->scope().limits);
    Buffer<Value*> in, out;
    bool updates = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        if (op.kernel->checks_first && !std::exchange(updates, true)) check_updates(scope, exec, i);
        in.clear();
        out.clear();
        for (Variable* const v : op.inputs) in.push_back(&value(scope, *v));
        for (Variable* const v : op.outputs) out.push_back(&value(scope, *v));
        if (op.kernel->in_place && may_take(i, *op.inputs[0])) {
            *out[0] = std::move(*in[0]);
            in[0] = out[0];
        }
        run_named(op, [&] { run_on(exec, op, in, out); });
        for (Variable* const v : last_uses_[i]) value(scope, *v).clear();
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

ROWAN_FUNCTION Value& NetOrder::value(Scope& scope, Variable& v) {
    if (&v.scope() == &scope || v.name().empty()) return v.value();
    Variable* const there = scope.find(v.name());
    return there == nullptr ? v.value() : there->value();
}

ROWAN_FUNCTION void NetOrder::check_updates(Scope& scope, AnyExec exec, std::size_t i) const {
    OnlyChecking const checking;
    Buffer<Value*> in;
    for (Operator const* op : std::span(order_).subspan(i + 1)) {  // operator i checks itself
        if (!op->kernel->checks_first) continue;
        in.clear();
        for (Variable* const v : op->inputs) in.push_back(&value(scope, *v));
        if (std::ranges::any_of(in, [](Value const* v) { return v->empty(); })) continue;  // written later
        run_named(*op, [&] { run_on(exec, *op, in, {}); });
    }
}

ROWAN_FUNCTION bool NetOrder::may_take(std::size_t i, Variable& v) const {
    return std::ranges::find(last_uses_[i], &v) != last_uses_[i].end() &&
           std::ranges::count(order_[i]->inputs, &v) == 1;
}

ROWAN_FUNCTION void NetOrder::find_uses() {
    inputs_.clear();
    std::unordered_set<Variable const*> known;
    for (Operator const* op : order_) {
        for (Variable* const v : op->inputs) {
            if (known.insert(v).second) inputs_.push_back(v);
        }
        known.insert(op->outputs.begin(), op->outputs.end());
    }
    std::unordered_map<Variable*, std::size_t> last;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        for (auto const* list : {&order_[i]->inputs, &order_[i]->outputs}) {
            for (Variable* const v : *list) last[v] = i;
        }
    }
    last_uses_.assign(order_.size(), {});
    for (auto const& [v, i] : last) {
        if (v->role() == Role::temporary && !v->writers().empty() && std::ranges::find(outputs_, v) == outputs_.end())
            last_uses_[i].push_back(v);
    }
}

}  // namespace rowan::inline v0::detail

#endif
