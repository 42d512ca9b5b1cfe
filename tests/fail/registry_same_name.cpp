// expect: two operators share a name
#include <rowan/op/registry.hpp>

struct mine {
#ifdef ROWAN_VALID_TWIN
    static constexpr std::string_view name = "my_sgd";
#else
    static constexpr std::string_view name = "sgd";
#endif
};
struct other {
    static constexpr std::string_view name = "sgd";
};
template struct rowan::registry<mine, other>;
