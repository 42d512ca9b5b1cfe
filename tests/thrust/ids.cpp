// tests/thrust/ids.cpp: row numbers from the host and from a device, and errors of bad ones.
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/loss/mse.hpp>
#include <rowan/thrust/core/ids.hpp>
#include <rowan/thrust/op.hpp>
#include <rowan/thrust/op/cast.hpp>
#include <rowan/thrust/sequence/sequence_erase.hpp>
#include <rowan/thrust/sparse/deferred.hpp>
#include <rowan/thrust/sparse/from_dense.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/merge.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/split.hpp>
#include <rowan/thrust/sparse/squared_norm.hpp>

#include "devices.hpp"

#include <array>
#include <span>

namespace test_ids {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::gather, rowan::Ids, rowan::IndexError, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("ids on a device are made from its tensors and from everything the host accepts", "[thrust][ids]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const table{{1, 2}, {3, 4}, {5, 6}};
    Tensor<float> const want{{5, 6}, {1, 2}, {5, 6}};
    CHECK(same_bits(gather(table, {2, 0, 2}), want));
    CHECK(same_bits(gather(table, std::vector<std::int32_t>{2, 0, 2}), want));
    CHECK(same_bits(gather(table, std::array<std::int64_t, 3>{2, 0, 2}), want));
    CHECK(same_bits(gather(table, Tensor<std::int32_t>{2, 0, 2}), want));
    CHECK(same_bits(gather(table, Tensor<std::int32_t, D>{2, 0, 2}), want));
    CHECK(same_bits(gather(table, Tensor<std::int64_t, D>{2, 0, 2}), want));
    CHECK(same_bits(gather(D{}, table, Tensor<std::int64_t, D>{2, 0, 2}), want));
    CHECK(same_bits(gather(table, Tensor<std::int32_t, D>{{2, 0}}), Tensor<float>{{{5, 6}, {1, 2}}}));
    CHECK(to_host(gather(table, Ids<D>())).shape() == device::Shape{0, 2});
    CHECK(to_host(gather(table, Tensor<std::int32_t, D>::from_shape({2, 0}))).shape() == device::Shape{2, 0, 2});
    Ids<D> const narrow = Tensor<std::int32_t, D>{{2, 0}};
    CHECK((narrow.on_device() && narrow.size() == 2 && narrow.shape() == device::Shape{1, 2} && narrow.bytes().size() == 8));
    Ids<D> const listed = Tensor<std::int64_t>{2, 0};
    CHECK((!listed.on_device() && listed.size() == 2 && listed.bytes().size() == 16));
}

TEMPLATE_TEST_CASE("a bad id of the host throws at once", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const table = Tensor<float, D>{{1, 2}, {3, 4}};
    CHECK(refusal<IndexError>([&] { gather(table, {0, 2, -1}); }) == "ids[1] = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { gather(table, std::vector<std::int32_t>{-1}); }) == "ids[0] = -1 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { gather(Tensor<float, D>::from_shape({0, 2}), {0}); }) == "ids[0] = 0 is not in [0, 0)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

TEMPLATE_TEST_CASE("the first bad weight of a device throws at the next synchronization, and a bad id before it comes first", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto x = Tensor<float>::full({100'000}, 1), bad = x;
    for (std::size_t i = 777; i < bad.size(); ++i) bad.data()[i] = -2;
    auto const on = to_device(D{}, x), weights = to_device(D{}, bad);
    auto const late = [](auto const& call) { return refusal<rowan::Error>([&] { call(); rowan::synchronize(D{}); }); };
    CHECK(late([&] { rowan::mse(on, on, weights); }) == "weights[777] is -2, expected in [0, 1e150]");
    CHECK(refusal<rowan::ValueError>([&] { to_host(rowan::huber(on, on, weights)); }) == "weights[777] is -2, expected in [0, 1e150]");
    CHECK(late([] {}) == "nothing was thrown");
    Tensor<float, D> const table{{1, 2}, {3, 4}};
    CHECK(late([&] {
              gather(table, Tensor<std::int64_t, D>{5});
              rowan::mse(on, on, weights);
          }) == "ids[0] = 5 is not in [0, 2)");
    CHECK(same_bits(rowan::mse(on, on, on), Tensor<float>{0}));
}

TEMPLATE_TEST_CASE("the first bad id of a device throws at the next synchronization", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const table{{1, 2}, {3, 4}};
    gather(table, Tensor<std::int64_t, D>{0, 1, 5, -1, 7});
    CHECK(late_refusal(D{}) == "ids[2] = 5 is not in [0, 2)");
    CHECK(late_refusal(D{}) == "nothing was thrown");

    auto ids = Tensor<std::int32_t>::full({100'000}, -3);
    for (std::size_t i = 0; i < 777; ++i) ids.data()[i] = 1;
    auto const out = gather(table, to_device(D{}, ids));
    try {
        to_host(out);
        FAIL_CHECK("nothing was thrown");
    } catch (IndexError const& error) {
        CHECK((error.field() == "ids" && error.position() == 777 && error.value() == -3 && error.bound() == 2));
    }
    CHECK(same_bits(gather(table, {1}), Tensor<float>{{3, 4}}));

    gather(table, Tensor<std::int64_t, D>{std::int64_t{1} << 40});
    CHECK(late_refusal(D{}) == "ids[0] = 1099511627776 is not in [0, 2)");
    gather(Tensor<float, D>::from_shape({2, 0}), Tensor<std::int64_t, D>{1, 2});  // rows without elements too
    CHECK(late_refusal(D{}) == "ids[1] = 2 is not in [0, 2)");
}

TEMPLATE_TEST_CASE("after a bad id, calls do nothing until the next synchronization", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float> const before{{1, 2}, {3, 4}};
    auto table = to_device(D{}, before);
    Tensor<float, D> const one{{1, 1}};
    scatter_add(table, Tensor<std::int32_t, D>{2}, one);
    scatter_add(table, {0}, one);                         // valid, but after the error
    scatter_add(table, Tensor<std::int32_t, D>{9}, one);  // bad, but not the first
    rowan::SelectedRows<float, D> const g(2, Tensor<std::int64_t, D>{-1}, one);
    CHECK(late_refusal(D{}) == "ids[0] = 2 is not in [0, 2)");
    CHECK(same_bits(table, before));
    scatter_add(table, {0}, one);
    CHECK(same_bits(table, Tensor<float>{{2, 3}, {3, 4}}));
    scatter_add(table, Tensor<std::int32_t, D>{9}, one);
    CHECK(refusal<IndexError>([&] { to_host(table); }) == "ids[0] = 9 is not in [0, 2)");
    CHECK(same_bits(table, Tensor<float>{{2, 3}, {3, 4}}));
}

TEMPLATE_TEST_CASE("a call that reads from a device throws an earlier error, once", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const table{{1, 2}, {3, 4}};
    rowan::SelectedRows<float, D> const g(2, {1, 1}, table);
    rowan::LoDTensor<std::int64_t, D> const tokens(Tensor<std::int64_t, D>{3, 1, 4}, rowan::Lod{{0, 2, 3}});
    Tensor<std::int64_t, D> const one{1};
    rowan::Deferred<rowan::SgdOptions, D> const deferred(2);
    auto const throws_once = [&](auto const& read) {
        gather(table, Tensor<std::int64_t, D>{0, 7});
        CHECK(refusal<IndexError>(read) == "ids[1] = 7 is not in [0, 2)");
        CHECK(read());
        CHECK(late_refusal(D{}) == "nothing was thrown");
    };
    throws_once([&] { return rowan::synchronize(D{}), true; });
    throws_once([&] { return same_bits(table, Tensor<float>{{1, 2}, {3, 4}}); });
    throws_once([&] { return to_host(Tensor<float, D>::from_shape({0, 2})).size() == 0; });
    throws_once([&] { return same_bits(g, rowan::SelectedRows<float>(2, {1, 1}, {{1, 2}, {3, 4}})); });
    throws_once([&] { return merge(g).rows().size() == 1; });
    throws_once([&] { return split(g, {1, 1})[1].rows().size() == 2; });
    throws_once([&] { return from_dense(table, 1.5).rows().size() == 2; });
    throws_once([&] { return squared_norm(table) == 30.0F; });
    throws_once([&] { return deferred.missed(1) == 0; });
    throws_once([&] { return same_bits(rowan::cast<std::int32_t>(table), Tensor<std::int32_t>{{1, 2}, {3, 4}}); });
    throws_once([&] { return sequence_erase(tokens, {1}).value().size() == 2; });
    throws_once([&] { return sequence_erase(tokens, one).value().size() == 2; });
}

TEMPLATE_TEST_CASE("any id for a table without rows throws at once", "[thrust][ids][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const none = Tensor<float, D>::from_shape({0, 2});
    CHECK(refusal<IndexError>([&] { gather(none, Tensor<std::int64_t, D>{0, 1}); }) == "ids[0] = 0 is not in [0, 0)");
    CHECK(to_host(gather(none, Tensor<std::int64_t, D>::from_shape({0}))).shape() == device::Shape{0, 2});
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_ids
