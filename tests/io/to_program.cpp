// tests/io/to_program.cpp
#include <rowan/io/to_program.hpp>

#include "finite_differences.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>

namespace test_to_program {

using namespace rowan;

TEST_CASE("a program in words", "[io][golden]") {
    test::DefaultScope scope;
    auto const program = to_program(*layer::scale(layer::fc(layer::data("x", {UNK, 3}), {.output_size = 2}), 0.5));
    CHECK(to_string(program) ==
          "block 0\n"
          "  LOD_TENSOR x: f32[UNK, 3]\n"
          "  LOD_TENSOR fc_0.w_0: f32[3, 2], persistable\n"
          "  LOD_TENSOR fc_0.b_0: f32[2], persistable\n"
          "  LOD_TENSOR fc_0.out_0: f32[UNK, 2]\n"
          "  LOD_TENSOR scale_0.out_0: f32[UNK, 2]\n"
          "  out=x = feed()\n"
          "  out=fc_0.out_0 = fc(x=x, w=fc_0.w_0, b=fc_0.b_0)\n"
          "  out=scale_0.out_0 = scale(x=fc_0.out_0) {factor: 0.5, bias: 0}\n"
          "  fetch(x=scale_0.out_0), target");
    CHECK_THROWS_WITH(to_program(*layer::data("y", {UNK})), "the output \"y\" is written by no operator");
}

}  // namespace test_to_program
