// tests/op/sequence_concat.cpp
#include <rowan/op/sequence/sequence_concat.hpp>

#include "catch.hpp"

#include <rowan/op/gradients.hpp>

#include <array>
#include <vector>

namespace test_sequence_concat {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_concat_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK, rowan::VarSpec;

namespace {

constexpr std::array<VarSpec, 2> two{tensor_spec<float>({4, UNK}, 2), tensor_spec<float>({UNK, 3}, 2)};
static_assert(sequence_concat_op::infer(two) == tensor_spec<float>({UNK, 3}, 2));

}  // namespace

TEST_CASE("sequence_concat_op joins sequences, and its gradient cuts them apart", "[op][golden]") {
    Lod const a{{0, 1, 3}, {0, 2, 2, 3}}, b{{0, 1, 3}, {0, 1, 1, 1}}, none{{0, 1, 3}, {0, 0, 0, 0}};
    std::vector<LoDTensor<double>> const x{{{1, 2, 3}, a}, {{4}, b}, {Tensor<double>::zeros({0}), none}};
    auto const out = sequence_concat_op::run(Cpu{}, x);
    CHECK((out == LoDTensor<double>({1, 2, 4, 3}, Lod{{0, 1, 3}, {0, 3, 3, 4}})));
    LoDTensor<double> const out_grad(Tensor<double>{5, 6, 7, 8});  // which may have lost its levels
    auto const [grads] = rowan::gradients<sequence_concat_op>(Cpu{}, std::tuple(x), std::tie(out), std::tie(out_grad));
    REQUIRE(grads.size() == 3);
    CHECK((grads[0] == LoDTensor<double>({5, 6, 8}, a)));
    CHECK((grads[1] == LoDTensor<double>({7}, b)));
    CHECK((grads[2] == LoDTensor<double>(Tensor<double>::zeros({0}), none)));
}

TEST_CASE("the gradient of sequence_concat of an upper level", "[op]") {
    Lod const a{{0, 2, 2}, {0, 1, 3}}, b{{0, 1, 2}, {0, 2, 3}};
    std::vector<LoDTensor<double>> const x{{{1, 2, 3}, a}, {{4, 5, 6}, b}};
    auto const out = sequence_concat_op::run(Cpu{}, x, {0});
    CHECK((out == LoDTensor<double>({1, 2, 3, 4, 5, 6}, Lod{{0, 3, 4}, {0, 1, 3, 5, 6}})));
    auto const [grads] = rowan::gradients<sequence_concat_op>(Cpu{}, std::tuple(x), std::tie(out), std::tie(out), {0});
    CHECK((grads[0] == x[0] && grads[1] == x[1]));
}

}  // namespace test_sequence_concat
