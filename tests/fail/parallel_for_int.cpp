// expect: rowan::parallel_for: the callback must take two std::size_t, begin and end
#include <rowan/core/parallel.hpp>

using position = int;  // too narrow for a table of more than 2^31 elements

void visit() {
    rowan::parallel_for(rowan::Cpu{}, 10, 1, [](position, position) {});
}
