// tests/carries/dispatch.cpp: a program that finds operators by name at run time.
#include "without_iostream.hpp"

#include <rowan/rowan.hpp>

#include <cstdio>
#include <utility>

template <std::size_t>
using element = float;

template <class Op, std::size_t... i>
rowan::op_kernel const& kernel(std::index_sequence<i...>) {
    return rowan::kernel_of<Op, rowan::Cpu, element<i>...>::value;
}

int main(int argc, char** argv) {
    using ops = rowan::registry<rowan::tanh_op, rowan::lstm_unit_op>;
    for (int i = 1; i < argc; ++i) {
        auto const& found = ops::dispatch(argv[i], [](auto op) -> rowan::op_kernel const& {
            return kernel<decltype(op)>(std::make_index_sequence<decltype(op)::inputs::size>{});
        });
        std::printf("%s has %zu inputs\n", argv[i], found.inputs.size());
    }
}
