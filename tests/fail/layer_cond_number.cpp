// expect: rowan::layer::cond: the condition is a Var<bool>: compare, as in layer::greater.x, 0.
#include <rowan/layer/cond.hpp>
#include <rowan/layer/data.hpp>

auto use() {
    auto const x = rowan::layer::data("x", {1});
    return rowan::layer::cond(x, [&] { return x; }, [&] { return x; });
}
