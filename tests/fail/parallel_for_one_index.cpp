// expect: rowan::parallel_for: the callback must take two std::size_t, begin and end
#include <rowan/core/parallel.hpp>

void visit() {
    rowan::parallel_for(rowan::Cpu{}, 10, 1, [](std::size_t) {});
}
