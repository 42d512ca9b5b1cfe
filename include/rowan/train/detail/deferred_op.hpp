// rowan/train/detail/deferred_op.hpp: deferred_op, a deferred optimizer as an operator.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/deferred.hpp>
#include <rowan/sparse/find_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/detail/deferred_tables.hpp>
#include <rowan/train/detail/make_update.hpp>
#include <rowan/train/detail/missed_steps.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The steps that rows of a parameter have missed, once it has rows.
template <class Options>
struct DeferredState {
    std::optional<Deferred<Options>> rows;
    bool flushes = false;  ///< after each step
};

/// An optimizer with the steps of Deferred. It has the name of the other, so that their states have the same names.
template <class Op>
struct deferred_op : Op {
    using options = attributes_of<Op>;
    using attributes = DeferredAttributes<options>;

    template <class P, gradient_on<Cpu> G>
    static void run(Cpu exec, Tensor<P>& param, G const& grad, attributes const& a) {
        step(exec, grad, a, param);
    }
    template <class P, class S, gradient_on<Cpu> G>
    static void run(Cpu exec, Tensor<P>& param, Tensor<S>& state, G const& grad, attributes const& a) {
        step(exec, grad, a, param, state);
    }
    template <class P, class S, class U, gradient_on<Cpu> G>
    static void run(Cpu exec, Tensor<P>& param, Tensor<S>& state1, Tensor<U>& state2, G const& grad,
                    attributes const& a) {
        step(exec, grad, a, param, state1, state2);
    }

private:
    template <class G, class P, class... S>
    static void step(Cpu exec, G const& grad, attributes const& a, Tensor<P>& param, Tensor<S>&... state) {
        Height const height(static_cast<std::int64_t>(height_of(param)));
        if (height == Height(0)) return Deferred<options>(height).step(exec, grad, a, param, state...);  // a check
        auto& rows = a.state->rows;
        if (!rows) rows.emplace(height);
        rows->step(exec, grad, a, param, state...);
        if (a.state->flushes && !only_checking()) rows->flush(exec, param, state...);
    }
};

template <class Options>
std::shared_ptr<DeferredState<Options>> new_deferred_state() {
    return std::make_shared<DeferredState<Options>>();
}

/// The missed steps of a parameter of elements T whose states are of elements S.
template <class Options, class T, class S, std::size_t states>
class MissedStepsOf final : public MissedSteps {
public:
    MissedStepsOf(std::shared_ptr<DeferredState<Options>> state, std::vector<Variable*> variables)
        : state_(std::move(state)), variables_(std::move(variables)) {}

    void catch_up(Cpu exec, Ids<> const& ids, bool positions) override {
        if (!state_->rows) return;
        if (table_file() != nullptr && state_->rows->full()) flush(exec);  // here, as a step does not write before it
        Value const& param = variables_[0]->value();
        if (positions || param.is<LoDTensor<T>>()) return call(exec, ids);
        auto const& table = param.get<SelectedRows<T>>();
        auto const own = table.rows();
        if (own.size() == 0) return;
        auto numbers = Tensor<std::int64_t>::from_shape({ids.size()});
        known_rows(own, table.merged(), table.height(), ids, own[0], {}, numbers.data());
        auto const found = find_rows(exec, table, numbers);
        call(exec, found);
    }
    void fit(std::span<std::int64_t const> inserted) override {
        auto& rows = state_->rows;
        if (!rows) return;
        auto const height = static_cast<std::int64_t>(variables_[0]->value().rows());
        if (rows->height() != height) rows->resize(Height(height));
        rows->renew(inserted);
    }
    void flush(Cpu exec) override {
        if (!state_->rows || !state_->rows->behind()) return;
        if (table_file() != nullptr) {  // in the order of its rows
            std::vector<std::int64_t> some;
            for (std::int64_t row = 0; row < state_->rows->height(); ++row) {
                if (state_->rows->missed(row) != 0) some.push_back(row);
                if (some.size() == most_at_once) call(exec, std::exchange(some, {}));
            }
            call(exec, some);
        }
        with_tensors([&](auto&... tensor) { state_->rows->flush(exec, tensor...); });
    }
    void flush_each_step() override { state_->flushes = true; }
    bool in_file() const override { return table_file() != nullptr; }
    void save(AddTablePart const& add) const override {
        if (!state_->rows || !state_->rows->behind()) return;
        auto const all = state_->rows->contents();
        auto made = Tensor<std::uint8_t>::from_shape({all.made.size(), 2});
        std::memcpy(made.data(), all.made.data(), made.size());
        auto history = Tensor<std::int64_t>::zeros({1 + all.steps.size(), fields});
        history.data()[0] = names();
        std::int64_t* to = history.data() + fields;
        for (auto const& options : all.steps) {
            each_field<Options>([&](auto const& field) {
                *to++ = std::bit_cast<std::int64_t>(static_cast<double>(options.*field.member));
            });
        }
        add("made", value_of(std::move(made)));
        add("history", value_of(std::move(history)));
    }
    void load(FindTablePart const& find) override {
        auto const& made = find("made").template get<LoDTensor<std::uint8_t>>().value();
        auto const& history = find("history").template get<LoDTensor<std::int64_t>>().value();
        auto const& name = variables_[0]->name();
        auto const height = variables_[0]->value().rows();
        if (made.dimension() != 2 || made.shape(0) != height || made.shape(1) != 2)
            throw ShapeError({name, "#made.shape()"}, shape_text(made.shape()), {"[", height, ", 2]"});
        if (history.dimension() != 2 || history.shape(0) == 0 || history.shape(1) != fields ||
            history.data()[0] != names())
            throw ShapeError({name, "#history.shape()"}, shape_text(history.shape()),
                             {"[1 + steps, ", fields, "], of the options of this deferred optimizer: it is another's"});
        DeferredContents<Options> all;
        all.made.resize(height);
        std::memcpy(all.made.data(), made.data(), made.size());
        std::int64_t const* from = history.data() + fields;
        for (std::size_t step = 0; step + 1 < history.shape(0); ++step) {
            Options& options = all.steps.emplace_back();
            each_field<Options>([&](auto const& field) {
                using Member = std::remove_reference_t<decltype(options.*field.member)>;
                double const x = std::bit_cast<double>(*from++);
                bool const whole = std::abs(x) <= 0x1p53 && x == std::trunc(x);
                if (std::same_as<Member, bool> ? x != 0 && x != 1 : std::integral<Member> && !whole)
                    throw ValueError({name, "#history[", step + 1, "], ", field.name}, x,
                                     "a whole number in its range");
                options.*field.member = static_cast<Member>(x);
            });
        }
        Deferred<Options> rows(Height(static_cast<std::int64_t>(height)));
        with_tensors([&](auto&... tensor) { rows.assign(std::move(all), tensor...); });
        state_->rows = std::move(rows);
    }
    std::unique_ptr<DeferredTables> new_tables() const override { return new_deferred_tables(); }

private:
    static constexpr std::size_t most_at_once = std::size_t{1} << 16;
    static constexpr std::size_t fields = [] {
        std::size_t n = 0;
        each_field<Options>([&](auto const&) { ++n; });
        return n;
    }();
    /// A number that options of other names do not have.
    static std::int64_t names() {
        std::string all;
        each_field<Options>([&](auto const& field) { all.append(field.name).append(" "); });
        return hash_of(std::as_bytes(std::span(all)));
    }
    template <class X>
    static Value value_of(Tensor<X> tensor) {
        Value value;
        value.set(LoDTensor<X>(std::move(tensor)));
        return value;
    }

    /// The table, if it is in a file.
    AnyTable* table_file() const {
        auto const& kind = role_of(*variables_[0]).kind;
        return kind != nullptr && kind->in_file ? role_of(*variables_[0]).table.get() : nullptr;
    }
    void call(Cpu exec, Ids<> const& rows) {
        if (AnyTable* const file = table_file()) {
            std::vector<std::int64_t> behind;
            rows.visit([&](auto list) {
                std::ranges::copy_if(list, std::back_inserter(behind),
                                     [&](auto row) { return state_->rows->missed(row) != 0; });
            });
            file->write(exec, behind);
        }
        with_tensors([&](auto&... tensor) { state_->rows->catch_up(exec, rows, tensor...); });
    }
    template <class F>
    void with_tensors(F const& f) {
        Value& param = variables_[0]->value();
        bool const whole = param.is<LoDTensor<T>>();
        Tensor<T> value =
            whole ? param.get<LoDTensor<T>>().value().share() : param.get<SelectedRows<T>>().value().share();
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            f(value, variables_[1 + i]->value().template get<LoDTensor<S>>().value()...);
        }
        (std::make_index_sequence<states>{});
    }

    std::shared_ptr<DeferredState<Options>> state_;
    std::vector<Variable*> variables_;  // the parameter and the states
};

/// What a trainer asks of an update with these attributes, for optimizers that make_update adds.
template <class T, class S, std::size_t states, class Options>
std::shared_ptr<MissedSteps> missed_steps(DeferredAttributes<Options> const& attributes,
                                          std::vector<Variable*> variables) {
    return std::make_shared<MissedStepsOf<Options, T, S, states>>(attributes.state, std::move(variables));
}

}  // namespace rowan::inline v0::detail
