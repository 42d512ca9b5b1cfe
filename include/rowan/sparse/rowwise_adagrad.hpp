// rowan/sparse/rowwise_adagrad.hpp: rowwise_adagrad, AdaGrad with one state per row.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

struct rowwise_adagrad_formula {
    AdaGradOptions options;

    /// The sum of the squares of the gradients of a row, as map(gradient) maps them, with registers V.
    template <class V, class G, class P, class Map>
    ROWAN_INLINE auto squares(std::span<G const> g, std::span<P>, Map const& map) const {
        return sum_with<V>(g.size(), g.data(), map);
    }

    /// A row's new moment, from the old one and the sum of the squares of its n gradients, or again(), see mean_of_sum.
    ROWAN_NO_EXEC_CHECK
    template <class S, class Again>
    ROWAN_HD_INLINE S moment(S const& old, S const& squares, std::size_t n, Again const& again) const {
        return old + mean_of_sum(squares, static_cast<double>(n), again);
    }

    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD_INLINE S root(S const& moment) const {
        return square_root(moment) + constant<S>(options.epsilon);
    }

    ROWAN_FORMULA void operator()(V const& g, V const& root, V& p) const {
        p = p - quotient(product(constant<V>(options.learning_rate), g), root);
    }
};

struct rowwise_adagrad_decay_formula : rowwise_adagrad_formula {
    double kept;  // of a parameter by decoupled decay

    /// The gradient of an element.
    ROWAN_FORMULA V decayed(V const& grad, V p) const { return with_decay(options, kept, grad, p); }

    template <class V, class G, class P, class Map>
    ROWAN_INLINE auto squares(std::span<G const> g, std::span<P> p, Map const& map) const {
        using S = typename lane_of<V>::type;
        S part[16];
        interleave_with<V>(part, constant<S>(0.0), g.size(), add_lanes{},
                           DecayedSquare<G, P, Map>{*this, g.data(), p.data(), map});
        return tree_sum(part);
    }

    ROWAN_FORMULA void operator()(V const& grad, V const& root, V& p) const {
        V const g = with_decay(options, kept, grad, p);
        rowwise_adagrad_formula::operator()(g, root, p);
    }

private:
    template <class G, class P, class Map>
    struct DecayedSquare {
        rowwise_adagrad_decay_formula const& formula;
        G const* g;
        P const* p;
        Map const& map;

        template <class V>
        ROWAN_INLINE V operator()(std::size_t i) const {
            return map(formula.decayed(load<V>(g + i), load<V>(p + i)));
        }
    };
};

template <class Formula>
struct rowwise_adagrad_rule {
    Formula formula{};

    template <class G, class P, class M>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> m) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        on_lanes<S>(g.size(), [&]<class V>(as<V>) ROWAN_INLINED { with<V>(g, p, m); });
    }
    template <class V, class G, class P, class M>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P> p, std::span<M> m) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        using Lanes = typename lanes_like<V, S>::type;
        if (g.empty()) return;
        Formula const own = formula;  // the writes below change no copy
        S const moment = own.moment(load<S>(m.data()), own.template squares<Lanes>(g, p, squared{}), g.size(),
                                    [&] { return own.template squares<S>(g, p, small_square{}); });
        store(moment, m.data());
        S const root = own.root(moment);
        for_with<Lanes>([&]<class L>(L const& x, L& to) ROWAN_INLINED { own(x, L(root), to); }, g.size(), g.data(),
                        p.data());
    }
};

template <class Formula>
inline constexpr bool is_lane_rule<rowwise_adagrad_rule<Formula>> = true;

/// Both rules of a step.
struct RowwiseAdaGradRules {
    AdaGradOptions options;
    double kept;

    template <class F>
    void with_one(F const& f) const {
        if (options.weight_decay == 0.0) {
            f(rowwise_adagrad_rule<rowwise_adagrad_formula>{{options}});
        } else {
            f(rowwise_adagrad_rule<rowwise_adagrad_decay_formula>{{{options}, kept}});
        }
    }
};

template <>
struct StepsOf<optim::rowwise_adagrad> : StepsByRule<optim::rowwise_adagrad> {
    template <class... P>
    static RowwiseAdaGradRules rule(AdaGradOptions const& options) {
        return {options, check_adagrad<P...>(options)};
    }
};

}  // namespace detail

/// One step of row-wise AdaGrad (FBGEMM; Naumov et al. 2019) on the rows of `grad` (duplicates summed first):
///     m += mean of g² over the row;  p -= learning_rate · g / (√m + epsilon)
/// With a weight decay, g begins as grad + weight_decay · p; if it is decoupled, p begins as
/// p · (1 - learning_rate · weight_decay) instead: FBGEMM's weight_decay_mode L2 and DECOUPLE. Rows that are not in
/// `grad` do not decay. Right where the mean of g² over the row, or its sum for others than float and double, is a
/// number of the type of computation; beyond, as adagrad, for the whole row. The squares are summed in 16 interleaved partial sums, reduced by a binary tree:
/// bit-identical for all instruction sets.
/// shapes   param [height, ...], moment [height], grad a SelectedRows of that height and row shape, or a Tensor of
///          param's shape
/// errors   ValueError if an option is not finite or epsilon is negative; ShapeError if shapes do not match; Error
///          as update_rows
/// cost     as adagrad, with one cache line of state per row; on a device, also temporary memory for 1/4 of the gradient's
///          elements, in the type of sums
ROWAN_OPTIMIZER_FUNCTION(rowwise_adagrad, 1)

ROWAN_OPTIMIZER(StepsByRule<optim::rowwise_adagrad>, float, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::rowwise_adagrad>, double, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
