// expect: two operators share a name
#include <rowan/op/registry.hpp>

struct mine {
    static constexpr std::string_view name = "sgd";
};
struct other {
    static constexpr std::string_view name = "sgd";
};
template struct rowan::registry<mine, other>;
