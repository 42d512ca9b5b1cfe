// rowan/distributed/detail/shard_parts.hpp: ShardParts, what a rank brings to ShardedTable::exchange.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/row_summands.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The parts of a rank, with slots instead of rows; a rank may have no parts.
template <class T>
class ShardParts final : public RowParts<T> {
public:
    ShardParts(Cpu exec, std::span<SelectedRows<T> const> parts, std::size_t width, Slots const& slots,
               std::int64_t table)
        : RowParts<T>({}), exec_(exec), given_(parts), width_(width), slots_(slots), table_(table) {}

    std::int64_t table() const override { return table_; }

    void describe(Notice& notice) override {
        for (auto const& p : given_) {
            if (p.height() > slots_.height() || (p.height() < slots_.height() && !slots_.grows()))
                throw ShapeError("parts height", p.height(), {slots_.grows() ? "at most " : "", slots_.height()});
            if (p.value().shape().size() != 2 || p.row_size() != width_)
                throw ShapeError("parts row shape", shape_text(p.value().shape()), {"[rows, ", width_, "]"});
            moved_.emplace_back(slots_.size(), slots_.of(exec_, "parts rows", p.rows()), p.value().share());
        }
        if (given_.empty()) moved_.emplace_back(slots_.size(), Ids<>(), Tensor<T>::from_shape({0, width_}));
        this->parts_ = moved_;
        RowParts<T>::describe(notice);
        notice.own[0] = static_cast<std::int64_t>(given_.size());
    }

private:
    Cpu exec_;
    std::span<SelectedRows<T> const> given_;
    std::size_t width_;
    Slots const& slots_;
    std::int64_t table_;
    std::vector<SelectedRows<T>> moved_;
};

}  // namespace rowan::inline v0::detail
