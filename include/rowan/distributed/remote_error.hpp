// rowan/distributed/remote_error.hpp: RemoteError, an error of another rank.
#pragma once

#include <rowan/core/error.hpp>

#include <string>
#include <utility>

namespace rowan::inline v0 {

/// Another rank has thrown, or has ended: `rank 2: rows[1] = 9 is not in [0, 4)`. Or it has kept others waiting for longer
/// than their patience: `rank 2 has not come to step 17's fetch for 60 s`.
class RemoteError : public Error {
public:
    /// `rank <rank>: <text>`
    RemoteError(int rank, std::string const& text)
        : Error(std::string("rank ").append(std::to_string(rank)).append(": ").append(text)), rank_(rank) {}

    /// Of a rank for which others have waited too long: `<text>`
    static RemoteError late(int rank, std::string text) { return {std::move(text), rank}; }

    int rank() const noexcept { return rank_; }  ///< the rank that has thrown, has ended or is late

private:
    RemoteError(std::string text, int rank) : Error(std::move(text)), rank_(rank) {}

    int rank_;
};

}  // namespace rowan::inline v0
