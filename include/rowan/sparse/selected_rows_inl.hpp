// rowan/sparse/selected_rows_inl.hpp: definitions of rowan/sparse/selected_rows.hpp.
#pragma once

#include <rowan/sparse/selected_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION KeptSpan<std::int64_t const> RowNumbers<Cpu>::kept(Tensor<std::int64_t> const& rows) noexcept {
    return {view(rows), rows.storage().memory()};
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> RowNumbers<Cpu>::copy(Ids<> const& ids) {
    auto rows = Tensor<std::int64_t>::from_shape({ids.size()});
    copy_ids(ids, rows.data());
    return rows;
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> RowNumbers<Cpu>::checked(Cpu exec, char const* field, Ids<> const& ids,
                                                                    std::int64_t height) {
    check_ids(exec, field, ids, height);
    return copy(ids);
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> RowNumbers<Cpu>::shared(Tensor<std::int64_t> const& rows) { return rows; }

ROWAN_CALLED_FUNCTION bool RowNumbers<Cpu>::merged(Tensor<std::int64_t> const& rows) {
    std::int64_t const* const list = rows.data();
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (list[i - 1] >= list[i]) return false;
    }
    return true;
}

}  // namespace rowan::inline v0::detail

#endif
