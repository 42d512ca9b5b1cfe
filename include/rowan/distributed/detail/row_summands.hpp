// rowan/distributed/detail/row_summands.hpp: what a rank brings to a row_allreduce of any element type, and what it gets.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/sum_of_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Contributions [first, first + count) of row plan.rows()[row], in the plan's order.
struct Cut {
    std::size_t row;
    std::int64_t first, count;
};

/// What a rank brings to a reduction, of any element type.
class RowSummands {
public:
    explicit RowSummands(ElementSums const& sums) : type(sums) {}
    RowSummands(RowSummands const&) = delete;
    RowSummands& operator=(RowSummands const&) = delete;
    virtual ~RowSummands() = default;

    /// Checks the arguments. Called first.
    virtual void describe(Notice& notice) = 0;
    /// The number of the table, if it is sharded.
    virtual std::int64_t table() const { return 0; }
    /// Each part merged and widened, numbered from 0 on.
    virtual std::vector<RowPieces> parts(Cpu exec) const = 0;
    /// All contributions, of elements as they are.
    virtual RowPieces joined() const = 0;
    /// The sums of contributions of what `joined` has given.
    virtual void cut_sums(Cpu exec, RowPieces const& joined, RowPlan<> const& plan, std::span<Cut const> cuts,
                          std::byte* out) const = 0;
    /// All ranks' contributions, merged.
    virtual RowPieces merged(Cpu exec, RowPieces&& all) const = 0;

    ElementSums const type;
};

/// Where the result of a reduction goes. What makes it may throw.
class RowTarget {
public:
    RowTarget() = default;
    RowTarget(RowTarget const&) = delete;
    RowTarget& operator=(RowTarget const&) = delete;
    virtual ~RowTarget() = default;

    /// Makes it of sums whose rows ascend.
    virtual void take(RowPieces&& sums) = 0;
    /// Makes one of n rows, which are written to this memory.
    struct Memory {
        std::span<std::int64_t> rows;
        std::span<std::byte> elements;
    };
    virtual Memory make(RowPieces const& like, std::size_t n) = 0;
};

/// A SelectedRows as a target.
template <class T>
class RowResult final : public RowTarget {
public:
    RowResult() = default;
    /// Of rows [first, first + height), which get numbers from 0 on.
    RowResult(std::int64_t first, std::int64_t height) : first_(first), height_(height) {}

    void take(RowPieces&& sums) override {
        for (auto& row : sums.rows) row -= first_;
        if (height_) sums.height = *height_;
        rows_ = rows_of_pieces<T>(std::move(sums));
    }
    Memory make(RowPieces const& like, std::size_t n) override {
        auto shape = like.shape;
        shape[0] = n;
        auto rows = Tensor<std::int64_t>::from_shape({n});
        auto value = Tensor<T>::from_shape(shape);
        Memory const to{{rows.data(), rows.size()}, std::as_writable_bytes(std::span(value.data(), value.size()))};
        rows_ = SelectedRowsAccess::adopt(like.height, std::move(rows), std::move(value), true);
        return to;
    }
    SelectedRows<T> result() { return std::move(rows_); }

private:
    std::int64_t first_ = 0;
    std::optional<std::int64_t> height_;
    SelectedRows<T> rows_;
};

/// A row_allreduce that has begun: see row_reduction.hpp.
class RowReduction;

ROWAN_IF_CALLED std::shared_ptr<RowReduction> begin_row_reduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                                                  std::unique_ptr<RowSummands> source,
                                                                  RowReduceOptions options,
                                                                  std::vector<std::int64_t> splits = {});
/// As RowReduction::finish.
ROWAN_IF_CALLED void finish_row_reduction(RowReduction& reduction, RowTarget& to);

/// The memory of a tensor, as bytes.
template <class T>
Storage<std::byte> tensor_bytes(Tensor<T> tensor) {
    std::size_t const bytes = tensor.size() * sizeof(T);
    auto const owner = std::make_shared<Tensor<T>>(std::move(tensor));
    return Storage<std::byte>::of_others(std::shared_ptr<std::byte>(owner, reinterpret_cast<std::byte*>(owner->data())),
                                         bytes);
}

/// The parts of a rank. It shares the memory of their values; the span remains valid while the reduction begins.
template <class T>
class RowParts : public RowSummands {
    using S = sum_t<T>;

public:
    explicit RowParts(std::span<SelectedRows<T> const> parts) : RowSummands(element_sums<T>()), parts_(parts) {}

    void describe(Notice& notice) override {
        check_parts(parts_);
        notice.same = {dtype<T>::wire, parts_[0].height(), 0};
        notice.own[0] = static_cast<std::int64_t>(parts_.size());
    }
    std::vector<RowPieces> parts(Cpu exec) const override { return all_pieces<RowPieces>(exec, parts_); }

    RowPieces joined() const override {
        RowPieces out;
        out.height = parts_[0].height();
        out.shape = parts_[0].value().shape();
        out.row_bytes = parts_[0].row_size() * sizeof(T);
        for (auto const& p : parts_) out.rows.insert(out.rows.end(), p.rows().begin(), p.rows().end());
        if (parts_.size() == 1) {
            out.bytes = tensor_bytes(parts_[0].value().share());
            out.lent = true;
            return out;
        }
        out.resize(out.rows.size());
        auto* to = out.bytes.data();
        for (auto const& p : parts_) {
            std::size_t const bytes = p.value().size() * sizeof(T);
            if (bytes != 0) std::memcpy(to, p.value().data(), bytes);
            to += bytes;
        }
        return out;
    }

    void cut_sums(Cpu exec, RowPieces const& joined, RowPlan<> const& plan, std::span<Cut const> cuts,
                  std::byte* out) const override {
        std::size_t const width = joined.row_bytes / sizeof(T), bytes = width * sizeof(S);
        if (bytes == 0) return;
        auto const* const value = reinterpret_cast<T const*>(joined.bytes.data());
        parallel_work(
            exec, plan.size() * width, cuts.size(), rows_per_range(bytes), [&](std::size_t begin, std::size_t end) {
                BlockSum<T, S> sum(value, width, plan.size());
                for (std::size_t i = begin; i < end; ++i) {
                    auto const first = plan.offsets()[cuts[i].row] + cuts[i].first;
                    S const* const s = sum(plan.positions().data() + first, static_cast<std::size_t>(cuts[i].count), 0);
                    std::memcpy(out + i * bytes, s, bytes);
                }
            });
    }

    RowPieces merged(Cpu exec, RowPieces&& all) const override {
        all.shape[0] = all.rows.size();
        auto const value = tensor_of<T>(all);
        auto sum = merge(exec, RowPlan<>(exec, all.rows, all.height), value);
        auto out = all.like();
        out.rows.assign(sum.rows().begin(), sum.rows().end());
        out.bytes = tensor_bytes(std::move(sum.value()));
        return out;
    }

protected:
    std::span<SelectedRows<T> const> parts_;

private:
    template <class E>
    static Tensor<E> tensor_of(RowPieces& p) {
        if (p.bytes.empty()) return Tensor<E>::from_shape(p.shape);
        return Tensor<E>::borrow(reinterpret_cast<E*>(p.bytes.data()), p.shape);
    }
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/row_reduction.hpp>
