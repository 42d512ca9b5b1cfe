// rowan/io/detail/read_parts.hpp: read_parts, which reads from a file on several threads.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Fills `to` with the bytes from `offset` on, in parts of 4 MiB.
/// errors   as InputFile::read
inline void read_parts(Cpu exec, InputFile const& file, std::uint64_t offset, std::span<std::byte> to) {
    parallel_work(
        exec, to.size() / sizeof(float), to.size(), std::size_t{4} << 20,
        [&](std::size_t begin, std::size_t end) { file.read(offset + begin, to.subspan(begin, end - begin)); });
}

}  // namespace rowan::inline v0::detail
