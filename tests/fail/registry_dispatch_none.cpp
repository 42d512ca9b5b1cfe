// expect: rowan::registry: dispatch needs at least one operator
#include <rowan/op/sgd.hpp>

#ifdef ROWAN_VALID_TWIN
using ops = rowan::registry<rowan::sgd_op>;
#else
using ops = rowan::registry<>;
#endif

bool known(std::string_view name) {
    return ops::dispatch(name, [](auto) { return true; });
}
