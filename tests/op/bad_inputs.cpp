// tests/op/bad_inputs.cpp: bad inputs give the same errors on any number of threads.
#include "bad_inputs.hpp"

namespace test_bad_inputs {

using rowan::Cpu;

TEST_CASE("bad inputs of sparse, sequence and op have one error for any number of threads, and nothing changes", "[op][bad_input]") {
    for (int const threads : {1, 2, 8}) {
        CAPTURE(threads);
        bad_inputs::check(Cpu{threads}, bad_inputs::sparse_calls<Cpu>());
        bad_inputs::check(Cpu{threads}, bad_inputs::sequence_calls<Cpu>());
        bad_inputs::check(Cpu{threads}, bad_inputs::op_calls<Cpu>());
    }
}

}  // namespace test_bad_inputs
