// tests/layer/lstm.cpp: stacked layers and cells with options, against PyTorch 2.9 and finite differences.
//
//     mod = torch.nn.GRU(2, 3, num_layers=2, bidirectional=True).double()       # LSTM likewise; loss as in rnn_torch.cpp
//     sequences of 0, 1, 5, 5 and 2 rows; last: of GRU h_n, of LSTM h_n + 2 c_n, summed for each layer and direction
#include <rowan/layer/gru.hpp>
#include <rowan/layer/lstm.hpp>
#include <rowan/layer/lstmp_unit.hpp>
#include <rowan/layer/reset_first_gru_unit.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_lstm {

namespace {

using namespace rowan;

struct Golden {
    double loss;
    std::vector<double> out, x, w_h, last;  // rows 3 to 5 of the output, gradients, last states
};

Golden const gru{0.3276100924987731,
    {-0.748145808225762, -0.624245768752428, 0.299615747501782, 0.2756865419202, 0.397064748790056, 0.14165676053073, -0.782139008792457, -0.678699436398721, 0.347499350890992, 0.181624359628771, 0.291942973658284, 0.138457458450123, -0.803948312652749, -0.677993267610755, 0.38084905486183, 0.113037577940634, 0.150860872121326, 0.095950338420255},
    {-0.000793963533628241, 0.00093263651255808, -0.00153248722596191, 0.00114386879892796, -0.00395139163396545, -0.000161966402429448, -0.00110432682625726, -0.000400163944797152, -0.00023520928465525, -0.000618481383617659, -0.00102558713975096, 0.00472951094104228, -0.00133092801856777, 0.001692679851278, -0.00397146370150446, 0.00283927840250081, -0.00189828684053804, 0.00103190401898642, 0.000490225711765015, 0.00078757871656009, -0.00167101503471142, 0.00350436631534358, -0.00348087778189795, 0.00158398457755493, -0.00184664470170963, 0.0032714672013081},
    {0.000359939061250855, 0.000834929519621721, 0.000831213321922906, 7.25826484581465e-05, -0.00384882658745451, 5.11319561586759e-05, 0.00393802360382339, 0.00690387112111612, -0.00164469304802525, 0.000567969775213608, 0.00124588486843714, 0.000796255971936047, 0.000100783682728343, -0.00549872115778391, -8.41339745998525e-05, 0.00639631020786599, 0.010143684368126, -0.00144244491944992, 0.000117711243182574, 0.000500654964401176, 9.70154344812584e-05, 2.94638728255778e-05, -0.00254994464292546, -2.19726618066755e-05, 0.00128305153503123, 0.00430084388074711, -8.55596442316751e-05},
    {-0.188162784865356, -0.0496173623613363, -3.55498304439999, 2.97315290989299}};

Golden const lstm{0.21182138945080525,
    {-0.165656896988949, -0.0582269148809075, 0.397659009676992, -0.0209731058709038, 0.314725853929526, -0.0980956782130947, -0.150306974336246, -0.0731529895220855, 0.48414729172732, -0.0244406431570144, 0.259911935374486, -0.0889199605568185, -0.148148478034211, -0.0951486377581436, 0.463696366876512, -0.0236752310192827, 0.128776954342324, -0.0585626107829138},
    {-0.00126383812373243, -0.000525148442911447, -0.00216550469608518, -0.000495554442869369, -0.00161455527313761, -0.00224527736394658, -0.00471992541551073, -0.00364182692196723, -0.00367800702997685, -0.00237722023642667, -0.00188335305128374, -0.000359231149379993, -0.000768259525593571, -0.000159501771338111, -0.00126872392711541, -0.0011596339631243, -0.0041113144965518, -0.00309389074099773, -0.00450527770202791, -0.00294329737168389, -0.00208055322102452, -0.000493922994359495, -0.00081043394086113, -0.000524572292252681, 0.000309470660345041, 0.000111618907493924},
    {-7.4173141558891e-07, -0.000228809824226596, -6.48098466349829e-05, -4.84962547099869e-06, -0.000223328741190877, -1.96862354226889e-05, 0.000303469830148237, -0.00168289009261154, 0.000106437959381853, -6.86871159179217e-06, -0.00032334208483158, -2.94712113661908e-05, -9.61363238438217e-06, 0.00212395545478212, 0.000941400075572104, 2.68475813499125e-05, 0.00227581997076958, 0.000248823034165659, -0.00196285024400124, 0.0153743472738461, -0.00188493224557474, 6.47921198743755e-05, 0.00336173015363397, 0.000410422944516036, -2.28721902705405e-06, -0.000753591870093978, -0.000268936084382965, -1.75408882427287e-05, -0.000773638551007991, -7.30426205873049e-05, 0.000962636363035931, -0.00553957828531998, 0.000529410059617762, -3.84019983149794e-05, -0.00111192889134003, -0.000114560489209168},
    {3.39046822101274, 3.51790439434441, 2.62627343258447, 2.94867396701566}};

/// Element i is ((7 i + 13 seed) mod 23 - 11) / 16.
Tensor<double> numbers(Dims const& dims, std::size_t seed) {
    Tensor<double>::shape_type shape;
    for (std::int64_t const d : dims) shape.push_back(static_cast<std::size_t>(d));
    auto t = Tensor<double>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = (static_cast<double>((i * 7 + seed * 13) % 23) - 11) / 16;
    return t;
}

void near(std::vector<double> const& found, std::vector<double> const& want) {
    REQUIRE(found.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
        CAPTURE(i, found[i], want[i]);
        CHECK(std::abs(found[i] - want[i]) <= 1e-13 * (1 + std::abs(want[i])));
    }
}

std::vector<double> elements(Tensor<double> const& t, std::size_t from = 0, std::size_t count = 1000) {
    return {t.data() + from, t.data() + std::min(t.size(), from + count)};
}

template <class Made>
void check(Golden const& golden, Scope& scope, layer::Var<double> const& x, Made const& made, std::vector<layer::Var<double>> const& last) {
    x->value().set(LoDTensor<double>(numbers({13, 2}, 1), Lod::from_lengths({{0, 1, 5, 5, 2}})));
    auto const cost = layer::mse(made, test::fed("y", LoDTensor<double>(numbers({13, 6}, 6))));
    auto const gradients = append_backward<double>(*cost);  // of x and, for each direction, w_x, b_x, w_h, b_h
    REQUIRE(gradients.size() == 17);
    for (std::size_t p = 1; p < 17; ++p)
        gradients[p].parameter->value().set(LoDTensor<double>(numbers(gradients[p].parameter->spec().dims, p + 1)));
    std::vector<Variable*> outputs{&*cost, &*made, gradients[0].gradient, gradients[15].gradient};
    for (auto const& v : last) outputs.push_back(&*v);
    Net<>::trace_and_build(outputs).run(scope);
    near(elements(test::dense(cost->value())), {golden.loss});
    near(elements(test::dense(made->value()), 18, 18), golden.out);
    near(elements(test::dense(gradients[0].gradient->value())), golden.x);
    near(elements(test::dense(gradients[15].gradient->value())), golden.w_h);
    std::vector<double> sums;
    for (auto const& v : last) {
        REQUIRE(test::dense(v->value()).size() == 15);
        sums.push_back(0);
        for (double const e : elements(test::dense(v->value()))) sums.back() += e;
    }
    near(sums, golden.last);
}

}  // namespace

TEST_CASE("two bidirectional layers are PyTorch's, forward, in gradients and in the last states", "[layer]") {
    test::DefaultScope scope;
    layer::Var<double> const x(scope.new_var("x", tensor_spec<double>({13, 2}, 1), Role::parameter));  // so that it has a gradient
    SECTION("GRU") {
        auto const [output, last] = layer::gru_with_last(x, {.size = 3, .layers = 2, .bidirectional = true});
        check(gru, scope, x, output, last);
    }
    SECTION("LSTM") {
        auto const [output, h, c] = layer::lstm_with_last(x, {.size = 3, .layers = 2, .bidirectional = true});
        std::vector<layer::Var<double>> both;
        for (std::size_t k = 0; k < h.size(); ++k) both.push_back(layer::add(h[k], layer::scale(c[k], 2)));
        check(lstm, scope, x, output, both);
    }
}

TEST_CASE("one layer is the unit's, and dropout lies between layers only", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    auto const count = [](auto const& y) { return std::ranges::count(Net<>::trace_and_build(*y).inputs(), Role::seed, [](Variable const* v) { return v->role(); }); };
    CHECK(count(layer::lstm(x, {.size = 3, .dropout = 0.5})) == 0);
    CHECK(count(layer::gru(x, {.size = 3, .layers = 3, .dropout = 0.5})) == 2);
    CHECK_THROWS_WITH(layer::gru(x, {.size = 3, .layers = 0}), "layer::stack_layers: layers is 0, expected 1 or more");
    CHECK_THROWS_WITH(layer::lstm(x, {.size = 3, .dropout = 2}), "probability is 2, expected in [0, 1]");
    CHECK_THROWS_WITH(layer::lstm(x, {}), "layer::rnn: memory.size is 0, expected 1 or more");
}

TEST_CASE("initial states of layers and directions begin the sequences, and have gradients", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(numbers({5, 2}, 1), Lod::from_lengths({{0, 2, 3}})));
    std::vector<layer::Var<double>> h, c;
    for (std::size_t k = 0; k < 4; ++k) {
        h.push_back(test::parameter({3, 2}, 2 + k));
        c.push_back(test::parameter({3, 2}, 6 + k));
    }
    auto const sums = [](auto const& states) {  // with another weight for each state, so that exchanged ones differ
        auto total = layer::reduce_sum(states[0]);
        for (std::size_t k = 1; k < states.size(); ++k) total = total + layer::reduce_sum(states[k]) * static_cast<double>(k + 1);
        return total;
    };
    layer::RecurrentOptions const options{.size = 2, .layers = 2, .bidirectional = true};
    SECTION("LSTM") {
        auto const [output, last_h, last_c] = layer::lstm_with_last(x, options, h, c);
        test::check_net(layer::mean(output * output) + sums(last_h) - sums(last_c));
        auto const net = Net<>::trace_and_build(std::vector<Variable*>{&*last_h[1], &*last_c[2]});
        net.run(scope);
        for (std::size_t k = 0; k < 2; ++k) {  // the last states of the empty sequence are the initial ones
            CHECK(test::dense(last_h[1]->value())(0, k) == test::dense(h[1]->value())(0, k));
            CHECK(test::dense(last_c[2]->value())(0, k) == test::dense(c[2]->value())(0, k));
        }
    }
    SECTION("GRU") {
        auto const [output, last] = layer::gru_with_last(x, options, h);
        test::check_net(layer::mean(output * output) + sums(last));
    }
    SECTION("refused") {
        auto const variables = scope.variables().size();
        CHECK_THROWS_WITH(layer::lstm(x, options, {h[0], h[1]}, c), "layer::lstm: h.size() is 2, expected one for each layer and direction");
        CHECK_THROWS_WITH(layer::lstm(x, {.size = 2, .bidirectional = true}, h, c), "layer::lstm: h.size() is 4, expected one for each layer and direction");
        CHECK_THROWS_WITH(layer::gru(x, {.size = 3}, {h[0]}), "layer::gru: h width is 2, expected 3, the size");
        CHECK_THROWS_WITH(layer::gru(x, {.size = 2}, {layer::data<double>("row", {2})}), "layer::gru: h rank is 1, expected 2");
        CHECK(scope.variables().size() == variables + 1);  // the row
    }
}

TEST_CASE("cells with peepholes, projection, clipped cells and an early reset equal their formulas", "[layer]") {
    auto const sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    SECTION("LSTM") {
        test::DefaultScope scope;
        auto const x = test::fed("x", LoDTensor<double>(Tensor<double>{{0.75}, {-0.5}, {1.5}}, Lod{{0, 3}}));
        layer::LstmpOptions const options{.size = 1, .projection = 1, .peepholes = true, .cell_clip = 0.25};
        auto const out = layer::rnn(x, 2, [&](auto x_t, auto before) { return layer::lstmp_unit(x_t, before, options); });
        test::check_gradients(layer::mse(out, test::fed("y", LoDTensor<double>(Tensor<double>{{0.5}, {0.25}, {-1}}))));
        auto const net = Net<>::trace_and_build(*out);
        std::vector<std::vector<double>> p;  // w_x, b_x, w_h, b_h, p_i, p_f, p_o, w_p
        for (Variable* const v : net.inputs()) {
            if (v->role() == Role::parameter) p.push_back(elements(test::dense(v->value())));
        }
        REQUIRE(p.size() == 8);
        double h = 0, c = 0;
        bool clipped = false;
        std::vector<double> want;
        for (double const in : {0.75, -0.5, 1.5}) {
            auto const g = [&](std::size_t k) { return in * p[0][k] + p[1][k] + h * p[2][k] + p[3][k]; };
            double const i = sigmoid(g(0) + p[4][0] * c), f = sigmoid(g(1) + p[5][0] * c);
            c = f * c + i * std::tanh(g(2));
            clipped = clipped || std::abs(c) > 0.25;
            c = std::clamp(c, -0.25, 0.25);
            h = sigmoid(g(3) + p[6][0] * c) * std::tanh(c) * p[7][0];
            want.push_back(h);
        }
        CHECK(clipped);
        net.run(scope);
        near(elements(test::dense(out->value())), want);
    }
    SECTION("GRU") {
        test::DefaultScope scope;
        auto const x = test::fed("x", LoDTensor<double>(Tensor<double>{{0.75}, {-0.5}, {1.5}}, Lod{{0, 3}}));
        auto const out = layer::rnn(x, 1, [](auto x_t, auto before) {
            auto const now = layer::reset_first_gru_unit(x_t, before, {.size = 1});
            return layer::Step{now, now};
        });
        test::check_gradients(layer::mse(out, test::fed("y", LoDTensor<double>(Tensor<double>{{0.5}, {0.25}, {-1}}))));
        auto const net = Net<>::trace_and_build(*out);
        std::vector<std::vector<double>> p;  // w_x, b_x, w_rz, b_rz, w_c, b_c
        for (Variable* const v : net.inputs()) {
            if (v->role() == Role::parameter) p.push_back(elements(test::dense(v->value())));
        }
        REQUIRE(p.size() == 6);
        double h = 0;
        std::vector<double> want;
        for (double const in : {0.75, -0.5, 1.5}) {
            auto const gate = [&](std::size_t k) { return sigmoid(in * p[0][k] + p[1][k] + h * p[2][k] + p[3][k]); };
            double const z = gate(1), c = std::tanh(in * p[0][2] + p[1][2] + gate(0) * h * p[4][0] + p[5][0]);
            h = (1 - z) * c + z * h;
            want.push_back(h);
        }
        net.run(scope);
        near(elements(test::dense(out->value())), want);
    }
}

TEST_CASE("options of a cell that make no sense throw", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}), before = layer::data<double>("before", {UNK, 6});
    CHECK_THROWS_WITH(layer::lstmp_unit(x, before, {.size = 3, .projection = -1}), "layer::lstmp_unit: projection is -1, expected 0 or more");
    CHECK_THROWS_WITH(layer::lstmp_unit(x, before, {.size = 3, .cell_clip = std::nan("")}), "layer::lstmp_unit: cell_clip is nan, expected 0 or more");
    CHECK_THROWS_WITH(layer::reset_first_gru_unit(x, before, {}), "the size of a cell is 0, expected 1 or more");
    std::size_t const variables = scope.variables().size(), operators = scope.operators().size();
    CHECK_THROWS_AS(layer::lstmp_unit(x, before, {.size = 4}), ShapeError);
    CHECK_THROWS_AS(layer::lstm_unit(x, before, {.size = 4}), ShapeError);
    CHECK_THROWS_AS(layer::gru_unit(x, before, {.size = 4}), ShapeError);
    CHECK_THROWS_AS(layer::reset_first_gru_unit(x, before, {.size = 3}), ShapeError);
    CHECK(scope.variables().size() == variables);
    CHECK(scope.operators().size() == operators);
}

}  // namespace test_lstm
