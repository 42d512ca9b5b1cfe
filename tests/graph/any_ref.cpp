// tests/graph/any_ref.cpp
#include <rowan/graph/any_ref.hpp>

#include "catch.hpp"

#include <memory>

namespace test_any_ref {

using namespace rowan;

TEST_CASE("a reference to an execution returns it, or a default if there is none", "[graph]") {
    Cpu const exec{.threads = 3};
    CHECK(AnyExec(exec).get<Cpu>() == exec);
    CHECK(AnyExec(exec).or_default<Cpu>() == exec);
    CHECK(AnyExec().or_default<Cpu>() == Cpu{});
    CHECK_FALSE(AnyExec());
    CHECK_THROWS_AS(AnyExec().get<Cpu>(), GraphError);
}

TEST_CASE("attributes are returned as their own type only, and live as long as a copy", "[graph]") {
    auto owner = std::make_shared<double const>(0.5);
    Attributes attributes(owner);
    std::weak_ptr<double const> const watch = owner;
    owner.reset();
    CHECK(attributes.get<double>() == 0.5);
    CHECK_THROWS_AS(attributes.get<float>(), GraphError);
    CHECK_FALSE(watch.expired());
    attributes = {};
    CHECK(watch.expired());
}

}  // namespace test_any_ref
