// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.
#pragma once

#include <rowan/graph/net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/detail/lock_names.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/limits.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void append_argument(std::string& call, std::string_view slot,
                                           std::span<std::string const> names) {
    if (names.empty()) return;
    if (!call.ends_with('(')) call.append(", ");
    bool const is_list = names.size() > 1;
    if (is_list || names[0] != slot) call.append(slot).append(is_list ? " = [" : " = ");
    char const* separator = "";
    for (std::string const& name : names) call.append(std::exchange(separator, ", ")).append(name);
    if (is_list) call.append("]");
}

ROWAN_CALLED_FUNCTION std::string describe(Operator const& op) {
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

ROWAN_CALLED_FUNCTION void throw_named(Operator const& op) { rethrow_in(describe(op)); }

ROWAN_CALLED_FUNCTION void run_on(AnyExec exec, Operator const& op, std::span<Value* const> in,
                                  std::span<Value* const> out) {
    if (op.same_rows) check_same_rows(op, in);
    op.kernel->run({.exec = exec, .in = in, .out = out, .attributes = op.attributes, .levels_from = op.levels_from});
}

/// While it lives, the thread runs a net within limits, unless it does so already.
template <class = void>
class LimitedRun {
public:
    explicit LimitedRun(Limits const& limits) {
        if ((limits.iterations == 0 && limits.bytes == 0) || current_meter() != nullptr) return;
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        meter_.emplace(limits.iterations == 0 ? none : limits.iterations, limits.bytes == 0 ? none : limits.bytes);
        current_meter() = &*meter_;
    }
    LimitedRun(LimitedRun const&) = delete;
    LimitedRun& operator=(LimitedRun const&) = delete;
    ~LimitedRun() {
        if (meter_) current_meter() = nullptr;
    }

private:
    std::optional<RunMeter> meter_;
};

/// The operators of a net and the places of their values.
struct NetOrder::Plan {
    // An input's number, or ~k for result k: so results keep theirs when an operator is appended that reads new inputs.
    using Place = std::ptrdiff_t;

    // The places of the variables of an operator.
    struct Uses {
        std::vector<Place> in, out;
        bool may_move = false;  // result 0 may take the value of input 0, if nothing reads it afterwards
    };

    struct Variables {
        std::vector<Variable*> variables;
        std::vector<std::size_t> ends;  // for each, the operator after which it is cleared, or `kept`
    };
    static constexpr auto kept = static_cast<std::size_t>(-1);

    static std::size_t index(Place p) { return static_cast<std::size_t>(p < 0 ? ~p : p); }
    std::size_t number(Place p) const { return index(p) + (p < 0 ? read.variables.size() : 0); }
    std::size_t end(Place p) const { return (p < 0 ? made : read).ends[index(p)]; }
    std::size_t variables() const noexcept { return read.variables.size() + made.variables.size(); }

    // The variable of that name that `scope` finds, or else the variable itself.
    ROWAN_IF_CALLED static Variable& variable(Scope& scope, Variable& v);

    ROWAN_IF_CALLED void run(Scope& scope, AnyExec exec, After const& after) const;
    ROWAN_IF_CALLED void run(std::span<Value* const> values, AnyExec exec, After const& after) const;

    // Checks the operators after i that change inputs, so that all of them run or none.
    ROWAN_IF_CALLED void check_updates(std::span<Value* const> values, AnyExec exec, std::size_t i) const;

    // Appends an operator whose variables have names. On an error nothing has changed.
    ROWAN_IF_CALLED void add(Operator& op);
    ROWAN_IF_CALLED Uses uses_of(Operator const& op);

    std::vector<Operator*> order;
    std::vector<Uses> each;  // of its operators
    Variables read, made;    // the inputs, the results
    std::unordered_map<Variable const*, Place> places;
    std::unordered_set<Variable const*> outputs;
    Scope const* limiting = nullptr;  // that of the first output
    std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

ROWAN_CALLED_FUNCTION NetOrder::NetOrder(std::span<Variable* const> outputs) : plan_(std::make_shared<Plan>()) {
    plan_->outputs.insert(outputs.begin(), outputs.end());
    if (!outputs.empty()) plan_->limiting = &outputs[0]->scope();
    auto const order = trace(outputs);
    name_variables(order);
    for (Operator* const op : order) plan_->add(*op);
}

ROWAN_CALLED_FUNCTION NetOrder::Plan const& NetOrder::plan() const {
    static Plan const none;
    return plan_ == nullptr ? none : *plan_;
}

ROWAN_CALLED_FUNCTION void NetOrder::append(Operator& op) {
    name_variables(std::array{&op});
    if (plan_.use_count() == 1)
        std::atomic_thread_fence(std::memory_order_acquire);  // after what other threads have read of it
    else
        plan_ = std::make_shared<Plan>(plan());
    plan_->add(op);
}

ROWAN_CALLED_FUNCTION std::span<Operator* const> NetOrder::operators() const noexcept {
    return plan_ == nullptr ? std::span<Operator* const>() : plan_->order;
}
ROWAN_CALLED_FUNCTION std::span<Variable* const> NetOrder::inputs() const noexcept {
    return plan_ == nullptr ? std::span<Variable* const>() : plan_->read.variables;
}
ROWAN_CALLED_FUNCTION std::size_t NetOrder::variables() const noexcept {
    return plan_ == nullptr ? 0 : plan_->variables();
}

ROWAN_CALLED_FUNCTION std::size_t NetOrder::number(Variable const& v) const {
    auto const found = plan().places.find(&v);
    return found == plan().places.end() ? variables() : plan().number(found->second);
}

ROWAN_CALLED_FUNCTION void NetOrder::run(Scope& scope, AnyExec exec, After const& after) const {
    plan().run(scope, exec, after);
}
ROWAN_CALLED_FUNCTION void NetOrder::run(std::span<Value* const> values, AnyExec exec, After const& after) const {
    plan().run(values, exec, after);
}

ROWAN_CALLED_FUNCTION Variable& NetOrder::Plan::variable(Scope& scope, Variable& v) {
    if (&v.scope() == &scope || v.name().empty()) return v;
    Variable* const there = scope.find(v.name());
    return there == nullptr ? v : *there;
}

ROWAN_CALLED_FUNCTION void NetOrder::Plan::run(Scope& scope, AnyExec exec, After const& after) const {
    std::optional<MemoryPool::Guard> guard;
    if (current_pool() == nullptr) guard.emplace(*pool);
    std::size_t const inputs = read.variables.size();
    Buffer<Variable*> there;
    there.reserve(variables());
    {
        auto const lock = lock_names(scope);
        for (auto const* list : {&read, &made}) {
            for (Variable* const v : list->variables) there.push_back(&variable(scope, *v));
        }
    }
    ScopeUse use;  // of the variables that are written
    for (Variable const* v : std::span(there).subspan(inputs)) use.enter(v->scope());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (!order[i]->kernel->checks_first) continue;
        for (Place const v : each[i].in) use.enter(there[number(v)]->scope());
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

ROWAN_CALLED_FUNCTION void NetOrder::Plan::run(std::span<Value* const> values, AnyExec exec, After const& after) const {
    for (std::size_t i = 0; i < read.variables.size(); ++i) {
        Variable const& v = *read.variables[i];
        if (values[i]->empty())
            throw GraphError({"the variable \"", v.name(), "\" has no value: it is ",
                              v.role() == Role::data        ? "fed by the caller"
                              : v.role() == Role::parameter ? "a parameter"
                                                            : "written by no operator"});
    }
    LimitedRun<> const limited(limiting == nullptr ? Limits{} : limiting->limits);
    Buffer<Value*> in, out;
    bool updates = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
        Operator const& op = *order[i];
        Uses const& uses = each[i];
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

ROWAN_CALLED_FUNCTION std::string NetOrder::dot() const {
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
    auto const order = operators();
    for (std::size_t i = 0; i < order.size(); ++i) {
        Operator const& op = *order[i];
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

ROWAN_CALLED_FUNCTION void check_same_rows(Operator const& op, std::span<Value* const> in) {
    if (in[0]->rows() != in[1]->rows())
        throw ShapeError({op.kernel->inputs[1], ".shape(0)"}, in[1]->rows(), in[0]->rows());
}

ROWAN_CALLED_FUNCTION void NetOrder::Plan::check_updates(std::span<Value* const> values, AnyExec exec,
                                                         std::size_t i) const {
    Buffer<Value*> in;
    while (++i < order.size()) {  // the first one checks itself
        Operator const& op = *order[i];
        if (!op.kernel->checks_first) continue;
        in.clear();
        for (Place const v : each[i].in) in.push_back(values[number(v)]);
        if (std::ranges::any_of(in, [](Value const* v) { return v->empty(); })) continue;  // written later
        run_named(op, [&] {
            op.kernel->run({.exec = exec, .in = in, .out = {}, .attributes = op.attributes, .only_checks = true});
        });
    }
}

ROWAN_CALLED_FUNCTION NetOrder::Plan::Uses NetOrder::Plan::uses_of(Operator const& op) {
    Uses uses;
    auto const find = [this](std::vector<Variable*> const& variables, Variables& of_new, std::vector<Place>& to) {
        for (Variable* const v : variables) {
            if (auto const found = places.find(v); found != places.end()) {
                to.push_back(found->second);
                continue;
            }
            auto const k = static_cast<Place>(of_new.variables.size());
            to.push_back(&of_new == &made ? ~k : k);
            of_new.variables.push_back(v);
            of_new.ends.push_back(kept);
            places.emplace(v, to.back());
        }
    };
    find(op.inputs, read, uses.in);
    find(op.outputs, made, uses.out);
    uses.may_move = op.kernel->in_place && std::ranges::count(uses.in, uses.in[0]) == 1;
    return uses;
}

ROWAN_CALLED_FUNCTION void NetOrder::Plan::add(Operator& op) {
    std::size_t const before[] = {read.variables.size(), made.variables.size(), each.size()};
    try {
        each.push_back(uses_of(op));
        order.push_back(&op);
    } catch (...) {
        auto const forget = [this](Variables& list, std::size_t size) {
            while (list.variables.size() > size) {
                places.erase(list.variables.back());
                list.variables.pop_back();
            }
            list.ends.resize(size);
        };
        forget(read, before[0]);
        forget(made, before[1]);
        each.resize(before[2]);
        throw;
    }
    auto const use = [&, i = order.size() - 1](Variable const& v, Place p) {
        bool const clears = v.role() == Role::temporary && !v.writers().empty() && !outputs.contains(&v);
        (p < 0 ? made : read).ends[index(p)] = clears ? i : kept;
    };
    for (std::size_t k = 0; k < op.inputs.size(); ++k) use(*op.inputs[k], each.back().in[k]);
    for (std::size_t k = 0; k < op.outputs.size(); ++k) use(*op.outputs[k], each.back().out[k]);
}

}  // namespace rowan::inline v0::detail

#endif
