// tests/io/operator_maker.cpp
#include <rowan/io/operator_maker.hpp>

#include "catch.hpp"

#include <rowan/io/to_program.hpp>
#include <rowan/op/elementwise/scale.hpp>
#include <rowan/op/elementwise/tanh.hpp>

#include <cstdint>
#include <vector>

namespace test_operator_maker {

using namespace rowan;
using ops = registry<scale_op, tanh_op>;

TEST_CASE("make_operator creates an operator by its name, for given variables", "[io]") {
    Scope scope;
    Variable& x = scope.new_var("x", tensor_spec<float>({UNK, 3}), Role::data);
    Variable& ids = scope.new_var("ids", tensor_spec<std::int64_t>({UNK}), Role::data);
    auto const make = [&](OpDesc const& op, std::vector<Variable*> const& inputs) -> Operator& {
        return make_operator<ops, Cpu, float>(scope, op, inputs);
    };
    Operator const& twice = make({.type = "scale", .attrs = {{"factor", 2.0}, {"bias", 1.0}}}, {&x});
    CHECK(twice.inputs == std::vector{&x});
    CHECK(twice.outputs[0]->spec() == x.spec());
    CHECK(&twice.outputs[0]->scope() == &scope);
    CHECK(to_program<ops>(*twice.outputs[0]).blocks[0].ops[1].attrs[0] == Attribute{"factor", 2.0});
    CHECK_THROWS_AS(make({.type = "scale"}, {&x}), GraphError);
    CHECK_THROWS_AS(make({.type = "scaling"}, {&x}), GraphError);
    CHECK_THROWS_AS(make({.type = "tanh"}, {&ids}), TypeError);
    CHECK(scope.operators().size() == 1);
}

}  // namespace test_operator_maker
