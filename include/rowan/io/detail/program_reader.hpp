// rowan/io/detail/program_reader.hpp: ProgramReader, which adds a program to a scope.
#pragma once

#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/static_input.hpp>
#include <rowan/io/program_desc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// "LoDTensor<f32>[UNK, 4] with 1 level"
ROWAN_IF_CALLED std::string spec_text(VarSpec const& spec);

/// The operator and its inputs: "fc(x, w, b)".
ROWAN_IF_CALLED std::string called(OpDesc const& op);

/// Throws a GraphError with the slots of the descriptor and those of the operator that was made of it.
ROWAN_IF_CALLED [[noreturn]] void wrong_slots(OpDesc const& op, Operator const& made);

template <class Device, class... T>
class ProgramReader {
public:
    /// Adds the operator of a descriptor to the default scope.
    using Make = Operator& (*)(OpDesc const&, std::vector<Variable*> const&);

    ProgramReader(ProgramDesc const& program, Make make)
        : program_(program), make_(make), used_(program.blocks.size(), false) {}

    /// Adds the program to `scope` and returns the inputs of its fetch operators.
    std::vector<Variable*> read(Scope& scope);

private:
    using Variables = std::vector<Variable*>;

    /// The variables of a block by their names in the program.
    struct Frame {
        Frame(ProgramReader const& reader, std::size_t index, Frame const* around)
            : block(reader.program_.blocks[index]), outer(around) {
            for (VarDesc const& v : block.vars) declared.emplace(v.name, &v);
        }

        Variable& find(std::string const& name) const {
            for (Frame const* f = this; f != nullptr; f = f->outer) {
                if (auto const found = f->variables.find(name); found != f->variables.end()) return *found->second;
            }
            throw GraphError({"the variable \"", name, "\" is read before an operator writes it"});
        }
        VarDesc const& desc(std::string const& name) const {
            auto const found = declared.find(name);
            if (found == declared.end()) throw GraphError({"the variable \"", name, "\" is not declared in its block"});
            return *found->second;
        }
        /// Registers a variable. Throws GraphError unless it is as declared and its name is new.
        void define(std::string const& name, Variable& v) {
            VarSpec is = v.spec();
            if (is.type == VarType::STEP_SCOPES) is.dtype = dtype<float>::wire;  // as spec_of gives it
            if (VarSpec const spec = spec_of(desc(name)); !(spec == is))
                throw GraphError(
                    {"the variable \"", name, "\" is declared as ", spec_text(spec), ", but is ", spec_text(v.spec())});
            if (!variables.emplace(name, &v).second) throw GraphError({"the variable \"", name, "\" is written twice"});
            if (v.name().empty()) v.scope().set_name(v, name);
        }

        BlockDesc const& block;
        Frame const* outer;
        std::map<std::string_view, VarDesc const*> declared;
        std::map<std::string, Variable*, std::less<>> variables;
    };

    void read_operators(Frame& frame) {
        for (OpDesc const& op : frame.block.ops) {
            if (op.type == "feed" || op.type == "seed") {
                read_source(frame, op);
            } else if (op.type == "fetch") {
                if (frame.outer != nullptr)
                    throw GraphError("an inner block of the program has an operator of type fetch");
                for (Variable* v : inputs_of(frame, op)) fetched_.push_back(v);
            } else {
                try {
                    read_operator(frame, op);
                } catch (...) {
                    rethrow_in(called(op));
                }
            }
        }
    }

    void read_source(Frame& frame, OpDesc const& op);

    void read_operator(Frame& frame, OpDesc const& op) {
        Variables inputs = inputs_of(frame, op);
        Operator& made = op.type == "rnn"                ? read_rnn(frame, op, inputs)
                         : op.type == "while_loop"       ? read_loop(frame, op, inputs)
                         : op.type == "cond"             ? read_cond(frame, op, inputs)
                         : op.type == static_kernel.name ? read_static(op, inputs)
                         : is_array_op(op.type)          ? read_array(op, inputs)
                                                         : make_(op, inputs);
        std::vector<std::string> names;
        for (OpDesc::Var const& slot : op.outputs)
            names.insert(names.end(), slot.arguments.begin(), slot.arguments.end());
        auto const fit = [](std::vector<OpDesc::Var> const& slots, std::span<std::string_view const> known) {
            return std::ranges::equal(slots, known, {}, &OpDesc::Var::parameter);
        };
        if (names.size() != made.outputs.size() || made.inputs != inputs || !fit(op.inputs, made.kernel->inputs) ||
            !fit(op.outputs, made.kernel->outputs))
            wrong_slots(op, made);
        for (std::size_t i = 0; i < names.size(); ++i) frame.define(names[i], *made.outputs[i]);
    }

    static Variables inputs_of(Frame const& frame, OpDesc const& op);

    /// Calls f(std::type_identity<E>{}) for the element type E whose number is `wire`.
    /// errors   TypeError if the calling program was not built for this element type
    template <class F>
    static Operator& with_element(std::string_view what, std::int32_t wire, F const& f);

    static void expect_inputs(OpDesc const& op, Variables const& inputs, std::size_t n);

    static Operator& read_static(OpDesc const& op, Variables const& inputs) {
        expect_inputs(op, inputs, 1);
        return default_scope().new_op(static_kernel, inputs);
    }

    // ---- arrays

    static bool is_array_op(std::string_view name);
    static Operator& read_array(OpDesc const& op, Variables const& inputs);

    // ---- blocks

    Frame inner(Frame const& outer, OpDesc const& op, std::string_view attribute = "block");

    static Variables list(Frame const& frame, OpDesc const& op, std::string_view attribute);

    // Registers the variables that a step receives under the names in the attribute.
    static void define_all(Frame& frame, OpDesc const& op, std::string_view attribute,
                           std::span<Variable* const> variables);

    Operator& read_rnn(Frame& outer, OpDesc const& op, Variables const& inputs);

    Operator& read_loop(Frame& outer, OpDesc const& op, Variables const& inputs);

    Operator& read_cond(Frame& outer, OpDesc const& op, Variables const& inputs);

    ProgramDesc const& program_;
    Make make_;
    std::vector<bool> used_;  // blocks that were read
    Variables fetched_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/program_reader_inl.hpp>
