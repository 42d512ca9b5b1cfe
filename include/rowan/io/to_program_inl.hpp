// rowan/io/to_program_inl.hpp: definitions of rowan/io/to_program.hpp.
#pragma once

#include <rowan/io/to_program.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/static_input.hpp>
#include <rowan/graph/while_loop.hpp>
#include <rowan/op/elementwise/declared.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

class ProgramWriter {
public:
    explicit ProgramWriter(std::span<ProgramOp const> ops) : ops_(ops) {}

    ProgramDesc write(std::span<Variable* const> outputs) {
        for (Variable const* v : outputs) {
            if (v->writers().empty()) throw GraphError({"the output \"", v->name(), "\" is written by no operator"});
        }
        auto const order = trace(outputs);
        for (auto& [v, name] : names_of(order)) {
            taken_.insert(name);
            names_.emplace(v, std::move(name));
        }
        add_block(-1);
        for (Operator const* op : order) add_sources(*op);
        add_operators(0, order);
        OpDesc fetch{.inputs = {{"x", {}}}, .type = "fetch", .is_target = true};
        for (Variable const* v : outputs) fetch.inputs[0].arguments.push_back(name(*v));
        program_.blocks[0].ops.push_back(std::move(fetch));
        program_.version.version = 2;
        return std::move(program_);
    }

private:
    std::int32_t add_block(std::int32_t parent) {
        auto const idx = static_cast<std::int32_t>(program_.blocks.size());
        program_.blocks.push_back({.idx = idx, .parent_idx = parent});
        return idx;
    }

    // Declares a variable in the block, unless it is declared already.
    void declare(std::int32_t block, Variable const& v) {
        if (!declared_.insert(&v).second) return;
        program_.blocks[static_cast<std::size_t>(block)].vars.push_back(
            describe(name(v), v.spec(), v.role() == Role::parameter));
    }

    std::string const& name(Variable const& v) const { return names_.at(&v); }

    // Adds the inputs that no operator writes: data, seeds and parameters.
    void add_sources(Operator const& op) {
        for (Variable const* v : op.inputs) {
            if (!v->writers().empty() || declared_.contains(v)) continue;
            declare(0, *v);
            if (v->role() == Role::parameter) continue;
            if (v->role() != Role::data && v->role() != Role::seed)
                throw GraphError(
                    {"the variable \"", name(*v), "\" is neither data nor a parameter, and no operator writes it"});
            program_.blocks[0].ops.push_back(
                {.outputs = {{"out", {name(*v)}}}, .type = v->role() == Role::data ? "feed" : "seed"});
        }
    }

    void add_operators(std::int32_t block, std::span<Operator* const> order) {
        for (Operator const* op : order) {
            OpDesc desc{.type = std::string(op->kernel->name)};
            auto const list = [&](std::vector<Variable*> const& variables, std::span<std::string_view const> slots) {
                std::vector<OpDesc::Var> held;
                for (std::size_t k = 0; k < slots.size(); ++k) {
                    OpDesc::Var& slot = held.emplace_back(OpDesc::Var{std::string(slots[k]), {}});
                    for (Variable const* v : in_slot(variables, slots.size(), k)) slot.arguments.push_back(name(*v));
                }
                return held;
            };
            for (Variable const* v : op->outputs) declare(block, *v);
            desc.inputs = list(op->inputs, op->kernel->inputs);
            desc.outputs = list(op->outputs, op->kernel->outputs);
            desc.attrs = attributes(block, *op);
            program_.blocks[static_cast<std::size_t>(block)].ops.push_back(std::move(desc));
        }
    }

    std::vector<Attribute> attributes(std::int32_t block, Operator const& op) {
        AttributesRef const a = op.attributes;
        if (op.kernel->is<rnn_op>()) return rnn(block, a.get<RnnBlock>());
        if (op.kernel->is<while_op>()) return loop(block, a.get<WhileBlock>());
        if (op.kernel->is<cond_op>()) return cond(block, a.get<CondBlock>());
        if (op.kernel->is<static_input_op>()) return {};
        OpFamily const family = op.kernel->family;
        if (family == OpFamily::full) return describe_attributes(a.get<ConstantOptions>());
        if (family == OpFamily::array && op.kernel->inputs.empty()) return slots(a.get<VarSpec>());
        if (family != OpFamily::none) return {};
        if (is_reserved(op.kernel->name))
            throw GraphError({"an operator of your own has the name \"", op.kernel->name,
                              "\", which means one of rowan's in a program: rename it"});
        auto const found = std::ranges::find(ops_, op.kernel->name, &ProgramOp::name);
        if (found == ops_.end()) {
            std::vector<std::string_view> names;
            for (ProgramOp const& known : ops_) names.push_back(known.name);
            there_is_no_operator_of_that_name(op.kernel->name, names);
        }
        if (!found->is(*op.kernel))
            throw GraphError({"the registry has another operator with the name \"", op.kernel->name,
                              "\" than the net: rename yours"});
        return found->describe(a);
    }

    /// Whether this name in a program means an operator of rowan's that no registry lists.
    static bool is_reserved(std::string_view name) {
        using k = array_kernels<float, Cpu>;  // the names are the same for all element types
        auto const is_any = [&](auto const... names) { return ((name == names) || ...); };
        auto const is_typed = [&]<class... T>(std::tuple<T...>*) {
            return is_any(declared<cast_op<T>>::name...) || is_any(declared<full_op<T>>::name...);
        };
        return is_any("feed", "seed", "fetch", cond_kernel.name, rnn_kernel.name, static_kernel.name, while_kernel.name,
                      k::create::name, k::read::name, k::write::name, k::stack::name, k::unstack::name,
                      k::size::name) ||
               is_typed(static_cast<
                        std::tuple<float, double, std::int64_t, std::int32_t, std::uint8_t, bool, bfloat16, float16>*>(
                   nullptr));
    }

    static std::vector<Attribute> slots(VarSpec const& spec) {
        return {{"data_type", spec.dtype},
                {"dims", std::vector<std::int64_t>(spec.dims.begin(), spec.dims.end())},
                {"lod_level", static_cast<std::int64_t>(spec.lod_level)}};
    }

    std::vector<Attribute> rnn(std::int32_t parent, RnnBlock const& block) {
        std::vector<Variable*> before, after, targets{block.net.out};
        for (auto const& m : block.net.memories) {
            before.push_back(m.before);
            after.push_back(m.after);
            targets.push_back(m.after);
        }
        auto given = before;
        given.insert(given.begin(), block.net.x);
        BlockIndex const idx = inner(parent, *block.scope, given, targets);
        return {{"block", idx},
                {"level", static_cast<std::int64_t>(block.level)},
                {"reverse", block.reverse},
                {"has_boot", block.has_boot},
                {"x", VarName{name(*block.net.x)}},
                {"before", names(before)},
                {"after", names(after)},
                {"out", VarName{name(*block.net.out)}}};
    }

    std::vector<Attribute> loop(std::int32_t parent, WhileBlock const& block) {
        std::vector<Variable*> before, after, targets{block.net.condition};
        for (auto const& s : block.net.states) {
            before.push_back(s.before);
            after.push_back(s.after);
            targets.push_back(s.after);
        }
        BlockIndex const idx = inner(parent, *block.scope, before, targets);
        return {{"block", idx},
                {"max_iterations", block.max_iterations},
                {"data_type", block.gradient_dtype},
                {"condition", VarName{name(*block.net.condition)}},
                {"before", names(before)},
                {"after", names(after)}};
    }

    std::vector<Attribute> cond(std::int32_t parent, CondBlock const& block) {
        std::vector<Attribute> result{{"data_type", block.gradient_dtype}};
        for (std::size_t b = 0; b < 2; ++b) {
            std::vector<Variable*> targets;
            for (auto const& s : block.branches[b].net.states) targets.push_back(s.after);
            BlockIndex const idx = inner(parent, *block.branches[b].scope, {}, targets);
            result.push_back({b == 0 ? "then" : "else", idx});
            result.push_back({b == 0 ? "then_out" : "else_out", names(targets)});
        }
        return result;
    }

    // Adds the block of a step; its variables get names that differ from those of all others.
    BlockIndex inner(std::int32_t parent, Scope& scope, std::span<Variable* const> given,
                     std::span<Variable* const> targets) {
        std::int32_t const idx = add_block(parent);
        auto const order = trace(targets, &scope);
        auto const call = [&](Variable const& v) {
            if (&v.scope() != &scope || names_.contains(&v)) return;
            std::string free = v.name();
            for (auto& k = tildes_[free]; !taken_.insert(free).second; ++k) {
                free = v.name() + "~";
                if (k > 0) free.append(std::to_string(k + 1));  // "fc_0.out_0~", then "fc_0.out_0~2"
            }
            names_.emplace(&v, std::move(free));
        };
        for (Variable const* v : given) call(*v);
        for (Operator const* op : order) {
            for (Variable const* v : op->outputs) call(*v);
        }
        for (Variable const* v : given) declare(idx, *v);
        add_operators(idx, order);
        return {idx};
    }

    std::vector<VarName> names(std::span<Variable* const> variables) const {
        std::vector<VarName> list;
        for (Variable const* v : variables) list.push_back({name(*v)});
        return list;
    }

    std::span<ProgramOp const> ops_;
    ProgramDesc program_;
    std::unordered_map<Variable const*, std::string> names_;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, std::size_t> tildes_;  // how many of a name with numbers are known to be taken
    std::unordered_set<Variable const*> declared_;
};

ROWAN_CALLED_FUNCTION ROWAN_RARE ProgramDesc write_program(std::span<ProgramOp const> ops,
                                                           std::span<Variable* const> outputs) {
    return ProgramWriter(ops).write(outputs);
}

}  // namespace rowan::inline v0::detail

#endif
