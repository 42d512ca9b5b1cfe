// carries: tanh_op lstm_unit_op
// may carry: tanh_grad_op lstm_unit_grad_op matmul_op sum_rows_op expand_rows_op
// A program that finds operators by name at run time carries those that its registry names, though it calls none of them.
#include "without_iostream.hpp"

#include <rowan/rowan.hpp>

#include <cstdio>
#include <utility>

template <std::size_t>
using element = float;

template <class Op, std::size_t... i>
rowan::op_code const& code(std::index_sequence<i...>) {
    return rowan::code_of<Op, rowan::Cpu, element<i>...>::value;
}

int main(int argc, char** argv) {
    using ops = rowan::registry<rowan::tanh_op, rowan::lstm_unit_op>;
    for (int i = 1; i < argc; ++i) {
        auto const& found = ops::dispatch(argv[i], [](auto op) -> rowan::op_code const& {
            return code<decltype(op)>(std::make_index_sequence<decltype(op)::inputs::size>{});
        });
        std::printf("%s has %zu inputs\n", argv[i], found.inputs.size());
    }
}
