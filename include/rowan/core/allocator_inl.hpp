// rowan/core/allocator_inl.hpp: definitions of rowan/core/allocator.hpp.
#pragma once

#include <rowan/core/allocator.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void* take_memory(std::size_t bytes, std::size_t alignment) {
    if (auto* const meter = current_meter(); meter != nullptr) meter->allocate(static_cast<std::int64_t>(bytes));
    if (alignment == block_alignment) {
        if (auto* const free = blocks_for(bytes); free != nullptr) return free->take(bytes) + 1;
    }
    return new_block(bytes, alignment, nullptr) + 1;
}

ROWAN_FUNCTION void return_memory(void* memory, std::size_t bytes) noexcept {
    if (auto* const meter = current_meter(); meter != nullptr) meter->release(static_cast<std::int64_t>(bytes));
    BlockHeader* const header = header_of(memory);
    if (header->pool == nullptr) {
        ::operator delete(header->memory);
    } else {
        header->pool->put(header);
    }
}

ROWAN_FUNCTION std::shared_ptr<void> share_memory(std::size_t bytes, std::size_t alignment) {
    return {take_memory(bytes, alignment), [bytes](void* memory) { return_memory(memory, bytes); }, Allocator<char>()};
}

}  // namespace rowan::inline v0::detail

#endif
