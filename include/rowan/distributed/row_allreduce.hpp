// rowan/distributed/row_allreduce.hpp: row_allreduce, the sum of all ranks' row-sparse gradients.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/pending.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/sum_of_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Contributions [first, first + count) of row plan.rows()[row], in the plan's order.
struct Cut {
    std::size_t row;
    std::int64_t first, count;
};

/// What a rank brings to a reduction, of any element type.
class RowSummands {
public:
    RowSummands(ElementSums const& sums, std::int64_t number) : type(sums), table(number) {}
    RowSummands(RowSummands const&) = delete;
    RowSummands& operator=(RowSummands const&) = delete;
    virtual ~RowSummands() = default;

    /// Checks the arguments. Called first.
    virtual void describe(Notice& notice) = 0;
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
    std::int64_t const table;  // its number, if it is sharded
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
    /// Of rows [first, first + height), which get numbers from 0 on, for sums that `take` is given.
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

/// The parts of a rank. It shares the memory of their values; they remain valid while the reduction begins.
template <class T>
class RowParts final : public RowSummands {
    using S = sum_t<T>;

public:
    /// own(notice) checks this rank's parts and gives them, one or more; notice.own[0] is the number that counts.
    using Own = std::function<std::span<SelectedRows<T> const>(Notice&)>;
    /// `number` is that of the table, if it is sharded.
    explicit RowParts(Own own, std::int64_t number = 0)
        : RowSummands(element_sums<T>(), number), own_(std::move(own)) {}

    void describe(Notice& notice) override {
        parts_ = own_(notice);
        notice.same = {dtype<T>::wire, parts_[0].height(), 0};
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
        auto const value = all.bytes.empty() ? Tensor<T>::from_shape(all.shape)
                                             : Tensor<T>::borrow(reinterpret_cast<T*>(all.bytes.data()), all.shape);
        auto sum = merge(exec, RowPlan<>(exec, all.rows, all.height), value);
        auto out = all.like();
        out.rows.assign(sum.rows().begin(), sum.rows().end());
        out.bytes = tensor_bytes(std::move(sum.value()));
        return out;
    }

private:
    Own own_;
    std::span<SelectedRows<T> const> parts_;
};

template <class T>
struct PendingRows final : PendingWork<SelectedRows<T>> {
    SelectedRows<T> finish() override {
        finish_row_reduction(*reduction, result);
        return result.result();
    }
    RowResult<T> result;
    std::shared_ptr<RowReduction> reduction;
};

}  // namespace detail

/// Begins row_allreduce: on return, ranks have agreed, and rows travel. get() gives its result.
/// shapes     those of row_allreduce
/// requires   the parts' values do not change until then
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, std::span<SelectedRows<T> const> parts,
                                             RowReduceOptions options = {}) {
    using namespace detail;
    std::unique_ptr<PendingRows<T>> pending;
    std::unique_ptr<GroupOf<C>> group;
    std::unique_ptr<RowParts<T>> source;
    after_agreement(GroupOf<C>(comm), [&] {  // all memory that is needed besides that of RowReduction
        pending = std::make_unique<PendingRows<T>>();
        group = std::make_unique<GroupOf<C>>(comm);
        source = std::make_unique<RowParts<T>>([parts](Notice& n) {
            check_parts(parts);
            n.own[0] = static_cast<std::int64_t>(parts.size());
            return parts;
        });
    });
    pending->reduction = begin_row_reduction(std::move(group), exec, std::move(source), options);
    return Pending<SelectedRows<T>>(std::move(pending));
}

/// The sum of the parts of all ranks, merged, on every rank; parts are numbered from rank 0's first to the last rank's
/// last. The bits are those of sum_of_parts, or of merge, on one process: they depend neither on the number of ranks
/// nor on how parts are cut onto them, nor on the route. Sums are formed, and travel, in dtype<T>::sum and are narrowed
/// once.
/// shapes   SelectedRows of the same height and row shape on all ranks, without rows if there are none
/// errors   on all ranks: ShapeError if a rank has no parts, or heights, row shapes, element types or options differ;
///          nothing has changed then. What fails later on one rank is an error of get() on all; where it fails between
///          two exchanges, it ends all ranks
/// cost     a merge of each part, a sort of what comes, and one sum of it; what a rank sends is in the table
///
/// Bytes that a rank sends, with P ranks, or N nodes of q ranks; u, w and U distinct rows of a rank, of a node and of
/// all; R bytes a row:
///
/// | route | order of the sums | bytes |
/// |---|---|---|
/// | gather | parts | (P - 1) · u · (R + 8) |
/// | gather | contributions | (P - 1) · n · (R + 8), of all n rows of the rank |
/// | owner | parts, one on each rank | (P - 1) / P · (u + U) · (R + 8) |
/// | owner | parts, several on a rank | (P - 1) / P · (u · (R + 16) + U · (R + 8)) |
/// | owner | contributions | (P - 1) / P · (v · (R + 16) + 24 · u + U · (R + 8)) |
/// | node | parts, in the node | (q - 1) / q · (u + U) · (R + 8) |
/// | node | parts, to other nodes | (N - 1) / N · (w · (R + 16) + U · (R + 8)) / q |
///
/// v is between u and n: of a row that lower ranks have, contributions travel one by one until a block of 64 begins,
/// then as sums of blocks.
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, std::span<SelectedRows<T> const> parts,
                              RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, parts, options).get();
}

/// Begins row_allreduce of one part on each rank.
/// shapes     those of row_allreduce
/// requires   the part's values do not change until get()
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, SelectedRows<T> const& part,
                                             RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, std::span(&part, 1), options);
}
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, SelectedRows<T> const& part, RowReduceOptions options = {}) {
    return row_allreduce(exec, comm, std::span(&part, 1), options);
}

/// Begins row_allreduce of a vector of parts.
/// shapes     those of row_allreduce
/// requires   the parts' values do not change until get()
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, std::vector<SelectedRows<T>> const& parts,
                                             RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, std::span(parts), options);
}
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, std::vector<SelectedRows<T>> const& parts,
                              RowReduceOptions options = {}) {
    return row_allreduce(exec, comm, std::span(parts), options);
}

}  // namespace rowan::inline v0

#include <rowan/distributed/detail/row_reduction.hpp>
