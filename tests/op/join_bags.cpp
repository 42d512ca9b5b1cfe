// tests/op/join_bags.cpp: the ids of each table, joined and split again, and TorchRec's lists.
#include <rowan/op/table/join_bags.hpp>

#include "inputs.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace test_join_bags {

using namespace rowan;
using Ints = LoDTensor<std::int64_t>;

TEST_CASE("the bags of tables are joined and split again", "[join_bags]") {
    std::vector<Ints> const parts{Ints({3, 0, 1}, Lod{{0, 2, 3}}), Ints({1, 1}, Lod{{0, 0, 2}}), Ints(Tensor<std::int64_t>::zeros({0}), Lod{{0, 0, 0}})};
    auto const joined = join_bags(parts);
    CHECK(joined == Ints({3, 0, 1, 1, 1}, Lod{{0, 2, 3, 3, 5, 5, 5}}));
    CHECK(split_bags(joined, 3) == parts);
    CHECK(split_bags(joined, 3)[1].value().data() == joined.value().data() + 3);
    CHECK(split_bags(joined, 1) == std::vector{joined});
    CHECK(join_bags(Cpu{1}, std::span(parts).first(1)) == parts[0]);
    std::vector<LoDTensor<float>> const weights{LoDTensor<float>({0.5F, 2}, Lod{{0, 2}}), LoDTensor<float>({3}, Lod{{0, 1}})};
    CHECK(join_bags(weights) == LoDTensor<float>({0.5F, 2, 3}, Lod{{0, 2, 3}}));
    Ints const none(Tensor<std::int64_t>::zeros({0}), Lod{{0}});  // an empty batch has all tables, too
    CHECK(join_bags(std::vector{none, none}) == none);
    CHECK(split_bags(none, 2) == std::vector{none, none});
}

TEST_CASE("the lists of a KeyedJaggedTensor are those of joined bags", "[join_bags]") {
    // TorchRec: keys ["film", "actor"], values [3, 0, 1, 1, 1], lengths [2, 1, 0, 2]
    std::vector<std::int64_t> const values{3, 0, 1, 1, 1};
    std::vector<std::int32_t> const lengths{2, 1, 0, 2};
    Ints const ids(Tensor<std::int64_t>(values), Lod::from_lengths({lengths}));
    CHECK(ids == join_bags(std::vector{Ints({3, 0, 1}, Lod{{0, 2, 3}}), Ints({1, 1}, Lod{{0, 0, 2}})}));
    CHECK(ids.lod().lengths(0) == std::vector<std::int64_t>{2, 1, 0, 2});
    CHECK(ids == Ints(Tensor<std::int64_t>(values), Lod{ids.lod()[0]}));
}

TEST_CASE("bags that do not belong together are not joined", "[join_bags][bad_input]") {
    Ints const two({3, 0, 1}, Lod{{0, 2, 3}}), one({3, 0}, Lod{{0, 2}});
    CHECK_THROWS_AS(join_bags(std::vector<Ints>()), ShapeError);
    CHECK_THROWS_WITH(join_bags(std::vector{two, one}), "x[1] is 1 bags, expected 2, as many as x[0]");
    CHECK_THROWS_WITH(join_bags(std::vector{two, Ints({3, 0})}), "x[1] levels is 0, expected 1");
    CHECK_THROWS_WITH(split_bags(two, 0), "tables.size() is 0, expected 1 or more");
    CHECK_THROWS_WITH(split_bags(Ints({3, 0, 1}, Lod{{0, 1, 2, 3}}), 2), "ids is 3 bags, expected a multiple of the number of tables, 2");
    CHECK_THROWS_WITH(split_bags(Ints({3}), 1), "ids levels is 0, expected 1");
}

}  // namespace test_join_bags
