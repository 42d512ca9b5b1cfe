// rowan/layer/table_kind.hpp: TableKind, where the rows of an embedding's table are and what names them.
#pragma once

#include <rowan/layer/initializer.hpp>

#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

class AnyTableKind;

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// The kind of a table: by default a tensor, whose rows have the numbers that ids name. Others are made of layer::Keyed
/// and layer::InFile.
class TableKind {
public:
    /// Makes what a parameter of a kind holds.
    struct Maker {
        Maker() = default;
        Maker(Maker const&) = delete;
        Maker& operator=(Maker const&) = delete;
        virtual ~Maker() = default;
        /// Of a table whose rows have these first values.
        virtual std::shared_ptr<rowan::detail::AnyTableKind const> with(Initializer const& first) const = 0;
    };

    TableKind() = default;  ///< a tensor
    /// errors   none
    /// cost     O(1)
    explicit TableKind(std::shared_ptr<Maker const> maker) noexcept : maker_(std::move(maker)) {}

    std::shared_ptr<Maker const> const& maker() const noexcept { return maker_; }  ///< null for tensors

private:
    std::shared_ptr<Maker const> maker_;
};

}  // namespace rowan::inline v0::layer
