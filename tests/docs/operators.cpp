// tests/docs/operators.cpp: prints include/rowan/OPERATORS.md, the table of rowan's operators, from their declarations.
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/full.hpp>

#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using namespace rowan;

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

/// Text in a cell of a table.
std::string cell(std::string_view text) {
    std::string escaped;
    for (char const c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    return escaped;
}

template <class Slots>
std::string listed(Slots, bool any_number) {
    std::string text;
    for (std::string_view const name : Slots::names) {
        text += (text.empty() ? "" : ", ") + std::string(name) + (any_number && text.empty() ? "…" : "");
    }
    return text;
}

template <class V>
std::string shown(V const& value) {
    std::ostringstream text;
    if constexpr (std::is_same_v<V, bool>) {
        text << (value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<V>) {
        text << value;
    } else if constexpr (std::is_same_v<V, Reduction>) {
        text << (value == Reduction::none ? "none" : value == Reduction::mean ? "mean" : "sum");
    } else if constexpr (std::is_enum_v<V>) {
        static_assert(std::is_same_v<V, Pooling>);
        constexpr std::string_view names[]{"sum", "mean", "sqrt", "max", "min", "first", "last"};
        text << names[static_cast<std::size_t>(value)];
    } else if constexpr (std::is_same_v<V, std::string>) {
        text << '"' << value << '"';
    } else if constexpr (requires { value.has_value(); }) {
        text << (value ? shown(*value) : "none");
    } else {
        text << "{";
        for (std::size_t i = 0; i < value.size(); ++i) text << (i == 0 ? "" : ", ") << value[i];
        text << "}";
    }
    return text.str();
}

template <class Options>
std::string options() {
    std::string text;
    if constexpr (has_fields<Options>) {
        Options const first{};
        each_field<Options>([&](auto const& field) {
            text += (text.empty() ? "" : ", ") + std::string(field.name) + " = " + shown(first.*field.member);
        });
    }
    return text.empty() ? "" : code(text);
}

template <class Op>
std::string elements() {
    constexpr Elements e = elements_of<Op>;
    return e == Elements::floats    ? "floats"
           : e == Elements::integers ? "integers"
           : e == Elements::numbers  ? "numbers"
           : e == Elements::bools    ? "bool"
                                     : "all";
}

/// Whether the first input is any number of values.
template <class Op>
bool any_number() {
    bool found = false;
    if constexpr (Op::inputs::size != 0)
        detail::each_input_types<Op, float>([&]<class... T>(detail::type_list<T...>) { found = found || detail::is_variadic<Op, Cpu, T...>; });
    return found;
}

template <class Op>
void print() {
    std::printf("| %s | %s | %s → %s | %s | %s | %s |\n", code(Op::name).c_str(), cell(Op::brief).c_str(),
                listed(typename Op::inputs{}, any_number<Op>()).c_str(), listed(typename Op::outputs{}, false).c_str(),
                options<attributes_of<Op>>().c_str(), elements<Op>().c_str(), differentiable<Op> ? "yes" : "");
}

template <class... Op>
void print_all(detail::type_list<Op...>) {
    (..., print<Op>());
}

void heading(char const* title) {
    std::printf("\n## %s\n\n| name | result | inputs → outputs | options | elements | gradient |\n|---|---|---|---|---|---|\n", title);
}

}  // namespace

int main() {
    std::puts(
        "# The operators\n\n"
        "The names are those in nets and files. An operator is the type `name_op`, the layer `layer::name` and in Python `rowan.layer.name`;\n"
        "the function `rowan::name` says the rest: shapes, errors, cost. `x…` is any number of inputs. Elements: floats are float, double,\n"
        "bfloat16, float16 and types of your own; integers are int64 and int32; numbers are both. Inputs named ids, label, offset and length\n"
        "hold integers. This table is printed by `tests/docs/operators.cpp`.");
    heading("In programs");
    print_all(detail::program_ops{});
    print<cast_op<float>>();
    print<full_op<float>>();
    heading("For training alone");
    print_all(detail::training_ops{});
}
