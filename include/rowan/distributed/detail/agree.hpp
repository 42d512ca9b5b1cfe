// rowan/distributed/detail/agree.hpp: agree, what every operation on several ranks begins with.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/train/detail/train_call.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The operations that begin with an agreement, so that ranks that call different ones notice.
enum class Collective : std::int32_t {
    together,
    row_allreduce,
    dense_allreduce,
    table,
    keyed_table,
    find,
    find_or_insert,
    gather,
    exchange,
    exchange_lookup,
    get,
    save,
    load,
    infer,
    infer_end,
    train  // the first of those of TrainCall
};

/// That of a call of a training.
constexpr Collective collective_of(TrainCall call) {
    return static_cast<Collective>(static_cast<std::int32_t>(Collective::train) + static_cast<std::int32_t>(call));
}

/// What ranks come to: `step 17's fetch`, zero-terminated.
ROWAN_IF_CALLED std::array<char, 80> expected_text(TrainCall call, std::int64_t step);

/// What a rank tells the others before rows travel.
struct Notice {
    std::int32_t failed = 0;  // 1 if it has thrown, 2 if its function has returned
    Collective operation = Collective::together;
    std::int64_t number = 0;             // of this rank's agreement; that of rank 0 is a number for an operation
    std::array<std::int64_t, 3> same{};  // must be the same on all ranks: element type, height, row size, or numbers
    std::array<std::int64_t, 3> own{};   // of the operation; may differ
};

/// Which notices an agreement returns.
enum class Told {
    differences,  ///< this rank's, which is that of all but for `number`, or those of all, if a word in `own` differs
    all,          ///< those of all
};

/// Runs f(notice) on every rank. If it throws on one, that error leaves this call there, and a RemoteError with its
/// text on the other ranks. Else returns the notices, by rank.
/// errors   Error on all ranks if their operations differ; ShapeError on all if a number in `same` does; of get and
///          train, Error
/// What fails here after f has returned or thrown, such as memory, ends all ranks, before others have returned.
/// cost     one allgather of 64 bytes; of more than group.few_ranks() ranks, one sum of 3 words, and then one allgather
///          of 32 bytes for `all`, or of 64 if something differs or was thrown
ROWAN_IF_CALLED std::vector<Notice> agree(ProcessGroup const& group, Collective operation, Told told,
                                          std::function<void(Notice&)> const& f);
template <class F>
std::vector<Notice> agree(ProcessGroup const& group, Collective operation, Told told, F const& f) {
    return agree(group, operation, told, std::function<void(Notice&)>(std::cref(f)));  // a reference needs no memory
}
template <class F>
std::vector<Notice> agree(ProcessGroup const& group, Collective operation, F const& f) {
    return agree(group, operation, Told::differences, f);
}

/// errors   ShapeError on all ranks if own[word] differs: the number `what`
ROWAN_IF_CALLED void check_same_number(std::vector<Notice> const& notices, std::size_t word, char const* what);

/// Where a rank differs from rank 0.
struct RankDifference : Difference {
    std::size_t rank = 0;
};

/// A value that differs between ranks that have agreed, where own[word] is mine.hash(), or none.
/// cost     if there is one, two allgathers
ROWAN_IF_CALLED std::optional<RankDifference> difference(ProcessGroup const& group, std::vector<Notice> const& notices,
                                                         std::size_t word, NamedValues const& mine);

/// errors   ShapeError on all ranks if there is a difference
ROWAN_IF_CALLED void check_same_values(ProcessGroup const& group, std::vector<Notice> const& notices, std::size_t word,
                                       NamedValues const& mine);

/// Runs f(values) on every rank, as agree. Returns the number of the agreement on rank 0.
/// errors   Error on all ranks if values differ: `train: options.seed is 1 on rank 2, 0 on rank 0`
/// cost     as agree, and of the hash of the values
ROWAN_IF_CALLED std::int64_t agree_on_values(ProcessGroup const& group, Collective operation,
                                             std::function<void(NamedValues&)> const& f);

/// A text of every rank. For ranks that have agreed.
/// cost     two allgathers
ROWAN_IF_CALLED std::vector<std::string> all_texts(ProcessGroup const& group, std::string_view mine);

/// The end of an operation with this number: runs f, after which nothing may fail. What it throws on one rank, all
/// ranks throw, as agree does.
/// errors   Error on all ranks if they end different operations
/// cost     that of f and of an agreement
template <class F>
std::vector<Notice> agree_on_end(ProcessGroup const& group, std::int64_t number, Told told, F const& f) {
    return agree(group, Collective::get, told, [&](Notice& n) {
        n.same = {number, 0, 0};
        f(n);
    });
}

/// Runs f, which must not fail, as the other ranks wait for this one: what it throws ends all ranks.
/// cost     that of f
template <class F>
decltype(auto) after_agreement(ProcessGroup const& group, F&& f) {
    try {
        return std::forward<F>(f)();
    } catch (RemoteError const&) {
        throw;  // all ranks have it
    } catch (std::exception const& e) {
        group.abort(e.what());
        throw;  // abort does not return
    } catch (...) {
        group.abort("an exception that is not a std::exception");
        throw;
    }
}

/// The last call of a rank: what the others begin, begins with an agreement, which tells them that this one has ended.
/// Returns when all have called it.
ROWAN_IF_CALLED void farewell(ProcessGroup const& group);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/agree_inl.hpp>
