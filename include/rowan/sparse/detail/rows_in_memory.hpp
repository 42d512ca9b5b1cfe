// rowan/sparse/detail/rows_in_memory.hpp: RowsInMemory, rows of a KeyedTable and states of its optimizer in memory.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/sparse/growing_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Rows, and states of an optimizer, which grow together.
template <class T>
class RowsInMemory {
public:
    static constexpr bool in_memory = true;

    /// errors   those of GrowingTensor
    RowsInMemory(std::size_t width, std::int64_t most) : most_(most), value_({width}, most) {}

    std::int64_t height() const noexcept { return value_.height(); }
    /// The rows that there are addresses for in each tensor.
    std::int64_t most_rows() const noexcept {
        std::int64_t most = value_.most_rows();
        for (auto const& state : states_) most = std::min(most, state->most_rows());
        return most;
    }
    Tensor<T>& tensor() noexcept { return value_.tensor(); }
    Tensor<T> const& tensor() const noexcept { return value_.tensor(); }

    /// As KeyedTable::add_state.
    template <class S>
    GrowingTensor<S>& add_state(std::string name, typename Tensor<S>::shape_type const& row_shape, S first) {
        if (find(name) != nullptr) throw Error({"two states are named \"", name, "\""});
        auto state = std::make_unique<StateOf<S>>(row_shape, most_, first);
        state->name = std::move(name);
        if (state->rows.most_rows() < height()) throw std::bad_alloc();
        state->grow(height());
        for (std::int64_t row = 0; row < height(); ++row) state->reset(row);
        auto& rows = state->rows;
        states_.push_back(std::move(state));
        return rows;
    }
    /// As KeyedTable::state.
    template <class S>
    Tensor<S>& state(std::string_view name) {
        State* const found = find(name);
        if (found == nullptr) throw Error({"the table has no state \"", name, "\""});
        if (!found->template has<S>()) throw TypeError({"the state \"", name, "\""}, found->type, dtype<S>::name);
        return static_cast<StateOf<S>*>(found)->rows.tensor();
    }
    template <class S>
    bool has_state(std::string_view name) const {
        State const* const found = find(name);
        return found != nullptr && found->template has<S>();
    }
    std::size_t states() const noexcept { return states_.size(); }

    /// Makes memory ready for so many rows.
    void reserve(std::int64_t height) {
        value_.reserve(height);
        for (auto const& state : states_) state->reserve(height);
    }
    void grow(std::int64_t height) {
        value_.grow(height);
        for (auto const& state : states_) state->grow(height);
    }
    void shrink(std::int64_t height) noexcept {
        for (auto const& state : states_) state->shrink(this->height(), height);
        value_.shrink(height);
    }
    /// Called before rows are written.
    void change(Cpu, Ids<> const&) {}
    /// Gives a row of all states first values.
    void reset_states(std::int64_t row) {
        for (auto const& state : states_) state->reset(row);
    }

private:
    struct State {
        virtual ~State() = default;
        virtual std::int64_t most_rows() const noexcept = 0;
        virtual void reserve(std::int64_t height) = 0;
        virtual void grow(std::int64_t height) = 0;
        virtual void shrink(std::int64_t from, std::int64_t to) noexcept = 0;
        virtual void reset(std::int64_t row) = 0;

        State(std::int32_t number, std::string_view elements) : wire(number), type(elements) {}
        State(State const&) = delete;
        State& operator=(State const&) = delete;
        template <class S>
        bool has() const {
            return wire == dtype<S>::wire && type == dtype<S>::name;
        }

        std::int32_t wire;
        std::string_view type;
        std::string name{};
    };
    template <class S>
    struct StateOf final : State {
        StateOf(typename Tensor<S>::shape_type const& row_shape, std::int64_t most, S first_value)
            : State(dtype<S>::wire, dtype<S>::name), rows(row_shape, most), first(first_value) {}
        std::int64_t most_rows() const noexcept override { return rows.most_rows(); }
        void reserve(std::int64_t height) override { rows.reserve(height); }
        void grow(std::int64_t height) override { rows.grow(std::max(height, rows.height())); }
        void shrink(std::int64_t from, std::int64_t to) noexcept override {
            if (rows.height() == from) rows.shrink(to);
        }
        void reset(std::int64_t row) override {
            std::ranges::fill(rows.tensor().row(static_cast<std::size_t>(row)), first);
        }

        GrowingTensor<S> rows;
        S first;
    };

    /// The state of this name, or nullptr; also without a name.
    State* find(std::string_view name) const {
        auto const named = [&](auto const& state) { return !name.empty() && state->name == name; };
        auto const found = std::ranges::find_if(states_, named);
        return found == states_.end() ? nullptr : found->get();
    }

    std::int64_t most_;
    GrowingTensor<T> value_;
    std::vector<std::unique_ptr<State>> states_;
};

}  // namespace rowan::inline v0::detail
