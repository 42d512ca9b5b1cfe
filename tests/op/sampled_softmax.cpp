// tests/op/sampled_softmax.cpp: sampled_softmax and nce against TensorFlow's numbers and Paddle's formula.
#include <rowan/op/loss/nce.hpp>
#include <rowan/op/loss/sampled_softmax.hpp>

#include "inputs.hpp"
#include "op/check_gradients.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace test_sampled_softmax {

using rowan::Cpu, rowan::IndexError, rowan::NceModel, rowan::NceOptions, rowan::Reduction, rowan::sampled_softmax_op, rowan::SampledSoftmaxOptions,
    rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;
using Floats = Tensor<double>;
using Ids = Tensor<std::int64_t>;

static_assert(sampled_softmax_op::infer(tensor_spec<float>({UNK, 8}), tensor_spec<float>({90, 8}), tensor_spec<float>({90}), tensor_spec<std::int32_t>({UNK}),
                                        tensor_spec<std::int64_t>({5}), tensor_spec<float>({UNK}), tensor_spec<float>({5}), {})[1] == tensor_spec<float>({UNK, 6}));

namespace {

template <class E, class Call>
void refuses(Call const& call, std::string const& text) {
    CHECK(test::refusal<E>(call) == text);
}

constexpr std::size_t n = 3, width = 5, classes = 7;

Floats numbers(Floats::shape_type const& shape, std::size_t step, std::size_t modulo, double scale) {
    auto x = Floats::from_shape(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = (static_cast<double>(i * step % modulo) - static_cast<double>(modulo / 2)) * scale;
    return x;
}
Floats const x = numbers({n, width}, 7, 13, 0.1), w = numbers({classes, width}, 5, 17, 0.05), b{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
Ids const ids{2, 4, 6, 0}, one{1, 2, 5}, two{{1, 2}, {2, 0}, {5, 6}};
Floats const count{0.9, 0.4, 0.3, 1.2}, of_one{0.5, 0.9, 0.2}, of_two{{0.5, 0.9}, {0.9, 1.2}, {0.2, 0.3}};
Floats const weights{1, 2, 3};  // of the losses of the rows

/// Some of what TensorFlow 2.21 gives for sampled_values=(ids, counts of labels, count), in float64.
struct Golden {
    Floats loss, x_row1, w_row2, b;
};

void check_near(Floats const& seen, Floats const& wanted) {
    REQUIRE(seen.shape() == wanted.shape());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        CAPTURE(i, seen.data()[i], wanted.data()[i]);
        CHECK(std::abs(seen.data()[i] - wanted.data()[i]) <= 1e-14 * (1 + std::abs(wanted.data()[i])));
    }
}
Floats row(Floats const& t, std::size_t i) { return Floats::from_values({t.shape(1)}, std::vector<double>(t.row(i).begin(), t.row(i).end())); }

void check_golden(Floats const& loss, std::tuple<Floats, SelectedRows<double>, SelectedRows<double>> const& grads, Golden const& golden) {
    auto const& [x_grad, w_grad, b_grad] = grads;
    check_near(loss, golden.loss);
    check_near(row(x_grad, 1), golden.x_row1);
    check_near(row(rowan::to_dense(w_grad), 2), golden.w_row2);
    check_near(rowan::to_dense(b_grad), golden.b);
}
void check_softmax(Ids const& label, Floats const& label_count, bool remove_hits, Golden const& golden) {
    SampledSoftmaxOptions const options{.remove_hits = remove_hits, .reduction = Reduction::none};
    auto const [loss, saved] = rowan::sampled_softmax(Cpu{}, x, w, b, label, ids, label_count, count, options);
    check_golden(loss, rowan::sampled_softmax_grad(Cpu{}, x, w, b, label, ids, saved, weights, options), golden);
}
void check_nce(Ids const& label, Floats const& label_count, bool remove_hits, Golden const& golden) {
    NceOptions const options{.remove_hits = remove_hits, .reduction = Reduction::none};
    auto const [loss, saved] = rowan::nce(Cpu{}, x, w, b, label, ids, label_count, count, options);
    check_golden(loss, rowan::nce_grad(Cpu{}, x, w, b, label, ids, saved, weights, options), golden);
}

/// Whether all tensors have the same bits.
template <class... X>
bool same(std::tuple<X...> const& a, std::tuple<X...> const& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return (reference::same(std::get<i>(a), std::get<i>(b)) && ...); }(std::index_sequence_for<X...>{});
}

}  // namespace

TEST_CASE("sampled_softmax is tf.nn.sampled_softmax_loss", "[sampled_softmax]") {
    check_softmax(one, of_one, true,
                  {{1.7693546584034867, 2.1185810036180555, 0.5919018972094339},
                   {-0.22698965788895686, -0.1262922101736415, -0.1262922101736415, -0.12629221017364156, -0.12629221017364145},
                   {-0.5930886777535553, 0.6266639516569759, -0.7456203889754422, 0.27820320332103765, -0.8981521001973293},
                   {0.2996978513049058, -0.8295570527350818, -1.5253171122188702, 0.0, 1.2959799069578635, -1.3401779605704003, 2.099374367261583}});
    check_softmax(one, of_one, false,
                  {{1.7693546584034867, 2.2320900957401455, 0.5919018972094339},
                   {-0.20263277776908062, -0.1127405609404486, -0.1127405609404486, -0.11274056094044871, -0.11274056094044849},
                   {-0.5364452179166626, 0.5700204918200831, -0.6700957758595852, 0.24044089676310915, -0.8037463338025079},
                   {0.28698581496763126, -0.8295570527350818, -1.3365055794292278, 0.0, 1.2275259350542596, -1.3401779605704003, 1.991728842712819}});
    check_softmax(two, of_two, true,
                  {{2.1257479908545465, 2.472422039843946, 1.0421344512635158},
                   {0.5730103421110432, -0.1762922101736415, -0.1762922101736415, -0.17629221017364155, -0.1762922101736415},
                   {0.006911322246444786, 0.27666395165697577, -0.09562038897544226, -0.021796796678962352, -0.1981521001973293},
                   {-0.7003021486950942, -0.32955705273508185, -1.0253171122188705, 0.0, 1.2959799069578635, 0.15982203942959972, 0.5993743672615833}});
}

TEST_CASE("nce is tf.nn.nce_loss", "[nce]") {
    check_nce(one, of_one, false,
              {{5.401297663719356, 5.322724319421294, 4.1623896708444414},
               {0.8544667220098094, -1.0778187697100967, 0.009468725427503766, 1.0967562205651045, -1.5127337677651367},
               {-0.38713810376857527, 0.8379451189848832, -0.1576688682667743, -0.8195840831766481, 0.07180036723502659},
               {2.493042501420998, -0.28635625871481596, 2.294692355018009, 0.0, 4.50399666788978, -0.2649321149026827, 4.980281238642997}});
    check_nce(two, of_two, false,
              {{6.556028105402106, 6.184654038657154, 6.260383018022551},
               {1.3357822530167107, -1.2473254455825087, 0.03913984267577844, 1.325605130934066, -1.7619115608858233},
               {-0.11709204135362072, 0.542937441915724, 0.21736951707902114, -1.0095994373149664, 0.5518310755116629},
               {2.289753673903745, 0.21364374128518404, 3.3446155843264185, 0.0, 4.50399666788978, 1.2350678850973174, 5.902839948853243}});
    check_nce(two, of_two, true,
              {{5.757690996170416, 4.824872596677347, 4.612622224898524},
               {1.1958203488160943, -0.8984955831132391, -0.09786207122171064, 0.7027714406698178, -1.2187489878698503},
               {-0.1311228836638616, 0.8319298988801694, 0.033684758539510536, -0.8902608965797906, 0.19849240074288266},
               {1.493042501420998, 0.21364374128518404, 1.6480764220337214, 0.0, 4.50399666788978, 1.2350678850973174, 3.4802812386429975}});
}

TEST_CASE("samples of each row give what the same samples for all give", "[sampled_softmax][nce]") {
    auto each = Ids::from_shape({n, 4});
    auto counts = Floats::from_shape({n, 4});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < 4; ++j) each(i, j) = ids(j), counts(i, j) = count(j);
    auto const check = [&](auto const& f, auto const& grad) {
        auto const [loss, saved] = f(ids, count);
        auto const [loss_each, saved_each] = f(each, counts);
        check_near(loss_each, loss);
        auto const [x_grad, w_grad, b_grad] = grad(ids, saved);
        auto const [x_each, w_each, b_each] = grad(each, saved_each);
        check_near(x_each, x_grad);
        check_near(rowan::to_dense(w_each), rowan::to_dense(w_grad));
        check_near(rowan::to_dense(b_each), rowan::to_dense(b_grad));
        CHECK(w_each.rows().size() == n * (1 + 4));
        CHECK(w_grad.rows().size() == n + 4);
    };
    Floats const g{2.0};
    check([&](auto const& some, auto const& c) { return rowan::sampled_softmax(Cpu{}, x, w, b, one, some, of_one, c); },
          [&](auto const& some, auto const& saved) { return rowan::sampled_softmax_grad(Cpu{}, x, w, b, one, some, saved, g); });
    check([&](auto const& some, auto const& c) { return rowan::nce(Cpu{}, x, w, b, one, some, of_one, c); },
          [&](auto const& some, auto const& saved) { return rowan::nce_grad(Cpu{}, x, w, b, one, some, saved, g); });
}

TEST_CASE("nce with sigmoids is Paddle's formula, and gradients are slopes", "[nce]") {
    NceOptions const options{.model = NceModel::sigmoid};
    auto ids_of_rows = Ids{{2, 4}, {6, 0}, {1, 1}};
    Floats const counts{{0.9, 0.4}, {0.3, 1.2}, {0.5, 0.5}};
    Floats x2 = x, w2 = w, b2 = b;
    auto const loss = [&] { return std::get<0>(rowan::nce(Cpu{}, x2, w2, b2, one, ids_of_rows, of_one, counts, options))(0); };
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        auto const o = [&](std::int64_t c) {
            double s = b(static_cast<std::size_t>(c));
            for (std::size_t k = 0; k < width; ++k) s += x(i, k) * w(static_cast<std::size_t>(c), k);
            return 1 / (1 + std::exp(-s));
        };
        sum -= std::log(o(one(i)) / (o(one(i)) + of_one(i)));
        for (std::size_t j = 0; j < 2; ++j) sum -= std::log(counts(i, j) / (o(ids_of_rows(i, j)) + counts(i, j)));
    }
    CHECK(std::abs(loss() - sum / 3) < 1e-14);

    auto const saved = std::get<1>(rowan::nce(Cpu{}, x, w, b, one, ids_of_rows, of_one, counts, options));
    auto const [x_grad, w_grad, b_grad] = rowan::nce_grad(Cpu{}, x, w, b, one, ids_of_rows, saved, Floats{1.0}, options);
    test::check_input(x2, x_grad, loss, 1e-7);
    test::check_input(w2, w_grad, loss, 1e-7);
    test::check_input(b2, b_grad, loss, 1e-7);
}

TEST_CASE("losses of many samples have the same bits for any number of threads", "[sampled_softmax][nce]") {
    std::size_t const rows = 300, height = 4000, samples = 700;
    auto const x_rows = inputs::wild<float>({rows, 33}, 1), table = inputs::wild<float>({height, 33}, 2), bias = inputs::wild<float>({height}, 3);
    auto const label = Tensor<std::int32_t>::full({rows}, 7);
    auto drawn = Ids::from_shape({samples});
    for (std::size_t j = 0; j < samples; ++j) drawn(j) = static_cast<std::int64_t>(j * j % height);
    auto const ones = Tensor<float>::full({rows}, 1.0F), of_drawn = Tensor<float>::full({samples}, 0.5F);
    auto const all = [&](Cpu exec) {
        auto [loss, saved] = rowan::sampled_softmax(exec, x_rows, table, bias, label, drawn, ones, of_drawn);
        auto [x_grad, w_grad, b_grad] = rowan::sampled_softmax_grad(exec, x_rows, table, bias, label, drawn, saved, loss);
        return std::tuple(std::move(loss), std::move(x_grad), w_grad.value(), b_grad.value());
    };
    auto const alone = all(Cpu{1});
    for (int const threads : {2, 5}) {
        auto const many = all(Cpu{threads});
        CHECK(same(alone, many));
    }
}

TEST_CASE("samples that do not fit are refused", "[sampled_softmax][nce][bad_input]") {
    auto const softmax = [](Floats const& bias, Ids const& label, Ids const& some, Floats const& label_count, Floats const& counts) {
        return [&] { return rowan::sampled_softmax(Cpu{}, x, w, bias, label, some, label_count, counts); };
    };
    refuses<IndexError>(softmax(b, one, Ids{2, 7}, of_one, Floats{1, 1}), "ids[1] = 7 is not in [0, 7)");
    refuses<IndexError>(softmax(b, Ids{1, -1, 0}, ids, of_one, count), "label[1] = -1 is not in [0, 7)");
    refuses<ShapeError>(softmax(Floats{1, 2}, one, ids, of_one, count), "b.shape() is [2], expected [7], the classes of w");
    refuses<ShapeError>(softmax(b, Ids{1, 2}, ids, of_one, count), "label.shape() is [2], expected [3] or [3, at least 1], the rows of x");
    refuses<ShapeError>(softmax(b, one, Ids{{1, 2}}, of_one, count), "ids.shape() is [1, 2], expected [samples] or [3, samples], the rows of x");
    refuses<ShapeError>(softmax(b, one, ids, of_two, count), "label_count.shape() is [3, 2], expected [3]");
    refuses<ShapeError>(softmax(b, one, ids, of_one, of_one), "sampled_count.shape() is [3], expected [4]");
    refuses<ShapeError>([] { return rowan::nce_grad(Cpu{}, x, w, b, one, ids, Floats{1.0}, Floats{1.0}); }, "saved.shape() is [1], expected [3, 5]");
}

}  // namespace test_sampled_softmax
