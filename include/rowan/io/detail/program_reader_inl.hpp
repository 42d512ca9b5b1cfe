// rowan/io/detail/program_reader_inl.hpp: definitions of rowan/io/detail/program_reader.hpp.
#pragma once

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/io/detail/program_reader.hpp>
#include <rowan/io/op_attributes.hpp>
#include <rowan/layer/cond.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/while_loop.hpp>
#include <rowan/train/optimizer.hpp>

#include <memory>
#include <type_traits>

#if ROWAN_DEFINES_FUNCTIONS
#include <sstream>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string spec_text(VarSpec const& spec) {
    std::ostringstream text;
    text << kind_text(spec) << spec.dims;
    if (spec.lod_level != 0) text << " with " << spec.lod_level << (spec.lod_level == 1 ? " level" : " levels");
    return text.str();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string called(OpDesc const& op) {
    std::string text = op.type + "(";
    for (OpDesc::Var const& slot : op.inputs) append_argument(text, slot.parameter, slot.arguments);
    return text + ")";
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void wrong_slots(OpDesc const& op, Operator const& made) {
    std::string const name = "operator " + op.type;
    auto const check = [&](char const* what, std::vector<OpDesc::Var> const& given,
                           std::span<std::string_view const> known) {
        if (std::ranges::equal(given, known, {}, &OpDesc::Var::parameter)) return;
        std::string is, expected;
        for (auto const& slot : given) is.append(is.empty() ? "" : ", ").append(slot.parameter);
        for (auto const slot : known) expected.append(expected.empty() ? "" : ", ").append(slot);
        throw GraphError({name, " has the ", what, " (", is, "), expected (", expected, ")"});
    };
    check("inputs", op.inputs, made.kernel->inputs);
    check("outputs", op.outputs, made.kernel->outputs);
    std::size_t results = 0;
    for (auto const& slot : op.outputs) results += slot.arguments.size();
    if (results != made.outputs.size())
        throw GraphError({name, " has ", results, " results, expected ", made.outputs.size()});
    throw GraphError({name, " does not read what its block reads, in the same order"});
}

}  // namespace rowan::inline v0::detail
#endif

namespace rowan::inline v0::detail {

template <class Device, class... T>
std::vector<Variable*> ProgramReader<Device, T...>::read(Scope& scope) {
    if (program_.blocks.empty()) throw GraphError("the program has no block");
    ScopeGuard const guard(scope);
    used_[0] = true;
    Frame frame(*this, 0, nullptr);
    for (VarDesc const& desc : frame.block.vars) {
        if (!desc.persistable) continue;
        VarSpec const spec = spec_of(desc);
        check_known(spec.dims);
        frame.define(desc.name, scope.new_var(desc.name, spec, Role::parameter));
    }
    read_operators(frame);
    if (fetched_.empty()) throw GraphError("the program has no operator of type fetch: it has no result");
    return fetched_;
}

template <class Device, class... T>
void ProgramReader<Device, T...>::read_source(Frame& frame, OpDesc const& op) {
    if (frame.outer != nullptr || op.outputs.size() != 1 || op.outputs[0].arguments.size() != 1)
        throw GraphError({"operator ", op.type, " does not make one variable of the outermost block"});
    std::string const& name = op.outputs[0].arguments[0];
    VarSpec const spec = spec_of(frame.desc(name));
    if (op.type == "feed") {
        Variable& v = default_scope().new_var(name, spec, Role::data);
        auto const attempt = [&]<class E>(std::type_identity<E>) {
            if (dtype<E>::wire != spec.dtype) return;
            v.bring = spec.type == VarType::SELECTED_ROWS ? &bring_rows<E, Device> : &bring<E, Device>;
        };
        (..., attempt(std::type_identity<T>{}));
        attempt(std::type_identity<std::int32_t>{});
        attempt(std::type_identity<std::int64_t>{});
        attempt(std::type_identity<bool>{});
        frame.define(name, v);
    } else {
        frame.define(name, layer::new_seed<Device>());
    }
}

template <class Device, class... T>
auto ProgramReader<Device, T...>::inputs_of(Frame const& frame, OpDesc const& op) -> Variables {
    Variables inputs;
    for (OpDesc::Var const& slot : op.inputs) {
        for (std::string const& name : slot.arguments) inputs.push_back(&frame.find(name));
    }
    return inputs;
}

template <class Device, class... T>
template <class F>
Operator& ProgramReader<Device, T...>::with_element(std::string_view what, std::int32_t wire, F const& f) {
    Operator* made = nullptr;
    auto const attempt = [&]<class E>(std::type_identity<E> type) {
        if (made == nullptr && dtype<E>::wire == wire) made = &f(type);
    };
    (..., attempt(std::type_identity<T>{}));
    attempt(std::type_identity<std::int64_t>{});
    if (made == nullptr)
        throw TypeError(what, dtype_text(wire), "a type among the template arguments, such as dtypes<float>");
    return *made;
}

template <class Device, class... T>
void ProgramReader<Device, T...>::expect_inputs(OpDesc const& op, Variables const& inputs, std::size_t n) {
    if (inputs.size() < n) throw GraphError({"operator ", op.type, " has too few inputs"});
}

template <class Device, class... T>
bool ProgramReader<Device, T...>::is_array_op(std::string_view name) {
    using k = array_kernels<float, Device>;  // the names are the same for all element types
    return name == k::create::name || name == k::read::name || name == k::write::name || name == k::stack::name ||
           name == k::unstack::name || name == k::size::name;
}

template <class Device, class... T>
Operator& ProgramReader<Device, T...>::read_array(OpDesc const& op, Variables const& inputs) {
    Scope& scope = default_scope();
    if (op.type == "array_create") {
        VarSpec const slot{.type = VarType::TENSOR_ARRAY,
                           .dtype = get_attribute<std::int32_t>(op, "data_type"),
                           .dims = read_attribute<Dims>(op, "dims"),
                           .lod_level = read_attribute<std::size_t>(op, "lod_level")};
        return with_element("array_create: the elements", slot.dtype, [&]<class E>(std::type_identity<E>) -> Operator& {
            using create = typename array_kernels<E, Device>::create;
            return scope.new_op(whole_kernel<create>::value, {}, std::make_shared<VarSpec const>(slot));
        });
    }
    expect_inputs(op, inputs, 1);
    return with_element(op.type, inputs[0]->spec().dtype, [&]<class E>(std::type_identity<E>) -> Operator& {
        using k = array_kernels<E, Device>;
        for (op_kernel const* c : {&whole_kernel<typename k::read>::value, &whole_kernel<typename k::write>::value,
                                   &whole_kernel<typename k::stack>::value, &whole_kernel<typename k::unstack>::value,
                                   &whole_kernel<typename k::size>::value}) {
            if (c->name != op.type) continue;
            if (inputs.size() != c->inputs.size())
                throw GraphError({"operator ", op.type, " has the wrong number of inputs"});
            return scope.new_op(*c, inputs, std::make_shared<VarSpec const>(inputs[0]->spec()));
        }
        throw GraphError({"there is no operator \"", op.type, "\""});
    });
}

template <class Device, class... T>
auto ProgramReader<Device, T...>::inner(Frame const& outer, OpDesc const& op, std::string_view attribute) -> Frame {
    auto const index = static_cast<std::size_t>(get_attribute<BlockIndex>(op, attribute).value);
    if (index >= used_.size() || used_[index])
        throw GraphError({"operator ", op.type, ": its block is missing or belongs to another operator"});
    used_[index] = true;
    return Frame(*this, index, &outer);
}

template <class Device, class... T>
auto ProgramReader<Device, T...>::list(Frame const& frame, OpDesc const& op, std::string_view attribute) -> Variables {
    Variables variables;
    for (VarName const& name : get_attribute<std::vector<VarName>>(op, attribute))
        variables.push_back(&frame.find(name.value));
    return variables;
}

template <class Device, class... T>
void ProgramReader<Device, T...>::define_all(Frame& frame, OpDesc const& op, std::string_view attribute,
                                             std::span<Variable* const> variables) {
    auto const& names = get_attribute<std::vector<VarName>>(op, attribute);
    if (names.size() != variables.size()) bad_attribute(op, attribute, "has the wrong number of names");
    for (std::size_t i = 0; i < names.size(); ++i) frame.define(names[i].value, *variables[i]);
}

template <class Device, class... T>
Operator& ProgramReader<Device, T...>::read_rnn(Frame& outer, OpDesc const& op, Variables const& inputs) {
    Frame frame = inner(outer, op);
    auto const& has_boot = get_attribute<std::vector<bool>>(op, "has_boot");
    auto const& before = get_attribute<std::vector<VarName>>(op, "before");
    std::string const& x_name = get_attribute<VarName>(op, "x").value;
    std::string const& out_name = get_attribute<VarName>(op, "out").value;
    if (has_boot.size() != before.size()) bad_attribute(op, "has_boot", "has the wrong number of memories");
    expect_inputs(op, inputs, 1 + static_cast<std::size_t>(std::ranges::count(has_boot, true)));
    std::vector<layer::Memory> memories;
    std::size_t at = 1;
    for (std::size_t m = 0; m < before.size(); ++m) {
        layer::Memory& memory = memories.emplace_back();
        if (has_boot[m]) {
            memory.like = layer::AnyVar(*inputs[at++]);
        } else {
            auto const& dims = spec_of(frame.desc(before[m].value)).dims;
            memory.size = dims.size() == 2 ? dims[1] : 0;
        }
    }
    layer::RnnOptions const options{.reverse = get_attribute<bool>(op, "reverse"),
                                    .level = read_attribute<std::ptrdiff_t>(op, "level")};
    if (options.level < 0) bad_attribute(op, "level", "is negative");
    std::int32_t const result = spec_of(frame.desc(out_name)).dtype;
    return with_element("rnn: the result", result, [&]<class R>(std::type_identity<R>) -> Operator& {
        return with_element(
            "rnn: the input", inputs[0]->spec().dtype, [&]<class X>(std::type_identity<X>) -> Operator& {
                auto const made = recurrence<R>(
                    layer::Var<X, Device>(*inputs[0]), memories, options,
                    [&](layer::Var<X, Device> const& x_t, std::vector<layer::Var<R, Device>> const& states) {
                        frame.define(x_name, *x_t);
                        Variables variables;
                        for (auto const& s : states) variables.push_back(&*s);
                        define_all(frame, op, "before", variables);
                        read_operators(frame);
                        auto const state = [&](Variable& v) {
                            if (v.spec().dtype != dtype<R>::wire)
                                throw TypeError("rnn: a state after a step", kind_text(v.spec()),
                                                kind_text(tensor_spec<R>({})));
                            return layer::Var<R, Device>(v);
                        };
                        std::vector<layer::Var<R, Device>> after;
                        for (Variable* v : list(frame, op, "after")) after.push_back(state(*v));
                        return layer::Step<R, Device>{state(frame.find(out_name)), after};
                    });
                return *made.output->writers()[0];
            });
    });
}

template <class Device, class... T>
Operator& ProgramReader<Device, T...>::read_loop(Frame& outer, OpDesc const& op, Variables const& inputs) {
    Frame frame = inner(outer, op);
    auto const& before = get_attribute<std::vector<VarName>>(op, "before");
    expect_inputs(op, inputs, before.size());
    std::span<Variable* const> const first = std::span(inputs).first(before.size());
    auto open =
        open_loop(default_scope(), first, {.max_iterations = get_attribute<std::int64_t>(op, "max_iterations")});
    WithdrawnScope refused{&open.scope};
    Variable* condition = nullptr;
    Variables after;
    {
        ScopeGuard const guard(open.scope);
        define_all(frame, op, "before", open.before);
        read_operators(frame);
        condition = &frame.find(get_attribute<VarName>(op, "condition").value);
        after = list(frame, op, "after");
        if (after.size() != open.before.size()) bad_attribute(op, "after", "has the wrong number of states");
    }
    Operator& made = with_element("while_loop: gradients", get_attribute<std::int32_t>(op, "data_type"),
                                  [&]<class R>(std::type_identity<R>) -> Operator& {
                                      return close_loop(open, first, *condition, after, LoopType::of<R, Device>(),
                                                        &loop_holds<Device>);
                                  });
    refused.scope = nullptr;
    return made;
}

template <class Device, class... T>
Operator& ProgramReader<Device, T...>::read_cond(Frame& outer, OpDesc const& op, Variables const& inputs) {
    expect_inputs(op, inputs, 1);
    auto open = open_cond(default_scope(), *inputs[0]);
    WithdrawnScope refused[]{{open.scopes[0]}, {open.scopes[1]}};
    for (std::size_t b = 0; b < 2; ++b) {
        Frame frame = inner(outer, op, b == 0 ? "then" : "else");
        ScopeGuard const guard(*open.scopes[b]);
        read_operators(frame);
        end_branch(open, b, list(frame, op, b == 0 ? "then_out" : "else_out"));
    }
    Operator& made =
        with_element("cond: gradients", get_attribute<std::int32_t>(op, "data_type"),
                     [&]<class R>(std::type_identity<R>) -> Operator& {
                         return close_cond(open, *inputs[0], LoopType::of<R, Device>(), &cond_holds<Device>);
                     });
    for (auto& scope : refused) scope.scope = nullptr;
    return made;
}

ROWAN_TEMPLATE(class ProgramReader<Cpu, float>)
ROWAN_TEMPLATE(class ProgramReader<Cpu, double>)

}  // namespace rowan::inline v0::detail
