// rowan/sparse/detail/reserved_memory.hpp: ReservedMemory, a range of addresses that gets memory as it grows.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <memory>

namespace rowan::inline v0::detail {

/// A range of addresses, which is aligned to huge pages. Its first bytes have memory, which is zeros at first; the
/// others cost nothing, also where the system does not overcommit memory.
class ReservedMemory {
public:
    /// Reserves `most` bytes; or, if the system does not have as many addresses, as under a limit of the process, at
    /// most an eighth of those that it has, but at least `least`.
    /// errors   std::bad_alloc
    ReservedMemory(std::size_t most, std::size_t least);
    ReservedMemory(ReservedMemory const&) = delete;
    ReservedMemory& operator=(ReservedMemory const&) = delete;
    ~ReservedMemory();

    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }            ///< the bytes that are reserved
    std::size_t committed() const noexcept { return committed_; }  ///< the bytes that have memory

    /// Gives the first `bytes` bytes memory, at most size().
    /// errors   std::bad_alloc; nothing has changed
    /// cost     a call of the system for an eighth more; pages get their memory when they are first written
    void commit(std::size_t bytes);

private:
    void* mapped_ = nullptr;
    std::size_t mapped_bytes_ = 0;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0, committed_ = 0;
};

/// A ReservedMemory with owners.
ROWAN_IF_CALLED std::shared_ptr<ReservedMemory> reserve_memory(std::size_t most, std::size_t least);

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/reserved_memory_inl.hpp>
