// rowan/distributed/detail/agree.hpp: agree, what every operation on several ranks begins with.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/remote_error.hpp>

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
enum class Collective : std::int64_t {
    together,
    row_allreduce,
    dense_allreduce,
    table,
    gather,
    exchange,
    load,
    train,
    infer
};

/// What a rank tells the others before rows travel.
struct Notice {
    std::int64_t failed = 0;  // 1 if it has thrown, 2 if its function has returned
    Collective operation = Collective::together;
    std::array<std::int64_t, 3> same{};  // element type, height, row size: must be the same on all ranks
    std::array<std::int64_t, 3> own{};   // of the operation; may differ
};

/// Which notices an agreement returns.
enum class Told {
    differences,  ///< this rank's, which is that of all, or those of all, if a word in `own` differs
    all,          ///< those of all
};

/// Runs f(notice) on every rank. If it throws on one, that error leaves this call there, and a RemoteError with its text
/// on the other ranks. Else returns the notices, by rank.
/// errors   Error on all ranks if their operations differ; ShapeError on all if a number in `same` does
/// What fails here after f has returned or thrown, such as memory, ends all ranks.
/// cost     one allgather of 64 bytes; of more than group.few_ranks() ranks, one sum of 3 words, and then one allgather of
///          24 bytes for `all`, or of 64 if something differs or was thrown
std::vector<Notice> agree(ProcessGroup const& group, Collective operation, Told told,
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
void check_same_number(std::vector<Notice> const& notices, std::size_t word, char const* what);

/// errors   ShapeError on all ranks if own[word], which stands for `what`, differs
void check_same_hash(std::vector<Notice> const& notices, std::size_t word, char const* what);

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
void farewell(ProcessGroup const& group);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/agree_inl.hpp>
