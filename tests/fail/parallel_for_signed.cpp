// expect: rowan::parallel_for: the callback must take two std::size_t, begin and end
#include <rowan/core/parallel.hpp>

#include <cstdint>

using position = std::int64_t;

void visit() {
    rowan::parallel_for(rowan::Cpu{}, 10, 1, [](position, position) {});
}
