// rowan/graph/net.hpp: Net, operators in an order in which they run.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/detail/kind_text.hpp>
#include <rowan/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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

}  // namespace detail

/// The operators that some variables depend on, each once and after those whose results it reads.
template <class Device = Cpu>
class Net {
public:
    /// Traces back from the outputs through the operators that write them, and names what has no name yet.
    /// errors   GraphError if there is a cycle, or a result is read that nothing writes
    /// cost     O(operators, and what they read and write)
    static Net trace_and_build(std::span<Variable* const> outputs);
    static Net trace_and_build(Variable& output) { return trace_and_build(std::array{&output}); }

    /// Adds an operator at the end, such as one of an optimizer.
    /// errors   std::bad_alloc
    /// cost     one walk over the net
    void append(Operator& op);

    std::span<Operator* const> operators() const noexcept { return order_; }  ///< in the order in which they run

    /// The variables that must have a value before the net runs, in the order in which they are first read.
    std::span<Variable* const> inputs() const noexcept { return inputs_; }

    /// Runs the operators on the values of their variables; where `scope` has a variable of that name, on its value instead. Values that
    /// nothing reads any more are let go, those of outputs stay.
    /// errors   GraphError if an input has no value; what a kernel says, with the names of operator and variables. Values of inputs stay,
    ///          but for those that an optimizer had changed before
    /// cost     memory comes from the thread's MemoryPool, or else from one of the net's own, and goes back to it
    void run(Scope& scope, Device exec = {}) const;

    /// The net in Graphviz's language, with kinds, element types and dims.
    /// errors   std::bad_alloc
    /// cost     O(length of the text)
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

template <class Device>
auto Net<Device>::trace_and_build(std::span<Variable* const> outputs) -> Net {
    Net net;
    net.order_ = detail::trace(outputs);
    net.outputs_.assign(outputs.begin(), outputs.end());
    detail::name_variables(net.order_);
    net.find_uses();
    return net;
}

template <class Device>
void Net<Device>::append(Operator& op) {
    order_.push_back(&op);
    detail::name_variables(std::span(&order_.back(), 1));
    find_uses();
}

template <class Device>
void Net<Device>::run(Scope& scope, Device exec) const {
    std::optional<MemoryPool::Guard> guard;
    if (detail::current_pool() == nullptr) guard.emplace(*pool_);
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
        for (Variable* const v : op->outputs) value(scope, *v).clear();  // its memory is for the new values
    }
    detail::Buffer<Value*> in, out;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        in.clear();
        out.clear();
        for (Variable* const v : op.inputs) in.push_back(&value(scope, *v));
        for (Variable* const v : op.outputs) out.push_back(&value(scope, *v));
        if (op.code->in_place && may_take(i, *op.inputs[0])) {
            *out[0] = std::move(*in[0]);
            in[0] = out[0];
        }
        detail::run_named(op, [&] { op.code->run(&exec, in, out, op.attributes.get(), op.levels_from); });
        for (Variable* const v : last_uses_[i]) value(scope, *v).clear();
    }
}

template <class Device>
std::string Net<Device>::dot() const {
    std::ostringstream text;
    text << "digraph net {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n";
    std::unordered_set<Variable const*> shown;
    auto const show = [&](Variable const& v) {
        if (!shown.insert(&v).second) return;
        char const* const shape = v.role() == Role::parameter ? "box, style=filled, fillcolor=lightgrey"
                                  : v.role() == Role::data    ? "box, style=rounded"
                                                              : "plaintext";
        text << "  \"" << v.name() << "\" [shape=" << shape << ", label=\"" << v.name() << "\\n"
             << detail::kind_text(v.spec()) << ' ' << v.spec().dims;
        if (v.spec().lod_level > 0) text << ", levels " << v.spec().lod_level;
        text << "\"];\n";
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        text << "  op" << i << " [shape=ellipse, label=\"" << op.code->name << "\"];\n";
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

template <class Device>
Value& Net<Device>::value(Scope& scope, Variable& v) {
    if (&v.scope() == &scope || v.name().empty()) return v.value();
    Variable* const there = scope.find(v.name());
    return there == nullptr ? v.value() : there->value();
}

template <class Device>
bool Net<Device>::may_take(std::size_t i, Variable& v) const {
    return std::ranges::find(last_uses_[i], &v) != last_uses_[i].end() &&
           std::ranges::count(order_[i]->inputs, &v) == 1;
}

template <class Device>
void Net<Device>::find_uses() {
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
        if (v->role() == Role::temporary && !v->writers().empty() &&
            std::ranges::find(outputs_, v) == outputs_.end())
            last_uses_[i].push_back(v);
    }
}

ROWAN_TEMPLATE(class Net<Cpu>)

}  // namespace rowan::inline v0

#include <rowan/graph/net_inl.hpp>
