// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.
#pragma once

#include <rowan/graph/net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
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

ROWAN_FUNCTION NetOrder::NetOrder(std::span<Variable* const> outputs) : outputs_(outputs.begin(), outputs.end()) {
    order_ = trace(outputs);
    name_variables(order_);
    find_uses();
}

ROWAN_FUNCTION void NetOrder::append(Operator& op) {
    order_.push_back(&op);
    name_variables(std::span(&order_.back(), 1));
    find_uses();
}

ROWAN_FUNCTION std::size_t NetOrder::number(Variable const& v) const {
    return static_cast<std::size_t>(std::ranges::find(variables_, &v) - variables_.begin());
}

ROWAN_FUNCTION void NetOrder::run(Scope& scope, AnyExec exec, After const& after) const {
    std::optional<MemoryPool::Guard> guard;
    if (current_pool() == nullptr) guard.emplace(*pool_);
    Buffer<Variable*> there(variables_.size());
    {
        auto const lock = lock_names(scope);
        for (std::size_t i = 0; i < there.size(); ++i) there[i] = &variable(scope, *variables_[i]);
    }
    ScopeUse use;  // of the variables that are written
    for (Variable const* v : std::span(there).subspan(inputs_)) use.enter(v->scope());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        if (!order_[i]->kernel->checks_first) continue;
        for (std::size_t const v : uses_[i].in) use.enter(there[v]->scope());
    }
    Buffer<Value*> values;
    values.reserve(there.size());
    for (Variable* const v : there) values.push_back(&v->value());
    std::span<Value* const> const results = std::span(values).subspan(inputs_);
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
    for (std::size_t i = 0; i < inputs_; ++i) {
        Variable const& v = *variables_[i];
        if (values[i]->empty())
            throw GraphError(std::string("the variable \"")
                                 .append(v.name())
                                 .append("\" has no value: it is ")
                                 .append(v.role() == Role::data        ? "fed by the caller"
                                         : v.role() == Role::parameter ? "a parameter"
                                                                       : "written by no operator"));
    }
    LimitedRun const limited(outputs_.empty() ? Limits{} : outputs_[0]->scope().limits);
    Buffer<Value*> in, out;
    bool updates = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        Uses const& uses = uses_[i];
        if (op.kernel->checks_first && !std::exchange(updates, true)) check_updates(values, exec, i);
        in.clear();
        out.clear();
        for (std::size_t const v : uses.in) in.push_back(values[v]);
        for (std::size_t const v : uses.out) out.push_back(values[v]);
        if (uses.in_place) {
            *out[0] = std::move(*in[0]);
            in[0] = out[0];
        }
        run_named(op, [&] { run_on(exec, op, in, out); });
        for (std::size_t const v : uses.last) values[v]->clear();
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
        for (std::size_t const v : uses_[i].in) in.push_back(values[v]);
        if (std::ranges::any_of(in, [](Value const* v) { return v->empty(); })) continue;  // written later
        run_named(op, [&] {
            op.kernel->run({.exec = exec, .in = in, .out = {}, .attributes = op.attributes, .only_checks = true});
        });
    }
}

ROWAN_FUNCTION void NetOrder::find_uses() {
    variables_.clear();
    std::unordered_map<Variable const*, std::size_t> numbers;
    auto const add = [&](Variable* v) {
        if (numbers.try_emplace(v, variables_.size()).second) variables_.push_back(v);
    };
    std::unordered_set<Variable const*> written;
    for (Operator const* op : order_) {
        for (Variable* const v : op->inputs) {
            if (!written.contains(v)) add(v);
        }
        written.insert(op->outputs.begin(), op->outputs.end());
    }
    inputs_ = variables_.size();
    uses_.assign(order_.size(), {});
    std::unordered_map<Variable const*, std::size_t> last;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        for (Variable* const v : order_[i]->outputs) add(v);
        for (auto const* list : {&order_[i]->inputs, &order_[i]->outputs}) {
            for (Variable const* v : *list) {
                (list == &order_[i]->inputs ? uses_[i].in : uses_[i].out).push_back(numbers.at(v));
                last[v] = i;
            }
        }
    }
    for (auto const& [v, i] : last) {
        if (v->role() == Role::temporary && !v->writers().empty() && std::ranges::find(outputs_, v) == outputs_.end())
            uses_[i].last.push_back(numbers.at(v));
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Uses& uses = uses_[i];
        uses.in_place = order_[i]->kernel->in_place && std::ranges::find(uses.last, uses.in[0]) != uses.last.end() &&
                        std::ranges::count(uses.in, uses.in[0]) == 1;
    }
}

}  // namespace rowan::inline v0::detail

#endif
