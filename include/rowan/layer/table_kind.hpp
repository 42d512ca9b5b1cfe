// rowan/layer/table_kind.hpp: TableKind, where the rows of an embedding's table are and how they are named.
#pragma once

#include <rowan/graph/any_table.hpp>

#include <memory>
#include <utility>

namespace rowan::inline v0::layer {

/// The kind of a table: by default a tensor, whose rows have the numbers that ids name. Others are made of layer::Keyed.
class TableKind {
public:
    TableKind() = default;  ///< a tensor
    /// Of a kind's makers.
    explicit TableKind(std::shared_ptr<rowan::detail::TableMakers const> makers) noexcept : makers_(std::move(makers)) {}

    /// What makes tables; null for tensors.
    std::shared_ptr<rowan::detail::TableMakers const> const& makers() const noexcept { return makers_; }

private:
    std::shared_ptr<rowan::detail::TableMakers const> makers_;
};

}  // namespace rowan::inline v0::layer
