// rowan/sparse/detail/rounded_rule.hpp: RoundedRule, a rule of update_rows for floats, for rows of fewer bits.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Rows of floats, one for each thread, for rows that are too wide for the stack.
class FloatRows {
public:
    static constexpr std::size_t on_stack = 2048;

    ROWAN_IF_CALLED FloatRows(Cpu exec, std::size_t width);
    FloatRows(FloatRows const&) = delete;
    FloatRows& operator=(FloatRows const&) = delete;
    ~FloatRows();

    /// Calls f with memory for a row that nobody else uses.
    template <class F>
    void lend(F const& f) const {
        if (width_ <= on_stack) {
            float row[on_stack];
            return f(row);
        }
        struct Lent {
            FloatRows const& from;
            float* row = from.take();
            ~Lent() { from.give_back(row); }
        } const lent{*this};
        f(lent.row);
    }

private:
    ROWAN_IF_CALLED float* take() const noexcept;
    ROWAN_IF_CALLED void give_back(float* row) const noexcept;

    std::size_t width_;
    mutable std::vector<std::atomic<bool>> busy_;
    mutable Buffer<float> rows_;
};

/// A rule for rows of P, by a rule for rows of floats.
template <class Rule, class Rounding, class P>
struct RoundedRule {
    Rule const& rule;
    Rounding rounding;
    P const* first;  // the table's
    FloatRows const* rows;

    template <class G, class... S>
    void operator()(std::span<G const> g, std::span<P> p, std::span<S>... s) const {
        if constexpr (is_elementwise<Rule>) {
            in_pieces<LaneRegister<float, native_bytes>>([&](auto... row) { rule(row...); }, g, p, s...);
        } else {
            whole<LaneRegister<float, native_bytes>>([&](auto... row) { rule(row...); }, g, p, s...);
        }
    }
    template <class V, class G, class... S>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P> p, std::span<S>... s) const {
        using Lanes = typename lanes_like<V, float>::type;
        auto const call = [&](auto... row) ROWAN_INLINED { rule.template with<V>(row...); };
        if constexpr (is_elementwise<Rule>) {
            in_pieces<Lanes>(call, g, p, s...);
        } else {
            whole<Lanes>(call, g, p, s...);
        }
    }

private:
    template <class Lanes, class Call, class G, class... S>
    ROWAN_INLINE void in_pieces(Call const& call, std::span<G const> g, std::span<P> p, std::span<S>... s) const {
        static constexpr std::size_t piece = 256;
        float wide[piece];
        for (std::size_t i = 0; i < p.size(); i += piece) {
            std::size_t const n = std::min(piece, p.size() - i);
            convert<Lanes>(wide, call, g.subspan(i, n), p.subspan(i, n), s.subspan(i, n)...);
        }
    }
    template <class Lanes, class Call, class G, class... S>
    ROWAN_INLINE void whole(Call const& call, std::span<G const> g, std::span<P> p, std::span<S>... s) const {
        rows->lend([&](float* wide) ROWAN_INLINED { convert<Lanes>(wide, call, g, p, s...); });
    }
    template <class Lanes, class Call, class G, class... S>
    ROWAN_INLINE void convert(float* wide, Call const& call, std::span<G const> g, std::span<P> p,
                              std::span<S>... s) const {
        zip_with<Lanes>(same_number{}, p.size(), wide, static_cast<P const*>(p.data()));
        call(g, std::span<float>(wide, p.size()), s...);
        rounding.narrow({wide, p.size()}, static_cast<std::uint64_t>(p.data() - first), p.data());
    }
};

template <class Rule, class Rounding, class P>
inline constexpr bool is_elementwise<RoundedRule<Rule, Rounding, P>> = is_elementwise<Rule>;
template <class Rule, class Rounding, class P>
inline constexpr bool is_lane_rule<RoundedRule<Rule, Rounding, P>> = is_lane_rule<Rule>;

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/rounded_rule_inl.hpp>
