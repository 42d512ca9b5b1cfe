// examples/python/steps.cpp: layers with functions of layers: recurrent steps, loops and conditionals, for Python.
#include "arrays.hpp"
#include "handles.hpp"

#include <pybind11/stl.h>

#include <rowan/layer/cond.hpp>
#include <rowan/layer/detail/recurrence.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/static_input.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

namespace d = rowan::detail;
using rowan::GraphError, rowan::Operator, rowan::Scope, rowan::Variable;
using Variables = std::vector<VariablePtr>;

/// The scope of a step: Python's default scope while the function of the step is called. Objects of the step keep the
/// block that owns the scope, and the scope around it.
class StepScope {
public:
    template <class Block>
    StepScope(ScopePtr const& around, std::shared_ptr<Block> const& block, Scope& scope)
        : scope_(std::make_shared<std::pair<ScopePtr, std::shared_ptr<Block>>>(around, block), &scope),
          before_(std::exchange(default_scope(), scope_)), guard_(scope) {}
    StepScope(StepScope const&) = delete;
    StepScope& operator=(StepScope const&) = delete;
    ~StepScope() { default_scope() = before_; }

    VariablePtr object(Variable& v) const { return {scope_, &v}; }

private:
    ScopePtr scope_, before_;
    rowan::ScopeGuard guard_;
};

/// The variables that a function returned: one, or a list.
Variables variables_of(std::string const& what, py::handle given) {
    Variables all;
    auto const add = [&](py::handle one) {
        if (!py::isinstance<Variable>(one))
            throw rowan::TypeError(what, type_text(one), "a variable, or a list of variables");
        all.push_back(one.cast<VariablePtr>());
    };
    if (py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given)) {
        for (auto const& one : given) add(one);
    } else {
        add(given);
    }
    return all;
}

std::vector<Variable*> pointers(Variables const& list) {
    std::vector<Variable*> all;
    for (VariablePtr const& v : list) {
        if (v == nullptr) throw rowan::TypeError("a variable", "None", "a variable");
        static_cast<void>(scope_for(*v));
        all.push_back(v.get());
    }
    return all;
}

Variables objects(ScopePtr const& scope, std::vector<Variable*> const& list) {
    Variables all;
    for (Variable* const v : list) all.emplace_back(scope, v);
    return all;
}

/// Calls f<double>() if the first variable without integers has elements of double, else f<float>().
template <class F>
auto with_gradients(std::vector<Variable*> const& states, F const& f) {
    for (Variable const* v : states) {
        if (rowan::is_integral(v->spec().dtype)) continue;
        if (v->spec().dtype == rowan::dtype<double>::wire) return f.template operator()<double>();
        break;
    }
    return f.template operator()<float>();
}

// ---- recurrent layers, see layer/detail/recurrence.hpp

using Given = std::variant<std::int64_t, VariablePtr>;

template <class R>
std::pair<VariablePtr, Variables> recurrence(VariablePtr const& x, std::vector<Given> const& given,
                                             py::function const& step, rowan::layer::RnnOptions const& options) {
    ScopePtr const outside = default_scope();
    rowan::ScopeGuard const guard(scope_for(*x));
    std::vector<rowan::layer::Memory> memories;
    for (Given const& memory : given) {
        if (auto const* const size = std::get_if<std::int64_t>(&memory)) {
            memories.push_back({.size = *size});
        } else {
            static_cast<void>(scope_for(*std::get<VariablePtr>(memory)));
            memories.push_back({.like = rowan::layer::AnyVar(*std::get<VariablePtr>(memory))});
        }
    }
    auto open = d::open_recurrence(*outside, *x, memories, options, rowan::tensor_spec<R>({}));
    d::WithdrawnScope refused{&open.step};
    VariablePtr output;
    std::vector<Variable*> after;
    {
        StepScope const inside(outside, open.block, open.step);
        Variables states;
        for (Variable* const v : open.before) states.push_back(inside.object(*v));
        py::object const made = step(inside.object(open.x), states);
        if (!py::isinstance<py::tuple>(made) || py::len(made) != 2)
            throw rowan::TypeError("rnn: what the step returns", type_text(made),
                                   "a pair of its output and its states");
        auto const pair = py::reinterpret_borrow<py::tuple>(made);
        auto const outputs = variables_of("rnn: the output of the step", pair[0]);
        if (outputs.size() != 1) throw rowan::TypeError("rnn: the output of the step", "a list", "a variable");
        output = outputs[0];
        for (VariablePtr const& v : variables_of("rnn: the states after the step", pair[1])) after.push_back(v.get());
    }
    Operator& op = d::close_recurrence(open, *output, after, d::LoopType::of<R, rowan::Cpu>(),
                                       {d::runs_whole<rowan::Cpu>, &d::for_parts<rowan::Cpu>});
    op.inner_names.clear();  // names of what a step reads are those of the net outside
    refused.scope = nullptr;
    auto results = objects(outside, op.outputs);
    VariablePtr const all = results[open.before.size()];
    results.resize(open.before.size());
    return {all, results};
}

std::pair<VariablePtr, Variables> rnn_with_last(VariablePtr const& x, std::vector<Given> const& memories,
                                                py::function const& step, bool reverse, std::ptrdiff_t level,
                                                std::string const& dtype) {
    rowan::layer::RnnOptions const options{.reverse = reverse, .level = level};
    if (dtype == "float64") return recurrence<double>(x, memories, step, options);
    if (dtype != "float32") throw rowan::TypeError("rnn: dtype", dtype, "float32 or float64");
    return recurrence<float>(x, memories, step, options);
}

VariablePtr static_input(VariablePtr const& x) {
    rowan::ScopeGuard const guard(scope_for(*x));
    return {default_scope(), &*rowan::layer::static_input(rowan::layer::Var<float>(*x))};  // of any elements
}

// ---- loops and conditionals, see layer/while_loop.hpp and layer/cond.hpp

Variables while_loop(Variables const& first, py::function const& condition, py::function const& body,
                     std::int64_t max_iterations) {
    if (first.empty()) throw GraphError("while_loop: it needs a state at least");
    ScopePtr const outside = default_scope();
    auto const inputs = pointers(first);
    rowan::ScopeGuard const guard(*outside);
    auto open = d::open_loop(*outside, inputs, {.max_iterations = max_iterations});
    d::WithdrawnScope refused{&open.scope};
    Variable* holding = nullptr;
    std::vector<Variable*> ends;
    {
        StepScope const inside(outside, open.block, open.scope);
        py::list states;
        for (Variable* const v : open.before) states.append(inside.object(*v));
        auto const holds = variables_of("while_loop: the condition", condition(*states));
        if (holds.size() != 1 || holds[0]->spec().dtype != rowan::dtype<bool>::wire)
            throw rowan::TypeError("while_loop: the condition", "another result", "a variable of bool");
        holding = holds[0].get();
        auto const after = variables_of("while_loop: the states after an iteration", body(*states));
        if (after.size() != inputs.size())
            throw rowan::ShapeError("while_loop: the number of states after an iteration", after.size(),
                                    inputs.size());
        for (VariablePtr const& v : after) ends.push_back(v.get());
    }
    auto const type = with_gradients(inputs, []<class R>() { return d::LoopType::of<R, rowan::Cpu>(); });
    Operator& op = d::close_loop(open, inputs, *holding, ends, type, &d::loop_holds<rowan::Cpu>);
    refused.scope = nullptr;
    std::vector<Variable*> const results(op.outputs.begin(),
                                         op.outputs.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    return objects(outside, results);
}

Variables cond(VariablePtr const& condition, py::function const& then, py::function const& otherwise) {
    ScopePtr const outside = default_scope();
    rowan::ScopeGuard const guard(scope_for(*condition));
    auto open = d::open_cond(*outside, *condition);
    d::WithdrawnScope refused[]{{open.scopes[0]}, {open.scopes[1]}};
    auto const build = [&](std::size_t b, py::function const& branch) {
        StepScope const inside(outside, open.block, *open.scopes[b]);
        std::vector<Variable*> results;
        for (VariablePtr const& v : variables_of("cond: the result of a branch", branch())) results.push_back(v.get());
        d::end_branch(open, b, results);
        return results;
    };
    auto const results = build(0, then);
    build(1, otherwise);
    auto const type = with_gradients(results, []<class R>() { return d::LoopType::of<R, rowan::Cpu>(); });
    Operator& op = d::close_cond(open, *condition, type, &d::cond_holds<rowan::Cpu>);
    for (auto& scope : refused) scope.scope = nullptr;
    return objects(outside, {op.outputs.begin(), op.outputs.begin() + static_cast<std::ptrdiff_t>(results.size())});
}

VariablePtr seed() {
    rowan::ScopeGuard const guard(*default_scope());
    ScopePtr scope = default_scope();
    while (scope->parent() != nullptr) scope = ScopePtr(scope, scope->parent());
    return {scope, &rowan::layer::new_seed()};
}

}  // namespace

void bind_steps(py::module_& m) {
    m.def("rnn_with_last", &rnn_with_last, py::arg("x").none(false), py::arg("memories"), py::arg("step"),
          py::arg("reverse") = false, py::arg("level") = -1, py::arg("dtype") = "float32",
          "Runs step(x_t, states), which returns (output, states), over the sequences of x. A memory is a width or its "
          "first state. Returns the outputs, and the last states of all sequences.");
    m.def("static_input", &static_input, py::arg("x").none(false),
          "In a step: the sequence of an outer variable that belongs to each sequence of the step.");
    m.def("while_loop", &while_loop, py::arg("states"), py::arg("condition"), py::arg("body"),
          py::arg("max_iterations") = 0,
          "Runs body(*states), which returns the next states, while condition(*states).");
    m.def("cond", &cond, py::arg("condition").none(false), py::arg("then"), py::arg("otherwise"),
          "The results of then() if the condition is true, else those of otherwise().");
    m.def("seed", &seed, "A variable that train sets for every batch, for random operators; it is empty elsewhere.");
}

}  // namespace python
