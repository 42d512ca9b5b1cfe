// rowan/distributed/remote_error.hpp: RemoteError, an error of another rank.
#pragma once

#include <rowan/core/error.hpp>

#include <string>

namespace rowan::inline v0 {

/// Another rank has thrown, or has ended: `rank 2: rows[1] = 9 is not in [0, 4)`.
class RemoteError : public Error {
public:
    /// `rank <rank>: <text>`
    RemoteError(int rank, std::string const& text)
        : Error(std::string("rank ").append(std::to_string(rank)).append(": ").append(text)), rank_(rank) {}

    int rank() const noexcept { return rank_; }  ///< the rank that has thrown or ended

private:
    int rank_;
};

}  // namespace rowan::inline v0
