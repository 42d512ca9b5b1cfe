// expect: rowan::registry: dispatch needs at least one operator
#include <rowan/op/optimizer/optimizers.hpp>

using ops = rowan::registry<>;

bool known(std::string_view name) {
    return ops::dispatch(name, [](auto) { return true; });
}
