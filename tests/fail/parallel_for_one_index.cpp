// expect: rowan::parallel_for: the callback must take two std::size_t, begin and end
#include <rowan/core/parallel.hpp>

void visit() {
#ifdef ROWAN_VALID_TWIN
    rowan::parallel_for(rowan::Cpu{}, 10, 1, [](std::size_t, std::size_t) {});
#else
    rowan::parallel_for(rowan::Cpu{}, 10, 1, [](std::size_t) {});
#endif
}
