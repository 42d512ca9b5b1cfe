// rowan/rowan.hpp: rowan 0.1.0 in one file, but for what needs nanopb or Thrust. single_include/generate.py made it.
//
// MIT License
//
// Copyright (c) 2026 rowan contributors
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in all
// copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
// SOFTWARE.
#pragma once

// rowan/version.hpp: the version and the oldest versions of dependencies. Every header includes this one first.

#ifdef ROWAN_VERSION_MAJOR
#error "two copies of rowan: a program includes the single header or the others, not both, and of one version"
#endif

/// Major version (semantic versioning): changes with incompatible changes.
#define ROWAN_VERSION_MAJOR 0
/// Minor version: changes with new features; while the major version is 0, also with incompatible changes.
#define ROWAN_VERSION_MINOR 1
/// Patch version: changes with bug fixes only.
#define ROWAN_VERSION_PATCH 0

/// The oldest versions of other libraries that rowan works with. CMakeLists.txt and conanfile.py read them here.
#define ROWAN_MIN_XTENSOR 0.24
#define ROWAN_MIN_XSIMD 8
#define ROWAN_MIN_XTENSOR_BLAS 0.20
#define ROWAN_MIN_NANOPB 0.4.7
#define ROWAN_MIN_CUDA 13

// rowan/core/detail/config.hpp: compiler requirements and macros.

#if __cplusplus < 202002L
#error "rowan needs C++20: compile with -std=c++20 or newer"
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "rowan promises the same bits everywhere: compile it without -ffast-math and what that stands for"
#endif

#ifndef __cpp_exceptions
#error "rowan reports bad input by exceptions: compile it without -fno-exceptions"
#endif

/// Its arguments as a string literal, after macro expansion.
#define ROWAN_STRING(...) ROWAN_STRING_OF(__VA_ARGS__)
#define ROWAN_STRING_OF(...) #__VA_ARGS__

/// As #error, but expands macros in the text.
#define ROWAN_ERROR(...) _Pragma(ROWAN_STRING(GCC error ROWAN_STRING(__VA_ARGS__)))

/// Marks functions that both host and device code may call.
#ifdef __CUDACC__
#define ROWAN_HD __host__ __device__
#else
#define ROWAN_HD
#endif

/// Marks small functions that must be inlined into inner loops for performance.
#define ROWAN_INLINE [[gnu::always_inline]] inline

/// The same for functions that both host and device code may call.
#define ROWAN_HD_INLINE ROWAN_INLINE ROWAN_HD

/// Placed before a ROWAN_HD template that is host-only for some template arguments, such as SIMD registers: nvcc does
/// not check which functions it calls.
#ifdef __NVCC__
#define ROWAN_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ROWAN_NO_EXEC_CHECK
#endif

/// By default the library is header-only. If ROWAN_COMPILED is defined, as by the target rowan::compiled, headers only
/// declare non-template functions and the template instances listed with ROWAN_TEMPLATE; the compiled library defines
/// them.
///
/// A header x.hpp with non-template functions declares them and includes x_inl.hpp at its end, which defines them
/// within `#if ROWAN_DEFINES_FUNCTIONS` as `ROWAN_FUNCTION R f() { … }`.
#ifdef ROWAN_COMPILED
#ifdef ROWAN_BLAS
#error "rowan::compiled multiplies matrices itself: a program links rowan::blas or rowan::compiled"
#endif
#define ROWAN_DEFINES_FUNCTIONS 0
#define ROWAN_FUNCTION
#define ROWAN_TEMPLATE(...) extern template __VA_ARGS__;
#else
#define ROWAN_DEFINES_FUNCTIONS 1
#define ROWAN_FUNCTION inline
#define ROWAN_TEMPLATE(...)
#endif

/// Causes a link error, with this name, if a program mixes files compiled with and without ROWAN_COMPILED.
namespace rowan {
#ifdef ROWAN_COMPILED
[[gnu::used]] inline thread_local char files_with_and_without_ROWAN_COMPILED = 0;
#else
[[gnu::used]] inline char files_with_and_without_ROWAN_COMPILED = 0;
#endif
}  // namespace rowan

// rowan/core/detail/blocks.hpp: blocks of memory from the system, and the free blocks of a memory pool.

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

namespace rowan::inline v0::detail {

class FreeBlocks;

/// The header in front of each block.
struct BlockHeader {
    void* memory;       // the system's allocation
    FreeBlocks* pool;   // the pool to return the block to; nullptr: the system
    std::size_t bytes;  // the size passed to new_block
    BlockHeader* next;  // the next free block of the same size class
};

inline constexpr std::size_t block_alignment = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t huge_from = 2 * huge_page;

/// Allocates a block of `bytes` bytes from the system; from huge_from bytes on it fills whole huge pages.
/// errors   std::bad_alloc
BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool);

/// The free blocks of a pool, by size class. Thread-safe. It is deleted with the pool or with the last block in use,
/// whichever is later.
class FreeBlocks {
public:
    explicit FreeBlocks(std::size_t most) : most_(most) {}
    FreeBlocks(FreeBlocks const&) = delete;
    FreeBlocks& operator=(FreeBlocks const&) = delete;

    /// Returns a block of at least `bytes` bytes. Only free blocks of the same size class are reused, so that repeated
    /// requests of the same sizes, in any order, reuse the blocks of the first time.
    /// errors   std::bad_alloc
    BlockHeader* take(std::size_t bytes);

    /// Takes a block from `take` back. Returns it to the system if the pool is closed or full.
    void put(BlockHeader* block) noexcept;

    /// Returns the free blocks to the system.
    void clear() noexcept;
    std::size_t kept() const noexcept;

    /// Called when the pool is destroyed. Blocks in use are then returned to the system, and the last one deletes this.
    void close() noexcept;

private:
    // Size classes, `steps` per power of two: 64, 80, 96, 112, 128, 160 ...
    static constexpr std::size_t steps = 4, smallest = 64;
    static constexpr std::size_t size_of(std::size_t c) { return (steps + c % steps) << (c / steps + 4); }
    static constexpr std::size_t at_most(std::size_t bytes) {
        auto const power = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
        return (power - 6) * steps + (bytes >> (power - 2)) - steps;
    }
    static constexpr std::size_t at_least(std::size_t bytes) { return bytes <= smallest ? 0 : at_most(bytes - 1) + 1; }

    void clear_locked() noexcept;

    void leave(std::unique_lock<std::mutex>& lock) noexcept;

    std::mutex mutable mutex_;
    std::array<BlockHeader*, (64 - 6) * steps> free_{};
    std::size_t most_, kept_ = 0;
    std::size_t users_ = 1;  // the pool and each block in use
    bool closed_ = false;
};

/// The pool from which this thread takes its blocks, or nullptr.
inline FreeBlocks*& current_pool() noexcept {
    thread_local FreeBlocks* pool = nullptr;
    return pool;
}

inline BlockHeader* header_of(void* block) noexcept {
    return std::launder(reinterpret_cast<BlockHeader*>(static_cast<char*>(block) - sizeof(BlockHeader)));
}

}  // namespace rowan::inline v0::detail

// rowan/core/detail/blocks_inl.hpp: definitions of rowan/core/detail/blocks.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rowan::inline v0::detail {

ROWAN_FUNCTION BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool) {
    bool const huge = bytes >= huge_from;
    std::size_t const step = huge ? std::max(huge_page, alignment) : alignment;
    std::size_t const whole = huge ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
    // Not the aligned operator new: with glibc it maps fresh pages, which the kernel must clear, for each such block.
    char* const memory = static_cast<char*>(::operator new(whole + step + sizeof(BlockHeader)));
    char* const first = memory + sizeof(BlockHeader);
    char* const block = first + (step - reinterpret_cast<std::uintptr_t>(first) % step) % step;
#ifdef MADV_HUGEPAGE
    if (huge) ::madvise(block, whole, MADV_HUGEPAGE);  // a hint: if it fails, the memory is only slower
#endif
    return new (block - sizeof(BlockHeader)) BlockHeader{memory, pool, bytes, nullptr};
}

ROWAN_FUNCTION BlockHeader* FreeBlocks::take(std::size_t bytes) {
    std::size_t const c = at_least(bytes);
    {
        std::scoped_lock const lock(mutex_);
        if (BlockHeader* const block = free_[c]; block != nullptr) {
            free_[c] = block->next;
            kept_ -= block->bytes;
            ++users_;
            return block;
        }
    }
    BlockHeader* const block = new_block(size_of(c), block_alignment, this);
    std::scoped_lock const lock(mutex_);
    ++users_;
    return block;
}

ROWAN_FUNCTION void FreeBlocks::put(BlockHeader* block) noexcept {
    std::unique_lock lock(mutex_);
    if (!closed_ && block->bytes <= most_ - kept_) {
        BlockHeader*& top = free_[at_most(block->bytes)];
        block->next = top;
        top = block;
        kept_ += block->bytes;
        block = nullptr;
    }
    leave(lock);
    if (block != nullptr) ::operator delete(block->memory);
}

ROWAN_FUNCTION void FreeBlocks::clear() noexcept {
    std::scoped_lock const lock(mutex_);
    clear_locked();
}

ROWAN_FUNCTION std::size_t FreeBlocks::kept() const noexcept {
    std::scoped_lock const lock(mutex_);
    return kept_;
}

ROWAN_FUNCTION void FreeBlocks::close() noexcept {
    std::unique_lock lock(mutex_);
    clear_locked();
    closed_ = true;
    leave(lock);
}

ROWAN_FUNCTION void FreeBlocks::clear_locked() noexcept {
    for (BlockHeader*& top : free_) {
        while (top != nullptr) {
            void* const memory = top->memory;
            top = top->next;
            ::operator delete(memory);
        }
    }
    kept_ = 0;
}

ROWAN_FUNCTION void FreeBlocks::leave(std::unique_lock<std::mutex>& lock) noexcept {
    bool const last = --users_ == 0;
    lock.unlock();
    if (last) delete this;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines; large blocks use huge pages.

#include <algorithm>
#include <limits>
#include <vector>

namespace rowan::inline v0 {

/// A standard allocator. Blocks are aligned to at least 64 bytes and not initialised. A block of 4 MiB or more fills
/// whole 2 MiB pages and requests huge pages from the system, which avoids page walks when rows are read at random.
/// Blocks come from the thread's MemoryPool, if it has one and alignof(T) is at most 64, and are returned to it.
/// errors   std::bad_alloc
template <class T>
struct Allocator {
    using value_type = T;

    /// The alignment of blocks, in bytes.
    static constexpr std::size_t alignment = std::max(alignof(T), detail::block_alignment);
    /// The size of the system's huge pages, in bytes.
    static constexpr std::size_t huge_page = detail::huge_page;
    /// Blocks of this many bytes or more fill whole huge pages.
    static constexpr std::size_t huge_from = detail::huge_from;

    Allocator() = default;  ///< stateless
    template <class U>
    Allocator(Allocator<U> const&) noexcept {}

    /// Allocates memory for `n` elements.
    /// errors   std::bad_alloc
    /// cost     O(1) if the pool has a free block of this size, else one allocation from the system
    [[nodiscard]] T* allocate(std::size_t n) {
        if (n > (std::numeric_limits<std::size_t>::max() / 4) / sizeof(T)) throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        if constexpr (alignment == detail::block_alignment) {
            if (auto* const pool = detail::current_pool(); pool != nullptr)
                return reinterpret_cast<T*>(pool->take(bytes) + 1);
        }
        return reinterpret_cast<T*>(detail::new_block(bytes, alignment, nullptr) + 1);
    }

    /// Returns a block to its pool, or to the system.
    void deallocate(T* block, std::size_t) noexcept {
        detail::BlockHeader* const header = detail::header_of(block);
        if (header->pool == nullptr) {
            ::operator delete(header->memory);
        } else {
            header->pool->put(header);
        }
    }

    /// All allocators are equal.
    template <class U>
    bool operator==(Allocator<U> const&) const noexcept {
        return true;
    }
};

namespace detail {

/// Temporary memory of an algorithm, from the thread's MemoryPool if it has one.
template <class T>
using Buffer = std::vector<T, Allocator<T>>;

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/core/detail/bit_cast.hpp: bit_cast, std::bit_cast for host and device code.

namespace rowan::inline v0::detail {

template <class To, class From>
ROWAN_HD constexpr To bit_cast(From const& x) noexcept {
    return __builtin_bit_cast(To, x);
}

}  // namespace rowan::inline v0::detail

// rowan/core/bfloat16.hpp: bfloat16, the upper half of a float.

#include <cstdint>

namespace rowan::inline v0 {

/// A storage type with 8 exponent and 7 fraction bits, the range of float in two bytes; arithmetic is done in float.
/// Conversion from float rounds to nearest, ties to even; a NaN becomes quiet, and keeps its sign and upper payload.
class bfloat16 {
public:
    bfloat16() = default;  ///< zero
    /// Rounds to nearest, ties to even.
    ROWAN_HD constexpr explicit bfloat16(float x) noexcept : bits_(round(detail::bit_cast<std::uint32_t>(x))) {}
    /// Exact conversion.
    ROWAN_HD constexpr operator float() const noexcept { return detail::bit_cast<float>(std::uint32_t{bits_} << 16); }

    /// The number with this bit pattern.
    ROWAN_HD static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
        bfloat16 x;
        x.bits_ = bits;
        return x;
    }
    ROWAN_HD constexpr std::uint16_t bits() const noexcept { return bits_; }  ///< the bit pattern

private:
    ROWAN_HD static constexpr std::uint16_t round(std::uint32_t x) noexcept {
        std::uint32_t const nan = (x | 0x00400000U) >> 16;
        std::uint32_t const near = (x + 0x7FFFU + ((x >> 16) & 1U)) >> 16;
        return static_cast<std::uint16_t>((x & 0x7FFFFFFFU) > 0x7F800000U ? nan : near);
    }

    std::uint16_t bits_ = 0;
};

}  // namespace rowan::inline v0

// rowan/core/error.hpp: the exception types. Types and accessors are API, message texts are not.

#include <stdexcept>
#include <string>

namespace rowan::inline v0 {

/// The base class of all errors. A function validates all its arguments before it writes anything.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An id, index or slot out of range: `rows[1] = 9 is not in [0, 4)`.
class IndexError : public Error {
public:
    /// `field[position] = value is not in [0, bound)`
    IndexError(std::string field, std::size_t position, std::int64_t value, std::int64_t bound);

    /// A position that is invalid for another reason: `slots[3] was never written`. value() and bound() return
    /// `position`.
    IndexError(std::string field, std::size_t position, std::string const& reason);

    /// A value that is invalid for another reason: `order[2] = 1 stands there already`. bound() returns `value`.
    IndexError(std::string field, std::size_t position, std::int64_t value, std::string const& reason);

    std::string const& field() const noexcept { return field_; }  ///< the argument
    std::size_t position() const noexcept { return position_; }   ///< the lowest invalid position
    std::int64_t value() const noexcept { return value_; }        ///< the value at that position
    std::int64_t bound() const noexcept { return bound_; }        ///< valid values are in [0, bound)

    /// The same error for another field and position: those of the argument from which this field was computed.
    /// errors   std::bad_alloc
    /// cost     one string
    IndexError moved_to(std::string field, std::size_t position) const;

private:
    IndexError(std::string field, std::size_t position, std::int64_t value, std::int64_t bound, std::string reason);

    static std::string text(std::int64_t value, std::string const& reason);

    std::string field_, reason_;
    std::size_t position_;
    std::int64_t value_;
    std::int64_t bound_;
};

/// Ranks, dims or counts that do not match, or a size that is out of range: `value.shape(0) is 3, expected 2`.
class ShapeError : public Error {
public:
    /// `field is actual, expected expected`
    ShapeError(std::string field, std::string actual, std::string expected);

    std::string const& field() const noexcept { return field_; }        ///< the argument and its property
    std::string const& actual() const noexcept { return actual_; }      ///< the actual value
    std::string const& expected() const noexcept { return expected_; }  ///< the expected value

private:
    std::string field_;
    std::string actual_;
    std::string expected_;
};

/// An invalid number: `learning_rate is nan, expected a finite number`.
class ValueError : public Error {
public:
    /// `field is value, expected expected`
    ValueError(std::string field, double value, std::string expected);

    std::string const& field() const noexcept { return field_; }        ///< the argument
    std::string const& expected() const noexcept { return expected_; }  ///< the expected value
    double value() const noexcept { return value_; }                    ///< the actual value

private:
    static std::string text(double value);

    std::string field_, expected_;
    double value_;
};

/// Offsets or lengths that do not partition a batch into sequences:
/// `lod[1][2] = 3 is less than the offset before it, 5`.
class LodError : public Error {
public:
    /// `lod[level][position] = value reason`
    LodError(std::size_t level, std::size_t position, std::int64_t value, std::string reason);

    std::size_t level() const noexcept { return level_; }           ///< 0: the outermost sequences
    std::size_t position() const noexcept { return position_; }     ///< the lowest invalid position in that level
    std::int64_t value() const noexcept { return value_; }          ///< the value at that position
    std::string const& reason() const noexcept { return reason_; }  ///< why it is invalid

private:
    std::string reason_;
    std::size_t level_;
    std::size_t position_;
    std::int64_t value_;
};

/// Element types that do not match: `table is f32, expected bf16`.
class TypeError : public Error {
public:
    /// `field is actual, expected expected`
    TypeError(std::string field, std::string actual, std::string expected);

    std::string const& field() const noexcept { return field_; }        ///< the argument
    std::string const& actual() const noexcept { return actual_; }      ///< the actual type
    std::string const& expected() const noexcept { return expected_; }  ///< the expected type

private:
    std::string field_;
    std::string actual_;
    std::string expected_;
};

/// A file or message that violates its format: `byte 12: dims is -3, which is negative`.
class FormatError : public Error {
public:
    /// `byte offset: field reason`
    FormatError(std::uint64_t offset, std::string field, std::string const& reason);

    std::uint64_t offset() const noexcept { return offset_; }     ///< position in the file or message, in bytes
    std::string const& field() const noexcept { return field_; }  ///< the field at that offset

private:
    std::uint64_t offset_;
    std::string field_;
};

/// An operating system call failed: `open model.rowan: No such file or directory`.
class IoError : public Error {
public:
    /// `operation path: reason`
    IoError(std::string const& operation, std::string path, std::string const& reason, int code);

    std::string const& path() const noexcept { return path_; }  ///< the file
    int code() const noexcept { return code_; }                 ///< errno

private:
    std::string path_;
    int code_;
};

/// A net that cannot run: an unknown operator, a missing variable, a cycle.
class GraphError : public Error {
public:
    using Error::Error;
};

/// A CUDA call failed.
class CudaError : public Error {
public:
    using Error::Error;
};

}  // namespace rowan::inline v0

// rowan/core/error_inl.hpp: definitions of rowan/core/error.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <charconv>
#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION IndexError::IndexError(std::string field, std::size_t position, std::int64_t value, std::int64_t bound)
    : IndexError(std::move(field), position, value, bound,
                 text(value, "is not in [0, " + std::to_string(bound) + ")")) {}

ROWAN_FUNCTION IndexError::IndexError(std::string field, std::size_t position, std::string const& reason)
    : IndexError(std::move(field), position, static_cast<std::int64_t>(position), static_cast<std::int64_t>(position),
                 reason) {}

ROWAN_FUNCTION IndexError::IndexError(std::string field, std::size_t position, std::int64_t value,
                                      std::string const& reason)
    : IndexError(std::move(field), position, value, value, text(value, reason)) {}

ROWAN_FUNCTION IndexError IndexError::moved_to(std::string field, std::size_t position) const {
    return IndexError(std::move(field), position, value_, bound_, reason_);
}

ROWAN_FUNCTION IndexError::IndexError(std::string field, std::size_t position, std::int64_t value, std::int64_t bound,
                                      std::string reason)
    : Error(field + "[" + std::to_string(position) + "] " + reason), field_(std::move(field)),
      reason_(std::move(reason)), position_(position), value_(value), bound_(bound) {}

ROWAN_FUNCTION std::string IndexError::text(std::int64_t value, std::string const& reason) {
    return std::string("= ").append(std::to_string(value)).append(" ").append(reason);
}

ROWAN_FUNCTION ShapeError::ShapeError(std::string field, std::string actual, std::string expected)
    : Error(field + " is " + actual + ", expected " + expected), field_(std::move(field)), actual_(std::move(actual)),
      expected_(std::move(expected)) {}

ROWAN_FUNCTION ValueError::ValueError(std::string field, double value, std::string expected)
    : Error(field + " is " + text(value) + ", expected " + expected), field_(std::move(field)),
      expected_(std::move(expected)), value_(value) {}

ROWAN_FUNCTION std::string ValueError::text(double value) {
    char shortest[32];
    return {shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr};
}

ROWAN_FUNCTION LodError::LodError(std::size_t level, std::size_t position, std::int64_t value, std::string reason)
    : Error("lod[" + std::to_string(level) + "][" + std::to_string(position) + "] = " + std::to_string(value) + " " +
            reason),
      reason_(std::move(reason)), level_(level), position_(position), value_(value) {}

ROWAN_FUNCTION TypeError::TypeError(std::string field, std::string actual, std::string expected)
    : Error(field + " is " + actual + ", expected " + expected), field_(std::move(field)), actual_(std::move(actual)),
      expected_(std::move(expected)) {}

ROWAN_FUNCTION FormatError::FormatError(std::uint64_t offset, std::string field, std::string const& reason)
    : Error("byte " + std::to_string(offset) + ": " + field + " " + reason), offset_(offset), field_(std::move(field)) {
}

ROWAN_FUNCTION IoError::IoError(std::string const& operation, std::string path, std::string const& reason, int code)
    : Error(operation + " " + path + ": " + reason), path_(std::move(path)), code_(code) {}

}  // namespace rowan::inline v0

#endif

// rowan/core/detail/checked.hpp: overflow-checked size arithmetic, and shapes as text.

#include <cmath>
#include <optional>

namespace rowan::inline v0::detail {

/// The shape as text: "[3, 4]".
template <class Shape>
std::string shape_text(Shape const& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

/// The number of elements of a shape, or nullopt if elements of `element_bytes` bytes need more than 2^63 - 1 bytes.
/// Overflow of the other dims is detected even if a dim is 0.
/// requires   no dim is negative
template <class Shape>
std::optional<std::size_t> shape_size(Shape const& shape, std::size_t element_bytes) {
    constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t bytes = element_bytes;
    bool empty = false;
    for (auto const d : shape) {
        auto const dim = static_cast<std::size_t>(d);
        empty = empty || dim == 0;
        if (dim == 0) continue;
        if (bytes > limit / dim) return std::nullopt;
        bytes *= dim;
    }
    return empty ? 0 : bytes / element_bytes;
}

/// The same for a shape passed by the caller.
/// errors   ShapeError instead of nullopt
template <class Shape>
std::size_t checked_size(char const* field, Shape const& shape, std::size_t element_bytes) {
    auto const size = shape_size(shape, element_bytes);
    if (!size) throw ShapeError(std::string(field) + " shape", shape_text(shape), "at most 2^63 - 1 bytes in all");
    return *size;
}

/// Validates a range.
/// errors   IndexError unless begin <= end <= count
void check_range(char const* field, std::size_t begin, std::size_t end, std::size_t count);

/// The highest rank: shapes are stored inline, so that a move does not allocate or throw.
inline constexpr std::size_t max_tensor_rank = 8;

/// errors   ShapeError if the rank exceeds max_tensor_rank
void check_tensor_rank(std::size_t rank);

/// The first dim of a shape.
/// errors   ShapeError for rank 0
template <class Shape>
std::size_t checked_rows(Shape const& shape) {
    if (shape.size() == 0) throw ShapeError("tensor rank", "0", "at least 1");
    return shape[0];
}

/// The shape of rows [begin, end).
/// errors   IndexError unless begin <= end <= shape[0]; ShapeError for rank 0
template <class Shape>
Shape slice_shape(Shape shape, std::size_t begin, std::size_t end) {
    check_range("slice", begin, end, checked_rows(shape));
    shape[0] = end - begin;
    return shape;
}

/// errors   ShapeError if the rank exceeds max_tensor_rank, or the shape does not have `size` elements
template <class Shape>
void check_reshaped(char const* field, Shape const& shape, std::size_t size, std::size_t element_bytes) {
    check_tensor_rank(shape.size());
    if (checked_size(field, shape, element_bytes) != size)
        throw ShapeError(std::string(field) + " shape", shape_text(shape), std::to_string(size) + " elements");
}

/// Whether x is an integer in the range of I.
template <class I>
bool is_whole(double x) noexcept {
    using limits = std::numeric_limits<I>;
    return x == std::trunc(x) && x >= static_cast<double>(limits::min()) && x < std::ldexp(1.0, limits::digits);
}

/// The product of the dims from `first` on.
template <class Shape>
std::size_t product_from(Shape const& shape, std::size_t first) noexcept {
    std::size_t product = 1;
    for (std::size_t i = first; i < shape.size(); ++i) product *= shape[i];
    return product;
}

}  // namespace rowan::inline v0::detail

// rowan/core/detail/checked_inl.hpp: definitions of rowan/core/detail/checked.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_range(char const* field, std::size_t begin, std::size_t end, std::size_t count) {
    auto const number = [](std::size_t x) { return static_cast<std::int64_t>(x); };
    if (end > count) throw IndexError(field, 1, number(end), number(count) + 1);
    if (begin > end) throw IndexError(field, 0, number(begin), number(end) + 1);
}

ROWAN_FUNCTION void check_tensor_rank(std::size_t rank) {
    if (rank > max_tensor_rank)
        throw ShapeError("rank", std::to_string(rank), "at most " + std::to_string(max_tensor_rank));
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/core/float16.hpp: float16, IEEE 754 binary16.

namespace rowan::inline v0 {

/// A storage type with 5 exponent and 10 fraction bits, largest finite value 65504; arithmetic is done in float.
/// Conversion from float rounds to nearest, ties to even; values that are too large become infinite, a NaN stays a NaN.
class float16 {
public:
    float16() = default;  ///< zero
    /// Rounds to nearest, ties to even.
    ROWAN_HD constexpr explicit float16(float x) noexcept : bits_(narrow(x)) {}
    /// Exact conversion.
    ROWAN_HD constexpr operator float() const noexcept { return widen(bits_); }

    /// The number with this bit pattern.
    ROWAN_HD static constexpr float16 from_bits(std::uint16_t bits) noexcept {
        float16 x;
        x.bits_ = bits;
        return x;
    }
    ROWAN_HD constexpr std::uint16_t bits() const noexcept { return bits_; }  ///< the bit pattern

private:
    // Both directions branch only on the class of the number. Subnormals are rounded by a float addition: in the sum
    // with 0.5 only the bits that fit remain, rounded to nearest, ties to even.
    ROWAN_HD static constexpr std::uint16_t narrow(float value) noexcept {
        std::uint32_t const bits = detail::bit_cast<std::uint32_t>(value);
        std::uint32_t const sign = (bits >> 16) & 0x8000U;
        std::uint32_t const size = bits & 0x7FFFFFFFU;
        std::uint32_t half = 0;
        if (size > 0x7F800000U) {
            half = 0x7E00U | (size >> 13 & 0x3FFU);  // NaN
        } else if (size >= 0x47800000U) {
            half = 0x7C00U;  // 2^16 and above
        } else if (size < 0x38800000U) {
            half = detail::bit_cast<std::uint32_t>(detail::bit_cast<float>(size) + 0.5F) - 0x3F000000U;  // below 2^-14
        } else {
            half = (size + 0xC8000FFFU + (size >> 13 & 1U)) >> 13;  // the carry into infinity is correct
        }
        return static_cast<std::uint16_t>(sign | half);
    }

    ROWAN_HD static constexpr float widen(std::uint16_t half) noexcept {
        std::uint32_t const sign = std::uint32_t{half & 0x8000U} << 16;
        std::uint32_t const size = half & 0x7FFFU;
        std::uint32_t bits = 0;
        if (size >= 0x7C00U) {
            bits = 0x7F800000U | (size & 0x3FFU) << 13;
        } else if (size >= 0x0400U) {
            bits = (size << 13) + 0x38000000U;
        } else {
            bits = detail::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24F);
        }
        return detail::bit_cast<float>(sign | bits);
    }

    std::uint16_t bits_ = 0;
};

}  // namespace rowan::inline v0

// rowan/fwd.hpp: forward declarations of the public class templates, with their default arguments.

/// Row-sparse tensors, ragged sequences, operators, nets and files.
namespace rowan::inline v0 {

struct Cpu;

template <class T>
struct dtype;

template <class Device = Cpu>
class Ids;

template <class T, class Device = Cpu>
class Tensor;

template <class T, class Device = Cpu>
class SelectedRows;

template <class Device = Cpu>
class RowPlan;

class Lod;

template <class T, class Device = Cpu>
class LoDTensor;

template <class Device = Cpu>
class StepMap;

template <class T, class Device = Cpu>
class TensorArray;

}  // namespace rowan::inline v0

// rowan/core/dtype.hpp: dtype<T>, the properties that rowan requires of an element type.

#include <concepts>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// To use a user-defined element type `T`, specialise `rowan::dtype<T>` with
///     sum            the type of sums and products: zero by default, constructible from double, with + - * /
///     name           its name in messages and nets
///     wire           its number in descriptors and checkpoints; user-defined types have numbers from 1000
///     widen(T)       -> sum
///     narrow(sum)    -> T, with the rounding of the type
///
/// `T` itself must be trivially copyable and default constructible. Functions with further requirements on `sum` do not
/// compile without them: sqrt, exp, log and pow, found by argument-dependent lookup, and the comparisons < and >.
template <class T>
concept element = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    requires(T const& x, typename dtype<T>::sum const& s) {
    { dtype<T>::name } -> std::convertible_to<std::string_view>;
    { dtype<T>::wire } -> std::convertible_to<std::int32_t>;
    { dtype<T>::widen(x) } -> std::same_as<typename dtype<T>::sum>;
    { dtype<T>::narrow(s) } -> std::same_as<T>;
};

namespace detail {

/// The common base of the built-in element types.
template <class T, class Sum>
struct cast_dtype {
    using sum = Sum;
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD static constexpr sum widen(T x) noexcept { return static_cast<sum>(x); }
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD static constexpr T narrow(sum x) noexcept { return static_cast<T>(x); }
};

/// Whether `T` is an element type. The first compiler error names what a specialisation lacks.
template <class T>
consteval bool is_element() {
    if constexpr (requires { sizeof(dtype<T>); }) {
        using traits = dtype<T>;
        static_assert(std::is_trivially_copyable_v<T>, "rowan::dtype<T>: T must be trivially copyable");
        static_assert(std::default_initializable<T>, "rowan::dtype<T>: T must be default constructible");
        static_assert(
            requires { typename std::bool_constant<(std::string_view(traits::name).size() > 0)>; },
            "rowan::dtype<T>: static constexpr std::string_view name is missing: what messages and nets call T");
        static_assert(
            requires { typename std::integral_constant<std::int32_t, traits::wire>; },
            "rowan::dtype<T>: static constexpr std::int32_t wire is missing: the number of T in files, from 1000 on");
        static_assert(
            requires { typename traits::sum; },
            "rowan::dtype<T>: using sum = ... is missing: the type in which sums of T are formed");
        if constexpr (requires { typename traits::sum; }) {
            using sum = typename traits::sum;
            static_assert(
                requires(T const& x) {
                    { traits::widen(x) } -> std::same_as<sum>;
                },
                "rowan::dtype<T>: static sum widen(T) is missing");
            static_assert(
                requires(sum const& x) {
                    { traits::narrow(x) } -> std::same_as<T>;
                },
                "rowan::dtype<T>: static T narrow(sum) is missing: it rounds");
            static_assert(traits::wire >= 1000 || std::is_base_of_v<cast_dtype<T, sum>, traits>,
                          "rowan::dtype<T>::wire: numbers below 1000 are those of rowan's own types");
            static_assert(std::default_initializable<sum>, "rowan::dtype<T>::sum must be default constructible");
            static_assert(
                requires(double x) { static_cast<sum>(x); }, "rowan::dtype<T>::sum must be constructible from double");
            static_assert(
                requires(sum const& a, sum const& b) { sum(a + b), sum(a - b), sum(a * b), sum(a / b); },
                "rowan::dtype<T>::sum must have + - * and /");
        }
    }
    return element<T>;
}

}  // namespace detail

template <>
struct dtype<float> : detail::cast_dtype<float, float> {
    static constexpr std::string_view name = "f32";
    static constexpr std::int32_t wire = 5;
};

template <>
struct dtype<double> : detail::cast_dtype<double, double> {
    static constexpr std::string_view name = "f64";
    static constexpr std::int32_t wire = 6;
};

/// Sums of integers are 64 bits wide and wrap around when narrowed, as in NumPy.
template <>
struct dtype<std::int32_t> : detail::cast_dtype<std::int32_t, std::int64_t> {
    static constexpr std::string_view name = "i32";
    static constexpr std::int32_t wire = 2;
};

template <>
struct dtype<std::int64_t> : detail::cast_dtype<std::int64_t, std::int64_t> {
    static constexpr std::string_view name = "i64";
    static constexpr std::int32_t wire = 3;
};

template <>
struct dtype<std::uint8_t> : detail::cast_dtype<std::uint8_t, std::int64_t> {
    static constexpr std::string_view name = "u8";
    static constexpr std::int32_t wire = 20;
};

/// The sum of bools is their logical or.
template <>
struct dtype<bool> : detail::cast_dtype<bool, std::int64_t> {
    static constexpr std::string_view name = "bool";
    static constexpr std::int32_t wire = 0;
};

template <>
struct dtype<float16> : detail::cast_dtype<float16, float> {
    static constexpr std::string_view name = "f16";
    static constexpr std::int32_t wire = 4;
};

template <>
struct dtype<bfloat16> : detail::cast_dtype<bfloat16, float> {
    static constexpr std::string_view name = "bf16";
    static constexpr std::int32_t wire = 22;
};

}  // namespace rowan::inline v0

// rowan/core/detail/nested.hpp: Nested, braced lists of any depth: `{{1, 2}, {3, 4}}`.

#include <initializer_list>
#include <utility>

namespace rowan::inline v0::detail {

/// A number or a list of Nested. Unlike in xtensor's typed lists, `{1}` inside `{{1}, {2}}` is always a list.
/// It refers to the memory of the braced list, so it is valid until the end of the full expression.
template <class T>
class Nested {
public:
    template <class U>
    requires std::convertible_to<U, T> || std::is_arithmetic_v<U> Nested(U const& number)
        : number_(convert(number)), scalar_(true) {}
    Nested(std::initializer_list<Nested> list) : list_(list) {}

    /// Appends the dims of a list, the outermost first.
    template <class Shape>
    static void shape_of(std::initializer_list<Nested> list, Shape& shape) {
        shape.push_back(list.size());
        if (list.size() != 0 && !list.begin()->scalar_) shape_of(list.begin()->list_, shape);
    }

    /// Writes the numbers of `list` to `out` and returns the end of the output.
    /// errors   ShapeError if the dims of `list` are not those of `shape` from `axis` on
    template <class Shape>
    static T* copy(std::initializer_list<Nested> list, Shape const& shape, std::size_t axis, T* out) {
        if (list.size() != shape[axis]) bad(shape, axis, std::to_string(list.size()) + " long");
        for (Nested const& item : list) {
            bool const innermost = axis + 1 == shape.size();
            if (item.scalar_ != innermost)
                bad(shape, axis + 1, item.scalar_ ? "a number" : std::to_string(item.list_.size()) + " long");
            if (innermost) {
                *out++ = item.number_;
            } else {
                out = copy(item.list_, shape, axis + 1, out);
            }
        }
        return out;
    }

private:
    template <class Shape>
    [[noreturn]] static void bad(Shape const& shape, std::size_t axis, std::string const& found) {
        throw ShapeError("braced list of " + shape_text(shape) + " at depth " + std::to_string(axis), found,
                         axis < shape.size() ? std::to_string(shape[axis]) + " long" : "a number");
    }

    static ValueError bad_number(double number) {
        return ValueError("number in a braced list", number, "a whole number that the element type holds");
    }

    template <class U>
    static T convert(U const& number) {
        if constexpr (std::is_arithmetic_v<U> && !std::is_arithmetic_v<T>) {
            return dtype<T>::narrow(static_cast<typename dtype<T>::sum>(number));  // so that 0.1 is rounded only once
        } else if constexpr (std::is_arithmetic_v<U> && std::integral<T> && !std::same_as<T, bool>) {
            if constexpr (std::integral<U> && !std::same_as<U, bool>) {
                if (!std::in_range<T>(number)) throw bad_number(static_cast<double>(number));
            } else if (!is_whole<T>(static_cast<double>(number))) {
                throw bad_number(static_cast<double>(number));
            }
            return static_cast<T>(number);
        } else {
            return static_cast<T>(number);
        }
    }

    T number_{};
    std::initializer_list<Nested> list_{};
    bool scalar_ = false;
};

}  // namespace rowan::inline v0::detail

// rowan/core/detail/storage.hpp: Storage, the elements of a Tensor, in a memory block that tensors may share.

#include <atomic>
#include <iterator>
#include <memory>

namespace rowan::inline v0::detail {

template <class T>
class Storage {
public:
    using value_type = T;
    using allocator_type = Allocator<T>;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = T const&;
    using pointer = T*;
    using const_pointer = T const*;
    using iterator = T*;
    using const_iterator = T const*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    Storage() = default;
    explicit Storage(std::size_t n) : block_(make(n)), size_(n), capacity_(n) {}
    /// The n elements at `block`, which keeps them alive.
    Storage(std::shared_ptr<T> block, std::size_t n) : block_(std::move(block)), size_(n), capacity_(n) {}

    Storage(Storage const& other) : Storage(other.size_) { std::copy_n(other.data(), size_, data()); }
    Storage(Storage&& other) noexcept
        : block_(std::move(other.block_)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    /// Replaces the contents. The memory is reused if it suffices and is not shared.
    Storage& operator=(Storage const& other) {
        if (this == &other) return *this;
        resize_unshared(other.size_);
        std::copy_n(other.data(), size_, data());
        return *this;
    }
    Storage& operator=(Storage&& other) noexcept {
        Storage moved(std::move(other));
        std::swap(block_, moved.block_);
        std::swap(size_, moved.size_);
        std::swap(capacity_, moved.capacity_);
        return *this;
    }
    ~Storage() = default;

    /// The same for memory that is also used elsewhere: new contents are never written to it, as its capacity is 0.
    static Storage of_others(std::shared_ptr<T> block, std::size_t n) noexcept {
        Storage run;
        run.block_ = std::move(block);
        run.size_ = n;
        return run;
    }

    /// An alias of the n elements from `begin` on.
    Storage alias(std::size_t begin, std::size_t n) const {
        Storage run;
        run.block_ = std::shared_ptr<T>(block_, block_.get() + begin);
        run.size_ = n;
        run.capacity_ = std::min(n, capacity_);
        return run;
    }

    /// Memory for n elements: this memory if it suffices and is not shared, else new memory.
    Storage room(std::size_t n) const {
        if (!fits(n)) return Storage(n);
        Storage run;
        run.block_ = block_;
        run.size_ = n;
        run.capacity_ = capacity_;
        return run;
    }

    /// Keeps the elements and the aliases if the size does not change, else the contents are lost.
    void resize(std::size_t n) {
        if (n != size_) resize_unshared(n);
    }

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T* data() noexcept { return block_.get(); }
    T const* data() const noexcept { return block_.get(); }
    T& operator[](std::size_t i) noexcept { return block_.get()[i]; }
    T const& operator[](std::size_t i) const noexcept { return block_.get()[i]; }

    iterator begin() noexcept { return data(); }
    iterator end() noexcept { return data() + size_; }
    const_iterator begin() const noexcept { return data(); }
    const_iterator end() const noexcept { return data() + size_; }
    const_iterator cbegin() const noexcept { return data(); }
    const_iterator cend() const noexcept { return data() + size_; }
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    const_reverse_iterator crend() const noexcept { return rend(); }

private:
    static std::shared_ptr<T> make(std::size_t n) {
        if (n == 0) return nullptr;
        Allocator<T> memory;
        return std::shared_ptr<T>(
            memory.allocate(n), [n](T* block) { Allocator<T>().deallocate(block, n); }, memory);
    }

    bool fits(std::size_t n) const noexcept {
        bool const alone = n == 0 || (block_.use_count() == 1 && n <= capacity_);
        std::atomic_thread_fence(
            std::memory_order_acquire);  // pairs with the release of other aliases: reads through them are complete
        return alone;
    }

    void resize_unshared(std::size_t n) {
        if (!fits(n)) {
            block_ = make(n);
            capacity_ = n;
        }
        size_ = n;
    }

    std::shared_ptr<T> block_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace rowan::inline v0::detail

// rowan/core/detail/xtensor.hpp: the xtensor headers that a container needs, by version of xtensor.

#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#elif __has_include(<xtensor/xtensor_config.hpp>)
#include <xtensor/xtensor_config.hpp>
#else
ROWAN_ERROR(rowan needs xtensor ROWAN_MIN_XTENSOR or newer (Debian: libxtensor-dev));
#endif
static_assert(XTENSOR_VERSION_MAJOR + XTENSOR_VERSION_MINOR / 100.0 >= ROWAN_MIN_XTENSOR,
              "rowan needs xtensor " ROWAN_STRING(ROWAN_MIN_XTENSOR) " or newer: this one is too old");

#if __has_include(<xtensor/containers/xcontainer.hpp>)
#include <xtensor/containers/xcontainer.hpp>
#include <xtensor/core/xsemantic.hpp>
#else
#include <xtensor/xstorage.hpp>

// Before xtensor 0.26, two specializations of rebind_container match a svector if default arguments of template
// template arguments are considered, as in clang 19 and newer.
#if defined(__clang__) && defined(__cpp_template_template_args)
namespace xt {
template <class X, class T, std::size_t N>
struct rebind_container<X, svector<T, N, std::allocator<T>, true>> {
    using type = svector<X, N, std::allocator<X>, true>;
};
}  // namespace xt
#endif

#include <xtensor/xcontainer.hpp>
#include <xtensor/xsemantic.hpp>
#endif

// rowan/core/device.hpp: Cpu, the device tag that states where values are stored and how a call runs.

namespace rowan::inline v0 {

/// The host. As a template argument: values are stored in host memory. As a first argument: the number of threads of a
/// call. Results are bit-identical for any number of threads.
struct Cpu {
    int threads = 0;  ///< 0: OpenMP's maximum (OMP_NUM_THREADS); without OpenMP always one thread

    friend bool operator==(Cpu const&, Cpu const&) = default;
};

/// Whether `D` is a device tag. The header of each device specialises it.
template <class D>
inline constexpr bool is_device = std::is_same_v<D, Cpu>;

/// The type of the first argument of calls: where tensors are stored, and how the call runs.
template <class D>
concept device = is_device<D>;

}  // namespace rowan::inline v0

// rowan/core/tensor.hpp: Tensor<T>, a row-major array of rank 0 to 8, and an xtensor container.

#include <span>

namespace xt {

template <class T>
struct xcontainer_inner_types<rowan::Tensor<T, rowan::Cpu>> {
    using storage_type = rowan::detail::Storage<T>;
    using reference = T&;
    using const_reference = T const&;
    using size_type = std::size_t;
    using shape_type = svector<std::size_t, rowan::detail::max_tensor_rank>;  // stored inline
    using strides_type = get_strides_t<shape_type>;
    using backstrides_type = strides_type;
    using inner_shape_type = shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = strides_type;
    using temporary_type = rowan::Tensor<T, rowan::Cpu>;
    static constexpr layout_type layout = layout_type::row_major;
};

template <class T>
struct xiterable_inner_types<rowan::Tensor<T, rowan::Cpu>> : xcontainer_iterable_types<rowan::Tensor<T, rowan::Cpu>> {};

}  // namespace xt

namespace rowan::inline v0 {

/// A row-major array of `T`, of rank 0 to max_rank. It can be used in xtensor expressions: `t = xt::exp(t) + 1`.
///
/// Copies are deep. `share()`, `slice()` and `reshaped()` return aliases, which share the elements and keep them alive.
/// `=` replaces the contents and never writes through an alias; compound assignment, element access and
/// `xt::noalias(t) = …` write in place and are visible in all aliases. A default-constructed or moved-from tensor has
/// shape [0]. As in xtensor, `t(i, j)` is not bounds-checked; `at(i, j)`, `row` and `slice` are.
template <class T>
class Tensor<T, Cpu> : public xt::xstrided_container<Tensor<T, Cpu>>, public xt::xcontainer_semantic<Tensor<T, Cpu>> {
    static_assert(detail::is_element<T>(), "rowan::Tensor<T>: specialize rowan::dtype<T> for this element type");

    using container = xt::xstrided_container<Tensor>;
    using semantic = xt::xcontainer_semantic<Tensor>;
    // Scalars for which xtensor's in-place operators do not compile, because the result does not convert back to T.
    template <class S>
    static constexpr bool own_scalar = !std::is_arithmetic_v<T> && !xt::is_xexpression<S>::value;

public:
    using shape_type = typename container::shape_type;
    static constexpr std::size_t max_rank = detail::max_tensor_rank;  ///< the highest rank: 8

    Tensor() { resize(shape_type{0}); }  ///< shape [0]

    /// A tensor from nested braced lists: `{1, 2}` has rank 1, `{{1, 2}, {3, 4}}` and `{{1}, {2}}` have rank 2.
    /// errors   ShapeError if lists of the same depth differ in length or the depth exceeds max_rank; ValueError if T
    ///          is an integer type and a number is not an integer or not in its range
    /// cost     one allocation and one write of the elements
    Tensor(std::initializer_list<detail::Nested<T>> list);

    /// Evaluates an xtensor expression.
    /// errors   as from_shape; exceptions of the expression
    /// cost     the cost of the expression, on one thread
    template <class E>
    Tensor(xt::xexpression<E> const& e);

    /// A tensor with uninitialised elements. The shape [] has one element.
    /// errors   ShapeError if the size in bytes exceeds 2^63 - 1 or there are more than max_rank dims; std::bad_alloc
    /// cost     one allocation
    static Tensor from_shape(shape_type const& shape);
    static Tensor from_shape(Cpu const&, shape_type const& shape) { return from_shape(shape); }
    /// A tensor with all elements equal to `value`.
    /// errors   as from_shape
    /// cost     one allocation and one write of the elements
    static Tensor full(shape_type const& shape, T value);
    static Tensor full(Cpu const&, shape_type const& shape, T value) { return full(shape, value); }
    /// The same with zeros.
    /// errors   as full
    /// cost     as full
    static Tensor zeros(shape_type const& shape) { return full(shape, dtype<T>::narrow(typename dtype<T>::sum{})); }
    static Tensor zeros(Cpu const&, shape_type const& shape) { return zeros(shape); }

    Tensor(Tensor const&) = default;
    Tensor(Tensor&& other) noexcept : Tensor() { swap(other); }
    Tensor& operator=(Tensor const& other) {
        if (this->shape() == other.shape()) {
            data_ = other.data_;
        } else {
            Tensor copy(other);
            swap(copy);
        }
        return *this;
    }
    Tensor& operator=(Tensor&& other) noexcept {
        Tensor moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~Tensor() = default;

    template <class E>
    Tensor& operator=(xt::xexpression<E> const& e) {
        return *this = Tensor(e);
    }

    /// The execution of calls that are given none.
    Cpu device() const noexcept { return {}; }

    /// An alias with the current shape. Constness is shallow, as with std::span.
    Tensor share() const { return alias(0, this->size(), this->shape()); }

    /// An alias of rows [begin, end).
    /// errors   IndexError unless begin <= end <= shape(0); ShapeError for rank 0
    /// cost     O(1), no allocation
    Tensor slice(std::size_t begin, std::size_t end) const;

    /// An alias with another shape.
    /// errors   ShapeError if the number of elements differs or there are more than max_rank dims
    /// cost     O(1), no allocation
    Tensor reshaped(shape_type const& shape) const;

    /// Changes the shape. The contents are lost if the size changes. Memory is reused if it suffices and has no alias.
    /// errors   as from_shape; the tensor is unchanged on error
    /// cost     at most one allocation; elements are not initialised
    template <class Shape = shape_type>
    void resize(Shape const& shape, bool = false);

    /// Changes the shape in place, keeping the elements; one dim may be -1 and is inferred from the others.
    /// errors   ShapeError if the number of elements differs or there are more than max_rank dims
    /// cost     O(1), no allocation
    template <class Shape = std::initializer_list<std::ptrdiff_t>>
    Tensor& reshape(Shape const& shape);

    /// The number of elements per row: the product of all dims except the first.
    std::size_t row_size() const noexcept { return detail::product_from(this->shape(), 1); }

    /// The elements of row `i`.
    /// errors   IndexError unless i < shape(0); ShapeError for rank 0
    /// cost     O(1)
    std::span<T> row(std::size_t i) { return {data_.data() + checked_row(i) * row_size(), row_size()}; }
    std::span<T const> row(std::size_t i) const { return {data_.data() + checked_row(i) * row_size(), row_size()}; }

    void swap(Tensor& other) noexcept;

    // These write in place; xtensor's operators would evaluate into new memory, and aliases would not see the result.
    // errors   ShapeError if the result would have another shape
    using semantic::operator+=, semantic::operator-=, semantic::operator*=, semantic::operator/=, semantic::operator%=;
    using semantic::operator&=, semantic::operator|=, semantic::operator^=;
    template <class S>
    requires own_scalar<S> Tensor& operator+=(S const& x) { return write(*this + x); }
    template <class S>
    requires own_scalar<S> Tensor& operator-=(S const& x) { return write(*this - x); }
    template <class S>
    requires own_scalar<S> Tensor& operator*=(S const& x) { return write(*this * x); }
    template <class S>
    requires own_scalar<S> Tensor& operator/=(S const& x) { return write(*this / x); }
    template <class E>
    Tensor& operator+=(xt::xexpression<E> const& e) {
        return write(*this + e.derived_cast());
    }
    template <class E>
    Tensor& operator-=(xt::xexpression<E> const& e) {
        return write(*this - e.derived_cast());
    }
    template <class E>
    Tensor& operator*=(xt::xexpression<E> const& e) {
        return write(*this * e.derived_cast());
    }
    template <class E>
    Tensor& operator/=(xt::xexpression<E> const& e) {
        return write(*this / e.derived_cast());
    }
    template <class E>
    Tensor& operator%=(xt::xexpression<E> const& e) {
        return write(*this % e.derived_cast());
    }
    template <class E>
    Tensor& operator&=(xt::xexpression<E> const& e) {
        return write(*this & e.derived_cast());
    }
    template <class E>
    Tensor& operator|=(xt::xexpression<E> const& e) {
        return write(*this | e.derived_cast());
    }
    template <class E>
    Tensor& operator^=(xt::xexpression<E> const& e) {
        return write(*this ^ e.derived_cast());
    }

private:
    friend class xt::xcontainer<Tensor>;
    detail::Storage<T>& storage_impl() noexcept { return data_; }
    detail::Storage<T> const& storage_impl() const noexcept { return data_; }

    Tensor alias(std::size_t begin, std::size_t size, shape_type const& shape) const;

    Tensor& write(Tensor const& result);

    std::size_t checked_row(std::size_t i) const;

    detail::Storage<T> data_;
};

}  // namespace rowan::inline v0

// rowan/core/tensor_inl.hpp: definitions of rowan/core/tensor.hpp.

namespace rowan::inline v0 {

template <class T>
Tensor<T, Cpu>::Tensor(std::initializer_list<detail::Nested<T>> list) {
    shape_type shape;
    detail::Nested<T>::shape_of(list, shape);
    resize(shape);
    detail::Nested<T>::copy(list, shape, 0, data_.data());
}

template <class T>
template <class E>
Tensor<T, Cpu>::Tensor(xt::xexpression<E> const& e) {
    if constexpr (std::convertible_to<typename E::value_type, T>) {
        semantic::assign(e);
    } else {  // no implicit conversion, e.g. float to bfloat16: use narrow()
        E const& values = e.derived_cast();
        resize(values.shape());
        std::transform(values.begin(), values.end(), data_.begin(),
                       [](auto const& x) { return dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x)); });
    }
}

template <class T>
auto Tensor<T, Cpu>::from_shape(shape_type const& shape) -> Tensor {
    Tensor t;
    t.resize(shape);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::full(shape_type const& shape, T value) -> Tensor {
    Tensor t = from_shape(shape);
    std::fill(t.data_.begin(), t.data_.end(), value);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::slice(std::size_t begin, std::size_t end) const -> Tensor {
    return alias(begin * row_size(), (end - begin) * row_size(), detail::slice_shape(this->shape(), begin, end));
}

template <class T>
auto Tensor<T, Cpu>::reshaped(shape_type const& shape) const -> Tensor {
    detail::check_reshaped("reshaped", shape, this->size(), sizeof(T));
    return alias(0, this->size(), shape);
}

template <class T>
template <class Shape>
void Tensor<T, Cpu>::resize(Shape const& shape, bool) {
    detail::check_tensor_rank(shape.size());
    shape_type dims(shape.begin(), shape.end());
    std::size_t const size = detail::checked_size("tensor", dims, sizeof(T));
    typename container::strides_type strides(dims.size());
    typename container::backstrides_type backstrides(dims.size());
    xt::compute_strides<xt::layout_type::row_major>(dims, xt::layout_type::row_major, strides, backstrides);
    data_.resize(size);  // the last operation that may throw
    std::swap(container::shape_impl(), dims);
    std::swap(container::strides_impl(), strides);
    std::swap(container::backstrides_impl(), backstrides);
}

template <class T>
template <class Shape>
auto Tensor<T, Cpu>::reshape(Shape const& shape) -> Tensor& {
    shape_type dims(shape.begin(), shape.end());
    auto const open = std::find(dims.begin(), dims.end(), std::numeric_limits<std::size_t>::max());
    if (std::signed_integral<typename Shape::value_type> && open != dims.end()) {
        *open = 1;
        std::size_t const rest = detail::checked_size("reshape", dims, sizeof(T));
        *open = rest == 0 ? 0 : this->size() / rest;
    }
    detail::check_reshaped("reshape", dims, this->size(), sizeof(T));
    resize(dims);
    return *this;
}

template <class T>
void Tensor<T, Cpu>::swap(Tensor& other) noexcept {
    std::swap(container::shape_impl(), other.container::shape_impl());
    std::swap(container::strides_impl(), other.container::strides_impl());
    std::swap(container::backstrides_impl(), other.container::backstrides_impl());
    std::swap(data_, other.data_);
}

template <class T>
auto Tensor<T, Cpu>::alias(std::size_t begin, std::size_t size, shape_type const& shape) const -> Tensor {
    Tensor t;
    t.data_ = data_.alias(begin, size);
    t.container::resize(shape, true);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::write(Tensor const& result) -> Tensor& {
    if (result.shape() != this->shape()) {
        throw ShapeError("result of compound assignment", detail::shape_text(result.shape()),
                         detail::shape_text(this->shape()));
    }
    std::copy_n(result.data_.data(), result.size(), data_.data());
    return *this;
}

template <class T>
std::size_t Tensor<T, Cpu>::checked_row(std::size_t i) const {
    std::size_t const rows = detail::checked_rows(this->shape());
    if (i >= rows) throw IndexError("row", 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(rows));
    return i;
}

ROWAN_TEMPLATE(class Tensor<float>)
ROWAN_TEMPLATE(void Tensor<float>::resize(Tensor<float>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<double>)
ROWAN_TEMPLATE(void Tensor<double>::resize(Tensor<double>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int32_t>)
ROWAN_TEMPLATE(void Tensor<std::int32_t>::resize(Tensor<std::int32_t>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int64_t>)
ROWAN_TEMPLATE(void Tensor<std::int64_t>::resize(Tensor<std::int64_t>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<bool>)
ROWAN_TEMPLATE(void Tensor<bool>::resize(Tensor<bool>::shape_type const&, bool))

}  // namespace rowan::inline v0

// rowan/core/copy.hpp: to_host, to_device and synchronize on the host, for code that is generic over devices.

namespace rowan::inline v0 {

/// Returns a tensor on the host. On a device, `to_device` copies it there.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     O(1)
template <class T>
Tensor<T> to_device(Cpu const&, Tensor<T> x) {
    return x;
}

/// Returns an alias of a tensor that is in host memory already. On a device, `to_host` copies it.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     O(1)
template <class T>
Tensor<T> to_host(Tensor<T> const& x) {
    return x.share();
}
template <class T>
Tensor<T> to_host(Cpu const&, Tensor<T> const& x) {
    return x.share();
}

/// Does nothing: calls on the host have finished when they return.
/// errors   none
/// cost     none
inline void synchronize(Cpu const&) {}

}  // namespace rowan::inline v0

// rowan/core/height.hpp: Height, the parameter type for the number of rows of a table.

namespace rowan::inline v0 {

/// The number of rows of a table. Any integer type converts to it, so that `table.shape(0)` needs no cast.
/// errors   ShapeError if it is negative or more than 2^63 - 1
class Height {
public:
    /// errors   ShapeError if it is negative or more than 2^63 - 1
    /// cost     O(1)
    template <std::integral I>
    Height(I height) : value_(static_cast<std::int64_t>(height)) {
        if (std::cmp_less(height, 0) || !std::in_range<std::int64_t>(height)) {
            throw ShapeError("height", std::to_string(height), "in [0, 2^63 - 1]");
        }
    }
    operator std::int64_t() const noexcept { return value_; }  ///< the number of rows, in [0, 2^63 - 1]

private:
    std::int64_t value_;
};

}  // namespace rowan::inline v0

// rowan/core/parallel.hpp: parallel loops, with OpenMP if the program is built with it.

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace rowan::inline v0 {

/// The number of threads that a call on `exec` may use: `exec.threads`, or OpenMP's maximum if that is 0. At most
/// OpenMP's thread limit, and at most 256 unless OpenMP's maximum is larger. 1 without OpenMP.
/// errors   ValueError if `exec.threads` is negative
/// cost     O(1), queries of OpenMP
inline int thread_count(Cpu exec) {
    if (exec.threads < 0) throw ValueError("threads", exec.threads, "0 (all) or more");
#ifdef _OPENMP
    int const all = omp_get_max_threads();
    return std::min({exec.threads > 0 ? exec.threads : all, std::max(all, 256), omp_get_thread_limit()});
#else
    return 1;
#endif
}

namespace detail {

/// Below this many elements, a second thread costs more than it saves.
inline constexpr std::size_t serial_below = std::size_t{1} << 18;

/// The number of threads for work on `elements` elements. Validates exec.threads even if one thread is enough.
inline int threads_for(Cpu exec, std::size_t elements) {
    int const threads = thread_count(exec);
    return elements < serial_below ? 1 : threads;
}

struct index64 {  // converts to std::size_t only, so that callbacks that take int do not compile
    template <std::same_as<std::size_t> U>
    operator U() const;
};

/// Calls f(thread, team size) once on each thread of a team of at most `threads`. Rethrows the first exception of f.
template <class F>
void team(int threads, F&& f) {
#ifdef _OPENMP
    if (threads > 1) {
        std::exception_ptr error;
        std::atomic_flag caught;
#pragma omp parallel num_threads(threads)
        try {
            f(omp_get_thread_num(), omp_get_num_threads());
        } catch (...) {
            if (!caught.test_and_set()) error = std::current_exception();
        }
        if (error) std::rethrow_exception(error);
        return;
    }
#endif
    static_cast<void>(threads);
    f(0, 1);
}

/// A barrier for the threads of a team. It does not use OpenMP: a program may compile some files with OpenMP and others
/// without, and the linker then picks one definition of each inline function. Only `thread_count` and `team` depend on
/// OpenMP, and any combination of their definitions works, because callers use the team size that they are passed.
/// requires   no thread throws before its last wait, otherwise the other threads wait forever
class TeamBarrier {
public:
    /// Waits until all `threads` threads of the team have called it.
    void wait(int threads) {
        unsigned const phase = phase_.load(std::memory_order_relaxed);  // unchanged until this thread has arrived
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            phase_.notify_all();
            return;
        }
        for (int i = 0; i < 10'000; ++i) {  // spin first: the wait is often short, and sleeping is slow
            if (phase_.load(std::memory_order_acquire) != phase) return;
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

private:
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> phase_{0};
};

}  // namespace detail

/// A callback f(begin, end) with 64-bit bounds. Generic callbacks (`auto` parameters) are accepted.
template <class F>
concept range_callback = std::invocable<F&, std::size_t, std::size_t> &&
    ((std::is_class_v<std::remove_cvref_t<F>> && !requires { &std::remove_cvref_t<F>::operator(); }) ||
     std::invocable<F&, detail::index64, detail::index64>);

/// Calls f(begin, end) on disjoint ranges that cover [0, n): ranges of size `grain`, the last may be smaller, or the
/// single range [0, n) on one thread. Ranges are scheduled dynamically. Which thread runs which range is unspecified,
/// so `f` must write only to the data of its range.
/// errors   ValueError if `exec.threads` is negative; the exceptions of `f`, one of them if several calls throw
/// cost     one team of threads, none for a single range or thread; the cost of `f`
template <class F>
void parallel_for(Cpu exec, std::size_t n, std::size_t grain, F&& f) {
    static_assert(range_callback<F>, "rowan::parallel_for: the callback must take two std::size_t, begin and end");
    grain = std::max<std::size_t>(grain, 1);
    std::size_t const ranges = n / grain + (n % grain != 0);
    std::size_t const threads = std::min(static_cast<std::size_t>(thread_count(exec)), ranges);
    if (n == 0) return;
    if (threads <= 1) {
        f(std::size_t{0}, n);
        return;
    }
    std::atomic<std::size_t> next{0};
    detail::team(static_cast<int>(threads), [&](int, int) {
        for (std::size_t k = next++; k < ranges; k = next++) f(k * grain, k * grain + std::min(grain, n - k * grain));
    });
}

}  // namespace rowan::inline v0

// rowan/core/ids.hpp: Ids, the parameter type for row numbers.

#include <ranges>

namespace rowan::inline v0 {

/// An integer type of row numbers.
template <class I>
concept id_type = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// A read-only view of row numbers of any shape: a braced list, a vector, a span or a Tensor, of int32 or int64.
/// requires   use as a function parameter only: the view refers to the caller's memory, which for a braced list ends
///            with the full expression
template <>
class Ids<Cpu> {
public:
    using shape_type = Tensor<std::int64_t>::shape_type;

    Ids() : shape_{0} {}  ///< no ids
    /// A braced list such as `{2, 0, 2}`, valid until the end of the full expression.
    Ids(std::initializer_list<std::int64_t> ids) : Ids(std::span(ids.begin(), ids.end())) {}

    /// The elements of a tensor; the ids have its shape.
    /// errors   none
    /// cost     O(1)
    template <id_type I>
    Ids(Tensor<I> const& ids) : Ids(std::span<I const>(ids.data(), ids.size()), ids.shape()) {}

    /// A flat list: the ids have shape [size].
    /// errors   none
    /// cost     O(1)
    template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && id_type<std::ranges::range_value_t<R>> &&
        (!xt::is_xexpression<R>::value)Ids(R const& ids)
        : size_(std::ranges::size(ids)), shape_{size_} {
        if constexpr (sizeof(std::ranges::range_value_t<R>) == 8) {
            wide_ = std::ranges::data(ids);
        } else {
            narrow_ = std::ranges::data(ids);
        }
    }

    std::size_t size() const noexcept { return size_; }          ///< the number of ids
    shape_type const& shape() const noexcept { return shape_; }  ///< the leading dims of a lookup's result
    /// Id i in row-major order, not bounds-checked.
    std::int64_t operator[](std::size_t i) const noexcept { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }

    /// Calls f with a span of the ids in their stored type, int32 or int64.
    /// errors   exceptions of f
    /// cost     the cost of f
    template <class F>
    decltype(auto) visit(F&& f) const {
        if (narrow_ != nullptr) return f(std::span(narrow_, size_));
        return f(std::span(wide_, size_));
    }

    /// The memory of the ids, for overlap checks.
    /// errors   none
    /// cost     O(1)
    std::span<std::byte const> bytes() const {
        return visit([](auto list) { return std::as_bytes(list); });
    }

private:
    template <class D>
    friend class Ids;  // which views device memory

    template <id_type I>
    Ids(std::span<I const> ids, shape_type const& shape) : Ids(ids) {
        shape_ = shape;
    }

    std::int64_t const* wide_ = nullptr;
    std::int32_t const* narrow_ = nullptr;
    std::size_t size_ = 0;
    shape_type shape_;
};

namespace detail {

/// Checks that all ids are in [0, bound).
/// errors   IndexError for the first id that is not in [0, bound)
/// cost     one pass, in parallel for many ids
inline void check_ids(Cpu exec, char const* field, Ids<> const& ids, std::int64_t bound) {
    auto const limit = static_cast<std::uint64_t>(bound);
    ids.visit([&](auto list) {
        std::atomic<bool> good{true};
        parallel_for(exec, list.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
            bool bad = false;  // no early exit, so that the loop is vectorised
            for (std::size_t i = begin; i < end; ++i) bad |= static_cast<std::uint64_t>(std::int64_t{list[i]}) >= limit;
            if (bad) good = false;
        });
        if (good) return;
        std::size_t i = 0;
        while (static_cast<std::uint64_t>(std::int64_t{list[i]}) < limit) ++i;
        throw IndexError(field, i, list[i], bound);
    });
}

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/core/memory_pool.hpp: MemoryPool, a cache of freed tensor memory.

namespace rowan::inline v0 {

/// Keeps the memory of destroyed tensors and reuses it for new ones. This avoids system calls and the kernel's clearing
/// of fresh pages, half of the cost of a large new result. A thread uses the pool while it holds a Guard:
///
///     rowan::MemoryPool pool;
///     rowan::MemoryPool::Guard const guard(pool);
///     for (auto const& ids : batches) {
///         auto const rows = rowan::gather(table, ids);  // reuses the same memory from the second batch on
///     }
///
/// Tensors may outlive the guard and the pool, and may be destroyed by any thread.
/// cost     a block is at most a quarter larger than requested (at least 64 bytes), and from 4 MiB on fills whole huge
///          pages; batches of many sizes leave free blocks of many sizes, which `most` limits
class MemoryPool {
public:
    /// `most` is the maximum number of bytes of free memory to keep; blocks beyond it are returned to the system.
    explicit MemoryPool(std::size_t most = std::numeric_limits<std::size_t>::max())
        : free_(new detail::FreeBlocks(most)) {}
    MemoryPool(MemoryPool const&) = delete;  ///< not copyable
    MemoryPool& operator=(MemoryPool const&) = delete;
    ~MemoryPool() { free_->close(); }

    /// The number of bytes of free memory in the pool.
    std::size_t kept() const noexcept { return free_->kept(); }
    /// Returns the free memory to the system.
    void clear() noexcept { free_->clear(); }

    /// During its lifetime, the thread allocates tensors from the pool instead of the pool it used before.
    /// requires   the pool outlives the guard
    class [[nodiscard]] Guard {
    public:
        /// Makes `pool` the thread's pool until the guard is destroyed.
        explicit Guard(MemoryPool& pool) noexcept : before_(std::exchange(detail::current_pool(), pool.free_)) {}
        Guard(Guard const&) = delete;
        Guard& operator=(Guard const&) = delete;
        ~Guard() { detail::current_pool() = before_; }

    private:
        detail::FreeBlocks* before_;
    };

private:
    detail::FreeBlocks* free_;
};

}  // namespace rowan::inline v0

// rowan/graph/any_ref.hpp: references to objects whose type nets do not know, and KernelCall, made of them.

namespace rowan::inline v0 {

namespace detail {

/// Its address identifies the type V.
template <class V>
inline constexpr char type_tag = 0;

/// Throws a GraphError.
[[noreturn]] inline void wrong_type() {
    throw GraphError("the attributes of an operator, or its execution, are of another type than its kernel takes");
}

/// A reference to a constant object, or to none, that knows the type of the object.
class AnyRef {
public:
    AnyRef() = default;
    explicit operator bool() const noexcept { return object_ != nullptr; }
    /// The object. Throws a GraphError if it is not a V.
    template <class V>
    V const& get() const {
        if (type_ != &type_tag<V>) wrong_type();
        return *static_cast<V const*>(object_);
    }

protected:
    template <class V>
    explicit AnyRef(V const& object) noexcept : object_(&object), type_(&type_tag<V>) {}

private:
    void const* object_ = nullptr;
    char const* type_ = nullptr;
};

}  // namespace detail

/// A reference to an execution, such as a Cpu, or to none. The execution must outlive it.
class AnyExec : public detail::AnyRef {
public:
    AnyExec() = default;  ///< refers to none
    /// Refers to `exec`.
    template <device D>
    AnyExec(D const& exec) noexcept : AnyRef(exec) {}
    /// A copy of the execution, or D{} if there is none.
    /// errors   GraphError if it is not a D
    /// cost     none
    template <device D>
    D or_default() const {
        return *this ? get<D>() : D{};
    }
};

/// A reference to the attributes of an operator, or to none. The attributes must outlive it.
class AttributesRef : public detail::AnyRef {
public:
    AttributesRef() = default;  ///< refers to none
    /// Refers to attributes of type A.
    template <class A>
    requires(!std::derived_from<A, detail::AnyRef>) explicit AttributesRef(A const& attributes) noexcept
        : AnyRef(attributes) {}
};

/// The attributes of an operator, which share their owner; may be none.
class Attributes : public AttributesRef {
public:
    Attributes() = default;  ///< none
    /// Owns attributes of type A.
    template <class A>
    Attributes(std::shared_ptr<A> owner) noexcept : AttributesRef(*owner), owner_(std::move(owner)) {}

private:
    std::shared_ptr<void const> owner_;
};

class Value;

/// The arguments of a kernel.
struct KernelCall {
    AnyExec exec;                     ///< where and how it runs
    std::span<Value* const> in;       ///< the inputs
    std::span<Value* const> out;      ///< receives the results
    AttributesRef attributes = {};    ///< of the type that the kernel takes
    std::ptrdiff_t levels_from = -1;  ///< results with as many rows as this input get its levels; -1: no levels
};

}  // namespace rowan::inline v0

// rowan/detail/arithmetic.hpp: arithmetic of formulas, bit-identical on SIMD registers, scalars and devices.

#if !__has_include(<xsimd/xsimd.hpp>)
ROWAN_ERROR(rowan needs xsimd ROWAN_MIN_XSIMD or newer (Debian: libxsimd-dev));
#endif
#include <xsimd/xsimd.hpp>

namespace rowan::inline v0::detail {

template <class T>
using sum_t = typename dtype<T>::sum;

/// The type in which formulas over values of `T...` are computed.
template <class... T>
using compute_t = std::common_type_t<sum_t<T>...>;

/// Whether a table of `To` can be updated from values of `From...`. A table of integers can be updated from integers
/// only.
template <class To, class... From>
concept computes_from = (!std::integral<sum_t<To>> || (std::integral<sum_t<From>> && ...)) && requires {
    typename compute_t<To, From...>;
}
&&std::constructible_from<sum_t<To>, compute_t<To, From...>>;

/// Whether `S` is a floating-point type with hardware arithmetic on all devices.
template <class S>
inline constexpr bool is_machine_float = std::is_same_v<S, float> || std::is_same_v<S, double>;

/// Whether `S` has SIMD registers. Not in device code: nvcc rejects them there even if they are never used.
#ifdef __CUDA_ARCH__
template <class S>
inline constexpr bool has_batch = false;
#else
template <class S>
inline constexpr bool has_batch = is_machine_float<S>;
#endif

template <class V>
inline constexpr bool is_batch = false;
template <class S, class A>
inline constexpr bool is_batch<xsimd::batch<S, A>> = true;

/// Returns `x` and prevents the compiler from fusing the product `x` with a subsequent addition. Device code does not
/// need it: its `product` is never fused.
template <class V>
ROWAN_HD_INLINE V rounded(V x) {
#ifndef __CUDA_ARCH__
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__AVX512F__)
#define ROWAN_FLOAT_REGISTER "+v"
#elif defined(__x86_64__)
#define ROWAN_FLOAT_REGISTER "+x"
#else
#define ROWAN_FLOAT_REGISTER "+w"
#endif
    if constexpr (is_batch<V>) {
        asm("" : ROWAN_FLOAT_REGISTER(x.data));
        return x;
    } else if constexpr (is_machine_float<V>) {
        asm("" : ROWAN_FLOAT_REGISTER(x));
        return x;
    }
#undef ROWAN_FLOAT_REGISTER
#endif
    if constexpr (!std::integral<V> && std::is_trivially_copyable_v<V>) asm("" : "+m"(x));
#endif
    return x;
}

/// a + b; integers wrap around.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V plus(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) + static_cast<std::make_unsigned_t<V>>(b));
    } else {
        return a + b;
    }
}

ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V product(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) * static_cast<std::make_unsigned_t<V>>(b));
#ifdef __CUDA_ARCH__
    } else if constexpr (std::is_same_v<V, float>) {
        return __fmul_rn(a, b);
    } else if constexpr (std::is_same_v<V, double>) {
        return __dmul_rn(a, b);
#endif
    } else {
        return rounded(a * b);
    }
}

/// a / b, correctly rounded regardless of the device compiler's options.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V quotient(V const& a, V const& b) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<V, float>) {
        return __fdiv_rn(a, b);
    } else if constexpr (std::is_same_v<V, double>) {
        return __ddiv_rn(a, b);
    } else
#endif
    {
        return a / b;
    }
}

/// Converts an option to the type in which a formula is computed.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V constant(double x) {
    if constexpr (is_batch<V>) {
        return V(static_cast<typename V::value_type>(x));
    } else {
        return static_cast<V>(x);
    }
}

ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V square_root(V const& x) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<V, float>) {
        return __fsqrt_rn(x);
    } else if constexpr (std::is_same_v<V, double>) {
        return __dsqrt_rn(x);
    }
#elif defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
    // g++ 12 warns that the unmasked intrinsics, which xsimd calls, use an uninitialised value
    if constexpr (std::is_same_v<V, xsimd::batch<float>>) {
        return V(_mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), x.data));
    } else if constexpr (std::is_same_v<V, xsimd::batch<double>>) {
        return V(_mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), x.data));
    }
#endif
    using std::sqrt;
    using xsimd::sqrt;
    static_assert(
        requires { V(sqrt(x)); }, "rowan: this function needs sqrt(dtype<T>::sum): declare it beside that type");
    return sqrt(x);
}

ROWAN_NO_EXEC_CHECK
template <class Mask, class V>
ROWAN_HD_INLINE V choose(Mask const& mask, V const& yes, V const& no) {
    if constexpr (is_batch<V>) {
        return xsimd::select(mask, yes, no);
    } else {
        return mask ? yes : no;
    }
}

}  // namespace rowan::inline v0::detail

// rowan/detail/lanes.hpp: element-wise formulas with SIMD registers or scalars, with bit-identical results.

#include <tuple>

namespace rowan::inline v0::detail {

/// Loads and widens the elements of one `V`: V::size of them for a SIMD register, one for a scalar.
ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE V load(T const* p) {
    if constexpr (std::is_same_v<T, V>) {
        return *p;
    } else if constexpr (!is_batch<V>) {
        return static_cast<V>(dtype<T>::widen(*p));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        return V::load_unaligned(p);
    } else {
        typename V::value_type wide[V::size];
        for (std::size_t i = 0; i < V::size; ++i) wide[i] = static_cast<typename V::value_type>(dtype<T>::widen(p[i]));
        return V::load_unaligned(wide);
    }
}

ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE void store(V const& x, T* p) {
    if constexpr (std::is_same_v<T, V>) {
        *p = x;
    } else if constexpr (!is_batch<V>) {
        *p = dtype<T>::narrow(static_cast<sum_t<T>>(x));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        x.store_unaligned(p);
    } else {
        typename V::value_type wide[V::size];
        x.store_unaligned(wide);
        for (std::size_t i = 0; i < V::size; ++i) p[i] = dtype<T>::narrow(static_cast<sum_t<T>>(wide[i]));
    }
}

/// Loads one `V` from each pointer, calls the formula with references to them, and stores those of non-const pointers.
template <class V, class Formula, class... T>
ROWAN_INLINE void apply_lanes(Formula const& formula, T*... p) {
    std::tuple<std::conditional_t<true, V, T>...> x{load<V>(p)...};
    std::apply([&](auto&... lanes) { formula(lanes...); }, x);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (
            [&] {
                if constexpr (!std::is_const_v<T>) store(std::get<i>(x), p);
            }(),
            ...);
    }
    (std::index_sequence_for<T...>{});
}

/// Calls formula(x...) with the i-th elements of all `p` for i in [0, n), in type `S`; elements of pointers to
/// non-const are written back. The formula is a template over SIMD registers and scalars. Lanes do not interact, so the
/// results are bit-identical.
template <class S, class Formula, class... T>
ROWAN_INLINE void for_lanes(Formula const& formula, std::size_t n, T*... p) {
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        std::size_t i = 0;
        for (; i + 4 * V::size <= n; i += 4 * V::size) {
            apply_lanes<V>(formula, (p + i)...);
            apply_lanes<V>(formula, (p + i + V::size)...);
            apply_lanes<V>(formula, (p + i + 2 * V::size)...);
            apply_lanes<V>(formula, (p + i + 3 * V::size)...);
        }
        for (; i + V::size <= n; i += V::size) apply_lanes<V>(formula, (p + i)...);
        for (; i < n; ++i) {
            apply_lanes<S>(formula, (p + i)...);
            asm volatile(
                "");  // keeps g++ from vectorising with another width, where loads that span several stores stall
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) apply_lanes<S>(formula, (p + i)...);
    }
}

/// to[i] = map(from[i]) for i in [0, n), computed in type `S`. `to` is only written.
template <class S, class Map, class From, class To>
ROWAN_INLINE void map_lanes(Map const& map, std::size_t n, From const* from, To* to) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)), to + i);
    }
    for (; i < n; ++i) store(map(load<S>(from + i)), to + i);
}

/// Calls f.operator()<V>(i) over [0, n), with SIMD registers V where `S` has them, V::size elements at a time, and else
/// with V = S. f itself loads and stores.
template <class S, class F>
ROWAN_INLINE void each_lane(std::size_t n, F const& f) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) f.template operator()<V>(i);
    }
    for (; i < n; ++i) f.template operator()<S>(i);
}

/// to[i] = map(from[i]...) for i in [0, n), for any number of arrays. `to` is only written.
template <class S, class Map, class To, class... From>
ROWAN_INLINE void zip_lanes(Map const& map, std::size_t n, To* to, From const*... from) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)...), to + i);
    }
    for (; i < n; ++i) store(map(load<S>(from + i)...), to + i);
}

/// Converts n elements from `from` to `to`.
template <class S, class From, class To>
ROWAN_INLINE void copy_lanes(std::size_t n, From const* from, To* to) {
    map_lanes<S>([](auto const& x) { return x; }, n, from, to);
}

/// to += from
struct add_lanes {
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& from, V& to) const {
        to = plus(to, from);
    }
};

/// x²
struct squared {
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return product(x, x);
    }
};

/// to += map(from)
template <class Map>
struct add_mapped {
    Map const& map;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& from, V& to) const {
        to = plus(to, map(from));
    }
};

/// map(x[0]) + map(x[1]) + … as 16 interleaved partial sums, reduced by a binary tree: part[k] += part[k + 8], then
/// part[k + 4], part[k + 2], part[k + 1].
ROWAN_NO_EXEC_CHECK
template <class S, class T, class Map>
ROWAN_HD S interleaved_sum(std::size_t n, T const* x, Map const& map) {
    S part[16];
    for (auto& p : part) p = constant<S>(0.0);
#ifdef __CUDA_ARCH__
    for (std::size_t i = 0; i < n; ++i) part[i % 16] = plus(part[i % 16], map(load<S>(x + i)));
#else
    add_mapped<Map> const add{map};
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) for_lanes<S>(add, 16, x + i, part);
    for_lanes<S>(add, n - i, x + i, part);
#endif
    for (std::size_t half = 8; half != 0; half /= 2) {
        for (std::size_t k = 0; k < half; ++k) part[k] = plus(part[k], part[k + half]);
    }
    return part[0];
}

}  // namespace rowan::inline v0::detail

// rowan/detail/on_device.hpp: new tensors and uploads for code that is generic over devices.

namespace rowan::inline v0::detail {

/// False for every device: a general definition of a backend asserts it to name the header that has the backend.
template <class D>
inline constexpr bool has_backend = false;

/// Whether a recurrent net runs a batch on this device as a whole. The host runs it in parts, for threads. Devices
/// whose matrix products are bit-identical to the host's use the same parts, which keeps the order of sums. The headers
/// of other devices, which gain nothing from parts, specialise this.
template <class D>
inline constexpr bool runs_whole = false;

/// An uninitialised tensor, allocated on `exec`.
template <class T, class D>
Tensor<T, D> new_tensor(D const& exec, typename Tensor<T, D>::shape_type const& shape) {
    return Tensor<T, D>::from_shape(exec, shape);
}

/// The bytes of the elements of a tensor in host memory; none for other devices.
template <class T, class D>
std::span<std::byte> host_bytes(Tensor<T, D>&) {
    return {};
}
template <class T>
std::span<std::byte> host_bytes(Tensor<T>& x) {
    return std::as_writable_bytes(std::span(x.data(), x.size()));
}

/// Numbers computed on the host, in memory that device calls enqueued during its lifetime can read. Cpu refers to the
/// host's memory, other devices copy it.
template <class T, class D>
class OnDevice;

template <class T>
class OnDevice<T, Cpu> {
public:
    OnDevice(Cpu, std::span<T const> host) : data_(host.data()) {}
    T const* data() const noexcept { return data_; }

private:
    T const* data_;
};

/// The `exec` of the host's part of a call on a device.
template <class D>
Cpu host_exec(D const&) {
    return {};
}
inline Cpu host_exec(Cpu const& exec) { return exec; }

/// Validates the execution of a call.
/// errors   ValueError if the number of threads is negative
template <class D>
void check_exec(D const& exec) {
    static_cast<void>(thread_count(host_exec(exec)));
}

/// Host access to numbers, such as lengths, in the memory of any device.
template <class D>
class HostIds;

template <>
class HostIds<Cpu> {
public:
    HostIds(Cpu, Ids<> ids) : ids_(ids) {}
    operator Ids<> const&() const noexcept { return ids_; }

private:
    Ids<> ids_;
};

}  // namespace rowan::inline v0::detail

// rowan/detail/elementwise.hpp: loops that apply a formula to all elements of tensors of one shape.

namespace rowan::inline v0::detail {

/// Elements per range of a parallel loop.
inline constexpr std::size_t elementwise_grain = std::size_t{1} << 16;

template <class T, class U, class D>
void check_same_shape(char const* field, Tensor<T, D> const& x, Tensor<U, D> const& like) {
    if (x.shape() != like.shape())
        throw ShapeError(std::string(field) + ".shape()", shape_text(x.shape()), shape_text(like.shape()));
}

template <class T, class D>
void check_rank(char const* field, Tensor<T, D> const& x, std::size_t rank) {
    if (x.dimension() == rank) return;
    throw ShapeError(std::string(field).append(" rank"), std::to_string(x.dimension()), std::to_string(rank));
}

/// Calls f(begin, end) on disjoint ranges that cover [0, rows), in parallel if rows * width elements are enough work.
template <class F>
void for_ranges(Cpu exec, std::size_t rows, std::size_t width, F const& f) {
    bool const serial = threads_for(exec, rows * width) == 1;
    parallel_for(exec, rows, serial ? rows : (elementwise_grain - 1) / std::max<std::size_t>(width, 1) + 1, f);
}

/// A function without arguments that returns a value.
template <class S>
struct GivenValue {
    S value;
    ROWAN_HD S operator()() const { return value; }
};

/// The element-wise loops of a device; those of Thrust devices are in rowan/thrust/detail/elementwise.hpp.
template <class D>
struct ElementLoops {
    static_assert(has_backend<D>, "rowan: operators on a Thrust device need #include <rowan/thrust/op.hpp>");
};

template <>
struct ElementLoops<Cpu> {
    /// Checks that a call on `exec` may use these tensors; validates exec.threads.
    template <class... X>
    static void check(Cpu exec, X const&...) {
        check_exec(exec);
    }

    /// Throws IndexError unless all ids are in [0, bound). Thrust devices enqueue the check.
    template <class I>
    static void check_ids(Cpu exec, char const* field, Tensor<I> const& ids, std::int64_t bound) {
        detail::check_ids(exec, field, ids, bound);
    }

    /// A function that returns read(), where `read` reads an element of a tensor. Thrust devices call it in each kernel.
    template <class F>
    static auto value_of(F const& read) {
        return GivenValue<decltype(read())>{read()};
    }

    template <class T>
    static Tensor<T> copy(Cpu, Tensor<T> const& x) {
        return x;
    }

    /// Temporary memory for n numbers.
    template <class S>
    static Buffer<S> scratch(Cpu, std::size_t n) {
        return Buffer<S>(n);
    }

    /// to[i] = map(from[i]...) for i in [0, n), computed in type `S`.
    template <class S, class Map, class To, class... From>
    static void zip(Cpu exec, std::size_t n, Map const& map, To* to, From const*... from) {
        for_ranges(exec, n, 1, [&](std::size_t begin, std::size_t end) {
            zip_lanes<S>(map, end - begin, to + begin, (from + begin)...);
        });
    }

    /// Calls f(i) for i in [0, n), each call processing `work` elements. Calls must write to disjoint memory.
    template <class F>
    static void each(Cpu exec, std::size_t n, std::size_t work, F const& f) {
        for_ranges(exec, n, work, [&](std::size_t begin, std::size_t end) {
            F const own = f;  // a local copy: writes through its pointers cannot alias it
            for (; begin < end; ++begin) own(begin);
        });
    }

    /// Calls f(f.of_row(row), row, column) for all elements.
    template <class F>
    static void each_element(Cpu exec, std::size_t rows, std::size_t width, F const& f) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) {
                auto const row = f.of_row(begin);
                for (std::size_t column = 0; column < width; ++column) f(row, begin, column);
            }
        });
    }

    /// Sets all elements to zero and calls f(row) for each row afterwards.
    template <class T, class F>
    static void zero_rows(Cpu exec, std::size_t rows, std::size_t width, T* to, F const& f) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            F const own = f;
            std::fill(to + begin * width, to + end * width, dtype<T>::narrow(constant<sum_t<T>>(0.0)));
            for (; begin < end; ++begin) own(begin);
        });
    }

    /// Fills `to` with `rows` copies of a row.
    template <class T>
    static void repeat_row(Cpu, std::size_t rows, std::size_t width, T const* from, T* to) {
        for (std::size_t i = 0; i < rows; ++i) to = std::copy_n(from, width, to);
    }

    /// Calls step.at<V>(row, column) for all rows and columns. Where `S` has SIMD registers, V is one and covers
    /// V::size columns. The step itself loads and stores.
    template <class S, class Step>
    static void each_of_rows(Cpu exec, std::size_t rows, std::size_t width, std::size_t work, Step const& step) {
        for_ranges(exec, rows, work, [&](std::size_t begin, std::size_t end) {
            Step const own = step;
            for (; begin < end; ++begin)
                each_lane<S>(width, [&]<class V>(std::size_t column) { own.template at<V>(begin, column); });
        });
    }
};

/// A tensor of map(x...) over the elements of tensors of one shape, computed in type `S`.
template <class S, class D, class Map, class T, class... More>
Tensor<T, D> zip_elements(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<More, D> const&... more) {
    ElementLoops<D>::check(exec, x, more...);
    auto out = new_tensor<T>(exec, x.shape());
    ElementLoops<D>::template zip<S>(exec, x.size(), map, out.data(), x.data(), more.data()...);
    return out;
}

}  // namespace rowan::inline v0::detail

// rowan/op/var_spec.hpp: VarSpec, the type and shape of a variable, known before its value.

#include <ostream>

namespace rowan::inline v0 {

/// A dim that is not known yet, such as the number of rows of the next batch.
inline constexpr std::int64_t UNK = -1;

/// The kinds of variables, with their values in descriptors.
enum class VarType : std::int32_t { LOD_TENSOR = 0, SELECTED_ROWS = 1, TENSOR_ARRAY = 2, STEP_SCOPES = 3 };

/// Up to eight dims, each a count or UNK.
class Dims {
public:
    static constexpr std::size_t max_rank = 8;  ///< the maximum rank

    constexpr Dims() = default;  ///< rank 0
    /// errors   ShapeError if there are more than max_rank dims or one is neither a count nor UNK
    constexpr Dims(std::initializer_list<std::int64_t> dims) {
        for (std::int64_t const dim : dims) push_back(dim);
    }

    /// Appends a dim.
    /// errors   ShapeError if there are max_rank dims already, or dim is neither a count nor UNK
    constexpr void push_back(std::int64_t dim) {
        if (rank_ == max_rank) throw ShapeError("rank", "more", "at most " + std::to_string(max_rank));
        if (dim < UNK) throw ShapeError("dims[" + std::to_string(rank_) + "]", std::to_string(dim), "a count or UNK");
        dims_[rank_++] = dim;
    }

    constexpr std::size_t size() const noexcept { return rank_; }
    constexpr bool empty() const noexcept { return rank_ == 0; }
    constexpr std::int64_t operator[](std::size_t i) const noexcept { return dims_[i]; }
    constexpr std::int64_t& operator[](std::size_t i) noexcept { return dims_[i]; }
    constexpr std::int64_t const* begin() const noexcept { return dims_.data(); }
    constexpr std::int64_t const* end() const noexcept { return dims_.data() + rank_; }

    /// The product of the dims from `first` on; UNK if one of them is UNK.
    constexpr std::int64_t product_from(std::size_t first) const noexcept {
        std::int64_t product = 1;
        for (std::size_t i = first; i < rank_; ++i) {
            if (dims_[i] == UNK) return UNK;
            product *= dims_[i];
        }
        return product;
    }

    friend constexpr bool operator==(Dims const&, Dims const&) = default;

    /// Prints the dims: [UNK, 640, 480]
    friend std::ostream& operator<<(std::ostream& out, Dims const& dims) {
        char const* comma = "[";
        for (std::int64_t const dim : dims) {
            out << comma;
            dim == UNK ? out << "UNK" : out << dim;
            comma = ", ";
        }
        return out << (dims.empty() ? "[]" : "]");
    }

private:
    std::array<std::int64_t, max_rank> dims_{};
    std::size_t rank_ = 0;
};

/// The kind, element type, dims and number of levels of a variable.
struct VarSpec {
    VarType type = VarType::LOD_TENSOR;              ///< the kind of variable
    std::int32_t dtype = rowan::dtype<float>::wire;  ///< dtype<T>::wire
    Dims dims;                                       ///< for a SelectedRows the dims of the dense tensor
    std::size_t lod_level = 0;                       ///< the number of levels; 0: the rows form no sequences

    friend constexpr bool operator==(VarSpec const&, VarSpec const&) = default;
};

/// Whether this is the number of one of rowan's integral element types, including bool.
constexpr bool is_integral(std::int32_t wire) noexcept {
    return wire == dtype<std::int32_t>::wire || wire == dtype<std::int64_t>::wire ||
           wire == dtype<std::uint8_t>::wire || wire == dtype<bool>::wire;
}

/// The spec of a Tensor or LoDTensor.
template <class T>
constexpr VarSpec tensor_spec(Dims dims, std::size_t lod_level = 0) {
    static_assert(detail::is_element<T>(), "rowan::tensor_spec<T>: specialize rowan::dtype<T> for this element type");
    return {VarType::LOD_TENSOR, dtype<T>::wire, dims, lod_level};
}
/// The same for a SelectedRows.
template <class T>
constexpr VarSpec selected_rows_spec(Dims dims) {
    static_assert(detail::is_element<T>(),
                  "rowan::selected_rows_spec<T>: specialize rowan::dtype<T> for this element type");
    return {VarType::SELECTED_ROWS, dtype<T>::wire, dims, 0};
}

}  // namespace rowan::inline v0

// rowan/graph/detail/kind_text.hpp: the kind and element type of a variable as text, for messages and Net::dot.

namespace rowan::inline v0::detail {

template <class... T>
inline constexpr std::array dtype_names{std::pair{dtype<T>::wire, dtype<T>::name}...};

/// "f32", or "element type 1000" for a user-defined type.
std::string dtype_text(std::int32_t wire);

/// "LoDTensor<f32>", in the format of Value::kind().
std::string kind_text(VarSpec const& spec);

/// "LoDTensor<f32>", for messages, with " on a device" if it is in device memory.
template <class T, class D>
std::string kind_on(char const* kind) {
    std::string text(kind);
    text.append("<").append(dtype<T>::name).append(">");
    if constexpr (!std::is_same_v<D, Cpu>) text.append(" on a device");
    return text;
}
template <class V>
struct kind_name {
    static std::string text() { return "of a type of the user's"; }
};
template <class T, class D>
struct kind_name<LoDTensor<T, D>> {
    static std::string text() { return kind_on<T, D>("LoDTensor"); }
};
template <class T, class D>
struct kind_name<SelectedRows<T, D>> {
    static std::string text() { return kind_on<T, D>("SelectedRows"); }
};
template <class T, class D>
struct kind_name<TensorArray<T, D>> {
    static std::string text() { return kind_on<T, D>("TensorArray"); }
};

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/kind_text_inl.hpp: definitions of rowan/graph/detail/kind_text.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string dtype_text(std::int32_t wire) {
    for (auto const& [number, name] :
         dtype_names<float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, float16>) {
        if (number == wire) return std::string(name);
    }
    return std::string("element type ").append(std::to_string(wire));
}

ROWAN_FUNCTION std::string kind_text(VarSpec const& spec) {
    char const* const kind = spec.type == VarType::SELECTED_ROWS  ? "SelectedRows<"
                             : spec.type == VarType::TENSOR_ARRAY ? "TensorArray<"
                             : spec.type == VarType::STEP_SCOPES  ? "StepScopes<"
                                                                  : "LoDTensor<";
    return std::string(kind).append(dtype_text(spec.dtype)).append(">");
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/detail/arguments.hpp: argument checks that several functions share.

#include <functional>

namespace rowan::inline v0::detail {

inline void check_finite(char const* field, double value) {
    if (!std::isfinite(value)) throw ValueError(field, value, "a finite number");
}

/// Checks that the rank is at least 1.
template <class T, class D>
void check_rows(char const* field, Tensor<T, D> const& tensor) {
    if (tensor.dimension() == 0) throw ShapeError(std::string(field) + " rank", "0", "at least 1");
}

template <class T, class D>
void check_height(char const* field, Tensor<T, D> const& tensor, std::int64_t height) {
    check_rows(field, tensor);
    if (tensor.shape()[0] != static_cast<std::size_t>(height)) {
        throw ShapeError(std::string(field) + ".shape(0)", std::to_string(tensor.shape()[0]), std::to_string(height));
    }
}

/// Checks that all dims except the first are those of `like`.
template <class T, class D, class Shape>
void check_trailing(char const* field, Tensor<T, D> const& tensor, Shape like) {
    auto const& shape = tensor.shape();
    like[0] = shape[0];
    if (shape != like) throw ShapeError(std::string(field) + ".shape()", shape_text(shape), shape_text(like));
}

inline bool overlap(std::span<std::byte const> a, std::span<std::byte const> b) {
    std::less<> const before;  // a total order even for unrelated pointers
    return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// Throws Error if the memory written overlaps the memory read.
inline void check_apart(char const* written, std::span<std::byte const> to, char const* read,
                        std::span<std::byte const> from) {
    if (overlap(to, from)) throw Error(std::string(written) + " shares memory with " + read);
}

template <class T, class D>
std::span<std::byte const> bytes_of(Tensor<T, D> const& tensor) {
    return std::as_bytes(std::span(tensor.data(), tensor.size()));
}

/// Throws Error if two tensors share memory; name(i) is the name of tensor i.
template <class Names, class... T, class... D>
void check_all_apart(Names const& name, Tensor<T, D> const&... tensor) {
    std::array<std::span<std::byte const>, sizeof...(T)> const bytes{detail::bytes_of(tensor)...};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (overlap(bytes[j], bytes[i])) check_apart(name(j).c_str(), bytes[j], name(i).c_str(), bytes[i]);
        }
    }
}

/// The number of rows, as the height of a SelectedRows.
template <class T, class D>
std::int64_t height_of(Tensor<T, D> const& tensor) {
    return static_cast<std::int64_t>(tensor.shape()[0]);
}

}  // namespace rowan::inline v0::detail

// rowan/detail/rows.hpp: prefetches of rows, and copies that bypass the caches.

#if defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rowan::inline v0::detail {

/// The prefetch distance in rows: as many rows of this size as 8 KiB hold, which covers the memory latency, from 4 to
/// 64.
inline std::size_t lookahead(std::size_t row_bytes) noexcept {
    return std::clamp<std::size_t>(8192 / std::max<std::size_t>(row_bytes, 1), 4, 64);
}

/// Prefetches `bytes` bytes from `p` on for reading or writing, at most 2 KiB: from there on the hardware prefetches.
template <bool write>
ROWAN_INLINE void prefetch_row(void const* p, std::size_t bytes) {
    constexpr int access = write ? 1 : 0;
    auto const* line = static_cast<char const*>(p);
    std::size_t lines = std::min<std::size_t>((bytes + 63) / 64, 32);
    for (; lines >= 4; lines -= 4, line += 256) {  // unrolled: this loop is as hot as the arithmetic
        __builtin_prefetch(line, access);
        __builtin_prefetch(line + 64, access);
        __builtin_prefetch(line + 128, access);
        __builtin_prefetch(line + 192, access);
    }
    for (; lines != 0; --lines, line += 64) __builtin_prefetch(line, access);
    asm volatile("");  // otherwise g++ removes calls of functions that only prefetch
}

/// Outputs of this many bytes or more are written with non-temporal stores, which do not read or evict cache lines.
inline constexpr std::size_t stream_from = std::size_t{8} << 20;

/// memcpy that bypasses the caches; stream_end() must follow the last one. Plain memcpy unless `to` and `bytes` are
/// multiples of 64.
ROWAN_INLINE void stream_copy(void* to, void const* from, std::size_t bytes) {
#ifdef __SSE2__
    if (bytes % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0) {
        auto* out = static_cast<char*>(to);
        auto const* in = static_cast<char const*>(from);
        for (std::size_t i = 0; i < bytes; i += 64) {
#if defined(__AVX512F__)
            _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), _mm512_loadu_si512(in + i));
#else
            __m128i const a = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i));
            __m128i const b = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 16));
            __m128i const c = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 32));
            __m128i const d = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 48));
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), a);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 16), b);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 32), c);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 48), d);
#endif
        }
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

/// Makes streamed rows visible to other threads.
ROWAN_INLINE void stream_end() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

}  // namespace rowan::inline v0::detail

// rowan/detail/copy_rows.hpp: parallel copies of rows and blocks of rows.

namespace rowan::inline v0::detail {

/// The sum of two numbers of rows. It can overflow because rows without elements need no memory.
/// errors   ShapeError if the sum exceeds 2^63 - 1
inline std::int64_t checked_add(char const* field, std::int64_t rows, std::int64_t more) {
    if (more <= std::numeric_limits<std::int64_t>::max() - rows) return rows + more;
    throw ShapeError(field, std::to_string(rows) + " + " + std::to_string(more), "at most 2^63 - 1");
}

/// The implementation of row copies on a device.
template <class D>
struct RowCopies;

template <>
struct RowCopies<Cpu> {
    template <class From, class To>
    static void rows(Cpu exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
        if (bytes == 0) return;
        std::size_t const ahead = lookahead(bytes);
        bool const stream = n >= stream_from / bytes;
        std::size_t const grain = (std::size_t{256} << 10) / bytes + 64;
        parallel_for(exec, n, grain, [&](std::size_t begin, std::size_t end) {
            auto source = from;
            auto asked = from;
            auto target = to;
            for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) prefetch_row<false>(asked(i), bytes);
            for (std::size_t i = begin; i < end; ++i) {
                if (i + ahead < end) prefetch_row<false>(asked(i + ahead), bytes);
                if (stream) {
                    stream_copy(target(i), source(i), bytes);
                } else {
                    std::memcpy(target(i), source(i), bytes);
                }
            }
            if (stream) stream_end();
        });
    }

    template <class From, class To>
    static void blocks(Cpu exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from,
                       To const& to) {
        auto const rows = static_cast<std::size_t>(starts.back());
        if (rows == 0 || bytes == 0) return;
        bool const stream = rows >= stream_from / bytes;
        std::size_t const grain = (std::size_t{1} << 20) / bytes + 1;
        parallel_for(exec, rows, grain, [&](std::size_t begin, std::size_t end) {
            auto source = from;
            auto target = to;
            auto const at = [&](std::size_t i) { return static_cast<std::size_t>(starts[i]); };
            auto const after = std::ranges::upper_bound(starts, static_cast<std::int64_t>(begin));
            for (auto i = static_cast<std::size_t>(after - starts.begin()) - 1; begin < end; ++i) {
                std::size_t const last = std::min(end, at(i + 1));
                if (begin == last) continue;
                std::size_t const skipped = (begin - at(i)) * bytes;
                auto const* const in = reinterpret_cast<char const*>(source(i)) + skipped;
                auto* const out = reinterpret_cast<char*>(target(i)) + skipped;
                if (stream) {
                    stream_copy(out, in, (last - begin) * bytes);
                } else {
                    std::memcpy(out, in, (last - begin) * bytes);
                }
                begin = last;
            }
            if (stream) stream_end();
        });
    }

    template <class T>
    static void take(Cpu exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
        rows(
            exec, n, width * sizeof(T),
            [=](std::size_t i) { return from + static_cast<std::size_t>(index[i]) * width; },
            [=](std::size_t i) { return to + i * width; });
    }

    template <class T>
    static void put(Cpu exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
        rows(
            exec, n, width * sizeof(T), [=](std::size_t i) { return from + i * width; },
            [=](std::size_t i) { return to + static_cast<std::size_t>(index[i]) * width; });
    }

    template <class T, class From>
    static void put_blocks(Cpu exec, std::span<std::int64_t const> starts, std::size_t width, From const& from,
                           std::int64_t const* index, T* to) {
        rows(exec, static_cast<std::size_t>(starts.back()), width * sizeof(T), RowsOfBlocks<From>{from, starts, width},
             [=](std::size_t i) { return to + static_cast<std::size_t>(index[i]) * width; });
    }

    template <class T>
    static void spread(Cpu exec, std::span<std::int64_t const> starts, std::span<std::int64_t const> places,
                       std::size_t width, T const* from, T padding, std::size_t rows, T* to) {
        std::size_t const grain = (std::size_t{1} << 20) / (width * sizeof(T) + 1) + 1;
        parallel_for(exec, width == 0 ? 0 : rows, grain, [&](std::size_t begin, std::size_t end) {
            auto const place = [&](std::size_t i) { return static_cast<std::size_t>(places[i]); };
            auto const after = [&](std::size_t i) {
                return static_cast<std::size_t>(places[i] + starts[i + 1] - starts[i]);
            };
            auto const numbers = std::views::iota(std::size_t{0}, places.size());
            std::size_t i = *std::ranges::partition_point(numbers, [&](std::size_t k) { return after(k) <= begin; });
            while (begin < end) {
                bool const padded = i == places.size() || place(i) > begin;
                std::size_t const last = std::min(end, !padded ? after(i) : i == places.size() ? end : place(i));
                if (padded) {
                    std::fill_n(to + begin * width, (last - begin) * width, padding);
                } else {
                    std::size_t const row = static_cast<std::size_t>(starts[i]) + begin - place(i);
                    std::copy_n(from + row * width, (last - begin) * width, to + begin * width);
                    ++i;
                }
                begin = last;
            }
        });
    }

private:
    /// The address of row i of all blocks; fastest for ascending i.
    template <class From>
    struct RowsOfBlocks {
        From from;
        std::span<std::int64_t const> starts;
        std::size_t width;
        std::size_t block = 0;

        auto operator()(std::size_t i) {
            auto const place = static_cast<std::int64_t>(i);
            if (place < starts[block] || place >= starts[block + 1]) {
                block = static_cast<std::size_t>(std::ranges::upper_bound(starts, place) - starts.begin()) - 1;
            }
            return from(block) + (i - static_cast<std::size_t>(starts[block])) * width;
        }
    };
};

/// Copies n rows of `bytes` bytes: row i from the pointer from(i) to the pointer to(i). Each thread calls its own
/// copies of both, for ranges of ascending i. For a device other than Cpu they are called on the host.
template <class D, class From, class To>
void copy_rows(D const& exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
    RowCopies<D>::rows(exec, n, bytes, from, to);
}

/// The function i -> row starts[i] of a matrix: where block i begins. `starts` is not copied.
template <class T>
auto blocks_at(T* data, std::span<std::int64_t const> starts, std::size_t width) {
    return [=](std::size_t i) { return data + static_cast<std::size_t>(starts[i]) * width; };
}

/// Copies blocks of rows of `bytes` bytes: block i, of starts[i + 1] - starts[i] rows, from from(i) to to(i). Work is
/// divided by rows, not by blocks, because block lengths may differ widely.
template <class D, class From, class To>
void copy_blocks(D const& exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from,
                 To const& to) {
    RowCopies<D>::blocks(exec, starts, bytes, from, to);
}

/// Copies n rows of `width` elements: to[i] = from[index[i]]. All three are in the device's memory.
template <class D, class T>
void take_rows(D const& exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
    RowCopies<D>::take(exec, n, width, from, index, to);
}

/// The inverse: to[index[i]] = from[i].
template <class D, class T>
void put_rows(D const& exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
    RowCopies<D>::put(exec, n, width, from, index, to);
}

/// The same for rows in blocks: block b, of starts[b + 1] - starts[b] rows, is at from(b). `starts` is in host memory.
template <class D, class T, class From>
void put_blocks(D const& exec, std::span<std::int64_t const> starts, std::size_t width, From const& from,
                std::int64_t const* index, T* to) {
    RowCopies<D>::put_blocks(exec, starts, width, from, index, to);
}

/// Copies consecutive blocks of rows of `width` elements, block i with starts[i + 1] - starts[i] rows, to rows
/// [places[i], …) of `to`, and fills the other ones of its `rows` rows with `padding`. Places ascend and do not overlap;
/// starts and places are in host memory.
template <class D, class T>
void spread_blocks(D const& exec, std::span<std::int64_t const> starts, std::span<std::int64_t const> places,
                   std::size_t width, T const* from, T padding, std::size_t rows, T* to) {
    RowCopies<D>::spread(exec, starts, places, width, from, padding, rows, to);
}

}  // namespace rowan::inline v0::detail

// rowan/sequence/lod.hpp: Lod, level-of-detail offsets that partition a flat batch into sequences.

namespace rowan::inline v0 {

namespace detail {

struct LodAccess;

/// A multi-pass range of lists of integers.
template <class R>
concept id_lists = std::ranges::sized_range<R const> && std::ranges::forward_range<R const> &&
    std::convertible_to<std::ranges::range_reference_t<R const>, Ids<>>;

/// Throws ShapeError unless `list` has rank 1.
inline void check_list(std::string const& field, Ids<> const& list) {
    if (list.shape().size() != 1) throw ShapeError(field + " rank", std::to_string(list.shape().size()), "1");
}

/// Throws IndexError unless 0 <= list[i] <= most.
void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most);

}  // namespace detail

/// Offsets that group the rows of a batch into sequences, these into outer sequences, and so on: one list per level.
///
///     level 0   0       2                 5     2 paragraphs, of 2 and 3 sentences
///     level 1   0   3   9   11   17   20        5 sentences, of 3, 6, 2, 6 and 3 words
///     rows      0 … 2 3 … 8 9 10 11…16 17…19    20 words
///
/// Offsets are relative: those of level i count the sequences of level i + 1, those of the last level count rows.
/// Sequences may be empty at any level; {0} is a level without sequences. Offsets are immutable and shared by copies of
/// the Lod. The offsets of a level are contiguous int64, so lod[level].data() is a valid offsets buffer of an Arrow
/// LargeList; the int32 offsets of an Arrow List can be passed to the constructor, which copies them.
class Lod {
public:
    /// The maximum number of levels.
    static constexpr std::size_t max_levels = 16;

    /// No levels: the rows form no sequences.
    Lod() = default;

    Lod(Lod const&) = default;
    Lod(Lod&& other) noexcept
        : memory_(std::move(other.memory_)), levels_(std::exchange(other.levels_, 0)), offsets_(other.offsets_) {}
    Lod& operator=(Lod other) noexcept;
    ~Lod() = default;

    /// Copies offsets, one list per level.
    /// errors   LodError if there are more than max_levels lists, or a list is empty, does not begin with 0, decreases,
    ///          or does not end with the number of sequences of the next level; ShapeError if a list is a tensor whose
    ///          rank is not 1
    /// cost     one allocation for all offsets, and one pass
    Lod(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    requires(!std::same_as<std::remove_cvref_t<R>, Lod>) explicit Lod(R const& levels) {
        build(levels, [](std::size_t level, Ids<> const& list, std::int64_t* offsets) {
            if (list.size() == 0) throw LodError(level, 0, 0, "is missing: a level has at least the offset 0");
            for (std::size_t i = 0; i < list.size(); ++i) offsets[i] = list[i];
            check(level, {offsets, list.size()});
            return list.size();
        });
    }

    /// Makes a Lod from the lengths of the sequences of each level.
    /// errors   LodError if there are more than max_levels lists, a length is negative, or the sum of a list exceeds
    ///          2^63 - 1 or is not the number of sequences of the next level; ShapeError if a list is a tensor whose
    ///          rank is not 1
    /// cost     one allocation for all offsets, and one pass
    static Lod from_lengths(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    static Lod from_lengths(R const& levels) {
        Lod lod;
        lod.build(levels, [](std::size_t level, Ids<> const& list, std::int64_t* offsets) {
            offsets[0] = 0;
            for (std::size_t i = 0; i < list.size(); ++i) {
                if (list[i] < 0) throw LodError(level, i, list[i], "is negative, and should be a length");
                if (list[i] > std::numeric_limits<std::int64_t>::max() - offsets[i]) {
                    throw LodError(level, i, list[i], "is a length that makes the sum overflow");
                }
                offsets[i + 1] = offsets[i] + list[i];
            }
            return list.size() + 1;
        });
        return lod;
    }

    /// Makes one level of `sequences` sequences, where row i belongs to sequence row_ids[i].
    /// errors   IndexError if row_ids decrease or an id is not in [0, sequences); ShapeError if row_ids are a tensor
    ///          whose rank is not 1 or the offsets exceed 2^63 - 1 bytes; std::bad_alloc
    /// cost     16 bytes per sequence during the call, 8 afterwards
    static Lod from_row_ids(Ids<> row_ids, Height sequences);

    std::size_t levels() const noexcept { return levels_; }  ///< the number of levels; 0: the rows form no sequences
    bool empty() const noexcept { return levels_ == 0; }

    /// The offsets of a level: sequences(level) + 1 numbers.
    /// errors   IndexError if level is not in [0, levels())
    std::span<std::int64_t const> operator[](std::size_t level) const {
        check_level(level);
        return offsets_[level];
    }

    /// The number of sequences of a level.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    std::size_t sequences(std::size_t level) const { return (*this)[level].size() - 1; }

    /// The number of rows that the last level covers; 0 without levels.
    std::int64_t rows() const noexcept { return levels_ == 0 ? 0 : offsets_[levels_ - 1].back(); }

    /// The lengths of the sequences of a level.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(sequences of the level)
    std::vector<std::int64_t> lengths(std::size_t level) const;

    /// The offsets of all levels, counted in rows: {{0, 2}, {0, 1, 3}} becomes {{0, 3}, {0, 1, 3}}.
    /// errors   std::bad_alloc
    /// cost     O(offsets)
    std::vector<std::vector<std::int64_t>> absolute() const;

    /// Levels [begin, end). If end < levels(), their last offsets count sequences of level `end` instead of rows.
    /// errors   IndexError unless begin <= end <= levels()
    /// cost     O(levels): offsets are shared
    Lod slice_levels(std::size_t begin, std::size_t end) const;

    /// Validates a level number.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    void check_level(std::size_t level) const;

    /// Validates that the levels match a batch of `rows` rows.
    /// errors   LodError unless there are no levels or the last one ends with `rows`
    /// cost     O(1)
    void check_rows(std::size_t rows) const;

    friend bool operator==(Lod const& a, Lod const& b) noexcept { return a.equals(b); }

    /// Prints the offsets: `{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}`.
    friend std::ostream& operator<<(std::ostream& out, Lod const& lod) { return lod.print(out); }

private:
    friend struct detail::LodAccess;

    std::span<std::span<std::int64_t const> const> all() const noexcept { return {offsets_.data(), levels_}; }
    bool equals(Lod const& other) const noexcept;
    std::ostream& print(std::ostream& out) const;

    static void check(std::size_t level, std::span<std::int64_t const> offsets);

    static void check_end(std::size_t level, std::span<std::int64_t const> offsets, std::size_t sequences);

    // fill(level, list, offsets) writes the offsets of a level and returns their number, at most list.size() + 1.
    template <class R, class Fill>
    void build(R const& levels, Fill const& fill) {
        std::size_t const count = std::ranges::size(levels);
        if (count > max_levels) {
            throw LodError(max_levels, 0, static_cast<std::int64_t>(count),
                           "levels are more than " + std::to_string(max_levels));
        }
        std::size_t size = 0;
        for (std::size_t at = 0; auto const& level : levels) {
            Ids<> const list(level);
            detail::check_list("lod[" + std::to_string(at) + "]", list);
            size += list.size() + 1;
            ++at;
        }
        auto const block = std::make_shared_for_overwrite<std::int64_t[]>(size);
        std::int64_t* next = block.get();
        for (auto const& level : levels) {
            std::size_t const n = fill(levels_, Ids<>(level), next);
            offsets_[levels_] = {next, n};
            if (levels_ > 0) check_end(levels_ - 1, offsets_[levels_ - 1], n - 1);
            ++levels_;
            next += n;
        }
        memory_ = block;
    }

    std::shared_ptr<void const> memory_;  // keeps the offsets alive
    std::size_t levels_ = 0;
    std::array<std::span<std::int64_t const>, max_levels> offsets_;
};

namespace detail {

/// Makes a Lod from existing offsets without copying them.
struct LodAccess {
    /// Offsets that are valid by construction. `memory` keeps them alive.
    template <class Levels>
    static Lod make(std::shared_ptr<void const> memory, Levels const& levels) {
        Lod lod;
        lod.memory_ = std::move(memory);
        for (std::span<std::int64_t const> const offsets : levels) lod.offsets_[lod.levels_++] = offsets;
        return lod;
    }
    /// The same, but validates the offsets.
    /// errors   LodError as the constructor of Lod
    template <class Levels>
    static Lod checked(std::shared_ptr<void const> memory, Levels const& levels) {
        Lod lod = make(std::move(memory), levels);
        for (std::size_t l = 0; l < lod.levels_; ++l) {
            Lod::check(l, lod.offsets_[l]);
            if (l > 0) Lod::check_end(l - 1, lod.offsets_[l - 1], lod.offsets_[l].size() - 1);
        }
        return lod;
    }
    static std::shared_ptr<void const> const& memory(Lod const& lod) { return lod.memory_; }
};

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/sequence/lod_inl.hpp: definitions of rowan/sequence/lod.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most) {
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    if (list[i] < 0 || list[i] > most) throw IndexError(field, i, list[i], most == max ? max : most + 1);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION Lod& Lod::operator=(Lod other) noexcept {
    memory_.swap(other.memory_);
    levels_ = other.levels_;
    offsets_ = other.offsets_;
    return *this;
}

ROWAN_FUNCTION Lod::Lod(std::initializer_list<Ids<>> levels) : Lod(std::span(levels.begin(), levels.size())) {}

ROWAN_FUNCTION Lod Lod::from_lengths(std::initializer_list<Ids<>> levels) {
    return from_lengths(std::span(levels.begin(), levels.size()));
}

ROWAN_FUNCTION Lod Lod::from_row_ids(Ids<> row_ids, Height sequences) {
    detail::check_list("row_ids", row_ids);
    detail::check_ids(Cpu{}, "row_ids", row_ids, sequences);
    std::size_t const offsets = static_cast<std::size_t>(std::int64_t{sequences}) + 1;
    detail::checked_size("offsets", std::array{offsets}, sizeof(std::int64_t));
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(std::int64_t{sequences}));
    for (std::size_t i = 0; i < row_ids.size(); ++i) {
        if (i > 0 && row_ids[i] < row_ids[i - 1]) {
            throw IndexError("row_ids", i, row_ids[i], "descends: rows of one sequence lie together");
        }
        ++lengths[static_cast<std::size_t>(row_ids[i])];
    }
    return from_lengths({lengths});
}

ROWAN_FUNCTION std::vector<std::int64_t> Lod::lengths(std::size_t level) const {
    auto const offsets = (*this)[level];
    std::vector<std::int64_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = offsets[i + 1] - offsets[i];
    return lengths;
}

ROWAN_FUNCTION std::vector<std::vector<std::int64_t>> Lod::absolute() const {
    std::vector<std::vector<std::int64_t>> rows(levels_);
    for (std::size_t level = levels_; level-- > 0;) {
        for (std::int64_t const e : offsets_[level]) {
            rows[level].push_back(level + 1 == levels_ ? e : rows[level + 1][static_cast<std::size_t>(e)]);
        }
    }
    return rows;
}

ROWAN_FUNCTION Lod Lod::slice_levels(std::size_t begin, std::size_t end) const {
    detail::check_range("slice_levels", begin, end, levels_);
    Lod lod;
    lod.memory_ = memory_;
    lod.levels_ = end - begin;
    std::copy(offsets_.begin() + static_cast<std::ptrdiff_t>(begin),
              offsets_.begin() + static_cast<std::ptrdiff_t>(end), lod.offsets_.begin());
    return lod;
}

ROWAN_FUNCTION bool Lod::equals(Lod const& other) const noexcept {
    return std::ranges::equal(all(), other.all(), [](auto x, auto y) { return std::ranges::equal(x, y); });
}

ROWAN_FUNCTION std::ostream& Lod::print(std::ostream& out) const {
    char const* comma = "";
    out << '{';
    for (auto const offsets : all()) {
        out << std::exchange(comma, ", ") << '{';
        for (std::size_t i = 0; i < offsets.size(); ++i) out << (i == 0 ? "" : ", ") << offsets[i];
        out << '}';
    }
    return out << '}';
}

ROWAN_FUNCTION void Lod::check_level(std::size_t level) const {
    if (level >= levels_)
        throw IndexError("level", 0, static_cast<std::int64_t>(level), static_cast<std::int64_t>(levels_));
}

ROWAN_FUNCTION void Lod::check_rows(std::size_t rows) const {
    if (levels_ == 0 || static_cast<std::size_t>(this->rows()) == rows) return;
    throw LodError(levels_ - 1, offsets_[levels_ - 1].size() - 1, this->rows(),
                   "is not " + std::to_string(rows) + ", the number of rows");
}

ROWAN_FUNCTION void Lod::check(std::size_t level, std::span<std::int64_t const> offsets) {
    if (offsets[0] != 0) throw LodError(level, 0, offsets[0], "is not 0, where the first sequence begins");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] >= offsets[i - 1]) continue;
        throw LodError(level, i, offsets[i], "is less than the offset before it, " + std::to_string(offsets[i - 1]));
    }
}

ROWAN_FUNCTION void Lod::check_end(std::size_t level, std::span<std::int64_t const> offsets, std::size_t sequences) {
    if (static_cast<std::size_t>(offsets.back()) == sequences) return;
    throw LodError(level, offsets.size() - 1, offsets.back(),
                   "is not " + std::to_string(sequences) + ", the number of sequences of the next level");
}

}  // namespace rowan::inline v0

#endif

// rowan/sequence/lod_tensor.hpp: LoDTensor<T, Device>, a batch of sequences of different lengths, without padding.

namespace rowan::inline v0 {

namespace detail {

/// The number of levels of a nested list: 0 for a list of numbers, 1 for a list of such lists.
template <class R>
inline constexpr std::size_t list_levels = [] {
    if constexpr (std::ranges::range<std::ranges::range_value_t<R>>) {
        return 1 + list_levels<std::ranges::range_value_t<R>>;
    } else {
        return std::size_t{0};
    }
}();

}  // namespace detail

/// A tensor of rows and a Lod that partitions them into sequences.
///
///     lod {{0, 3, 3, 5}}     value [a b c d e]     stands for   [a b c]  []  [d e]
///
/// The first dim of `value` is the number of rows; with levels, `value` has rank at least 1. A copy is deep; share()
/// returns an alias. The Lod is always in host memory.
template <class T, class Device>
class LoDTensor {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    /// No rows, no levels.
    LoDTensor() = default;

    /// A tensor without levels: its rows form no sequences.
    LoDTensor(Tensor<T, Device> value) : value_(std::move(value)) {}

    /// A tensor whose rows form the sequences of `lod`.
    /// shapes   value [n, ...], lod of n rows
    /// errors   ShapeError if value has rank 0 and lod has levels; LodError if the last level does not end with n
    /// cost     O(1); value is moved
    LoDTensor(Tensor<T, Device> value, Lod lod) : value_(std::move(value)), lod_(std::move(lod)) { check(); }

    /// Concatenates sequences, each given by its rows, into a batch of one level.
    /// shapes   sequences [n_i, ...] -> value [Σ n_i, ...]
    /// errors   ShapeError if a sequence has rank 0 or trailing dims differ; LodError if there are more than 2^63 - 1
    ///          rows
    /// cost     one read and one write of every row, and 24 bytes per sequence
    static LoDTensor from_sequences(std::initializer_list<Tensor<T, Device>> sequences);
    template <std::ranges::forward_range R>
    static LoDTensor from_sequences(R const& sequences);

    /// Makes a batch of numbers from nested lists: `{{1, 2, 3}, {}, {4, 5}}` has one level of three sequences; deeper
    /// ranges have more levels.
    /// shapes   value [total number of elements]
    /// errors   LodError if there are more than Lod::max_levels levels
    /// cost     one write of every element, and one copy to a device
    static LoDTensor from_nested(std::initializer_list<std::vector<T>> lists);
    template <std::ranges::forward_range R>
    static LoDTensor from_nested(R const& lists);

    /// The rows. Elements may be modified. If the number of rows no longer matches the Lod, the next function that
    /// takes the batch throws.
    Tensor<T, Device> const& value() const noexcept { return value_; }
    Tensor<T, Device>& value() noexcept { return value_; }
    Lod const& lod() const noexcept { return lod_; }                     ///< how the rows form sequences
    shape_type const& shape() const noexcept { return value_.shape(); }  ///< of the value
    Device device() const noexcept { return value_.device(); }           ///< the execution of calls that are given none

    /// Replaces the Lod. One without levels removes the sequences.
    /// errors   as the constructor; strong exception guarantee
    /// cost     O(1)
    void set_lod(Lod lod);

    /// An alias: the same rows and the same Lod.
    /// errors   none
    /// cost     O(1)
    LoDTensor share() const;

    /// The number of first-level sequences, or of rows if there are no levels.
    /// errors   ShapeError if there are no levels and the value has rank 0
    /// cost     O(1)
    std::size_t size() const;

    /// Converts to the tensor of the rows. The conversion of an rvalue also removes the levels.
    /// requires   a reference must be bound to a named batch: `Tensor<float> const& rows = steps.read(t);` dangles,
    ///            because read returns a temporary; `Tensor<float> rows = steps.read(t);` is correct and makes an alias
    operator Tensor<T, Device> const&() const& noexcept { return value_; }
    operator Tensor<T, Device>&() & noexcept { return value_; }
    operator Tensor<T, Device>&&() && noexcept {
        lod_ = Lod();
        return std::move(value_);
    }

    /// True if sequences and rows are equal.
    friend bool operator==(LoDTensor const& a,
                           LoDTensor const& b) requires std::equality_comparable<Tensor<T, Device>> {
        return a.lod_ == b.lod_ && a.value_ == b.value_;
    }

    /// Repeats the checks of the constructor.
    /// errors   LodError or ShapeError as the constructor
    /// cost     O(1)
    void check() const;

private:
    template <class R>
    static void flatten(R const& lists, std::vector<std::int64_t>* lengths, std::vector<T>& flat);

    Tensor<T, Device> value_;
    Lod lod_;
};

namespace detail {

/// The device of the first of several `X`; `tensors` are these or references to them.
template <class X, class R>
auto device_of_first(R const& tensors) {
    auto const first = std::ranges::begin(tensors);
    return first == std::ranges::end(tensors) ? decltype(std::declval<X>().device()){}
                                              : static_cast<X const&>(*first).device();
}

}  // namespace detail

template <class T, class Device>
auto LoDTensor<T, Device>::from_sequences(std::initializer_list<Tensor<T, Device>> sequences) -> LoDTensor {
    return from_sequences(std::span(sequences.begin(), sequences.size()));
}

template <class T, class Device>
template <std::ranges::forward_range R>
auto LoDTensor<T, Device>::from_sequences(R const& sequences) -> LoDTensor {
    using Reference = std::ranges::range_reference_t<R const>;
    constexpr bool stay =
        std::is_lvalue_reference_v<Reference> && std::same_as<std::remove_cvref_t<Reference>, Tensor<T, Device>>;
    std::vector<std::int64_t> lengths;
    std::vector<T const*> data;
    std::vector<Tensor<T, Device>> kept;  // tensors that the range makes as it goes
    shape_type shape{0};
    Device exec{};
    for (Tensor<T, Device> const& s : sequences) {
        std::string name = "sequences[";
        name.append(std::to_string(lengths.size())).append("]");
        detail::check_rows(name.c_str(), s);
        if (lengths.empty()) {
            shape = s.shape();
            exec = s.device();
        }
        detail::check_trailing(name.c_str(), s, shape);
        lengths.push_back(static_cast<std::int64_t>(s.shape()[0]));
        data.push_back(s.data());
        if constexpr (!stay) kept.push_back(s.share());
    }
    auto lod = Lod::from_lengths({lengths});
    shape[0] = static_cast<std::size_t>(lod.rows());
    auto value = detail::new_tensor<T>(exec, shape);
    std::size_t const width = value.row_size();
    detail::copy_blocks(
        exec, lod[0], width * sizeof(T), [&](std::size_t i) { return data[i]; },
        detail::blocks_at(value.data(), lod[0], width));
    return {std::move(value), std::move(lod)};
}

template <class T, class Device>
auto LoDTensor<T, Device>::from_nested(std::initializer_list<std::vector<T>> lists) -> LoDTensor {
    return from_nested(std::span(lists.begin(), lists.size()));
}

template <class T, class Device>
template <std::ranges::forward_range R>
auto LoDTensor<T, Device>::from_nested(R const& lists) -> LoDTensor {
    static_assert(std::ranges::range<std::ranges::range_value_t<R>>,
                  "rowan::LoDTensor::from_nested: takes lists of lists");
    std::vector<std::vector<std::int64_t>> lengths(detail::list_levels<R>);
    std::vector<T> flat;
    flatten(lists, lengths.data(), flat);
    auto value = Tensor<T>::from_shape({flat.size()});
    std::copy(flat.begin(), flat.end(), value.data());
    return {to_device(Device{}, std::move(value)), Lod::from_lengths(lengths)};
}

template <class T, class Device>
void LoDTensor<T, Device>::set_lod(Lod lod) {
    LoDTensor(value_.share(), lod);
    lod_ = std::move(lod);
}

template <class T, class Device>
auto LoDTensor<T, Device>::share() const -> LoDTensor {
    LoDTensor alias(value_.share());
    alias.lod_ = lod_;
    return alias;
}

template <class T, class Device>
std::size_t LoDTensor<T, Device>::size() const {
    if (!lod_.empty()) return lod_.sequences(0);
    detail::check_rows("value", value_);
    return value_.shape()[0];
}

template <class T, class Device>
void LoDTensor<T, Device>::check() const {
    if (lod_.empty()) return;
    detail::check_rows("value", value_);
    lod_.check_rows(value_.shape()[0]);
}

template <class T, class Device>
template <class R>
void LoDTensor<T, Device>::flatten(R const& lists, std::vector<std::int64_t>* lengths, std::vector<T>& flat) {
    for (auto const& list : lists) {
        lengths->push_back(static_cast<std::int64_t>(std::ranges::distance(list)));
        if constexpr (detail::list_levels < R >> 1) {
            flatten(list, lengths + 1, flat);
        } else {
            for (T x : list) flat.push_back(x);
        }
    }
}

ROWAN_TEMPLATE(class LoDTensor<float>)
ROWAN_TEMPLATE(class LoDTensor<double>)
ROWAN_TEMPLATE(class LoDTensor<std::int32_t>)
ROWAN_TEMPLATE(class LoDTensor<std::int64_t>)
ROWAN_TEMPLATE(class LoDTensor<bool>)

}  // namespace rowan::inline v0

// rowan/graph/value.hpp: Value, what a variable holds at run time.

namespace rowan::inline v0 {

/// A type-erased holder of a LoDTensor, a SelectedRows, a TensorArray or any other movable object; may be empty.
class Value {
public:
    Value() = default;  ///< empty

    bool empty() const noexcept { return holder_ == nullptr; }

    /// Whether it holds a V.
    template <class V>
    bool is() const noexcept {
        return !empty() && holder_->type == &detail::type_tag<V>;
    }

    /// The held V.
    /// errors   TypeError if it does not hold a V
    /// cost     O(1)
    template <class V>
    V& get() {
        return holder<V>().value;
    }
    template <class V>
    V const& get() const {
        return holder<V>().value;
    }

    /// Replaces the held object by `value`, which is moved from.
    /// errors   std::bad_alloc; those of moving a V
    /// cost     no allocation if it already holds a V
    template <class V>
    requires(!std::is_reference_v<V>) void set(V&& value);

    /// An alias: a Value that refers to the same elements; empty if this is empty.
    /// errors   TypeError if the held type has no share()
    /// cost     that of its share(): O(1) for a LoDTensor, O(slots) for a TensorArray
    Value share() const {
        if (empty()) return {};
        Value alias;
        alias.holder_ = holder_->share();
        return alias;
    }

    /// A deep copy of a LoDTensor; empty if this is empty.
    /// errors   TypeError for any other type
    /// cost     one read and one write of the elements
    Value copy() const {
        if (empty()) return {};
        Value copy;
        copy.holder_ = holder_->copy();
        return copy;
    }

    /// The slot-wise sum of two TensorArrays. A slot that only one of them has is an alias.
    /// errors   TypeError for any other type; ShapeError if slots differ in shape
    /// cost     one copy and one addition for each slot that both have, O(1) for the others
    Value add_slots(Value const& other) const { return held().add_slots(other); }

    // The members below need a LoDTensor, of any element type, and throw a TypeError for anything else. The parts of a
    // LoDTensor are the sequences of its first level, or its rows if it has no levels.

    std::size_t rows() const { return held().rows(); }  ///< the first dim of the tensor
    Lod const& lod() const { return held().lod(); }     ///< the levels; empty if the rows form no sequences
    /// The number of parts.
    /// errors   TypeError if it is not a LoDTensor; ShapeError if it has rank 0 and no levels
    /// cost     O(1)
    std::size_t count() const { return lod().empty() ? rows() : lod().sequences(0); }
    /// An alias with other levels.
    /// errors   TypeError if it is not a LoDTensor; LodError if the last level does not end with its number of rows;
    ///          ShapeError if it has rank 0 and `lod` is not empty
    /// cost     O(1)
    Value with_lod(Lod lod) const { return held().with_lod(std::move(lod)); }
    /// An alias of parts [begin, end).
    /// errors   TypeError if it is not a LoDTensor; IndexError unless begin <= end <= count()
    /// cost     O(1), and a copy of the levels if there are any
    Value slice(std::size_t begin, std::size_t end) const { return held().slice(begin, end); }
    /// Part i of the result is a copy of part from[i].
    /// requires   from[i] in [0, count()), which is not checked
    /// errors   TypeError if it is not a LoDTensor
    /// cost     one read and one write of every row of the result
    Value gather(AnyExec exec, std::span<std::int64_t const> from) const { return held().gather(exec, from); }
    /// The parts of all values, concatenated.
    /// errors   ShapeError if there are no values, or their trailing dims or numbers of levels are incompatible
    /// cost     one read and one write of every row
    static Value concat(AnyExec exec, std::span<Value* const> values) {
        if (values.empty()) throw ShapeError("values", "0", "at least 1");
        return values[0]->held().concat(exec, values);
    }
    /// Part i of values[k] becomes part to[k][i] of the result.
    /// requires   `to` contains the index of every part of the result exactly once, which is not checked
    /// errors   ShapeError if there are no values, or their trailing dims or numbers of levels are incompatible
    /// cost     one read and one write of every row; two of each with levels
    static Value scatter(AnyExec exec, std::span<Value* const> values,
                         std::span<std::span<std::int64_t const> const> to) {
        if (values.empty()) throw ShapeError("values", "0", "at least 1");
        return values[0]->held().scatter(exec, values, to);
    }

    /// The element type, dims and bytes of a LoDTensor.
    struct Elements {
        std::int32_t dtype;              ///< dtype<T>::wire
        std::string_view type;           ///< dtype<T>::name
        std::size_t element_size;        ///< in bytes
        std::vector<std::int64_t> dims;  ///< of the tensor
        std::span<std::byte> bytes;      ///< all elements, writable; empty for a value in device memory
    };
    /// Describes the elements of a LoDTensor.
    /// errors   TypeError for any other type
    /// cost     O(1)
    Elements elements() { return held().elements(); }

    /// The value in host memory: an alias if it is already there, else a copy.
    /// errors   TypeError if it is not a LoDTensor
    /// cost     O(1) on the host, else one blocking copy
    Value on_host() const { return held().on_host(); }
    /// Calls f to write the bytes of all elements, in host or device memory. The bytes passed to it may be
    /// uninitialized.
    /// errors   TypeError if it is not a LoDTensor; those of f
    /// cost     that of f; on a device also a host buffer and one copy
    void write(std::function<void(std::span<std::byte>)> const& f) { held().write(f); }

    /// Destroys the held object and frees its memory.
    void clear() noexcept { holder_.reset(); }

    /// The held type as text: "LoDTensor<f32>", or "nothing" if empty.
    std::string kind() const { return empty() ? std::string("nothing") : holder_->name(); }

private:
    template <class V>
    static Value of(V&& value) {
        Value v;
        v.set(std::move(value));
        return v;
    }

    struct Base {
        explicit Base(char const* identity) : type(identity) {}
        virtual ~Base() = default;
        // Allocates like tensors: from the thread's MemoryPool if there is one.
        static void* operator new(std::size_t bytes) { return Allocator<std::byte>().allocate(bytes); }
        static void operator delete(void* block, std::size_t bytes) noexcept {
            Allocator<std::byte>().deallocate(static_cast<std::byte*>(block), bytes);
        }
        virtual std::unique_ptr<Base> share() const = 0;
        virtual std::unique_ptr<Base> copy() const { no_rows(); }
        virtual std::string name() const = 0;
        virtual Value add_slots(Value const&) const { throw TypeError("the value", name(), "a TensorArray"); }
        virtual std::size_t rows() const { no_rows(); }
        virtual Lod const& lod() const { no_rows(); }
        virtual Value with_lod(Lod) const { no_rows(); }
        virtual Value slice(std::size_t, std::size_t) const { no_rows(); }
        virtual Value gather(AnyExec, std::span<std::int64_t const>) const { no_rows(); }
        virtual Value concat(AnyExec, std::span<Value* const>) const { no_rows(); }
        virtual Value scatter(AnyExec, std::span<Value* const>, std::span<std::span<std::int64_t const> const>) const {
            no_rows();
        }
        virtual Elements elements() const { no_rows(); }
        virtual Value on_host() const { no_rows(); }
        virtual void write(std::function<void(std::span<std::byte>)> const&) { no_rows(); }
        [[noreturn]] void no_rows() const { throw TypeError("the value", name(), "a LoDTensor"); }
        char const* type;
    };

    template <class V>
    static std::unique_ptr<Base> share_of(V const& value) {
        if constexpr (requires { V(value.share()); }) {
            return std::make_unique<Holder<V>>(value.share());
        } else {
            throw TypeError("the value", detail::kind_name<V>::text(), "one that can be shared");
        }
    }

    template <class V>
    struct Holder final : Base {
        explicit Holder(V&& v) : Base(&detail::type_tag<V>), value(std::move(v)) {}
        std::unique_ptr<Base> share() const override { return share_of(value); }
        std::string name() const override { return detail::kind_name<V>::text(); }
        Value add_slots(Value const& other) const override;
        V value;
    };

    template <class T, class D>
    struct Holder<LoDTensor<T, D>> final : Base {
        using V = LoDTensor<T, D>;
        explicit Holder(V&& v) : Base(&detail::type_tag<V>), value(std::move(v)) {}
        std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
        std::unique_ptr<Base> copy() const override { return std::make_unique<Holder>(V(value)); }
        std::string name() const override { return detail::kind_name<V>::text(); }

        std::size_t rows() const override;
        Lod const& lod() const override { return value.lod(); }
        Elements elements() const override;
        Value on_host() const override;
        void write(std::function<void(std::span<std::byte>)> const& f) override;

        Value with_lod(Lod lod) const override { return of(V(value.value().share(), std::move(lod))); }
        Value slice(std::size_t begin, std::size_t end) const override;
        Value gather(AnyExec exec, std::span<std::int64_t const> from) const override;
        Value concat(AnyExec exec, std::span<Value* const> values) const override;
        Value scatter(AnyExec exec, std::span<Value* const> values,
                      std::span<std::span<std::int64_t const> const> to) const override;

        static auto tensors(std::span<Value* const> values) {
            return [values](std::size_t k) -> Tensor<T, D> const& { return values[k]->template get<V>().value(); };
        }

        V value;
    };

    template <class V>
    Holder<V>& holder() const {
        if (!is<V>()) throw TypeError("the value", kind(), detail::kind_name<V>::text());
        return static_cast<Holder<V>&>(*holder_);
    }

    Base& held() const {
        if (empty()) throw TypeError("the value", kind(), "a tensor");
        return *holder_;
    }

    std::unique_ptr<Base> holder_;
};

}  // namespace rowan::inline v0

// rowan/graph/detail/joined_rows.hpp: gathering, concatenating and scattering rows of tensors, on any device.

namespace rowan::inline v0::detail {

/// Row i of the result is row from[i] of x.
template <class T, class D>
Tensor<T, D> picked_rows(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> from) {
    auto shape = x.shape();
    shape[0] = from.size();
    auto out = new_tensor<T>(exec, shape);
    OnDevice<std::int64_t, D> const index(exec, from);
    take_rows(exec, from.size(), x.row_size(), x.data(), index.data(), out.data());
    return out;
}

/// An uninitialized tensor for the rows of the n >= 1 tensors at(k), k in [0, n).
/// errors   ShapeError if a tensor has rank 0, or trailing dims differ
template <class T, class D, class At>
Tensor<T, D> room_for_rows(D const& exec, std::size_t n, At const& at) {
    auto shape = at(0).shape();
    shape[0] = 0;
    for (std::size_t k = 0; k < n; ++k) {
        Tensor<T, D> const& x = at(k);
        check_rows("value", x);
        check_trailing("value", x, at(0).shape());
        shape[0] += x.shape()[0];
    }
    return new_tensor<T>(exec, shape);
}

/// The rows of the n tensors at(k), concatenated.
template <class T, class D, class At>
Tensor<T, D> joined_rows(D const& exec, std::size_t n, At const& at) {
    auto all = room_for_rows<T>(exec, n, at);
    Buffer<std::int64_t> starts(n + 1);
    starts[0] = 0;
    for (std::size_t k = 0; k < n; ++k) starts[k + 1] = starts[k] + height_of(at(k));
    std::span<std::int64_t const> const places(starts.data(), starts.size());
    std::size_t const width = all.row_size();
    copy_blocks(
        exec, places, width * sizeof(T), [&](std::size_t k) { return at(k).data(); },
        blocks_at(all.data(), places, width));
    return all;
}

/// Row i of at(k) becomes row to[k][i] of the result; `to` must contain every row of the result.
/// errors   ShapeError if the number of rows of at(k) differs from the size of to[k]
template <class T, class D, class At>
Tensor<T, D> scattered_rows(D const& exec, std::size_t n, At const& at,
                            std::span<std::span<std::int64_t const> const> to) {
    auto all = room_for_rows<T>(exec, n, at);
    for (std::size_t k = 0; k < n; ++k) {
        check_height("value", at(k), static_cast<std::int64_t>(to[k].size()));
        OnDevice<std::int64_t, D> const index(exec, to[k]);
        put_rows(exec, to[k].size(), all.row_size(), at(k).data(), index.data(), all.data());
    }
    return all;
}

}  // namespace rowan::inline v0::detail

// rowan/sequence/sub_lod.hpp: sub_lod and slice_sequences, a range of the sequences of a batch.

namespace rowan::inline v0 {

/// A range of the sequences of a Lod: their own Lod, whose offsets begin with 0, and their rows.
struct SubLod {
    Lod lod;                     ///< of these sequences only
    std::int64_t row_begin = 0;  ///< the first row
    std::int64_t row_end = 0;    ///< one past the last row
};

/// Sequences [begin, end) of a level with all levels below it; the levels above are dropped. The range may be empty.
/// errors   IndexError if level is not in [0, lod.levels()), or unless begin <= end <= lod.sequences(level)
/// cost     O(offsets of the result)
SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end);

/// Sequences [begin, end) of a level as a batch that aliases the rows of x.
/// shapes   x [rows, ...] with levels -> [row_end - row_begin, ...] with the levels from `level` on
/// errors   as sub_lod
/// cost     as sub_lod; no rows are copied
template <class T, class Device>
LoDTensor<T, Device> slice_sequences(LoDTensor<T, Device> const& x, std::size_t level, std::size_t begin,
                                     std::size_t end) {
    x.check();
    auto part = sub_lod(x.lod(), level, begin, end);
    return {x.value().slice(static_cast<std::size_t>(part.row_begin), static_cast<std::size_t>(part.row_end)),
            std::move(part.lod)};
}

}  // namespace rowan::inline v0

// rowan/sequence/sub_lod_inl.hpp: definitions of rowan/sequence/sub_lod.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <vector>

namespace rowan::inline v0 {

ROWAN_FUNCTION SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end) {
    detail::check_range("sequences", begin, end, lod.sequences(level));
    std::vector<std::vector<std::int64_t>> levels;
    for (; level < lod.levels(); ++level) {
        auto const part = lod[level].subspan(begin, end - begin + 1);
        auto& offsets = levels.emplace_back(part.begin(), part.end());
        for (std::int64_t& offset : offsets) offset -= part.front();
        begin = static_cast<std::size_t>(part.front());
        end = static_cast<std::size_t>(part.back());
    }
    return {Lod(levels), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
}

}  // namespace rowan::inline v0

#endif

// rowan/sequence/batches.hpp: append_lengths, split_batch and merge_batches, to extend, split and concatenate batches.

namespace rowan::inline v0 {

/// Appends sequences, given by their lengths, to each level. If lod has no levels, the result has only the new ones.
/// errors   ShapeError if the number of levels differs or a list of lengths is a tensor whose rank is not 1; LodError
///          as in Lod::from_lengths
/// cost     O(offsets of the result)
template <detail::id_lists R>
Lod append_lengths(Lod const& lod, R const& more) {
    if (lod.empty()) return Lod::from_lengths(more);
    std::size_t const levels = std::ranges::size(more);
    if (levels != lod.levels())
        throw ShapeError("lengths", std::to_string(levels) + " levels", std::to_string(lod.levels()) + " levels");
    std::vector<std::vector<std::int64_t>> lengths;
    for (auto const& level : more) {
        Ids<> const list(level);
        std::string name = "lengths[";
        detail::check_list(name.append(std::to_string(lengths.size())).append("]"), list);
        auto& all = lengths.emplace_back(lod.lengths(lengths.size()));
        for (std::size_t i = 0; i < list.size(); ++i) all.push_back(list[i]);
    }
    return Lod::from_lengths(lengths);
}
inline Lod append_lengths(Lod const& lod, std::initializer_list<Ids<>> more) {
    return append_lengths(lod, std::span(more.begin(), more.size()));
}

namespace detail {

/// An alias of first-level sequences [begin, end), or of rows [begin, end) if x has no levels.
template <class T, class D>
LoDTensor<T, D> part_of(LoDTensor<T, D> const& x, std::size_t begin, std::size_t end) {
    return x.lod().empty() ? LoDTensor<T, D>(x.value().slice(begin, end)) : slice_sequences(x, 0, begin, end);
}

}  // namespace detail

/// Splits x into min(count, x.size()) batches with equal numbers of first-level sequences (of rows if x has no levels);
/// the last batch also takes the remainder. The batches alias the rows of x.
/// shapes   x of m sequences, or rows -> min(count, m) batches
/// errors   ShapeError if count is less than 1
/// cost     O(offsets of x), no rows copied
template <class T, class Device, std::integral N>  // so that a braced list selects the overload with sizes
std::vector<LoDTensor<T, Device>> split_batch(LoDTensor<T, Device> const& x, N count) {
    x.check();
    if (std::cmp_less(count, 1)) throw ShapeError("parts", std::to_string(count), "at least 1");
    std::size_t const size = x.size();
    auto const parts = std::cmp_less(count, size) ? static_cast<std::size_t>(count) : size;
    std::vector<LoDTensor<T, Device>> batches;
    batches.reserve(parts);
    for (std::size_t k = 0; k < parts; ++k) {
        std::size_t const begin = size / parts * k;
        std::size_t const end = k + 1 == parts ? size : begin + size / parts;
        batches.push_back(detail::part_of(x, begin, end));
    }
    return batches;
}

/// Splits x into batches of sizes[k] first-level sequences (rows if x has no levels), which alias the rows of x. This
/// is the adjoint of merge_batches if the sizes are those of the merged batches. Sizes in device memory are copied to
/// the host, which synchronizes.
/// shapes   sizes [parts] -> as many batches
/// errors   IndexError if a size is negative or exceeds what is left; ShapeError if sizes are not a flat list or do not
///          add up to x.size()
/// cost     O(offsets of x), no rows copied
template <class T, class Device>
std::vector<LoDTensor<T, Device>> split_batch(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> sizes) {
    x.check();
    detail::HostIds<Device> const on_host(x.value().device(), sizes);
    Ids<> const& counts = on_host;
    detail::check_list("sizes", counts);
    std::size_t const size = x.size();
    std::vector<LoDTensor<T, Device>> batches;
    batches.reserve(counts.size());
    std::size_t begin = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        auto const left = static_cast<std::int64_t>(size - begin);
        detail::check_at_most("sizes", counts, k, left);
        std::size_t const end = begin + static_cast<std::size_t>(counts[k]);
        batches.push_back(detail::part_of(x, begin, end));
        begin = end;
    }
    if (begin != size) throw ShapeError("the sum of sizes", std::to_string(begin), std::to_string(size) + ", x.size()");
    return batches;
}

/// Concatenates batches: the sequences of the first, then those of the second, and so on.
/// shapes   batches of n_i rows -> one of Σ n_i
/// errors   ShapeError if there are no batches, the numbers of levels or trailing dims differ, or there are more than
///          2^63 - 1 rows
/// cost     one read and one write of every row
template <class T, device D>
LoDTensor<T, D> merge_batches(D const& exec, std::span<LoDTensor<T, D> const> batches) {
    if (batches.empty()) throw ShapeError("batches", "none", "at least one");
    std::size_t const levels = batches[0].lod().levels();
    std::vector<std::vector<std::int64_t>> lengths(levels);
    std::vector<std::int64_t> rows{0};
    for (std::size_t k = 0; k < batches.size(); ++k) {
        std::string const name = "batches[" + std::to_string(k) + "]";
        batches[k].check();
        if (batches[k].lod().levels() != levels) {
            throw ShapeError(name + ".lod().levels()", std::to_string(batches[k].lod().levels()),
                             std::to_string(levels));
        }
        detail::check_rows(name.c_str(), batches[k].value());
        detail::check_trailing(name.c_str(), batches[k].value(), batches[0].shape());
        for (std::size_t l = 0; l < levels; ++l) {
            auto const more = batches[k].lod().lengths(l);
            lengths[l].insert(lengths[l].end(), more.begin(), more.end());
        }
        rows.push_back(
            detail::checked_add("rows of the batches", rows.back(), static_cast<std::int64_t>(batches[k].shape()[0])));
    }
    auto shape = batches[0].shape();
    shape[0] = static_cast<std::size_t>(rows.back());
    auto value = detail::new_tensor<T>(exec, shape);
    std::size_t const width = value.row_size();
    detail::copy_blocks(
        exec, rows, width * sizeof(T), [&](std::size_t k) { return batches[k].value().data(); },
        detail::blocks_at(value.data(), rows, width));
    return {std::move(value), Lod::from_lengths(lengths)};
}

template <class T, class Device>
LoDTensor<T, Device> merge_batches(std::span<LoDTensor<T, Device> const> batches) {
    return merge_batches(detail::device_of_first<LoDTensor<T, Device>>(batches), batches);
}
template <class T, class Device>
LoDTensor<T, Device> merge_batches(std::vector<LoDTensor<T, Device>> const& batches) {
    return merge_batches(std::span<LoDTensor<T, Device> const>(batches));
}
template <class T, device D>
LoDTensor<T, D> merge_batches(D const& exec, std::vector<LoDTensor<T, D>> const& batches) {
    return merge_batches(exec, std::span<LoDTensor<T, D> const>(batches));
}

}  // namespace rowan::inline v0

// rowan/sequence/detail/pick_sequences.hpp: pick_sequences, which gathers rows or whole sequences of a batch.

namespace rowan::inline v0::detail {

/// Result j, for j in [0, count), is row pick(j) of x or, if x has levels, its first-level sequence pick(j) with all
/// lower levels and rows.
template <class T, class D, class Pick>
LoDTensor<T, D> pick_sequences(D const& exec, LoDTensor<T, D> const& x, std::size_t count, Pick const& pick) {
    Lod const& lod = x.lod();
    std::vector<std::vector<std::int64_t>> lengths(lod.levels());
    std::vector<std::int64_t> from(count);  // the first row of result j in x
    std::vector<std::int64_t> starts{0};    // and in the result
    starts.reserve(count + 1);
    for (std::size_t j = 0; j < count; ++j) {
        auto begin = static_cast<std::int64_t>(pick(j));
        std::int64_t end = begin + 1;
        for (std::size_t l = 0; l < lod.levels(); ++l) {
            auto const offsets = lod[l];
            for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q) {
                lengths[l].push_back(offsets[q + 1] - offsets[q]);
            }
            begin = offsets[static_cast<std::size_t>(begin)];
            end = offsets[static_cast<std::size_t>(end)];
        }
        from[j] = begin;
        starts.push_back(starts.back() + end - begin);
    }
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto value = new_tensor<T>(exec, shape);
    std::size_t const width = x.value().row_size();
    T const* const data = x.value().data();
    T* const to = value.data();
    if (lod.empty()) {
        take_rows(exec, count, width, data, OnDevice<std::int64_t, D>(exec, from).data(), to);
        return value;
    }
    copy_blocks(exec, starts, width * sizeof(T), blocks_at(data, from, width), blocks_at(to, starts, width));
    return {std::move(value), Lod::from_lengths(lengths)};
}

}  // namespace rowan::inline v0::detail

// rowan/graph/value_inl.hpp: definitions of rowan/graph/value.hpp.

namespace rowan::inline v0 {

template <class T, class D>
std::size_t Value::Holder<LoDTensor<T, D>>::rows() const {
    detail::check_rows("value", value.value());
    return value.value().shape(0);
}

template <class T, class D>
auto Value::Holder<LoDTensor<T, D>>::elements() const -> Elements {
    Tensor<T, D> alias = value.value().share();
    return {dtype<T>::wire,
            dtype<T>::name,
            sizeof(T),
            {alias.shape().begin(), alias.shape().end()},
            detail::host_bytes(alias)};
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::on_host() const {
    return of(LoDTensor<T>(to_host(value.value()), value.lod()));
}

template <class T, class D>
void Value::Holder<LoDTensor<T, D>>::write(std::function<void(std::span<std::byte>)> const& f) {
    if (auto const bytes = detail::host_bytes(value.value()); !bytes.empty()) return f(bytes);
    auto host = Tensor<T>::from_shape(value.shape());
    f(detail::host_bytes(host));
    value.value() = to_device(value.value().device(), std::move(host));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::slice(std::size_t begin, std::size_t end) const {
    return of(detail::part_of(value, begin, end));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::gather(AnyExec exec, std::span<std::int64_t const> from) const {
    if (!value.lod().empty())
        return of(detail::pick_sequences(exec.get<D>(), value, from.size(), [&](std::size_t i) { return from[i]; }));
    return of(V(detail::picked_rows(exec.get<D>(), value.value(), from)));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::concat(AnyExec exec, std::span<Value* const> values) const {
    if (!value.lod().empty()) {
        std::vector<V> batches;
        for (Value* const v : values) batches.push_back(v->template get<V>().share());
        return of(merge_batches(exec.get<D>(), batches));
    }
    return of(V(detail::joined_rows<T>(exec.get<D>(), values.size(), tensors(values))));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::scatter(AnyExec exec, std::span<Value* const> values,
                                              std::span<std::span<std::int64_t const> const> to) const {
    if (!value.lod().empty()) {
        Value const all = concat(exec, values);
        std::vector<std::int64_t> from(all.count());
        std::int64_t i = 0;
        for (auto const& targets : to) {
            for (std::int64_t const target : targets) from[static_cast<std::size_t>(target)] = i++;
        }
        return all.gather(exec, from);
    }
    return of(V(detail::scattered_rows<T>(exec.get<D>(), values.size(), tensors(values), to)));
}

template <class V>
requires(!std::is_reference_v<V>) void Value::set(V&& value) {
    if (holder_ == nullptr || holder_->type != &detail::type_tag<V>) {
        holder_ = std::make_unique<Holder<V>>(std::move(value));
    } else {
        static_cast<Holder<V>&>(*holder_).value = std::move(value);
    }
}

template <class V>
Value Value::Holder<V>::add_slots(Value const& other) const {
    if constexpr (requires(V & v) { v.accumulate(0, v.read(0)); }) {
        V const& summands = other.get<V>();
        V total = value.share();
        for (std::size_t i = 0; i < summands.size(); ++i) {
            if (!summands.written(i)) continue;
            if (!total.written(i)) {
                total.write(i, summands.read(i));
                continue;
            }
            auto const before = total.read(i);
            auto sum = before;  // a deep copy: aliases of the slot must not change
            total.write(i, sum);
            total.accumulate(i, summands.read(i));
        }
        return of(std::move(total));
    } else {
        return Base::add_slots(other);
    }
}

ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<float>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<double>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int32_t>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<std::int32_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int64_t>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<std::int64_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<bool>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<bool>&&))

}  // namespace rowan::inline v0

// rowan/graph/detail/device_values.hpp: device functions that nets need besides operators.

namespace rowan::inline v0::detail {

/// Runs f, which enqueues calls. If it throws, an error of an earlier call is thrown instead, if there is one.
template <class D, class F>
void in_order(D const& exec, F const& f) {
    try {
        f();
    } catch (...) {
        synchronize(exec);
        throw;
    }
}

/// The first element of a tensor, which must not be empty. Blocks if it is in device memory.
template <class T, class D>
T first_element(D const& exec, Tensor<T, D> const& x) {
    return to_host(exec, x).data()[0];
}

/// A copy made by a call on `exec`, whichever execution made x.
template <class T, class D>
Tensor<T, D> copy_made_by(D const& exec, Tensor<T, D> const& x) {
    if (!(x.device() == exec)) synchronize(x.device());
    return ElementLoops<D>::copy(exec, x);
}

/// Transfers a tensor to the device of a net that runs on `any`. A tensor that is already there is left as it is, or
/// replaced by a copy if `own`.
/// errors   TypeError if it is not a LoDTensor whose elements are of type T
template <class T, class D>
void bring(Value& value, AnyExec any, bool own) {
    D const exec = any.or_default<D>();
    if (value.is<LoDTensor<T, D>>()) {
        auto& there = value.get<LoDTensor<T, D>>();
        if (own) value.set(LoDTensor<T, D>(copy_made_by(exec, there.value()), there.lod()));
        return;
    }
    value = value.on_host();
    auto const& host = value.get<LoDTensor<T>>();
    value.set(LoDTensor<T, D>(to_device(exec, host.value().share()), host.lod()));
}

ROWAN_TEMPLATE(void bring<float, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<double, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<std::int32_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<std::int64_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<bool, Cpu>(Value&, AnyExec, bool))

}  // namespace rowan::inline v0::detail

// rowan/op/detail/joined_name.hpp: the names of two types concatenated at compile time.

namespace rowan::inline v0::detail {

/// Concatenates A::name and B::name: "fill_" and "f32" become "fill_f32".
template <class A, class B>
struct joined_name {
private:
    static constexpr auto text = [] {
        constexpr std::string_view a = A::name, b = B::name;
        std::array<char, a.size() + b.size()> text{};
        std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), text.begin()));
        return text;
    }();

public:
    static constexpr std::string_view value{text.data(), text.size()};
};

}  // namespace rowan::inline v0::detail

// rowan/op/slots.hpp: slots, the names of an operator's inputs and outputs.

namespace rowan::inline v0 {

/// A list of slots, which are tag types with a `name`. The input slots of an operator are in the order of run's
/// arguments.
template <class... Slot>
struct slots {
    static constexpr std::size_t size = sizeof...(Slot);
    static constexpr std::array<std::string_view, size> names{Slot::name...};  ///< in the order of the list

    /// Whether the slot is in the list.
    template <class S>
    static constexpr bool has = (std::is_same_v<S, Slot> || ...);

    /// The index of a slot in the list; size if it is not in the list.
    template <class S>
    static constexpr std::size_t index = [] {
        constexpr std::array<bool, size + 1> same{std::is_same_v<S, Slot>..., true};
        return static_cast<std::size_t>(std::find(same.begin(), same.end(), true) - same.begin());
    }();
};

namespace detail {

struct grad_suffix {
    static constexpr std::string_view name = "@GRAD";
};

}  // namespace detail

/// The gradient of a slot's value, named as in descriptors: `w@GRAD`.
template <class Slot>
struct grad_of {
    /// The name of the slot followed by `@GRAD`.
    static constexpr std::string_view name = detail::joined_name<Slot, detail::grad_suffix>::value;
};

/// The slots that many operators have. User-defined operators may use others: any type with a `name`.
namespace slot {

#define ROWAN_SLOT(slot)                                \
    struct slot {                                       \
        static constexpr std::string_view name = #slot; \
    };
ROWAN_SLOT(x)       // input
ROWAN_SLOT(y)       // second input
ROWAN_SLOT(w)       // weight or table
ROWAN_SLOT(b)       // bias
ROWAN_SLOT(out)     // result
ROWAN_SLOT(saved)   // values that the forward pass saves for the backward pass
ROWAN_SLOT(ids)     // row ids of a table
ROWAN_SLOT(weight)  // weight of each id
ROWAN_SLOT(label)   // target of a loss
ROWAN_SLOT(seed)    // random seed
ROWAN_SLOT(h_prev)  // state before a step
ROWAN_SLOT(c_prev)  // cell before a step
ROWAN_SLOT(h)       // state after a step
ROWAN_SLOT(c)       // cell after a step
ROWAN_SLOT(param)   // parameter of an optimizer; its gradient and states follow
ROWAN_SLOT(grad)
ROWAN_SLOT(moment)
ROWAN_SLOT(moment2)
ROWAN_SLOT(velocity)
ROWAN_SLOT(linear)
ROWAN_SLOT(array)   // TensorArray
ROWAN_SLOT(index)   // slot of an array
ROWAN_SLOT(state)   // states of a loop
ROWAN_SLOT(last)    // states after the last step
ROWAN_SLOT(scopes)  // values of all steps
#undef ROWAN_SLOT

}  // namespace slot

}  // namespace rowan::inline v0

// rowan/graph/detail/compiled_kernels.hpp: the operators and element types of the compiled library.

namespace rowan::inline v0 {

struct accuracy_op;
struct adagrad_op;
struct adam_op;
struct add_op;
struct any_op;
template <class To>
struct cast_op;
struct clip_by_global_norm_op;
struct clip_by_norm_op;
struct clip_op;
struct concat_op;
struct cross_entropy_op;
struct dropout_op;
struct elementwise_mul_op;
struct equal_op;
struct expand_rows_op;
struct fc_op;
struct full_like_op;
template <class T>
struct full_op;
struct ftrl_op;
struct gru_unit_op;
struct identity_op;
struct less_equal_op;
struct less_op;
struct logical_and_op;
struct logical_not_op;
struct logical_or_op;
struct embedding_bag_op;
struct lookup_table_op;
struct lstm_unit_op;
template <bool transpose_x, bool transpose_y>
struct matmul_op;
struct momentum_op;
struct mse_op;
struct negate_op;
struct relu_op;
struct rmsprop_op;
struct rowwise_adagrad_op;
struct scale_op;
struct sequence_expand_op;
struct sequence_pool_op;
struct sgd_op;
struct sigmoid_op;
struct softmax_op;
struct softmax_with_cross_entropy_op;
struct split_op;
struct sub_op;
struct sum_op;
struct sum_rows_op;
struct tanh_op;
struct weighted_embedding_bag_op;

namespace detail {

template <class... T>
struct type_list {};

template <class T, class List>
inline constexpr bool is_in = false;
template <class T, class... U>
inline constexpr bool is_in<T, type_list<U...>> = (std::is_same_v<T, U> || ...);

/// Operators compiled for float and double; ids, labels and seeds are int64 or int32.
using compiled_ops =
    type_list<accuracy_op, adagrad_op, adam_op, add_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>,
              clip_by_global_norm_op, clip_by_norm_op, clip_op, concat_op, cross_entropy_op, dropout_op,
              elementwise_mul_op, equal_op, expand_rows_op, fc_op, full_like_op, ftrl_op, gru_unit_op, identity_op,
              less_equal_op, less_op, embedding_bag_op, lookup_table_op, lstm_unit_op, matmul_op<false, false>,
              matmul_op<false, true>, matmul_op<true, false>, momentum_op, mse_op, negate_op, relu_op, rmsprop_op,
              rowwise_adagrad_op, scale_op, sequence_expand_op, sequence_pool_op, sgd_op, sigmoid_op, softmax_op,
              softmax_with_cross_entropy_op, split_op, sub_op, sum_op, sum_rows_op, tanh_op, weighted_embedding_bag_op>;
/// Operators compiled for int64 and int32, such as for loop counters.
using compiled_integer_ops =
    type_list<add_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>, concat_op, elementwise_mul_op, equal_op,
              full_like_op, identity_op, less_equal_op, less_op, negate_op, scale_op, split_op, sub_op, sum_op>;
/// Operators compiled for bool.
using compiled_truth_ops = type_list<any_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>, equal_op,
                                     logical_and_op, logical_not_op, logical_or_op>;
/// Operators without inputs.
using compiled_sources = type_list<full_op<double>, full_op<float>, full_op<std::int64_t>>;

/// Whether the slot holds integers: ids, labels or seeds.
template <class Slot>
inline constexpr bool is_index_slot =
    std::is_same_v<Slot, slot::ids> || std::is_same_v<Slot, slot::label> || std::is_same_v<Slot, slot::seed>;

/// The element types of an operator's inputs, in the order of its slots: I for index slots, E for the others.
template <class Slots, class E, class I>
struct input_types;
template <class... Slot, class E, class I>
struct input_types<slots<Slot...>, E, I> {
    using type = type_list<std::conditional_t<std::is_same_v<Slot, slot::seed>, std::int64_t,
                                              std::conditional_t<is_index_slot<Slot>, I, E>>...>;
};

/// Whether all inputs may have the same element type: there is no index slot, or labels may be probabilities.
template <class Op, class Slots = typename Op::inputs>
inline constexpr bool has_one_type = true;
template <class Op, class... Slot>
inline constexpr bool has_one_type<Op, slots<Slot...>> =
    !(is_index_slot<Slot> || ...) || std::is_same_v<Op, cross_entropy_op>;

/// Whether T... are the types of the operator's inputs with elements of E. A variadic operator has one type for all.
template <class Op, class E, class... T>
inline constexpr bool has_elements_of =
    (std::is_same_v<type_list<T...>, type_list<E>> && has_one_type<Op>) ||
    (std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, E>::type> && has_one_type<Op>) ||
    std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, std::int64_t>::type> ||
    std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, std::int32_t>::type>;

/// Whether the compiled library contains kernel_of<Op, Cpu, T...>.
template <class Op, class... T>
inline constexpr bool has_compiled_kernel = [] {
    if constexpr (sizeof...(T) == 0) {
        return is_in<Op, compiled_sources>;
    } else if constexpr (is_in<Op, compiled_ops> &&
                         (has_elements_of<Op, float, T...> || has_elements_of<Op, double, T...>)) {
        return true;
    } else if constexpr (is_in<Op, compiled_integer_ops> &&
                         (has_elements_of<Op, std::int64_t, T...> || has_elements_of<Op, std::int32_t, T...>)) {
        return true;
    } else if constexpr (is_in<Op, compiled_truth_ops>) {
        return has_elements_of<Op, bool, T...>;
    } else {
        return false;
    }
}();

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/op/registry.hpp: registry, a compile-time list of operators, and the types of gradient rules.

#include <numeric>

namespace rowan::inline v0 {

/// An operator is a tag type: its `name` is a value, its slots are types, and its kernels are the overloads of `run`.
///
///     struct clip_op {
///         static constexpr std::string_view name = "clip";
///         using inputs = slots<slot::x>;                     // in the order of run's arguments after the device
///         using outputs = slots<slot::out>;                  // in the order of run's result, a value or a tuple
///         struct attributes { double limit = 1; };           // optional: the last argument of run
///         static constexpr VarSpec infer(VarSpec const& x, attributes const&);   // an array for several outputs
///         template <class T, class D> static Tensor<T, D> run(D exec, Tensor<T, D> const& x, attributes const&);
///         using grad = grad_rule<clip_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
///     };
template <class Op>
concept operation = requires {
    { Op::name } -> std::convertible_to<std::string_view>;
    typename Op::inputs;
    typename Op::outputs;
    typename Op::grad;
};

/// The bit mask of the inputs whose row i determines row i of the result: the operator's
/// `static constexpr unsigned row_inputs`, or 0 if it has none. Other inputs are used as a whole (weights). If the
/// operator also has `sums_rows`, its results are sums over these rows instead (gradients of weights). A recurrent net
/// runs such an operator once for all steps.
template <class Op>
inline constexpr unsigned row_inputs_of = [] {
    if constexpr (requires { Op::row_inputs; }) {
        return Op::row_inputs;
    } else {
        return 0u;
    }
}();
/// Whether the results are sums over the rows of the inputs in row_inputs.
template <class Op>
inline constexpr bool sums_rows_of = [] {
    if constexpr (requires { Op::sums_rows; }) {
        return Op::sums_rows;
    } else {
        return false;
    }
}();

/// Whether an operator without `row_inputs` still treats rows independently, as for another axis or whole sequences:
/// its `row_wise`, a bool or a function of its attributes, or false if it has none. If the step of a recurrent net has
/// an operator with neither `row_inputs` nor `row_wise`, the net does not split its batches into parts.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes>
bool row_wise_of(Attributes const& attributes) {
    static_cast<void>(attributes);
    if constexpr (requires { Op::row_wise(attributes); }) {
        return Op::row_wise(attributes);
    } else if constexpr (requires { Op::row_wise; }) {
        return Op::row_wise;
    } else {
        return false;
    }
}

/// Whether `Op` has a kernel for a device and arguments of these types.
template <class Op, class... Args>
concept runnable = requires(Args... args) {
    Op::run(static_cast<Args>(args)...);
};

/// The `grad` of an operator without a gradient: its inputs get no gradient.
struct no_grad {};

/// The slots that a gradient operator reads: slots of the forward operator, gradients of its outputs, and results of
/// earlier rules.
template <class... Slot>
using uses = slots<Slot...>;

/// The slots that a gradient operator writes, in the order of its outputs: gradients of the forward operator's inputs,
/// and other slots for later rules to read.
template <class... Slot>
using makes = slots<Slot...>;

/// One operator of the backward pass. Uses and Makes default to the operator's own slots.
template <class Op, class Uses = typename Op::inputs, class Makes = typename Op::outputs>
struct grad_rule {
    using op = Op;         ///< the operator
    using reads = Uses;    ///< the slots that it reads
    using writes = Makes;  ///< the slots that it writes
};

/// Several rules, run in order. A net leaves out the rules whose results it does not need.
template <class... Rule>
struct grad_rules {};

namespace detail {

template <class Grad>
struct as_rules {
    using type = grad_rules<Grad>;
};
template <>
struct as_rules<no_grad> {
    using type = grad_rules<>;
};
template <class... Rule>
struct as_rules<grad_rules<Rule...>> {
    using type = grad_rules<Rule...>;
};

template <std::size_t n>
constexpr bool distinct(std::array<std::string_view, n> names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

// Not constexpr, so a compile error names it.
[[noreturn]] inline void there_is_no_operator_of_that_name(std::string_view name, std::size_t size) {
    throw GraphError(std::string("there is no operator \"")
                         .append(name)
                         .append("\" among the ")
                         .append(std::to_string(size))
                         .append(" of this registry"));
}

}  // namespace detail

/// The gradient rules of an operator; none for no_grad.
template <class Op>
using grad_rules_of = typename detail::as_rules<typename Op::grad>::type;

/// An operator that has a gradient.
template <class Op>
concept differentiable = operation<Op> && !std::same_as<typename Op::grad, no_grad>;

/// A list of operators, accessed by type at compile time and by name at run time. It has no state: a program contains
/// only the kernels that it calls; `dispatch` instantiates all of them. `with` extends a list:
/// `builtin_ops::with<my_clip>`.
template <class... Op>
struct registry {
    static constexpr std::size_t size = sizeof...(Op);
    /// The names of the operators, in the order of the list.
    static constexpr std::array<std::string_view, size> names{Op::name...};
    static_assert(detail::distinct(names), "rowan::registry: two operators share a name: rename one of them");

    /// Whether `O` is in the list.
    template <class O>
    static constexpr bool has = (std::is_same_v<O, Op> || ...);

    /// The list with operators appended.
    template <class... More>
    using with = registry<Op..., More...>;

    /// Calls visit(O{}) for the operator O with that name and returns its result, whose type must be the same for all
    /// operators.
    /// errors   GraphError if no operator has that name
    /// cost     a binary search of a table made at compile time
    template <class Visit>
    static constexpr decltype(auto) dispatch(std::string_view name, Visit&& visit) {
        static_assert(size > 0, "rowan::registry: dispatch needs at least one operator");
        using first = std::tuple_element_t<0, std::tuple<Op...>>;
        using result = std::invoke_result_t<Visit&, first>;
        constexpr std::array<result (*)(Visit&), size> call{[](Visit& v) -> result { return v(Op{}); }...};
        return call[position(name)](visit);
    }

private:
    static constexpr std::array<std::size_t, size> by_name = [] {
        std::array<std::size_t, size> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        return order;
    }();

    static constexpr std::size_t position(std::string_view name) {
        auto const found = std::lower_bound(by_name.begin(), by_name.end(), name,
                                            [](std::size_t i, std::string_view n) { return names[i] < n; });
        if (found == by_name.end() || names[*found] != name) detail::there_is_no_operator_of_that_name(name, size);
        return *found;
    }
};

}  // namespace rowan::inline v0

// rowan/op/gradients.hpp: gradients, the backward pass of one operator, with types known at compile time.

namespace rowan::inline v0 {

/// The attributes of an operator that has none.
struct no_attributes {
    friend constexpr bool operator==(no_attributes const&, no_attributes const&) = default;
};

namespace detail {

template <class Op>
struct attributes_type {
    using type = no_attributes;
};
template <class Op>
requires requires { typename Op::attributes; }
struct attributes_type<Op> {
    using type = typename Op::attributes;
};

/// The value of a slot.
template <class Slot, class V>
struct SlotValue {
    V value;
};

template <class... Entry>
struct SlotValues : Entry... {};
template <class... Entry>
SlotValues(Entry...) -> SlotValues<Entry...>;

template <class Slot, class V>
V const& value_of(SlotValue<Slot, V> const& entry) {
    return entry.value;
}

template <class Slot, class V>
std::true_type has_value(SlotValue<Slot, V> const&);
template <class Slot>
std::false_type has_value(...);

/// A kernel's result as a tuple.
template <class V>
std::tuple<V> as_tuple(V value) {
    return std::tuple<V>(std::move(value));
}
template <class... V>
std::tuple<V...> as_tuple(std::tuple<V...> values) {
    return values;
}

/// Calls Op::run, with the attributes if it takes them.
template <class Op, class Device, class Attributes, class... In>
auto run_op(Device exec, Attributes const& attributes, In const&... in) {
    if constexpr (requires { Op::run(exec, in..., attributes); }) {
        return as_tuple(Op::run(exec, in..., attributes));
    } else {
        return as_tuple(Op::run(exec, in...));
    }
}

template <class Device, class Attributes, class Values>
auto run_rules(Device, Attributes const&, Values const& values, grad_rules<>) {
    return values;
}
template <class Device, class Attributes, class... Entry, class Rule, class... Rest>
auto run_rules(Device exec, Attributes const& attributes, SlotValues<Entry...> const& values,
               grad_rules<Rule, Rest...>) {
    auto made = [&]<class... In>(slots<In...>) {
        return run_op<typename Rule::op>(exec, attributes, value_of<In>(values)...);
    }(typename Rule::reads{});
    auto const all = [&]<class... Out, std::size_t... i>(slots<Out...>, std::index_sequence<i...>) {
        return SlotValues<Entry..., SlotValue<Out, std::tuple_element_t<i, decltype(made)>>...>{
            static_cast<Entry const&>(values)..., {std::get<i>(std::move(made))}...};
    }(typename Rule::writes{}, std::make_index_sequence<Rule::writes::size>{});
    return run_rules(exec, attributes, all, grad_rules<Rest...>{});
}

}  // namespace detail

/// The type of the operator's attributes, the last argument of its `run`; no_attributes if it has none.
template <class Op>
using attributes_of = typename detail::attributes_type<Op>::type;

/// Stands for the gradient of an input that has none.
struct no_value {};

/// The gradients of an operator's inputs as a tuple; no_value for an input without a gradient, such as ids.
///
///     auto [x_grad, w_grad, b_grad] = gradients<fc_op>(Cpu{}, std::tie(x, w, b), std::tie(out), std::tie(out_grad));
///
/// `inputs`, `outputs` and `out_grads` are in the order of the operator's slots. Gradients of outputs that no rule
/// reads are ignored.
/// shapes   each gradient has the shape of its input
/// errors   those of the operators in the rules
/// cost     that of the operators in the rules, all of which run
template <differentiable Op, class Device, class... In, class... Out, class... OutGrad>
auto gradients(Device exec, std::tuple<In...> const& inputs, std::tuple<Out...> const& outputs,
               std::tuple<OutGrad...> const& out_grads, attributes_of<Op> const& attributes = {}) {
    static_assert(sizeof...(In) == Op::inputs::size && sizeof...(Out) == Op::outputs::size &&
                      sizeof...(OutGrad) == Op::outputs::size,
                  "rowan::gradients: as many values as the operator has slots");
    auto const known = [&]<class... I, class... O>(slots<I...>, slots<O...>) {
        return [&]<std::size_t... i, std::size_t... o>(std::index_sequence<i...>, std::index_sequence<o...>) {
            return detail::SlotValues<detail::SlotValue<I, std::remove_cvref_t<In> const&>...,
                                      detail::SlotValue<O, std::remove_cvref_t<Out> const&>...,
                                      detail::SlotValue<grad_of<O>, std::remove_cvref_t<OutGrad> const&>...>{
                {std::get<i>(inputs)}..., {std::get<o>(outputs)}..., {std::get<o>(out_grads)}...};
        }
        (std::index_sequence_for<In...>{}, std::index_sequence_for<Out...>{});
    }(typename Op::inputs{}, typename Op::outputs{});
    auto const all = detail::run_rules(exec, attributes, known, grad_rules_of<Op>{});
    return [&]<class... I>(slots<I...>) {
        auto const one = [&]<class Slot>(Slot*) {
            if constexpr (decltype(detail::has_value<grad_of<Slot>>(all))::value) {
                return detail::value_of<grad_of<Slot>>(all);
            } else {
                return no_value{};
            }
        };
        return std::tuple(one(static_cast<I*>(nullptr))...);
    }(typename Op::inputs{});
}

}  // namespace rowan::inline v0

// rowan/graph/detail/op_arguments.hpp: level_mask and call, which select an operator's kernel by argument types.

namespace rowan::inline v0::detail {

template <class V>
V& without_levels(V& v) {
    return v;
}
template <class T, class D>
Tensor<T, D>& without_levels(LoDTensor<T, D>& v) {
    return v.value();
}

template <bool levels, class V>
auto& as_argument(V& v) {
    if constexpr (levels) {
        return v;
    } else {
        return without_levels(v);
    }
}

template <class Op, class D, class... Arg>
inline constexpr bool takes_with_attributes = requires(D const& d, attributes_of<Op> const& a, Arg&... arg) {
    Op::run(d, arg..., a);
};
template <class Op, class D, class... Arg>
inline constexpr bool takes = takes_with_attributes<Op, D, Arg...> || requires(D const& d, Arg&... arg) {
    Op::run(d, arg...);
};

template <class V, bool levels>
using argument_t = std::remove_reference_t<decltype(as_argument<levels>(std::declval<V&>()))>;

template <class Op, class D, std::size_t mask, class... V>
inline constexpr bool takes_masked = []<std::size_t... i>(std::index_sequence<i...>) {
    return takes<Op, D, argument_t<V, ((mask >> i) & 1) != 0>...>;
}
(std::index_sequence_for<V...>{});

inline constexpr std::size_t no_mask = ~std::size_t{0};

/// A bit mask of the arguments that the kernel takes as LoDTensor; no_mask if there is no kernel. The masks with no bit
/// and with all bits set are tried first.
template <class Op, class D, class... V>
constexpr std::size_t level_mask() {
    constexpr std::size_t all = (std::size_t{1} << sizeof...(V)) - 1;
    if constexpr (takes_masked<Op, D, 0, V...>) {
        return 0;
    } else if constexpr (takes_masked<Op, D, all, V...>) {
        return all;
    } else {
        return []<std::size_t... mask>(std::index_sequence<mask...>) {
            std::size_t found = no_mask;
            (void)((takes_masked<Op, D, mask + 1, V...> ? (found = mask + 1, true) : false) || ...);
            return found;
        }
        (std::make_index_sequence<(all > 1 ? all - 1 : 0)>{});
    }
}

template <class Op, std::size_t mask, class D, class... V, std::size_t... i>
auto call_masked(D const& device, attributes_of<Op> const& attributes, std::index_sequence<i...>, V&... v) {
    if constexpr (takes_with_attributes<Op, D, argument_t<V, ((mask >> i) & 1) != 0>...>) {
        return Op::run(device, as_argument<((mask >> i) & 1) != 0>(v)..., attributes);
    } else {
        return Op::run(device, as_argument<((mask >> i) & 1) != 0>(v)...);
    }
}

/// Calls the kernel for these arguments.
template <class Op, class D, class... V>
auto call(D const& device, attributes_of<Op> const& attributes, V&... v) {
    static_assert(level_mask<Op, D, V...>() != no_mask,
                  "rowan: the operator has no kernel, a function run, for this device and inputs of these types");
    return call_masked<Op, level_mask<Op, D, V...>()>(device, attributes, std::index_sequence_for<V...>{}, v...);
}

}  // namespace rowan::inline v0::detail

// rowan/sparse/selected_rows.hpp: SelectedRows, a row-sparse tensor.

namespace rowan::inline v0 {

namespace detail {

struct SelectedRowsAccess;

/// How the row numbers of a SelectedRows are made and read.
template <class D>
struct RowNumbers {
    static_assert(has_backend<D>,
                  "rowan::SelectedRows: a Thrust device needs #include <rowan/thrust/sparse/selected_rows.hpp>");
};

template <>
struct RowNumbers<Cpu> {
    using View = std::span<std::int64_t const>;
    static View view(Tensor<std::int64_t> const& rows) noexcept { return {rows.data(), rows.size()}; }

    static Tensor<std::int64_t> copy(Ids<> const& ids) {
        auto rows = Tensor<std::int64_t>::from_shape({ids.size()});
        ids.visit([&](auto list) { std::copy(list.begin(), list.end(), rows.data()); });
        return rows;
    }
    /// A copy of ids in [0, height).
    static Tensor<std::int64_t> checked(Cpu exec, char const* field, Ids<> const& ids, std::int64_t height) {
        check_ids(exec, field, ids, height);
        return copy(ids);
    }
    static Tensor<std::int64_t> shared(Tensor<std::int64_t> const& rows) { return rows; }

    /// Whether rows are seen to be ascending and unique. Rows in the memory of other devices are not read.
    static bool merged(Tensor<std::int64_t> const& rows) {
        View const list = view(rows);
        return std::ranges::adjacent_find(list, std::greater_equal<>{}) == list.end();
    }
};

}  // namespace detail

/// A row-sparse tensor of `height` rows, for example the gradient of a table of which a batch used few rows.
///
///     height 6    rows  [4 1 4]      value [1 2]     represents   0: [0 0]
///                                          [3 4]                  1: [3 4]
///                                          [5 6]                  4: [6 8]   duplicates are summed
///
/// Rows may be in any order and may repeat. `value` has rank 1 or more; its first dim is the number of rows.
template <class T, class D>
class SelectedRows {
    static_assert(detail::is_element<T>(), "rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type");
    using Numbers = detail::RowNumbers<D>;

public:
    using Device = D;
    using value_type = T;
    using shape_type = typename Tensor<T, D>::shape_type;

    /// An object without rows, of height 0.
    SelectedRows() = default;

    /// Row rows[i] of the represented tensor has the value value[i].
    /// shapes   rows [n], value [n, ...]
    /// errors   ShapeError if height is negative, rows are not a flat list, value has rank 0 or not n rows;
    ///          IndexError if a row is not in [0, height): for rows in device memory, unless height is 0, thrown by the
    ///          next synchronize or copy to the host
    /// cost     O(n); the rows are copied, the value is moved
    SelectedRows(D const& exec, Height height, Ids<D> rows, Tensor<T, D> value);
    SelectedRows(Height height, Ids<D> rows, Tensor<T, D> value)
        : SelectedRows{value.device(), height, rows, std::move(value)} {}

    SelectedRows(SelectedRows const&) = default;
    SelectedRows(SelectedRows&& other) noexcept { swap(other); }
    SelectedRows& operator=(SelectedRows const& other) {
        SelectedRows copy(other);
        swap(copy);
        return *this;
    }
    SelectedRows& operator=(SelectedRows&& other) noexcept {
        SelectedRows moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~SelectedRows() = default;

    std::int64_t height() const noexcept { return height_; }  ///< the number of rows of the represented tensor
    /// The row numbers, one for each row of value(): a span on the host, a Tensor in the memory of other devices. Code
    /// that modifies them through an alias must keep them in [0, height) and, if merged(), ascending and unique.
    typename Numbers::View rows() const noexcept { return Numbers::view(rows_); }

    /// Row i of the value belongs to row rows()[i] of the represented tensor. The elements may be modified; if the
    /// first dim is changed, the next function that takes this object throws ShapeError.
    Tensor<T, D> const& value() const noexcept { return value_; }
    Tensor<T, D>& value() noexcept { return value_; }

    /// The execution of calls that are given none: where the value was made.
    D device() const noexcept { return value_.device(); }

    /// The shape of the represented tensor, [height, ...].
    /// errors   ShapeError if the value has been given rank 0
    /// cost     O(1)
    shape_type shape() const;

    /// Whether the rows are ascending and unique. Rows in device memory are not inspected: false if it is not known.
    bool merged() const noexcept { return merged_ || rows_.size() == 0; }

    /// An alias: of the value, and of the rows in device memory; the rows on the host are copied.
    /// errors   std::bad_alloc
    /// cost     O(rows) on the host: row numbers are copied, elements are not; O(1) on other devices
    SelectedRows share() const;

    /// The number of elements per row.
    std::size_t row_size() const noexcept { return value_.row_size(); }

    void swap(SelectedRows& other) noexcept;

    /// Whether heights, rows in order and values are equal. Unequal objects may represent the same tensor.
    friend bool operator==(SelectedRows const& a, SelectedRows const& b) requires std::same_as<D, Cpu> {
        return a.height_ == b.height_ && std::ranges::equal(a.rows(), b.rows()) && a.value_ == b.value_;
    }

    /// Checks that a value has `rows` rows, as in the constructor. Functions that use a value repeat this check.
    /// errors   ShapeError if value has rank 0 or another number of rows
    /// cost     O(1)
    static void check_value(Tensor<T, D> const& value, std::size_t rows);

private:
    friend struct detail::SelectedRowsAccess;

    std::int64_t height_ = 0;
    bool merged_ = true;
    Tensor<std::int64_t, D> rows_;
    Tensor<T, D> value_;
};

template <class T>
SelectedRows(Height, Ids<>, Tensor<T>) -> SelectedRows<T>;

namespace detail {

/// Access to SelectedRows without validation, for algorithms whose rows are validated or from another SelectedRows.
struct SelectedRowsAccess {
    template <class T>
    static SelectedRows<T> make(std::int64_t height, Ids<> const& rows, Tensor<T> value) {
        return adopt(height, RowNumbers<Cpu>::copy(rows), std::move(value));
    }

    /// Makes a SelectedRows of validated rows without copying them.
    template <class T, class D>
    static SelectedRows<T, D> adopt(std::int64_t height, Tensor<std::int64_t, D> rows, Tensor<T, D> value,
                                    bool merged = false) {
        SelectedRows<T, D> g;
        g.height_ = height;
        g.merged_ = merged || RowNumbers<D>::merged(rows);
        g.rows_ = std::move(rows);
        g.value_ = std::move(value);
        return g;
    }
    /// An alias of the rows.
    template <class T, class D>
    static Tensor<std::int64_t, D> rows(SelectedRows<T, D> const& g) {
        return g.rows_.share();
    }

    /// Memory for `count` merged rows, that of `g` if it suffices. `g` is unchanged until this memory is written.
    template <class T>
    static SelectedRows<T> room(SelectedRows<T> const& g, std::int64_t height, std::size_t count,
                                typename SelectedRows<T>::shape_type shape) {
        SelectedRows<T> room;
        shape[0] = count;
        room.height_ = height;
        room.rows_ = room_for(g.rows_, {count});
        room.value_ = room_for(g.value_, shape);
        return room;
    }

    /// Copies `rows` to `room`, whose value has been written, and swaps it with `g`.
    template <class T>
    static void move_in(SelectedRows<T>& g, SelectedRows<T>& room, std::span<std::int64_t const> rows) noexcept {
        std::copy(rows.begin(), rows.end(), room.rows_.data());
        g.swap(room);
    }

private:
    template <class T>
    static Tensor<T> room_for(Tensor<T> const& t, typename Tensor<T>::shape_type const& shape) {
        std::size_t const size = checked_size("value", shape, sizeof(T));
        Tensor<T> room;
        room.storage() = t.storage().room(size);
        room.resize(shape);
        return room;
    }
};

}  // namespace detail

template <class T, class D>
SelectedRows<T, D>::SelectedRows(D const& exec, Height height, Ids<D> rows, Tensor<T, D> value) {
    if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
    check_value(value, rows.size());
    *this = detail::SelectedRowsAccess::adopt(height, Numbers::checked(exec, "rows", rows, height), std::move(value));
}

template <class T, class D>
auto SelectedRows<T, D>::shape() const -> shape_type {
    if (value_.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    shape_type shape = value_.shape();
    shape[0] = static_cast<std::size_t>(height_);
    return shape;
}

template <class T, class D>
auto SelectedRows<T, D>::share() const -> SelectedRows {
    return detail::SelectedRowsAccess::adopt(height_, Numbers::shared(rows_), value_.share(), merged_);
}

template <class T, class D>
void SelectedRows<T, D>::swap(SelectedRows& other) noexcept {
    std::swap(height_, other.height_);
    std::swap(merged_, other.merged_);
    rows_.swap(other.rows_);
    value_.swap(other.value_);
}

template <class T, class D>
void SelectedRows<T, D>::check_value(Tensor<T, D> const& value, std::size_t rows) {
    if (value.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    if (value.shape()[0] != rows) {
        throw ShapeError("value.shape(0)", std::to_string(value.shape()[0]),
                         std::to_string(rows) + ", the number of rows");
    }
}

ROWAN_TEMPLATE(class SelectedRows<float>)
ROWAN_TEMPLATE(class SelectedRows<double>)

}  // namespace rowan::inline v0

// rowan/graph/detail/op_call.hpp: calls of an operator's kernel and infer with type-erased arguments.

namespace rowan::inline v0::detail {

/// The attributes of a call of `Op`. The operator of a gradient rule may have none and be given those of the forward
/// operator.
template <class Op>
attributes_of<Op> const& attributes_for(AttributesRef attributes) {
    if constexpr (std::is_same_v<attributes_of<Op>, no_attributes>) {
        static constexpr no_attributes none;
        return none;
    } else {
        return attributes.get<attributes_of<Op>>();
    }
}

// ---- results

template <class R>
struct result_types {
    using type = type_list<R>;
};
template <>
struct result_types<void> {
    using type = type_list<>;
};
template <class... R>
struct result_types<std::tuple<R...>> {
    using type = type_list<R...>;
};

template <class V>
struct element_of {
    using type = typename V::value_type;
};
template <class V>
struct element_of<std::vector<V>> : element_of<V> {};

/// Stores results in `out`. Tensors with as many rows as `lod` get these levels.
struct Results {
    std::span<Value*const> in, out;
    Lod const* lod = nullptr;

    template <class T, class D>
    void store(std::size_t i, Tensor<T, D>&& x) const {
        bool const rows = lod != nullptr && x.dimension() != 0 && static_cast<std::int64_t>(x.shape(0)) == lod->rows();
        out[i]->set(LoDTensor<T, D>(std::move(x), rows ? *lod : Lod()));
    }
    template <class V>
    void store(std::size_t i, V&& x) const {
        out[i]->set(std::move(x));
    }

    template <class R>
    void store_all(R&& result) const {
        store(0, std::move(result));
    }
    template <class... R>
    void store_all(std::tuple<R...>&& results) const {
        std::apply([&, i = std::size_t{0}](R&... r) mutable { (store(i++, std::move(r)), ...); }, results);
    }
    template <class V>
    void store_all(std::vector<V>&& results) const {
        for (std::size_t i = 0; i < out.size(); ++i) store(i, std::move(results[i]));
    }
    /// Results of an operator with as many inputs: result i is dense or row-sparse like input i.
    template <class T, class D>
    void store_all(std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>>&& results) const {
        std::size_t dense = 0, sparse = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (in[i]->template is<SelectedRows<T, D>>()) {
                store(i, std::move(std::get<1>(results)[sparse++]));
            } else {
                store(i, std::move(std::get<0>(results)[dense++]));
            }
        }
    }
};

// ---- calling a kernel with type-erased values

[[noreturn]] inline void no_kernel(std::string_view name, std::span<Value* const> in) {
    std::string kinds;
    for (Value const* v : in) kinds.append(kinds.empty() ? "" : ", ").append(v->kind());
    throw TypeError(std::string("the kernel of ").append(name), kinds, "kinds and element types that it has");
}

template <class T, class D, bool sparse>
using held_t = std::conditional_t<sparse, SelectedRows<T, D>, LoDTensor<T, D>>;

/// Runs the kernel if there is one; bit i of `sparse` is set if input i is row-sparse. Returns whether it ran.
template <class Op, class D, std::size_t sparse, class... T, std::size_t... i>
bool run_kinds(D const& device, Results const& to, attributes_of<Op> const& attributes, type_list<T...>,
               std::index_sequence<i...>) {
    if constexpr (level_mask<Op, D, held_t<T, D, ((sparse >> i) & 1) != 0>...>() == no_mask) {
        return false;
    } else {
        auto const run = [&] {
            return call<Op>(device, attributes, to.in[i]->template get<held_t<T, D, ((sparse >> i) & 1) != 0>>()...);
        };
        if constexpr (std::is_void_v<decltype(run())>) {
            run();
        } else {
            to.store_all(run());
        }
        return true;
    }
}

template <class Op, class D, class... T>
void run_fixed(KernelCall const& c) {
    constexpr auto indices = std::index_sequence_for<T...>{};
    constexpr std::size_t all = (std::size_t{1} << sizeof...(T)) - 1;
    D const& d = c.exec.get<D>();
    auto const& a = attributes_for<Op>(c.attributes);
    Results to{c.in, c.out};
    std::size_t sparse = 0, i = 0;
    bool known = true;
    [[maybe_unused]] auto const look = [&]<class V>(std::type_identity<V>) {
        if (c.in[i]->template is<SelectedRows<V, D>>()) {
            sparse |= std::size_t{1} << i;
        } else if (c.in[i]->template is<LoDTensor<V, D>>()) {
            if (static_cast<std::ptrdiff_t>(i) == c.levels_from)
                to.lod = &c.in[i]->template get<LoDTensor<V, D>>().lod();
        } else {
            known = false;
        }
        ++i;
    };
    (look(std::type_identity<T>{}), ...);
    bool done = false;
    if (known) {
        // Supported: all dense, all row-sparse, or exactly one row-sparse.
        done = sparse == 0 && run_kinds<Op, D, 0>(d, to, a, type_list<T...>{}, indices);
        if constexpr (all != 0)
            done = done || (sparse == all && run_kinds<Op, D, all>(d, to, a, type_list<T...>{}, indices));
        if constexpr (sizeof...(T) > 1) {
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                ((done = done || (sparse == std::size_t{1} << k &&
                                  run_kinds<Op, D, std::size_t{1} << k>(d, to, a, type_list<T...>{}, indices))),
                 ...);
            }
            (indices);
        }
    }
    if (!done) no_kernel(Op::name, c.in);
}

/// Whether the operator's first slot holds any number of values. A second slot with one value may follow.
template <class Op, class D, class T>
inline constexpr bool is_variadic = [] {
    using Many = std::vector<Tensor<T, D>>;
    if constexpr (Op::inputs::size == 1) {
        return takes<Op, D, Many> || takes<Op, D, std::vector<SelectedRows<T, D>>> ||
               takes<Op, D, Many, std::vector<SelectedRows<T, D>>>;
    } else {
        return Op::inputs::size == 2 && takes<Op, D, Many, Tensor<T, D>>;
    }
}();

template <class List>
struct Borrowed {
    explicit Borrowed(List& owner) : list(std::move(owner)), home(owner) {}
    Borrowed(Borrowed const&) = delete;
    Borrowed& operator=(Borrowed const&) = delete;
    ~Borrowed() {
        list.clear();
        home = std::move(list);
    }

    List list;
    List& home;
};

template <class Op, class D, class T>
void run_variadic(KernelCall const& c) {
    using Dense = std::vector<Tensor<T, D>>;
    using Sparse = std::vector<SelectedRows<T, D>>;
    D const& d = c.exec.get<D>();
    auto const& a = attributes_for<Op>(c.attributes);
    auto const& in = c.in;
    Results to{in, c.out};
    thread_local Dense dense_room;  // reused, so that a net with constant shapes does not allocate
    thread_local Sparse sparse_room;
    Borrowed<Dense> dense_lent{dense_room};
    Borrowed<Sparse> sparse_lent{sparse_room};
    Dense& dense = dense_lent.list;
    Sparse& sparse = sparse_lent.list;
    for (Value* const v : in.first(in.size() - (Op::inputs::size - 1))) {
        if (v->is<LoDTensor<T, D>>()) {
            if (v == in[static_cast<std::size_t>(std::max<std::ptrdiff_t>(c.levels_from, 0))] && c.levels_from >= 0)
                to.lod = &v->get<LoDTensor<T, D>>().lod();
            dense.push_back(v->get<LoDTensor<T, D>>().value().share());
        } else if (v->is<SelectedRows<T, D>>()) {
            sparse.push_back(v->get<SelectedRows<T, D>>().share());
        } else {
            no_kernel(Op::name, in);
        }
    }
    if constexpr (Op::inputs::size == 2) {
        if (!in.back()->is<LoDTensor<T, D>>()) no_kernel(Op::name, in);
        if constexpr (takes<Op, D, Dense, Sparse, Tensor<T, D>>) {
            if (!sparse.empty())
                return to.store_all(call<Op>(d, a, dense, sparse, in.back()->get<LoDTensor<T, D>>().value()));
        }
        if (!sparse.empty()) no_kernel(Op::name, in);
        return to.store_all(call<Op>(d, a, dense, in.back()->get<LoDTensor<T, D>>().value()));
    }
    if constexpr (takes<Op, D, Dense>) {
        if (sparse.empty()) return to.store_all(call<Op>(d, a, dense));
    }
    if constexpr (takes<Op, D, Sparse>) {
        if (dense.empty()) return to.store_all(call<Op>(d, a, sparse));
    }
    if constexpr (takes<Op, D, Dense, Sparse>) return to.store_all(call<Op>(d, a, dense, sparse));
    no_kernel(Op::name, in);
}

// ---- infer

/// errors   GraphError if the number of inputs is not that of the slots; one slot of a variadic operator takes any number
inline void check_inputs(std::string_view name, std::size_t given, std::size_t slots, bool variadic) {
    if (given == slots || (variadic && given + 1 >= slots)) return;
    throw GraphError(std::string(name) + " has " + std::to_string(given) + " inputs, expected " +
                     (variadic ? "at least " + std::to_string(slots - 1) : std::to_string(slots)));
}

template <class Op, class... In>
auto infer_of(attributes_of<Op> const& attributes, In const&... in) {
    if constexpr (requires { Op::infer(in..., attributes); }) {
        return Op::infer(in..., attributes);
    } else {
        static_assert(
            requires { Op::infer(in...); },
            "rowan: an operator needs a function infer that takes a VarSpec for each of its inputs");
        return Op::infer(in...);
    }
}

template <class Op, bool variadic>
std::vector<VarSpec> infer_specs(std::span<VarSpec const> in, AttributesRef attributes) {
    check_inputs(Op::name, in.size(), Op::inputs::size, variadic);
    auto const& a = attributes_for<Op>(attributes);
    auto const result = [&]<std::size_t... i>(std::index_sequence<i...>) {
        if constexpr (!variadic) {
            return infer_of<Op>(a, in[i]...);
        } else if constexpr (Op::inputs::size == 2) {
            return infer_of<Op>(a, in.first(in.size() - 1), in.back());
        } else {
            return infer_of<Op>(a, in);
        }
    }
    (std::make_index_sequence<Op::inputs::size>{});
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, VarSpec>) {
        return {result};
    } else {
        return {result.begin(), result.end()};
    }
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<float>>)
ROWAN_TEMPLATE(void Value::set(SelectedRows<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<double>>)
ROWAN_TEMPLATE(void Value::set(SelectedRows<double>&&))

}  // namespace rowan::inline v0

// rowan/graph/op_kernel.hpp: op_kernel, a type-erased operator for given element types.

#if defined(__clang__) && defined(ROWAN_COMPILED)
// The compiled library defines kernel_of::value. Clang warns at the point of use, so the setting is not popped.
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

namespace rowan::inline v0 {

struct op_kernel;

/// An input or output of a gradient operator, in terms of the forward operator.
struct grad_slot {
    /// A list of the forward operator, or the values that one rule passes to another.
    enum Kind : std::uint8_t { input, output, grad_of_input, grad_of_output, between_rules };
    Kind kind;          ///< which list
    std::size_t index;  ///< the position in that list
};

/// A grad_rule in run-time form.
struct grad_kernel {
    op_kernel const* op;
    std::span<grad_slot const> reads;   ///< in the order of op's inputs
    std::span<grad_slot const> writes;  ///< in the order of op's outputs
};

/// An operator for given element types and a given device, with what a net needs to run and differentiate it.
/// Instantiated at compile time where it is used: a program contains only the operators that its nets use.
struct op_kernel {
    std::string_view name;  ///< the name in nets and files
    /// The names of the slots. The first slot may hold any number of values.
    std::span<std::string_view const> inputs, outputs;
    unsigned row_inputs = 0;  ///< see row_inputs_of
    bool sums_rows = false;   ///< see sums_rows_of
    /// Whether the rows of result i correspond to rows of the inputs.
    bool (*row_output)(AttributesRef attributes, std::size_t i);
    bool (*row_wise)(AttributesRef attributes);  ///< see row_wise_of
    /// Computes the specs of the results from those of the inputs, see rowan::operation.
    std::vector<VarSpec> (*infer)(std::span<VarSpec const> in, AttributesRef attributes);
    void (*run)(KernelCall const& call);      ///< runs the operator
    std::span<grad_kernel const> rules = {};  ///< of the backward pass
    /// Whether it may compute result 0 in place of input 0 if nothing else reads input 0.
    bool in_place = false;
    /// The kernel that replaces it in the step of a recurrent program, or nullptr; see layer::add_to.
    op_kernel const* in_step = nullptr;
};

namespace detail {

// ---- gradient rules in run-time form

/// The result types of an operator for dense inputs.
template <class Op, class D, class... T>
struct results_of {
    using type =
        typename result_types<decltype(call<Op>(std::declval<D const&>(), std::declval<attributes_of<Op> const&>(),
                                                std::declval<LoDTensor<T, D>&>()...))>::type;
};
template <class Op, class D, class T>
requires(is_variadic<Op, D, T>&& Op::inputs::size == 1) struct results_of<Op, D, T> {
    using type = type_list<Tensor<T, D>>;
};

template <std::size_t i, class... T>
std::tuple_element_t<i, std::tuple<T...>> nth(type_list<T...>);

template <class Slot>
struct forward_slot {
    using type = Slot;
    static constexpr bool grad = false;
};
template <class Slot>
struct forward_slot<grad_of<Slot>> {
    using type = Slot;
    static constexpr bool grad = true;
};

/// Locates a slot of a rule. `Made`: all slots that the operator's rules write.
template <class Op, class Made, class Slot>
constexpr grad_slot locate() {
    using S = typename forward_slot<Slot>::type;
    constexpr bool grad = forward_slot<Slot>::grad;
    if constexpr (Op::inputs::template has<S>) {
        return {grad ? grad_slot::grad_of_input : grad_slot::input, Op::inputs::template index<S>};
    } else if constexpr (Op::outputs::template has<S>) {
        return {grad ? grad_slot::grad_of_output : grad_slot::output, Op::outputs::template index<S>};
    } else {
        static_assert(Made::template has<Slot>,
                      "rowan: a gradient rule reads a slot that neither the operator has nor a rule makes");
        return {grad_slot::between_rules, Made::template index<Slot>};
    }
}

/// The element type of a slot. Values passed between rules have that of the operator's first result.
template <class Op, class Results, class Slot, class... T>
auto slot_element() {
    using S = typename forward_slot<Slot>::type;
    if constexpr (Op::inputs::template has<S>) {
        constexpr std::size_t i = Op::inputs::template index<S>;
        return std::type_identity<std::tuple_element_t<(i < sizeof...(T) ? i : 0), std::tuple<T...>>>{};
    } else if constexpr (Op::outputs::template has<S>) {
        return std::type_identity<
            typename element_of<decltype(nth<Op::outputs::template index<S>>(Results{}))>::type>{};
    } else {
        return std::type_identity<typename element_of<decltype(nth<0>(Results{}))>::type>{};
    }
}

template <class A, class B>
struct join_slots;
template <class... A, class... B>
struct join_slots<slots<A...>, slots<B...>> {
    using type = slots<A..., B...>;
};

template <class Rules>
struct written_by;
template <>
struct written_by<grad_rules<>> {
    using type = slots<>;
};
template <class Rule, class... Rest>
struct written_by<grad_rules<Rule, Rest...>> {
    using type = typename join_slots<typename Rule::writes, typename written_by<grad_rules<Rest...>>::type>::type;
};

}  // namespace detail

template <class Op, class D, class... T>
struct kernel_of;

namespace detail {

/// The base of an operator on whole values of any kind, whose functions are those of its op_kernel: it says its name,
/// slots, infer and run, and what differs from these.
struct whole_op {
    using grad = no_grad;
    static constexpr bool in_place = false;
    static bool row_output(AttributesRef, std::size_t) { return false; }
    static bool row_wise(AttributesRef) { return false; }
};

template <std::derived_from<whole_op> Op>
struct whole_kernel {
    static op_kernel const value;
};

using Specs = std::span<VarSpec const>;

template <class Op, class D, class Types, class Rule>
struct rule_of;
template <class Op, class D, class... T, class RuleOp, class... In, class... Out>
struct rule_of<Op, D, type_list<T...>, grad_rule<RuleOp, slots<In...>, slots<Out...>>> {
    static_assert(std::is_same_v<attributes_of<RuleOp>, no_attributes> ||
                      std::is_same_v<attributes_of<RuleOp>, attributes_of<Op>>,
                  "rowan: the operator of a gradient rule must have no attributes, or those of the operator itself");
    using made = typename written_by<grad_rules_of<Op>>::type;
    static constexpr std::array<grad_slot, sizeof...(In)> reads{locate<Op, made, In>()...};
    static constexpr std::array<grad_slot, sizeof...(Out)> writes{locate<Op, made, Out>()...};
    static constexpr op_kernel const* kernel() {
        if constexpr (std::derived_from<Op, whole_op>) {
            return &whole_kernel<RuleOp>::value;
        } else {
            using results = typename results_of<Op, D, T...>::type;
            return &kernel_of<RuleOp, D, typename decltype(slot_element<Op, results, In, T...>())::type...>::value;
        }
    }
};

template <class Op, class D, class Types, class Rules>
struct rules_of;
template <class Op, class D, class Types>
struct rules_of<Op, D, Types, grad_rules<>> {
    static constexpr std::array<grad_kernel, 0> value{};
};
template <class Op, class D, class Types, class... Rule>
struct rules_of<Op, D, Types, grad_rules<Rule...>> {
    static constexpr std::array<grad_kernel, sizeof...(Rule)> value{
        grad_kernel{.op = rule_of<Op, D, Types, Rule>::kernel(),
                    .reads = rule_of<Op, D, Types, Rule>::reads,
                    .writes = rule_of<Op, D, Types, Rule>::writes}...};
};

template <std::derived_from<whole_op> Op>
constinit op_kernel const whole_kernel<Op>::value{.name = Op::name,
                                                  .inputs = Op::inputs::names,
                                                  .outputs = Op::outputs::names,
                                                  .row_output = &Op::row_output,
                                                  .row_wise = &Op::row_wise,
                                                  .infer = &Op::infer,
                                                  .run = &Op::run,
                                                  .rules = rules_of<Op, void, type_list<>, grad_rules_of<Op>>::value,
                                                  .in_place = Op::in_place};

}  // namespace detail

/// The kernel of `Op` on device D for inputs with element types T... (a single T if a slot holds any number of values).
template <class Op, class D, class... T>
struct kernel_of {
    static_assert(operation<Op>, "rowan: an operator has a name, inputs, outputs and grad, see rowan::operation");

private:
    static constexpr bool variadic = detail::is_variadic<Op, D, std::tuple_element_t<0, std::tuple<T..., float>>>;
    static constexpr auto run() {
        if constexpr (variadic) {
            return &detail::run_variadic<Op, D, std::tuple_element_t<0, std::tuple<T...>>>;
        } else {
            static_assert(sizeof...(T) == Op::inputs::size,
                          "rowan::kernel_of: as many element types as the operator has inputs");
            return &detail::run_fixed<Op, D, T...>;
        }
    }

    static constexpr op_kernel const* in_step() {
        if constexpr (requires { typename Op::in_step; }) {
            return &kernel_of<typename Op::in_step, D, T...>::value;
        } else {
            return nullptr;
        }
    }

public:
    static op_kernel const value;  ///< defined below because operators refer to each other in their rules
};

template <class Op, class D, class... T>
constinit op_kernel const kernel_of<Op, D, T...>::value{
    .name = Op::name,
    .inputs = Op::inputs::names,
    .outputs = Op::outputs::names,
    .row_inputs = row_inputs_of<Op>,
    .sums_rows = sums_rows_of<Op>,
    .row_output = [](AttributesRef, std::size_t) { return !sums_rows_of<Op>; },
    .row_wise = [](AttributesRef a) { return row_wise_of<Op>(detail::attributes_for<Op>(a)); },
    .infer = &detail::infer_specs<Op, variadic>,
    .run = run(),
    .rules = detail::rules_of<Op, D, detail::type_list<T...>, grad_rules_of<Op>>::value,
    .in_step = in_step()};

#if defined(ROWAN_COMPILED) && !defined(ROWAN_COMPILING_OPERATORS)
/// The kernels that the compiled library defines.
template <class Op, class... T>
requires detail::has_compiled_kernel<Op, T...>
struct kernel_of<Op, Cpu, T...> {
    static op_kernel const value;
};
#endif

}  // namespace rowan::inline v0

// rowan/op/infer.hpp: checks of the inputs in an operator's infer, at compile time and at run time.

/// Checks that an operator's `infer` makes on its inputs. A check that fails at compile time is an error that names one
/// of the functions below that throw.
namespace rowan::inline v0::spec {

// The functions that throw are not constexpr, so the compile error names them.

/// Throws a TypeError.
[[noreturn]] inline void the_kinds_do_not_match(char const* field, VarType, char const* expected) {
    throw TypeError(field, "of another kind", expected);
}

/// Throws a TypeError.
[[noreturn]] inline void the_element_types_do_not_match(char const* field, std::int32_t actual, std::int32_t expected) {
    throw TypeError(std::string(field) + " dtype", std::to_string(actual), std::to_string(expected));
}

/// Throws a ShapeError.
[[noreturn]] inline void the_rank_does_not_fit(char const* field, std::size_t actual, char const* expected) {
    throw ShapeError(std::string(field) + " rank", std::to_string(actual), expected);
}

/// Throws a ShapeError.
[[noreturn]] inline void the_dims_do_not_match(char const* field, std::int64_t actual, std::int64_t expected) {
    throw ShapeError(field, std::to_string(actual), std::to_string(expected));
}

/// Throws a ShapeError.
[[noreturn]] inline void there_are_too_few_levels(char const* field, std::size_t actual) {
    throw ShapeError(std::string(field) + ".lod().levels()", std::to_string(actual), "at least 1");
}

/// Checks that x is a Tensor or LoDTensor, of any element type.
constexpr void dense(char const* field, VarSpec const& x) {
    if (x.type != VarType::LOD_TENSOR) the_kinds_do_not_match(field, x.type, "a tensor");
}

/// Checks the rank; `expected` is its text in the error message.
constexpr void rank(char const* field, VarSpec const& x, std::size_t rank, char const* expected) {
    if (x.dims.size() != rank) the_rank_does_not_fit(field, x.dims.size(), expected);
}

/// Checks that x is a Tensor or LoDTensor of rank 2.
constexpr void matrix(char const* field, VarSpec const& x) {
    dense(field, x);
    rank(field, x, 2, "2");
}

/// Checks that the rank is at least 1.
constexpr void has_rows(char const* field, VarSpec const& x) {
    if (x.dims.empty()) the_rank_does_not_fit(field, 0, "at least 1");
}

/// Checks that there is at least one level.
constexpr void has_levels(char const* field, VarSpec const& x) {
    if (x.lod_level == 0) there_are_too_few_levels(field, x.lod_level);
}

/// Checks that both have the same element type.
constexpr void same_dtype(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dtype != like.dtype) the_element_types_do_not_match(field, x.dtype, like.dtype);
}

/// Checks that the element type is that of ids: int32 or int64.
constexpr void ids(char const* field, VarSpec const& x) {
    if (x.dtype != rowan::dtype<std::int32_t>::wire) {
        if (x.dtype != rowan::dtype<std::int64_t>::wire)
            the_element_types_do_not_match(field, x.dtype, rowan::dtype<std::int64_t>::wire);
    }
}

/// Checks that two dims agree; UNK agrees with any dim. Returns the known one.
constexpr std::int64_t same_dim(char const* field, std::int64_t actual, std::int64_t expected) {
    if (actual == UNK) return expected;
    if (expected != UNK && actual != expected) the_dims_do_not_match(field, actual, expected);
    return actual;
}

/// Checks that the dims agree, each as same_dim does, and returns the known ones.
constexpr Dims same_dims(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dims.size() != like.dims.size()) the_rank_does_not_fit(field, x.dims.size(), "that of the other input");
    Dims dims;
    for (std::size_t i = 0; i < x.dims.size(); ++i) dims.push_back(same_dim(field, x.dims[i], like.dims[i]));
    return dims;
}

/// Returns the spec of an element-wise result: the inputs must be dense and have the same element type and shape.
constexpr VarSpec elementwise(char const* field, VarSpec const& x) {
    dense(field, x);
    return x;
}
constexpr VarSpec elementwise(char const* field, VarSpec const& x, VarSpec const& like) {
    dense(field, x);
    dense(field, like);
    same_dtype(field, x, like);
    return {VarType::LOD_TENSOR, like.dtype, same_dims(field, x, like), like.lod_level};
}

}  // namespace rowan::inline v0::spec

// rowan/sequence/detail/slot_kind.hpp: SlotKind, the properties that all slots of a TensorArray share.

namespace rowan::inline v0::detail {

/// Rank, trailing dims and number of levels, fixed by the first write.
template <class T>
struct SlotKind {
    typename Tensor<T>::shape_type shape{};  // the first dim may vary
    std::size_t levels = 0;
    bool known = false;

    /// Throws ShapeError if `value` differs in rank, trailing dims or number of levels.
    template <class D>
    void check(LoDTensor<T, D> const& value) const {
        if (!known) return;
        auto like = shape;
        if (!like.empty() && value.shape().size() == like.size()) like[0] = value.shape()[0];
        if (value.shape() != like) throw ShapeError("value.shape()", shape_text(value.shape()), shape_text(like));
        if (value.lod().levels() == levels) return;
        throw ShapeError("value.lod().levels()", std::to_string(value.lod().levels()), std::to_string(levels));
    }

    void know(typename Tensor<T>::shape_type const& of_one, std::size_t its_levels) {
        if (!known) *this = {of_one, its_levels, true};
    }
};

}  // namespace rowan::inline v0::detail

// rowan/sequence/step_map.hpp: StepMap, the mapping between the sequences of a batch and its steps.

namespace rowan::inline v0 {

namespace detail {

struct StepMapAccess;

/// Device-specific part of a map. make(exec, map) returns a tensor of its elements; part(elements, begin, n) returns n of
/// them for the caller; on_host(elements, map) returns all of them in host memory; host_step(map, t) returns those of a
/// step if they are in host memory, otherwise none.
template <class D>
struct StepElements {
    static_assert(has_backend<D>,
                  "rowan: StepMap on a Thrust device needs #include <rowan/thrust/sequence/step_map.hpp>");
};

}  // namespace detail

/// How the sequences of one level are split into steps: step t holds element t of every sequence longer than t. An
/// element is a row or a sequence of the next level.
///
///     lengths 3 6 1, sorted   ->   order()      [1 0 2]            the sequences, longest first
///     rows of 0: 0 1 2             starts()     [0 3 5 7 8 9 10]   step t is elements()[starts()[t] … starts()[t + 1])
///             1: 3 4 5 6 7 8       elements()   [3 0 9  4 1  5 2  6  7  8]
///             2: 9
///
/// On a device, elements() and order() are in device memory; everything else is always in host memory.
template <class Device>
class StepMap {
public:
    /// No sequences, no steps.
    StepMap() : starts_(Tensor<std::int64_t>::zeros({1})) {}

    StepMap(StepMap const&) = default;
    StepMap(StepMap&&) noexcept = default;
    StepMap& operator=(StepMap other) noexcept {
        lod_ = std::move(other.lod_);
        level_ = other.level_;
        offsets_ = other.offsets_;
        sorted_ = other.sorted_;
        order_ = std::move(other.order_);
        shown_ = std::move(other.shown_);
        starts_ = std::move(other.starts_);
        elements_ = std::move(other.elements_);
        return *this;
    }
    ~StepMap() = default;

    /// Sorts sequences by descending length, which is the default and a stable sort, or keeps the input order.
    /// errors   IndexError if lod has no such level; ShapeError if it has more than 2^31 - 1 sequences
    /// cost     a counting sort: O(sequences + elements), 8 bytes per element. On a device the host sorts,
    ///          O(sequences + steps), and the elements are computed there; for an order that is not sorted by length,
    ///          the host computes and copies them
    template <std::same_as<bool> B>  // so that a braced list selects the overload with an order
    StepMap(Device const& exec, Lod lod, std::size_t level, B sort_by_length) : lod_(std::move(lod)), level_(level) {
        auto order = make_steps();
        sort_by_length ? sort(order) : std::iota(order.begin(), order.end(), 0);
        fill(exec, std::move(order));
    }
    template <std::same_as<bool> B>
    StepMap(Lod lod, std::size_t level, B sort_by_length) : StepMap(Device{}, std::move(lod), level, sort_by_length) {}
    StepMap(Device const& exec, Lod lod, std::size_t level) : StepMap(exec, std::move(lod), level, true) {}
    StepMap(Lod lod, std::size_t level) : StepMap(Device{}, std::move(lod), level, true) {}

    /// Uses the caller's order of the sequences.
    /// errors   as above; ShapeError unless order is a flat list of one number per sequence of the level; IndexError if
    ///          a number is not in [0, sequences) or repeats
    /// cost     as above; an order in device memory is copied to the host, which synchronizes
    StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids);
    StepMap(Lod lod, std::size_t level, Ids<Device> order) : StepMap(Device{}, std::move(lod), level, order) {}

    Lod const& lod() const noexcept { return lod_; }       ///< the Lod whose sequences are split
    std::size_t level() const noexcept { return level_; }  ///< and which of its levels

    /// order()[j] is sequence(j). It is a copy for the caller: modifying it through share() does not affect the map.
    Tensor<std::int32_t, Device> const& order() const noexcept { return shown_; }

    /// The sequence at position j.
    std::int32_t sequence(std::size_t j) const noexcept { return (*order_)[j]; }
    /// The number of sequences of the level.
    std::size_t sequences() const noexcept { return order_ ? order_->size() : 0; }

    /// The number of steps: the length of the longest sequence.
    std::size_t steps() const noexcept { return std::max<std::size_t>(starts_.size(), 1) - 1; }

    /// The number of sequences that have a step t; 0 if t >= steps().
    std::size_t step_size(std::size_t t) const noexcept {
        return t < steps() ? static_cast<std::size_t>(starts_.data()[t + 1] - starts_.data()[t]) : 0;
    }

    /// Step t is elements [starts()[t], starts()[t + 1]).
    std::span<std::int64_t const> starts() const noexcept { return {starts_.data(), starts_.size()}; }
    /// The elements of all steps: a span on the host; on a device a copy in device memory, so that the map cannot be
    /// modified.
    /// errors   none; on a device as Tensor::from_shape
    /// cost     O(1); on a device one copy
    auto elements() const { return detail::StepElements<Device>::part(elements_, 0, elements_.size()); }
    /// The elements of step t: for each sequence longer than t, the index of its row or next-level sequence. Empty if
    /// t >= steps().
    /// errors   as elements
    /// cost     O(1); on a device one copy of them
    auto step(std::size_t t) const {
        std::size_t const begin = t < steps() ? static_cast<std::size_t>(starts()[t]) : 0;
        return detail::StepElements<Device>::part(elements_, begin, step_size(t));
    }

    /// The length of the sequence at position j.
    std::int64_t length(std::size_t j) const noexcept {
        auto const s = static_cast<std::size_t>(sequence(j));
        return offsets_[s + 1] - offsets_[s];
    }

    /// True if the lengths of the sequences descend, so that the sequences of each step are the first positions.
    bool sorted() const noexcept { return sorted_; }

private:
    friend struct detail::StepMapAccess;

    // Computes starts_, and allocates the order of the sequences without filling it.
    detail::Buffer<std::int32_t> make_steps();

    void sort(detail::Buffer<std::int32_t>& order) const;

    struct Run {
        std::int64_t next;  // the next element of the sequence
        std::int64_t end;
    };

    void fill(Device const& exec, detail::Buffer<std::int32_t> order);

    std::size_t element_count() const { return static_cast<std::size_t>(starts().back()); }

    void fill_elements(Cpu exec, std::int64_t* out) const;

    // Fills the steps that begin in share k of the elements, from a list of the sequences that have not ended.
    void fill_share(std::size_t k, std::size_t shares, std::size_t count, std::int64_t* elements) const;

    Lod lod_;
    std::size_t level_ = 0;
    std::span<std::int64_t const> offsets_;  // lod_[level_]
    bool sorted_ = true;
    std::shared_ptr<detail::Buffer<std::int32_t> const> order_;  // shared by copies of the map
    Tensor<std::int32_t, Device> shown_;                         // a copy for order()
    Tensor<std::int64_t> starts_;
    Tensor<std::int64_t, Device> elements_;
};

namespace detail {

/// The sequences and their order, which must be equal for the map that unpacked the steps and the map that packs them.
struct StepOrigin {
    Lod lod;  // levels 0 … level of the map
    std::shared_ptr<detail::Buffer<std::int32_t> const> order;

    friend bool operator==(StepOrigin const& a, StepOrigin const& b) noexcept {
        return a.lod == b.lod && (a.order == b.order || (a.order && b.order && *a.order == *b.order));
    }
};

struct StepMapAccess {
    template <class D>
    static StepOrigin origin(StepMap<D> const& map) {
        return {map.lod_.slice_levels(0, std::min(map.level_ + 1, map.lod_.levels())), map.order_};
    }

    template <class D>
    static std::int64_t begin(StepMap<D> const& map, std::size_t j) {
        return map.offsets_[static_cast<std::size_t>(map.sequence(j))];
    }

    /// A pointer to the elements in device memory.
    template <class D>
    static std::int64_t const* elements(StepMap<D> const& map) {
        return map.elements_.data();
    }
    template <class D>
    static std::size_t count(StepMap<D> const& map) {
        return map.elements_.size();
    }

    /// Computes the elements on the host.
    template <class D>
    static Tensor<std::int64_t> make_elements(Cpu exec, StepMap<D> const& map) {
        std::size_t const count = map.element_count();
        auto elements = Tensor<std::int64_t>::from_shape({count});
        map.fill_elements(exec, elements.data());
        return elements;
    }
    /// The elements in host memory.
    template <class D>
    static Tensor<std::int64_t> host_elements(StepMap<D> const& map) {
        return StepElements<D>::on_host(map.elements_, map);
    }
};

template <>
struct StepElements<Cpu> {
    static Tensor<std::int64_t> make(Cpu exec, StepMap<> const& map);
    static std::span<std::int64_t const> part(Tensor<std::int64_t> const& elements, std::size_t begin, std::size_t n) {
        return {elements.data() + begin, n};
    }
    static Tensor<std::int64_t> on_host(Tensor<std::int64_t> const& elements, StepMap<> const&) {
        return elements.share();
    }
    static std::span<std::int64_t const> host_step(StepMap<> const& map, std::size_t t) { return map.step(t); }
};

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/detail/partition.hpp: Buckets, a stable parallel partition of items into buckets.

namespace rowan::inline v0::detail {

/// The first item of the share of thread `t` when n items are divided among `threads` threads.
inline std::size_t share_begin(std::size_t n, std::size_t t, std::size_t threads) {
    return n / threads * t + std::min(n % threads, t);
}

/// The memory of a partition into `buckets` buckets by at most `threads` threads, with `counters` or more counters
/// each.
struct Buckets {
    Buffer<std::size_t> starts;          // the offset of each bucket, and the number of items
    Buffer<Buffer<std::size_t>> places;  // per thread and bucket: the place of its next item
    TeamBarrier barrier;

    Buckets(std::size_t buckets, int threads, std::size_t counters = 0)
        : starts(buckets + 1),
          places(static_cast<std::size_t>(threads), Buffer<std::size_t>(std::max(buckets, counters))) {}

    /// Calls put(place, i) for i in [0, n), where `place` is the place of item i in bucket(i). The items of a
    /// bucket are in input order.
    /// requires   every thread of the team calls it
    /// cost     two passes over the items, both by the same thread
    template <class Bucket, class Put>
    void fill(int thread, int team_size, std::size_t n, Bucket const& bucket, Put const& put) {
        auto const [t, threads] = std::pair(static_cast<std::size_t>(thread), static_cast<std::size_t>(team_size));
        std::size_t const begin = share_begin(n, t, threads);
        std::size_t const end = share_begin(n, t + 1, threads);
        std::size_t const buckets = starts.size() - 1;
        std::size_t* const mine = places[t].data();
        std::fill_n(mine, buckets, std::size_t{0});
        for (std::size_t i = begin; i < end; ++i) ++mine[bucket(i)];
        barrier.wait(team_size);
        if (thread == 0) {  // exclusive prefix sum of the counts, by bucket and then by thread
            std::size_t next = 0;
            for (std::size_t b = 0; b < buckets; ++b) {
                starts[b] = next;
                for (std::size_t k = 0; k < threads; ++k) next += std::exchange(places[k][b], next);
            }
            starts[buckets] = n;
        }
        barrier.wait(team_size);
        for (std::size_t i = begin; i < end; ++i) put(mine[bucket(i)]++, i);
        barrier.wait(team_size);
    }

    /// The first bucket of share k of `shares`. Shares are ranges of whole buckets with about equally many items; the
    /// last bucket of a share is not empty.
    std::size_t share(std::size_t k, std::size_t shares) const;
};

}  // namespace rowan::inline v0::detail

// rowan/detail/partition_inl.hpp: definitions of rowan/detail/partition.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::size_t Buckets::share(std::size_t k, std::size_t shares) const {
    auto const at = std::ranges::lower_bound(starts, share_begin(starts.back(), k, shares));
    return static_cast<std::size_t>(at - starts.begin());
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sequence/step_map_inl.hpp: definitions of rowan/sequence/step_map.hpp.

namespace rowan::inline v0 {

template <class Device>
StepMap<Device>::StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids)
    : lod_(std::move(lod)), level_(level) {
    auto checked = make_steps();
    detail::HostIds<Device> const on_host(exec, ids);
    Ids<> const& order = on_host;
    detail::check_list("order", order);
    if (order.size() != checked.size()) {
        throw ShapeError("order.size()", std::to_string(order.size()),
                         std::to_string(checked.size()) + ", the number of sequences");
    }
    detail::check_ids(detail::host_exec(exec), "order", order, static_cast<std::int64_t>(checked.size()));
    std::vector<bool> seen(checked.size());
    for (std::size_t j = 0; j < order.size(); ++j) {
        auto const s = static_cast<std::size_t>(order[j]);
        if (seen[s]) throw IndexError("order", j, static_cast<std::int64_t>(s), "stands there already");
        seen[s] = true;
        checked[j] = static_cast<std::int32_t>(s);
    }
    fill(exec, std::move(checked));
}

template <class Device>
detail::Buffer<std::int32_t> StepMap<Device>::make_steps() {
    offsets_ = lod_[level_];
    std::size_t const n = offsets_.size() - 1;
    if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw ShapeError("sequences", std::to_string(n), "at most 2^31 - 1");
    }
    std::int64_t most = 0;
    for (std::size_t s = 0; s < n; ++s) most = std::max(most, offsets_[s + 1] - offsets_[s]);
    starts_ = Tensor<std::int64_t>::zeros({static_cast<std::size_t>(most) + 1});
    std::int64_t* const starts = starts_.data();
    // Step t holds the sequences longer than t. starts[l] counts those of length l; suffix sums make it the size of
    // step l - 1, prefix sums the end of that step.
    for (std::size_t s = 0; s < n; ++s) {
        if (offsets_[s + 1] != offsets_[s]) ++starts[offsets_[s + 1] - offsets_[s]];
    }
    for (std::int64_t t = most - 1; t > 0; --t) starts[t] += starts[t + 1];
    std::partial_sum(starts, starts + most + 1, starts);
    return detail::Buffer<std::int32_t>(n);
}

template <class Device>
void StepMap<Device>::sort(detail::Buffer<std::int32_t>& order) const {
    // Sequences of length l follow all longer ones, whose number is the size of step l.
    detail::Buffer<std::int64_t> place(steps() + 1);
    for (std::size_t l = 0; l <= steps(); ++l) place[l] = static_cast<std::int64_t>(step_size(l));
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) {
        auto const l = static_cast<std::size_t>(offsets_[s + 1] - offsets_[s]);
        order[static_cast<std::size_t>(place[l]++)] = static_cast<std::int32_t>(s);
    }
}

template <class Device>
void StepMap<Device>::fill(Device const& exec, detail::Buffer<std::int32_t> order) {
    std::size_t const n = order.size();
    auto shown = Tensor<std::int32_t>::from_shape({n});
    std::ranges::copy(order, shown.data());
    shown_ = to_device(exec, std::move(shown));
    order_ = std::allocate_shared<detail::Buffer<std::int32_t> const>(Allocator<std::int32_t>(), std::move(order));
    for (std::size_t j = 1; j < n && sorted_; ++j) sorted_ = length(j) <= length(j - 1);
    elements_ = detail::StepElements<Device>::make(exec, *this);
}

template <class Device>
void StepMap<Device>::fill_elements(Cpu exec, std::int64_t* out) const {
    std::size_t const count = element_count();
    auto const shares = static_cast<std::size_t>(detail::threads_for(exec, count));
    parallel_for(exec, shares, 1, [&](std::size_t k, std::size_t end) {
        for (; k < end; ++k) fill_share(k, shares, count, out);
    });
}

template <class Device>
void StepMap<Device>::fill_share(std::size_t k, std::size_t shares, std::size_t count, std::int64_t* elements) const {
    auto const first_step = [&](std::size_t share) {
        auto const begin = static_cast<std::int64_t>(detail::share_begin(count, share, shares));
        return static_cast<std::size_t>(std::ranges::lower_bound(starts(), begin) - starts().begin());
    };
    std::size_t t = first_step(k);
    std::size_t const end = k + 1 == shares ? steps() : first_step(k + 1);
    if (t >= end) return;
    detail::Buffer<Run> runs;
    runs.reserve(step_size(t));
    for (std::size_t j = 0; j < sequences(); ++j) {
        if (length(j) <= static_cast<std::int64_t>(t)) continue;
        auto const s = static_cast<std::size_t>(sequence(j));
        runs.push_back({offsets_[s] + static_cast<std::int64_t>(t), offsets_[s + 1]});
    }
    std::int64_t* out = elements + starts()[t];
    for (; t < end; ++t) {
        if (sorted_) {  // the first step_size(t) runs have not ended
            for (std::size_t j = 0; j < step_size(t); ++j) *out++ = runs[j].next++;
            continue;
        }
        std::size_t left = 0;
        for (Run run : runs) {
            *out++ = run.next++;
            runs[left] = run;
            left += run.next != run.end;
        }
        runs.resize(left);
    }
}

ROWAN_TEMPLATE(class StepMap<Cpu>)

#if ROWAN_DEFINES_FUNCTIONS

namespace detail {

ROWAN_FUNCTION Tensor<std::int64_t> StepElements<Cpu>::make(Cpu exec, StepMap<> const& map) {
    return StepMapAccess::make_elements(exec, map);
}

}  // namespace detail

#endif

}  // namespace rowan::inline v0

// rowan/sequence/detail/step_rows.hpp: unpack_rows, which copies the rows of all steps of a batch to one block.

namespace rowan::inline v0::detail {

/// Maps the elements of a level to the levels below it: element e covers the sequences [begin(l, e), begin(l, e + 1))
/// of level l, or rows if l is the number of levels.
class Elements {
public:
    Elements(Lod const& lod, std::size_t level) : lod_(lod), level_(level) {}

    std::int64_t begin(std::size_t l, std::int64_t e) const {
        for (std::size_t k = level_ + 1; k < l; ++k) e = lod_[k][static_cast<std::size_t>(e)];
        return e;
    }
    std::int64_t row(std::int64_t e) const { return begin(lod_.levels(), e); }

private:
    Lod const& lod_;
    std::size_t level_;
};

/// The layout of the steps of a batch in one contiguous block of rows: row offsets and levels of each step.
struct StepLayout {
    std::vector<std::int64_t> rows;  // the first row of each step, and the total

    struct Level {
        std::vector<std::int64_t> offsets;  // those of all steps, concatenated; each step's start at 0
        std::vector<std::int64_t> begin;    // the start of each step's offsets, and the total
    };
    std::vector<Level> levels;

    std::optional<StepOrigin> origin;  // only for steps that were unpacked with a map

    static Lod lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t);
};

/// Fills the layout and row_starts. Step t has elements [starts[t], starts[t + 1]) of `elements`, which are sequences
/// of level + 1.
void lay_out(StepLayout& layout, Lod const& lod, std::size_t level, std::span<std::int64_t const> starts,
             std::span<std::int64_t const> elements, std::vector<std::int64_t>& row_starts);

/// Returns the layout of the steps of a batch. Unless an element is one row, sets `row_starts` to the row offsets of
/// the packed elements and `elements` to those of the map.
template <class D>
std::shared_ptr<StepLayout const> make_layout(Lod const& lod, StepMap<D> const& map,
                                              std::vector<std::int64_t>& row_starts, Tensor<std::int64_t>& elements) {
    auto layout = std::make_shared<StepLayout>();
    layout->origin = StepMapAccess::origin(map);
    auto const starts = map.starts();
    std::size_t const below = map.level() + 1;
    if (below == lod.levels()) {
        layout->rows.assign(starts.begin(), starts.end());
        return layout;
    }
    elements = StepMapAccess::host_elements(map);
    lay_out(*layout, lod, map.level(), starts, {elements.data(), elements.size()}, row_starts);
    return layout;
}

/// Copies the rows of all steps to one block, `packed`, and returns their layout.
template <class T, class D>
std::shared_ptr<StepLayout const> unpack_rows(D const& exec, LoDTensor<T, D> const& input, StepMap<D> const& map,
                                              Tensor<T, D>& packed) {
    std::vector<std::int64_t> starts;
    Tensor<std::int64_t> elements;
    auto layout = make_layout(input.lod(), map, starts, elements);
    std::size_t const width = input.value().row_size();
    auto shape = input.shape();
    shape[0] = static_cast<std::size_t>(layout->rows.back());
    packed = new_tensor<T>(exec, shape);
    T const* const from = input.value().data();
    T* const to = packed.data();
    if (starts.empty()) {
        take_rows(exec, shape[0], width, from, StepMapAccess::elements(map), to);
    } else {
        Elements const at(input.lod(), map.level());
        copy_blocks(
            exec, starts, width * sizeof(T),
            [&, e = elements.data()](std::size_t i) { return from + static_cast<std::size_t>(at.row(e[i])) * width; },
            blocks_at(to, starts, width));
    }
    return layout;
}

}  // namespace rowan::inline v0::detail

// rowan/sequence/detail/step_rows_inl.hpp: definitions of rowan/sequence/detail/step_rows.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <array>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Lod StepLayout::lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t) {
    if (layout->levels.empty()) return {};
    std::array<std::span<std::int64_t const>, Lod::max_levels> offsets;
    for (std::size_t l = 0; l < layout->levels.size(); ++l) {
        auto const& level = layout->levels[l];
        offsets[l] = std::span(level.offsets)
                         .subspan(static_cast<std::size_t>(level.begin[t]),
                                  static_cast<std::size_t>(level.begin[t + 1] - level.begin[t]));
    }
    return LodAccess::make(layout, std::span(offsets.data(), layout->levels.size()));
}

ROWAN_FUNCTION void lay_out(StepLayout& layout, Lod const& lod, std::size_t level, std::span<std::int64_t const> starts,
                            std::span<std::int64_t const> elements, std::vector<std::int64_t>& row_starts) {
    Elements const at(lod, level);
    for (std::size_t l = level + 1; l < lod.levels(); ++l) {
        auto const offsets = lod[l];
        auto& of_steps = layout.levels.emplace_back();
        of_steps.begin.push_back(0);
        for (std::size_t t = 0; t + 1 < starts.size(); ++t) {
            auto const first = static_cast<std::size_t>(starts[t]),
                       size = static_cast<std::size_t>(starts[t + 1]) - first;
            std::int64_t end = 0;
            of_steps.offsets.push_back(0);
            for (std::int64_t const e : elements.subspan(first, size)) {
                auto const last = static_cast<std::size_t>(at.begin(l, e + 1));
                for (auto q = static_cast<std::size_t>(at.begin(l, e)); q < last; ++q)
                    of_steps.offsets.push_back(end += offsets[q + 1] - offsets[q]);
            }
            of_steps.begin.push_back(static_cast<std::int64_t>(of_steps.offsets.size()));
        }
    }
    row_starts.push_back(0);
    for (std::int64_t const e : elements) row_starts.push_back(row_starts.back() + at.row(e + 1) - at.row(e));
    for (std::int64_t const i : starts) layout.rows.push_back(row_starts[static_cast<std::size_t>(i)]);
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sequence/tensor_array.hpp: TensorArray<T, Device>, a growing list of tensors, such as steps of a recurrence.

namespace rowan::inline v0 {

/// Options of TensorArray::unpack.
struct UnpackOptions {
    std::size_t level = 0;       ///< the level whose sequences are split into steps
    bool sort_by_length = true;  ///< descending length, a stable sort; false: input order
};

template <class T, class Device = Cpu>
struct Unpacked;

namespace detail {

/// Device-specific implementation of to += from.
template <class D>
struct Accumulation {
    static_assert(has_backend<D>,
                  "rowan: TensorArray on a Thrust device needs #include <rowan/thrust/sequence/tensor_array.hpp>");
};

template <>
struct Accumulation<Cpu> {
    template <class T>
    static void add(Cpu, std::size_t n, T const* from, T* to) {
        for_lanes<sum_t<T>>(add_lanes{}, n, from, to);
    }
};

struct TensorArrayAccess;

}  // namespace detail

/// A list of tensors in slots 0, 1, …, with or without LoD. The first write fixes rank, trailing dims and number of
/// levels; the first dim may vary from slot to slot. A slot that was never written cannot be read. A copy is deep. On a
/// device, functions without an execution argument run on the device or stream on which their value or, without a value,
/// the first slot was made.
template <class T, class Device>
class TensorArray {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    TensorArray() = default;  ///< no slots

    TensorArray(TensorArray const&) = default;
    TensorArray(TensorArray&& other) noexcept : TensorArray() { swap(other); }
    TensorArray& operator=(TensorArray other) noexcept {
        swap(other);
        return *this;
    }
    ~TensorArray() = default;

    void swap(TensorArray& other) noexcept;

    /// An array whose slots are aliases of these. A later write to a slot affects only the array that is written to.
    /// errors   std::bad_alloc
    /// cost     O(slots)
    TensorArray share() const;

    std::size_t size() const noexcept { return layout_ ? layout_->rows.size() - 1 : slots_.size(); }

    /// True if slot `index` was written.
    bool written(std::size_t index) const noexcept { return index < size() && (layout_ || slots_[index].has_value()); }

    /// An alias of slot `index`: changes of its elements are visible in the array.
    /// errors   IndexError if index is not in [0, size()) or the slot was never written
    /// cost     O(1), no allocation
    LoDTensor<T, Device> read(std::size_t index) const;

    /// Stores `value` in slot `index`; the array grows as needed. If data_shared, the slot is an alias of `value`:
    /// changes of the elements are visible in both. Otherwise it is a copy, which on Cpu reuses the slot's memory if
    /// the shape is the same and nothing else aliases it.
    /// errors   ShapeError if rank, trailing dims or number of levels are not those of the first write; IndexError if
    ///          index >= max_size()
    /// cost     O(1) if data_shared, else one copy; O(slots) once if the slots are in one block
    template <std::same_as<LoDTensor<T, Device>> L>  // so that a braced list makes a Tensor
    void write(std::size_t index, L const& value, bool data_shared = true);
    void write(std::size_t index, Tensor<T, Device> const& value, bool data_shared = true);

    /// Adds `value` to slot `index` in place, or writes a copy if the slot was never written: the adjoint of one or
    /// more reads.
    /// errors   ShapeError if value has another shape or Lod than the slot; Error if it overlaps the slot without being
    ///          the same memory
    /// cost     one read of both and one write; as write if the slot was never written
    template <std::same_as<LoDTensor<T, Device>> L>
    void accumulate(std::size_t index, L const& value);
    void accumulate(std::size_t index, Tensor<T, Device> const& value);

    /// Resets slot `index` to never written.
    /// errors   IndexError if index is not in [0, size()) or the slot was never written
    /// cost     O(1); O(slots) once if the slots are in one block
    void erase(std::size_t index);

    /// Changes the number of slots. New slots are not written.
    /// errors   IndexError if size > max_size()
    /// cost     O(slots)
    void resize(std::size_t size);

    std::size_t max_size() const noexcept { return slots_.max_size(); }  ///< the maximum number of slots

    /// Stacks all slots along a new dim `axis`.
    /// shapes   n slots [...] -> [..., n, ...]
    /// errors   IndexError if a slot was never written or axis is not in [0, rank]; ShapeError if shapes differ
    /// cost     one read and one write of every element
    Tensor<T, Device> stack(std::size_t axis = 0) const { return stack(own_exec(), axis); }
    Tensor<T, Device> stack(Device const& exec, std::size_t axis = 0) const;

    /// Stacks the slots `indices`, which may repeat, in their order along a new first dim. Here and in the functions
    /// below, indices in device memory are copied to the host, which synchronizes.
    /// shapes   indices [k], slots [...] -> [k, ...]
    /// errors   ShapeError if indices are not a flat list or slots differ in shape; IndexError if an index is not in
    ///          [0, size()) or its slot was never written
    /// cost     one read and one write of every element
    Tensor<T, Device> gather(Ids<Device> indices) const { return gather(own_exec(), indices); }
    Tensor<T, Device> gather(Device const& exec, Ids<Device> indices) const;

    /// The adjoint of gather: an array of `size` slots, where slot i is the sum of out_grad[k] over all k with
    /// indices[k] == i, in input order and blocks of 64, or zeros if there are none.
    /// shapes   indices [k], out_grad [k, ...] -> slots [...]
    /// errors   IndexError if an index is not in [0, size); ShapeError if indices are not a flat list or not as many as
    ///          out_grad has rows
    /// cost     one read of out_grad and one write of the slots; also O(indices + size) time and memory
    static TensorArray gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size);
    static TensorArray gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad,
                                   std::size_t size);

    /// Splits a tensor along a dim: slot i is a copy of part i, without that dim. stack(axis) is the inverse.
    /// errors   IndexError if axis is not in [0, rank)
    /// cost     one read and one write of every element, to one block; 8 bytes per slot
    static TensorArray unstack(Tensor<T, Device> const& tensor, std::size_t axis = 0);
    static TensorArray unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis = 0);

    /// Writes a copy of part k of `value` along its first dim to slot indices[k], for all k.
    /// shapes   indices [k], value [k, ...]
    /// errors   IndexError if an index is not in [0, max_size()) or repeats; ShapeError if indices are not a flat list
    ///          or not as many as value has rows, and as in write
    /// cost     one read and one write of the value, to one block; a sort of the indices
    void scatter(Ids<Device> indices, Tensor<T, Device> const& value);

    /// Concatenates all slots along their first dim. LoD is dropped.
    /// shapes   slots [n_i, ...] -> [Σ n_i, ...]
    /// errors   IndexError if a slot was never written; ShapeError if slots have rank 0 or more than 2^63 - 1 rows in
    ///          total
    /// cost     one read and one write of every element; temporarily 8 bytes per slot
    Tensor<T, Device> concat() const { return concat(own_exec()); }
    Tensor<T, Device> concat(Device const& exec) const;

    /// Splits a tensor along its first dim: slot i is a copy of the next lengths[i] rows. concat is the inverse.
    /// errors   LodError if a length is negative or lengths do not add up to the rows; ShapeError if the tensor has
    ///          rank 0 or lengths are not a flat list
    /// cost     one read and one write of every element, to one block; 8 bytes per slot
    static TensorArray split(Tensor<T, Device> const& tensor, Ids<Device> lengths);

    /// Splits the sequences of a level into steps: slot t holds element t of every sequence longer than t, in the map's
    /// order, with the levels below. All slots are in one block of memory. `pack(level, map)` is the exact inverse.
    /// errors   IndexError if input has no such level; ShapeError if the level has more than 2^31 - 1 sequences
    /// cost     O(rows), independent of the length of the longest sequence: one read and one write of every row
    static Unpacked<T, Device> unpack(LoDTensor<T, Device> const& input, UnpackOptions options = {});
    static Unpacked<T, Device> unpack(Device const& exec, LoDTensor<T, Device> const& input,
                                      UnpackOptions options = {});
    /// The same into *steps and *map.
    /// errors   Error if steps or map is null; as above
    /// cost     as above
    static void unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length, TensorArray* steps,
                       StepMap<Device>* map);

    /// The same with an existing map. It is the adjoint of pack if `input` is the gradient of the packed batch.
    /// errors   ShapeError if the map belongs to other sequences
    /// cost     as above, without making the map
    static TensorArray unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map);
    static TensorArray unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map);

    /// Reassembles steps into sequences, in the order of the batch that the map was made from. Levels 0 … level are
    /// those of that batch, lower levels come from the slots; if slots have no levels, each of their rows is an
    /// element. The result of unpack records its sequences and their order until a slot is replaced; otherwise only
    /// sizes are checked, so steps of other sequences with the same step sizes are accepted.
    /// errors   ShapeError if level, number or sizes of steps are not the map's, or unpacked steps are of other
    ///          sequences or another order; IndexError if a slot was never written
    /// cost     O(rows): one read and one write of every row
    LoDTensor<T, Device> pack(std::size_t level, StepMap<Device> const& map) const;
    LoDTensor<T, Device> pack(Device const& exec, std::size_t level, StepMap<Device> const& map) const;

private:
    friend struct detail::TensorArrayAccess;

    // Makes an array of the parts of a tensor of this shape along dim `axis`; row i of `parts` becomes slot i.
    static TensorArray from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis);

    // Where a call without an execution runs.
    Device own_exec() const;

    void check_written(std::size_t index) const;
    void check_all_written() const;

    // Converts slots in one block to individual aliases, before one of them is replaced.
    void make_slots();

    Tensor<T, Device> stack_slots(Device const& exec, Ids<> const& indices, std::size_t axis) const;

    std::vector<std::optional<LoDTensor<T, Device>>> slots_;  // used if there is no layout_
    Tensor<T, Device> packed_;                                // else the rows of all slots
    std::shared_ptr<detail::StepLayout const> layout_;
    detail::SlotKind<T> kind_;
    bool unstacked_ = false;  // each slot is one row of packed_, reshaped to kind_.shape
};

namespace detail {

struct TensorArrayAccess {
    /// Copies an array to another device; copy(x) copies a Tensor or LoDTensor.
    template <class To, class T, class D, class Copy>
    static TensorArray<T, To> copied(TensorArray<T, D> const& array, Copy const& copy) {
        TensorArray<T, To> result;
        result.slots_.resize(array.slots_.size());
        for (std::size_t i = 0; i < array.slots_.size(); ++i) {
            if (array.slots_[i]) result.slots_[i] = copy(*array.slots_[i]);
        }
        if (array.layout_) result.packed_ = copy(array.packed_);
        result.layout_ = array.layout_;
        result.kind_ = array.kind_;
        result.unstacked_ = array.unstacked_;
        return result;
    }
};

}  // namespace detail

/// The result of TensorArray::unpack.
template <class T, class Device>
struct Unpacked {
    TensorArray<T, Device> steps;  ///< slot t holds the elements of step t
    StepMap<Device> map;           ///< the map that TensorArray::pack needs
};

}  // namespace rowan::inline v0

// rowan/sequence/tensor_array_inl.hpp: definitions of rowan/sequence/tensor_array.hpp: the slots.

namespace rowan::inline v0 {

template <class T, class Device>
void TensorArray<T, Device>::swap(TensorArray& other) noexcept {
    slots_.swap(other.slots_);
    packed_.swap(other.packed_);
    layout_.swap(other.layout_);
    std::swap(kind_, other.kind_);
    std::swap(unstacked_, other.unstacked_);
}

template <class T, class Device>
auto TensorArray<T, Device>::share() const -> TensorArray {
    TensorArray alias;
    alias.slots_.reserve(slots_.size());
    for (auto const& slot : slots_) alias.slots_.push_back(slot ? std::optional(slot->share()) : std::nullopt);
    alias.packed_ = packed_.share();
    alias.layout_ = layout_;
    alias.kind_ = kind_;
    alias.unstacked_ = unstacked_;
    return alias;
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::read(std::size_t index) const {
    check_written(index);
    if (!layout_) return slots_[index]->share();
    auto const begin = static_cast<std::size_t>(layout_->rows[index]);
    auto const end = static_cast<std::size_t>(layout_->rows[index + 1]);
    auto rows = packed_.slice(begin, end);
    if (unstacked_) rows = rows.reshaped(kind_.shape);
    return {std::move(rows), detail::StepLayout::lod(layout_, index)};
}

template <class T, class Device>
template <std::same_as<LoDTensor<T, Device>> L>
void TensorArray<T, Device>::write(std::size_t index, L const& value, bool data_shared) {
    value.check();
    kind_.check(value);
    if (index >= max_size())
        throw IndexError("index", 0, static_cast<std::int64_t>(index), static_cast<std::int64_t>(max_size()));
    make_slots();
    if (data_shared || index >= slots_.size() || !slots_[index]) {
        LoDTensor<T, Device> stored = data_shared ? value.share() : value;
        if (index >= slots_.size()) slots_.resize(index + 1);
        slots_[index] = std::move(stored);
    } else {
        *slots_[index] = value;
    }
    kind_.know(value.shape(), value.lod().levels());
}

template <class T, class Device>
void TensorArray<T, Device>::write(std::size_t index, Tensor<T, Device> const& value, bool data_shared) {
    write(index, LoDTensor<T, Device>(value.share()), data_shared);
}

template <class T, class Device>
template <std::same_as<LoDTensor<T, Device>> L>
void TensorArray<T, Device>::accumulate(std::size_t index, L const& value) {
    if (!written(index)) return write(index, value, false);
    auto slot = read(index);
    detail::check_same_shape("value", value.value(), slot.value());
    if (!(slot.lod() == value.lod())) throw ShapeError("value.lod()", "another", "that of the slot");
    if (slot.value().data() != value.value().data()) {
        std::string name = "slots[";
        name.append(std::to_string(index)).append("]");
        detail::check_apart(name.c_str(), detail::bytes_of(slot.value()), "value", detail::bytes_of(value.value()));
    }
    detail::Accumulation<Device>::add(value.value().device(), value.value().size(), value.value().data(),
                                      slot.value().data());
}

template <class T, class Device>
void TensorArray<T, Device>::accumulate(std::size_t index, Tensor<T, Device> const& value) {
    accumulate(index, LoDTensor<T, Device>(value.share()));
}

template <class T, class Device>
void TensorArray<T, Device>::erase(std::size_t index) {
    check_written(index);
    make_slots();
    slots_[index].reset();
}

template <class T, class Device>
void TensorArray<T, Device>::resize(std::size_t size) {
    if (size > max_size())
        throw IndexError("size", 0, static_cast<std::int64_t>(size), static_cast<std::int64_t>(max_size()));
    make_slots();
    slots_.resize(size);
}

template <class T, class Device>
Device TensorArray<T, Device>::own_exec() const {
    if (layout_) return packed_.device();
    for (auto const& slot : slots_) {
        if (slot) return slot->device();
    }
    return Device{};
}

template <class T, class Device>
void TensorArray<T, Device>::check_written(std::size_t index) const {
    if (index >= size())
        throw IndexError("index", 0, static_cast<std::int64_t>(index), static_cast<std::int64_t>(size()));
    if (!written(index)) throw IndexError("slots", index, "was never written");
}

template <class T, class Device>
void TensorArray<T, Device>::check_all_written() const {
    for (std::size_t i = 0; i < size(); ++i) check_written(i);
}

template <class T, class Device>
void TensorArray<T, Device>::make_slots() {
    if (!layout_) return;
    std::vector<std::optional<LoDTensor<T, Device>>> slots(size());
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = read(i);
    slots_ = std::move(slots);
    layout_ = nullptr;
    unstacked_ = false;
    packed_ = Tensor<T, Device>();
}

}  // namespace rowan::inline v0

// rowan/sequence/detail/pack_steps.hpp: pack_steps, which reassembles the steps of a batch into sequences.

namespace rowan::inline v0::detail {

/// Throws ShapeError unless levels 0 … map.level() of `lod` equal those of the map.
template <class D>
void check_map(Lod const& lod, StepMap<D> const& map) {
    if (map.lod().empty()) throw ShapeError("map.lod().levels()", "0", "at least 1");
    if (lod.levels() <= map.level())
        throw ShapeError("input.lod().levels()", std::to_string(lod.levels()),
                         "at least " + std::to_string(map.level() + 1) + ", for the level of the map");
    for (std::size_t l = 0; l <= map.level(); ++l) {
        auto const found = lod[l];
        auto const want = map.lod()[l];
        std::string const level = std::to_string(l);
        if (found.size() != want.size())
            throw ShapeError("input.lod().sequences(" + level + ")", std::to_string(found.size() - 1),
                             std::to_string(want.size() - 1) + ", the map's");
        auto const differs = std::ranges::mismatch(found, want);
        if (differs.in1 == found.end()) continue;
        throw ShapeError("input.lod()[" + level + "][" + std::to_string(differs.in1 - found.begin()) + "]",
                         std::to_string(*differs.in1), std::to_string(*differs.in2) + ", the map's");
    }
}

/// Throws ShapeError if the steps were unpacked with a map of other sequences or of another order.
template <class D>
void check_origin(StepLayout const& layout, StepMap<D> const& map) {
    if (!layout.origin || *layout.origin == StepMapAccess::origin(map)) return;
    throw ShapeError("map", "that of other sequences or of another order", "the one that the steps were cut by");
}

/// Levels 0 … level of `above`, followed by the levels `below`, which may be empty.
Lod join_levels(Lod const& above, std::size_t level, std::vector<std::vector<std::int64_t>> const& below);

/// Allocates a batch for packed steps of single rows. `shape` is that of the rows; its first dim is ignored.
template <class T, class D>
LoDTensor<T, D> new_batch(D const& exec, StepMap<D> const& map, typename Tensor<T, D>::shape_type shape) {
    shape[0] = StepMapAccess::count(map);
    return {new_tensor<T>(exec, shape), join_levels(map.lod(), map.level(), {})};
}

/// Packs steps whose rows are contiguous in `block`.
template <class T, class D>
LoDTensor<T, D> pack_block(D const& exec, Tensor<T, D> const& block, StepMap<D> const& map) {
    auto batch = new_batch<T>(exec, map, block.shape());
    put_rows(exec, batch.shape()[0], block.row_size(), block.data(), StepMapAccess::elements(map),
             batch.value().data());
    return batch;
}

/// Implements TensorArray::pack. `shape` is the slots' shape, its first dim is ignored; `levels` is their number of
/// levels.
template <class T, class D>
LoDTensor<T, D> pack_steps(D const& exec, std::vector<LoDTensor<T, D>> const& slots, StepMap<D> const& map,
                           typename Tensor<T, D>::shape_type shape, std::size_t levels) {
    std::size_t const count = StepMapAccess::count(map);
    std::size_t const width = product_from(shape, 1);
    if (shape.empty()) throw ShapeError("slot rank", "0", "at least 1");
    if (levels == 0) {
        auto batch = new_batch<T>(exec, map, shape);
        put_blocks(
            exec, map.starts(), width,
            [data = slots.data()](std::size_t t) -> T const* { return data[t].value().data(); },
            StepMapAccess::elements(map), batch.value().data());
        return batch;
    }
    auto const elements = StepMapAccess::host_elements(map);
    // begin[l][e]: the start of element e in level l of the result; begin[levels] counts rows
    std::vector<std::vector<std::int64_t>> begin(levels + 1, std::vector<std::int64_t>(count + 1));
    std::vector<T const*> rows(count);
    auto const for_elements = [&](auto const& f) {
        for (std::size_t t = 0; t < slots.size(); ++t) {
            std::int64_t const* const step = elements.data() + map.starts()[t];
            for (std::size_t j = 0; j < map.step_size(t); ++j)
                f(slots[t], static_cast<std::size_t>(step[j]), static_cast<std::int64_t>(j));
        }
    };
    // Element q of a slot is sequence q of its level 0. first() returns its start in level l, or its first row if
    // l == levels.
    auto const first = [](Lod const& lod, std::size_t l, std::int64_t q) {
        for (std::size_t k = 0; k < l; ++k) q = lod[k][static_cast<std::size_t>(q)];
        return q;
    };
    for_elements([&](LoDTensor<T, D> const& slot, std::size_t e, std::int64_t j) {
        for (std::size_t l = 0; l <= levels; ++l)
            begin[l][e + 1] = first(slot.lod(), l, j + 1) - first(slot.lod(), l, j);
        rows[e] = slot.value().data() + static_cast<std::size_t>(first(slot.lod(), levels, j)) * width;
    });
    auto const add = [](std::int64_t sum, std::int64_t more) { return checked_add("rows of the steps", sum, more); };
    for (auto& list : begin) std::partial_sum(list.begin(), list.end(), list.begin(), add);
    std::vector<std::vector<std::int64_t>> offsets(levels);
    for (std::size_t l = 0; l < levels; ++l) offsets[l].resize(static_cast<std::size_t>(begin[l].back()) + 1);
    for_elements([&](LoDTensor<T, D> const& slot, std::size_t e, std::int64_t j) {
        for (std::size_t l = 0; l < levels; ++l) {
            auto const from = slot.lod()[l];
            auto const at = static_cast<std::size_t>(first(slot.lod(), l, j));
            auto const to = static_cast<std::size_t>(begin[l][e]);
            auto const n = static_cast<std::size_t>(begin[l][e + 1] - begin[l][e]);
            for (std::size_t k = 1; k <= n; ++k) offsets[l][to + k] = begin[l + 1][e] + from[at + k] - from[at];
        }
    });
    shape[0] = static_cast<std::size_t>(begin[levels].back());
    auto value = new_tensor<T>(exec, shape);
    copy_blocks(
        exec, begin[levels], width * sizeof(T), [&](std::size_t e) { return rows[e]; },
        blocks_at(value.data(), begin[levels], width));
    return {std::move(value), join_levels(map.lod(), map.level(), offsets)};
}

}  // namespace rowan::inline v0::detail

// rowan/sequence/detail/pack_steps_inl.hpp: definitions of rowan/sequence/detail/pack_steps.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <span>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Lod join_levels(Lod const& above, std::size_t level,
                               std::vector<std::vector<std::int64_t>> const& below) {
    std::vector<std::span<std::int64_t const>> levels;
    for (std::size_t l = 0; l <= level; ++l) levels.push_back(above[l]);
    if (below.empty()) return LodAccess::make(LodAccess::memory(above), levels);
    levels.insert(levels.end(), below.begin(), below.end());
    return Lod(levels);
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/detail/block_sum.hpp: BlockSum, the sum of a row's contributions in the documented order.

namespace rowan::inline v0::detail {

/// Contributions per block: the first level of the sum adds blocks of 64 contributions in input order, the next level
/// adds blocks of 64 of these sums, and so on.
inline constexpr std::size_t block_size = 64;

/// Sums the rows of a value at given positions. It owns the memory of the partial sums, so each thread needs its own.
template <class T, class S>
class BlockSum {
public:
    /// `most` is the maximum number of contributions of one sum.
    BlockSum(T const* value, std::size_t width, std::size_t most)
        : value_(value), width_(width), ahead_(lookahead(width * sizeof(T))) {
        std::size_t levels = 1;
        for (std::size_t n = most; n > block_size; n = (n + block_size - 1) / block_size) ++levels;
        partial_.resize(levels * width);
    }

    /// Returns the sum of the rows at the n > 0 positions from `first` on, valid until the next call. `ahead` more
    /// positions follow in the array; their rows are prefetched.
    S const* operator()(std::int64_t const* first, std::size_t n, std::size_t ahead) {
        if constexpr (std::is_same_v<S, T>) {
            if (n == 1) {
                if (ahead >= ahead_) prefetch_row<false>(row(first[ahead_]), width_ * sizeof(T));
                return row(*first);
            }
        }
        sum(first, n, n + ahead, partial_.data());
        return partial_.data();
    }

private:
    T const* row(std::int64_t position) const { return value_ + static_cast<std::size_t>(position) * width_; }

    void sum(std::int64_t const* first, std::size_t n, std::size_t known, S* out) {
        if (n <= block_size) {
            for (std::size_t i = 0; i < n; ++i) {
                if (i + ahead_ < known) prefetch_row<false>(row(first[i + ahead_]), width_ * sizeof(T));
                if (i == 0) {
                    copy_lanes<S>(width_, row(*first), out);
                } else {
                    for_lanes<S>(add_lanes{}, width_, row(first[i]), out);
                }
            }
            return;
        }
        std::size_t span = block_size;
        while (span * block_size < n) span *= block_size;
        sum(first, span, known, out);
        for (std::size_t i = span; i < n; i += span) {
            sum(first + i, std::min(span, n - i), known - i, out + width_);
            for_lanes<S>(add_lanes{}, width_, static_cast<S const*>(out + width_), out);
        }
    }

    T const* value_;
    std::size_t width_;
    std::size_t ahead_;
    Buffer<S> partial_;
};

}  // namespace rowan::inline v0::detail

// rowan/sequence/detail/sequences.hpp: helpers shared by the algorithms on sequences of the last level.

namespace rowan::inline v0::detail {

void check_levels(std::string const& field, Lod const& lod);

/// Throws unless `x` has levels that match its rows. Validates exec.threads even if there is no work.
template <class T, class D>
void check_sequences(D const& exec, std::string const& field, LoDTensor<T, D> const& x) {
    check_exec(exec);
    x.check();
    check_levels(field + ".lod()", x.lod());
}

/// Converts an argument to the element type. Throws ValueError if that is an integer type and x is not whole or out of
/// range.
template <class T>
T checked_number(char const* field, double x) {
    using S = sum_t<T>;
    if constexpr (std::integral<S>) {
        if (!is_whole<std::conditional_t<std::integral<T>, T, S>>(x))
            throw ValueError(field, x, "a whole number that the element type holds");
    }
    return dtype<T>::narrow(constant<S>(x));
}

/// The value that Tensor::zeros fills with.
template <class T>
T zero() {
    return dtype<T>::narrow(sum_t<T>{});
}

inline std::span<std::int64_t const> last_level(Lod const& lod) { return lod[lod.levels() - 1]; }

inline Lod upper_levels(Lod const& lod) { return lod.slice_levels(0, lod.levels() - 1); }

/// Replaces the offsets of the last level. Their number must stay the same.
Lod with_last_level(Lod const& lod, std::vector<std::int64_t> offsets);

/// The length of sequence s.
inline std::size_t length_at(std::span<std::int64_t const> offsets, std::size_t s) {
    return static_cast<std::size_t>(offsets[s + 1] - offsets[s]);
}

/// The length of the longest of the sequences [begin, end).
std::size_t longest_of(std::span<std::int64_t const> offsets, std::size_t begin, std::size_t end);

/// Calls f(begin, end) on ranges that partition the sequences, of about 2^15 elements each; small inputs run serially.
/// Does nothing if width is 0, except that it validates exec.threads.
template <class F>
void for_sequences(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, F const& f) {
    std::size_t const n = offsets.size() - 1;
    std::size_t const elements = static_cast<std::size_t>(offsets.back()) * width + n;
    bool const serial = threads_for(exec, elements) == 1;
    if (width == 0) return;
    parallel_for(exec, n, serial ? n : n / (elements >> 15), f);
}

/// Writes `times` consecutive copies of `size` elements.
template <class T>
void repeat(T const* from, std::size_t size, std::size_t times, T* to) {
    for (std::size_t i = 0; i < times; ++i) to = std::copy_n(from, size, to);
}

/// True if x is neither less nor greater than y: equal or unordered.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD bool beside(V const& x, V const& y) {
    return !(x < y) && !(x > y);
}

/// True if x is NaN: neither less nor greater than two different numbers.
template <class V>
ROWAN_HD bool unordered(V const& x) {
    return beside(x, constant<V>(0)) && beside(x, constant<V>(1));
}

/// True if x replaces `best`, the extremum of all elements before it: it is more extreme, or the first NaN. Ties keep
/// `best`.
template <bool greatest>
struct more_extreme {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static auto beyond(V const& x, V const& best) {
        if constexpr (greatest) {
            return x > best;
        } else {
            return x < best;
        }
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE auto operator()(V const& x, V const& best) const {
        if constexpr (std::integral<V>) {
            return beyond(x, best);
        } else if constexpr (is_batch<V>) {
            return beyond(x, best) | ((x != x) & (best == best));
        } else if constexpr (std::floating_point<V>) {
            return beyond(x, best) || (x != x && best == best);
        } else {
            return beyond(x, best) || (unordered(x) && !unordered(best));
        }
    }
};

/// Writes the extremum of each column of n > 0 rows to `best`.
template <bool greatest, class S, class T>
void column_extremes(T const* rows, std::size_t n, std::size_t width, S* best) {
    copy_lanes<S>(width, rows, best);
    for (std::size_t i = 1; i < n; ++i) {
        for_lanes<S>([](auto const& x, auto& y) { y = choose(more_extreme<greatest>{}(x, y), x, y); }, width,
                     rows + i * width, best);
    }
}

/// Scratch memory for the computed rows of one sequence at a time, and their sum per column in input order and blocks
/// of 64.
template <class S>
class ScratchRows {
public:
    ScratchRows(std::size_t rows, std::size_t width)
        : rows_(rows * width), positions_(rows), width_(width), sum_(rows_.data(), width, rows) {
        std::iota(positions_.begin(), positions_.end(), std::int64_t{0});
    }
    ScratchRows(ScratchRows const&) = delete;
    ScratchRows& operator=(ScratchRows const&) = delete;

    S* row(std::size_t i) { return rows_.data() + i * width_; }
    S const* sum(std::size_t n) { return sum_(positions_.data(), n, 0); }

private:
    std::vector<S> rows_;
    std::vector<std::int64_t> positions_;
    std::size_t width_;
    BlockSum<S, S> sum_;
};

}  // namespace rowan::inline v0::detail

// rowan/sequence/detail/sequences_inl.hpp: definitions of rowan/sequence/detail/sequences.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_levels(std::string const& field, Lod const& lod) {
    if (lod.empty()) throw ShapeError(field + ".levels()", "0", "at least 1");
}

ROWAN_FUNCTION Lod with_last_level(Lod const& lod, std::vector<std::int64_t> offsets) {
    struct Memory {
        Lod upper;
        std::vector<std::int64_t> last;
    };
    auto const memory = std::make_shared<Memory const>(Memory{upper_levels(lod), std::move(offsets)});
    std::array<std::span<std::int64_t const>, Lod::max_levels> levels;
    for (std::size_t l = 0; l + 1 < lod.levels(); ++l) levels[l] = memory->upper[l];
    levels[lod.levels() - 1] = memory->last;
    return LodAccess::make(memory, std::span(levels.data(), lod.levels()));
}

ROWAN_FUNCTION std::size_t longest_of(std::span<std::int64_t const> offsets, std::size_t begin, std::size_t end) {
    std::size_t longest = 0;
    for (std::size_t s = begin; s < end; ++s) longest = std::max(longest, length_at(offsets, s));
    return longest;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sequence/detail/stack_parts.hpp: stack_parts, unstack_parts and sum_parts, for parts of one shape along a dim.

namespace rowan::inline v0::detail {

/// Device-specific implementation of stacking, unstacking and summing n parts of `outer` times `inner` elements.
template <class D>
struct Stacking {
    static_assert(has_backend<D>,
                  "rowan: TensorArray on a Thrust device needs #include <rowan/thrust/sequence/tensor_array.hpp>");
};

template <>
struct Stacking<Cpu> {
    template <class T>
    static void stack(Cpu exec, std::vector<T const*> const& data, std::size_t outer, std::size_t inner, T* to) {
        copy_rows(
            exec, outer * data.size(), inner * sizeof(T),
            [&, n = data.size()](std::size_t r) { return data[r % n] + r / n * inner; },
            [=](std::size_t r) { return to + r * inner; });
    }
    template <class T>
    static void unstack(Cpu exec, T const* from, std::size_t n, std::size_t outer, std::size_t inner, T* to) {
        copy_rows(
            exec, n * outer, inner * sizeof(T),
            [=](std::size_t r) { return from + (r % outer * n + r / outer) * inner; },
            [=](std::size_t r) { return to + r * inner; });
    }

    /// Row i of `to` is the sum of rows positions[begins[i]] … positions[begins[i + 1] - 1].
    template <class T>
    static void sum(Cpu exec, T const* rows, std::size_t width, std::vector<std::int64_t> const& begins,
                    std::vector<std::int64_t> const& positions, T* to) {
        using S = sum_t<T>;
        for_sequences(exec, begins, width, [&](std::size_t i, std::size_t end) {
            BlockSum<T, S> sum(rows, width, longest_of(begins, i, end));
            for (; i < end; ++i) {
                std::size_t const count = length_at(begins, i);
                if (count == 0) {
                    std::fill_n(to + i * width, width, zero<T>());
                } else {
                    copy_lanes<S>(width, sum(positions.data() + begins[i], count, 0), to + i * width);
                }
            }
        });
    }
};

/// Stacks parts of one shape along a new dim `axis`. Part i is at data[i].
template <class T, class D>
Tensor<T, D> stack_parts(D const& exec, std::vector<T const*> const& data, typename Tensor<T, D>::shape_type shape,
                         std::size_t axis) {
    std::size_t const n = data.size();
    std::size_t const inner = product_from(shape, axis);
    typename Tensor<T, D>::shape_type with_axis(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    with_axis.push_back(n);
    for (std::size_t k = axis; k < shape.size(); ++k) with_axis.push_back(shape[k]);
    auto all = new_tensor<T>(exec, with_axis);
    Stacking<D>::stack(exec, data, all.size() == 0 ? 0 : all.size() / inner / n, inner, all.data());
    return all;
}

/// Splits a tensor along dim `axis` into contiguous parts: [n, elements of a part].
template <class T, class D>
Tensor<T, D> unstack_parts(D const& exec, Tensor<T, D> const& tensor, std::size_t axis) {
    auto const& shape = tensor.shape();
    std::size_t const n = shape[axis];
    std::size_t const inner = product_from(shape, axis + 1);
    std::size_t outer = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= shape[k];
    auto parts = new_tensor<T>(exec, {n, outer * inner});
    Stacking<D>::unstack(exec, tensor.data(), n, outer, inner, parts.data());
    return parts;
}

/// Sums the parts of a tensor along its first dim: row i of the result [n, elements of a part] is the sum of all parts
/// k with indices[k] == i, in input order and blocks of 64, or zeros if there are none.
template <class T, class D>
Tensor<T, D> sum_parts(D const& exec, Tensor<T, D> const& tensor, Ids<> const& indices, std::size_t n) {
    checked_size("size", std::array{n + 1}, sizeof(std::int64_t));
    std::vector<std::int64_t> ends(n + 1);  // the start of the parts of each sum; the loop below advances it to the end
    for (std::size_t k = 0; k < indices.size(); ++k) ++ends[static_cast<std::size_t>(indices[k]) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::int64_t> const begins = ends;
    std::vector<std::int64_t> positions(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        auto& next = ends[static_cast<std::size_t>(indices[k])];
        positions[static_cast<std::size_t>(next++)] = static_cast<std::int64_t>(k);
    }
    std::size_t const width = tensor.row_size();
    auto sums = new_tensor<T>(exec, {n, width});
    Stacking<D>::sum(exec, tensor.data(), width, begins, positions, sums.data());
    return sums;
}

}  // namespace rowan::inline v0::detail

// rowan/sequence/tensor_array_parts_inl.hpp: definitions of rowan/sequence/tensor_array.hpp: slots from and to one tensor or batch.

namespace rowan::inline v0 {

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack(Device const& exec, std::size_t axis) const {
    std::vector<std::int64_t> all(size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return stack_slots(exec, all, axis);
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::gather(Device const& exec, Ids<Device> indices) const {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_list("indices", on_host);
    detail::check_ids(detail::host_exec(exec), "indices", on_host, static_cast<std::int64_t>(size()));
    return stack_slots(exec, on_host, 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size)
    -> TensorArray {
    return gather_grad(out_grad.device(), indices, out_grad, size);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad,
                                         std::size_t size) -> TensorArray {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_list("indices", on_host);
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(indices.size()));
    detail::check_ids(detail::host_exec(exec), "indices", on_host, Height(size));
    return from_parts(detail::sum_parts(exec, out_grad, on_host, size), out_grad.shape(), 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Tensor<T, Device> const& tensor, std::size_t axis) -> TensorArray {
    return unstack(tensor.device(), tensor, axis);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis)
    -> TensorArray {
    auto const& shape = tensor.shape();
    if (axis >= shape.size())
        throw IndexError("axis", 0, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(shape.size()));
    return from_parts(detail::unstack_parts(exec, tensor, axis), shape, axis);
}

template <class T, class Device>
void TensorArray<T, Device>::scatter(Ids<Device> indices, Tensor<T, Device> const& value) {
    Device const exec = value.device();
    detail::HostIds<Device> const on_host(exec, indices);
    Ids<> const& list = on_host;
    detail::check_list("indices", list);
    detail::check_height("value", value, static_cast<std::int64_t>(list.size()));
    detail::check_ids(
        Cpu{}, "indices", list,
        static_cast<std::int64_t>(std::min<std::size_t>(max_size(), std::numeric_limits<std::int64_t>::max())));
    std::vector<std::pair<std::int64_t, std::size_t>> sorted;
    for (std::size_t i = 0; i < list.size(); ++i) sorted.emplace_back(list[i], i);
    std::ranges::sort(sorted);
    std::size_t twice = list.size();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].first == sorted[i - 1].first) twice = std::min(twice, sorted[i].second);
    }
    if (twice != list.size()) throw IndexError("indices", twice, list[twice], "stands there already");
    if (sorted.empty()) return;
    auto const parts = unstack(exec, value);
    kind_.check(parts.read(0));
    make_slots();
    if (auto const last = static_cast<std::size_t>(sorted.back().first); last >= slots_.size())
        slots_.resize(last + 1);  // the last call that may throw
    for (std::size_t i = 0; i < list.size(); ++i) write(static_cast<std::size_t>(list[i]), parts.read(i));
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::concat(Device const& exec) const {
    check_all_written();
    if (kind_.known && kind_.shape.empty()) throw ShapeError("slot rank", "0", "at least 1");
    std::vector<std::int64_t> starts{0};
    for (std::size_t i = 0; i < size(); ++i)
        starts.push_back(
            detail::checked_add("rows of the slots", starts.back(), static_cast<std::int64_t>(read(i).shape()[0])));
    shape_type shape = kind_.known ? kind_.shape : shape_type{0};
    shape[0] = static_cast<std::size_t>(starts.back());
    auto all = detail::new_tensor<T>(exec, shape);
    std::size_t const width = all.row_size();
    detail::copy_blocks(
        exec, starts, width * sizeof(T), [&](std::size_t i) { return read(i).value().data(); },
        detail::blocks_at(all.data(), starts, width));
    return all;
}

template <class T, class Device>
auto TensorArray<T, Device>::split(Tensor<T, Device> const& tensor, Ids<Device> lengths) -> TensorArray {
    detail::HostIds<Device> const on_host(tensor.device(), lengths);
    LoDTensor<T, Device> const cut(tensor.share(), Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
    TensorArray array;
    auto layout = std::make_shared<detail::StepLayout>();
    layout->rows.assign(cut.lod()[0].begin(), cut.lod()[0].end());
    array.layout_ = std::move(layout);
    array.packed_ = tensor;
    array.kind_.know(tensor.shape(), 0);
    return array;
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, UnpackOptions options) {
    return unpack(input.device(), input, options);
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input,
                                                   UnpackOptions options) {
    input.check();
    StepMap<Device> map(exec, input.lod(), options.level, options.sort_by_length);
    auto steps = unpack(exec, input, map);
    return {std::move(steps), std::move(map)};
}

template <class T, class Device>
void TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length,
                                    TensorArray* steps, StepMap<Device>* map) {
    if (steps == nullptr || map == nullptr) throw Error(steps == nullptr ? "steps is null" : "map is null");
    auto [made, its_map] = unpack(input, {.level = level, .sort_by_length = sort_by_length});
    *steps = std::move(made);
    *map = std::move(its_map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map) -> TensorArray {
    return unpack(input.device(), input, map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map)
    -> TensorArray {
    input.check();
    detail::check_map(input.lod(), map);
    TensorArray array;
    array.kind_.know(input.shape(), 0);
    array.layout_ = detail::unpack_rows(exec, input, map, array.packed_);
    array.kind_.levels = array.layout_->levels.size();
    return array;
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(std::size_t level, StepMap<Device> const& map) const {
    return pack(own_exec(), level, map);
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(Device const& exec, std::size_t level,
                                                  StepMap<Device> const& map) const {
    if (level != map.level())
        throw ShapeError("level", std::to_string(level), std::to_string(map.level()) + ", the map's");
    if (size() != map.steps())
        throw ShapeError("steps", std::to_string(size()), std::to_string(map.steps()) + ", the map's");
    check_all_written();
    bool const rows_in_block = layout_ && !unstacked_ && kind_.levels == 0;
    std::vector<LoDTensor<T, Device>> slots;
    if (!rows_in_block) slots.reserve(size());
    for (std::size_t t = 0; t < size(); ++t) {
        if (!rows_in_block) slots.push_back(read(t));
        std::size_t const found =
            rows_in_block ? static_cast<std::size_t>(layout_->rows[t + 1] - layout_->rows[t]) : slots[t].size();
        if (found == map.step_size(t)) continue;
        throw ShapeError("slots[" + std::to_string(t) + "].size()", std::to_string(found),
                         std::to_string(map.step_size(t)) + ", the map's");
    }
    if (layout_) detail::check_origin(*layout_, map);
    shape_type const shape = kind_.known ? kind_.shape : shape_type{0};
    if (rows_in_block) return detail::pack_block(exec, packed_, map);
    return detail::pack_steps<T>(exec, slots, map, shape, kind_.levels);
}

template <class T, class Device>
auto TensorArray<T, Device>::from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis)
    -> TensorArray {
    TensorArray array;
    array.kind_.shape = shape;
    array.kind_.shape.erase(array.kind_.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    array.kind_.known = true;
    auto layout = std::make_shared<detail::StepLayout>();
    detail::checked_size("slots", std::array{parts.shape()[0] + 1}, sizeof(std::int64_t));
    layout->rows.resize(parts.shape()[0] + 1);
    std::iota(layout->rows.begin(), layout->rows.end(), std::int64_t{0});
    array.packed_ = std::move(parts);
    array.layout_ = std::move(layout);
    array.unstacked_ = true;
    return array;
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack_slots(Device const& exec, Ids<> const& indices,
                                                      std::size_t axis) const {
    shape_type shape = kind_.known ? kind_.shape : shape_type{};
    std::vector<T const*> data;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        auto const slot = read(static_cast<std::size_t>(indices[i]));
        if (i == 0) shape = slot.shape();
        if (slot.shape() != shape) {
            throw ShapeError("slots[" + std::to_string(indices[i]) + "].shape()", detail::shape_text(slot.shape()),
                             detail::shape_text(shape));
        }
        data.push_back(slot.value().data());
    }
    if (axis > shape.size())
        throw IndexError("axis", 0, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(shape.size()) + 1);
    return detail::stack_parts<T>(exec, data, shape, axis);
}

ROWAN_TEMPLATE(class TensorArray<float>)
ROWAN_TEMPLATE(class TensorArray<double>)
ROWAN_TEMPLATE(class TensorArray<std::int64_t>)

}  // namespace rowan::inline v0

// rowan/graph/detail/array_kernels.hpp: array_kernels, operators on TensorArrays in nets, and their gradients.

namespace rowan::inline v0::detail {

inline void check_array(char const* field, VarSpec const& array) {
    if (array.type != VarType::TENSOR_ARRAY) spec::the_kinds_do_not_match(field, array.type, "a TensorArray");
}

/// The spec of an array whose slots have this spec.
inline VarSpec array_of(VarSpec slot) {
    slot.type = VarType::TENSOR_ARRAY;
    return slot;
}
inline VarSpec slot_of(char const* field, VarSpec array) {
    check_array(field, array);
    array.type = VarType::LOD_TENSOR;
    return array;
}

/// The index argument of an operator. Blocks if it is in device memory.
/// errors   ShapeError if `i` does not have one element; IndexError if the index is not in [0, slots)
template <class D>
std::size_t slot_index(AnyExec exec, Value const& i, std::size_t slots) {
    auto const& index = i.get<LoDTensor<std::int64_t, D>>().value();
    if (index.size() != 1) throw ShapeError("index.size()", std::to_string(index.size()), "1");
    std::int64_t const k = first_element(exec.get<D>(), index);
    if (k < 0 || static_cast<std::size_t>(k) >= slots)
        throw IndexError("index", 0, k, static_cast<std::int64_t>(slots));
    return static_cast<std::size_t>(k);
}

/// An operator with an array as its input.
struct array_op : whole_op {
    using inputs = slots<slot::array>;
    using outputs = slots<slot::out>;
};

// Gradients are arrays in which an unwritten slot stands for zeros. An empty Value stands for an array of zeros.

/// An empty value, which stands for zeros of any kind.
struct nothing_op : array_op {
    static constexpr std::string_view name = "nothing";
    static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {in[0]}; }
    static void run(KernelCall const& c) { c.out[0]->clear(); }
};

/// The sum of arrays.
struct array_sum_op : nothing_op {
    static constexpr std::string_view name = "array_sum";
    static void run(KernelCall const& c) {
        c.out[0]->clear();
        for (Value const* v : c.in) {
            if (!v->empty()) *c.out[0] = c.out[0]->empty() ? v->share() : c.out[0]->add_slots(*v);
        }
    }
};

/// The operators on a TensorArray<T, D>.
template <class T, class D>
struct array_kernels {
    using Array = TensorArray<T, D>;
    using Slot = LoDTensor<T, D>;

    static Array const& array(Value const* v) {
        static Array const none;
        return v->empty() ? none : v->get<Array>();
    }
    static Slot zeros_like(D const& exec, Slot const& x) { return {Tensor<T, D>::zeros(exec, x.shape()), x.lod()}; }

    /// An array without slots. The attributes are its VarSpec.
    struct create : array_op {
        static constexpr std::string_view name = "array_create";
        using inputs = slots<>;
        static std::vector<VarSpec> infer(Specs, AttributesRef attributes) {
            return {array_of(attributes.get<VarSpec>())};
        }
        static void run(KernelCall const& c) { c.out[0]->set(Array()); }
    };

    struct read_grad : whole_op {
        static constexpr std::string_view name = "array_read_grad";
        using inputs = slots<slot::index, grad_of<slot::out>>;
        using outputs = slots<grad_of<slot::array>>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {array_of(in[1])}; }
        static void run(KernelCall const& c) {
            Array grad;
            grad.write(slot_index<D>(c.exec, *c.in[0], grad.max_size()), c.in[1]->get<Slot>());
            c.out[0]->set(std::move(grad));
        }
    };

    /// A slot of the array.
    struct read : array_op {
        static constexpr std::string_view name = "array_read";
        using inputs = slots<slot::array, slot::index>;
        using grad = grad_rule<read_grad, uses<slot::index, grad_of<slot::out>>>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::same_dtype("array_read: index", in[1], tensor_spec<std::int64_t>({}));
            return {slot_of("array_read: array", in[0])};
        }
        static void run(KernelCall const& c) {
            Array const& a = array(c.in[0]);
            c.out[0]->set(a.read(slot_index<D>(c.exec, *c.in[1], a.size())));
        }
    };

    /// The gradient of the input array is zero in the slot that was overwritten.
    struct write_grad : whole_op {
        static constexpr std::string_view name = "array_write_grad";
        using inputs = slots<grad_of<slot::out>, slot::index, slot::x>;
        using outputs = slots<grad_of<slot::array>, grad_of<slot::x>>;
        static constexpr bool in_place = true;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {in[0], in[2]}; }
        static void run(KernelCall const& c) {
            Array const& grad = array(c.in[0]);
            std::size_t const i = slot_index<D>(c.exec, *c.in[1], grad.max_size());
            bool const written = grad.written(i);
            c.out[1]->set(written ? grad.read(i) : zeros_like(c.exec.get<D>(), c.in[2]->get<Slot>()));
            if (c.in[0] != c.out[0]) *c.out[0] = c.in[0]->share();
            if (written) c.out[0]->get<Array>().erase(i);
        }
    };

    /// The array with x in a slot.
    struct write : array_op {
        static constexpr std::string_view name = "array_write";
        using inputs = slots<slot::array, slot::index, slot::x>;
        using grad = grad_rule<write_grad>;
        static constexpr bool in_place = true;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::same_dtype("array_write: index", in[1], tensor_spec<std::int64_t>({}));
            VarSpec const slot = slot_of("array_write: array", in[0]);
            spec::dense("array_write: x", in[2]);
            spec::same_dtype("array_write: x", in[2], slot);
            static_cast<void>(spec::same_dims("array_write: x", in[2], slot));
            if (in[2].lod_level != slot.lod_level)
                throw ShapeError("array_write: x.lod().levels()", std::to_string(in[2].lod_level),
                                 std::to_string(slot.lod_level));
            return {in[0]};
        }
        static void run(KernelCall const& c) {
            std::size_t const i = slot_index<D>(c.exec, *c.in[1], array(c.in[0]).max_size());
            if (c.in[0] != c.out[0]) *c.out[0] = c.in[0]->share();
            c.out[0]->get<Array>().write(i, c.in[2]->get<Slot>());
        }
    };

    struct stack_grad : nothing_op {
        static constexpr std::string_view name = "array_stack_grad";
        using inputs = slots<slot::array, grad_of<slot::out>>;
        using outputs = slots<grad_of<slot::array>>;
        static void run(KernelCall const& c) {
            c.out[0]->set(Array::unstack(c.exec.get<D>(), c.in[1]->get<Slot>().value()));
        }
    };

    /// All slots as one tensor. The attributes are the VarSpec of the array.
    struct stack : array_op {
        static constexpr std::string_view name = "array_stack";
        using grad = grad_rule<stack_grad>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            Dims dims{UNK};
            for (std::int64_t const dim : slot_of("array_stack: array", in[0]).dims) dims.push_back(dim);
            return {tensor_spec<T>(dims)};
        }
        static void run(KernelCall const& c) {
            D const& exec = c.exec.get<D>();
            if (array(c.in[0]).size() != 0) return c.out[0]->set(Slot(array(c.in[0]).stack(exec)));
            typename Tensor<T, D>::shape_type shape{0};  // no slots: the other dims are those of the array's spec
            for (std::int64_t const dim : c.attributes.get<VarSpec>().dims)
                shape.push_back(static_cast<std::size_t>(std::max<std::int64_t>(dim, 0)));
            c.out[0]->set(Slot(Tensor<T, D>::zeros(exec, shape)));
        }
    };

    struct unstack_grad : stack_grad {
        static constexpr std::string_view name = "array_unstack_grad";
        static void run(KernelCall const& c) {
            D const& exec = c.exec.get<D>();
            Slot const& x = c.in[0]->get<Slot>();
            Array const& grad = array(c.in[1]);
            Array filled = Array::unstack(exec, Tensor<T, D>::zeros(exec, x.shape()));
            for (std::size_t i = 0; i < grad.size(); ++i) {
                if (grad.written(i)) filled.write(i, grad.read(i));
            }
            c.out[0]->set(filled.size() == 0 ? zeros_like(exec, x) : Slot(filled.stack(exec), x.lod()));
        }
    };

    /// An array of the slots along the first dim of a tensor.
    struct unstack : array_op {
        static constexpr std::string_view name = "array_unstack";
        using grad = grad_rule<unstack_grad>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::dense("array_unstack: x", in[0]);
            spec::has_rows("array_unstack: x", in[0]);
            Dims dims;
            for (std::size_t i = 1; i < in[0].dims.size(); ++i) dims.push_back(in[0].dims[i]);
            return {array_of(tensor_spec<T>(dims))};
        }
        static void run(KernelCall const& c) {
            c.out[0]->set(Array::unstack(c.exec.get<D>(), c.in[0]->get<Slot>().value()));
        }
    };

    /// The number of slots.
    struct size : array_op {
        static constexpr std::string_view name = "array_size";
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            check_array("array_size: array", in[0]);
            return {tensor_spec<std::int64_t>({1})};
        }
        static void run(KernelCall const& c) {
            auto const slots = static_cast<std::int64_t>(array(c.in[0]).size());
            c.out[0]->set(LoDTensor<std::int64_t, D>(to_device(c.exec.get<D>(), Tensor<std::int64_t>{slots})));
        }
    };
};

ROWAN_TEMPLATE(struct array_kernels<float, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<double, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<std::int64_t, Cpu>)

}  // namespace rowan::inline v0::detail

// rowan/graph/scope.hpp: Scope, which owns named variables and operators and may be nested.

#include <map>

namespace rowan::inline v0 {

class Variable;
class Scope;

/// The role of a variable: a result of an operator, an input fed by the caller, a trainable parameter, a state of an
/// optimizer, a seed that training sets for every batch for a random operator, or the input of a step whose recurrent
/// layer is created later.
enum class Role : std::uint8_t { temporary, data, parameter, state, seed, step_input };

/// An operator with its input and output variables. It belongs to a scope.
struct Operator {
    op_kernel const* kernel = nullptr;  ///< the kernel to run
    Attributes attributes;              ///< of the type that the kernel takes
    /// Variables in the order of the slots.
    std::vector<Variable*> inputs = {}, outputs = {};
    std::ptrdiff_t levels_from = -1;  ///< the input whose levels the results get, or -1
    /// Of an operator with a net of its own: adds the operators of the gradient to that net, unless they are there.
    std::function<void()> build_backward = nullptr;
};

/// Creates the first value of a variable. The function takes a seed, or std::nullopt to only allocate a value that is
/// written later, and the execution that creates the value; none means Device{}.
class Initializer {
public:
    /// Writes the first value.
    using Function = std::function<void(Value&, std::optional<std::uint64_t> seed, AnyExec exec)>;

    Initializer() = default;  ///< empty: the variable has no first value
    /// Wraps a function.
    template <class F>
    requires(!std::same_as<F, Initializer> && std::constructible_from<Function, F>) Initializer(F make)
        : make_(std::move(make)) {}

    explicit operator bool() const noexcept { return make_ != nullptr; }  ///< whether it holds a function
    /// Calls the function.
    void operator()(Value& value, std::optional<std::uint64_t> seed, AnyExec exec = {}) const {
        make_(value, seed, exec);
    }

private:
    Function make_;
};

/// A name, a spec, a value, and the operators that read and write the value.
class Variable {
public:
    /// Used by Scope::new_var.
    Variable(Scope& scope, VarSpec const& spec, Role role);
    Variable(Variable const&) = delete;
    Variable& operator=(Variable const&) = delete;
    ~Variable();

    /// Empty until the variable is named or becomes part of a net.
    std::string const& name() const noexcept { return name_; }
    /// Whether the program named it; false if its name was derived from its position in a net.
    bool has_own_name() const noexcept { return own_name_; }
    VarSpec const& spec() const noexcept { return spec_; }  ///< kind, element type, dims and levels
    Role role() const noexcept { return role_; }            ///< what it is used for
    Scope& scope() const noexcept { return *scope_; }       ///< the scope that owns it

    Value& value() noexcept { return value_; }  ///< empty before a net has run
    Value const& value() const noexcept { return value_; }

    /// Creates the first value of a parameter or state. Training calls it with a separate seed for each variable;
    /// without a seed it allocates a value that is read from a file.
    Initializer initialize;

    /// For variables that are fed or trained: transfers a value to the net's device, see detail::bring.
    void (*bring)(Value&, AnyExec exec, bool own) = nullptr;

    /// For a parameter created before its input width was known: sets its dims once the width is known.
    std::function<void(Variable&, std::int64_t width)> set_width;
    /// Replaces the declared dims.
    void set_dims(Dims const& dims) { spec_.dims = dims; }
    /// Sets the spec of a variable that was created before its spec was known.
    void settle(VarSpec const& spec) { spec_ = spec; }

    std::span<Operator* const> readers() const noexcept;  ///< operators that read it
    std::span<Operator* const> writers() const noexcept;  ///< operators that write it

private:
    friend class Scope;

    std::string name_;
    bool own_name_ = false;
    VarSpec spec_;
    Role role_;
    Scope* scope_;
    Value value_;
    std::vector<Operator*> readers_, writers_;
};

/// Owns variables, operators and inner scopes. `find` of an inner scope also searches this one. Not thread-safe.
class Scope {
public:
    Scope();  ///< a scope without a parent
    /// A scope within `parent`, which must outlive it.
    explicit Scope(Scope& parent);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope();

    /// Creates a variable. With an empty name, it is named when it first becomes part of a net.
    /// errors   GraphError if this scope itself already has that name
    /// cost     O(log variables), two allocations
    Variable& new_var(std::string const& name, VarSpec const& spec, Role role = Role::temporary);

    /// The variable of that name in this scope or the nearest parent that has one, or nullptr.
    Variable* find(std::string_view name) const noexcept;

    /// The variable of that name in this scope or the nearest parent that has one.
    /// errors   GraphError if there is none
    /// cost     O(log variables) for each scope searched
    Variable& get(std::string_view name) const;

    /// Creates an inner scope, which lives until drop_scopes is called or this scope is destroyed.
    /// errors   std::bad_alloc
    /// cost     one allocation
    Scope& new_scope();
    /// Destroys all inner scopes and their contents.
    void drop_scopes() noexcept;
    /// Removes its operators from the reader lists of other scopes' variables. Call it before destroying this scope if
    /// those variables outlive it.
    /// cost     for each operator, the number of readers of its inputs
    void forget_readers() noexcept;
    Scope* parent() const noexcept { return parent_; }              ///< the enclosing scope, or nullptr
    std::size_t scopes() const noexcept { return scopes_.size(); }  ///< the number of inner scopes
    /// The variables of this scope, in order of creation.
    std::span<std::unique_ptr<Variable> const> variables() const noexcept;
    /// The operators of this scope, in order of creation.
    std::span<std::unique_ptr<Operator> const> operators() const noexcept;

    /// Adds an operator that reads `inputs`, with element types T..., and creates its output variables.
    ///     Operator& op = scope.new_op<fc_op, Cpu, float, float, float>({&x, &w, &b});
    /// errors   those of Op::infer if the inputs do not fit; built-in operators name themselves in the text. If element
    ///          types are not T..., a TypeError is thrown only when a net runs the operator
    /// cost     O(inputs and results), that of infer, and some allocations
    template <class Op, class Device, class... T>
    Operator& new_op(std::vector<Variable*> inputs, attributes_of<Op> attributes = {}) {
        return new_op(kernel_of<Op, Device, T...>::value, std::move(inputs),
                      std::make_shared<attributes_of<Op> const>(std::move(attributes)));
    }
    Operator& new_op(op_kernel const& kernel, std::vector<Variable*> inputs, Attributes attributes = {});

    /// Makes `v` result i of `op`; `v` takes the spec of that result and must have no writer yet.
    /// errors   GraphError if an operator already writes `v`
    /// cost     O(1)
    void write_to(Operator& op, std::size_t i, Variable& v);

    /// Names a variable of this scope; `own` is what Variable::has_own_name returns afterwards.
    /// errors   GraphError if this scope itself already has that name
    /// cost     O(log variables)
    void set_name(Variable& v, std::string name, bool own = true);

private:
    Scope* parent_ = nullptr;
    std::vector<std::unique_ptr<Variable>> variables_;
    std::vector<std::unique_ptr<Operator>> operators_;
    std::vector<std::unique_ptr<Scope>> scopes_;
    std::map<std::string, Variable*, std::less<>> by_name_;
};

namespace detail {

/// Calls forget_readers() of an inner scope on destruction, unless `scope` was set to nullptr because its layer is
/// complete.
struct WithdrawnScope {
    Scope* scope;
    ~WithdrawnScope() {
        if (scope != nullptr) scope->forget_readers();
    }
};

inline Scope*& current_scope() {
    thread_local Scope* scope = nullptr;
    return scope;
}

}  // namespace detail

/// The scope that layers are added to: that of this thread's innermost ScopeGuard, else a thread-local one.
/// errors   none
/// cost     O(1)
Scope& default_scope();

/// Makes `scope` this thread's default_scope() for its lifetime, then restores the previous one.
class ScopeGuard {
public:
    /// `scope` must outlive the guard.
    explicit ScopeGuard(Scope& scope) : before_(std::exchange(detail::current_scope(), &scope)) {}
    ScopeGuard(ScopeGuard const&) = delete;
    ScopeGuard& operator=(ScopeGuard const&) = delete;
    ~ScopeGuard() { detail::current_scope() = before_; }

private:
    Scope* before_;
};

}  // namespace rowan::inline v0

// rowan/graph/scope_inl.hpp: definitions of rowan/graph/scope.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0 {

ROWAN_FUNCTION Variable::Variable(Scope& scope, VarSpec const& spec, Role role)
    : spec_(spec), role_(role), scope_(&scope) {}

ROWAN_FUNCTION Variable::~Variable() = default;

ROWAN_FUNCTION std::span<Operator* const> Variable::readers() const noexcept { return readers_; }
ROWAN_FUNCTION std::span<Operator* const> Variable::writers() const noexcept { return writers_; }

ROWAN_FUNCTION Scope::Scope() = default;
ROWAN_FUNCTION Scope::Scope(Scope& parent) : parent_(&parent) {}
ROWAN_FUNCTION Scope::~Scope() = default;

ROWAN_FUNCTION Variable& Scope::new_var(std::string const& name, VarSpec const& spec, Role role) {
    if (!name.empty() && by_name_.contains(name))
        throw GraphError(std::string("the scope has a variable \"").append(name).append("\" already"));
    variables_.push_back(std::make_unique<Variable>(*this, spec, role));
    Variable& v = *variables_.back();
    if (!name.empty()) set_name(v, name);
    return v;
}

ROWAN_FUNCTION Variable* Scope::find(std::string_view name) const noexcept {
    for (Scope const* s = this; s != nullptr; s = s->parent_) {
        if (auto const found = s->by_name_.find(name); found != s->by_name_.end()) return found->second;
    }
    return nullptr;
}

ROWAN_FUNCTION Variable& Scope::get(std::string_view name) const {
    if (Variable* const v = find(name)) return *v;
    throw GraphError(std::string("there is no variable \"").append(name).append("\""));
}

ROWAN_FUNCTION Scope& Scope::new_scope() {
    scopes_.push_back(std::make_unique<Scope>(*this));
    return *scopes_.back();
}

ROWAN_FUNCTION void Scope::drop_scopes() noexcept { scopes_.clear(); }

ROWAN_FUNCTION void Scope::forget_readers() noexcept {
    for (auto const& op : operators_) {
        for (Variable* const v : op->inputs) {
            if (&v->scope() != this) std::erase(v->readers_, op.get());
        }
    }
}

ROWAN_FUNCTION std::span<std::unique_ptr<Variable> const> Scope::variables() const noexcept { return variables_; }
ROWAN_FUNCTION std::span<std::unique_ptr<Operator> const> Scope::operators() const noexcept { return operators_; }

ROWAN_FUNCTION Operator& Scope::new_op(op_kernel const& kernel, std::vector<Variable*> inputs, Attributes attributes) {
    std::vector<VarSpec> specs;
    for (Variable const* v : inputs) specs.push_back(v->spec());
    auto const made = kernel.infer(specs, attributes);
    auto op = std::make_unique<Operator>(
        Operator{.kernel = &kernel, .attributes = std::move(attributes), .inputs = std::move(inputs)});
    for (VarSpec const& spec : made) op->outputs.push_back(&new_var("", spec));
    if (!made.empty() && made[0].lod_level > 0) {
        for (std::size_t i = 0; i < specs.size() && op->levels_from < 0; ++i) {
            if (specs[i].lod_level == made[0].lod_level) op->levels_from = static_cast<std::ptrdiff_t>(i);
        }
    }
    operators_.push_back(std::move(op));
    Operator& added = *operators_.back();
    for (Variable* const v : added.inputs) v->readers_.push_back(&added);
    for (Variable* const v : added.outputs) v->writers_.push_back(&added);
    return added;
}

ROWAN_FUNCTION void Scope::write_to(Operator& op, std::size_t i, Variable& v) {
    if (!v.writers_.empty())
        throw GraphError(std::string(op.kernel->name).append(": its result is written by another operator, too"));
    v.spec_ = op.outputs[i]->spec();
    v.writers_.push_back(&op);
    op.outputs[i] = &v;
}

ROWAN_FUNCTION void Scope::set_name(Variable& v, std::string name, bool own) {
    if (!by_name_.emplace(name, &v).second)
        throw GraphError(std::string("the scope has a variable \"").append(name).append("\" already"));
    v.name_ = std::move(name);
    v.own_name_ = own;
}

ROWAN_FUNCTION Scope& default_scope() {
    if (detail::current_scope() != nullptr) return *detail::current_scope();
    thread_local Scope scope;
    return scope;
}

}  // namespace rowan::inline v0

#endif

// rowan/graph/detail/trace.hpp: trace, the operators of a net in topological order, and names of variables.

namespace rowan::inline v0::detail {

/// The name, such as "fc_0.out_0", or a description of a variable without a name.
inline std::string describe(Variable const& v) {
    if (!v.name().empty()) return v.name();
    return v.role() == Role::parameter ? "a parameter" : "a result without a name";
}

/// The variables of an operator in slot k of `slots`. Each slot holds one variable, except that the first one also
/// holds all surplus variables.
inline std::span<Variable* const> in_slot(std::vector<Variable*> const& variables, std::size_t slots, std::size_t k) {
    std::size_t const first = variables.size() - slots + 1;  // the number of variables in the first slot
    return k == 0 ? std::span(variables).first(first) : std::span(variables).subspan(first + k - 1, 1);
}

/// All operators that `targets` depend on, each once, in topological order: a depth-first traversal that follows inputs
/// in order. With `within`, writers of variables of other scopes are omitted.
/// errors   GraphError if there is a cycle; the text names the operators of the cycle
std::vector<Operator*> trace(std::span<Variable* const> targets, Scope const* within = nullptr);

/// Whether it is a memory or the input of a step, to which a recurrent layer that is created later assigns a value.
inline bool is_placeholder(Variable const& v) {
    return v.writers().empty() && (v.role() == Role::temporary || v.role() == Role::step_input);
}
bool depends_on_placeholder(Variable& v);

/// The names of the variables of a net: the name set by the program, else "fc_0.w_0" for the input w of the first fc
/// and "fc_0.out_0" for its result. They depend only on the net, not on the order in which a program created the
/// operators.
std::vector<std::pair<Variable*, std::string>> names_of(std::span<Operator* const> order);

/// Applies names_of to the unnamed variables of an inner scope. Variables of outer scopes are named with the outer net.
void name_inner_variables(std::span<Operator* const> order, Scope& scope);

/// Applies names_of to unnamed variables. If the scope already has a name, "~1", "~2" etc. is appended.
void name_variables(std::span<Operator* const> order);

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/trace_inl.hpp: definitions of rowan/graph/detail/trace.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<Operator*> trace(std::span<Variable* const> targets, Scope const* within) {
    enum Mark { open, done };
    struct Visit {
        Operator* op;
        std::size_t next;  // index of the next input to visit
    };
    std::vector<Operator*> order;
    std::unordered_map<Operator const*, Mark> marks;
    std::vector<Visit> path;  // no recursion, as nets may be deep
    auto const enter = [&](Variable const& v, Operator* op) {
        if (within != nullptr && &v.scope() != within) return;
        auto const [mark, is_new] = marks.try_emplace(op, open);
        if (is_new) {
            path.push_back({op, 0});
        } else if (mark->second == open) {
            std::string text = "the net has a cycle: ";
            bool inside = false;
            for (Visit const& v : path) {
                inside = inside || v.op == op;
                if (inside) text.append(v.op->kernel->name).append(" -> ");
            }
            throw GraphError(text.append(op->kernel->name));
        }
    };
    auto const finish = [&] {
        while (!path.empty()) {
            Visit& visit = path.back();
            if (visit.next == visit.op->inputs.size()) {
                marks[visit.op] = done;
                order.push_back(visit.op);
                path.pop_back();
                continue;
            }
            Variable const& read = *visit.op->inputs[visit.next++];
            for (Operator* const writer : read.writers()) enter(read, writer);
        }
    };
    for (Variable* const target : targets) {
        for (Operator* const writer : target->writers()) {
            enter(*target, writer);
            finish();
        }
    }
    return order;
}

ROWAN_FUNCTION bool depends_on_placeholder(Variable& v) {
    if (is_placeholder(v)) return true;
    for (Operator const* op : trace(std::array{&v})) {
        for (Variable const* read : op->inputs) {
            if (is_placeholder(*read)) return true;
        }
    }
    return false;
}

ROWAN_FUNCTION std::vector<std::pair<Variable*, std::string>> names_of(std::span<Operator* const> order) {
    std::vector<std::pair<Variable*, std::string>> names;
    std::unordered_set<Variable const*> known;
    std::unordered_set<std::string> taken;
    std::map<std::string_view, std::size_t> count;
    for (Operator const* op : order) {
        for (auto const* list : {&op->inputs, &op->outputs}) {
            for (Variable* const v : *list) {
                if (v->has_own_name() && known.insert(v).second) {
                    names.emplace_back(v, v->name());
                    taken.insert(v->name());
                }
            }
        }
    }
    for (Operator const* op : order) {
        std::string prefix(op->kernel->name);
        prefix.append("_").append(std::to_string(count[op->kernel->name]++)).append(".");
        auto const name = [&](std::vector<Variable*> const& variables, std::span<std::string_view const> slots) {
            for (std::size_t k = 0; k < slots.size() && !variables.empty(); ++k) {
                std::string base = prefix;
                base.append(slots[k]).append("_");
                auto const held = in_slot(variables, slots.size(), k);
                for (std::size_t i = 0; i < held.size(); ++i) {
                    if (!known.insert(held[i]).second) continue;
                    std::size_t number = i;
                    while (!taken.insert(base + std::to_string(number)).second) ++number;
                    names.emplace_back(held[i], base + std::to_string(number));
                }
            }
        };
        name(op->inputs, op->kernel->inputs);
        name(op->outputs, op->kernel->outputs);
    }
    return names;
}

ROWAN_FUNCTION void name_inner_variables(std::span<Operator* const> order, Scope& scope) {
    for (auto& [v, name] : names_of(order)) {
        if (&v->scope() == &scope && v->name().empty()) scope.set_name(*v, std::move(name), false);
    }
}

ROWAN_FUNCTION void name_variables(std::span<Operator* const> order) {
    for (auto& [v, name] : names_of(order)) {
        if (!v->name().empty()) continue;
        std::string free = name;
        for (std::size_t k = 1; v->scope().find(free) != nullptr; ++k) free = name + "~" + std::to_string(k);
        v->scope().set_name(*v, std::move(free), false);
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/op/fields.hpp: field, the name of an attribute in descriptors.

namespace rowan::inline v0 {

/// The name of a member of an attributes struct in descriptors. Attributes that are stored in descriptors list their
/// members, which may be numbers, bool, enumerations, Dims, vectors of int64, strings, or std::optional of these.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::tuple(field{"limit", &attributes::limit});
///     };
template <class Struct, class Member>
struct field {
    std::string_view name;   ///< name in descriptors
    Member Struct::*member;  ///< pointer to the member
};
template <class Struct, class Member>
field(char const*, Member Struct::*) -> field<Struct, Member>;

}  // namespace rowan::inline v0

// rowan/op/full.hpp: full, a tensor filled with one value.

namespace rowan::inline v0 {

/// The settings of full.
struct ConstantOptions {
    Dims dims = {};    ///< the shape of the result
    double value = 0;  ///< the value of every element

    static constexpr auto fields =
        std::tuple(field{"dims", &ConstantOptions::dims}, field{"value", &ConstantOptions::value});
};

namespace detail {

[[noreturn]] inline void unknown_dim(std::size_t i) {
    throw ShapeError(std::string("dims[").append(std::to_string(i)).append("]"), "UNK", "a count");
}

struct full_family {
    static constexpr std::string_view name = "fill_";
};

/// Converts a number to an element.
/// errors   ValueError if elements are integers and cannot represent the value
template <class T>
T as_element(double value) {
    if constexpr (std::integral<sum_t<T>>) {
        using I = std::conditional_t<std::integral<T>, T, sum_t<T>>;
        if (!is_whole<I>(value))
            throw ValueError("value", value,
                             std::string("a whole number that ").append(dtype<T>::name).append(" holds"));
    }
    return dtype<T>::narrow(constant<sum_t<T>>(value));
}

}  // namespace detail

/// A tensor of these dims filled with the value, which is converted to dtype<T>::sum and narrowed.
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; ValueError if elements are integers and cannot represent the value
/// cost     one write
template <class T, device D>
Tensor<T, D> full(D const& exec, Dims const& dims, double value) {
    detail::ElementLoops<D>::check(exec);
    typename Tensor<T, D>::shape_type shape;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == UNK) detail::unknown_dim(i);
        shape.push_back(static_cast<std::size_t>(dims[i]));
    }
    return Tensor<T, D>::full(exec, shape, detail::as_element<T>(value));
}

template <class T, class Device = Cpu>
Tensor<T, Device> full(Dims const& dims, double value) {
    return full<T>(Device{}, dims, value);
}

/// See full. Without an input to deduce it from, the element type is part of the operator; in files the names are
/// fill_f32 and so on.
template <class T>
struct full_op {
    static constexpr std::string_view name = detail::joined_name<detail::full_family, dtype<T>>::value;
    using inputs = slots<>;
    using outputs = slots<slot::out>;
    using grad = no_grad;

    using attributes = ConstantOptions;

    static constexpr VarSpec infer(attributes const& a) {
        for (std::size_t i = 0; i < a.dims.size(); ++i) {
            if (a.dims[i] == UNK) detail::unknown_dim(i);
        }
        return tensor_spec<T>(a.dims);
    }

    template <class D>
    static Tensor<T, D> run(D exec, attributes const& a) {
        return full<T>(exec, a.dims, a.value);
    }
};

}  // namespace rowan::inline v0

// rowan/op/full_like.hpp: full_like_op, a tensor of the shape of another, filled with one value.

namespace rowan::inline v0 {

/// The settings of full_like.
struct FullLikeOptions {
    double value = 0;  ///< the value of every element

    static constexpr auto fields = std::tuple(field{"value", &FullLikeOptions::value});
};

/// See full; the shape and the element type are those of x.
struct full_like_op {
    static constexpr std::string_view name = "fill_like";  // the name in files
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using attributes = FullLikeOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, FullLikeOptions const& = {}) {
        return spec::elementwise("fill_like: x", x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, FullLikeOptions const& options = {}) {
        return Tensor<T, D>::full(exec, x.shape(), detail::as_element<T>(options.value));
    }
};

}  // namespace rowan::inline v0

// rowan/op/detail/concat_split.hpp: concatenation and splitting of tensors along one axis.

namespace rowan::inline v0::detail {

[[noreturn]] void bad_axis(std::int64_t axis, std::size_t rank);

/// The axis counted from the first dim; -1 is the last one.
constexpr std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
    auto const dims = static_cast<std::int64_t>(rank);
    if (axis < -dims || axis >= dims) bad_axis(axis, rank);
    return static_cast<std::size_t>(axis < 0 ? axis + dims : axis);
}

/// The name of tensor k of a list, and that of a dim of a tensor, for error messages.
std::string part_name(char const* field, std::size_t k);
std::string dim_name(std::string field, std::size_t axis);

/// Throws if there are no tensors to concatenate.
constexpr void check_some(std::size_t parts) {
    if (parts == 0) throw ShapeError("x.size()", "0", "at least 1");
}

/// The whole consists of `outer` repetitions of all parts in order, part k having widths[k] elements in each. Calls
/// f(k, in, out, count) for pieces of `count` elements that begin at offset `in` of part k and offset `out` of the
/// whole. The elements, not the parts, are divided among the threads.
template <class F>
void for_pieces(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths, F const& f) {
    std::vector<std::size_t> starts{0};
    for (std::size_t const width : widths) starts.push_back(starts.back() + width);
    std::size_t const total = starts.back(), size = outer * total;
    for_ranges(exec, size, 1, [&](std::size_t begin, std::size_t end) {
        std::size_t row = begin / total;
        std::size_t const after = begin % total;
        auto k = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), after) - starts.begin()) - 1;
        while (begin < end) {
            std::size_t const skipped = begin - row * total - starts[k];
            std::size_t const count = std::min(end - begin, widths[k] - skipped);
            f(k, row * widths[k] + skipped, begin, count);
            begin += count;
            if (++k == widths.size()) {
                k = 0;
                ++row;
            }
        }
    });
}

/// Joins parts and cuts them out on a device, as for_pieces describes. The Thrust specialization is in
/// rowan/thrust/op/detail/concat_split.hpp.
template <class D>
struct Pieces;

template <>
struct Pieces<Cpu> {
    template <class T>
    static void join(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths,
                     std::vector<T const*> const& from, T* to) {
        for_pieces(exec, outer, widths, [&](std::size_t k, std::size_t in, std::size_t whole, std::size_t count) {
            std::copy_n(from[k] + in, count, to + whole);
        });
    }

    template <class T>
    static void cut(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths, T const* from,
                    std::vector<T*> const& to) {
        for_pieces(exec, outer, widths, [&](std::size_t k, std::size_t in, std::size_t whole, std::size_t count) {
            std::copy_n(from + whole, count, to[k] + in);
        });
    }
};

/// The parts of x along axis `at`; the sections have been checked.
template <class T, class D, class Sections>
std::vector<Tensor<T, D>> cut_along(D const& exec, Tensor<T, D> const& x, std::size_t at, Sections const& sections) {
    std::size_t const inner = product_from(x.shape(), at + 1);
    std::size_t const outer = x.shape(at) * inner == 0 ? 0 : x.size() / (x.shape(at) * inner);
    std::vector<Tensor<T, D>> parts;
    std::vector<T*> to;
    std::vector<std::size_t> widths;
    for (std::size_t k = 0; k < sections.size(); ++k) {
        auto shape = x.shape();
        shape[at] = static_cast<std::size_t>(sections[k]);
        parts.push_back(new_tensor<T>(exec, shape));
        to.push_back(parts.back().data());
        widths.push_back(shape[at] * inner);
    }
    Pieces<D>::cut(exec, outer, widths, x.data(), to);
    return parts;
}

}  // namespace rowan::inline v0::detail

// rowan/op/detail/concat_split_inl.hpp: definitions of rowan/op/detail/concat_split.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void bad_axis(std::int64_t axis, std::size_t rank) {
    std::string const dims = std::to_string(rank);
    std::string text = rank == 0 ? "a tensor of rank 1 or more" : "in [-";
    if (rank != 0) text.append(dims).append(", ").append(dims).append(")");
    throw ValueError("axis", static_cast<double>(axis), text);
}

ROWAN_FUNCTION std::string part_name(char const* field, std::size_t k) {
    return std::string(field).append("[").append(std::to_string(k)).append("]");
}

ROWAN_FUNCTION std::string dim_name(std::string field, std::size_t axis) {
    return field.append(".shape(").append(std::to_string(axis)).append(")");
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sparse/gather.hpp: gather, the rows of a table at given ids.

namespace rowan::inline v0 {

namespace detail {

template <class Shape>
Shape gathered_shape(Shape const& ids, Shape const& table) {
    Shape shape = ids;
    shape.insert(shape.end(), table.begin() + 1, table.end());
    return shape;
}

/// Selects and copies rows of a table.
template <class D>
struct RowGather {
    static_assert(has_backend<D>, "rowan: gather on a Thrust device needs #include <rowan/thrust/sparse/gather.hpp>");
};

template <>
struct RowGather<Cpu> {
    /// Checks the arguments; returns the ids for copy().
    template <class T, class... Out>
    static Ids<> const& checked(Cpu exec, Tensor<T> const& table, Ids<> const& ids, Out const&...) {
        check_ids(exec, "ids", ids, height_of(table));
        return ids;
    }

    /// Writes the rows to `out`; is_new: its contents may be lost.
    template <class T>
    static void copy(Cpu exec, Tensor<T> const& table, Ids<> const& ids, Tensor<T>& out, bool /*is_new*/) {
        std::size_t const width = table.row_size();
        T const* const rows = table.data();
        T* const to = out.data();
        ids.visit([&](auto list) {
            auto const row = [=](std::size_t i) { return rows + static_cast<std::size_t>(list[i]) * width; };
            copy_rows(exec, list.size(), width * sizeof(T), row, [=](std::size_t i) { return to + i * width; });
        });
    }

    /// The numbers i in [0, n) for which keep(i) is true, ascending.
    template <class Keep>
    static Tensor<std::int64_t> where(Cpu, std::size_t n, Keep const& keep) {
        std::vector<std::int64_t> found;
        for (std::size_t i = 0; i < n; ++i) {
            if (keep(i)) found.push_back(static_cast<std::int64_t>(i));
        }
        auto positions = Tensor<std::int64_t>::from_shape({found.size()});
        std::ranges::copy(found, positions.data());
        return positions;
    }

    /// to[i] = row positions[i] of a tensor, not bounds-checked.
    template <class T>
    static void take(Cpu exec, Tensor<T> const& from, Tensor<std::int64_t> const& positions, Tensor<T>& to) {
        take_rows(exec, positions.size(), from.row_size(), from.data(), positions.data(), to.data());
    }
};

/// The rows positions[i] of a tensor, not bounds-checked.
template <class T, class D>
Tensor<T, D> rows_at(D const& exec, Tensor<T, D> const& from, Tensor<std::int64_t, D> const& positions) {
    auto shape = from.shape();
    shape[0] = positions.size();
    auto out = new_tensor<T>(exec, shape);
    RowGather<D>::take(exec, from, positions, out);
    return out;
}

}  // namespace detail

/// Writes row `ids[i]` of `table` to row i of `out`.
/// shapes   table [height, ...], ids of any shape, out ids.shape + table.shape[1:]
/// errors   ShapeError if table has rank 0 or out has another shape; IndexError if an id is not in [0, height); Error
///          if out shares memory with table or ids
/// cost     O(n * width), one read and one write of n rows, no allocation; ids in device memory are checked in another
///          pass before, so that `out` is unchanged if one is bad
template <class T, device D>
void gather_into(D const& exec, Tensor<T, D> const& table, std::type_identity_t<Ids<D>> ids, Tensor<T, D>& out) {
    detail::check_rows("table", table);
    auto const shape = detail::gathered_shape(ids.shape(), table.shape());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    auto const& checked = detail::RowGather<D>::checked(exec, table, ids, out);
    detail::check_apart("out", detail::bytes_of(out), "ids", ids.bytes());
    detail::check_apart("out", detail::bytes_of(out), "table", detail::bytes_of(table));
    detail::RowGather<D>::copy(exec, table, checked, out, false);
}

/// The rows of `table` at `ids`, in the order of `ids`: the forward pass of an embedding.
/// shapes   table [height, ...], ids of any shape -> ids.shape + table.shape[1:]
/// errors   as gather_into
/// cost     one read and one write of n rows, and one allocation for the result
template <class T, device D>
Tensor<T, D> gather(D const& exec, Tensor<T, D> const& table, std::type_identity_t<Ids<D>> ids) {
    detail::check_rows("table", table);
    auto const& checked = detail::RowGather<D>::checked(exec, table, ids);
    auto out = detail::new_tensor<T>(exec, detail::gathered_shape(ids.shape(), table.shape()));
    detail::RowGather<D>::copy(exec, table, checked, out, true);
    return out;
}

template <class T, class Device>
void gather_into(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids, Tensor<T, Device>& out) {
    gather_into(table.device(), table, ids, out);
}

template <class T, class Device>
Tensor<T, Device> gather(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids) {
    return gather(table.device(), table, ids);
}

ROWAN_TEMPLATE(void gather_into(Cpu const&, Tensor<float> const&, Ids<>, Tensor<float>&))
ROWAN_TEMPLATE(Tensor<float> gather(Cpu const&, Tensor<float> const&, Ids<>))
ROWAN_TEMPLATE(void gather_into(Cpu const&, Tensor<double> const&, Ids<>, Tensor<double>&))
ROWAN_TEMPLATE(Tensor<double> gather(Cpu const&, Tensor<double> const&, Ids<>))

}  // namespace rowan::inline v0

// rowan/sparse/detail/owned_rows.hpp: for_each_owned, applies source rows to table rows in input order.

namespace rowan::inline v0::detail {

/// A source row and the table row to which it is applied.
struct RowPair {
    std::size_t position;
    std::size_t row;
};

/// The work: apply(n, from, to) for n consecutive elements of a source row and of a table row.
template <class T, class U, class Apply>
struct RowJob {
    U const* src;
    T* table;
    std::size_t width;
    Apply const& apply;

    static constexpr std::size_t per_line = std::max<std::size_t>(64 / sizeof(T), 1);

    std::size_t lines() const { return (width + per_line - 1) / per_line; }

    /// Applies pair(begin) … pair(end - 1), in this order, to column group g of `groups`. A group consists of whole
    /// cache lines.
    template <class Pair>
    void run(std::size_t g, std::size_t groups, std::size_t begin, std::size_t end, Pair const& pair) const {
        std::size_t const column = lines() * g / groups * per_line;
        std::size_t const columns = std::min(width, lines() * (g + 1) / groups * per_line) - column;
        std::size_t const ahead = lookahead(columns * sizeof(T));
        U const* const from = src + column;
        T* const to = table + column;
        auto const ask = [&](RowPair p) {
            prefetch_row<true>(to + p.row * width, columns * sizeof(T));
            prefetch_row<false>(from + p.position * width, columns * sizeof(U));
        };
        for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) ask(pair(i));
        for (std::size_t i = begin; i < end; ++i) {
            if (i + ahead < end) ask(pair(i + ahead));
            RowPair const p = pair(i);
            apply(columns, from + p.position * width, to + p.row * width);
        }
    }
};

/// The assignment of a table's rows to buckets. The table is divided into parts of 8 KiB; a part belongs to one bucket.
struct TableParts {
    unsigned part_bits;    // log2 of the rows per part
    unsigned bucket_bits;  // log2 of the number of buckets; parts are assigned to them in turn
    unsigned chunk_bits;   // log2 of the lookups per chunk; a position in a chunk and a row fit 64 bits

    TableParts(std::size_t rows, std::size_t row_bytes) {
        auto const row_bits = static_cast<unsigned>(std::bit_width(rows - 1));
        bucket_bits = std::min(row_bits, 10U);
        part_bits = std::min(static_cast<unsigned>(std::bit_width(8192 / row_bytes | 1)) - 1, row_bits - bucket_bits);
        chunk_bits = std::min(64 - row_bits, 18U);
    }
    std::size_t buckets() const { return std::size_t{1} << bucket_bits; }
    std::size_t bucket(std::int64_t row) const { return static_cast<std::size_t>(row) >> part_bits & (buckets() - 1); }
    std::uint64_t pack(std::size_t i, std::int64_t row) const {
        return static_cast<std::uint64_t>(row) << chunk_bits | i;
    }
    RowPair unpack(std::uint64_t packed) const {
        return {packed & ((std::uint64_t{1} << chunk_bits) - 1), packed >> chunk_bits};
    }
};

/// Runs a job for all lookups, which are first partitioned into buckets, each in input order. A thread processes whole
/// buckets, so that no two threads write the same row, and the rows of a bucket are close together in memory. Buckets
/// with too many lookups for one thread are divided by columns.
template <class Job, class List>
void run_by_parts(int threads, Job const& job, List list, TableParts const& parts) {
    std::size_t const chunk = std::min(list.size(), std::size_t{1} << parts.chunk_bits);
    Buckets buckets(parts.buckets(), threads);
    auto const& starts = buckets.starts;
    Storage<std::uint64_t> order(chunk);
    for (std::size_t begin = 0; begin < list.size(); begin += chunk) {
        std::size_t const count = std::min(chunk, list.size() - begin);
        auto const bucket = [&](std::size_t i) { return parts.bucket(list[begin + i]); };
        auto const put = [&](std::size_t place, std::size_t i) { order[place] = parts.pack(i, list[begin + i]); };
        team(threads, [&](int t, int team_size) { buckets.fill(t, team_size, count, bucket, put); });

        auto const pair = [&](std::size_t i) {
            RowPair const p = parts.unpack(order[i]);
            return RowPair{begin + p.position, p.row};
        };
        std::atomic<std::size_t> next{0};
        team(threads, [&](int t, int team_size) {
            auto const [me, size] = std::pair(static_cast<std::size_t>(t), static_cast<std::size_t>(team_size));
            std::size_t const shares = size * 16;
            std::size_t const popular = 2 * (count / shares + 1);
            for (std::size_t k = next++; k < shares; k = next++) {
                std::size_t const first = buckets.share(k, shares);
                std::size_t last = buckets.share(k + 1, shares);
                // a popular bucket is longer than two shares, so it is the last of its share
                if (last > first && starts[last] - starts[last - 1] > popular) --last;
                job.run(0, 1, starts[first], starts[last], pair);
            }
            std::size_t const groups = std::clamp<std::size_t>(job.lines() / 2, 1, size);
            std::size_t turn = 0;
            for (std::size_t b = 0; b < parts.buckets(); ++b) {
                if (starts[b + 1] - starts[b] <= popular) continue;
                for (std::size_t g = 0; g < groups; ++g) {
                    if (turn++ % size == me) job.run(g, groups, starts[b], starts[b + 1], pair);
                }
            }
        });
    }
}

/// Calls apply(n, from, to) for n consecutive elements of source row i and of table row ids[i], such that the calls
/// cover all rows i. The calls for an element of the table are in input order and on one thread at a time. If each
/// thread gets at least 256 bytes of a row, the columns are divided among the threads, which needs no partition and
/// balances any distribution of ids. Narrower rows are handled by run_by_parts.
template <class T, class U, class Apply>
void for_each_owned(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Apply const& apply) {
    int const threads = threads_for(exec, src.size());
    RowJob<T, U, Apply> const job{src.data(), table.data(), src.row_size(), apply};
    if (src.size() == 0) return;
    ids.visit([&](auto list) {
        if (threads > 1 && job.lines() / 4 < static_cast<std::size_t>(threads)) {
            return run_by_parts(threads, job, list, TableParts(table.shape()[0], job.width * sizeof(T)));
        }
        team(threads, [&](int t, int team_size) {
            auto const pair = [=](std::size_t i) { return RowPair{i, static_cast<std::size_t>(list[i])}; };
            job.run(static_cast<std::size_t>(t), static_cast<std::size_t>(team_size), 0, list.size(), pair);
        });
    });
}

}  // namespace rowan::inline v0::detail

// rowan/sparse/scatter_add.hpp: scatter_add, adds rows to a table, duplicates in input order.

namespace rowan::inline v0 {

namespace detail {

/// Applies an element-wise formula to pairs of a row of `src` and a row of a table: on the host in input order, on a
/// Thrust device to the sums of duplicates. prepare() makes what apply() takes of ids or of a gradient's rows.
template <class D>
struct RowPairs {
    static_assert(has_backend<D>,
                  "rowan: scatter_add on a Thrust device needs "
                  "#include <rowan/thrust/sparse/scatter_add.hpp>, and sgd <rowan/thrust/sparse/sgd.hpp>");
};

template <>
struct RowPairs<Cpu> {
    /// errors   IndexError if an id is not in [0, height)
    static Ids<> const& prepare(Cpu exec, Ids<> const& ids, std::int64_t height) {
        check_ids(exec, "ids", ids, height);
        return ids;
    }
    template <class U>
    static Ids<> prepare(Cpu, SelectedRows<U> const& g) {
        return g.rows();
    }

    template <class T, class U, class Formula>
    static void apply(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Formula const& formula) {
        for_each_owned(exec, ids, src, table,
                       [=](std::size_t n, U const* from, T* to) { for_lanes<compute_t<T, U>>(formula, n, from, to); });
    }
};

template <class T, class U>
constexpr void check_addition() {
    static_assert(computes_from<T, U>, "rowan::scatter_add: an integer table takes integer rows only");
}

}  // namespace detail

/// dst[ids[i]] += src[i] for all i, in input order. On a Thrust device duplicates are summed first, in the order of
/// merge, and their sum is added: otherwise threads would wait for each other at a frequent row. Rows without
/// duplicates are bit-identical on all devices.
/// shapes   dst [height, ...], ids [n], src [n, ...] with the trailing dims of dst
/// errors   ShapeError if shapes do not match; IndexError if an id is not in [0, height); Error if dst shares memory
///          with ids or src
/// cost     O(n * width), every row of src read once, every touched row of dst read and written; on the host at most
///          2 MiB of temporary memory to divide lookups among threads, and bit-identical to the serial loop for any
///          number of threads; on a Thrust device a RowPlan
template <class T, class U, device D>
void scatter_add(D const& exec, Tensor<T, D>& dst, std::type_identity_t<Ids<D>> ids, Tensor<U, D> const& src) {
    detail::check_addition<T, U>();
    detail::check_rows("dst", dst);
    if (ids.shape().size() != 1) throw ShapeError("ids rank", std::to_string(ids.shape().size()), "1");
    detail::check_height("src", src, static_cast<std::int64_t>(ids.size()));
    detail::check_trailing("src", src, dst.shape());
    auto const& rows = detail::RowPairs<D>::prepare(exec, ids, detail::height_of(dst));
    detail::check_apart("dst", detail::bytes_of(dst), "ids", ids.bytes());
    detail::check_apart("dst", detail::bytes_of(dst), "src", detail::bytes_of(src));
    detail::RowPairs<D>::apply(exec, rows, src, dst, detail::add_lanes{});
}

/// dst[g.rows()[i]] += g.value()[i] for all i, in the same order.
/// shapes   dst has the shape of g
/// errors   ShapeError if shapes do not match; Error if dst shares memory with g
/// cost     as above; a merged gradient needs no sort
template <class T, class U, device D>
void scatter_add(D const& exec, Tensor<T, D>& dst, SelectedRows<U, D> const& g) {
    detail::check_addition<T, U>();
    SelectedRows<U, D>::check_value(g.value(), g.rows().size());
    detail::check_height("dst", dst, g.height());
    detail::check_trailing("dst", dst, g.value().shape());
    detail::check_apart("dst", detail::bytes_of(dst), "the gradient's value", detail::bytes_of(g.value()));
    detail::RowPairs<D>::apply(exec, detail::RowPairs<D>::prepare(exec, g), g.value(), dst, detail::add_lanes{});
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, std::type_identity_t<Ids<Device>> ids, Tensor<U, Device> const& src) {
    scatter_add(dst.device(), dst, ids, src);
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, SelectedRows<U, Device> const& g) {
    scatter_add(dst.device(), dst, g);
}

ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<float>&, Ids<>, Tensor<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<float>&, SelectedRows<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<double>&, Ids<>, Tensor<double> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<double>&, SelectedRows<double> const&))

}  // namespace rowan::inline v0

// rowan/op/sum.hpp: sum, the sum of any number of tensors and row-sparse gradients.

namespace rowan::inline v0 {

namespace detail {

/// Adds tensors and concatenates SelectedRows on a device. The Thrust specialization is in rowan/thrust/op/sum.hpp.
template <class D>
struct Summands;

template <>
struct Summands<Cpu> {
    template <class T>
    static void add(Cpu exec, std::vector<Tensor<T>> const& x, Tensor<T>& out) {
        for_ranges(exec, out.size(), 1, [&](std::size_t begin, std::size_t end) {
            each_lane<sum_t<T>>(end - begin, [&]<class V>(std::size_t i) {
                V total = load<V>(x[0].data() + begin + i);
                for (std::size_t k = 1; k < x.size(); ++k) total = plus(total, load<V>(x[k].data() + begin + i));
                store(total, out.data() + begin + i);
            });
        });
    }

    template <class T>
    static SelectedRows<T> join(Cpu, std::vector<SelectedRows<T>> const& x, std::size_t rows, Tensor<T> value) {
        Buffer<std::int64_t> all;
        all.reserve(rows);
        T* to = value.data();
        for (SelectedRows<T> const& g : x) {
            all.insert(all.end(), g.rows().begin(), g.rows().end());
            to = std::copy_n(g.value().data(), g.value().size(), to);
        }
        return SelectedRowsAccess::make(x[0].height(), all, std::move(value));
    }

    /// The rows of g with other values.
    template <class T>
    static SelectedRows<T> with_value(Cpu, SelectedRows<T> const& g, Tensor<T> value) {
        return {g.height(), g.rows(), std::move(value)};
    }
};

}  // namespace detail

/// The sum of tensors of the same shape, added in order.
/// shapes   x of one or more, each [...] -> [...]
/// errors   ShapeError if x is empty or the shapes differ
/// cost     one read of each and one write of the result
template <class T, device D>
Tensor<T, D> sum(D exec, std::vector<Tensor<T, D>> const& x) {
    detail::check_some(x.size());
    for (std::size_t i = 1; i < x.size(); ++i) detail::check_same_shape(detail::part_name("x", i).c_str(), x[i], x[0]);
    for (auto const& summand : x) detail::ElementLoops<D>::check(exec, summand);
    auto out = detail::new_tensor<T>(exec, x[0].shape());
    detail::Summands<D>::add(exec, x, out);
    return out;
}

/// The sum of SelectedRows: their rows concatenated in order, not merged.
/// shapes   all of one height and row shape -> the same, with the total number of rows
/// errors   ShapeError if x is empty, or heights or row shapes differ
/// cost     one read of each and one write of the result
template <class T, device D>
SelectedRows<T, D> sum(D exec, std::vector<SelectedRows<T, D>> const& x) {
    detail::ElementLoops<D>::check(exec);
    detail::check_some(x.size());
    std::size_t rows = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        SelectedRows<T, D>::check_value(x[i].value(), x[i].rows().size());
        if (x[i].height() != x[0].height())
            throw ShapeError(detail::part_name("x", i) + ".height()", std::to_string(x[i].height()),
                             std::to_string(x[0].height()));
        detail::check_trailing(detail::part_name("x", i).append(".value()").c_str(), x[i].value(),
                               x[0].value().shape());
        rows += x[i].rows().size();
    }
    auto shape = x[0].value().shape();
    shape[0] = rows;
    return detail::Summands<D>::join(exec, x, rows, detail::new_tensor<T>(exec, shape));
}

/// The dense sum of both kinds: adds the tensors, then the rows of each gradient in order, as scatter_add does.
/// shapes   x of one or more, each [height, ...], sparse of that height and row shape -> [height, ...]
/// errors   ShapeError if x is empty or shapes differ
/// cost     as for tensors, and one scatter_add for each gradient
template <class T, device D>
Tensor<T, D> sum(D exec, std::vector<Tensor<T, D>> const& x, std::vector<SelectedRows<T, D>> const& sparse) {
    for (SelectedRows<T, D> const& g : sparse) {
        SelectedRows<T, D>::check_value(g.value(), g.rows().size());
        detail::check_some(x.size());
        detail::check_height("x[0]", x[0], g.height());
        detail::check_trailing("x[0]", x[0], g.value().shape());
    }
    auto out = sum(exec, x);
    for (SelectedRows<T, D> const& g : sparse) scatter_add(exec, out, g);
    return out;
}

struct sum_grad_op;

/// See sum. The result is dense if any input is dense.
struct sum_op {
    static constexpr std::string_view name = "sum";
    using inputs = slots<slot::x>;  // any number of inputs
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = ~0u;
    using grad = grad_rule<sum_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> x) {
        if (x.empty()) spec::the_rank_does_not_fit("sum: x", 0, "at least 1");
        VarSpec out = x[0];
        for (VarSpec const& spec : x) {
            spec::same_dtype("sum: x", spec, out);
            out.dims = spec::same_dims("sum: x", spec, out);
            if (spec.type == VarType::LOD_TENSOR && out.type != VarType::LOD_TENSOR) {
                out.type = VarType::LOD_TENSOR;
                out.lod_level = spec.lod_level;
            }
        }
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x) {
        return sum(exec, x);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, std::vector<SelectedRows<T, D>> const& x) {
        return sum(exec, x);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x, std::vector<SelectedRows<T, D>> const& sparse) {
        return sum(exec, x, sparse);
    }
};

/// The gradient of a dense summand is an alias of the gradient of the sum; that of a row-sparse summand is its rows of
/// that gradient.
struct sum_grad_op {
    static constexpr std::string_view name = "sum_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;

    static std::vector<VarSpec> infer(std::span<VarSpec const> x, VarSpec const&) { return {x.begin(), x.end()}; }

    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D, std::vector<Tensor<T, D>> const& x, Tensor<T, D> const& out_grad) {
        std::vector<Tensor<T, D>> grads;
        for (std::size_t i = 0; i < x.size(); ++i) grads.push_back(out_grad.share());
        return grads;
    }
    template <class T, class D>
    static std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> run(
        D exec, std::vector<Tensor<T, D>> const& x, std::vector<SelectedRows<T, D>> const& sparse,
        Tensor<T, D> const& out_grad) {
        std::vector<SelectedRows<T, D>> grads;
        for (auto const& g : sparse)
            grads.push_back(detail::Summands<D>::with_value(exec, g, gather(exec, out_grad, g.rows())));
        return {run(exec, x, out_grad), std::move(grads)};
    }
};

}  // namespace rowan::inline v0

// rowan/graph/detail/gradient_maker.hpp: GradientMaker, which adds gradient operators in reverse topological order.

#include <unordered_map>
#include <unordered_set>

namespace rowan::inline v0::detail {

/// Whether there are gradients and all are row-sparse, in which case their sum is row-sparse, too.
inline bool all_row_sparse(std::span<Variable* const> gradients) {
    return !gradients.empty() &&
           std::ranges::all_of(gradients, [](Variable const* v) { return v->spec().type == VarType::SELECTED_ROWS; });
}

/// Collects the gradients of variables. Those that are filled or summed have elements of T.
template <class T, class Device>
class GradientMaker {
public:
    /// New operators are added to `scope`; `target` describes, in messages, what is differentiated.
    GradientMaker(Scope& scope, std::string target) : scope_(scope), target_(std::move(target)) {}

    /// Requests the gradient of a variable.
    void want(Variable const& v) { wanted_.insert(&v); }
    bool wants(Variable const& v) const { return wanted_.contains(&v); }

    /// Requests the gradients of all variables that depend on requested ones, except integral and bool variables, which
    /// are not differentiable.
    void spread(std::span<Operator* const> order);

    void add(Variable const& v, Variable& gradient) { parts_[&v].push_back(&gradient); }

    Variable& fill(Variable& like, double value);

    /// The sum of the gradients collected for a variable, or nullptr if there are none.
    Variable* gradient(Variable const& v);

    /// The gradients collected for a variable, not summed.
    std::vector<Variable*> parts(Variable const& v) const;

    /// Adds the gradient operators of an operator. All readers of its results must have been differentiated before.
    /// errors   GraphError if it has no gradient for a requested input
    void differentiate(Operator& op);

private:
    // Zeros for the gradient of `like`: a filled tensor if it is dense with elements of T, else an empty value.
    Variable& zeros(Variable& like);

    // For each rule, whether it computes a requested gradient or a value that another needed rule reads.
    std::vector<bool> needed_rules(Operator const& op) const;

    Scope& scope_;
    std::string target_;
    std::unordered_set<Variable const*> wanted_;
    std::unordered_map<Variable const*, std::vector<Variable*>> parts_;
};

template <class T, class Device>
void GradientMaker<T, Device>::spread(std::span<Operator* const> order) {
    for (Operator const* op : order) {
        if (std::ranges::none_of(op->inputs, [&](Variable const* v) { return wanted_.contains(v); })) continue;
        for (Variable const* v : op->outputs) {
            if (!is_integral(v->spec().dtype)) wanted_.insert(v);
        }
    }
}

template <class T, class Device>
Variable& GradientMaker<T, Device>::fill(Variable& like, double value) {
    return *scope_.new_op<full_like_op, Device, T>({&like}, {value}).outputs[0];
}

template <class T, class Device>
Variable* GradientMaker<T, Device>::gradient(Variable const& v) {
    auto const found = parts_.find(&v);
    if (found == parts_.end()) return nullptr;
    auto& parts = found->second;
    if (parts.size() > 1) {
        bool const arrays = v.spec().type == VarType::TENSOR_ARRAY;
        parts = {
            (arrays ? scope_.new_op(whole_kernel<array_sum_op>::value, parts) : scope_.new_op<sum_op, Device, T>(parts))
                .outputs[0]};
    }
    return parts[0];
}

template <class T, class Device>
std::vector<Variable*> GradientMaker<T, Device>::parts(Variable const& v) const {
    auto const found = parts_.find(&v);
    return found == parts_.end() ? std::vector<Variable*>() : found->second;
}

template <class T, class Device>
void GradientMaker<T, Device>::differentiate(Operator& op) {
    std::vector<Variable*> out_grads;
    for (Variable* const v : op.outputs) out_grads.push_back(gradient(*v));
    if (std::ranges::all_of(out_grads, [](Variable const* g) { return g == nullptr; })) return;
    std::size_t const slots_in = op.kernel->inputs.size(), slots_out = op.kernel->outputs.size();
    std::vector<Variable*> in_grads(op.inputs.size());
    std::unordered_map<std::size_t, Variable*> between;  // values passed from a rule to later ones
    auto const needed = needed_rules(op);
    for (std::size_t k = 0; k < needed.size(); ++k) {
        if (!needed[k]) continue;
        grad_kernel const& rule = op.kernel->rules[k];
        std::vector<Variable*> reads;
        auto const read = [&](std::span<Variable* const> held) { reads.insert(reads.end(), held.begin(), held.end()); };
        for (grad_slot const& slot : rule.reads) {
            if (slot.kind == grad_slot::between_rules) {
                reads.push_back(between.at(slot.index));
            } else if (slot.kind == grad_slot::grad_of_output) {
                auto const held = in_slot(op.outputs, slots_out, slot.index);
                Variable** const grads = out_grads.data() + (held.data() - op.outputs.data());
                for (std::size_t i = 0; i < held.size(); ++i) {
                    if (grads[i] == nullptr) grads[i] = &zeros(*held[i]);
                }
                read({grads, held.size()});
            } else if (slot.kind == grad_slot::output) {
                read(in_slot(op.outputs, slots_out, slot.index));
            } else {
                read(in_slot(slot.kind == grad_slot::input ? op.inputs : in_grads, slots_in, slot.index));
            }
        }
        if (op.build_backward) op.build_backward();
        Operator& made = scope_.new_op(*rule.op, std::move(reads), op.attributes);
        for (std::size_t w = 0; w < rule.writes.size(); ++w) {
            auto const held = in_slot(made.outputs, rule.writes.size(), w);
            if (rule.writes[w].kind == grad_slot::grad_of_input) {
                auto const to = in_slot(op.inputs, slots_in, rule.writes[w].index).data() - op.inputs.data();
                std::ranges::copy(held, in_grads.begin() + to);
            } else {
                between[rule.writes[w].index] = held[0];
            }
        }
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (!wanted_.contains(op.inputs[i])) continue;
        if (in_grads[i] == nullptr) {
            throw GraphError(std::string("operator ")
                                 .append(op.kernel->name)
                                 .append(" has no gradient for its input ")
                                 .append(describe(*op.inputs[i]))
                                 .append(", on which ")
                                 .append(target_)
                                 .append(" depends"));
        }
        parts_[op.inputs[i]].push_back(in_grads[i]);
    }
}

template <class T, class Device>
Variable& GradientMaker<T, Device>::zeros(Variable& like) {
    VarSpec const& spec = like.spec();
    if (spec.type == VarType::LOD_TENSOR && spec.dtype == dtype<T>::wire) return fill(like, 0.0);
    return *scope_.new_op(whole_kernel<nothing_op>::value, {&like}).outputs[0];
}

template <class T, class Device>
std::vector<bool> GradientMaker<T, Device>::needed_rules(Operator const& op) const {
    auto const rules = op.kernel->rules;
    std::vector<bool> needed(rules.size(), false);
    auto const wanted = [&](grad_slot const& slot) {
        if (slot.kind != grad_slot::grad_of_input) return false;
        auto const held = in_slot(op.inputs, op.kernel->inputs.size(), slot.index);
        return std::ranges::any_of(held, [&](Variable const* v) { return wanted_.contains(v); });
    };
    for (std::size_t k = rules.size(); k-- > 0;) {
        for (grad_slot const& slot : rules[k].writes) {
            if (wanted(slot)) needed[k] = true;
            for (std::size_t later = k + 1; later < rules.size(); ++later) {
                for (grad_slot const& read : rules[later].reads) {
                    if (needed[later] && read.kind == slot.kind && read.index == slot.index) needed[k] = true;
                }
            }
        }
    }
    return needed;
}

ROWAN_TEMPLATE(class GradientMaker<float, Cpu>)
ROWAN_TEMPLATE(class GradientMaker<double, Cpu>)

}  // namespace rowan::inline v0::detail

// rowan/graph/backward.hpp: append_backward, the operators that compute gradients.

namespace rowan::inline v0 {

/// A parameter and the variable that its gradient is written to.
struct ParameterGradient {
    Variable* parameter;  ///< the parameter
    Variable* gradient;   ///< its gradient, in the scope passed to append_backward
};

/// Adds to `scope` the operators that compute the gradients of all parameters that `cost` depends on, and returns the
/// gradient variables. `scope` must be the scope of `cost` or an inner scope of it. A variable that is read more than
/// once gets the sum of its gradients; gradients of lookup tables stay row-sparse. Only gradients that a parameter
/// needs are computed.
/// errors   GraphError if `cost` does not depend on a parameter, or an operator on the path has no gradient
/// cost     one pass over the net; for each operator on the path at most one new operator per gradient rule, plus zeros
///          and sums
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost, Scope& scope) {
    auto const order = detail::trace(std::array{&cost});
    detail::GradientMaker<T, Device> maker(scope, detail::describe(cost));
    for (Operator const* op : order) {
        for (Variable const* v : op->inputs) {
            if (v->role() == Role::parameter) maker.want(*v);
        }
    }
    maker.spread(order);
    if (!maker.wants(cost))
        throw GraphError(detail::describe(cost).append(" does not depend on a parameter: there is nothing to train"));
    maker.add(cost, maker.fill(cost, 1.0));
    for (auto op = order.rbegin(); op != order.rend(); ++op) maker.differentiate(**op);
    std::vector<ParameterGradient> gradients;
    std::unordered_set<Variable const*> seen;
    for (Operator const* op : order) {
        for (Variable* const v : op->inputs) {
            if (v->role() != Role::parameter || !seen.insert(v).second) continue;
            if (Variable* const g = maker.gradient(*v)) gradients.push_back({v, g});
        }
    }
    return gradients;
}
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost) {
    return append_backward<T, Device>(cost, cost.scope());
}

ROWAN_TEMPLATE(std::vector<ParameterGradient> append_backward<float, Cpu>(Variable&, Scope&))
ROWAN_TEMPLATE(std::vector<ParameterGradient> append_backward<double, Cpu>(Variable&, Scope&))

}  // namespace rowan::inline v0

// rowan/graph/net.hpp: Net, operators in topological order.

namespace rowan::inline v0 {

namespace detail {

/// The operator and its inputs: "fc(x, fc_0.w_0, fc_0.b_0)".
std::string describe(Operator const& op);

/// Rethrows the current exception. The text of an IndexError, ShapeError, TypeError, ValueError or LodError also names
/// the operator.
[[noreturn]] void throw_named(Operator const& op);

/// Runs f; its exceptions are rethrown by throw_named.
template <class F>
void run_named(Operator const& op, F const& f) {
    try {
        f();
    } catch (...) {
        throw_named(op);
    }
}

/// Runs the operator on values.
inline void run_on(AnyExec exec, Operator const& op, std::span<Value* const> in, std::span<Value* const> out) {
    op.kernel->run({.exec = exec, .in = in, .out = out, .attributes = op.attributes, .levels_from = op.levels_from});
}

/// The device-independent part of Net.
class NetOrder {
public:
    NetOrder() = default;
    explicit NetOrder(std::span<Variable* const> outputs);
    void append(Operator& op);
    std::span<Operator* const> operators() const noexcept { return order_; }
    std::span<Variable* const> inputs() const noexcept { return inputs_; }
    void run(Scope& scope, AnyExec exec) const;
    std::string dot() const;

private:
    static Value& value(Scope& scope, Variable& v);

    // Whether operator i is the last reader of v and reads it only once.
    bool may_take(std::size_t i, Variable& v) const;

    void find_uses();

    std::vector<Operator*> order_;
    std::vector<Variable*> inputs_, outputs_;
    std::shared_ptr<MemoryPool> pool_ = std::make_shared<MemoryPool>();
    std::vector<std::vector<Variable*>> last_uses_;  // variables to clear after each operator
};

}  // namespace detail

/// The operators that some variables depend on, each once, in topological order.
template <class Device = Cpu>
class Net {
public:
    /// Traces back from the outputs through the operators that write them, and names unnamed variables.
    /// errors   GraphError if there is a cycle
    /// cost     O(operators, and their inputs and outputs)
    static Net trace_and_build(std::span<Variable* const> outputs) {
        Net net;
        net.order_ = detail::NetOrder(outputs);
        return net;
    }
    static Net trace_and_build(Variable& output) { return trace_and_build(std::array{&output}); }

    /// Appends an operator, such as one of an optimizer.
    /// errors   std::bad_alloc
    /// cost     one pass over the net
    void append(Operator& op) { order_.append(op); }

    /// The operators, in the order in which they run.
    std::span<Operator* const> operators() const noexcept { return order_.operators(); }

    /// The variables that must have a value before the net runs, in the order in which they are first read.
    std::span<Variable* const> inputs() const noexcept { return order_.inputs(); }

    /// Runs the operators on the values of their variables. If `scope.find` finds another variable of the same name,
    /// its value is used instead. Temporaries are cleared after their last use, except the outputs.
    /// errors   GraphError if an input has no value; those of the kernels, with the operator and its inputs named.
    ///          After an error the inputs have their previous values, except those that an optimizer already updated
    /// cost     memory is allocated from, and returned to, the thread's MemoryPool, or the net's own if there is none
    void run(Scope& scope, Device exec = {}) const { order_.run(scope, exec); }

    /// The net in Graphviz's DOT language, with kinds, element types and dims.
    /// errors   std::bad_alloc
    /// cost     O(length of the text)
    std::string dot() const { return order_.dot(); }

private:
    detail::NetOrder order_;
};

}  // namespace rowan::inline v0

// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.

#if ROWAN_DEFINES_FUNCTIONS

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string describe(Operator const& op) {
    std::string text(op.kernel->name);
    char const* comma = "(";
    for (Variable const* v : op.inputs) text.append(std::exchange(comma, ", ")).append(v->name());
    return text.append(op.inputs.empty() ? "()" : ")");
}

ROWAN_FUNCTION void throw_named(Operator const& op) {
    auto const field = [&](std::string const& name) { return describe(op).append(": ").append(name); };
    try {
        throw;
    } catch (IndexError const& e) {
        throw e.moved_to(field(e.field()), e.position());
    } catch (ShapeError const& e) {
        throw ShapeError(field(e.field()), e.actual(), e.expected());
    } catch (TypeError const& e) {
        throw TypeError(field(e.field()), e.actual(), e.expected());
    } catch (ValueError const& e) {
        throw ValueError(field(e.field()), e.value(), e.expected());
    } catch (LodError const& e) {  // its text begins with the offset
        throw LodError(e.level(), e.position(), e.value(),
                       std::string(e.reason()).append(", in ").append(describe(op)));
    }
}

ROWAN_FUNCTION NetOrder::NetOrder(std::span<Variable* const> outputs)
    : order_(trace(outputs)), outputs_(outputs.begin(), outputs.end()) {
    name_variables(order_);
    find_uses();
}

ROWAN_FUNCTION void NetOrder::append(Operator& op) {
    order_.push_back(&op);
    name_variables(std::span(&order_.back(), 1));
    find_uses();
}

ROWAN_FUNCTION void NetOrder::run(Scope& scope, AnyExec exec) const {
    std::optional<MemoryPool::Guard> guard;
    if (current_pool() == nullptr) guard.emplace(*pool_);
    for (Variable* const v : inputs_) {
        if (value(scope, *v).empty())
            throw GraphError(std::string("the variable \"")
                                 .append(v->name())
                                 .append("\" has no value: it is ")
                                 .append(v->role() == Role::data        ? "fed by the caller"
                                         : v->role() == Role::parameter ? "a parameter"
                                                                        : "written by no operator"));
    }
    for (Operator const* op : order_) {
        for (Variable* const v : op->outputs) value(scope, *v).clear();  // frees their memory for the new values
    }
    Buffer<Value*> in, out;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        in.clear();
        out.clear();
        for (Variable* const v : op.inputs) in.push_back(&value(scope, *v));
        for (Variable* const v : op.outputs) out.push_back(&value(scope, *v));
        if (op.kernel->in_place && may_take(i, *op.inputs[0])) {
            *out[0] = std::move(*in[0]);
            in[0] = out[0];
        }
        run_named(op, [&] { run_on(exec, op, in, out); });
        for (Variable* const v : last_uses_[i]) value(scope, *v).clear();
    }
}

ROWAN_FUNCTION std::string NetOrder::dot() const {
    std::ostringstream text;
    text << "digraph net {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n";
    std::unordered_set<Variable const*> shown;
    auto const show = [&](Variable const& v) {
        if (!shown.insert(&v).second) return;
        char const* const shape = v.role() == Role::parameter ? "box, style=filled, fillcolor=lightgrey"
                                  : v.role() == Role::data    ? "box, style=rounded"
                                                              : "plaintext";
        text << "  \"" << v.name() << "\" [shape=" << shape << ", label=\"" << v.name() << "\\n"
             << kind_text(v.spec()) << ' ' << v.spec().dims;
        if (v.spec().lod_level > 0) text << ", levels " << v.spec().lod_level;
        text << "\"];\n";
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Operator const& op = *order_[i];
        text << "  op" << i << " [shape=ellipse, label=\"" << op.kernel->name << "\"];\n";
        for (Variable const* v : op.inputs) {
            show(*v);
            text << "  \"" << v->name() << "\" -> op" << i << ";\n";
        }
        for (Variable const* v : op.outputs) {
            show(*v);
            text << "  op" << i << " -> \"" << v->name() << "\";\n";
        }
    }
    text << "}\n";
    return text.str();
}

ROWAN_FUNCTION Value& NetOrder::value(Scope& scope, Variable& v) {
    if (&v.scope() == &scope || v.name().empty()) return v.value();
    Variable* const there = scope.find(v.name());
    return there == nullptr ? v.value() : there->value();
}

ROWAN_FUNCTION bool NetOrder::may_take(std::size_t i, Variable& v) const {
    return std::ranges::find(last_uses_[i], &v) != last_uses_[i].end() &&
           std::ranges::count(order_[i]->inputs, &v) == 1;
}

ROWAN_FUNCTION void NetOrder::find_uses() {
    inputs_.clear();
    std::unordered_set<Variable const*> known;
    for (Operator const* op : order_) {
        for (Variable* const v : op->inputs) {
            if (known.insert(v).second) inputs_.push_back(v);
        }
        known.insert(op->outputs.begin(), op->outputs.end());
    }
    std::unordered_map<Variable*, std::size_t> last;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        for (auto const* list : {&order_[i]->inputs, &order_[i]->outputs}) {
            for (Variable* const v : *list) last[v] = i;
        }
    }
    last_uses_.assign(order_.size(), {});
    for (auto const& [v, i] : last) {
        if (v->role() == Role::temporary && !v->writers().empty() && std::ranges::find(outputs_, v) == outputs_.end())
            last_uses_[i].push_back(v);
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/detail/loop_kernels.hpp: LoopKernels, what loops need besides the operators of a step.

namespace rowan::inline v0::detail {

struct LoopKernels {
    /// `rows` rows of zeros, with the trailing dims of `like`.
    Value (*zeros)(AnyExec exec, std::size_t rows, VarSpec const& like);
    Value (*no_rows)(AnyExec exec, Value const& table);  ///< a row-sparse gradient of `table` without rows
    op_kernel const *sum, *full_like;

    /// The kernels for elements of T.
    template <class T, class Device>
    static LoopKernels of() {
        auto const zeros = [](AnyExec exec, std::size_t rows, VarSpec const& like) {
            typename Tensor<T, Device>::shape_type shape;
            shape.push_back(rows);
            for (std::size_t i = 1; i < like.dims.size(); ++i)
                shape.push_back(static_cast<std::size_t>(std::max<std::int64_t>(like.dims[i], 0)));
            Lod lod;
            if (like.lod_level > 0) lod = Lod(std::vector<std::vector<std::int64_t>>(like.lod_level, {0}));
            Value value;
            value.set(LoDTensor<T, Device>(Tensor<T, Device>::zeros(exec.get<Device>(), shape), std::move(lod)));
            return value;
        };
        auto const no_rows = [](AnyExec exec, Value const& table) {
            auto shape = table.get<LoDTensor<T, Device>>().shape();
            auto const height = static_cast<std::int64_t>(shape[0]);
            shape[0] = 0;
            Value value;
            auto const& on = exec.get<Device>();
            value.set(SelectedRows<T, Device>(height, new_tensor<std::int64_t>(on, {0}), new_tensor<T>(on, shape)));
            return value;
        };
        return {.zeros = zeros,
                .no_rows = no_rows,
                .sum = &kernel_of<sum_op, Device, T>::value,
                .full_like = &kernel_of<full_like_op, Device, T>::value};
    }

    Value zero_like(AnyExec exec, Value& x) const;

    /// The sum of dense and row-sparse values. A single summand is moved from.
    Value total(AnyExec exec, std::span<Value* const> summands) const;
};

ROWAN_TEMPLATE(LoopKernels LoopKernels::of<float, Cpu>())
ROWAN_TEMPLATE(LoopKernels LoopKernels::of<double, Cpu>())

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/loop_kernels_inl.hpp: definitions of rowan/graph/detail/loop_kernels.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <array>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Value LoopKernels::zero_like(AnyExec exec, Value& x) const {
    Value zeros;
    std::array<Value*, 1> const in{&x}, out{&zeros};
    FullLikeOptions const options{0};
    full_like->run({.exec = exec, .in = in, .out = out, .attributes = AttributesRef(options)});
    return zeros;
}

ROWAN_FUNCTION Value LoopKernels::total(AnyExec exec, std::span<Value* const> summands) const {
    if (summands.size() == 1) return std::move(*summands[0]);
    Value sum_of_all;
    std::array<Value*, 1> const out{&sum_of_all};
    sum->run({.exec = exec, .in = summands, .out = out});
    return sum_of_all;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/detail/step_net.hpp: StepNet, the operators of one step of a recurrent layer and of its backward pass.

namespace rowan::inline v0::detail {

/// Where the value of a variable is stored.
struct Place {
    enum Kind : unsigned char {
        outside,   // an outer variable, which the step reads as a whole
        whole,     // one value for all steps
        rows,      // a row for each sequence that has the step: stored per step, or for all steps in step order
        of_a_step  // one value per step
    };
    Kind kind;
    std::size_t number;
};

struct StepOp {
    Operator const* op;
    std::vector<Place> in, out;
};

/// Operators that run once before the loop over the steps, in each step, and once after the loop.
struct Phases {
    std::vector<StepOp> before, each, after;
};

/// The operators of a step. For every sequence that has the step, it reads an element of x and the previous states; it
/// reads outer variables as a whole. Row-wise operators that do not depend on the states, or on which the next states
/// do not depend, run once for all steps. In the backward pass, so do operators that sum over rows.
struct StepNet {
    struct Memory {
        Variable *before, *after;  // `after` of a step is `before` of the next one
        Variable *after_grad = nullptr, *before_grad = nullptr;
    };

    Scope* scope = nullptr;                 // owns the step's variables
    Variable *x = nullptr, *out = nullptr;  // the input and the output of a step
    std::vector<Memory> memories;
    std::vector<Variable*> outer;  // variables of outer scopes that it reads, including parameters
    bool rows_apart = true;        // no operator combines several sequences of a step
    Phases forward;

    // The backward pass, if it was requested.
    Variable *out_grad = nullptr, *x_grad = nullptr;
    Phases backward;
    std::vector<std::vector<Variable*>> outer_grads;  // the summands of the gradient of each of `outer`

    /// Finds the operators and the outer variables that they read.
    /// errors   GraphError if there is a cycle
    void build();

    bool has_rows(Variable const& v) const { return rows_.contains(&v); }

    /// The place of a variable of the step or of `outer`.
    Place place(Variable const& v) const;
    std::size_t places() const { return number_.size(); }
    std::size_t forward_places = 0;  // numbers from here on belong to the backward pass

    /// Creates the operators of the backward pass. Gradients have elements of T.
    /// errors   GraphError if an operator on the path has no gradient
    template <class T, class Device>
    void build_backward() {
        if (out_grad != nullptr) return;
        try {
            make_backward<T, Device>();
        } catch (...) {
            out_grad = nullptr;
            outer_grads.clear();
            throw;
        }
    }

private:
    template <class T, class Device>
    void make_backward() {
        GradientMaker<T, Device> maker(*scope, "the result of a step");
        auto const want = [&](Variable const& v) {
            if (v.spec().dtype == dtype<T>::wire) maker.want(v);
        };
        want(*x);
        for (Memory const& m : memories) want(*m.before);
        for (Variable const* v : outer) want(*v);
        maker.spread(order_);
        out_grad = new_gradient(*out);
        maker.add(*out, *out_grad);
        for (Memory& m : memories) {
            m.after_grad = new_gradient(*m.after);
            maker.add(*m.after, *m.after_grad);
        }
        std::size_t const first = scope->operators().size();
        for (std::size_t i = order_.size(); i-- > 0;) maker.differentiate(*order_[i]);
        for (Memory& m : memories) m.before_grad = maker.gradient(*m.before);
        x_grad = maker.gradient(*x);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        std::unordered_set<Variable const*> stepwise;  // gradients of per-step values are per-step values, too
        for (Variable const* v : of_a_step_) {
            for (Variable const* g : maker.parts(*v)) add_summands(*g, stepwise);
        }
        finish_backward(first, stepwise);
    }

    // Creates a gradient variable that has a row for each sequence of the step.
    Variable* new_gradient(Variable const& of);

    // The operators of the scope from index `first` on are those of the backward pass.
    void finish_backward(std::size_t first, std::unordered_set<Variable const*> const& stepwise);

    static void add_summands(Variable const& g, std::unordered_set<Variable const*>& all);

    // `loop`: values that are not available before the loop. `needed`: values that the next step needs. `stepwise`:
    // values that must be computed step by step. `may_sum`: whether sums over rows may run for all steps at once.
    Phases phases(std::span<Operator* const> order, std::unordered_set<Variable const*> loop,
                  std::unordered_set<Variable const*> needed, std::unordered_set<Variable const*> const& stepwise,
                  bool may_sum);

    bool reads_rows(Operator const& op) const;

    bool keeps_rows_apart(Operator const& op) const {
        return !reads_rows(op) || (op.kernel->row_inputs != 0 ? fits(op, false) : op.kernel->row_wise(op.attributes));
    }

    // Whether it computes rows from rows, or sums over rows if `may_sum`, and so can run once for all steps.
    bool fits(Operator const& op, bool may_sum) const;

    // Names variables, for messages, numbers them, and finds the places of all operators' inputs and outputs.
    void name_and_count(std::span<Operator* const> order);

    std::vector<Operator*> order_;
    std::unordered_set<Variable const*> rows_;       // with a row for each sequence of the step
    std::unordered_set<Variable const*> of_a_step_;  // without such rows, and different for each step
    std::unordered_map<Variable const*, std::size_t> number_;
};

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/step_net_inl.hpp: definitions of rowan/graph/detail/step_net.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <ranges>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void StepNet::build() {
    std::vector<Variable*> targets{out};
    for (Memory const& m : memories) targets.push_back(m.after);
    auto const order = trace(targets, scope);
    for (Operator* const op : order) {
        for (Variable* const v : op->inputs) {
            if (&v->scope() != scope && std::ranges::find(outer, v) == outer.end()) outer.push_back(v);
        }
    }
    std::unordered_set<Variable const*> loop, needed;
    rows_.insert(x);
    for (Memory const& m : memories) {
        rows_.insert(m.before);
        loop.insert(m.before);
        needed.insert(m.after);
    }
    forward = phases(order, std::move(loop), std::move(needed), {}, false);
    rows_apart = std::ranges::all_of(order, [&](Operator const* op) { return keeps_rows_apart(*op); });
    name_and_count(order);
    forward_places = number_.size();
}

ROWAN_FUNCTION Place StepNet::place(Variable const& v) const {
    if (&v.scope() != scope)
        return {Place::outside, static_cast<std::size_t>(std::ranges::find(outer, &v) - outer.begin())};
    return {rows_.contains(&v)        ? Place::rows
            : of_a_step_.contains(&v) ? Place::of_a_step
                                      : Place::whole,
            number_.at(&v)};
}

ROWAN_FUNCTION Variable* StepNet::new_gradient(Variable const& of) {
    Variable& made = scope->new_var("", of.spec());
    rows_.insert(&made);
    return &made;
}

ROWAN_FUNCTION void StepNet::finish_backward(std::size_t first, std::unordered_set<Variable const*> const& stepwise) {
    std::unordered_set<Variable const*> loop, needed;
    for (Memory const& m : memories) {
        loop.insert(m.after_grad);
        if (m.before_grad != nullptr) needed.insert(m.before_grad);
    }
    std::vector<Operator*> made;
    for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
    backward = phases(made, std::move(loop), std::move(needed), stepwise, true);
    auto order = order_;
    order.insert(order.end(), made.begin(), made.end());
    name_and_count(order);
}

ROWAN_FUNCTION void StepNet::add_summands(Variable const& g, std::unordered_set<Variable const*>& all) {
    all.insert(&g);
    for (Operator const* op : g.writers()) {
        if (op->kernel->name != sum_op::name) continue;
        for (Variable const* v : op->inputs) add_summands(*v, all);
    }
}

ROWAN_FUNCTION Phases StepNet::phases(std::span<Operator* const> order, std::unordered_set<Variable const*> loop,
                                      std::unordered_set<Variable const*> needed,
                                      std::unordered_set<Variable const*> const& stepwise, bool may_sum) {
    std::vector<Operator*> rest;
    Phases result;
    auto const in_loop = [&](Operator const& op) {
        return std::ranges::any_of(op.inputs,
                                   [&](Variable const* v) { return loop.contains(v) || of_a_step_.contains(v); }) ||
               std::ranges::any_of(op.outputs, [&](Variable const* v) { return stepwise.contains(v); });
    };
    for (Operator* const op : order) {
        bool const any = reads_rows(*op);
        bool const once = !in_loop(*op) && (!any || fits(*op, may_sum));
        for (std::size_t i = 0; i < op->outputs.size(); ++i) {
            Variable const* const v = op->outputs[i];
            if (any && op->kernel->row_output(op->attributes, i)) rows_.insert(v);
            if (!once) loop.insert(v);
        }
        if (once) {
            result.before.push_back({op, {}, {}});
        } else {
            rest.push_back(op);
        }
    }
    std::unordered_set<Operator const*> each;
    std::unordered_set<Variable const*> read;  // by operators that stay in the loop
    for (Operator* const op : rest | std::views::reverse) {
        auto const is = [&](auto const& set) {
            return std::ranges::any_of(op->outputs, [&](Variable const* v) { return set.contains(v); });
        };
        bool const reads_of_a_step =
            std::ranges::any_of(op->inputs, [&](Variable const* v) { return loop.contains(v) && !rows_.contains(v); });
        if (!is(needed) && !is(read) && !is(stepwise) && !reads_of_a_step && fits(*op, may_sum)) continue;
        each.insert(op);
        read.insert(op->inputs.begin(), op->inputs.end());
    }
    for (Operator* const op : rest) {
        bool const stays = each.contains(op);
        (stays ? result.each : result.after).push_back({op, {}, {}});
        if (!stays) continue;
        for (Variable const* v : op->outputs) {
            if (!rows_.contains(v)) of_a_step_.insert(v);
        }
    }
    return result;
}

ROWAN_FUNCTION bool StepNet::reads_rows(Operator const& op) const {
    return std::ranges::any_of(op.inputs, [&](Variable const* v) { return rows_.contains(v); });
}

ROWAN_FUNCTION bool StepNet::fits(Operator const& op, bool may_sum) const {
    if (op.kernel->sums_rows && !may_sum) return false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        bool const takes_rows = (op.kernel->row_inputs >> std::min<std::size_t>(i, 31) & 1) != 0;
        if (rows_.contains(op.inputs[i]) != takes_rows || of_a_step_.contains(op.inputs[i])) return false;
    }
    return reads_rows(op);
}

ROWAN_FUNCTION void StepNet::name_and_count(std::span<Operator* const> order) {
    order_.assign(order.begin(), order.end());
    name_inner_variables(order, *scope);
    for (auto const& v : scope->variables()) number_.try_emplace(v.get(), number_.size());
    for (Phases* phases : {&forward, &backward}) {
        for (auto* ops : {&phases->before, &phases->each, &phases->after}) {
            for (StepOp& op : *ops) {
                auto const find = [&](std::vector<Variable*> const& variables, std::vector<Place>& places) {
                    places.clear();
                    for (Variable const* v : variables) places.push_back(place(*v));
                };
                find(op.op->inputs, op.in);
                find(op.op->outputs, op.out);
            }
        }
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/detail/rnn_run.hpp: RnnPart, some sequences of a batch that a step net runs over.

namespace rowan::inline v0::detail {

/// Some sequences of a batch, longest first, and the values of their steps.
struct RnnPart {
    Buffer<std::int64_t> sequences;  // indices in the batch
    Buffer<std::int64_t> starts;     // step t is elements [starts[t], starts[t + 1])
    Buffer<std::int64_t> elements;   // indices in the batch
    Buffer<Buffer<Value>> steps;     // [step][number of the variable]
    Buffer<Value> packed;            // [number of the variable]: the values of all steps, in step order

    /// Takes every `parts`-th sequence of a map, starting with `part`. If `reverse`, step 0 is the last element of each
    /// sequence.
    void assign(StepMap<> const& map, std::size_t part, std::size_t parts, bool reverse);

    /// Resizes to the values of `variables` variables; those from number `from` on become empty.
    void make_room(std::size_t variables, std::size_t from);

    static void make_room(Buffer<Value>& values, std::size_t variables, std::size_t from) {
        values.resize(std::min(values.size(), from));
        values.resize(variables);
    }

    std::size_t count() const { return starts.size() - 1; }
    std::size_t size(std::size_t t) const {
        return t < count() ? static_cast<std::size_t>(starts[t + 1] - starts[t]) : 0;
    }
};

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/rnn_run_inl.hpp: definitions of rowan/graph/detail/rnn_run.hpp, and RnnRun, which runs a step net.

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <utility>

namespace rowan::inline v0::detail {

/// A step net run over the steps of some sequences.
class RnnRun {
public:
    /// `outer`: the values of the outer variables that the step reads.
    RnnRun(AnyExec exec, StepNet const& net, LoopKernels const& kernels, std::span<Value* const> outer, RnnPart& part)
        : exec_(exec), net_(net), kernels_(kernels), outer_(outer), part_(part) {}

    /// Returns the outputs of all steps. `states` are the states before the first step, in the order of the part; they
    /// are replaced by those after the last step of each sequence.
    Value forward(Value const& x, std::span<Value> states) {
        part_.make_room(net_.places(), 0);
        if (part_.count() == 0) return kernels_.zeros(exec_, 0, net_.out->spec());
        packed(*net_.x) = x.gather(exec_, part_.elements);
        for (StepOp const& op : net_.forward.before) run_whole(op);
        for (std::size_t t = 0; t < part_.count(); ++t) {
            for (std::size_t m = 0; m < states.size(); ++m) {
                Value const& after = t == 0 ? states[m] : state_after(m, t - 1);
                part_.steps[t][number(*net_.memories[m].before)] = after.slice(0, part_.size(t));
            }
            for (StepOp const& op : net_.forward.each) run_step(op, t);
        }
        for (StepOp const& op : net_.forward.after) run_whole(op);
        for (std::size_t m = 0; m < states.size(); ++m) states[m] = ends(m, states[m]);
        return whole(net_.place(*net_.out)).share();
    }

    /// Runs the backward pass from the gradient of the outputs of all steps. `states` are the gradients of the last
    /// states; they are replaced by those of the first states.
    void backward(Value const& out_grad, std::span<Value> states) {
        part_.make_room(net_.places(), net_.forward_places);
        if (part_.count() == 0) return;
        packed(*net_.out_grad) = out_grad.gather(exec_, part_.elements);
        for (StepOp const& op : net_.backward.before) run_whole(op);
        Buffer<Value> carried(states.size());  // the gradients of the states before step t + 1
        for (std::size_t t = part_.count(); t-- > 0;) {
            for (std::size_t m = 0; m < states.size(); ++m) {
                Value ending = states[m].slice(part_.size(t + 1), part_.size(t));
                Value& after = part_.steps[t][number(*net_.memories[m].after_grad)];
                after = carried[m].empty() ? std::move(ending) : joined(carried[m], ending);
            }
            for (StepOp const& op : net_.backward.each) run_step(op, t);
            for (std::size_t m = 0; m < states.size(); ++m) {
                auto const& memory = net_.memories[m];
                carried[m] = memory.before_grad == nullptr
                                 ? kernels_.zero_like(exec_, step_value(net_.place(*memory.before), t))
                                 : step_value(net_.place(*memory.before_grad), t).share();
            }
        }
        for (StepOp const& op : net_.backward.after) run_whole(op);
        for (std::size_t m = 0; m < states.size(); ++m) {
            Value rest = states[m].slice(part_.size(0), part_.sequences.size());
            states[m] = joined(carried[m], rest);
        }
    }

    /// The gradient of x, empty if there is none; call it after backward.
    Value x_grad() { return net_.x_grad == nullptr ? Value() : whole(net_.place(*net_.x_grad)).share(); }

    /// Appends the summands of the gradient of outer variable k to `parts`; call it after backward.
    void outer_grad(std::size_t k, Buffer<Value*>& parts) {
        for (Variable const* v : net_.outer_grads[k]) {
            Place const place = net_.place(*v);
            if (place.kind == Place::of_a_step) {
                for (auto& step : part_.steps) parts.push_back(&step[place.number]);
            } else {
                parts.push_back(&whole(place));
            }
        }
    }

private:
    std::size_t number(Variable const& v) const { return net_.place(v).number; }
    Value& packed(Variable const& v) { return part_.packed[number(v)]; }
    Value joined(Value& first, Value& second) const { return Value::concat(exec_, std::array{&first, &second}); }

    Value& state_after(std::size_t m, std::size_t t) { return step_value(net_.place(*net_.memories[m].after), t); }

    /// The state of every sequence after its last step. The sequences that end at step t are its last rows.
    Value ends(std::size_t m, Value const& boot) {
        Buffer<Value> pieces;
        for (std::size_t t = part_.count(); t-- > 0;)
            pieces.push_back(state_after(m, t).slice(part_.size(t + 1), part_.size(t)));
        pieces.push_back(boot.slice(part_.size(0), part_.sequences.size()));
        Buffer<Value*> all;
        for (Value& piece : pieces) all.push_back(&piece);
        return Value::concat(exec_, all);
    }

    // The value for all steps, concatenated from those of the steps if necessary.
    Value& whole(Place const& place) {
        if (place.kind == Place::outside) return *outer_[place.number];
        Value& all = part_.packed[place.number];
        if (!all.empty() || place.kind == Place::whole) return all;
        Buffer<Value*> steps;
        for (auto& step : part_.steps) steps.push_back(&step[place.number]);
        all = Value::concat(exec_, steps);
        return all;
    }

    Value& step_value(Place const& place, std::size_t t) {
        if (place.kind == Place::outside) return *outer_[place.number];
        Value& all = part_.packed[place.number];
        if (place.kind == Place::whole) return all;
        Value& value = part_.steps[t][place.number];
        if (value.empty() && place.kind == Place::rows && !all.empty()) {
            value = all.slice(static_cast<std::size_t>(part_.starts[t]), static_cast<std::size_t>(part_.starts[t + 1]));
        }
        return value;
    }

    // Runs an operator on rows [first, first + rows) of the part.
    template <class In, class Out>
    void run(StepOp const& op, std::size_t first, std::size_t rows, In const& in, Out const& out) {
        inputs_.clear();
        outputs_.clear();
        for (Place const& place : op.in) inputs_.push_back(&in(place));
        for (Place const& place : op.out) outputs_.push_back(&out(place));
        Operator const& o = *op.op;
        run_named(o, [&] {
            try {
                run_on(exec_, o, inputs_, outputs_);
            } catch (IndexError const& e) {
                throw e.moved_to(e.field(), position_in_batch(op, e, first, rows));
            }
        });
    }
    void run_whole(StepOp const& op) {
        run(
            op, 0, part_.elements.size(), [&](Place const& place) -> Value& { return whole(place); },
            [&](Place const& place) -> Value& { return part_.packed[place.number]; });
    }
    void run_step(StepOp const& op, std::size_t t) {
        run(
            op, static_cast<std::size_t>(part_.starts[t]), part_.size(t),
            [&](Place const& place) -> Value& { return step_value(place, t); },
            [&](Place const& place) -> Value& { return part_.steps[t][place.number]; });
    }

    // Converts the position of an error, in rows in step order, to a position in the batch.
    std::size_t position_in_batch(StepOp const& op, IndexError const& e, std::size_t first, std::size_t rows) const {
        auto const slots = op.op->kernel->inputs;
        auto const slot = static_cast<std::size_t>(std::ranges::find(slots, e.field()) - slots.begin());
        if (slots.size() != op.in.size() || slot == slots.size() || op.in[slot].kind != Place::rows)
            return e.position();
        std::size_t size = 1;
        for (std::int64_t const dim : inputs_[slot]->elements().dims) size *= static_cast<std::size_t>(dim);
        if (rows == 0 || inputs_[slot]->rows() != rows || e.position() >= size) return e.position();
        std::size_t const width = size / rows;
        return static_cast<std::size_t>(part_.elements[first + e.position() / width]) * width + e.position() % width;
    }

    AnyExec exec_;
    StepNet const& net_;
    LoopKernels const& kernels_;
    std::span<Value* const> outer_;
    RnnPart& part_;
    Buffer<Value*> inputs_, outputs_;
};

ROWAN_FUNCTION void RnnPart::assign(StepMap<> const& map, std::size_t part, std::size_t parts, bool reverse) {
    sequences.clear();
    elements.clear();
    starts.assign(1, 0);
    for (std::size_t j = part; j < map.sequences(); j += parts) sequences.push_back(map.sequence(j));
    for (std::size_t t = 0; t < map.steps(); ++t) {
        auto const step = map.step(t), first = map.step(0);
        for (std::size_t j = part; j < step.size(); j += parts) {
            auto const back = map.length(j) - 1 - static_cast<std::int64_t>(t);
            elements.push_back(reverse ? first[j] + back : step[j]);
        }
        if (elements.size() == static_cast<std::size_t>(starts.back())) break;
        starts.push_back(static_cast<std::int64_t>(elements.size()));
    }
}

ROWAN_FUNCTION void RnnPart::make_room(std::size_t variables, std::size_t from) {
    steps.resize(count());
    make_room(packed, variables, from);
    for (auto& step : steps) make_room(step, variables, from);
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/rnn.hpp: rnn_kernel, the operator that runs a step net over sequences, and its gradient.

namespace rowan::inline v0 {

/// The attributes of the `rnn` operator.
struct RnnBlock {
    std::unique_ptr<Scope> scope;  ///< the scope of the step
    detail::StepNet net;           ///< the operators of a step
    std::size_t level = 0;         ///< the level of x whose sequences are iterated over
    bool reverse = false;          ///< whether sequences are processed from the last element to the first
    bool runs_whole = false;       ///< whether a batch runs as one part, see detail::runs_whole
    /// For each memory, whether an input provides its state before the first step, with one row per sequence.
    std::vector<bool> has_boot;
    detail::LoopKernels kernels;  ///< kernels for the element type and device
    /// Calls f(k, exec) for k in [0, parts), in parallel if the device has threads.
    void (*for_parts)(AnyExec exec, std::size_t parts, std::function<void(std::size_t, AnyExec)> const& f);

    /// The number of memories that have a boot state.
    /// errors   none
    /// cost     O(states)
    std::size_t boots() const { return static_cast<std::size_t>(std::ranges::count(has_boot, true)); }
};

/// The values of all steps of a run, which the gradient needs.
struct StepScopes {
    Lod lod;                                ///< the levels of x
    Lod out_lod;                            ///< the levels of the outputs
    detail::Buffer<detail::RnnPart> parts;  ///< the parts of the batch, which may run in parallel
};

namespace detail {

/// The minimum number of sequences of a part, unless the batch is a single part. Parts run in parallel. The partition
/// does not depend on the number of threads, so neither does the order of summation.
inline constexpr std::size_t rnn_part_size = 32;

// In the step of an outer recurrent layer, the last states and the outputs have rows, and so have the gradients of x
// and of the boot states.
struct rnn_grad_op : whole_op {
    static constexpr std::string_view name = "rnn_grad";
    using inputs = slots<slot::x, slot::scopes, grad_of<slot::out>, grad_of<slot::last>>;
    using outputs = slots<grad_of<slot::x>>;
    static bool row_output(AttributesRef a, std::size_t i) { return i <= a.get<RnnBlock>().boots(); }
    static bool row_wise(AttributesRef a) { return a.get<RnnBlock>().net.rows_apart; }
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the outputs and of the last states
    static void run(KernelCall const& call);
};

struct rnn_op : whole_op {
    static constexpr std::string_view name = "rnn";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::last, slot::out, slot::scopes>;
    using grad = grad_rule<rnn_grad_op>;
    static bool row_output(AttributesRef a, std::size_t i) { return i <= a.get<RnnBlock>().net.memories.size(); }
    static bool row_wise(AttributesRef a) { return a.get<RnnBlock>().net.rows_apart; }
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    static void run(KernelCall const& call);
};

}  // namespace detail

/// The recurrent operator. Inputs: x, the boot states if any, and the outer variables that the step reads. Results: the
/// states of every sequence after its last step, the outputs of all steps with the levels of x, and the StepScopes.
inline constexpr op_kernel const& rnn_kernel = detail::whole_kernel<detail::rnn_op>::value;

}  // namespace rowan::inline v0

// rowan/graph/rnn_inl.hpp: definitions of rowan/graph/rnn.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <string>

namespace rowan::inline v0::detail {

class Recurrent {
public:
    Recurrent(AnyExec exec, RnnBlock const& block, std::span<Value* const> in, StepScopes& scopes)
        : exec_(exec), block_(block), net_(block.net), in_(in), s_(scopes) {}

    /// `out`: the states after the last steps, and the outputs of all steps.
    void forward(std::span<Value* const> out) {
        Value const& x = *in_[0];
        Lod const lod = x.lod();
        std::size_t const levels = net_.x->spec().lod_level + block_.level + 1;
        if (lod.levels() != levels)
            throw ShapeError("x.lod().levels()", std::to_string(lod.levels()), std::to_string(levels));
        lod.check_rows(x.rows());
        StepMap<> const map(Cpu{.threads = 1}, lod, block_.level);
        s_.lod = lod;
        s_.parts.resize(net_.rows_apart && !block_.runs_whole
                            ? std::clamp<std::size_t>(map.sequences() / rnn_part_size, 1, 256)
                            : 1);
        for (std::size_t k = 0; k < s_.parts.size(); ++k) s_.parts[k].assign(map, k, s_.parts.size(), block_.reverse);
        auto states = first_states();
        Buffer<Value> results(s_.parts.size());
        Value const elements = without_upper_levels(x);
        auto const forward_part = [&](std::size_t k, AnyExec exec) {
            results[k] = run(exec, k).forward(elements, states[k]);
        };
        block_.for_parts(exec_, s_.parts.size(), std::cref(forward_part));
        Value all = scatter(results, &RnnPart::elements);
        s_.out_lod = with_upper_levels(all.lod());
        *out[net_.memories.size()] = all.with_lod(s_.out_lod);
        for (std::size_t m = 0; m < net_.memories.size(); ++m) *out[m] = last(states, m).with_lod(outer_levels());
    }

    /// `grads` receives the gradients of x, the boot states if any, and each outer variable.
    void backward(Value const& out_grad, std::span<Value* const> last_grads, std::span<Value* const> grads) {
        Buffer<Buffer<Value>> states(s_.parts.size());
        Value const elements = without_upper_levels(out_grad.with_lod(s_.out_lod));
        auto const backward_part = [&](std::size_t k, AnyExec exec) {
            for (Value const* last : last_grads) {
                states[k].push_back(last->with_lod({}).gather(exec, s_.parts[k].sequences));
            }
            run(exec, k).backward(elements, states[k]);
        };
        block_.for_parts(exec_, s_.parts.size(), std::cref(backward_part));
        x_grad(*grads[0]);
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m]) *grads[at++] = last(states, m);
        }
        for (std::size_t k = 0; k < net_.outer.size(); ++k) outer_grad(k, *grads[at + k]);
    }

private:
    std::span<Value* const> outer() const { return in_.subspan(1 + block_.boots()); }
    RnnRun run(AnyExec exec, std::size_t k) { return {exec, net_, block_.kernels, outer(), s_.parts[k]}; }

    // x with the levels below the iterated one only: its parts are the elements of the iterated sequences.
    Value without_upper_levels(Value const& x) const {
        return x.with_lod(x.lod().slice_levels(block_.level + 1, x.lod().levels()));
    }
    Lod outer_levels() const { return s_.lod.slice_levels(0, block_.level); }
    Lod with_upper_levels(Lod const& lod) const {
        if (lod.empty()) return s_.lod.slice_levels(0, block_.level + 1);
        std::vector<Ids<>> levels;
        for (std::size_t l = 0; l <= block_.level; ++l) levels.emplace_back(s_.lod[l]);
        for (std::size_t l = 0; l < lod.levels(); ++l) levels.emplace_back(lod[l]);
        return Lod(levels);
    }

    // The states before the first step, for each part and memory.
    Buffer<Buffer<Value>> first_states() const {
        std::size_t sequences = 0;
        for (RnnPart const& part : s_.parts) sequences += part.sequences.size();
        Buffer<Buffer<Value>> states(s_.parts.size());
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m] && in_[at]->rows() != sequences)
                throw ShapeError("boot.shape(0)", std::to_string(in_[at]->rows()),
                                 std::to_string(sequences) + ", the number of sequences");
            for (std::size_t k = 0; k < s_.parts.size(); ++k) {
                auto const& mine = s_.parts[k].sequences;
                states[k].push_back(block_.has_boot[m]
                                        ? in_[at]->with_lod({}).gather(exec_, mine)
                                        : block_.kernels.zeros(exec_, mine.size(), net_.memories[m].before->spec()));
            }
            if (block_.has_boot[m]) ++at;
        }
        return states;
    }

    Value scatter(std::span<Value> values, Buffer<std::int64_t> RnnPart::*to) const {
        Buffer<Value*> parts;
        Buffer<std::span<std::int64_t const>> targets;
        for (std::size_t k = 0; k < values.size(); ++k) {
            bool const only = k + 1 == values.size() && parts.empty();
            if ((s_.parts[k].*to).empty() && !only) continue;
            parts.push_back(&values[k]);
            targets.emplace_back(s_.parts[k].*to);
        }
        return Value::scatter(exec_, parts, targets);
    }
    Value last(std::span<Buffer<Value>> states, std::size_t m) const {
        Buffer<Value> of_parts;
        for (auto& part : states) of_parts.push_back(part[m].share());
        return scatter(of_parts, &RnnPart::sequences);
    }

    void x_grad(Value& grad) {
        if (net_.x_grad == nullptr) {
            if (has_gradient(*net_.x)) grad = block_.kernels.zero_like(exec_, *in_[0]);
            return;
        }
        Buffer<Value> of_parts;
        for (std::size_t k = 0; k < s_.parts.size(); ++k) {
            of_parts.push_back(s_.parts[k].count() == 0 ? without_upper_levels(*in_[0]).slice(0, 0)
                                                        : run(exec_, k).x_grad());
        }
        grad = scatter(of_parts, &RnnPart::elements).with_lod(s_.lod);
    }

    // Sums the gradients of outer variable k over all parts and steps.
    void outer_grad(std::size_t k, Value& grad) {
        Buffer<Value*> summands;
        for (std::size_t part = 0; part < s_.parts.size(); ++part) {
            if (s_.parts[part].count() > 0) run(exec_, part).outer_grad(k, summands);
        }
        if (summands.empty()) {
            if (all_row_sparse(net_.outer_grads[k])) {
                grad = block_.kernels.no_rows(exec_, *outer()[k]);
            } else if (has_gradient(*net_.outer[k])) {
                grad = block_.kernels.zero_like(exec_, *outer()[k]);
            }
        } else {
            grad = block_.kernels.total(exec_, summands);
        }
    }
    bool has_gradient(Variable const& v) const { return v.spec().dtype == net_.out->spec().dtype; }

    AnyExec exec_;
    RnnBlock const& block_;
    StepNet const& net_;
    std::span<Value* const> in_;
    StepScopes& s_;
};

ROWAN_FUNCTION void rnn_op::run(KernelCall const& c) {
    Value& scopes = *c.out.back();
    if (!scopes.is<StepScopes>()) scopes.set(StepScopes());
    Recurrent(c.exec, c.attributes.get<RnnBlock>(), c.in, scopes.get<StepScopes>()).forward(c.out);
}

ROWAN_FUNCTION void rnn_grad_op::run(KernelCall const& c) {
    auto const& block = c.attributes.get<RnnBlock>();
    std::size_t const n = c.in.size() - 2 - block.net.memories.size();
    Recurrent(c.exec, block, c.in.first(n), c.in[n]->get<StepScopes>())
        .backward(*c.in[n + 1], c.in.subspan(n + 2), c.out);
}

ROWAN_FUNCTION std::vector<VarSpec> rnn_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<RnnBlock>();
    std::vector<VarSpec> results;
    for (auto const& memory : block.net.memories) {
        VarSpec last = memory.after->spec();
        last.lod_level = block.level;
        last.dims[0] = UNK;
        results.push_back(last);
    }
    VarSpec out = block.net.out->spec();
    if (out.lod_level == 0) out.dims[0] = in[0].lod_level == block.level + 1 ? in[0].dims[0] : UNK;
    out.lod_level += block.level + 1;
    results.push_back(out);
    results.push_back({.type = VarType::STEP_SCOPES, .dtype = out.dtype, .dims = {}});
    return results;
}

ROWAN_FUNCTION std::vector<VarSpec> rnn_grad_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<RnnBlock>();
    std::vector<VarSpec> grads(in.begin(), in.end() - static_cast<std::ptrdiff_t>(2 + block.net.memories.size()));
    std::size_t const first = 1 + block.boots();
    for (std::size_t k = 0; k < block.net.outer.size(); ++k) {
        if (all_row_sparse(block.net.outer_grads[k])) grads[first + k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/detail/loop_net.hpp: LoopNet, the operators of an iteration of a loop and of its backward pass.

namespace rowan::inline v0::detail {

/// The operators of one iteration, forward and backward, and the places of their values.
class LoopNet {
public:
    struct Place {
        enum Kind : unsigned char { outside, forward, backward };
        Kind kind;
        std::size_t number;
    };
    struct Op {
        Operator const* op;
        std::vector<Place> in, out;
        std::vector<std::size_t> dies;  // forward values that are not needed after it
        bool in_place = false;
    };
    struct State {
        Variable *before, *after;
        Variable *after_grad = nullptr, *before_grad = nullptr;
        bool moves = false;  // nothing else needs the state after an iteration, so it is moved
        bool is_dense() const { return before->spec().type == VarType::LOD_TENSOR; }
    };

    Scope* scope = nullptr;
    Variable* condition = nullptr;
    std::vector<State> states;
    std::vector<Variable*> outer;  // variables of outer scopes that an iteration reads
    std::vector<Op> conditions, body, back;
    std::vector<std::vector<Variable*>> outer_grads;  // the summands of the gradient of each of `outer`
    bool has_backward = false;

    void build();

    /// Creates the operators of the backward pass. Gradients have elements of T.
    /// errors   GraphError if an operator on the path has no gradient
    template <class T, class Device>
    void build_backward() {
        if (has_backward) return;
        try {
            make_backward<T, Device>();
        } catch (...) {
            for (State& s : states) s.after_grad = s.before_grad = nullptr;
            outer_grads.clear();
            throw;
        }
    }

    Place place(Variable const& v) const;
    std::size_t forward_places() const { return forward_; }
    std::size_t backward_places() const { return number_.size() - forward_; }

    bool is_sparse(std::size_t k) const { return all_row_sparse(outer_grads[k]); }

private:
    template <class T, class Device>
    void make_backward() {
        GradientMaker<T, Device> maker(*scope, "the state of a loop");
        auto const want = [&](Variable const& v) {
            if (v.spec().dtype == dtype<T>::wire) maker.want(v);
        };
        for (State const& s : states) want(*s.before);
        for (Variable const* v : outer) want(*v);
        maker.spread(order_);
        for (State& s : states) {
            if (!maker.wants(*s.after)) continue;
            s.after_grad = &scope->new_var("", s.after->spec());
            maker.add(*s.after, *s.after_grad);
        }
        std::size_t const first = scope->operators().size();
        for (std::size_t i = order_.size(); i-- > 0;) maker.differentiate(*order_[i]);
        for (State& s : states) s.before_grad = maker.gradient(*s.before);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        finish_backward(first);
    }

    // The operators of the scope from index `first` on are those of the backward pass.
    void finish_backward(std::size_t first);

    void add_outer(Variable& v);

    void name_and_count(std::span<Operator* const> order);

    Op places_of(Operator const& op) const;

    // Finds after which operator each value can be cleared, and which operators may run in place.
    void find_uses();

    std::vector<Operator*> order_;
    std::unordered_map<Variable const*, std::size_t> number_;
    std::size_t forward_ = 0;
};

}  // namespace rowan::inline v0::detail

// rowan/graph/detail/loop_net_inl.hpp: definitions of rowan/graph/detail/loop_net.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <ranges>
#include <unordered_set>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void LoopNet::build() {
    std::vector<Variable*> targets{condition};
    std::size_t const first = trace(targets, scope).size();
    for (State const& s : states) targets.push_back(s.after);
    order_ = trace(targets, scope);
    for (Operator* const op : order_) {
        for (Variable* const v : op->inputs) add_outer(*v);
    }
    for (Variable* const v : targets) add_outer(*v);
    name_and_count(order_);
    forward_ = number_.size();
    for (std::size_t i = 0; i < order_.size(); ++i) (i < first ? conditions : body).push_back(places_of(*order_[i]));
    find_uses();
}

ROWAN_FUNCTION LoopNet::Place LoopNet::place(Variable const& v) const {
    if (&v.scope() != scope)
        return {Place::outside, static_cast<std::size_t>(std::ranges::find(outer, &v) - outer.begin())};
    std::size_t const n = number_.at(&v);
    return n < forward_ ? Place{Place::forward, n} : Place{Place::backward, n - forward_};
}

ROWAN_FUNCTION void LoopNet::finish_backward(std::size_t first) {
    std::vector<Operator*> made;
    for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
    auto order = order_;
    order.insert(order.end(), made.begin(), made.end());
    name_and_count(order);
    for (Operator const* op : made) back.push_back(places_of(*op));
    has_backward = true;
    find_uses();
}

ROWAN_FUNCTION void LoopNet::add_outer(Variable& v) {
    if (&v.scope() != scope && std::ranges::find(outer, &v) == outer.end()) outer.push_back(&v);
}

ROWAN_FUNCTION void LoopNet::name_and_count(std::span<Operator* const> order) {
    name_inner_variables(order, *scope);
    for (auto const& v : scope->variables()) number_.try_emplace(v.get(), number_.size());
}

ROWAN_FUNCTION LoopNet::Op LoopNet::places_of(Operator const& op) const {
    Op made{.op = &op, .in = {}, .out = {}, .dies = {}};
    for (Variable const* v : op.inputs) made.in.push_back(place(*v));
    for (Variable const* v : op.outputs) made.out.push_back(place(*v));
    return made;
}

ROWAN_FUNCTION void LoopNet::find_uses() {
    auto const keep = [](std::unordered_set<std::size_t>& to, Place const& p, Place::Kind kind) {
        if (p.kind == kind) to.insert(p.number);
    };
    std::unordered_set<std::size_t> kept;        // forward values that the backward pass reads
    std::unordered_map<std::size_t, int> reads;  // how often each backward value is read
    for (Op const& op : back) {
        for (Place const& p : op.in) {
            keep(kept, p, Place::forward);
            if (p.kind == Place::backward) ++reads[p.number];
        }
    }
    std::unordered_set<std::size_t> results;
    for (State const& s : states) {
        if (s.after_grad != nullptr && s.before_grad == nullptr) keep(kept, place(*s.before), Place::forward);
        if (s.before_grad != nullptr) keep(results, place(*s.before_grad), Place::backward);
    }
    for (auto const& parts : outer_grads) {
        for (Variable const* v : parts) keep(results, place(*v), Place::backward);
    }
    for (Op& op : back) {
        Place const first = op.in.empty() ? Place{} : op.in[0];
        op.in_place = op.op->kernel->in_place && first.kind == Place::backward && reads[first.number] == 1 &&
                      !results.contains(first.number);
    }
    for (State& s : states) {
        Place const p = place(*s.after);
        s.moves = p.kind == Place::forward && !kept.contains(p.number) &&
                  std::ranges::count(states, s.after, &State::after) == 1;
    }
    auto live = kept;
    keep(live, place(*condition), Place::forward);
    for (State const& s : states) keep(live, place(*s.after), Place::forward);
    for (auto* ops : {&body, &conditions}) {
        for (Op& op : *ops | std::views::reverse) {
            op.dies.clear();
            for (auto const* places : {&op.out, &op.in}) {
                for (Place const& p : *places) {
                    if (p.kind == Place::forward && live.insert(p.number).second) op.dies.push_back(p.number);
                }
            }
            op.in_place = op.op->kernel->in_place && op.in[0].kind == Place::forward &&
                          std::ranges::find(op.dies, op.in[0].number) != op.dies.end() &&
                          std::ranges::count(op.op->inputs, op.op->inputs[0]) == 1;
        }
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/graph/while_loop.hpp: while_kernel, the operator of a loop with a condition, and its gradient.

namespace rowan::inline v0 {

/// The attributes of the `while_loop` operator.
struct WhileBlock {
    std::unique_ptr<Scope> scope;     ///< the scope of an iteration
    detail::LoopNet net;              ///< condition and body
    std::int64_t max_iterations = 0;  ///< 0: unlimited
    std::int32_t gradient_dtype = 0;  ///< dtype<T>::wire of the gradients
    detail::LoopKernels kernels;      ///< kernels for the element type and device
    /// The value of the condition.
    bool (*holds)(AnyExec exec, Value const& condition);
};

/// For each iteration of a run, the values that the gradient needs.
struct LoopScopes {
    detail::Buffer<detail::Buffer<Value>> iterations;  ///< the values of each iteration
    std::size_t count = 0;                             ///< the number of iterations that ran
};

namespace detail {

struct while_grad_op : whole_op {
    static constexpr std::string_view name = "while_loop_grad";
    using inputs = slots<slot::state, slot::scopes, grad_of<slot::last>>;
    using outputs = slots<grad_of<slot::state>>;
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the final states
    static void run(KernelCall const& call);
};

struct while_op : whole_op {
    static constexpr std::string_view name = "while_loop";
    using inputs = slots<slot::state>;
    using outputs = slots<slot::last, slot::scopes>;
    using grad = grad_rule<while_grad_op>;
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    static void run(KernelCall const& call);
};

}  // namespace detail

/// The loop operator. Inputs: the initial states, and the outer variables that an iteration reads. Results: the final
/// states, and the LoopScopes that the gradient needs.
inline constexpr op_kernel const& while_kernel = detail::whole_kernel<detail::while_op>::value;

}  // namespace rowan::inline v0

// rowan/graph/while_loop_inl.hpp: definitions of rowan/graph/while_loop.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <string>

namespace rowan::inline v0::detail {

class LoopRun {
public:
    LoopRun(AnyExec exec, WhileBlock const& block, std::span<Value* const> in, LoopScopes& scopes)
        : exec_(exec), block_(block), net_(block.net), in_(in), s_(scopes) {}

    void forward(std::span<Value* const> out) {
        Buffer<Value> states;
        for (std::size_t k = 0; k < net_.states.size(); ++k) states.push_back(in_[k]->share());
        for (s_.count = 0;; ++s_.count) {
            Buffer<Value>& values = iteration(s_.count);
            for (std::size_t k = 0; k < states.size(); ++k)
                values[number(*net_.states[k].before)] = std::move(states[k]);
            for (LoopNet::Op const& op : net_.conditions) run(op, values);
            if (!block_.holds(exec_, at(net_.place(*net_.condition), values))) {
                for (std::size_t k = 0; k < states.size(); ++k)
                    *out[k] = std::move(values[number(*net_.states[k].before)]);
                break;
            }
            if (block_.max_iterations != 0 && static_cast<std::int64_t>(s_.count) == block_.max_iterations)
                throw ValueError("the number of iterations", static_cast<double>(s_.count + 1),
                                 std::string("at most ").append(std::to_string(block_.max_iterations)));
            for (LoopNet::Op const& op : net_.body) run(op, values);
            for (std::size_t k = 0; k < states.size(); ++k) {
                LoopNet::State const& s = net_.states[k];
                Value& after = at(net_.place(*s.after), values);
                states[k] =
                    s.moves ? std::move(after) : after.share();  // moved, it belongs to the next iteration alone
            }
        }
        s_.iterations.resize(net_.has_backward ? s_.count : 0);
    }

    /// `last_grads`: the gradients of the final states. `grads` receives those of the initial states and of each outer
    /// variable. An empty value stands for zeros.
    void backward(std::span<Value* const> last_grads, std::span<Value* const> grads) {
        std::size_t const n = net_.states.size();
        Buffer<Value> carried;
        for (std::size_t k = 0; k < n; ++k) carried.push_back(last_grads[k]->share());
        Buffer<Value> values(net_.backward_places());
        Buffer<Buffer<Value>> reached(net_.outer.size());
        for (std::size_t t = s_.count; t-- > 0;) {
            Buffer<Value>& saved = s_.iterations[t];
            for (Value& v : values) v.clear();
            for (std::size_t k = 0; k < n; ++k) {
                if (net_.states[k].after_grad != nullptr)
                    values[net_.place(*net_.states[k].after_grad).number] = std::move(carried[k]);
            }
            for (LoopNet::Op const& op : net_.back) run(op, saved, values);
            for (std::size_t k = 0; k < n; ++k) {
                LoopNet::State const& s = net_.states[k];
                if (s.before_grad != nullptr) {
                    carried[k] = at(net_.place(*s.before_grad), saved, values).share();
                } else if (s.after_grad != nullptr && s.is_dense()) {
                    carried[k] = block_.kernels.zero_like(exec_, saved[number(*s.before)]);
                } else {
                    carried[k].clear();
                }
            }
            for (std::size_t k = 0; k < reached.size(); ++k) collect(k, reached[k], saved, values);
        }
        for (std::size_t k = 0; k < n; ++k) {
            LoopNet::State const& s = net_.states[k];
            if (carried[k].empty() && s.is_dense() && has_gradient(*s.before))
                carried[k] = block_.kernels.zero_like(exec_, *in_[k]);
            *grads[k] = std::move(carried[k]);
        }
        for (std::size_t k = 0; k < reached.size(); ++k) outer_grad(k, reached[k], *grads[n + k]);
    }

private:
    Buffer<Value>& iteration(std::size_t t) {
        std::size_t const i = net_.has_backward ? t : 0;  // without a backward pass all iterations share one
        if (i >= s_.iterations.size()) s_.iterations.resize(i + 1);
        Buffer<Value>& values = s_.iterations[i];
        values.resize(net_.forward_places());
        for (Value& v : values) v.clear();
        return values;
    }
    std::size_t number(Variable const& v) const { return net_.place(v).number; }

    Value& at(LoopNet::Place const& p, Buffer<Value>& values) const {
        return p.kind == LoopNet::Place::outside ? outer(p.number) : values[p.number];
    }
    Value& at(LoopNet::Place const& p, Buffer<Value>& saved, Buffer<Value>& values) const {
        return p.kind == LoopNet::Place::backward ? values[p.number] : at(p, saved);
    }
    Value& outer(std::size_t k) const { return *in_[net_.states.size() + k]; }

    template <class... Values>
    void run(LoopNet::Op const& op, Buffer<Value>& first, Values&... more) {
        inputs_.clear();
        outputs_.clear();
        for (LoopNet::Place const& p : op.in) inputs_.push_back(&at(p, first, more...));
        for (LoopNet::Place const& p : op.out) outputs_.push_back(&at(p, first, more...));
        if (op.in_place) {
            *outputs_[0] = std::move(*inputs_[0]);
            inputs_[0] = outputs_[0];
        }
        Operator const& o = *op.op;
        run_named(o, [&] { run_on(exec_, o, inputs_, outputs_); });
        for (std::size_t const dead : op.dies) first[dead].clear();
    }

    // Adds the gradients of outer variable k in one iteration to `reached`. Row-sparse ones are only collected and
    // joined at the end.
    void collect(std::size_t k, Buffer<Value>& reached, Buffer<Value>& saved, Buffer<Value>& values) const {
        for (Variable const* v : net_.outer_grads[k]) {
            Value& part = at(net_.place(*v), saved, values);
            if (part.empty()) continue;
            if (reached.empty() || v->spec().type == VarType::SELECTED_ROWS) {
                reached.push_back(part.share());
            } else if (v->spec().type == VarType::TENSOR_ARRAY) {
                reached[0] = reached[0].add_slots(part);
            } else {
                std::array<Value*, 2> const both{&reached[0], &part};
                reached[0] = block_.kernels.total(exec_, both);
            }
        }
    }

    void outer_grad(std::size_t k, Buffer<Value>& reached, Value& grad) const {
        Variable const& v = *net_.outer[k];
        if (!reached.empty()) {
            Buffer<Value*> all;
            for (Value& part : reached) all.push_back(&part);
            grad = block_.kernels.total(exec_, all);
        } else if (net_.is_sparse(k)) {
            grad = block_.kernels.no_rows(exec_, outer(k));
        } else if (v.spec().type == VarType::LOD_TENSOR && has_gradient(v)) {
            grad = block_.kernels.zero_like(exec_, outer(k));
        } else {
            grad.clear();
        }
    }
    bool has_gradient(Variable const& v) const { return v.spec().dtype == block_.gradient_dtype; }

    AnyExec exec_;
    WhileBlock const& block_;
    LoopNet const& net_;
    std::span<Value* const> in_;
    LoopScopes& s_;
    Buffer<Value*> inputs_, outputs_;
};

ROWAN_FUNCTION void while_op::run(KernelCall const& c) {
    Value& scopes = *c.out.back();
    if (!scopes.is<LoopScopes>()) scopes.set(LoopScopes());
    LoopRun(c.exec, c.attributes.get<WhileBlock>(), c.in, scopes.get<LoopScopes>()).forward(c.out);
}

ROWAN_FUNCTION void while_grad_op::run(KernelCall const& c) {
    std::size_t const n = c.out.size();
    LoopRun(c.exec, c.attributes.get<WhileBlock>(), c.in.first(n), c.in[n]->get<LoopScopes>())
        .backward(c.in.subspan(n + 1), c.out);
}

ROWAN_FUNCTION std::vector<VarSpec> while_op::infer(Specs, AttributesRef attributes) {
    auto const& block = attributes.get<WhileBlock>();
    std::vector<VarSpec> results;
    for (auto const& s : block.net.states) {
        VarSpec last = s.before->spec();
        for (std::size_t i = 0; i < last.dims.size(); ++i) {
            if (s.after->spec().dims[i] == UNK) last.dims[i] = UNK;
        }
        results.push_back(last);
    }
    results.push_back({.type = VarType::STEP_SCOPES, .dtype = block.gradient_dtype, .dims = {}});
    return results;
}

ROWAN_FUNCTION std::vector<VarSpec> while_grad_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<WhileBlock>();
    for (VarSpec const& grad : in.last(block.net.states.size())) {
        if (grad.dtype != block.gradient_dtype && !is_integral(grad.dtype))
            throw TypeError("while_loop: the gradient of a state", dtype_text(grad.dtype),
                            dtype_text(block.gradient_dtype) + ", as the first state that has fractions");
    }
    std::size_t const states = block.net.states.size(), n = states + block.net.outer.size();
    std::vector<VarSpec> grads(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t k = states; k < n; ++k) {
        if (block.net.is_sparse(k - states)) grads[k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/dlpack.hpp: to_dlpack and from_dlpack, zero-copy exchange of tensors with other libraries in a process.

namespace rowan::inline v0 {

/// The structs of DLPack 1.0, named as in DLPack's own header, whose structs all functions here accept as well.
namespace dlpack {

/// The device of a tensor.
struct DLDevice {
    std::int32_t device_type;  ///< 1 for the CPU
    std::int32_t device_id;    ///< its index among devices of this type
};

/// An element type.
struct DLDataType {
    std::uint8_t code;    ///< int 0, uint 1, float 2, bfloat 4, complex 5, bool 6
    std::uint8_t bits;    ///< per lane
    std::uint16_t lanes;  ///< 1, except for vector types
};

/// A non-owning view of a tensor.
struct DLTensor {
    void* data;                 ///< start of the memory
    DLDevice device;            ///< device of the memory
    std::int32_t ndim;          ///< number of dims
    DLDataType dtype;           ///< element type
    std::int64_t* shape;        ///< dims
    std::int64_t* strides;      ///< in elements; null if contiguous and row-major
    std::uint64_t byte_offset;  ///< offset of the first element from data
};

/// The contents of a capsule "dltensor".
struct DLManagedTensor {
    DLTensor dl_tensor;                 ///< the shared tensor
    void* manager_ctx;                  ///< data of the producer
    void (*deleter)(DLManagedTensor*);  ///< called by the consumer when it is done
};

/// The DLPack version of the producer.
struct DLPackVersion {
    std::uint32_t major;  ///< must be 1
    std::uint32_t minor;  ///< any
};

/// The contents of a capsule "dltensor_versioned".
struct DLManagedTensorVersioned {
    DLPackVersion version;                       ///< first, so that every version can read it
    void* manager_ctx;                           ///< data of the producer
    void (*deleter)(DLManagedTensorVersioned*);  ///< called by the consumer when it is done
    std::uint64_t flags;                         ///< read_only and DLPack's other bits
    DLTensor dl_tensor;                          ///< the shared tensor
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80);

inline constexpr int cpu = 1;                  ///< device_type of host memory
inline constexpr std::uint64_t read_only = 1;  ///< a bit of flags: elements must not be written

/// DLManagedTensor or DLManagedTensorVersioned, from here or from DLPack's own header.
template <class M>
concept managed = requires(M& m) {
    { m.dl_tensor.data } -> std::convertible_to<void*>;
    m.manager_ctx;
    m.deleter(&m);
};
/// The struct of DLPack 1.0 and later.
template <class M>
concept versioned = managed<M> && requires(M& m) {
    m.version.major;
    m.flags;
};

}  // namespace dlpack

namespace detail {

/// DLPack's type codes: int 0, uint 1, float 2, bfloat16 4, bool 6; 255 for types that DLPack does not have, such as
/// user-defined ones.
template <class T>
consteval std::uint8_t dlpack_code() {
    if (std::is_same_v<T, bool>) return 6;
    if (std::is_same_v<T, std::uint8_t>) return 1;
    if (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) return 0;
    if (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16>) return 2;
    return std::is_same_v<T, bfloat16> ? 4 : 255;
}

template <class T>
constexpr void check_dlpack_type() {
    static_assert(dlpack_code<T>() != 255,
                  "rowan::to_dlpack, from_dlpack: DLPack has no such element type; convert to float or an integer");
}

/// "float32"; "type 3, bits 64" for an unknown code.
std::string dlpack_type_text(int code, int bits, int lanes);

/// Validates all fields of an imported tensor except its strides, and returns its shape.
template <class T, class M>
typename Tensor<T>::shape_type checked_dlpack(M const& m) {
    check_dlpack_type<T>();
    if constexpr (dlpack::versioned<M>) {
        if (m.version.major != 1) {
            throw FormatError(
                0, "the version of DLPack",
                "is " + std::to_string(m.version.major) + "." + std::to_string(m.version.minor) + ", known is 1");
        }
    }
    auto const& t = m.dl_tensor;
    if (static_cast<int>(t.device.device_type) != dlpack::cpu)
        throw Error("the tensor's device is " + std::to_string(static_cast<int>(t.device.device_type)) +
                    ", expected 1, the CPU");
    if (t.dtype.code != dlpack_code<T>() || std::size_t{t.dtype.bits} != 8 * sizeof(T) || t.dtype.lanes != 1) {
        throw TypeError("the tensor's element type", dlpack_type_text(t.dtype.code, t.dtype.bits, t.dtype.lanes),
                        dlpack_type_text(dlpack_code<T>(), 8 * sizeof(T), 1));
    }
    if (t.ndim < 0 || t.ndim > static_cast<int>(Tensor<T>::max_rank))
        throw ShapeError("ndim", std::to_string(t.ndim), "in [0, " + std::to_string(Tensor<T>::max_rank) + "]");
    if (t.ndim > 0 && t.shape == nullptr) throw ShapeError("shape", "null", std::to_string(t.ndim) + " dims");
    typename Tensor<T>::shape_type shape(static_cast<std::size_t>(t.ndim));
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (t.shape[i] < 0)
            throw ShapeError("shape[" + std::to_string(i) + "]", std::to_string(t.shape[i]), "at least 0");
        shape[i] = static_cast<std::size_t>(t.shape[i]);
    }
    if (checked_size("dlpack", shape, sizeof(T)) != 0 && t.data == nullptr)
        throw Error("data is null, but the tensor has elements");
    return shape;
}

/// The first element. Throws Error if it is not aligned.
template <class T, class M>
T* dlpack_data(M const& m) {
    auto* const data = static_cast<std::byte*>(m.dl_tensor.data) + m.dl_tensor.byte_offset;
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
        throw Error("data + byte_offset is not a multiple of " + std::to_string(alignof(T)) + ", where a " +
                    std::string(dtype<T>::name) + " can lie");
    return reinterpret_cast<T*>(data);
}

/// An exported tensor: its alias keeps the elements alive until the consumer calls the deleter.
template <class T, class M>
struct DlpackExport {
    Tensor<T> tensor;
    std::array<std::int64_t, Tensor<T>::max_rank> shape, strides;
    M managed;
};

/// An imported tensor: calls the producer's deleter when the last alias is destroyed.
template <class M>
struct DlpackImport {
    M* managed = nullptr;
    DlpackImport() = default;
    DlpackImport(DlpackImport const&) = delete;
    DlpackImport& operator=(DlpackImport const&) = delete;
    ~DlpackImport() {
        if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
    }
};

}  // namespace detail

/// Exports an alias of `tensor`, through which a consumer may read and write the elements. Consumers that support only
/// DLPack before 1.0 need to_dlpack<dlpack::DLManagedTensor>. The elements live until the consumer calls the deleter,
/// even if `tensor` is destroyed. Assigning a new value to `tensor` does not change the exported elements.
/// shapes   tensor [...], as at the time of the call
/// errors   std::bad_alloc
/// cost     no copy; one allocation
template <dlpack::managed M = dlpack::DLManagedTensorVersioned, class T>
M* to_dlpack(Tensor<T> const& tensor) {
    detail::check_dlpack_type<T>();
    auto* const e = new detail::DlpackExport<T, M>{tensor.share(), {}, {}, {}};
    std::int64_t stride = 1;
    for (std::size_t i = tensor.dimension(); i-- > 0;) {
        e->shape[i] = static_cast<std::int64_t>(tensor.shape()[i]);
        e->strides[i] = stride;
        stride *= e->shape[i];
    }
    if constexpr (dlpack::versioned<M>) e->managed.version = {1, 0};
    auto& t = e->managed.dl_tensor;
    t.data = e->tensor.data();
    t.device.device_type = static_cast<decltype(t.device.device_type)>(dlpack::cpu);
    t.ndim = static_cast<std::int32_t>(tensor.dimension());
    t.dtype = {detail::dlpack_code<T>(), 8 * sizeof(T), 1};
    t.shape = e->shape.data();
    t.strides = e->strides.data();
    e->managed.manager_ctx = e;
    e->managed.deleter = [](M* m) { delete static_cast<detail::DlpackExport<T, M>*>(m->manager_ctx); };
    return &e->managed;
}

/// Returns a tensor that aliases the producer's elements. The deleter is called when the last alias is destroyed; if
/// this function throws, `managed` still belongs to the caller.
/// shapes   as in `managed`
/// requires   `managed` describes its memory correctly, and its deleter may be called from any thread
/// errors   Error if `managed` is null, not on the CPU, read-only or misaligned, or has elements but null data;
///          FormatError if its version is not 1; TypeError if its elements are not T; ShapeError if it is not
///          contiguous and row-major, has more than 8 dims, a negative dim or too many elements. For strided and
///          read-only tensors use copy_dlpack.
/// cost     no copy
template <class T, dlpack::managed M>
Tensor<T> from_dlpack(M* managed) {
    if (managed == nullptr) throw Error("from_dlpack: managed is null");
    auto const shape = detail::checked_dlpack<T>(*managed);
    if constexpr (dlpack::versioned<M>) {
        if ((managed->flags & dlpack::read_only) != 0) throw Error("the tensor may only be read: see copy_dlpack");
    }
    std::size_t const size = detail::product_from(shape, 0);
    auto const* const strides = managed->dl_tensor.strides;
    std::int64_t compact = 1;
    for (std::size_t i = shape.size(); i-- > 0 && strides != nullptr && size != 0;) {
        if (shape[i] != 1 && strides[i] != compact) {
            throw ShapeError("strides[" + std::to_string(i) + "]", std::to_string(strides[i]),
                             std::to_string(compact) + ", as it is in C's order: see copy_dlpack");
        }
        compact *= static_cast<std::int64_t>(shape[i]);
    }
    T* const data = size == 0 ? nullptr : detail::dlpack_data<T>(*managed);
    auto const owner = std::make_shared<detail::DlpackImport<M>>();
    Tensor<T> tensor;
    tensor.storage() = detail::Storage<T>::of_others(std::shared_ptr<T>(owner, data), size);
    tensor.resize(shape);
    owner->managed = managed;  // nothing throws from here on
    return tensor;
}

/// Returns a row-major copy of the producer's elements, for any strides. `managed` still belongs to the caller.
/// shapes   as in `managed`
/// errors   as from_dlpack, but accepts any strides and read-only tensors
/// cost     one read and one write of the elements
template <class T, dlpack::managed M>
Tensor<T> copy_dlpack(M const* managed) {
    if (managed == nullptr) throw Error("copy_dlpack: managed is null");
    auto tensor = Tensor<T>::from_shape(detail::checked_dlpack<T>(*managed));
    if (tensor.size() == 0) return tensor;
    auto const& shape = tensor.shape();
    auto const* const strides = managed->dl_tensor.strides;
    T const* const from = detail::dlpack_data<T>(*managed);
    if (strides == nullptr) {
        std::copy_n(from, tensor.size(), tensor.data());
        return tensor;
    }
    std::array<std::size_t, Tensor<T>::max_rank> index{};
    std::int64_t place = 0;
    for (T& x : std::span(tensor.data(), tensor.size())) {
        x = from[place];
        for (std::size_t i = shape.size(); i-- > 0;) {
            place += strides[i];
            if (++index[i] < shape[i]) break;
            place -= strides[i] * static_cast<std::int64_t>(shape[i]);
            index[i] = 0;
        }
    }
    return tensor;
}

}  // namespace rowan::inline v0

// rowan/io/dlpack_inl.hpp: definitions of rowan/io/dlpack.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string dlpack_type_text(int code, int bits, int lanes) {
    static constexpr std::array<char const*, 7> names{"int", "uint", "float", nullptr, "bfloat", "complex", "bool"};
    std::string const kind = code >= 0 && code < 7 && names[static_cast<std::size_t>(code)] != nullptr
                                 ? names[static_cast<std::size_t>(code)]
                                 : "type " + std::to_string(code) + ", bits ";
    return kind + std::to_string(bits) + (lanes == 1 ? "" : ", " + std::to_string(lanes) + " lanes");
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/detail/byte_reader.hpp: ByteReader, a bounds-checked reader of bytes in memory.

namespace rowan::inline v0::detail {

static_assert(std::endian::native == std::endian::little,
              "rowan's files are little-endian, and so must the machine be");

/// errors   FormatError unless at least n bytes are left
void check_left(char const* field, std::uint64_t n, std::uint64_t left, std::uint64_t position);

/// errors   FormatError if any bytes are left
void check_end(char const* field, std::uint64_t left, std::uint64_t position);

/// A position in untrusted bytes. Every size is compared with the number of bytes left before anything is read.
class ByteReader {
public:
    /// `offset`: the position of the bytes in the file, for error messages.
    explicit ByteReader(std::span<std::byte const> bytes, std::uint64_t offset = 0) : bytes_(bytes), offset_(offset) {}

    std::uint64_t position() const noexcept { return offset_ + at_; }
    std::size_t left() const noexcept { return bytes_.size() - at_; }

    /// Returns the next n bytes.
    /// errors   FormatError if fewer are left
    std::span<std::byte const> bytes(char const* field, std::uint64_t n);

    /// Fills `to` with the next bytes.
    void read(char const* field, std::span<std::byte> to) {
        auto const from = bytes(field, to.size());
        if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
    }

    /// The next number, little-endian.
    template <class I>
    requires std::is_arithmetic_v<I> I number(char const* field) {
        I x;
        std::memcpy(&x, bytes(field, sizeof x).data(), sizeof x);
        return x;
    }

    /// errors   FormatError unless all bytes were read
    void expect_end(char const* field) const { check_end(field, left(), position()); }

private:
    std::span<std::byte const> bytes_;
    std::size_t at_ = 0;
    std::uint64_t offset_;
};

}  // namespace rowan::inline v0::detail

// rowan/io/detail/byte_reader_inl.hpp: definitions of rowan/io/detail/byte_reader.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_left(char const* field, std::uint64_t n, std::uint64_t left, std::uint64_t position) {
    if (n <= left) return;
    throw FormatError(position, field, "needs " + std::to_string(n) + " bytes, " + std::to_string(left) + " are left");
}

ROWAN_FUNCTION void check_end(char const* field, std::uint64_t left, std::uint64_t position) {
    if (left != 0) throw FormatError(position, field, "ends here, but " + std::to_string(left) + " bytes follow");
}

ROWAN_FUNCTION std::span<std::byte const> ByteReader::bytes(char const* field, std::uint64_t n) {
    check_left(field, n, left(), position());
    at_ += static_cast<std::size_t>(n);
    return bytes_.subspan(at_ - static_cast<std::size_t>(n), static_cast<std::size_t>(n));
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/detail/file.hpp: InputFile, for reading and mapping files, and AtomicFile, which replaces a file atomically.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace rowan::inline v0::detail {

/// The system calls that file functions use. Tests replace them with ones that fail.
struct PosixFiles {
    static ssize_t pread(int file, void* to, std::size_t n, off_t offset);
    static int open(char const* path, int flags, mode_t mode);
    static ssize_t write(int file, void const* bytes, std::size_t n);
    static int fsync(int file);
    static int close(int file);
    static int rename(char const* from, char const* to);
    static int unlink(char const* path);
};

[[noreturn]] void throw_io(char const* operation, std::string const& path, int code = errno);

/// Repeats a system call while it fails with EINTR.
template <class Call>
auto uninterrupted(Call const& call) {
    for (;;) {
        auto const result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

/// A regular file that is open for reading.
class InputFile {
public:
    /// errors   IoError if it cannot be opened or is not a regular file
    explicit InputFile(std::string path);
    InputFile(InputFile const&) = delete;
    InputFile& operator=(InputFile const&) = delete;
    ~InputFile();

    std::string const& path() const noexcept { return path_; }
    std::uint64_t size() const noexcept { return size_; }
    int descriptor() const noexcept { return file_; }

    /// Fills `to` with the bytes from `offset` on.
    /// errors   IoError if a system call fails or the file has become shorter
    template <class Files = PosixFiles>
    void read(std::uint64_t offset, std::span<std::byte> to) const {
        while (!to.empty()) {
            ssize_t const n =
                uninterrupted([&] { return Files::pread(file_, to.data(), to.size(), static_cast<off_t>(offset)); });
            if (n < 0) throw_io("read", path_);
            if (n == 0) throw IoError("read", path_, "the file has become shorter", EIO);
            to = to.subspan(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
    }

    /// Maps n bytes from `offset` on, copy-on-write: they are read on access, and writes do not change the file.
    /// requires   the file is not truncated while they are in use
    /// errors   IoError if a system call fails
    std::shared_ptr<std::byte> map(std::uint64_t offset, std::size_t n) const;

private:
    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
};

/// Reads a whole file.
Buffer<std::byte> read_file(std::string const& path);

/// Replaces a file atomically: a temporary file in the same folder is written, flushed and renamed. Unless `commit` is
/// called, the old file is unchanged. The destructor removes a temporary file that was not renamed.
template <class Files = PosixFiles>
class AtomicFile {
public:
    explicit AtomicFile(std::string path) : path_(std::move(path)) {
        for (int k = 0; file_ < 0; ++k) {
            part_ = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(k) + ".part";
            file_ = open(part_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
            if (file_ < 0 && (errno != EEXIST || k == 1000)) throw_io("create", part_);
        }
    }
    AtomicFile(AtomicFile const&) = delete;
    AtomicFile& operator=(AtomicFile const&) = delete;
    ~AtomicFile() {
        if (file_ >= 0) Files::close(file_);
        if (!part_.empty()) Files::unlink(part_.c_str());
    }

    /// errors   IoError if a system call fails
    void write(std::span<std::byte const> bytes) {
        while (!bytes.empty()) {
            ssize_t const n = uninterrupted([&] { return Files::write(file_, bytes.data(), bytes.size()); });
            if (n < 0) throw_io("write", part_);
            if (n == 0) throw_io("write", part_, ENOSPC);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    /// errors   IoError if a system call fails: the old file is then unchanged, or already replaced if only the fsync
    ///          of its folder failed
    void commit() {
        std::size_t const slash = path_.rfind('/');
        std::string const name = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        struct Folder {
            int file;
            ~Folder() {
                if (file >= 0) Files::close(file);
            }
        } const folder{open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (folder.file < 0) throw_io("open", name);
        if (fsync(file_) != 0) throw_io("fsync", part_);
        if (Files::close(std::exchange(file_, -1)) != 0) throw_io("close", part_);
        if (Files::rename(part_.c_str(), path_.c_str()) != 0) throw_io("rename", part_);
        part_.clear();
        if (fsync(folder.file) != 0) throw_io("fsync", name);
    }

private:
    static int open(std::string const& path, int flags) {
        return uninterrupted([&] { return Files::open(path.c_str(), flags, 0666); });
    }
    static int fsync(int file) {
        return uninterrupted([&] { return Files::fsync(file); });
    }

    std::string path_, part_;
    int file_ = -1;
};

/// Writes a whole file atomically.
void write_file(std::string const& path, std::span<std::byte const> bytes);

}  // namespace rowan::inline v0::detail

// rowan/io/detail/file_inl.hpp: definitions of rowan/io/detail/file.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <sys/mman.h>
#include <sys/stat.h>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ssize_t PosixFiles::pread(int file, void* to, std::size_t n, off_t offset) {
    return ::pread(file, to, n, offset);
}

ROWAN_FUNCTION int PosixFiles::open(char const* path, int flags, mode_t mode) { return ::open(path, flags, mode); }

ROWAN_FUNCTION ssize_t PosixFiles::write(int file, void const* bytes, std::size_t n) { return ::write(file, bytes, n); }

ROWAN_FUNCTION int PosixFiles::fsync(int file) { return ::fsync(file); }

ROWAN_FUNCTION int PosixFiles::close(int file) { return ::close(file); }

ROWAN_FUNCTION int PosixFiles::rename(char const* from, char const* to) { return ::rename(from, to); }

ROWAN_FUNCTION int PosixFiles::unlink(char const* path) { return ::unlink(path); }

ROWAN_FUNCTION void throw_io(char const* operation, std::string const& path, int code) {
    throw IoError(operation, path, std::strerror(code), code);
}

ROWAN_FUNCTION InputFile::InputFile(std::string path)
    : path_(std::move(path)),
      // O_NONBLOCK: do not block on a pipe, which is then rejected as not a regular file
      file_(uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
    if (file_ < 0) throw_io("open", path_);
    struct stat about {};
    int const code = ::fstat(file_, &about) != 0 ? errno : !S_ISREG(about.st_mode) ? EINVAL : 0;
    if (code != 0) {
        ::close(file_);
        if (code == EINVAL) throw IoError("open", path_, "not a regular file", code);
        throw_io("stat", path_, code);
    }
    size_ = static_cast<std::uint64_t>(about.st_size);
}

ROWAN_FUNCTION InputFile::~InputFile() { ::close(file_); }

ROWAN_FUNCTION std::shared_ptr<std::byte> InputFile::map(std::uint64_t offset, std::size_t n) const {
    if (n == 0) return nullptr;
    std::size_t const before = static_cast<std::size_t>(offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    void* const pages = ::mmap(nullptr, before + n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_,
                               static_cast<off_t>(offset - before));
    if (pages == MAP_FAILED) throw_io("map", path_);
    return {static_cast<std::byte*>(pages) + before, [=](std::byte*) { ::munmap(pages, before + n); }};
}

ROWAN_FUNCTION Buffer<std::byte> read_file(std::string const& path) {
    InputFile const file(path);
    Buffer<std::byte> bytes(static_cast<std::size_t>(file.size()));
    file.read(0, bytes);
    return bytes;
}

ROWAN_FUNCTION void write_file(std::string const& path, std::span<std::byte const> bytes) {
    AtomicFile<> file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/detail/file_reader.hpp: FileReader, a bounds-checked reader of a file, with the interface of ByteReader.

namespace rowan::inline v0::detail {

/// A position in a file. Reads are bounds-checked first and go directly into their destination.
class FileReader {
public:
    explicit FileReader(InputFile const& file) : FileReader(file, 0, file.size()) {}
    /// The bytes [begin, end) of the file; begin <= end <= file.size().
    FileReader(InputFile const& file, std::uint64_t begin, std::uint64_t end) : file_(&file), at_(begin), end_(end) {}

    std::uint64_t position() const noexcept { return at_; }
    std::uint64_t left() const noexcept { return end_ - at_; }

    /// Skips the next n bytes.
    void skip(char const* field, std::uint64_t n) {
        check_left(field, n, left(), at_);
        at_ += n;
    }

    /// Fills `to` with the next bytes.
    void read(char const* field, std::span<std::byte> to);

    /// The next number, little-endian.
    template <class I>
    requires std::is_arithmetic_v<I> I number(char const* field) {
        I x;
        read(field, std::as_writable_bytes(std::span(&x, 1)));
        return x;
    }

    /// errors   FormatError unless all bytes were read
    void expect_end(char const* field) const { check_end(field, left(), at_); }

private:
    InputFile const* file_;
    std::uint64_t at_;
    std::uint64_t end_;
};

}  // namespace rowan::inline v0::detail

// rowan/io/detail/file_reader_inl.hpp: definitions of rowan/io/detail/file_reader.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void FileReader::read(char const* field, std::span<std::byte> to) {
    check_left(field, to.size(), left(), at_);
    file_->read(at_, to);
    at_ += to.size();
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/detail/npy_header.hpp: the header of a .npy file, a Python dictionary in text.

namespace rowan::inline v0 {

/// The header of a .npy file.
struct NpyHeader {
    std::string type;  ///< as NumPy spells it: "<f4", "|b1"
    bool fortran_order = false;
    std::vector<std::size_t> shape;

    friend bool operator==(NpyHeader const&, NpyHeader const&) = default;
};

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::size_t npy_header_limit = 10'000;  // NumPy's limit

/// Parses the text of a header, which begins at `offset` in the file.
/// errors   FormatError if it is not in the form that NumPy writes
NpyHeader parse_npy_header(std::string_view text, std::uint64_t offset);

/// Reads everything before the elements.
template <class Reader>
NpyHeader read_npy_header(Reader& in) {
    std::array<char, 6> magic;
    in.read("the magic number", std::as_writable_bytes(std::span(magic)));
    if (std::string_view(magic.data(), magic.size()) != npy_magic)
        throw FormatError(0, "the magic number", "is not that of a .npy file");
    auto const major = in.template number<std::uint8_t>("the version");
    auto const minor = in.template number<std::uint8_t>("the version");
    if (major < 1 || major > 3 || minor != 0) {
        throw FormatError(6, "the version",
                          "is " + std::to_string(major) + "." + std::to_string(minor) + ", known are 1.0, 2.0 and 3.0");
    }
    std::uint32_t const length = major == 1 ? in.template number<std::uint16_t>("the header's length")
                                            : in.template number<std::uint32_t>("the header's length");
    if (length > npy_header_limit) {
        throw FormatError(8, "the header's length",
                          "is " + std::to_string(length) + ", more than " + std::to_string(npy_header_limit));
    }
    std::uint64_t const begin = in.position();
    if (length > in.left()) {
        throw FormatError(8, "the header's length",
                          "is " + std::to_string(length) + ", but " + std::to_string(in.left()) + " bytes follow");
    }
    std::string text(length, '\0');
    in.read("the header", std::as_writable_bytes(std::span(text)));
    return parse_npy_header(text, begin);
}

/// The bytes before the elements, as NumPy writes them: padded so that the first dim can grow in place and the elements
/// begin at a multiple of 64.
template <class Shape>
std::string npy_header_text(std::string_view type, Shape const& shape) {
    std::string dims;
    for (std::size_t i = 0; i < shape.size(); ++i) dims += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    if (shape.size() == 1) dims += ',';
    std::string text = std::string("{'descr': '").append(type).append("', 'fortran_order': False, 'shape': (");
    text.append(dims).append("), }");
    if (shape.size() != 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
    std::size_t const before = npy_magic.size() + 4;
    text.append(64 - (before + text.size() + 1) % 64, ' ').append("\n");
    std::string bytes(npy_magic);
    bytes.append({'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)});
    return bytes + text;
}

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/io/detail/npy_header_inl.hpp: definitions of rowan/io/detail/npy_header.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <charconv>
#include <limits>
#include <system_error>

namespace rowan::inline v0::detail {

/// Parses only the Python that NumPy writes: a dictionary of a string, a bool and a tuple of integers.
class NpyParser {
public:
    NpyParser(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

    NpyHeader header();

private:
    std::uint64_t position() {
        skip();
        return offset_ + at_;
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    [[noreturn]] void fail(std::string const& expected) const;
    static void once(bool& seen, std::string const& key, std::uint64_t at);
    bool accept(char c);
    void take(char c);
    bool accept(std::string_view word);
    std::string string();
    bool boolean();
    std::vector<std::size_t> tuple();

    std::string_view text_;
    std::uint64_t offset_;  // position of the text in the file
    std::size_t at_ = 0;
};

ROWAN_FUNCTION NpyHeader NpyParser::header() {
    NpyHeader header;
    std::array<bool, 3> seen{};
    take('{');
    while (!accept('}')) {
        std::uint64_t const at = position();
        std::string const key = string();
        take(':');
        if (key == "descr") {
            once(seen[0], key, at);
            header.type = string();
        } else if (key == "fortran_order") {
            once(seen[1], key, at);
            header.fortran_order = boolean();
        } else if (key == "shape") {
            once(seen[2], key, at);
            header.shape = tuple();
        } else {
            throw FormatError(at, "the header", "has a key '" + key + "', which is unknown");
        }
        if (!accept(',')) {
            take('}');
            break;
        }
    }
    skip();
    if (at_ + 1 != text_.size() || text_[at_] != '\n') fail("the newline that ends the header");
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i])
            throw FormatError(offset_, "the header",
                              std::string("lacks ") + std::array{"'descr'", "'fortran_order'", "'shape'"}[i]);
    }
    return header;
}

ROWAN_FUNCTION void NpyParser::fail(std::string const& expected) const {
    std::string const found =
        at_ < text_.size() ? "byte " + std::to_string(static_cast<unsigned char>(text_[at_])) : std::string("its end");
    throw FormatError(offset_ + at_, "the header", "has " + found + ", expected " + expected);
}

ROWAN_FUNCTION void NpyParser::once(bool& seen, std::string const& key, std::uint64_t at) {
    if (seen) throw FormatError(at, "the header", "has the key '" + key + "' twice");
    seen = true;
}

ROWAN_FUNCTION bool NpyParser::accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

ROWAN_FUNCTION void NpyParser::take(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
}

ROWAN_FUNCTION bool NpyParser::accept(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
}

ROWAN_FUNCTION std::string NpyParser::string() {
    char const quote = accept('"') ? '"' : '\'';
    if (quote == '\'' && !accept('\'')) fail("a string");
    std::size_t const end = text_.find(quote, at_);
    if (end == text_.npos) fail("a string that ends");
    std::string const word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
}

ROWAN_FUNCTION bool NpyParser::boolean() {
    skip();
    if (accept("True")) return true;
    if (!accept("False")) fail("True or False");
    return false;
}

ROWAN_FUNCTION std::vector<std::size_t> NpyParser::tuple() {
    std::vector<std::size_t> dims;
    take('(');
    while (!accept(')')) {
        skip();
        std::size_t dim = 0;
        auto const [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
        if (code != std::errc() || dim > std::numeric_limits<std::ptrdiff_t>::max()) fail("a dim in [0, 2^63 - 1]");
        auto const length = static_cast<std::size_t>(end - text_.data()) - at_;
        if (text_[at_] == '0' && length > 1) fail("a dim without a leading zero");
        at_ += length;
        dims.push_back(dim);
        if (!accept(',')) {
            if (dims.size() == 1) fail("','");  // in Python, (3) is a number
            take(')');
            break;
        }
    }
    return dims;
}

ROWAN_FUNCTION NpyHeader parse_npy_header(std::string_view text, std::uint64_t offset) {
    return NpyParser(text, offset).header();
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/io/detail/read_elements.hpp: read_elements, from a ByteReader or a FileReader into a tensor.

namespace rowan::inline v0::detail {

/// Fills `to` with the next elements.
/// errors   FormatError if fewer bytes are left, or a bool is neither 0 nor 1
template <class T, class Reader>
void read_elements(Reader& in, char const* field, std::span<T> to) {
    std::uint64_t const begin = in.position();
    auto const bytes = std::as_writable_bytes(to);
    in.read(field, bytes);
    if constexpr (std::is_same_v<T, bool>) {
        auto const bad = std::ranges::find_if(bytes, [](std::byte x) { return x > std::byte{1}; });
        if (bad == bytes.end()) return;
        throw FormatError(
            begin + static_cast<std::uint64_t>(bad - bytes.begin()), field,
            "has the truth value " + std::to_string(std::to_integer<int>(*bad)) + ", which is neither 0 nor 1");
    }
}

/// The size in bytes of the elements of an untrusted shape.
/// errors   FormatError if it exceeds `left`, or the shape has more dims than a tensor can have
template <class T, class Shape>
std::uint64_t element_bytes(std::uint64_t position, char const* field, Shape const& shape, std::uint64_t left) {
    if (shape.size() > Tensor<T>::max_rank) {
        throw FormatError(
            position, field,
            "has " + std::to_string(shape.size()) + " dims, more than " + std::to_string(Tensor<T>::max_rank));
    }
    auto const size = shape_size(shape, sizeof(T));
    if (!size) throw FormatError(position, field, "is " + shape_text(shape) + ", more than 2^63 - 1 bytes");
    std::uint64_t const bytes = *size * sizeof(T);
    if (bytes > left) {
        throw FormatError(position, field,
                          "is " + shape_text(shape) + ", which needs " + std::to_string(bytes) + " bytes, " +
                              std::to_string(left) + " are left");
    }
    return bytes;
}

}  // namespace rowan::inline v0::detail

// rowan/io/npy.hpp: load_npy and save_npy, tensors in NumPy's .npy files.

namespace rowan::inline v0 {

namespace detail {

/// "<f4". Element types that NumPy does not have are void of their size, as are those of the package ml_dtypes: "<V2".
template <class T>
std::string npy_type() {
    constexpr char kind = std::is_same_v<T, bool>                                              ? 'b'
                          : std::is_same_v<T, std::uint8_t>                                    ? 'u'
                          : std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ? 'i'
                          : std::is_floating_point_v<T> || std::is_same_v<T, float16>          ? 'f'
                                                                                               : 'V';
    bool const one_byte = sizeof(T) == 1 && kind != 'V';
    return std::string(one_byte ? "|" : "<") + kind + std::to_string(sizeof(T));
}

/// Single bytes and void have no byte order: '<' and '|' are then equivalent.
template <class T>
bool is_npy_type(std::string const& found) {
    std::string const own = npy_type<T>();
    if (found == own) return true;
    bool const no_order = sizeof(T) == 1 || own[1] == 'V';
    return no_order && (found[0] == '<' || found[0] == '|') && found.substr(1) == own.substr(1);
}

/// Reads elements in Fortran order (column-major, the first index varies fastest) into the row-major `to`, through a
/// buffer of 256 KiB.
template <class T, class Reader>
void read_fortran_order(Reader& in, Tensor<T>& to) {
    auto const& shape = to.shape();
    auto chunk = Tensor<T>::from_shape({std::min(to.size(), (std::size_t{1} << 18) / sizeof(T) + 1)});
    std::array<std::size_t, Tensor<T>::max_rank> index{}, stride{};
    for (std::size_t dim = 0; dim < shape.size(); ++dim) stride[dim] = product_from(shape, dim + 1);
    std::size_t place = 0;
    for (std::size_t left = to.size(); left != 0;) {
        std::size_t const n = std::min(left, chunk.size());
        read_elements(in, "the data", std::span(chunk.data(), n));
        for (T const& x : std::span(chunk.data(), n)) {
            to.data()[place] = x;
            for (std::size_t dim = 0; dim < shape.size(); ++dim) {
                place += stride[dim];
                if (++index[dim] < shape[dim]) break;
                place -= stride[dim] * shape[dim];
                index[dim] = 0;
            }
        }
        left -= n;
    }
}

template <class T, class Reader>
Tensor<T> read_npy(Reader& in) {
    NpyHeader const header = read_npy_header(in);
    if (!is_npy_type<T>(header.type)) throw TypeError("the file's element type", header.type, npy_type<T>());
    std::uint64_t const begin = in.position();
    std::uint64_t const bytes = element_bytes<T>(begin, "the shape", header.shape, in.left());
    check_end("the file", in.left() - bytes, begin + bytes);
    auto tensor = Tensor<T>::from_shape({header.shape.begin(), header.shape.end()});
    if (header.fortran_order) {
        read_fortran_order(in, tensor);
    } else {
        read_elements(in, "the data", std::span(tensor.data(), tensor.size()));
    }
    return tensor;
}

}  // namespace detail

/// The header of the .npy file at `path`, for any element type. The elements are not read.
/// errors   IoError if it cannot be read; FormatError if its header is damaged or describes a structured type
/// cost     one read of the header
NpyHeader describe_npy(std::string const& path);

/// Reads a tensor from a .npy file of version 1, 2 or 3, in C or Fortran order. bfloat16 and user-defined types, which
/// NumPy does not have, are stored as by ml_dtypes: as void of their size, such as `<V2`, which Python converts with
/// `.view(ml_dtypes.bfloat16)`.
/// shapes   as in the file
/// errors   IoError if the file cannot be read; TypeError if its elements are not T or are big-endian; FormatError if
///          the file violates the format in any other way: missing or extra bytes, a bool other than 0 and 1, more than
///          8 dims
/// cost     elements in C order are read directly into the tensor; nothing is allocated for elements that are missing
template <class T>
Tensor<T> load_npy(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    return detail::read_npy<T>(in);
}

/// As load_npy, for a file in memory.
template <class T>
Tensor<T> from_npy(std::span<std::byte const> bytes) {
    detail::ByteReader in(bytes);
    return detail::read_npy<T>(in);
}

/// The bytes that NumPy's `save` writes for this array.
/// shapes   any
/// errors   none
/// cost     one copy of the elements
template <class T>
std::vector<std::byte> to_npy(Tensor<T> const& tensor) {
    auto const header = detail::npy_header_text(detail::npy_type<T>(), tensor.shape());
    auto const head = std::as_bytes(std::span(header));
    auto const elements = std::as_bytes(std::span(tensor.data(), tensor.size()));
    std::vector<std::byte> bytes(head.size() + elements.size());
    std::ranges::copy(elements, std::ranges::copy(head, bytes.begin()).out);
    return bytes;
}

/// Writes a tensor to a .npy file, atomically: the file is written completely or stays unchanged.
/// shapes   any
/// errors   IoError if the file cannot be written
/// cost     one write of the elements, which are not copied
template <class T>
void save_npy(std::string const& path, Tensor<T> const& tensor) {
    auto const header = detail::npy_header_text(detail::npy_type<T>(), tensor.shape());
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    file.write(std::as_bytes(std::span(tensor.data(), tensor.size())));
    file.commit();
}

}  // namespace rowan::inline v0

// rowan/io/npy_inl.hpp: definitions of rowan/io/npy.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0 {

ROWAN_FUNCTION NpyHeader describe_npy(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    return detail::read_npy_header(in);
}

}  // namespace rowan::inline v0

#endif

// rowan/io/npy_folder.hpp: NpyFolder, named tensors in a folder, the contents of NumPy's .npz.

namespace rowan::inline v0 {

/// A non-owning reference to a tensor of any element type, to be written.
/// requires   the tensor outlives it; use it only as a parameter
class NpyArray {
public:
    /// Refers to the elements of `tensor`.
    template <class T>
    NpyArray(Tensor<T> const& tensor)
        : header_(detail::npy_header_text(detail::npy_type<T>(), tensor.shape())),
          elements_(std::as_bytes(std::span(tensor.data(), tensor.size()))) {}

    std::string const& header() const noexcept { return header_; }  ///< the bytes before the elements in a file
    std::span<std::byte const> elements() const noexcept { return elements_; }  ///< the elements in memory

private:
    std::string header_;
    std::span<std::byte const> elements_;
};

namespace detail {

/// errors   Error unless `name`.npy is a valid file name
void check_npy_name(std::string const& name);

/// Flushes the folder of `path` (fsync), so that a rename in it is durable.
void sync_folder_of(std::string const& path);

}  // namespace detail

/// A folder with one file per tensor, `name.npy`, such as `unzip` makes from an .npz.
class NpyFolder {
public:
    /// Lists the names. The files are read on demand.
    /// errors   IoError if there is no such folder; FormatError if it contains anything but regular files whose names
    ///          end with .npy
    /// cost     O(names * log names), and one stat per name
    explicit NpyFolder(std::string path);

    /// The names of the tensors, ascending.
    std::vector<std::string> const& names() const noexcept { return names_; }

    /// Loads the tensor of that name.
    /// errors   Error if there is no tensor of that name; those of load_npy
    /// cost     as load_npy
    template <class T>
    Tensor<T> load(std::string const& name) const {
        return load_npy<T>(file(name));
    }

    /// The header of the tensor of that name.
    /// errors   Error if there is no tensor of that name; those of describe_npy
    /// cost     as describe_npy
    NpyHeader describe(std::string const& name) const { return describe_npy(file(name)); }

private:
    std::string file(std::string const& name) const;

    std::string path_;
    std::vector<std::string> names_;
};

/// Writes tensors of any element types to a new folder: `save_npy_folder("model", {{"table", table}, {"ids", ids}})`.
/// The folder is created atomically, with all of its files or not at all.
/// errors   Error if a name is empty, longer than 200 bytes, or contains a slash or NUL; IoError if `path` is a folder
///          that is not empty, or a system call fails
/// cost     one write of the elements, which are not copied
void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays);

}  // namespace rowan::inline v0

// rowan/io/npy_folder_inl.hpp: definitions of rowan/io/npy_folder.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_npy_name(std::string const& name) {
    auto const refuse = [&](char const* why) { throw Error("the name \"" + name + "\" " + why); };
    if (name.empty()) refuse("is empty");
    if (name.size() > 200) refuse("is longer than 200 bytes");
    if (name.find('/') != name.npos || name.find('\0') != name.npos)
        refuse("has a character that no file's name may have");
}

ROWAN_FUNCTION void sync_folder_of(std::string const& path) {
    std::size_t const slash = path.rfind('/');
    std::string const name = slash == path.npos ? "." : path.substr(0, slash + 1);
    int const file = uninterrupted([&] { return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (file < 0) throw_io("open", name);
    int const code = uninterrupted([&] { return ::fsync(file); }) != 0 ? errno : 0;
    ::close(file);
    if (code != 0) throw_io("fsync", name, code);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION NpyFolder::NpyFolder(std::string path) : path_(std::move(path)) {
    std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> const folder(::opendir(path_.c_str()));
    if (folder == nullptr) detail::throw_io("open", path_);
    for (errno = 0; dirent const* const entry = ::readdir(folder.get()); errno = 0) {
        std::string const name = entry->d_name;
        if (name == "." || name == "..") continue;
        struct stat about {};
        bool const regular = ::stat((path_ + "/" + name).c_str(), &about) == 0 && S_ISREG(about.st_mode);
        if (name.size() <= 4 || !name.ends_with(".npy") || !regular)
            throw FormatError(0, path_ + "/" + name, "is not a .npy file");
        names_.push_back(name.substr(0, name.size() - 4));
    }
    if (errno != 0) detail::throw_io("read", path_);
    std::ranges::sort(names_);
}

ROWAN_FUNCTION std::string NpyFolder::file(std::string const& name) const {
    if (!std::ranges::binary_search(names_, name)) throw Error(path_ + " has no tensor \"" + name + "\"");
    return path_ + "/" + name + ".npy";
}

ROWAN_FUNCTION void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays) {
    for (auto const& [name, array] : arrays) detail::check_npy_name(name);
    std::string const folder = path.substr(0, path.find_last_not_of('/') + 1);
    std::string part;
    for (int k = 0;; ++k) {
        part = folder + "." + std::to_string(::getpid()) + "." + std::to_string(k) + ".part";
        if (::mkdir(part.c_str(), 0777) == 0) break;
        if (errno != EEXIST || k == 1000) detail::throw_io("create", part);
    }
    try {
        for (auto const& [name, array] : arrays) {
            detail::AtomicFile<> file(part + "/" + name + ".npy");
            file.write(std::as_bytes(std::span(array.header())));
            file.write(array.elements());
            file.commit();
        }
        if (::rename(part.c_str(), folder.c_str()) != 0) detail::throw_io("rename", part);
    } catch (...) {
        for (auto const& [name, array] : arrays) ::unlink((part + "/" + name + ".npy").c_str());
        ::rmdir(part.c_str());
        throw;
    }
    detail::sync_folder_of(folder);
}

}  // namespace rowan::inline v0

#endif

// rowan/layer/var.hpp: Var, the input and result type of layers: a variable with a known element type.

/// Layers: functions that add operators and parameters to a net.
namespace rowan::inline v0::layer {

/// A reference to a variable of a scope. Copies refer to the same variable.
template <class T, class Device = Cpu>
class Var {
    static_assert(detail::is_element<T>(), "rowan::layer::Var<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// Refers to `variable`, which must have elements of T.
    explicit Var(Variable& variable) : variable_(&variable) {}

    Variable& operator*() const noexcept { return *variable_; }  ///< the variable
    Variable* operator->() const noexcept { return variable_; }  ///< the variable

private:
    Variable* variable_;
};

/// Adds an operator, built-in or user-defined, to the default scope and returns its first result.
///     auto y = layer::apply<my_op>({.slope = 0.1}, x);
/// A layer function adds to the net and computes nothing. It checks the dims that are known; the others are checked
/// when the net runs.
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs that do not match
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op, class Device, class... T>
auto apply(attributes_of<Op> attributes, Var<T, Device> const&... in) {
    namespace d = rowan::detail;
    static_assert(operation<Op>,
                  "rowan::layer::apply: an operator has a name, inputs, outputs and grad, see rowan::operation");
    using First = std::tuple_element_t<0, std::tuple<T...>>;
    auto const add = [&]<class... In>(d::type_list<In...>) {
        using R = typename d::element_of<decltype(d::nth<0>(typename d::results_of<Op, Device, In...>::type{}))>::type;
        return Var<R, Device>(*default_scope().new_op<Op, Device, In...>({&*in...}, std::move(attributes)).outputs[0]);
    };
    if constexpr (Op::inputs::size == 1 && d::is_variadic<Op, Device, First>) {
        return add(d::type_list<First>{});  // variadic
    } else {
        return add(d::type_list<T...>{});
    }
}

}  // namespace rowan::inline v0::layer

// rowan/detail/functions.hpp: exp, log and pow, of the standard library or by argument-dependent lookup.

namespace rowan::inline v0::detail {

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S exp_of(S const& x) {
    using std::exp;
    static_assert(
        requires { S(exp(x)); }, "rowan: this function needs exp(dtype<T>::sum): declare it beside that type");
    return S(exp(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S log_of(S const& x) {
    using std::log;
    static_assert(
        requires { S(log(x)); }, "rowan: this function needs log(dtype<T>::sum): declare it beside that type");
    return S(log(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S pow_of(S const& x, S const& y) {
    using std::pow;
    static_assert(
        requires { S(pow(x, y)); }, "rowan: this function needs pow(dtype<T>::sum): declare it beside that type");
    return S(pow(x, y));
}

}  // namespace rowan::inline v0::detail

// rowan/op/detail/exponential.hpp: exp, sigmoid and tanh, with the same bits for SIMD registers and scalars.

namespace rowan::inline v0::detail {

template <class V>
struct lane_of {
    using type = V;
};
template <class S, class A>
struct lane_of<xsimd::batch<S, A>> {
    using type = S;
};

/// The constants of exp for a floating-point type.
template <class S>
struct exp_traits;
template <>
struct exp_traits<float> {
    using bits = std::int32_t;
    static constexpr int degree = 7;                // of the Taylor polynomial; error 5e-9 on [-log(2)/2, log(2)/2]
    static constexpr double log2_high = 0x1.63p-1;  // log(2) = high + low; n · high is exact for all n
    static constexpr double log2_low = -0x1.bd0105c610ca8p-13;
    static constexpr double least = -87.0, greatest = 88.0;  // 2^n is normal for x in between
};
template <>
struct exp_traits<double> {
    using bits = std::int64_t;
    static constexpr int degree = 13;
    static constexpr double log2_high = 0x1.62e42feep-1;
    static constexpr double log2_low = 0x1.a39ef35793c76p-33;
    static constexpr double least = -708.0, greatest = 709.0;
};

/// 2^n for an integer n, where 2^n is a normal number.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V power_of_two(V const& n) {
    using S = typename lane_of<V>::type;
    using B = typename exp_traits<S>::bits;
    constexpr int mantissa = std::numeric_limits<S>::digits - 1;
    // The low bits of n + bias + 2^mantissa are n + bias.
    V const shifted = n + constant<V>(static_cast<double>(std::numeric_limits<S>::max_exponent - 1) +
                                      static_cast<double>(B{1} << mantissa));
    if constexpr (is_batch<V>) {
        using Bits = xsimd::batch<B, typename V::arch_type>;
        auto const bits = detail::bit_cast<Bits>(shifted);
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
        // g++ 12 warns that the unmasked intrinsics, which xsimd calls, use an uninitialised value.
        if constexpr (std::is_same_v<V, xsimd::batch<float>>) {
            return detail::bit_cast<V>(Bits(_mm512_maskz_slli_epi32(static_cast<__mmask16>(-1), bits.data, mantissa)));
        } else if constexpr (std::is_same_v<V, xsimd::batch<double>>) {
            return detail::bit_cast<V>(Bits(_mm512_maskz_slli_epi64(static_cast<__mmask8>(-1), bits.data, mantissa)));
        }
#endif
        return detail::bit_cast<V>(bits << mantissa);
    } else {
        return bit_cast<S>(static_cast<B>(static_cast<std::make_unsigned_t<B>>(bit_cast<B>(shifted)) << mantissa));
    }
}

/// exp(x) = scale + tail, where scale is a power of two. exp(x) - 1 = (scale - 1) + tail is then accurate for small x.
/// x is clamped to [least, greatest] of exp_traits; NaN propagates.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE void exp_parts(V x, V& scale, V& tail) {
    using traits = exp_traits<typename lane_of<V>::type>;
    x = choose(x < constant<V>(traits::least), constant<V>(traits::least), x);
    x = choose(x > constant<V>(traits::greatest), constant<V>(traits::greatest), x);
    // Adding and subtracting this number rounds to the nearest integer.
    constexpr double round =
        3.0 * static_cast<double>(std::int64_t{1} << (std::numeric_limits<typename lane_of<V>::type>::digits - 2));
    V const n = rounded(product(x, constant<V>(1.4426950408889634)) + constant<V>(round)) - constant<V>(round);
    V const r = (x - product(n, constant<V>(traits::log2_high))) - product(n, constant<V>(traits::log2_low));
    double factorial[traits::degree + 1];
    factorial[0] = 1;
    for (int k = 1; k <= traits::degree; ++k) factorial[k] = factorial[k - 1] * k;
    V p = constant<V>(1.0 / factorial[traits::degree]);
    for (int k = traits::degree - 1; k >= 1; --k) p = product(p, r) + constant<V>(1.0 / factorial[k]);
    scale = power_of_two(n);
    tail = product(scale, product(p, r));
}

/// exp(x) with a relative error of 1e-7 for float and 2e-16 for double; never 0 or infinite for these two. Other types
/// use std::exp or an `exp` that ADL finds.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V exponential(V const& x) {
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V scale, tail;
        exp_parts(x, scale, tail);
        return scale + tail;
    } else {
        return exp_of(x);
    }
}

/// 1 / (1 + exp(-x))
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V logistic(V const& x) {
    V const one = constant<V>(1.0);
    return quotient(one, V(one + exponential(V(constant<V>(0.0) - x))));
}

/// tanh(x): -t / (t + 2) for t = exp(-2 |x|) - 1, with the sign of x.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V hyperbolic_tangent(V const& x) {
    V const zero = constant<V>(0.0);
    V const minus_two_x = product(choose(x < zero, x, V(zero - x)), constant<V>(2.0));
    V t = zero;
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V scale, tail;
        exp_parts(minus_two_x, scale, tail);
        t = (scale - constant<V>(1.0)) + tail;
    } else {
        t = exp_of(minus_two_x) - constant<V>(1.0);
    }
    V const y = quotient(t, V(t + constant<V>(2.0)));
    return choose(x < zero, y, V(zero - y));
}

}  // namespace rowan::inline v0::detail

// rowan/op/detail/matrix_rows.hpp: row-wise computations on matrices: maxima, exponentials and sums.

namespace rowan::inline v0::detail {

/// Checks that the tensor has rank 1 and one element for each row of the matrix.
template <class T, class D>
void check_one_per_row(char const* field, Tensor<T, D> const& x, std::size_t rows) {
    check_rank(field, x, 1);
    if (x.size() == rows) return;
    throw ShapeError(std::string(field).append(".shape(0)"), std::to_string(x.size()),
                     std::to_string(rows).append(", the number of rows"));
}

/// The largest of n > 0 numbers; NaN if the first one is NaN, other NaNs are ignored.
template <class S, class T>
S largest(std::size_t n, T const* x) {
    std::array<S, 16> most;
    most.fill(load<S>(x));
    auto const take = []<class V>(V const& a, V& m) { m = choose(a > m, a, m); };
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) for_lanes<S>(take, 16, x + i, most.data());
    for_lanes<S>(take, n - i, x + i, most.data());
    for (S const& m : most) take(m, most[0]);
    return most[0];
}

/// exp(x) for x <= 0. For float and double it is 0 if x < exp_traits::least, where exp(x) may be subnormal.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V exponential_of_negative(V const& x) {
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V const least = constant<V>(exp_traits<typename lane_of<V>::type>::least);
        return choose(x < least, constant<V>(0.0), exponential(x));
    } else {
        return exponential(x);
    }
}

/// Writes exp(x - greatest) and returns the sum of the results.
template <class S, class T>
S exponentials(std::size_t n, T const* x, S const& greatest, S* e) {
    map_lanes<S>([&]<class V>(V const& a) { return exponential_of_negative(V(a - V(greatest))); }, n, x, e);
    return interleaved_sum<S>(n, static_cast<S const*>(e), [](auto const& a) { return a; });
}

/// to = e / total
template <class S, class T>
void normalise(std::size_t n, S const* e, S const& total, T* to) {
    map_lanes<S>([&]<class V>(V const& a) { return V(a / V(total)); }, n, e, to);
}

/// Passed as the loss of MatrixRows::softmax if only the softmax is needed.
struct NoRowLoss {
    template <class S>
    ROWAN_HD void operator()(std::size_t, S const&, S const&) const {}
};

/// Computes row by row on a device. The Thrust specialization is in rowan/thrust/op/detail/matrix_rows.hpp.
template <class D>
struct MatrixRows;

template <>
struct MatrixRows<Cpu> {
    /// Writes the softmax of n rows, and calls loss(row, maximum, sum of the exponentials) for each.
    template <class T, class Loss>
    static void softmax(Cpu exec, std::size_t n, std::size_t classes, T const* x, T* to, Loss const& loss) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes);
            for (std::size_t i = begin; i < end; ++i) {
                T const* const row = x + i * classes;
                S const greatest = largest<S>(classes, row);
                S const total = exponentials<S>(classes, row, greatest, e.data());
                normalise<S>(classes, e.data(), total, to + i * classes);
                loss(i, greatest, total);
            }
        });
    }

    /// to = y · (g - Σ y · g)
    template <class T>
    static void softmax_grad(Cpu exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> products(classes);
            auto const times = [](auto const& a, auto const& b) { return product(a, b); };
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * classes;
                zip_lanes<S>(times, classes, products.data(), y + at, g + at);
                S const* const p = products.data();
                S const dot = interleaved_sum<S>(classes, p, [](auto const& a) { return a; });
                auto const formula = [&]<class V>(V const& a, V const& b) { return product(a, V(b - V(dot))); };
                zip_lanes<S>(formula, classes, to + at, y + at, g + at);
            }
        });
    }

    /// to = p · grads(row), except (p - 1) · grads(row) at the label.
    template <class T, class I, class Grads>
    static void label_grad(Cpu exec, std::size_t n, std::size_t classes, T const* p, I const* label, Grads const& grads,
                           T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                T const* const row = p + i * classes;
                S const g = grads(i);
                auto const times = [&]<class V>(V const& a) { return product(a, V(g)); };
                map_lanes<S>(times, classes, row, to + i * classes);
                auto const k = static_cast<std::size_t>(label[i]);
                store(times(S(load<S>(row + k) - constant<S>(1.0))), to + i * classes + k);
            }
        });
    }

    /// sums[row] = 0 - Σ term(at) over at = row · classes + column.
    template <class S, class Term>
    static void negative_sums(Cpu exec, std::size_t n, std::size_t classes, Term const& term, S* sums) {
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> terms(classes);
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t k = 0; k < classes; ++k) terms[k] = term(i * classes + k);
                S const* const t = terms.data();
                sums[i] = constant<S>(0.0) - interleaved_sum<S>(classes, t, [](auto const& a) { return a; });
            }
        });
    }
};

}  // namespace rowan::inline v0::detail

// rowan/op/accuracy.hpp: accuracy, the fraction of rows whose largest element is at the label.

namespace rowan::inline v0 {

namespace detail {

/// Whether element k is the first maximum of n elements; false if any element is NaN.
template <class S, class T>
bool is_first_largest(std::size_t n, T const* x, std::size_t k) {
    auto const most = load<S>(x + k);
    bool yes = true;
    for (std::size_t j = 0; j < k; ++j) yes = yes && load<S>(x + j) < most;
    for (std::size_t j = k; j < n; ++j) yes = yes && load<S>(x + j) <= most;
    return yes;
}

/// Computes the fraction of correct rows on a device. The Thrust specialization is in rowan/thrust/op/accuracy.hpp.
template <class D>
struct CorrectShare;

template <>
struct CorrectShare<Cpu> {
    template <class T, class I>
    static void share(Cpu exec, std::size_t n, std::size_t classes, T const* x, I const* label, double* out) {
        std::atomic<std::size_t> right{0};
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) {
                auto const k = static_cast<std::size_t>(label[i]);
                count += is_first_largest<sum_t<T>>(classes, x + i * classes, k) ? 1 : 0;
            }
            right += count;
        });
        *out = n == 0 ? 0.0 : static_cast<double>(right.load()) / static_cast<double>(n);
    }
};

}  // namespace detail

/// The fraction of the rows of x whose argmax equals the label; ties go to the first of equal elements. 0 if x has no
/// rows. A row that contains a NaN counts as wrong.
/// shapes   x [n, classes], label [n] of int32 or int64 -> [1]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     at most one read of x
template <class T, id_type I, device D>
Tensor<double, D> accuracy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label) {
    detail::check_rank("x", x, 2);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    detail::check_one_per_row("label", label, n);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(classes));
    auto share = detail::new_tensor<double>(exec, {1});
    detail::CorrectShare<D>::share(exec, n, classes, x.data(), label.data(), share.data());
    return share;
}

template <class T, class I, class Device>
Tensor<double, Device> accuracy(Tensor<T, Device> const& x, Tensor<I, Device> const& label) {
    return accuracy(x.device(), x, label);
}

struct accuracy_op {
    static constexpr std::string_view name = "accuracy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out>;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label) {
        spec::matrix("accuracy: x", x);
        spec::dense("accuracy: label", label);
        spec::rank("accuracy: label", label, 1, "1");
        spec::ids("accuracy: label", label);
        spec::same_dim("accuracy: label.shape(0)", label.dims[0], x.dims[0]);
        return tensor_spec<double>({1});
    }

    template <class T, class I, class D>
    static Tensor<double, D> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label) {
        return accuracy(exec, x, label);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/accuracy.hpp: layer::accuracy, the fraction of correctly classified rows.

namespace rowan::inline v0::layer {

/// The fraction of rows whose largest element, the first of equal ones, is at the index in label; 0 if there are no
/// rows. It is meant for infer and has no gradient.
/// shapes   x [n, classes] of scores or probabilities, label [n] -> [1]
/// errors   ShapeError if x is not a matrix or label has a different number of rows; when the net runs, IndexError if a
///          label is not in [0, classes)
/// cost     as rowan::accuracy, when the net runs
template <class T, id_type I, class Device>
Var<double, Device> accuracy(Var<T, Device> const& x, Var<I, Device> const& label) {
    return apply<accuracy_op>({}, x, label);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/array.hpp: Array, a TensorArray in a net, and the layers that read and write it.

namespace rowan::inline v0::detail {

/// Adds an operator on arrays to the default scope and returns its result.
template <class Op>
Variable& result_of(std::vector<Variable*> inputs, Attributes attributes = {}) {
    return *default_scope().new_op(whole_kernel<Op>::value, std::move(inputs), std::move(attributes)).outputs[0];
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// A reference to a variable that holds a TensorArray<T>. Copies refer to the same variable.
template <class T, class Device = Cpu>
class Array {
    static_assert(detail::is_element<T>(), "rowan::layer::Array<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// Refers to `variable`, which must hold a TensorArray<T>.
    explicit Array(Variable& variable) : variable_(&variable) {}

    Variable& operator*() const noexcept { return *variable_; }  ///< the variable
    Variable* operator->() const noexcept { return variable_; }  ///< the variable

private:
    Variable* variable_;
};

/// Creates an array without slots. Slots written later must have these dims and levels.
///     auto outputs = layer::create_array<float>({UNK, 64});
/// shapes   slots of slot_dims
/// errors   none
/// cost     O(1), when the net runs
template <class T = float, class Device = Cpu>
Array<T, Device> create_array(Dims const& slot_dims, std::size_t lod_level = 0) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    auto const spec = std::make_shared<VarSpec const>(tensor_spec<T>(slot_dims, lod_level));
    return Array<T, Device>(rowan::detail::result_of<typename kernels::create>({}, spec));
}

/// Returns slot `index` of the array.
/// shapes   index [1] -> the shape of the slot
/// errors   when the net runs, IndexError if there is no such slot or it was never written, ShapeError if index does
///          not have exactly one element
/// cost     O(1): the result is an alias of the slot; on a device, a synchronization to read the index
template <class T, class Device>
Var<T, Device> array_read(Array<T, Device> const& array, Var<std::int64_t, Device> const& index) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<T, Device>(rowan::detail::result_of<typename kernels::read>({&*array, &*index}));
}

/// Returns the array with x in slot `index`; it grows as needed.
/// shapes   index [1], x of the slots' shape
/// errors   ShapeError if dims or levels of x differ from those of the slots; when the net runs, IndexError if index is
///          negative, ShapeError if it does not have exactly one element
/// cost     O(1) if no other operator reads the previous array later, else O(slots); elements are never copied; on a
///          device, a synchronization to read the index
template <class T, class Device>
Array<T, Device> array_write(Array<T, Device> const& array, Var<std::int64_t, Device> const& index,
                             Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(rowan::detail::result_of<typename kernels::write>({&*array, &*index, &*x}));
}

/// The number of slots.
/// shapes   [1]
/// errors   none
/// cost     O(1)
template <class T, class Device>
Var<std::int64_t, Device> array_size(Array<T, Device> const& array) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<std::int64_t, Device>(rowan::detail::result_of<typename kernels::size>({&*array}));
}

/// Stacks all slots into one tensor along a new first dim, see TensorArray::stack.
/// shapes   n slots [...] -> [n, ...]
/// errors   when the net runs, IndexError if a slot was never written, ShapeError if the shapes of the slots differ
/// cost     one read and one write of every element
template <class T, class Device>
Var<T, Device> stack(Array<T, Device> const& array) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    auto const spec = std::make_shared<VarSpec const>(array->spec());
    return Var<T, Device>(rowan::detail::result_of<typename kernels::stack>({&*array}, spec));
}

/// Splits a tensor along its first dim into slots, see TensorArray::unstack.
/// shapes   x [n, ...] -> n slots [...]
/// errors   ShapeError if x has rank 0
/// cost     one read and one write of every element
template <class T, class Device>
Array<T, Device> unstack(Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(rowan::detail::result_of<typename kernels::unstack>({&*x}));
}

}  // namespace rowan::inline v0::layer

// rowan/op/cast.hpp: cast, a tensor converted to another element type.

namespace rowan::inline v0 {

namespace detail {

struct cast_family {
    static constexpr std::string_view name = "cast_";
};

/// Whether dtype<To>::sum is constructible from dtype<From>::sum.
template <class To, class From>
concept castable = std::constructible_from<sum_t<To>, sum_t<From>>;

/// Whether a cast from From to To truncates floating-point numbers to integers, where they may be out of range.
template <class To, class From>
inline constexpr bool cast_may_fail =
    std::integral<sum_t<To>>&& std::floating_point<sum_t<From>> && !std::same_as<To, bool>;

/// The least value of an integer type I and the power of two above its greatest value, converted to S.
template <class I, class S>
inline constexpr S least_whole = static_cast<S>(std::numeric_limits<I>::min());
template <class I, class S>
inline constexpr S after_wholes = 2 * static_cast<S>(std::numeric_limits<I>::max() / 2 + 1);

/// Whether To can represent trunc(x); false for NaN.
template <class To, class S>
ROWAN_HD bool holds_whole_part(S x) {
    using I = std::conditional_t<std::integral<To>, To, sum_t<To>>;
    constexpr S least = least_whole<I, S>, after = after_wholes<I, S>;
    S const whole = std::trunc(x);
    return whole >= least && whole < after;
}

template <class To, class From>
struct CastElement {
    From const* from;
    To* to;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t i) const {
        auto const wide = dtype<From>::widen(from[i]);
        if constexpr (std::same_as<To, bool>) {
            to[i] = wide != sum_t<From>{};
        } else {
            to[i] = dtype<To>::narrow(static_cast<sum_t<To>>(wide));
        }
    }
};

template <class To, class From>
[[noreturn]] void refuse_cast(std::size_t i, From const& x) {
    throw ValueError(std::string("x[").append(std::to_string(i)).append("]"),
                     static_cast<double>(dtype<From>::widen(x)),
                     std::string("a number whose whole part ").append(dtype<To>::name).append(" holds"));
}

/// Checks on a device that To can represent the truncated elements. The Thrust specialization is in
/// rowan/thrust/op/cast.hpp.
template <class D>
struct CastCheck;

template <>
struct CastCheck<Cpu> {
    template <class To, class From>
    static void check(Cpu exec, std::size_t n, From const* from) {
        std::atomic<bool> good{true};
        auto const fits = [&](std::size_t i) { return holds_whole_part<To>(dtype<From>::widen(from[i])); };
        for_ranges(exec, n, 1, [&](std::size_t begin, std::size_t end) {
            bool all = true;
            for (std::size_t i = begin; i < end; ++i) all = all && fits(i);
            if (!all) good = false;
        });
        if (good) return;
        std::size_t i = 0;
        while (fits(i)) ++i;
        refuse_cast<To>(i, from[i]);
    }
};

}  // namespace detail

/// Converts the elements of x to `To` through dtype<From>::sum and dtype<To>::sum. Floating-point numbers are truncated
/// toward zero when converted to integers, integers out of range wrap around, and nonzero elements become true when
/// converted to bool.
/// shapes   x [...] -> [...]
/// errors   ValueError if a floating-point number to be converted to an integer is NaN or out of range
/// cost     one read of x and one write of the result; floating point to integer reads x once more and waits for the
///          device
template <class To, class From, device D>
Tensor<To, D> cast(D const& exec, Tensor<From, D> const& x) {
    static_assert(detail::castable<To, From>, "rowan::cast: give dtype<To>::sum a constructor from dtype<From>::sum");
    detail::ElementLoops<D>::check(exec, x);
    if constexpr (detail::cast_may_fail<To, From>) detail::CastCheck<D>::template check<To>(exec, x.size(), x.data());
    auto out = detail::new_tensor<To>(exec, x.shape());
    detail::ElementLoops<D>::each(exec, x.size(), 1, detail::CastElement<To, From>{x.data(), out.data()});
    return out;
}

template <class To, class From, class Device>
Tensor<To, Device> cast(Tensor<From, Device> const& x) {
    return cast<To>(x.device(), x);
}

/// Casts the gradient back to the element type of x; neither type may be an integer type. Only the type and shape of x
/// are used.
struct cast_grad_op {
    static constexpr std::string_view name = "cast_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& out_grad) {
        spec::dense("cast_grad: x", x);
        VarSpec x_grad = spec::elementwise("cast_grad: out@GRAD", out_grad);
        x_grad.dims = spec::same_dims("cast_grad: out@GRAD", out_grad, x);
        x_grad.dtype = x.dtype;
        return x_grad;
    }

    /// errors   ShapeError if the shapes differ
    template <class From, class To, class D>
    requires(!std::integral<detail::sum_t<From>> &&
             !std::integral<detail::sum_t<To>>) static Tensor<From, D> run(D exec, Tensor<From, D> const& x,
                                                                           Tensor<To, D> const& out_grad) {
        detail::check_same_shape("out_grad", out_grad, x);
        return cast<From>(exec, out_grad);
    }
};

/// See cast. The element type of the result is part of the operator: the names are cast_f32 and so on.
template <class To>
struct cast_op {
    static constexpr std::string_view name = detail::joined_name<detail::cast_family, dtype<To>>::value;
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<cast_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        VarSpec out = spec::elementwise("cast: x", x);
        out.dtype = dtype<To>::wire;
        return out;
    }

    template <class From, class D>
    requires detail::castable<To, From>
    static Tensor<To, D> run(D exec, Tensor<From, D> const& x) { return cast<To>(exec, x); }
};

}  // namespace rowan::inline v0

// rowan/layer/cast.hpp: layer::cast, conversion to another element type.

namespace rowan::inline v0::layer {

/// Converts the elements of x to `To`, see rowan::cast. The gradient is converted back; integers have no gradient.
///     auto weight = layer::cast<float>(counts);
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, ValueError if To is an integer type and a floating-point element is NaN or out of its
///          range
/// cost     as rowan::cast, when the net runs
template <class To, class From, class Device>
Var<To, Device> cast(Var<From, Device> const& x) {
    return apply<cast_op<To>>({}, x);
}

}  // namespace rowan::inline v0::layer

// rowan/op/compare.hpp: element-wise comparisons, and logical operators on bool tensors.

namespace rowan::inline v0 {

namespace detail {

/// Compares elements as dtype<T>::sum.
template <class Op, class T>
struct CompareElement {
    T const *x, *y;
    bool* out;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t i) const {
        sum_t<T> const a = dtype<T>::widen(x[i]), b = dtype<T>::widen(y[i]);
        out[i] = Op::holds(a, b);
    }
};

struct NotElement {
    bool const* x;
    bool* out;
    ROWAN_HD void operator()(std::size_t i) const { out[i] = !x[i]; }
};

/// Computes on a device whether any element is true. The Thrust specialization is in rowan/thrust/op/compare.hpp.
template <class D>
struct AnyElement;

template <>
struct AnyElement<Cpu> {
    static void any(Cpu, std::size_t n, bool const* x, bool* out) {
        *out = std::any_of(x, x + n, [](bool b) { return b; });
    }
};

/// Base of the binary operators that return a bool tensor.
template <class Op>
struct compare_op {
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        VarSpec out = spec::elementwise("y", y, x);
        out.dtype = dtype<bool>::wire;
        return out;
    }

    template <class T, class D>
    static Tensor<bool, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        check_same_shape("y", y, x);
        ElementLoops<D>::check(exec, x, y);
        auto out = new_tensor<bool>(exec, x.shape());
        ElementLoops<D>::each(exec, x.size(), 1, CompareElement<Op, T>{x.data(), y.data(), out.data()});
        return out;
    }
};

}  // namespace detail

/// x < y element-wise; false where either is NaN.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
struct less_op : detail::compare_op<less_op> {
    static constexpr std::string_view name = "less";
    /// Whether a < b.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD static bool holds(S const& a, S const& b) {
        return a < b;
    }
};

/// x <= y element-wise; false where either is NaN. Shapes and errors as less_op.
struct less_equal_op : detail::compare_op<less_equal_op> {
    static constexpr std::string_view name = "less_equal";
    /// Whether a <= b.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD static bool holds(S const& a, S const& b) {
        return a < b || a == b;
    }
};

/// x == y element-wise; false where either is NaN. Shapes and errors as less_op.
struct equal_op : detail::compare_op<equal_op> {
    static constexpr std::string_view name = "equal";
    /// Whether a == b.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD static bool holds(S const& a, S const& b) {
        return a == b;
    }
};

/// x && y element-wise, for bool tensors.
struct logical_and_op : detail::compare_op<logical_and_op> {
    static constexpr std::string_view name = "logical_and";
    /// Whether both are nonzero.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD static bool holds(S const& a, S const& b) {
        return a != 0 && b != 0;
    }
};

/// x || y element-wise, for bool tensors.
struct logical_or_op : detail::compare_op<logical_or_op> {
    static constexpr std::string_view name = "logical_or";
    /// Whether at least one is nonzero.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD static bool holds(S const& a, S const& b) {
        return a != 0 || b != 0;
    }
};

/// !x element-wise, for bool tensors.
struct logical_not_op {
    static constexpr std::string_view name = "logical_not";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("logical_not: x", x); }

    template <class D>
    static Tensor<bool, D> run(D exec, Tensor<bool, D> const& x) {
        detail::ElementLoops<D>::check(exec, x);
        auto out = detail::new_tensor<bool>(exec, x.shape());
        detail::ElementLoops<D>::each(exec, x.size(), 1, detail::NotElement{x.data(), out.data()});
        return out;
    }
};

/// Whether any element is true; false if there are none.
/// shapes   x [...] -> [1]
struct any_op {
    static constexpr std::string_view name = "any";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("any: x", x);
        spec::same_dtype("any: x", x, tensor_spec<bool>({}));
        return tensor_spec<bool>({1});
    }

    template <class D>
    static Tensor<bool, D> run(D exec, Tensor<bool, D> const& x) {
        detail::ElementLoops<D>::check(exec, x);
        auto out = detail::new_tensor<bool>(exec, {1});
        detail::AnyElement<D>::any(exec, x.size(), x.data(), out.data());
        return out;
    }
};

}  // namespace rowan::inline v0

// rowan/layer/compare.hpp: element-wise comparisons, such as for the condition of a loop.

namespace rowan::inline v0::layer {

/// x < y, element-wise; false if x or y is NaN.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result, when the net runs
template <class T, class Device>
Var<bool, Device> less(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<less_op>({}, x, y);
}
/// x <= y, as layer::less.
template <class T, class Device>
Var<bool, Device> less_equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<less_equal_op>({}, x, y);
}
/// x > y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater(Var<T, Device> const& x, Var<T, Device> const& y) {
    return less(y, x);
}
/// x >= y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater_equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return less_equal(y, x);
}
/// x == y, as layer::less.
template <class T, class Device>
Var<bool, Device> equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<equal_op>({}, x, y);
}

/// The same with a scalar y.
/// shapes   x [...] -> [...]
/// errors   when the net runs, ValueError if T is an integer type that cannot represent y
/// cost     as with two values, plus one write of a value of the shape of x
template <class T, class Device>
Var<bool, Device> less(Var<T, Device> const& x, double y) {
    return less(x, apply<full_like_op>({y}, x));
}
/// x <= y, as layer::less.
template <class T, class Device>
Var<bool, Device> less_equal(Var<T, Device> const& x, double y) {
    return less_equal(x, apply<full_like_op>({y}, x));
}
/// x > y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater(Var<T, Device> const& x, double y) {
    return greater(x, apply<full_like_op>({y}, x));
}
/// x >= y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater_equal(Var<T, Device> const& x, double y) {
    return greater_equal(x, apply<full_like_op>({y}, x));
}
/// x == y, as layer::less.
template <class T, class Device>
Var<bool, Device> equal(Var<T, Device> const& x, double y) {
    return equal(x, apply<full_like_op>({y}, x));
}

/// x && y, element-wise, as layer::less.
template <class Device>
Var<bool, Device> logical_and(Var<bool, Device> const& x, Var<bool, Device> const& y) {
    return apply<logical_and_op>({}, x, y);
}
/// x || y, element-wise, as layer::less.
template <class Device>
Var<bool, Device> logical_or(Var<bool, Device> const& x, Var<bool, Device> const& y) {
    return apply<logical_or_op>({}, x, y);
}
/// !x, element-wise, as layer::less.
template <class Device>
Var<bool, Device> logical_not(Var<bool, Device> const& x) {
    return apply<logical_not_op>({}, x);
}

/// Whether any element is true; false if x is empty.
/// shapes   x [...] -> [1]
/// errors   none
/// cost     at most one read of x, when the net runs
template <class Device>
Var<bool, Device> any(Var<bool, Device> const& x) {
    return apply<any_op>({}, x);
}

}  // namespace rowan::inline v0::layer

// rowan/op/concat.hpp: concat, tensors concatenated along one axis.

namespace rowan::inline v0 {

namespace detail {

/// Checks that all tensors have the rank of the first and, except along the axis, its dims. Returns the axis counted
/// from the first dim.
template <class T, class D>
std::size_t check_joinable(std::vector<Tensor<T, D>> const& x, std::int64_t axis) {
    check_some(x.size());
    std::size_t const rank = x[0].dimension(), at = checked_axis(axis, rank);
    for (std::size_t k = 1; k < x.size(); ++k) {
        if (x[k].dimension() != rank)
            throw ShapeError(part_name("x", k).append(" rank"), std::to_string(x[k].dimension()),
                             std::to_string(rank).append(", that of x[0]"));
        for (std::size_t i = 0; i < rank; ++i) {
            if (i != at && x[k].shape(i) != x[0].shape(i))
                throw ShapeError(dim_name(part_name("x", k), i), std::to_string(x[k].shape(i)),
                                 std::to_string(x[0].shape(i)).append(", that of x[0]"));
        }
    }
    return at;
}

}  // namespace detail

/// Concatenates tensors along an axis, in order. Axis -1 is the last one.
///
///     concat({[[1] [4]], [[2 3] [5 6]]}, 1)   ->   [[1 2 3] [4 5 6]]
///
/// shapes   x[k] [..., d_k, ...] -> [..., Σ d_k, ...]
/// errors   ShapeError if x is empty, or ranks or dims other than that of the axis differ; ValueError if the axis is
///          out of range
/// cost     one read and one write of every element
template <class T, device D>
Tensor<T, D> concat(D const& exec, std::vector<Tensor<T, D>> const& x, std::int64_t axis = 0) {
    detail::ElementLoops<D>::check(exec);
    std::size_t const at = detail::check_joinable(x, axis);
    auto shape = x[0].shape();
    std::size_t const inner = detail::product_from(shape, at + 1);
    std::vector<T const*> from;
    std::vector<std::size_t> widths;
    shape[at] = 0;
    for (auto const& part : x) {
        detail::ElementLoops<D>::check(exec, part);
        from.push_back(part.data());
        widths.push_back(part.shape(at) * inner);
        shape[at] += part.shape(at);
    }
    auto out = detail::new_tensor<T>(exec, shape);
    std::size_t const outer = out.size() == 0 ? 0 : out.size() / (shape[at] * inner);
    detail::Pieces<D>::join(exec, outer, widths, from, out.data());
    return out;
}

template <class T, class Device>
Tensor<T, Device> concat(std::vector<Tensor<T, Device>> const& x, std::int64_t axis = 0) {
    return concat(x.empty() ? Device{} : x[0].device(), x, axis);
}

struct concat_grad_op;

/// See concat. The slot `x` holds all tensors as a std::vector.
struct concat_op {
    static constexpr std::string_view name = "concat";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<concat_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        std::int64_t axis = 0;  ///< negative values count from the end

        static constexpr auto fields = std::tuple(field{"axis", &attributes::axis});
    };

    static constexpr bool row_wise(attributes const& a) { return a.axis > 0; }

    static constexpr VarSpec infer(std::span<VarSpec const> x, attributes const& a) {
        detail::check_some(x.size());
        spec::dense("concat: x", x[0]);
        std::size_t const at = detail::checked_axis(a.axis, x[0].dims.size());
        VarSpec out = x[0];
        if (at == 0) out.lod_level = 0;
        for (VarSpec part : x.subspan(1)) {
            spec::dense("concat: x", part);
            spec::same_dtype("concat: x", part, out);
            spec::rank("concat: x", part, out.dims.size(), "that of the first");
            std::int64_t const dim = part.dims[at], before = out.dims[at];
            part.dims[at] = before;
            out.dims = spec::same_dims("concat: x", part, out);
            out.dims[at] = dim == UNK || before == UNK ? UNK : before + dim;
        }
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x, attributes const& a) {
        return concat(exec, x, a.axis);
    }
};

/// Splits the gradient of the result into the gradients of the inputs.
struct concat_grad_op {
    static constexpr std::string_view name = "concat_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = concat_op::attributes;

    static constexpr std::vector<VarSpec> infer(std::span<VarSpec const> x, VarSpec const& out_grad,
                                                attributes const& a) {
        VarSpec const out = concat_op::infer(x, a);
        spec::dense("concat_grad: out@GRAD", out_grad);
        spec::same_dtype("concat_grad: out@GRAD", out_grad, out);
        spec::same_dims("concat_grad: out@GRAD", out_grad, out);
        return {x.begin(), x.end()};
    }

    /// errors   ShapeError if the tensors of x cannot be concatenated, or out_grad does not have the shape of the
    ///          result; ValueError if the axis is out of range
    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D exec, std::vector<Tensor<T, D>> const& x, Tensor<T, D> const& out_grad,
                                         attributes const& a) {
        detail::ElementLoops<D>::check(exec, out_grad);
        std::size_t const at = detail::check_joinable(x, a.axis);
        auto shape = x[0].shape();
        shape[at] = 0;
        std::vector<std::int64_t> sections;
        for (auto const& part : x) {
            sections.push_back(static_cast<std::int64_t>(part.shape(at)));
            shape[at] += part.shape(at);
        }
        if (out_grad.shape() != shape)
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
        return detail::cut_along(exec, out_grad, at, sections);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/concat.hpp: layer::concat, concatenation along an axis.

namespace rowan::inline v0::layer {

/// Concatenates values along an axis; a negative axis counts from the end.
///     auto both = layer::concat({a, b}, 1);
/// shapes   x[k] [..., d_k, ...] -> [..., Σ d_k, ...]; with the levels of the first, or without levels along axis 0
/// errors   ShapeError if x is empty, or ranks or dims other than that of the axis differ; ValueError if there is no
///          such axis
/// cost     as rowan::concat, when the net runs
template <class T, class Device>
Var<T, Device> concat(std::vector<Var<T, Device>> const& x, std::int64_t axis = 0) {
    std::vector<Variable*> inputs;
    for (auto const& part : x) inputs.push_back(&*part);
    return Var<T, Device>(*default_scope().new_op<concat_op, Device, T>(std::move(inputs), {.axis = axis}).outputs[0]);
}
template <class T, class Device>
Var<T, Device> concat(std::initializer_list<Var<T, Device>> x, std::int64_t axis = 0) {
    return concat(std::vector<Var<T, Device>>(x), axis);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/data.hpp: layer::data, an input variable of a net.

namespace rowan::inline v0::layer {

/// Declares an input variable of the default scope; batches set its value under this name. For a net on a device, a
/// batch may contain host tensors, which are copied to the device.
///     auto words = layer::data<std::int64_t>("words", {UNK}, 1);      // sentences: one level of sequences
/// shapes   [dims...], UNK for dims that vary from batch to batch
/// errors   GraphError if the scope already has that name
/// cost     O(1); a batch's value is aliased, a host value for a device is copied
template <class T = float, class Device = Cpu>
Var<T, Device> data(std::string const& name, Dims const& dims, std::size_t lod_level = 0) {
    Variable& v = default_scope().new_var(name, tensor_spec<T>(dims, lod_level), Role::data);
    v.bring = &rowan::detail::bring<T, Device>;
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(Var<float> data<float, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<double> data<double, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int32_t> data<std::int32_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int64_t> data<std::int64_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<bool> data<bool, Cpu>(std::string const&, Dims const&, std::size_t))

}  // namespace rowan::inline v0::layer

// rowan/detail/random.hpp: random numbers as a function of a seed and a position, independent of the number of threads.

namespace rowan::inline v0::detail {

/// Mixes all bits: the finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014).
ROWAN_HD constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// Number i, counted from 1, of the splitmix64 sequence with this seed.
ROWAN_HD constexpr std::uint64_t bits_at(std::uint64_t seed, std::uint64_t i) {
    return mix_bits(seed + i * 0x9E3779B97F4A7C15U);
}

/// Number i, counted from 0, of the splitmix64 sequence with the mixed seed, scaled to [0, 1). A pure function.
ROWAN_HD constexpr double uniform_at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(bits_at(mix_bits(seed), i + 1) >> 11) * 0x1p-53;
}

}  // namespace rowan::inline v0::detail

// rowan/layer/parameter.hpp: layer::parameter, a trainable variable, and its initialization.

namespace rowan::inline v0::detail {

/// The outermost scope that encloses the default scope: all steps of a recurrent layer share its variables.
Scope& outermost_scope();

void check_known(Dims const& dims);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Uniform initialization of a parameter: element i is low + (high - low) · uniform(seed, i), uniform being in [0, 1).
struct Uniform {
    double low = 0;   ///< lower bound
    double high = 0;  ///< upper bound
};

/// Initializes all elements to `value`.
/// errors   none
/// cost     none
inline Uniform constant(double value) { return {value, value}; }

/// Uniform within ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010).
/// errors   none
/// cost     none
inline Uniform xavier(std::int64_t inputs, std::int64_t outputs) {
    double const bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
    return {-bound, bound};
}

/// Sets the dims and the initialization of a parameter. The initial values are computed on the host.
/// errors   ShapeError if a dim is UNK
/// cost     O(1); when training begins, one write of the elements, and on a device one copy to it
template <class T, class Device = Cpu>
void begin_with(Variable& v, Dims const& dims, Uniform const& first) {
    rowan::detail::check_known(dims);
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    v.set_dims(dims);
    v.bring = &rowan::detail::bring<T, Device>;
    v.initialize = [shape, first](Value& value, std::optional<std::uint64_t> seed, AnyExec any) {
        Device const exec = any.or_default<Device>();
        if (!seed) return value.set(LoDTensor<T, Device>(rowan::detail::new_tensor<T>(exec, shape)));
        auto t = Tensor<T>::from_shape(shape);
        using S = typename dtype<T>::sum;
        for (std::size_t i = 0; i < t.size(); ++i) {
            double const x = first.low + (first.high - first.low) * rowan::detail::uniform_at(*seed, i);
            t.data()[i] = dtype<T>::narrow(static_cast<S>(x));
        }
        value.set(LoDTensor<T, Device>(to_device(exec, std::move(t))));
    };
}

/// Creates a parameter in the outermost scope, so that all steps of a recurrent layer share it. Its value is
/// initialized when training begins, with a seed derived from its position in the net.
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; GraphError if the outermost scope already has that name
/// cost     as begin_with
template <class T, class Device = Cpu>
Var<T, Device> parameter(Dims const& dims, Uniform const& first, std::string const& name = "") {
    rowan::detail::check_known(dims);
    Variable& v = rowan::detail::outermost_scope().new_var(name, tensor_spec<T>(dims), Role::parameter);
    begin_with<T, Device>(v, dims, first);
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(void begin_with<float, Cpu>(Variable&, Dims const&, Uniform const&))
ROWAN_TEMPLATE(Var<float> parameter<float, Cpu>(Dims const&, Uniform const&, std::string const&))
ROWAN_TEMPLATE(void begin_with<double, Cpu>(Variable&, Dims const&, Uniform const&))
ROWAN_TEMPLATE(Var<double> parameter<double, Cpu>(Dims const&, Uniform const&, std::string const&))

}  // namespace rowan::inline v0::layer

// rowan/layer/parameter_inl.hpp: definitions of rowan/layer/parameter.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Scope& outermost_scope() {
    Scope* scope = &default_scope();
    while (scope->parent() != nullptr) scope = scope->parent();
    return *scope;
}

ROWAN_FUNCTION void check_known(Dims const& dims) {
    for (std::int64_t const dim : dims) {
        if (dim == UNK) throw ShapeError("a dim of a parameter", "UNK", "known: give the data its width");
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/op/dropout.hpp: dropout, which sets random elements to 0 in training.

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_probability(double probability) {
    throw ValueError("probability", probability, "in [0, 1)");
}

constexpr void check_dropout(double probability) {
    if (!(probability >= 0 && probability < 1)) bad_probability(probability);
}

/// A seed in a tensor.
struct SeedAt {
    std::int64_t const* seed;
    ROWAN_HD std::uint64_t operator()() const { return static_cast<std::uint64_t>(*seed); }
};

/// x · factor if kept, else 0
template <class T>
ROWAN_HD_INLINE void store_kept(bool kept, T const* x, sum_t<T> const& factor, T* to) {
    sum_t<T> const scaled = product(load<sum_t<T>>(x), factor);
    store(kept ? scaled : constant<sum_t<T>>(0.0), to);
}

template <class T, class Seed>
struct DropElement {
    T const* x;
    T* to;
    std::uint8_t* mask;
    Seed seed;
    double probability;
    sum_t<T> factor;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t i) const {
        bool const kept = uniform_at(seed(), i) >= probability;
        mask[i] = kept ? 1 : 0;
        store_kept(kept, x + i, factor, to + i);
    }
};

template <class T>
struct DropGradient {
    std::uint8_t const* mask;
    T const* out_grad;
    T* to;
    sum_t<T> factor;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t i) const { store_kept(mask[i] != 0, out_grad + i, factor, to + i); }
};

template <class T, class D, class Seed>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> drop_elements(D const& exec, Tensor<T, D> const& x,
                                                                double probability, Seed const& seed) {
    using S = sum_t<T>;
    static_assert(!std::integral<S>, "rowan::dropout: integers take no fractions, convert x to a type that has them");
    check_dropout(probability);
    ElementLoops<D>::check(exec, x);
    auto out = new_tensor<T>(exec, x.shape());
    auto mask = new_tensor<std::uint8_t>(exec, x.shape());
    S const factor = constant<S>(1 / (1 - probability));
    ElementLoops<D>::each(exec, x.size(), 1,
                          DropElement<T, Seed>{x.data(), out.data(), mask.data(), seed, probability, factor});
    return {std::move(out), std::move(mask)};
}

template <class T, class D>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> drop_nothing(D const& exec, Tensor<T, D> const& x,
                                                               double probability) {
    check_dropout(probability);
    ElementLoops<D>::check(exec, x);
    return {ElementLoops<D>::copy(exec, x), Tensor<std::uint8_t, D>::full(exec, x.shape(), 1)};
}

}  // namespace detail

/// In training, sets each element to 0 with the given probability and multiplies the others by 1 / (1 - probability);
/// otherwise returns a copy of x. The mask is 1 where x was kept. The random numbers depend only on the seed and the
/// position of the element, so each training step needs another seed. Srivastava et al.: Dropout, 2014.
/// shapes   x [...] -> the result [...] and the mask [...]
/// errors   ValueError unless probability is in [0, 1)
/// cost     one read of x and one write of both; the same bits for any number of threads
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> dropout(D const& exec, Tensor<T, D> const& x, double probability,
                                                          std::uint64_t seed, bool training = true) {
    if (!training) return detail::drop_nothing(exec, x, probability);
    return detail::drop_elements(exec, x, probability, detail::GivenValue<std::uint64_t>{seed});
}

/// The gradient of x. In training out_grad / (1 - probability) where the mask is not 0, else 0; otherwise out_grad.
/// shapes   mask [...], out_grad [...] -> [...]
/// errors   ShapeError if the shapes differ; ValueError unless probability is in [0, 1)
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> dropout_grad(D const& exec, Tensor<std::uint8_t, D> const& mask, Tensor<T, D> const& out_grad,
                          double probability, bool training = true) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::dropout_grad: integers take no fractions");
    detail::check_dropout(probability);
    detail::check_same_shape("out_grad", out_grad, mask);
    detail::ElementLoops<D>::check(exec, mask, out_grad);
    if (!training) return detail::ElementLoops<D>::copy(exec, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, out_grad.shape());
    S const factor = detail::constant<S>(1 / (1 - probability));
    detail::ElementLoops<D>::each(exec, mask.size(), 1,
                                  detail::DropGradient<T>{mask.data(), out_grad.data(), x_grad.data(), factor});
    return x_grad;
}

template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<std::uint8_t, Device>> dropout(Tensor<T, Device> const& x, double probability,
                                                                    std::uint64_t seed, bool training = true) {
    return dropout(x.device(), x, probability, seed, training);
}
template <class T, class Device>
Tensor<T, Device> dropout_grad(Tensor<std::uint8_t, Device> const& mask, Tensor<T, Device> const& out_grad,
                               double probability, bool training = true) {
    return dropout_grad(mask.device(), mask, out_grad, probability, training);
}

namespace detail {

/// Checks that the seed is an int64 tensor of rank 1. It has one element in training, else none.
constexpr void check_seed(char const* field, VarSpec const& seed) {
    spec::dense(field, seed);
    spec::rank(field, seed, 1, "1");
    if (seed.dtype != rowan::dtype<std::int64_t>::wire)
        spec::the_element_types_do_not_match(field, seed.dtype, rowan::dtype<std::int64_t>::wire);
}

template <class D>
bool has_seed(Tensor<std::int64_t, D> const& seed) {
    if (seed.size() > 1) throw ShapeError("seed.size()", std::to_string(seed.size()), "0 or 1");
    return seed.size() == 1;
}

}  // namespace detail

struct dropout_grad_op;

/// See dropout. The slot `seed` holds the seed in training and is empty otherwise; `saved` holds the mask.
/// shapes   x [...], seed [1] or [0] of int64 -> [...] and the mask [...]
struct dropout_op {
    static constexpr std::string_view name = "dropout";
    using inputs = slots<slot::x, slot::seed>;
    using outputs = slots<slot::out, slot::saved>;
    using grad = grad_rule<dropout_grad_op, uses<slot::saved, slot::seed, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        double probability = 0.5;  ///< of setting an element to 0

        static constexpr auto fields = std::tuple(field{"probability", &attributes::probability});
    };

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& seed, attributes const& a) {
        VarSpec mask = spec::elementwise("dropout: x", x);
        detail::check_seed("dropout: seed", seed);
        detail::check_dropout(a.probability);
        mask.dtype = rowan::dtype<std::uint8_t>::wire;
        return {x, mask};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> run(D exec, Tensor<T, D> const& x,
                                                                 Tensor<std::int64_t, D> const& seed,
                                                                 attributes const& a) {
        if (!detail::has_seed(seed)) return detail::drop_nothing(exec, x, a.probability);
        detail::ElementLoops<D>::check(exec, seed);
        auto const value = detail::ElementLoops<D>::value_of(detail::SeedAt{seed.data()});
        return detail::drop_elements(exec, x, a.probability, value);
    }
};

struct dropout_grad_op {
    static constexpr std::string_view name = "dropout_grad";
    using inputs = slots<slot::saved, slot::seed, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = dropout_op::attributes;

    static constexpr VarSpec infer(VarSpec const& mask, VarSpec const& seed, VarSpec const& out_grad,
                                   attributes const&) {
        spec::dense("dropout_grad: saved", mask);
        detail::check_seed("dropout_grad: seed", seed);
        VarSpec x = spec::elementwise("dropout_grad: out@GRAD", out_grad);
        x.dims = spec::same_dims("dropout_grad: out@GRAD", out_grad, mask);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<std::uint8_t, D> const& mask, Tensor<std::int64_t, D> const& seed,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return dropout_grad(exec, mask, out_grad, a.probability, detail::has_seed(seed));
    }
};

}  // namespace rowan::inline v0

// rowan/layer/dropout.hpp: layer::dropout, sets random elements to 0 during training.

namespace rowan::inline v0::layer {

/// Creates a seed variable. train sets it for every batch; otherwise it is empty.
/// errors   none
/// cost     one variable in the net
template <class Device = Cpu>
Variable& new_seed() {
    Variable& seed = rowan::detail::outermost_scope().new_var("", tensor_spec<std::int64_t>({UNK}), Role::seed);
    seed.value().set(LoDTensor<std::int64_t, Device>(Tensor<std::int64_t, Device>::from_shape({0})));
    return seed;
}

/// In train, every element is 0 with the given probability, else x / (1 - probability). Elsewhere, such as in infer,
/// the result is x.
///     auto h = layer::dropout(layer::relu(layer::fc(x, {.output_size = 100})), 0.2);
/// Every batch has a different mask. The mask depends only on train's seed, the number of the batch (a resumed training
/// continues the count) and the layer's position in the net, so it is the same for any number of threads. In a
/// recurrent layer, each sequence has one mask for all its steps (Gal and Ghahramani: A Theoretically Grounded
/// Application of Dropout in Recurrent Neural Networks, 2016).
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError unless probability is in [0, 1)
/// cost     one read of x, one write of the result and of a byte mask
template <class T, class Device>
Var<T, Device> dropout(Var<T, Device> const& x, double probability = 0.5) {
    static_cast<void>(dropout_op::infer(x->spec(), tensor_spec<std::int64_t>({UNK}),
                                        {probability}));  // throws before the net is changed
    Var<std::int64_t, Device> const seed(new_seed<Device>());
    return apply<dropout_op>({probability}, x, seed);
}

}  // namespace rowan::inline v0::layer

// rowan/op/identity.hpp: identity_op, which returns an alias of its input; the gradient of add.

namespace rowan::inline v0 {

/// Returns an alias of x: it shares the elements and keeps them alive.
struct identity_op {
    static constexpr std::string_view name = "identity";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) { return x; }

    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return x.share();
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D, SelectedRows<T, D> const& x) {
        return x.share();
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/add.hpp: add, sums of row-sparse and dense tensors.

namespace rowan::inline v0 {

namespace detail {

template <class T, class D>
void check_addable(SelectedRows<T, D> const& a, SelectedRows<T, D> const& b) {
    SelectedRows<T, D>::check_value(a.value(), a.rows().size());
    SelectedRows<T, D>::check_value(b.value(), b.rows().size());
    if (a.height() != b.height())
        throw ShapeError("b.height()", std::to_string(b.height()), std::to_string(a.height()));
    check_trailing("b.value()", b.value(), a.value().shape());
}

template <class T, class U, class D>
void check_dense_term(Tensor<T, D> const& dense, SelectedRows<U, D> const& g) {
    SelectedRows<U, D>::check_value(g.value(), g.rows().size());
    check_height("dense", dense, g.height());
    check_trailing("dense", dense, g.value().shape());
}

/// Joins the rows of two gradients.
template <class D>
struct RowUnion {
    static_assert(has_backend<D>, "rowan: add on a Thrust device needs #include <rowan/thrust/sparse/add.hpp>");
};

template <>
struct RowUnion<Cpu> {
    /// The rows of `a` followed by those of `b`.
    template <class T>
    static Tensor<T> joined(Cpu, Tensor<T> const& a, Tensor<T> const& b) {
        auto shape = a.shape();
        shape[0] += b.shape()[0];
        auto out = Tensor<T>::from_shape(shape);
        std::copy_n(b.data(), b.size(), std::copy_n(a.data(), a.size(), out.data()));
        return out;
    }
};

}  // namespace detail

/// The sum of `a` and `b`, not merged: the rows of `a` followed by those of `b`. On a Thrust device the result is
/// merged() only if one of a and b has no rows and the other is merged().
/// shapes   a and b of the same height and row shape
/// errors   ShapeError if heights or row shapes differ
/// cost     O((n + m) * width)
template <class T, device D>
SelectedRows<T, D> add(D const& exec, SelectedRows<T, D> const& a, SelectedRows<T, D> const& b) {
    using Access = detail::SelectedRowsAccess;
    detail::check_exec(exec);
    detail::check_addable(a, b);
    detail::ElementLoops<D>::check(exec, a.rows(), a.value(), b.rows(), b.value());
    bool const merged = (b.rows().size() == 0 && a.merged()) || (a.rows().size() == 0 && b.merged());
    auto rows = detail::RowUnion<D>::joined(exec, Access::rows(a), Access::rows(b));
    return Access::adopt(a.height(), std::move(rows), detail::RowUnion<D>::joined(exec, a.value(), b.value()), merged);
}

/// The dense sum: a copy of `dense`, to which the rows of `g` are added as by scatter_add.
/// shapes   dense has the shape of g
/// errors   ShapeError if shapes do not match
/// cost     O(height * width + n * width)
template <class T, class U, device D>
Tensor<T, D> add(D const& exec, Tensor<T, D> const& dense, SelectedRows<U, D> const& g) {
    detail::check_dense_term(dense, g);
    detail::ElementLoops<D>::check(exec, dense);
    auto sum = detail::ElementLoops<D>::copy(exec, dense);
    scatter_add(exec, sum, g);
    return sum;
}

template <class T, class U, device D>
Tensor<U, D> add(D const& exec, SelectedRows<T, D> const& g, Tensor<U, D> const& dense) {
    return add(exec, dense, g);
}

template <class T, class Device>
SelectedRows<T, Device> add(SelectedRows<T, Device> const& a, SelectedRows<T, Device> const& b) {
    return add(a.device(), a, b);
}

template <class T, class U, class Device>
Tensor<T, Device> add(Tensor<T, Device> const& dense, SelectedRows<U, Device> const& g) {
    return add(dense.device(), dense, g);
}

template <class T, class U, class Device>
Tensor<U, Device> add(SelectedRows<T, Device> const& g, Tensor<U, Device> const& dense) {
    return add(g.device(), dense, g);
}

ROWAN_TEMPLATE(SelectedRows<float> add(Cpu const&, SelectedRows<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu const&, Tensor<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu const&, SelectedRows<float> const&, Tensor<float> const&))
ROWAN_TEMPLATE(SelectedRows<double> add(Cpu const&, SelectedRows<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu const&, Tensor<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu const&, SelectedRows<double> const&, Tensor<double> const&))

}  // namespace rowan::inline v0

// rowan/op/add.hpp: add, the sum of two tensors, dense or row-sparse.

namespace rowan::inline v0 {

namespace detail {

/// x + y
struct add_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
        return plus(x, y);
    }
};

}  // namespace detail

/// x + y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> add(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    detail::check_same_shape("y", y, x);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::add_formula{}, x, y);
}

template <class T, class Device>
Tensor<T, Device> add(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return add(x.device(), x, y);
}

/// Adds two tensors, two SelectedRows, or one of each; the result is dense if either input is dense. The gradient of
/// both inputs is an alias of the gradient of the result.
struct add_op {
    static constexpr std::string_view name = "add";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = grad_rules<grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        if (x.type != VarType::SELECTED_ROWS) spec::dense("add: x", x);
        if (y.type != VarType::SELECTED_ROWS) spec::dense("add: y", y);
        spec::same_dtype("add: y", y, x);
        VarSpec const& kind = x.type == VarType::SELECTED_ROWS ? y : x;
        return {kind.type, x.dtype, spec::same_dims("add: y", y, x), kind.lod_level};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return add(exec, x, y);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, SelectedRows<T, D> const& y) {
        return add(exec, x, y);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, SelectedRows<T, D> const& y) {
        return add(exec, x, y);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, SelectedRows<T, D> const& x, Tensor<T, D> const& y) {
        return add(exec, x, y);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/detail/radix_sort.hpp: radix_sort, a stable parallel sort by integer keys.

namespace rowan::inline v0::detail {

/// The number of passes of a sort by `key_bits` bits, and the bits per digit.
struct Digits {
    static constexpr unsigned most = 12;  // the counters of one pass fit the L1 cache

    unsigned passes;
    unsigned bits;

    explicit Digits(unsigned key_bits)
        : passes((key_bits + most - 1) / most), bits(passes == 0 ? 0 : (key_bits + passes - 1) / passes) {}
    std::size_t count() const { return std::size_t{1} << bits; }
};

/// Sorts n entries on one thread, least significant digit first; `next` has a counter for each digit value.
/// Returns the array with the sorted entries: `from` after an even number of passes, else `to`.
template <class Entry, class Key>
Entry* sort_digits(Digits digits, std::size_t n, Entry* from, Entry* to, Key const& key, std::size_t* next) {
    for (unsigned pass = 0; pass < digits.passes; ++pass) {
        auto const digit = [&](Entry const& e) {
            return static_cast<std::size_t>(key(e) >> (pass * digits.bits)) & (digits.count() - 1);
        };
        std::fill_n(next, digits.count(), std::size_t{0});
        for (std::size_t i = 0; i < n; ++i) ++next[digit(from[i])];
        if (n != 0 && next[digit(*from)] == n) {  // all have the same digit, e.g. many lookups of one row
            std::swap(from, to);
            std::copy_n(to, n, from);
            continue;
        }
        std::size_t place = 0;
        for (std::size_t d = 0; d < digits.count(); ++d) place += std::exchange(next[d], place);
        for (std::size_t i = 0; i < n; ++i) to[next[digit(from[i])]++] = from[i];
        std::swap(from, to);
    }
    return from;
}

/// The first keys of the key ranges of all threads except the first: quantiles of evenly spaced samples.
template <class Key>
Buffer<std::uint64_t> splitters(std::size_t threads, std::size_t n, Key const& key) {
    std::size_t const samples = std::min(n, 64 * threads);
    Buffer<std::uint64_t> keys(samples);
    for (std::size_t i = 0; i < samples; ++i) keys[i] = key(share_begin(n, i, samples));
    std::ranges::sort(keys);
    Buffer<std::uint64_t> first(threads - 1);
    for (std::size_t t = 1; t < threads; ++t) first[t - 1] = keys[share_begin(samples, t, threads)];
    return first;
}

/// Stable sort of the entries make(0) … make(n - 1) by key(entry), which is less than 2^bits. The arrays `a` and `b`
/// have room for n entries and may be uninitialised. Returns the array with the sorted entries, a or b.
/// cost     (bits / 12, rounded up) passes over the entries, each reading them twice and writing them once. Several
///          threads first partition the entries by key range, then each sorts its range: data moves between cores once.
template <class Entry, class Key, class Make>
Entry* radix_sort(int threads, std::size_t n, unsigned bits, Entry* a, Entry* b, Key const& key, Make const& make) {
    if (bits == 0 || n == 0) threads = 1;
    Digits const digits(bits);
    auto const ranges = static_cast<std::size_t>(threads);
    auto const first = splitters(ranges, n, [&](std::size_t i) { return static_cast<std::uint64_t>(key(make(i))); });
    Buckets buckets(ranges, threads, digits.count());
    team(threads, [&](int t, int team_size) {
        auto const range = [&](std::size_t i) {
            std::uint64_t const k = key(make(i));
            std::size_t r = 0;
            for (std::uint64_t const f : first) r += k >= f;
            return r;
        };
        buckets.fill(t, team_size, n, range, [&](std::size_t place, std::size_t i) { a[place] = make(i); });
        for (auto r = static_cast<std::size_t>(t); r < ranges; r += static_cast<std::size_t>(team_size)) {
            std::size_t const begin = buckets.starts[r];
            sort_digits(digits, buckets.starts[r + 1] - begin, a + begin, b + begin, key,
                        buckets.places[static_cast<std::size_t>(t)].data());
        }
    });
    return digits.passes % 2 == 0 ? a : b;
}

}  // namespace rowan::inline v0::detail

// rowan/sparse/row_plan.hpp: RowPlan, a reusable sort of lookups by row, for the functions that sum duplicates.

namespace rowan::inline v0 {

/// The lookups, grouped by row. A plan can be reused for many values, widths and optimizers.
///
///     rows [4 1 4 0]   ->   rows()      [0 1 4]        the distinct rows, ascending
///                           offsets()   [0 1 2 4]      of rows()[k]: elements offsets()[k] … offsets()[k + 1] - 1
///                           positions() [3 1 0 2]      in input order within a row
template <>
class RowPlan<Cpu> {
public:
    /// A plan without rows, of height 0.
    RowPlan() = default;

    /// The plan of a flat list of rows.
    /// errors   ShapeError if height is negative or rows are not a flat list; IndexError if a row is not in [0, height)
    /// cost     a radix sort of n numbers by the bits of height; one block of 24 bytes per lookup
    RowPlan(Cpu exec, Ids<> rows, Height height) {
        if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
        detail::check_ids(exec, "rows", rows, height);
        build(exec, rows, height);
    }
    RowPlan(Ids<> rows, Height height) : RowPlan(Cpu{}, rows, height) {}

    /// The plan of a gradient's rows; a merged gradient needs no sort.
    /// errors   ValueError if exec.threads is negative
    /// cost     as above, O(n) for a merged gradient
    template <class T>
    RowPlan(Cpu exec, SelectedRows<T> const& g) {
        detail::check_exec(exec);
        if (g.merged()) {
            enumerate(g.rows(), g.height());
        } else {
            build(exec, g.rows(), g.height());
        }
    }
    template <class T>
    explicit RowPlan(SelectedRows<T> const& g) : RowPlan(Cpu{}, g) {}

    RowPlan(RowPlan const&) = default;
    RowPlan(RowPlan&& other) noexcept { swap(other); }
    RowPlan& operator=(RowPlan const&) = default;
    RowPlan& operator=(RowPlan&& other) noexcept {
        RowPlan moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~RowPlan() = default;

    /// The number of lookups, including duplicates.
    std::size_t size() const noexcept { return size_; }
    std::int64_t height() const noexcept { return height_; }  ///< the height of the table
    Cpu device() const noexcept { return {}; }                ///< the execution of calls that are given none
    /// The distinct rows, ascending.
    std::span<std::int64_t const> rows() const noexcept { return {memory_.data() + rows_, count_}; }
    /// The lookups of rows()[k] are elements [offsets()[k], offsets()[k + 1]) of positions().
    std::span<std::int64_t const> offsets() const noexcept {
        static constexpr std::int64_t none[1] = {0};
        return size_ == 0 ? std::span<std::int64_t const>(none) : std::span(memory_.data() + 2 * size_, count_ + 1);
    }
    /// The positions of the lookups in the gradient, grouped by row, in input order within a row.
    std::span<std::int64_t const> positions() const noexcept { return {memory_.data() + (size_ - rows_), size_}; }

    void swap(RowPlan& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(rows_, other.rows_);
        std::swap(count_, other.count_);
        std::swap(size_, other.size_);
        std::swap(height_, other.height_);
    }

private:
    struct Wide {  // an entry of the sort if a row and a position do not fit 64 bits together
        std::uint64_t row;
        std::uint64_t position;
    };

    static constexpr std::size_t parallel_from = std::size_t{1} << 15;

    // One block: two arrays for the sort, of which one becomes the positions and the other the rows; then the offsets.
    void build(Cpu exec, Ids<> const& ids, std::int64_t height) {
        std::size_t const n = ids.size();
        int const threads = std::min(thread_count(exec), n < parallel_from ? 1 : std::numeric_limits<int>::max());
        height_ = height;
        if (n == 0) return;
        auto const row_bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(height) - 1));
        auto const position_bits = static_cast<unsigned>(std::bit_width(n - 1));
        bool const packed = row_bits + position_bits <= 64;
        detail::Buffer<Wide> wide(packed ? 0 : 2 * n);
        memory_ = detail::Storage<std::int64_t>(3 * n + 1);
        size_ = n;
        auto* const a = reinterpret_cast<std::uint64_t*>(memory_.data());
        ids.visit([&](auto list) {
            if (packed) {
                auto const row = [=](std::uint64_t e) { return e >> position_bits; };
                auto const position = [=](std::uint64_t e) { return e & ((std::uint64_t{1} << position_bits) - 1); };
                auto const fill = [&](std::size_t i) {
                    return static_cast<std::uint64_t>(list[i]) << position_bits | i;
                };
                std::uint64_t* const sorted = detail::radix_sort(threads, n, row_bits, a, a + n, row, fill);
                rows_ = sorted == a ? n : 0;
                split(threads, sorted, row, position);
            } else {
                auto const row = [](Wide const& e) { return e.row; };
                auto const position = [](Wide const& e) { return e.position; };
                auto const fill = [&](std::size_t i) { return Wide{static_cast<std::uint64_t>(list[i]), i}; };
                split(threads, detail::radix_sort(threads, n, row_bits, wide.data(), wide.data() + n, row, fill), row,
                      position);
            }
        });
    }

    // Divides the sorted entries into runs of equal rows. The entries may be in the memory of the positions.
    template <class Entry, class Row, class Position>
    void split(int threads, Entry const* sorted, Row row, Position position) {
        std::int64_t* const rows = memory_.data() + rows_;
        std::int64_t* const positions = memory_.data() + (size_ - rows_);
        std::int64_t* const offsets = memory_.data() + 2 * size_;
        detail::Buffer<std::size_t> heads(static_cast<std::size_t>(threads) + 1);
        detail::TeamBarrier barrier;
        detail::team(threads, [&](int t, int team_size) {
            auto const [thread, team_threads] =
                std::pair(static_cast<std::size_t>(t), static_cast<std::size_t>(team_size));
            std::size_t const begin = detail::share_begin(size_, thread, team_threads);
            std::size_t const end = detail::share_begin(size_, thread + 1, team_threads);
            std::uint64_t const before = begin == 0 ? ~row(sorted[0]) : row(sorted[begin - 1]);
            std::uint64_t last = before;
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) count += std::exchange(last, row(sorted[i])) != row(sorted[i]);
            heads[thread + 1] = count;
            barrier.wait(team_size);
            if (t == 0) std::partial_sum(heads.begin(), heads.end(), heads.begin());
            barrier.wait(team_size);
            std::size_t k = heads[thread];
            last = before;
            for (std::size_t i = begin; i < end; ++i) {
                std::uint64_t const r = row(sorted[i]);
                if (r != last) {
                    rows[k] = static_cast<std::int64_t>(r);
                    offsets[k++] = static_cast<std::int64_t>(i);
                }
                last = r;
                positions[i] = static_cast<std::int64_t>(position(sorted[i]));
            }
        });
        count_ = heads.back();
        offsets[count_] = static_cast<std::int64_t>(size_);
    }

    void enumerate(std::span<std::int64_t const> rows, std::int64_t height) {
        memory_ = detail::Storage<std::int64_t>(3 * rows.size() + 1);
        height_ = height;
        size_ = count_ = rows.size();
        std::copy(rows.begin(), rows.end(), memory_.data());
        std::iota(memory_.data() + size_, memory_.data() + 2 * size_, std::int64_t{0});
        std::iota(memory_.data() + 2 * size_, memory_.data() + 3 * size_ + 1, std::int64_t{0});
    }

    detail::Storage<std::int64_t> memory_;
    std::size_t rows_ = 0;  // offset of the rows in memory_: 0 or size_; the positions are in the other half
    std::size_t count_ = 0;
    std::size_t size_ = 0;
    std::int64_t height_ = 0;
};

RowPlan(Ids<>, Height)->RowPlan<>;
RowPlan(Cpu, Ids<>, Height)->RowPlan<>;
template <class T, class Device>
RowPlan(SelectedRows<T, Device>) -> RowPlan<Device>;
template <class T, class Device>
RowPlan(Device, SelectedRows<T, Device>) -> RowPlan<Device>;

}  // namespace rowan::inline v0

// rowan/sparse/detail/row_sums.hpp: RowSums, the sums of duplicate rows, in parallel over rows.

namespace rowan::inline v0::detail {

/// The division of work: ranges of rows for one thread each, and heavy rows, which all threads sum together.
struct Shares {
    Buffer<std::size_t> first;  // share k: rows [first[k], first[k + 1]) of the plan
    Buffer<std::size_t> heavy;  // rows with more than heavy_from contributions
    std::size_t heavy_from;

    Shares(RowPlan<> const& plan, std::size_t threads);
};

/// The sums of a value's rows by a plan. The constructor allocates all memory, so that a run cannot fail halfway.
template <class T>
class RowSums {
public:
    using S = sum_t<T>;

    RowSums(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value)
        : plan_(plan), width_(plan.size() == 0 ? 0 : value.row_size()), ahead_(lookahead(width_ * sizeof(T)) / 2),
          threads_(static_cast<std::size_t>(threads_for(exec, value.size()))), shares_(plan, threads_),
          blocks_(threads_, BlockSum<T, S>(value.data(), width_, plan.size())),
          group_order_((heaviest() + group - 1) / group), group_sums_(group_order_.size() * width_),
          groups_(group_sums_.data(), width_, group_order_.size()) {
        std::iota(group_order_.begin(), group_order_.end(), std::int64_t{0});
    }

    /// Calls f(k, sum) once for each row plan.rows()[k], on several threads; `sum` points to the elements of the row's
    /// sum. prefetch(k) prefetches the memory that f(k) will access.
    template <class Prefetch, class F>
    void run(Prefetch const& prefetch, F const& f) {
        std::atomic<std::size_t> next{0};
        team(static_cast<int>(threads_), [&](int t, int) {
            auto& block = blocks_[static_cast<std::size_t>(t)];
            for (std::size_t i = next++; i + 1 < shares_.first.size(); i = next++) {
                run_share(shares_.first[i], shares_.first[i + 1], block, prefetch, f);
            }
            stream_end();
        });
        for (std::size_t k : shares_.heavy) {
            sum_groups(k);
            f(k, groups_(group_order_.data(), (length(k) + group - 1) / group, 0));
            stream_end();
        }
    }

private:
    static constexpr std::size_t group =
        block_size * block_size;  // contributions to a heavy row per unit of work of a thread

    std::size_t begin(std::size_t k) const { return static_cast<std::size_t>(plan_.offsets()[k]); }
    std::size_t length(std::size_t k) const { return begin(k + 1) - begin(k); }
    std::size_t heaviest() const {
        std::size_t most = 0;
        for (std::size_t k : shares_.heavy) most = std::max(most, length(k));
        return most;
    }

    template <class Prefetch, class F>
    void run_share(std::size_t k, std::size_t end, BlockSum<T, S>& block, Prefetch const& prefetch, F const& f) {
        std::size_t const last = begin(end);
        for (std::size_t i = k; i < std::min(end, k + ahead_); ++i) prefetch(i);
        for (; k < end; ++k) {
            if (k + ahead_ < end) prefetch(k + ahead_);
            if (length(k) > shares_.heavy_from) continue;
            f(k, block(plan_.positions().data() + begin(k), length(k), last - begin(k + 1)));
        }
    }

    void sum_groups(std::size_t k) {
        std::atomic<std::size_t> next{0};
        team(static_cast<int>(threads_), [&](int t, int) {
            for (std::size_t i = next.fetch_add(group); i < length(k); i = next.fetch_add(group)) {
                std::size_t const n = std::min(group, length(k) - i);
                S const* const sum =
                    blocks_[static_cast<std::size_t>(t)](plan_.positions().data() + begin(k) + i, n, length(k) - i - n);
                std::copy_n(sum, width_, group_sums_.data() + i / group * width_);
            }
        });
    }

    RowPlan<> const& plan_;
    std::size_t width_;
    std::size_t ahead_;
    std::size_t threads_;
    Shares shares_;
    Buffer<BlockSum<T, S>> blocks_;  // one per thread
    Buffer<std::int64_t> group_order_;
    Buffer<S> group_sums_;
    BlockSum<S, S> groups_;
};

}  // namespace rowan::inline v0::detail

// rowan/sparse/detail/row_sums_inl.hpp: definitions of rowan/sparse/detail/row_sums.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Shares::Shares(RowPlan<> const& plan, std::size_t threads) {
    auto const offsets = plan.offsets();
    std::size_t const rows = plan.rows().size();
    std::size_t const count = threads == 1 ? 1 : threads * 16;
    std::size_t const grain = plan.size() / count + 1;
    heavy_from = threads == 1 ? plan.size() : 2 * grain;
    first.push_back(0);
    for (std::size_t begin = grain; count > 1 && begin < plan.size(); begin += grain) {
        auto const at = std::lower_bound(offsets.begin(), offsets.end() - 1, static_cast<std::int64_t>(begin));
        auto const k = static_cast<std::size_t>(at - offsets.begin());
        if (k == first.back()) continue;
        first.push_back(k);
        if (static_cast<std::size_t>(offsets[k] - offsets[k - 1]) > heavy_from) heavy.push_back(k - 1);
    }
    if (first.back() != rows) first.push_back(rows);
    std::size_t const last = rows > 0 ? rows - 1 : 0;
    if (rows > 0 && plan.size() - static_cast<std::size_t>(offsets[last]) > heavy_from &&
        (heavy.empty() || heavy.back() != last)) {
        heavy.push_back(last);
    }
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sparse/merge.hpp: merge, the sum of duplicate rows.

namespace rowan::inline v0 {

namespace detail {

/// Writes the rows of a plan and their sums to a SelectedRows.
template <class D>
struct RowMerge {
    static_assert(has_backend<D>, "rowan: merge on a Thrust device needs #include <rowan/thrust/sparse/merge.hpp>");
};

template <>
struct RowMerge<Cpu> {
    template <class T>
    static void into(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, SelectedRows<T>& out) {
        using S = sum_t<T>;
        auto const source = value.share();  // value may be out.value()
        RowSums<T> sums(exec, plan, source);
        std::size_t const width = value.row_size();
        auto room = SelectedRowsAccess::room(out, plan.height(), plan.rows().size(), value.shape());
        T* const to = room.value().data();
        bool const stream = room.value().size() * sizeof(T) >= stream_from;
        sums.run([](std::size_t) {},
                 [=](std::size_t k, S const* sum) {
                     if constexpr (std::is_same_v<T, S>) {
                         if (stream) return stream_copy(to + k * width, sum, width * sizeof(T));
                     }
                     copy_lanes<S>(width, sum, to + k * width);
                 });
        SelectedRowsAccess::move_in(out, room, plan.rows());
    }
};

}  // namespace detail

/// Writes the rows of a plan, ascending and unique, and the sums of their values to `out`. Contributions to a row are
/// summed in input order in blocks of 64, the block sums in blocks of 64, and so on: bit-identical for any number of
/// threads and on all devices. Sums are computed in dtype<T>::sum and narrowed once. `value` may be out.value(). On the
/// host, the memory of `out` is reused if it suffices. A Thrust device synchronizes once to get the number of distinct
/// rows, unless the plan already has it.
/// shapes   plan of n rows, value [n, ...] -> out with the distinct rows of the plan
/// errors   ShapeError if value does not have n rows
/// cost     O(n * width): every contribution read once, every sum written once
template <class T, device D>
void merge_into(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value,
                SelectedRows<T, D>& out) {
    detail::check_exec(exec);
    SelectedRows<T, D>::check_value(value, plan.size());
    detail::RowMerge<D>::into(exec, plan, value, out);
}

/// The same for a gradient; a merged gradient is copied.
template <class T, device D>
void merge_into(D const& exec, SelectedRows<T, D> const& g, SelectedRows<T, D>& out) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    merge_into(exec, RowPlan<D>(exec, g), g.value(), out);
}

/// The rows of `g`, ascending and unique, with duplicates summed in the order of merge_into. Idempotent:
/// merge(merge(g)) == merge(g).
/// shapes   SelectedRows of n rows -> SelectedRows with the distinct rows, of the same height and row shape
/// errors   ShapeError if g.value() does not have n rows
/// cost     a sort of the rows, one allocation for the result, and merge_into
template <class T, device D>
SelectedRows<T, D> merge(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D> out;
    merge_into(exec, g, out);
    return out;
}

template <class T, device D>
SelectedRows<T, D> merge(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value) {
    SelectedRows<T, D> out;
    merge_into(exec, plan, value, out);
    return out;
}

template <class T, class Device>
SelectedRows<T, Device> merge(SelectedRows<T, Device> const& g) {
    return merge(g.device(), g);
}

template <class T, class Device>
SelectedRows<T, Device> merge(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return merge(plan.device(), plan, value);
}

template <class T, class Device>
void merge_into(SelectedRows<T, Device> const& g, SelectedRows<T, Device>& out) {
    merge_into(g.device(), g, out);
}

template <class T, class Device>
void merge_into(RowPlan<Device> const& plan, Tensor<T, Device> const& value, SelectedRows<T, Device>& out) {
    merge_into(plan.device(), plan, value, out);
}

ROWAN_TEMPLATE(void merge_into(Cpu const&, RowPlan<> const&, Tensor<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, SelectedRows<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu const&, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, RowPlan<> const&, Tensor<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, SelectedRows<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu const&, RowPlan<> const&, Tensor<double> const&))

}  // namespace rowan::inline v0

// rowan/op/clip.hpp: clip, elements clamped to an interval.

namespace rowan::inline v0 {

/// The settings of clip.
struct ClipOptions {
    double min = -1;  ///< lower bound
    double max = 1;   ///< upper bound

    static constexpr auto fields = std::tuple(field{"min", &ClipOptions::min}, field{"max", &ClipOptions::max});
};

namespace detail {

inline void check_clip(ClipOptions const& options) {
    check_finite("min", options.min);
    check_finite("max", options.max);
    if (!(options.max >= options.min)) throw ValueError("max", options.max, "a number not less than min");
}

/// x clamped to [min, max]
struct clip_formula {
    double min, max;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        V const low = constant<V>(min), high = constant<V>(max);
        return choose(x < low, low, choose(x > high, high, x));
    }
};

/// 0 where x < min or x > max, else g
struct clip_grad_formula {
    double min, max;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& g) const {
        V const zero = constant<V>(0.0);
        return choose(x < constant<V>(min), zero, choose(x > constant<V>(max), zero, g));
    }
};

template <class T, class D>
Tensor<T, D> clip_elements(D const& exec, Tensor<T, D> const& x, ClipOptions const& options) {
    using S = sum_t<T>;
    static_assert(!std::integral<S>, "rowan::clip: integers are not clipped to fractions, convert x first");
    return zip_elements<S>(exec, clip_formula{options.min, options.max}, x);
}

}  // namespace detail

/// Clamps every element to [min, max]; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if a bound is not finite or max < min
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> clip(D exec, Tensor<T, D> const& x, ClipOptions const& options = {}) {
    detail::check_clip(options);
    return detail::clip_elements(exec, x, options);
}

/// The same for a row-sparse gradient: merges g, then clamps. The result is merged and equals the clamped dense
/// gradient.
/// shapes   g of n rows -> one row for each distinct row id
/// errors   ValueError as above, and if 0 is not in [min, max], because rows that are absent from g stay 0
/// cost     a merge, and one read and one write of its rows
template <class T, device D>
SelectedRows<T, D> clip(D exec, SelectedRows<T, D> const& g, ClipOptions const& options = {}) {
    detail::check_clip(options);
    if (options.min > 0 || options.max < 0)
        throw ValueError(options.min > 0 ? "min" : "max", options.min > 0 ? options.min : options.max,
                         "0 within the interval, as rows that are not named stay 0");
    auto merged = merge(exec, g);
    merged.value() = detail::clip_elements(exec, merged.value(), options);
    return merged;
}

/// The gradient of x: 0 where x < min or x > max, else out_grad.
/// shapes   x [...], out_grad the same -> the same
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> clip_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                       ClipOptions const& options = {}) {
    detail::check_same_shape("out_grad", out_grad, x);
    detail::clip_grad_formula const formula{options.min, options.max};
    return detail::zip_elements<detail::sum_t<T>>(exec, formula, x, out_grad);
}

struct clip_grad_op {
    static constexpr std::string_view name = "clip_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using attributes = ClipOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& out_grad, ClipOptions const& = {}) {
        return spec::elementwise("clip_grad: out@GRAD", out_grad, x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                            ClipOptions const& options = {}) {
        return clip_grad(exec, x, out_grad, options);
    }
};

/// See clip; x may be dense or row-sparse.
struct clip_op {
    static constexpr std::string_view name = "clip";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using attributes = ClipOptions;
    using grad = grad_rule<clip_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, ClipOptions const& = {}) { return x; }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ClipOptions const& options = {}) {
        return clip(exec, x, options);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, ClipOptions const& options = {}) {
        return clip(exec, x, options);
    }
};

}  // namespace rowan::inline v0

// rowan/op/elementwise_mul.hpp: elementwise_mul, the element-wise product of two tensors.

namespace rowan::inline v0 {

namespace detail {

/// x · y
struct mul_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
        return product(x, y);
    }
};

}  // namespace detail

/// x · y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> elementwise_mul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    detail::check_same_shape("y", y, x);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::mul_formula{}, x, y);
}

template <class T, class Device>
Tensor<T, Device> elementwise_mul(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return elementwise_mul(x.device(), x, y);
}

/// See elementwise_mul. The gradients are element-wise products, too: out_grad · y and out_grad · x.
struct elementwise_mul_op {
    static constexpr std::string_view name = "elementwise_mul";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = grad_rules<grad_rule<elementwise_mul_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<elementwise_mul_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        return spec::elementwise("elementwise_mul: y", y, x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return elementwise_mul(exec, x, y);
    }
};

}  // namespace rowan::inline v0

// rowan/op/relu.hpp: relu, the element-wise rectified linear unit.

namespace rowan::inline v0 {

namespace detail {

/// max(x, 0)
struct relu_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        V const zero = constant<V>(0.0);
        return choose(x < zero, zero, x);
    }
};

/// g where y is positive, else 0
struct relu_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
        V const zero = constant<V>(0.0);
        return choose(y > zero, g, zero);
    }
};

}  // namespace detail

/// max(x, 0) element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> relu(D const& exec, Tensor<T, D> const& x) {
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::relu_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad where out > 0, else 0.
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> relu_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::relu_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> relu(Tensor<T, Device> const& x) {
    return relu(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> relu_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return relu_grad(out.device(), out, out_grad);
}

struct relu_grad_op {
    static constexpr std::string_view name = "relu_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("relu_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return relu_grad(exec, out, out_grad);
    }
};

struct relu_op {
    static constexpr std::string_view name = "relu";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<relu_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("relu: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return relu(exec, x);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/scale.hpp: scale, the product of a gradient and a number.

namespace rowan::inline v0 {

/// A factor for values of `T`: a number, for integer types an integer.
template <class T, class F>
concept factor_for = std::integral<F> ||(std::floating_point<F> && !std::integral<detail::sum_t<T>>);

namespace detail {

template <class T, class F>
constexpr void check_factor() {
    static_assert(factor_for<T, F>,
                  "rowan::scale: the factor must be a number, and an integer where the elements are integers");
}

/// x * factor
template <class F>
struct multiply_by {
    F factor;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        if constexpr (std::integral<V>) {
            return product(x, static_cast<V>(factor));
        } else {
            return product(x, constant<V>(static_cast<double>(factor)));
        }
    }
};

}  // namespace detail

/// `g` with all elements multiplied by `factor`, computed in dtype<T>::sum. The rows are those of `g`.
/// shapes   g -> the same height, rows and row shape
/// errors   ShapeError if g.value() does not have one row for each row of g; a non-finite factor is not an error
/// cost     O(n * width)
template <class T, class F, device D>
SelectedRows<T, D> scale(D const& exec, SelectedRows<T, D> const& g, F factor) {
    using Loops = detail::ElementLoops<D>;
    using Access = detail::SelectedRowsAccess;
    detail::check_factor<T, F>();
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    Loops::check(exec, g.rows(), g.value());
    auto value = detail::new_tensor<T>(exec, g.value().shape());
    Loops::template zip<detail::sum_t<T>>(exec, value.size(), detail::multiply_by<F>{factor}, value.data(),
                                          g.value().data());
    return Access::adopt(g.height(), Loops::copy(exec, Access::rows(g)), std::move(value), g.merged());
}

template <class T, class Device, class F>
SelectedRows<T, Device> scale(SelectedRows<T, Device> const& g, F factor) {
    return scale(g.device(), g, factor);
}

}  // namespace rowan::inline v0

// rowan/op/scale.hpp: scale, the elements multiplied by a factor plus a bias.

namespace rowan::inline v0 {

namespace detail {

/// errors   ValueError if dtype<T>::sum is an integer type that cannot represent the value
template <class T>
void check_whole_setting(char const* field, double value) {
    if constexpr (std::integral<sum_t<T>>) {
        if (!is_whole<sum_t<T>>(value)) throw ValueError(field, value, "a whole number, as the elements are integers");
    }
}

[[noreturn]] inline void sparse_bias(double bias) {
    throw ValueError("bias", bias, "0 for a SelectedRows: it would reach the rows that are absent");
}

/// factor · x
struct scale_formula {
    double factor;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return product(x, constant<V>(factor));
    }
};

/// factor · x + bias
struct affine_formula {
    double factor, bias;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return plus(product(x, constant<V>(factor)), constant<V>(bias));
    }
};

}  // namespace detail

/// factor · x + bias element-wise, computed in dtype<T>::sum. The product is rounded before the addition; a bias of 0
/// is not added. Integers wrap around.
/// shapes   x [...] -> [...]
/// errors   ValueError if the elements are integers and factor or bias is not an integer that dtype<T>::sum represents
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> scale(D const& exec, Tensor<T, D> const& x, double factor, double bias = 0) {
    using S = detail::sum_t<T>;
    detail::check_whole_setting<T>("factor", factor);
    detail::check_whole_setting<T>("bias", bias);
    if (bias == 0) return detail::zip_elements<S>(exec, detail::scale_formula{factor}, x);
    return detail::zip_elements<S>(exec, detail::affine_formula{factor, bias}, x);
}

template <class T, class Device>
Tensor<T, Device> scale(Tensor<T, Device> const& x, double factor, double bias = 0) {
    return scale(x.device(), x, factor, bias);
}

struct scale_grad_op;

/// See scale. The result for a SelectedRows is a SelectedRows, and its bias must be 0.
struct scale_op {
    static constexpr std::string_view name = "scale";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<scale_grad_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        double factor = 1;  ///< the factor
        double bias = 0;    ///< added after the multiplication

        static constexpr auto fields =
            std::tuple(field{"factor", &attributes::factor}, field{"bias", &attributes::bias});
    };

    static constexpr VarSpec infer(VarSpec const& x, attributes const& a) {
        if (x.type != VarType::SELECTED_ROWS) return spec::elementwise("scale: x", x);
        if (a.bias != 0) detail::sparse_bias(a.bias);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, attributes const& a) {
        return scale(exec, x, a.factor, a.bias);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, attributes const& a) {
        if (a.bias != 0) detail::sparse_bias(a.bias);
        detail::check_whole_setting<T>("factor", a.factor);
        if constexpr (std::integral<detail::sum_t<T>>) {
            return scale(exec, x, static_cast<std::int64_t>(a.factor));
        } else {
            return scale(exec, x, a.factor);
        }
    }
};

/// factor · out_grad
struct scale_grad_op {
    static constexpr std::string_view name = "scale_grad";
    using inputs = slots<grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = no_grad;
    using attributes = scale_op::attributes;

    static constexpr VarSpec infer(VarSpec const& out_grad, attributes const& a) {
        return scale_op::infer(out_grad, {a.factor, 0});
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out_grad, attributes const& a) {
        return scale_op::run(exec, out_grad, {a.factor, 0});
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& out_grad, attributes const& a) {
        return scale_op::run(exec, out_grad, {a.factor, 0});
    }
};

}  // namespace rowan::inline v0

// rowan/op/sigmoid.hpp: sigmoid, the element-wise logistic function.

namespace rowan::inline v0 {

namespace detail {

/// 1 / (1 + exp(-x))
struct sigmoid_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return logistic(x);
    }
};

/// g · y · (1 - y)
struct sigmoid_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
        return product(g, product(y, V(constant<V>(1.0) - y)));
    }
};

}  // namespace detail

/// 1 / (1 + exp(-x)) element-wise, computed in dtype<T>::sum.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> sigmoid(D const& exec, Tensor<T, D> const& x) {
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::sigmoid_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad · out · (1 - out).
/// shapes   out [...], out_grad the same -> the same
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> sigmoid_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::sigmoid_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> sigmoid(Tensor<T, Device> const& x) {
    return sigmoid(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> sigmoid_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return sigmoid_grad(out.device(), out, out_grad);
}

struct sigmoid_grad_op {
    static constexpr std::string_view name = "sigmoid_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("sigmoid_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return sigmoid_grad(exec, out, out_grad);
    }
};

struct sigmoid_op {
    static constexpr std::string_view name = "sigmoid";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<sigmoid_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("sigmoid: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return sigmoid(exec, x);
    }
};

}  // namespace rowan::inline v0

// rowan/op/sub.hpp: sub, the difference of two tensors, and negate.

namespace rowan::inline v0 {

namespace detail {

/// a - b; integers wrap around.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V minus(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) - static_cast<std::make_unsigned_t<V>>(b));
    } else {
        return a - b;
    }
}

/// x - y
struct sub_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
        return minus(x, y);
    }
};

/// 0 - x
struct negate_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return minus(constant<V>(0.0), x);
    }
};

}  // namespace detail

/// x - y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> sub(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    detail::check_same_shape("y", y, x);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::sub_formula{}, x, y);
}

/// 0 - x element-wise, which is also the gradient of y in x - y.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> negate(D const& exec, Tensor<T, D> const& x) {
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::negate_formula{}, x);
}

template <class T, class Device>
Tensor<T, Device> sub(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return sub(x.device(), x, y);
}
template <class T, class Device>
Tensor<T, Device> negate(Tensor<T, Device> const& x) {
    return negate(x.device(), x);
}

struct negate_op {
    static constexpr std::string_view name = "negate";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<negate_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("negate: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return negate(exec, x);
    }
};

struct sub_op {
    static constexpr std::string_view name = "sub";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = grad_rules<grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<negate_op, uses<grad_of<slot::out>>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) { return spec::elementwise("sub: y", y, x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return sub(exec, x, y);
    }
};

}  // namespace rowan::inline v0

// rowan/op/tanh.hpp: tanh, the element-wise hyperbolic tangent.

namespace rowan::inline v0 {

namespace detail {

/// tanh(x)
struct tanh_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return hyperbolic_tangent(x);
    }
};

/// g · (1 - y²)
struct tanh_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
        return product(g, V(constant<V>(1.0) - product(y, y)));
    }
};

}  // namespace detail

/// tanh(x) element-wise, computed in dtype<T>::sum as -t / (t + 2) for t = exp(-2 |x|) - 1, with the sign of x.
/// User-defined types need an `exp` that ADL finds. NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> tanh(D const& exec, Tensor<T, D> const& x) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::tanh: integers have no tanh, convert x to a type with fractions");
    return detail::zip_elements<S>(exec, detail::tanh_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad · (1 - out²).
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> tanh_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::tanh_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> tanh(Tensor<T, Device> const& x) {
    return tanh(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> tanh_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return tanh_grad(out.device(), out, out_grad);
}

struct tanh_grad_op {
    static constexpr std::string_view name = "tanh_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("tanh_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return tanh_grad(exec, out, out_grad);
    }
};

struct tanh_op {
    static constexpr std::string_view name = "tanh";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<tanh_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("tanh: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return tanh(exec, x);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/elementwise.hpp: element-wise layers.

namespace rowan::inline v0::layer {

/// 1 / (1 + exp(-x)), element-wise, as rowan::sigmoid.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::sigmoid, when the net runs
template <class T, class Device>
Var<T, Device> sigmoid(Var<T, Device> const& x) {
    return apply<sigmoid_op>({}, x);
}
/// tanh(x), element-wise, as rowan::tanh.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::tanh, when the net runs
template <class T, class Device>
Var<T, Device> tanh(Var<T, Device> const& x) {
    return apply<tanh_op>({}, x);
}
/// x where x > 0, else 0, element-wise, as rowan::relu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::relu, when the net runs
template <class T, class Device>
Var<T, Device> relu(Var<T, Device> const& x) {
    return apply<relu_op>({}, x);
}
/// x + y, element-wise, as rowan::add.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::add, when the net runs
template <class T, class Device>
Var<T, Device> add(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<rowan::add_op>({}, x, y);
}
/// x - y, element-wise, as rowan::sub.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   as layer::add
/// cost     as rowan::sub, when the net runs
template <class T, class Device>
Var<T, Device> sub(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<sub_op>({}, x, y);
}
/// x · y, element-wise, as rowan::elementwise_mul.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   as layer::add
/// cost     as rowan::elementwise_mul, when the net runs
template <class T, class Device>
Var<T, Device> mul(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<elementwise_mul_op>({}, x, y);
}

/// The element-wise sum of one or more values of the same shape.
/// shapes   one or more x, each [...] -> [...]
/// errors   ShapeError if x is empty or shapes differ
/// cost     as rowan::sum, when the net runs
template <class T, class Device>
Var<T, Device> sum(std::vector<Var<T, Device>> const& x) {
    std::vector<Variable*> inputs;
    for (auto const& summand : x) inputs.push_back(&*summand);
    return Var<T, Device>(*default_scope().new_op<sum_op, Device, T>(std::move(inputs)).outputs[0]);
}
template <class T, class Device>
Var<T, Device> sum(std::initializer_list<Var<T, Device>> x) {
    return sum(std::vector<Var<T, Device>>(x));
}

/// factor · x + bias, element-wise.
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, as rowan::scale
/// cost     as rowan::scale, when the net runs
template <class T, class Device>
Var<T, Device> scale(Var<T, Device> const& x, double factor, double bias = 0) {
    return apply<scale_op>({factor, bias}, x);
}

/// Clips every element to [min, max]; the gradient of a clipped element is 0. NaN is preserved.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if a bound is not finite or max < min
/// cost     as rowan::clip, when the net runs
template <class T, class Device>
Var<T, Device> clip(Var<T, Device> const& x, double min, double max) {
    rowan::detail::check_clip({min, max});
    return apply<clip_op>({min, max}, x);
}

ROWAN_TEMPLATE(Var<float> sigmoid(Var<float> const&))
ROWAN_TEMPLATE(Var<float> tanh(Var<float> const&))
ROWAN_TEMPLATE(Var<float> relu(Var<float> const&))
ROWAN_TEMPLATE(Var<float> add(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> sub(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> mul(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> sum(std::vector<Var<float>> const&))
ROWAN_TEMPLATE(Var<float> scale(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<float> clip(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<double> sigmoid(Var<double> const&))
ROWAN_TEMPLATE(Var<double> tanh(Var<double> const&))
ROWAN_TEMPLATE(Var<double> relu(Var<double> const&))
ROWAN_TEMPLATE(Var<double> add(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> sub(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> mul(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> sum(std::vector<Var<double>> const&))
ROWAN_TEMPLATE(Var<double> scale(Var<double> const&, double, double))
ROWAN_TEMPLATE(Var<double> clip(Var<double> const&, double, double))

}  // namespace rowan::inline v0::layer

// rowan/sequence/sequence_pool.hpp: sequence_pool, which reduces each sequence to one row.

namespace rowan::inline v0 {

/// How the rows of a sequence are reduced. sqrt is the sum divided by the square root of the length.
enum class Pooling : std::int32_t { sum = 0, mean = 1, sqrt = 2, max = 3, min = 4, first = 5, last = 6 };

namespace detail {

inline void check_pool(Pooling pool) {
    if (pool < Pooling::sum || pool > Pooling::last)
        throw ValueError("pool", static_cast<double>(pool), "one of sum, mean, sqrt, max, min, first, last");
}

/// Divides a sum by the length of its sequence (mean), by the square root of the length (sqrt), or by 1. Integers are
/// truncated towards zero.
template <class S>
struct PoolDivision {
    bool divides;
    bool by_length;
    std::size_t length;
    double divisor;

    ROWAN_HD PoolDivision(Pooling pool, std::size_t n)
        : divides((pool == Pooling::mean || pool == Pooling::sqrt) && n != 1), by_length(pool == Pooling::mean),
          length(n), divisor(!divides || by_length ? static_cast<double>(n) : square_root(static_cast<double>(n))) {}

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        if constexpr (!std::integral<S>) {
            return quotient(x, constant<V>(divisor));
        } else if (by_length) {
            using Wide = std::common_type_t<S, std::int64_t>;
            return static_cast<S>(static_cast<Wide>(x) / static_cast<Wide>(length));
        } else {
            return static_cast<S>(quotient(static_cast<double>(x), divisor));
        }
    }
};

/// Divides the sums of one sequence.
template <class S, class From, class To>
void divide(Pooling pool, std::size_t length, std::size_t width, From const* from, To* to) {
    PoolDivision<S> const by(pool, length);
    by.divides ? map_lanes<S>(by, width, from, to) : copy_lanes<S>(width, from, to);
}

/// Writes the gradient of the n > 0 rows of a sequence that was reduced by max or min.
template <bool greatest, class T>
void extreme_grad(T const* rows, std::size_t n, std::size_t width, T const* out_grad, T* x_grad) {
    using S = sum_t<T>;
    std::vector<S> best(width);
    std::vector<std::size_t> first(width);
    copy_lanes<S>(width, rows, best.data());
    for (std::size_t i = 1; i < n; ++i) {
        for (std::size_t k = 0; k < width; ++k) {
            S const x = dtype<T>::widen(rows[i * width + k]);
            if (!more_extreme<greatest>{}(x, best[k])) continue;
            best[k] = x;
            first[k] = i;
        }
    }
    std::fill_n(x_grad, n * width, zero<T>());
    for (std::size_t k = 0; k < width; ++k) x_grad[first[k] * width + k] = out_grad[k];
}

/// The numbers [begin, end), of which a window of at most longest + 4096 is in memory.
class RunningRows {
public:
    RunningRows(std::int64_t begin, std::int64_t end, std::size_t longest) : end_(end) {
        constexpr std::size_t more = 4096;
        if (longest != 0) numbers_.resize(std::min(static_cast<std::size_t>(end - begin), longest + more));
        std::iota(numbers_.begin(), numbers_.end(), begin);
    }

    /// The numbers from `first` on: n and, for prefetching, at least 64 more unless the range ends before.
    std::span<std::int64_t const> from(std::int64_t first, std::size_t n) {
        constexpr std::size_t ahead = 64;
        std::size_t const wanted = std::min(static_cast<std::size_t>(end_ - first), n + ahead);
        auto const skipped = static_cast<std::size_t>(first - numbers_.front());
        if (skipped + wanted <= numbers_.size()) return std::span(numbers_).subspan(skipped);
        numbers_.resize(std::min(numbers_.size(), static_cast<std::size_t>(end_ - first)));
        std::iota(numbers_.begin(), numbers_.end(), first);
        return numbers_;
    }

private:
    std::vector<std::int64_t> numbers_;
    std::int64_t end_;
};

/// Device-specific implementation of sequence_pool. The result for an empty sequence is `padding`.
template <class D>
struct SequencePool {
    static_assert(has_backend<D>,
                  "rowan: sequence_pool on a Thrust device needs #include <rowan/thrust/sequence/sequence_pool.hpp>");
};

template <>
struct SequencePool<Cpu> {
    template <class T>
    static void pool(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, Pooling pool,
                     T padding, T* out) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            bool const sums = pool == Pooling::sum || pool == Pooling::mean || pool == Pooling::sqrt;
            std::size_t const longest = longest_of(offsets, s, end);
            RunningRows positions(offsets[s], offsets[end], sums ? longest : 0);
            BlockSum<T, S> sum(rows, width, longest);
            std::vector<S> best(sums ? 0 : width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                T const* const first = rows + static_cast<std::size_t>(offsets[s]) * width;
                T* const to = out + s * width;
                if (n == 0) {
                    std::fill_n(to, width, padding);
                } else if (sums) {
                    auto const window = positions.from(offsets[s], n);
                    detail::divide<S>(pool, n, width, sum(window.data(), n, window.size() - n), to);
                } else if (pool == Pooling::first || pool == Pooling::last) {
                    std::copy_n(pool == Pooling::first ? first : first + (n - 1) * width, width, to);
                } else {
                    pool == Pooling::max ? detail::column_extremes<true>(first, n, width, best.data())
                                         : detail::column_extremes<false>(first, n, width, best.data());
                    copy_lanes<S>(width, static_cast<S const*>(best.data()), to);
                }
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows,
                     T const* out_grad, Pooling pool, T* x_grad) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                if (n == 0) continue;
                std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
                T const* const g = out_grad + s * width;
                T* const to = x_grad + begin;
                if (pool == Pooling::max) {
                    detail::extreme_grad<true>(rows + begin, n, width, g, to);
                } else if (pool == Pooling::min) {
                    detail::extreme_grad<false>(rows + begin, n, width, g, to);
                } else if (pool == Pooling::first || pool == Pooling::last) {
                    std::fill_n(to, n * width, zero<T>());
                    std::copy_n(g, width, pool == Pooling::first ? to : to + (n - 1) * width);
                } else {
                    detail::divide<S>(pool, n, width, g, to);
                    detail::repeat(static_cast<T const*>(to), width, n - 1, to + width);
                }
            }
        });
    }
};

}  // namespace detail

/// Reduces each sequence of the last level to one row, column by column, and drops that level. The result for an empty
/// sequence is `pad_value`. Sums are formed in input order and blocks of 64, as in merge. Means of integers are
/// truncated towards zero; the mean of booleans is their logical and. Max and min return the first NaN of a column.
/// Paddle's sequence_pool.
/// shapes   x [n, ...] -> [number of sequences, ...] with the upper levels of x
/// errors   ShapeError if x has no levels; ValueError if the element type is an integer and cannot represent pad_value
/// cost     one read of x and one write of the result; parallel over sequences; bitwise equal results for any number of
///          threads, and on devices
template <class T, device D>
LoDTensor<T, D> sequence_pool(D const& exec, LoDTensor<T, D> const& x, Pooling pool, double pad_value = 0) {
    detail::check_sequences(exec, "x", x);
    detail::check_pool(pool);
    T const padding = detail::checked_number<T>("pad_value", pad_value);
    auto const offsets = detail::last_level(x.lod());
    auto shape = x.shape();
    shape[0] = offsets.size() - 1;
    auto result = detail::new_tensor<T>(exec, shape);
    detail::SequencePool<D>::pool(exec, offsets, x.value().row_size(), x.value().data(), pool, padding, result.data());
    return {std::move(result), detail::upper_levels(x.lod())};
}

/// The adjoint of sequence_pool: the gradient of x. For max and min, the first row that holds the extremum of a column,
/// or its first NaN, receives the whole gradient.
/// shapes   x [n, ...], out_grad [number of sequences, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels or out_grad another shape
/// cost     one read of out_grad and one write of the result; for max and min also one read of x and a second write
template <class T, device D>
LoDTensor<T, D> sequence_pool_grad(D const& exec, LoDTensor<T, D> const& x,
                                   std::type_identity_t<Tensor<T, D>> const& out_grad, Pooling pool) {
    detail::check_sequences(exec, "x", x);
    detail::check_pool(pool);
    auto const offsets = detail::last_level(x.lod());
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(offsets.size()) - 1);
    detail::check_trailing("out_grad", out_grad, x.shape());
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::SequencePool<D>::grad(exec, offsets, x.value().row_size(), x.value().data(), out_grad.data(), pool,
                                  x_grad.data());
    return {std::move(x_grad), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_pool(LoDTensor<T, Device> const& x, Pooling pool, double pad_value = 0) {
    return sequence_pool(x.device(), x, pool, pad_value);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_pool_grad(LoDTensor<T, Device> const& x,
                                        std::type_identity_t<Tensor<T, Device>> const& out_grad, Pooling pool) {
    return sequence_pool_grad(x.device(), x, out_grad, pool);
}

}  // namespace rowan::inline v0

// rowan/op/detail/bags.hpp: pooling of bags of ids to rows of a table, and its gradient.

namespace rowan::inline v0::detail {

/// Checks the arguments of a lookup on any device, except whether the ids are in range.
template <class T, class I, class D>
void check_bags(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const* weight,
                Pooling pool) {
    static_assert(!std::integral<sum_t<T>>, "rowan::embedding_bag: integers are no table to train");
    if (pool != Pooling::sum && pool != Pooling::mean && pool != Pooling::sqrt && pool != Pooling::max)
        throw ValueError("pool", static_cast<double>(pool), "one of sum, mean, sqrt, max");
    check_sequences(exec, "ids", ids);
    if (ids.value().dimension() != 1) throw ShapeError("ids rank", std::to_string(ids.value().dimension()), "1");
    check_rows("table", table);
    if (weight != nullptr && weight->shape() != ids.value().shape())
        throw ShapeError("weight.shape()", shape_text(weight->shape()), shape_text(ids.value().shape()));
}

/// Looks up bags on a device. The Thrust specialization is in rowan/thrust/op/embedding_bag.hpp.
template <class D>
struct BagLookups;

/// The bags of a lookup, in the memory of any device.
template <class T, class I>
struct Bags {
    using S = sum_t<T>;

    T const* table;
    std::size_t height;
    std::size_t width;
    I const* ids;
    T const* weights;  // nullptr: all 1
    std::int64_t const* offsets;
    std::size_t bags;
    Pooling pool;

    /// Bad ids read row 0: the call has already failed, but parts of it may run nevertheless.
    ROWAN_HD T const* row(std::size_t i) const {
        auto const id = static_cast<std::size_t>(std::int64_t{ids[i]});
        return table + (id < height ? id : 0) * width;
    }
    ROWAN_HD std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets[bag]); }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD S weight(std::size_t i) const { return weights == nullptr ? constant<S>(1.0) : load<S>(weights + i); }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD S weighted(std::size_t i, std::size_t column) const {
        S const x = load<S>(row(i) + column);
        return weights == nullptr ? x : product(x, weight(i));
    }

    /// The divisor of the weighted sum of a bag; 0 means that the result of the bag is 0.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD S divisor(std::size_t bag) const {
        std::size_t const first = begin(bag), end = begin(bag + 1);
        auto const n = static_cast<double>(end - first);
        bool const mean = pool == Pooling::mean;
        if (!mean && pool != Pooling::sqrt) return constant<S>(1.0);
        if (weights == nullptr) return constant<S>(mean ? n : square_root(n));
        S sum = constant<S>(0.0);
        for (std::size_t i = first; i < end; ++i) {
            S const w = weight(i);
            sum = plus(sum, mean ? w : product(w, w));
        }
        return mean ? sum : square_root(sum);
    }

    /// The weighted sum of a column of a bag, in the order of the ids.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD S total(std::size_t bag, std::size_t column) const {
        S sum = constant<S>(0.0);
        for (std::size_t i = begin(bag); i < begin(bag + 1); ++i)
            sum = plus(sum, product(weight(i), load<S>(row(i) + column)));
        return sum;
    }

    /// The gradient of weight i: Σ (x - out · d') / d · out_grad over the columns of its bag, with d' = 1 for the mean,
    /// w / d for sqrt and 0 for the sum. `totals` are those of the columns.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD S weight_grad(std::size_t i, S const& d, S const* totals, T const* out_grad) const {
        S slope = constant<S>(pool == Pooling::mean ? 1.0 : 0.0);
        if (pool == Pooling::sqrt) slope = quotient(weight(i), d);
        S grad = constant<S>(0.0);
        for (std::size_t k = 0; k < width; ++k) {
            S const x = load<S>(row(i) + k);
            S const change = quotient(S(x - product(quotient(totals[k], d), slope)), d);
            grad = plus(grad, product(change, load<S>(out_grad + k)));
        }
        return grad;
    }
};

template <class T, class I, class D>
Bags<T, I> make_bags(Tensor<T, D> const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const* weight,
                     std::int64_t const* offsets, Pooling pool) {
    return {.table = table.data(),
            .height = table.shape()[0],
            .width = table.row_size(),
            .ids = ids.value().data(),
            .weights = weight == nullptr ? nullptr : weight->data(),
            .offsets = offsets,
            .bags = last_level(ids.lod()).size() - 1,
            .pool = pool};
}

template <>
struct BagLookups<Cpu> {
    template <class T, class I>
    static LoDTensor<T> lookup(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                               Pooling pool) {
        using S = sum_t<T>;
        check_ids(exec, "ids", ids.value(), height_of(table));
        std::span<std::int64_t const> const offsets = last_level(ids.lod());
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        Buffer<std::int64_t> const rows(ids.value().data(), ids.value().data() + ids.value().size());
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = bags.bags;
        auto out = Tensor<T>::zeros(shape);
        for_sequences(exec, offsets, width, [&](std::size_t bag, std::size_t end) {
            std::size_t const longest = longest_of(offsets, bag, end);
            BlockSum<T, S> sum(bags.table, width, longest);
            ScratchRows<S> scratch(weight != nullptr && pool != Pooling::max ? longest : 0, width);
            Buffer<S> best(width);
            Buffer<std::size_t> position(width);
            for (; bag < end; ++bag) {
                std::size_t const n = length_at(offsets, bag), first = bags.begin(bag);
                T* const to = out.data() + bag * width;
                S const divisor = bags.divisor(bag);
                if (n == 0 || divisor == constant<S>(0.0)) continue;
                if (pool == Pooling::max) {
                    largest(bags, bag, best, position);
                    copy_lanes<S>(width, static_cast<S const*>(best.data()), to);
                    continue;
                }
                S const* total = nullptr;
                if (weight != nullptr) {
                    for (std::size_t i = 0; i < n; ++i) {
                        auto const times = [w = bags.weight(first + i)](auto const& x) {
                            return product(x, std::remove_cvref_t<decltype(x)>(w));
                        };
                        map_lanes<S>(times, width, bags.row(first + i), scratch.row(i));
                    }
                    total = scratch.sum(n);
                } else {
                    total = sum(rows.data() + first, n, rows.size() - first - n);
                }
                map_lanes<S>([&](auto const& x) { return x / std::remove_cvref_t<decltype(x)>(divisor); }, width, total,
                             to);
            }
        });
        return {std::move(out), upper_levels(ids.lod())};
    }

    /// Returns one row of gradient for each id; also writes the gradients of the weights unless weight_grad is null.
    template <class T, class I>
    static SelectedRows<T> grad(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                                Tensor<T> const& out_grad, Pooling pool, Tensor<T>* weight_grad) {
        using S = sum_t<T>;
        check_ids(exec, "ids", ids.value(), height_of(table));
        std::span<std::int64_t const> const offsets = last_level(ids.lod());
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        check_height("out_grad", out_grad, static_cast<std::int64_t>(bags.bags));
        check_trailing("out_grad", out_grad, table.shape());
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = ids.value().size();
        auto value = Tensor<T>::zeros(shape);
        for_sequences(exec, offsets, width, [&](std::size_t bag, std::size_t end) {
            Buffer<S> best(width), total(width);
            Buffer<std::size_t> position(width);
            for (; bag < end; ++bag) {
                std::size_t const n = length_at(offsets, bag), first = bags.begin(bag);
                T const* const g = out_grad.data() + bag * width;
                S const divisor = bags.divisor(bag);
                if (n == 0 || divisor == constant<S>(0.0)) continue;
                if (pool == Pooling::max) {
                    largest(bags, bag, best, position);
                    for (std::size_t k = 0; k < width; ++k) {
                        std::size_t const i = first + position[k];
                        S const grad = dtype<T>::widen(g[k]);
                        value.data()[i * width + k] = dtype<T>::narrow(product(bags.weight(i), grad));
                        if (weight_grad == nullptr) continue;
                        T& w = weight_grad->data()[i];
                        w = dtype<T>::narrow(
                            plus(S(dtype<T>::widen(w)), product(S(dtype<T>::widen(bags.row(i)[k])), grad)));
                    }
                    continue;
                }
                for (std::size_t i = first; i < first + n; ++i) {
                    S const share = bags.weight(i) / divisor;
                    map_lanes<S>([&](auto const& x) { return product(x, std::remove_cvref_t<decltype(x)>(share)); },
                                 width, g, value.data() + i * width);
                }
                if (weight_grad == nullptr) continue;
                for (std::size_t k = 0; k < width; ++k) total[k] = bags.total(bag, k);
                for (std::size_t i = first; i < first + n; ++i)
                    store(bags.weight_grad(i, divisor, total.data(), g), weight_grad->data() + i);
            }
        });
        Buffer<std::int64_t> rows(ids.value().data(), ids.value().data() + ids.value().size());
        return SelectedRowsAccess::make(height_of(table), rows, std::move(value));
    }

private:
    /// Writes for each column the largest element of the weighted rows of a bag, and its position in the bag. Ties go
    /// to the first.
    template <class T, class I, class S>
    static void largest(Bags<T, I> const& bags, std::size_t bag, Buffer<S>& best, Buffer<std::size_t>& position) {
        std::size_t const first = bags.begin(bag);
        for (std::size_t i = first; i < bags.begin(bag + 1); ++i) {
            for (std::size_t k = 0; k < bags.width; ++k) {
                S const x = bags.weighted(i, k);
                if (i != first && !more_extreme<true>{}(x, best[k])) continue;
                best[k] = x;
                position[k] = i - first;
            }
        }
    }
};

}  // namespace rowan::inline v0::detail

// rowan/op/embedding_bag.hpp: embedding_bag, one pooled row for each bag of ids, with a row-sparse gradient.

namespace rowan::inline v0 {

/// The settings of embedding_bag.
struct BagOptions {
    /// sum, mean, sqrt (divides by the root of the number of ids, or of the sum of the squared weights) or max
    Pooling pool = Pooling::sum;

    static constexpr auto fields = std::tuple(field{"pool", &BagOptions::pool});
};

/// Pools the table rows of each bag, which is a sequence of ids of the last level, into one row: their sum, their mean,
/// their sum divided by the square root of the number of ids, or their element-wise maximum. The result has one level
/// less; the row of an empty bag is 0. Sums are formed in the order of the ids and in blocks of 64, as in merge. As
/// TensorFlow's embedding_lookup_sparse and PyTorch's EmbeddingBag.
/// shapes   table [h, ...], ids [n] with levels -> [bags, ...]
/// errors   ShapeError if ids have no levels or a rank other than 1, or table has rank 0; IndexError if an id is not in
///          [0, h); ValueError if the pool is another one
/// cost     one read of a table row for each id, without an intermediate copy, and two writes of the result (zeros,
///          then the rows); on the host temporary memory of 8 bytes per id; bags are divided among threads: the same
///          bits for any number of threads
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                              BagOptions const& options = {}) {
    Tensor<T, D> const* const weight = nullptr;
    detail::check_bags(exec, table, ids, weight, options.pool);
    return detail::BagLookups<D>::lookup(exec, table, ids, weight, options.pool);
}

/// The gradient of the table, one row for each id. For max, the gradient of each column is assigned to the first id
/// with the largest element.
/// shapes   out_grad [bags, ...] -> a SelectedRows of the table's shape with n rows
/// errors   as embedding_bag; ShapeError if out_grad does not have the shape of its result
/// cost     one read of out_grad and two writes of n rows (zeros, then the gradients); max also reads the table rows
template <class T, id_type I, device D>
SelectedRows<T, D> embedding_bag_grad(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                                      std::type_identity_t<Tensor<T, D>> const& out_grad,
                                      BagOptions const& options = {}) {
    Tensor<T, D>* const none = nullptr;
    detail::check_bags<T, I, D>(exec, table, ids, none, options.pool);
    return detail::BagLookups<D>::template grad<T, I>(exec, table, ids, none, out_grad, options.pool, none);
}

struct embedding_bag_grad_op {
    static constexpr std::string_view name = "lookup_bag_grad";
    using inputs = slots<slot::w, slot::ids, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::w>>;
    using attributes = BagOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const&, VarSpec const&, BagOptions const& = {}) {
        return {VarType::SELECTED_ROWS, w.dtype, w.dims, 0};
    }

    template <class T, class I, class D>
    static SelectedRows<T, D> run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids,
                                  LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, out_grad.value(), options);
    }
};

struct embedding_bag_op {
    static constexpr std::string_view name = "lookup_bag";  // the name in files
    using inputs = slots<slot::w, slot::ids>;
    using outputs = slots<slot::out>;
    using attributes = BagOptions;
    using grad = grad_rule<embedding_bag_grad_op>;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, BagOptions const& = {}) {
        spec::dense("lookup_bag: w", w);
        spec::has_rows("lookup_bag: w", w);
        spec::dense("lookup_bag: ids", ids);
        spec::ids("lookup_bag: ids", ids);
        spec::rank("lookup_bag: ids", ids, 1, "1");
        spec::has_levels("lookup_bag: ids", ids);
        Dims dims = w.dims;
        dims[0] = UNK;
        return {VarType::LOD_TENSOR, w.dtype, dims, ids.lod_level - 1};
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids,
                               BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/lookup_table_grad.hpp: lookup_table_grad, the gradient of gather with respect to its table.

namespace rowan::inline v0 {

namespace detail {

template <class Shape, class T, class D>
void check_looked_up(Shape const& ids, Tensor<T, D> const& out_grad, std::optional<std::int64_t> padding_id,
                     std::int64_t height) {
    auto const& shape = out_grad.shape();
    if (shape.size() < ids.size() || !std::equal(ids.begin(), ids.end(), shape.begin())) {
        throw ShapeError("out_grad.shape()", shape_text(shape),
                         "to begin with " + shape_text(ids) + ", the shape of ids");
    }
    if (padding_id && (*padding_id < 0 || *padding_id >= height))
        throw IndexError("padding_id", 0, *padding_id, height);
}

/// out_grad reshaped to one row per id.
template <class Shape, class T, class D>
Tensor<T, D> looked_up_rows(Shape const& ids, Tensor<T, D> out_grad) {
    if (ids.size() == 1) return out_grad;
    auto const& shape = out_grad.shape();
    Shape rows;
    rows.push_back(product_from(ids, 0));
    for (std::size_t i = ids.size(); i < shape.size(); ++i) rows.push_back(shape[i]);
    return out_grad.reshaped(rows);
}

/// Whether rows[k] is not the padding.
struct IsNotPadding {
    std::int64_t const* rows;
    std::int64_t padding;
    ROWAN_HD bool operator()(std::size_t k) const { return rows[k] != padding; }
};

}  // namespace detail

/// The gradient of `gather(table, ids)` with respect to the table, as SelectedRows: row `ids[i]` has the value
/// `out_grad[i]`. Duplicates are kept, in input order. Ids equal to `padding_id` are omitted; then a Thrust device
/// synchronizes once to get the number of rows, and throws the IndexError of a bad id itself.
/// shapes   ids of any shape, out_grad ids.shape + [...] -> a SelectedRows of that height and the row shape [...]
/// errors   ShapeError if height is negative, out_grad does not begin with ids.shape, or the value would have more than
///          8 dims; IndexError if an id or padding_id is not in [0, height)
/// cost     O(n) without padding_id, because out_grad becomes the value without a copy: pass it with std::move or as
///          out_grad.share(); O(n * width) with padding_id
template <class T, device D>
SelectedRows<T, D> lookup_table_grad(D const& exec, std::type_identity_t<Ids<D>> ids, Tensor<T, D> out_grad,
                                     Height height, std::optional<std::int64_t> padding_id = std::nullopt) {
    using Access = detail::SelectedRowsAccess;
    detail::check_looked_up(ids.shape(), out_grad, padding_id, height);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto rows = detail::RowNumbers<D>::checked(exec, "ids", ids, height);
    auto value = detail::looked_up_rows(ids.shape(), std::move(out_grad));
    if (!padding_id) return Access::adopt(height, std::move(rows), std::move(value));

    auto const kept = detail::RowGather<D>::where(exec, rows.size(), detail::IsNotPadding{rows.data(), *padding_id});
    return Access::adopt(height, detail::rows_at(exec, rows, kept), detail::rows_at(exec, value, kept));
}

template <class T, class Device>
SelectedRows<T, Device> lookup_table_grad(std::type_identity_t<Ids<Device>> ids, Tensor<T, Device> out_grad,
                                          Height height, std::optional<std::int64_t> padding_id = std::nullopt) {
    Device const exec = out_grad.device();
    return lookup_table_grad(exec, ids, std::move(out_grad), height, padding_id);
}

ROWAN_TEMPLATE(SelectedRows<float> lookup_table_grad(Cpu const&, Ids<>, Tensor<float>, Height,
                                                     std::optional<std::int64_t>))
ROWAN_TEMPLATE(SelectedRows<double> lookup_table_grad(Cpu const&, Ids<>, Tensor<double>, Height,
                                                      std::optional<std::int64_t>))

}  // namespace rowan::inline v0

// rowan/op/lookup_table.hpp: lookup_table, the rows of a table selected by ids, with a row-sparse gradient.

namespace rowan::inline v0 {

/// The settings of lookup_table.
struct LookupOptions {
    /// Rows for this id are zeros, and its table row gets no gradient.
    std::optional<std::int64_t> padding_id = {};

    static constexpr auto fields = std::tuple(field{"padding_id", &LookupOptions::padding_id});
};

namespace detail {

/// Writes 0 to the rows whose id is the padding id.
template <class T, class I>
struct PadElement {
    I const* ids;
    std::int64_t padding;
    T* to;
    std::size_t width;

    ROWAN_HD bool of_row(std::size_t row) const { return ids[row] == padding; }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(bool pad, std::size_t row, std::size_t column) const {
        if (pad) store(constant<sum_t<T>>(0.0), to + row * width + column);
    }
};

}  // namespace detail

/// As gather, but the rows of `padding_id` are zeros, whatever the table contains.
/// shapes   table [h, ...], ids of any shape -> ids.shape + [...]
/// errors   IndexError if an id or padding_id is not in [0, h); ShapeError if table has rank 0
/// cost     as gather
template <class T, id_type I, device D>
Tensor<T, D> lookup_table(D const& exec, Tensor<T, D> const& table, Tensor<I, D> const& ids,
                          LookupOptions const& options = {}) {
    detail::check_rows("table", table);
    if (auto const padding = options.padding_id; padding && (*padding < 0 || *padding >= detail::height_of(table)))
        throw IndexError("padding_id", 0, *padding, detail::height_of(table));
    auto out = gather(exec, table, ids);
    if (!options.padding_id) return out;
    std::size_t const width = table.row_size();
    detail::PadElement<T, I> const pad{ids.data(), *options.padding_id, out.data(), width};
    detail::ElementLoops<D>::each_element(exec, ids.size(), width, pad);
    return out;
}

template <class T, class I, class Device>
Tensor<T, Device> lookup_table(Tensor<T, Device> const& table, Tensor<I, Device> const& ids,
                               LookupOptions const& options = {}) {
    return lookup_table(table.device(), table, ids, options);
}

struct lookup_table_grad_op {
    static constexpr std::string_view name = "lookup_table_grad";
    using inputs = slots<slot::w, slot::ids, grad_of<slot::out>>;  // only the height of w is used
    using outputs = slots<grad_of<slot::w>>;
    static constexpr unsigned row_inputs = 0b110;
    static constexpr bool sums_rows = true;
    using attributes = LookupOptions;
    using grad = no_grad;

    /// The gradient is always row-sparse.
    static constexpr VarSpec infer(VarSpec const& w, VarSpec const&, VarSpec const&, LookupOptions const& = {}) {
        return {VarType::SELECTED_ROWS, w.dtype, w.dims, 0};
    }

    template <class T, class I, class D>
    static SelectedRows<T, D> run(D exec, Tensor<T, D> const& w, Tensor<I, D> const& ids, Tensor<T, D> const& out_grad,
                                  LookupOptions const& options = {}) {
        return lookup_table_grad(exec, ids, out_grad.share(), static_cast<std::int64_t>(w.shape(0)),
                                 options.padding_id);
    }
};

struct lookup_table_op {
    static constexpr std::string_view name = "lookup_table";
    using inputs = slots<slot::w, slot::ids>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b10;
    using attributes = LookupOptions;
    using grad = grad_rule<lookup_table_grad_op>;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, LookupOptions const& = {}) {
        spec::dense("lookup_table: w", w);
        spec::dense("lookup_table: ids", ids);
        spec::has_rows("lookup_table: w", w);
        spec::ids("lookup_table: ids", ids);
        Dims dims = ids.dims;
        for (std::size_t i = 1; i < w.dims.size(); ++i) dims.push_back(w.dims[i]);
        return {VarType::LOD_TENSOR, w.dtype, dims, ids.lod_level};
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& w, Tensor<I, D> const& ids, LookupOptions const& options = {}) {
        return lookup_table(exec, w, ids, options);
    }
};

}  // namespace rowan::inline v0

// rowan/op/weighted_embedding_bag.hpp: embedding_bag with a weight for each id.

namespace rowan::inline v0 {

/// embedding_bag with a weight for each id: mean divides by the sum of the weights and sqrt by the square root of the
/// sum of their squares, as TensorFlow's embedding_lookup_sparse does; max compares weighted rows element-wise. The row
/// of a bag with divisor 0 is 0.
/// shapes   weight [n]
/// errors   as without weights; ShapeError if weight does not have the shape of ids
/// cost     as without weights, and on the host temporary memory for the weighted rows of a bag
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                              std::type_identity_t<Tensor<T, D>> const& weight, BagOptions const& options = {}) {
    detail::check_bags(exec, table, ids, &weight, options.pool);
    return detail::BagLookups<D>::lookup(exec, table, ids, &weight, options.pool);
}

/// The gradients of the table, one row for each id, and of the weights.
/// shapes   out_grad [bags, ...] -> a SelectedRows of the table's shape with n rows; [n]
/// errors   as embedding_bag; ShapeError if out_grad does not have the shape of its result
/// cost     as without weights, and two reads of a table row for each id
template <class T, id_type I, device D>
std::tuple<SelectedRows<T, D>, Tensor<T, D>> embedding_bag_grad(D const& exec, Tensor<T, D> const& table,
                                                                LoDTensor<I, D> const& ids,
                                                                std::type_identity_t<Tensor<T, D>> const& weight,
                                                                std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                                BagOptions const& options = {}) {
    detail::check_bags(exec, table, ids, &weight, options.pool);
    auto weight_grad = Tensor<T, D>::zeros(exec, weight.shape());
    auto rows = detail::BagLookups<D>::grad(exec, table, ids, &weight, out_grad, options.pool, &weight_grad);
    return {std::move(rows), std::move(weight_grad)};
}

struct weighted_embedding_bag_grad_op {
    static constexpr std::string_view name = "weighted_bag_grad";
    using inputs = slots<slot::w, slot::ids, slot::weight, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::w>, grad_of<slot::weight>>;
    using attributes = BagOptions;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& w, VarSpec const&, VarSpec const& weight,
                                                  VarSpec const&, BagOptions const& = {}) {
        return {VarSpec{VarType::SELECTED_ROWS, w.dtype, w.dims, 0}, weight};
    }

    template <class T, class I, class D>
    static auto run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                    LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, weight, out_grad.value(), options);
    }
};

struct weighted_embedding_bag_op {
    static constexpr std::string_view name = "weighted_bag";  // the name in files
    using inputs = slots<slot::w, slot::ids, slot::weight>;
    using outputs = slots<slot::out>;
    using attributes = BagOptions;
    using grad = grad_rule<weighted_embedding_bag_grad_op>;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, VarSpec const& weight,
                                   BagOptions const& = {}) {
        spec::dense("weighted_bag: weight", weight);
        spec::same_dtype("weighted_bag: weight", weight, w);
        static_cast<void>(spec::same_dims("weighted_bag: weight", weight, ids));
        return embedding_bag_op::infer(w, ids);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                               BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, weight, options);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/embedding.hpp: layer::embedding, lookups of ids or bags of ids in a trainable table.

namespace rowan::inline v0::layer {

/// The settings of an embedding and its table.
struct EmbeddingOptions {
    std::int64_t height = 0;                      ///< number of rows of the table
    std::int64_t width = 0;                       ///< number of elements per row
    std::optional<std::int64_t> padding_id = {};  ///< id whose row reads as zeros and is not trained
    Uniform table = {-0.1, 0.1};                  ///< initial values of the table
    std::string name = {};                        ///< name of the table
};

/// Creates a table, which several embeddings may share.
/// shapes   [options.height, options.width]
/// errors   as layer::parameter
/// cost     one parameter in the net
template <class T = float, class Device = Cpu>
Var<T, Device> embedding_table(EmbeddingOptions const& options) {
    return parameter<T, Device>({options.height, options.width}, options.table, options.name);
}

/// Returns one row of the table for each id. The table's gradient is row-sparse.
/// shapes   ids [...] -> ids.shape + [width], with the levels of ids
/// errors   as embedding_table, if it creates the table; when the net runs, as rowan::lookup_table
/// cost     as rowan::lookup_table, when the net runs; for the gradient as rowan::lookup_table_grad
template <class I, class T, class Device>
Var<T, Device> embedding(Var<I, Device> const& ids, Var<T, Device> const& table, LookupOptions const& options = {}) {
    return apply<lookup_table_op>(options, table, ids);
}
template <class T = float, class I, class Device>
Var<T, Device> embedding(Var<I, Device> const& ids, EmbeddingOptions const& options) {
    return embedding(ids, embedding_table<T, Device>(options), {options.padding_id});
}

/// PyTorch's EmbeddingBag: one row for each sequence of ids, the sum, mean, … of their rows.
/// shapes   ids [n] with levels -> [sequences, width]
/// errors   ShapeError if ids have no levels or their rank is not 1; as embedding_table, if it creates the table; when
///          the net runs, as rowan::embedding_bag
/// cost     as rowan::embedding_bag, when the net runs
template <class I, class T, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, Var<T, Device> const& table, BagOptions const& options) {
    return apply<embedding_bag_op>(options, table, ids);
}
template <class T = float, class I, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, EmbeddingOptions const& options, BagOptions const& bag) {
    return embedding_bag(ids, embedding_table<T, Device>(options), bag);
}

/// The same with a weight for each id, as TensorFlow's embedding_lookup_sparse; the weights have a gradient, too.
/// shapes   weight [n]
/// errors   as without weights; when the net runs, ShapeError if the numbers of weights and ids differ
/// cost     as without weights; the weighted rows of a bag are stored temporarily
template <class I, class T, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, Var<T, Device> const& weight, Var<T, Device> const& table,
                             BagOptions const& options) {
    return apply<weighted_embedding_bag_op>(options, table, ids, weight);
}

ROWAN_TEMPLATE(Var<float> embedding(Var<std::int64_t> const&, Var<float> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_bag(Var<std::int64_t> const&, Var<float> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<float> embedding(Var<std::int32_t> const&, Var<float> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_bag(Var<std::int32_t> const&, Var<float> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<double> embedding(Var<std::int64_t> const&, Var<double> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<double> embedding_bag(Var<std::int64_t> const&, Var<double> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<double> embedding(Var<std::int32_t> const&, Var<double> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<double> embedding_bag(Var<std::int32_t> const&, Var<double> const&, BagOptions const&))

}  // namespace rowan::inline v0::layer

// rowan/op/detail/factor.hpp: Factor, an operand of a matrix product.

namespace rowan::inline v0::detail {

/// A matrix in row-major memory, or its transpose.
template <class T>
struct Factor {
    T const* data;
    std::size_t columns;  // of the matrix in memory
    bool transposed = false;

    T const* at(std::size_t i, std::size_t j) const {
        return transposed ? data + j * columns + i : data + i * columns + j;
    }
    std::size_t next_row() const { return transposed ? 1 : columns; }
    std::size_t next_column() const { return transposed ? columns : 1; }
};

}  // namespace rowan::inline v0::detail

// rowan/op/detail/gemm.hpp: matrix products of float or double with the widest instructions of the processor.

namespace rowan::inline v0::detail {

/// out [m, n] = a [m, k] · b [k, n], or += if `add`, on one thread. Rows of out are next_out elements apart.
template <class S>
void multiply_serial(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out,
                     std::size_t next_out, bool add);

}  // namespace rowan::inline v0::detail

// rowan/op/detail/tiles.hpp: tiled matrix products for each instruction set.

#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
#define ROWAN_X86_TILES
#include <immintrin.h>
#endif

namespace rowan::inline v0::detail {

/// The operands of a tile: rows of a, and a panel of b that stores `width` elements of each of its k rows contiguously.
template <class S>
struct TileFactors {
    std::size_t k;
    S const* a;
    std::size_t next_row, next_column;  // strides of a
    S const* panel;
    bool add;  // accumulate into out
};

// Each element of the product is ((c + a0·b0) + a1·b1) + …, where each step is a fused multiply-add and rounds once.
// The bits are the same for any instruction set with fused multiply-add, any block size and any number of threads.
// `out` has rows of two vectors, `next_out` elements apart.
#ifdef __clang__
#define ROWAN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ROWAN_UNROLL _Pragma("GCC unroll 12")
#endif
#define ROWAN_TILE(NAME, TARGET, S, LANES, VECTOR, LOAD, STORE, BROADCAST, FMA)                          \
    struct NAME {                                                                                        \
        static constexpr std::size_t width = 2 * LANES;                                                  \
        template <std::size_t rows>                                                                      \
        [[gnu::target(TARGET)]] static void run(TileFactors<S> const& f, S* out, std::size_t next_out) { \
            VECTOR sum[rows][2];                                                                         \
            ROWAN_UNROLL                                                                                 \
            for (std::size_t i = 0; i < rows; ++i) {                                                     \
                sum[i][0] = f.add ? LOAD(out + i * next_out) : BROADCAST(S{0});                          \
                sum[i][1] = f.add ? LOAD(out + i * next_out + LANES) : BROADCAST(S{0});                  \
            }                                                                                            \
            S const* b = f.panel;                                                                        \
            for (std::size_t l = 0; l < f.k; ++l, b += width) {                                          \
                VECTOR const b0 = LOAD(b), b1 = LOAD(b + LANES);                                         \
                ROWAN_UNROLL                                                                             \
                for (std::size_t i = 0; i < rows; ++i) {                                                 \
                    VECTOR const x = BROADCAST(f.a[i * f.next_row + l * f.next_column]);                 \
                    sum[i][0] = FMA(x, b0, sum[i][0]);                                                   \
                    sum[i][1] = FMA(x, b1, sum[i][1]);                                                   \
                }                                                                                        \
            }                                                                                            \
            ROWAN_UNROLL                                                                                 \
            for (std::size_t i = 0; i < rows; ++i) {                                                     \
                STORE(out + i * next_out, sum[i][0]);                                                    \
                STORE(out + i * next_out + LANES, sum[i][1]);                                            \
            }                                                                                            \
        }                                                                                                \
    }

#ifdef ROWAN_X86_TILES
#ifdef __NVCC__  // nvcc passes GCC's pragma on and warns about it
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
ROWAN_TILE(Avx512Float, "avx512f", float, 16, __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
           _mm512_fmadd_ps);
ROWAN_TILE(Avx512Double, "avx512f", double, 8, __m512d, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd,
           _mm512_fmadd_pd);
ROWAN_TILE(Avx2Float, "avx2,fma", float, 8, __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps);
ROWAN_TILE(Avx2Double, "avx2,fma", double, 4, __m256d, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd,
           _mm256_fmadd_pd);
#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif
#undef ROWAN_TILE
#undef ROWAN_UNROLL

/// For other instruction sets; uses fused multiply-add if the compiler has a fast one.
template <class S>
struct PlainTile {
    static constexpr std::size_t width = 16;

    template <std::size_t rows>
    static void run(TileFactors<S> const& f, S* out, std::size_t next_out) {
        S sum[rows][width];
        for (std::size_t i = 0; i < rows; ++i) {
            f.add ? std::copy_n(out + i * next_out, width, sum[i]) : std::fill_n(sum[i], width, S{0});
        }
        for (std::size_t l = 0; l < f.k; ++l) {
            for (std::size_t i = 0; i < rows; ++i) {
                S const x = f.a[i * f.next_row + l * f.next_column];
                for (std::size_t j = 0; j < width; ++j) sum[i][j] = fused(x, f.panel[l * width + j], sum[i][j]);
            }
        }
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(sum[i], width, out + i * next_out);
    }

    static S fused(S a, S b, S c) {
#if defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)
        return std::fma(a, b, c);
#else
        return a * b + c;
#endif
    }
};

/// Copies `columns` elements of each of `steps` rows of b contiguously, padded with zeros to `width`.
template <std::size_t width, class S>
void fill_panel(S const* b, std::size_t next_row, std::size_t next_column, std::size_t steps, std::size_t columns,
                S* panel) {
    if (next_column == 1 && columns == width) {
        for (std::size_t l = 0; l < steps; ++l) std::memcpy(panel + l * width, b + l * next_row, width * sizeof(S));
        return;
    }
    if (columns < width) std::fill_n(panel, steps * width, S{0});
    if (next_column == 1) {
        for (std::size_t l = 0; l < steps; ++l) std::copy_n(b + l * next_row, columns, panel + l * width);
        return;
    }
    std::size_t l = 0;
#ifdef ROWAN_X86_TILES
    if constexpr (sizeof(S) == sizeof(float)) {
        for (; l + 4 <= steps; l += 4) {
            for (std::size_t j = 0; j + 4 <= columns; j += 4) {
                S const* const from = b + l * next_row + j * next_column;
                __m128 r0 = _mm_loadu_ps(from), r1 = _mm_loadu_ps(from + next_column),
                       r2 = _mm_loadu_ps(from + 2 * next_column), r3 = _mm_loadu_ps(from + 3 * next_column);
                _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
                S* const to = panel + l * width + j;
                _mm_storeu_ps(to, r0);
                _mm_storeu_ps(to + width, r1);
                _mm_storeu_ps(to + 2 * width, r2);
                _mm_storeu_ps(to + 3 * width, r3);
            }
            for (std::size_t j = columns / 4 * 4; j < columns; ++j) {
                for (std::size_t s = l; s < l + 4; ++s) panel[s * width + j] = b[s * next_row + j * next_column];
            }
        }
    }
#endif
    for (; l < steps; ++l) {
        for (std::size_t j = 0; j < columns; ++j) panel[l * width + j] = b[l * next_row + j * next_column];
    }
}

/// out [m, n] = a [m, k] · b [k, n], or += if `add`, on one thread. `most` is the number of rows of the largest tile.
template <class Tile, std::size_t most, class S>
void multiply_tiles(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, std::size_t next_out,
                    bool add) {
    constexpr std::size_t width = Tile::width, depth = 256, block = 512;
    alignas(64) S panel[depth * width];
    alignas(64) S partial[most * width];
    if (k == 0 && !add) {
        for (std::size_t i = 0; i < m; ++i) std::fill_n(out + i * next_out, n, S{0});
    }
    for (std::size_t top = 0; top < m; top += block) {
        std::size_t const bottom = std::min(m, top + block);
        for (std::size_t j = 0; j < n; j += width) {
            std::size_t const columns = std::min(width, n - j);
            for (std::size_t l = 0; l < k; l += depth) {
                std::size_t const steps = std::min(depth, k - l);
                fill_panel<width>(b.at(l, j), b.next_row(), b.next_column(), steps, columns, panel);
                auto const tile = [&]<std::size_t rows>(std::size_t i) {
                    TileFactors<S> const factors{steps, a.at(i, l), a.next_row(), a.next_column(), panel, add || l > 0};
                    S* const to = out + i * next_out + j;
                    if (columns == width) return Tile::template run<rows>(factors, to, next_out);
                    for (std::size_t r = 0; r < rows && factors.add; ++r) {
                        std::copy_n(to + r * next_out, columns, partial + r * width);
                        std::fill_n(partial + r * width + columns, width - columns, S{0});
                    }
                    Tile::template run<rows>(factors, partial, width);
                    for (std::size_t r = 0; r < rows; ++r) std::copy_n(partial + r * width, columns, to + r * next_out);
                };
                std::size_t i = top;
                for (; i + most <= bottom; i += most) tile.template operator()<most>(i);
                if constexpr (most > 8)
                    for (; i + 8 <= bottom; i += 8) tile.template operator()<8>(i);
                for (; i + 4 <= bottom; i += 4) tile.template operator()<4>(i);
                for (; i + 2 <= bottom; i += 2) tile.template operator()<2>(i);
                for (; i < bottom; ++i) tile.template operator()<1>(i);
            }
        }
    }
}

}  // namespace rowan::inline v0::detail

// rowan/op/detail/gemm_inl.hpp: definitions of rowan/op/detail/gemm.hpp.

#if ROWAN_DEFINES_FUNCTIONS

#include <type_traits>

namespace rowan::inline v0::detail {

template <class S>
void multiply_serial(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out,
                     std::size_t next_out, bool add) {
#ifdef ROWAN_X86_TILES
    constexpr bool single = sizeof(S) == sizeof(float);
    if (__builtin_cpu_supports("avx512f"))
        return multiply_tiles<std::conditional_t<single, Avx512Float, Avx512Double>, 12>(m, n, k, a, b, out, next_out,
                                                                                         add);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return multiply_tiles<std::conditional_t<single, Avx2Float, Avx2Double>, 6>(m, n, k, a, b, out, next_out, add);
#endif
    multiply_tiles<PlainTile<S>, 4>(m, n, k, a, b, out, next_out, add);
}

}  // namespace rowan::inline v0::detail

#endif

namespace rowan::inline v0::detail {

ROWAN_TEMPLATE(void multiply_serial(std::size_t, std::size_t, std::size_t, Factor<float>, Factor<float>, float*,
                                    std::size_t, bool))
ROWAN_TEMPLATE(void multiply_serial(std::size_t, std::size_t, std::size_t, Factor<double>, Factor<double>, double*,
                                    std::size_t, bool))

}  // namespace rowan::inline v0::detail

// rowan/op/detail/matmul.hpp: multithreaded matrix products of any element type.

#ifdef ROWAN_BLAS
#if !__has_include(<xtensor-blas/xblas_config.hpp>)
#error "rowan: ROWAN_BLAS needs xtensor-blas (Debian: libxtensor-blas-dev)"
#endif
#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>

#include <limits>
#include <mutex>
#endif

namespace rowan::inline v0::detail {

#ifdef ROWAN_BLAS
/// out [m, n] = a [m, k] · b [k, n], or += if `add`, by the program's BLAS. Calls are serialized, because not every
/// BLAS is thread-safe.
template <class S>
void multiply_by_blas(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, bool add) {
    constexpr std::size_t most = std::numeric_limits<xt::blas_index_t>::max();
    for (std::size_t const dim : {m, n, k, a.columns, b.columns}) {
        if (dim > most)
            throw ShapeError("matrix dim", std::to_string(dim), "at most " + std::to_string(most) + " for this BLAS");
    }
    if (m == 0 || n == 0) return;
    auto const index = [](std::size_t x) { return static_cast<xt::blas_index_t>(std::max<std::size_t>(x, 1)); };
    auto const meant = [](Factor<S> const& f) { return f.transposed ? cxxblas::Trans : cxxblas::NoTrans; };
    static std::mutex mutex;
    std::scoped_lock const lock(mutex);
    cxxblas::gemm(cxxblas::RowMajor, meant(a), meant(b), index(m), index(n), static_cast<xt::blas_index_t>(k), S{1},
                  a.data, index(a.columns), b.data, index(b.columns), add ? S{1} : S{0}, out, index(n));
}
#endif

/// out [m, n] = a [m, k] · b [k, n], or += if `add`. Threads divide the rows or columns of out, whichever are more.
template <class S>
requires is_machine_float<S>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, bool add) {
#ifdef ROWAN_BLAS
    check_exec(exec);
    multiply_by_blas(m, n, k, a, b, out, add);
#else
    // step: a multiple of all tile sizes; serial: the number of multiplications below which one thread runs
    constexpr std::size_t step = 96, serial = std::size_t{1} << 21;
    bool const rows = m >= n;
    std::size_t const many = rows ? m : n, threads = static_cast<std::size_t>(thread_count(exec));
    bool const one = k == 0 || m * n < serial / std::max<std::size_t>(k, 1);
    std::size_t const grain = one ? many : (many / (2 * threads * step) + 1) * step;
    parallel_for(exec, many, grain, [&](std::size_t begin, std::size_t end) {
        if (rows) {
            Factor<S> const part{a.at(begin, 0), a.columns, a.transposed};
            multiply_serial(end - begin, n, k, part, b, out + begin * n, n, add);
        } else {
            Factor<S> const part{b.at(0, begin), b.columns, b.transposed};
            multiply_serial(m, end - begin, k, a, part, out + begin, n, add);
        }
    });
#endif
}

/// The same for other types, computed in S = dtype<T>::sum: by the function above if S is float or double, else by
/// three nested loops.
template <class T>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out, bool add) {
    using S = sum_t<T>;
    Buffer<S> wide_a(m * k), wide_b(k * n), wide_out(m * n);
    copy_lanes<S>(m * k, a.data, wide_a.data());
    copy_lanes<S>(k * n, b.data, wide_b.data());
    if (add) copy_lanes<S>(m * n, static_cast<T const*>(out), wide_out.data());
    if constexpr (is_machine_float<S>) {
        multiply(exec, m, n, k, Factor<S>{wide_a.data(), a.columns, a.transposed},
                 Factor<S>{wide_b.data(), b.columns, b.transposed}, wide_out.data(), add);
    } else {
        auto const element = [](Factor<T> const& f, Buffer<S> const& wide, std::size_t i, std::size_t j) {
            return f.transposed ? wide[j * f.columns + i] : wide[i * f.columns + j];
        };
        std::size_t const grain = std::max<std::size_t>((std::size_t{1} << 16) / std::max<std::size_t>(n * k, 1), 1);
        parallel_for(exec, m, grain, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    S sum = add ? wide_out[i * n + j] : constant<S>(0.0);
                    for (std::size_t l = 0; l < k; ++l)
                        sum = plus(sum, product(element(a, wide_a, i, l), element(b, wide_b, l, j)));
                    wide_out[i * n + j] = sum;
                }
            }
        });
    }
    copy_lanes<S>(m * n, static_cast<S const*>(wide_out.data()), out);
}

/// Multiplies matrices on a device. The Thrust specialization is in rowan/thrust/op/matmul.hpp.
template <class D>
struct Products {
    static_assert(has_backend<D>, "rowan: products of matrices on a Thrust device need #include <rowan/thrust/op.hpp>");
};

template <>
struct Products<Cpu> {
    template <class T>
    static void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out,
                         bool add) {
        detail::multiply<T>(exec, m, n, k, a, b, out, add);
    }
};

}  // namespace rowan::inline v0::detail

// rowan/op/matmul.hpp: matmul, the product of two matrices, and its operators.

namespace rowan::inline v0 {

/// The matrix product x · y, after transposing the operands whose flags are set.
/// shapes   x [n, k], y [k, m], each after its transposition -> [n, m]
/// errors   ShapeError if an operand is not a matrix or the inner dims differ
/// cost     2 · n · k · m operations; the same bits for any number of threads, on Cuda the bits of cuBLAS
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, bool transpose_x = false,
                    bool transpose_y = false) {
    detail::check_rank("x", x, 2);
    detail::check_rank("y", y, 2);
    std::size_t const n = x.shape(transpose_x ? 1 : 0), k = x.shape(transpose_x ? 0 : 1),
                      m = y.shape(transpose_y ? 0 : 1);
    if (std::size_t const inner = y.shape(transpose_y ? 1 : 0); inner != k) {
        throw ShapeError(transpose_y ? "y.shape(1)" : "y.shape(0)", std::to_string(inner),
                         std::to_string(k) + ", the inner dim of x");
    }
    detail::ElementLoops<D>::check(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {n, m});
    detail::Products<D>::template multiply<T>(exec, n, m, k, {x.data(), x.shape(1), transpose_x},
                                              {y.data(), y.shape(1), transpose_y}, out.data(), false);
    return out;
}

template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, bool transpose_x = false,
                         bool transpose_y = false) {
    return matmul(x.device(), x, y, transpose_x, transpose_y);
}

template <bool transpose_x, bool transpose_y>
struct matmul_op;

/// x · y. The other two are its gradients.
using mul_op = matmul_op<false, false>;
using mul_nt_op = matmul_op<false, true>;  ///< x · yᵀ, the gradient of x in x · y
using mul_tn_op = matmul_op<true, false>;  ///< xᵀ · y, the gradient of y in x · y

namespace detail {

template <bool transpose_x, bool transpose_y>
struct matmul_grad;
template <>
struct matmul_grad<false, false> {  // x · y
    using type = grad_rules<grad_rule<mul_nt_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_tn_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};
template <>
struct matmul_grad<false, true> {  // x · yᵀ
    using type = grad_rules<grad_rule<mul_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_tn_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;
};
template <>
struct matmul_grad<true, false> {  // xᵀ · y
    using type = grad_rules<grad_rule<mul_nt_op, uses<slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};

}  // namespace detail

template <bool transpose_x, bool transpose_y>
struct matmul_op {
    static_assert(!(transpose_x && transpose_y), "rowan::matmul_op: transpose the product instead of both factors");
    static constexpr std::string_view name = transpose_x ? "mul_tn" : transpose_y ? "mul_nt" : "mul";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = transpose_x ? 0b11 : 0b01;
    static constexpr bool sums_rows = transpose_x;
    using grad = typename detail::matmul_grad<transpose_x, transpose_y>::type;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::matrix("mul: x", x);
        spec::matrix("mul: y", y);
        spec::same_dtype("mul: y", y, x);
        spec::same_dim("mul: the inner dim of y", y.dims[transpose_y ? 1 : 0], x.dims[transpose_x ? 0 : 1]);
        return {VarType::LOD_TENSOR,
                x.dtype,
                {x.dims[transpose_x ? 1 : 0], y.dims[transpose_y ? 0 : 1]},
                transpose_x ? 0 : x.lod_level};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return matmul(exec, x, y, transpose_x, transpose_y);
    }
};

}  // namespace rowan::inline v0

// rowan/op/sum_rows.hpp: sum_rows, the sum of the rows of a tensor, and its adjoint expand_rows.

namespace rowan::inline v0 {

namespace detail {

/// Sums the n > 0 rows of a matrix on a device. The Thrust specialization is in rowan/thrust/op/sum_rows.hpp.
template <class D>
struct ColumnSums;

template <>
struct ColumnSums<Cpu> {
    template <class T>
    static void sum(Cpu, std::size_t n, std::size_t width, T const* x, T* out) {
        using S = sum_t<T>;
        Buffer<std::int64_t> positions(n);
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        BlockSum<T, S> sum(x, width, n);
        copy_lanes<S>(width, sum(positions.data(), n, 0), out);
    }
};

}  // namespace detail

/// The sum over the rows, such as the gradient of a bias. Sums are formed in input order and in blocks of 64, as in
/// merge.
/// shapes   x [n, ...] -> [...]
/// errors   ShapeError if x has rank 0
/// cost     one read of x; temporary memory: on the host 8 bytes per row, on a device the sums of blocks of 64 rows
template <class T, device D>
Tensor<T, D> sum_rows(D const& exec, Tensor<T, D> const& x) {
    detail::ElementLoops<D>::check(exec, x);
    detail::check_rows("x", x);
    typename Tensor<T, D>::shape_type shape;
    for (std::size_t i = 1; i < x.dimension(); ++i) shape.push_back(x.shape(i));
    auto out = Tensor<T, D>::zeros(exec, shape);
    if (x.shape(0) != 0) detail::ColumnSums<D>::sum(exec, x.shape(0), x.row_size(), x.data(), out.data());
    return out;
}

template <class T, class Device>
Tensor<T, Device> sum_rows(Tensor<T, Device> const& x) {
    return sum_rows(x.device(), x);
}

/// Repeats a row for each row of `like`: the adjoint of sum_rows.
/// shapes   row [...], like [n, ...] -> the shape of like
/// errors   ShapeError if like has rank 0 or row does not have the shape of its rows
/// cost     one write of the result
template <class T, device D>
Tensor<T, D> expand_rows(D const& exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
    detail::check_rows("like", like);
    detail::ElementLoops<D>::check(exec, row, like);
    if (!std::equal(row.shape().begin(), row.shape().end(), like.shape().begin() + 1, like.shape().end()))
        throw ShapeError("row.shape()", detail::shape_text(row.shape()),
                         "that of the rows of like, " + detail::shape_text(like.shape()));
    auto out = detail::new_tensor<T>(exec, like.shape());
    detail::ElementLoops<D>::repeat_row(exec, like.shape(0), row.size(), row.data(), out.data());
    return out;
}

struct expand_rows_op;

struct sum_rows_op {
    static constexpr std::string_view name = "sum_rows";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    static constexpr bool sums_rows = true;
    using grad = grad_rule<expand_rows_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("sum_rows: x", x);
        spec::has_rows("sum_rows: x", x);
        Dims dims;
        for (std::size_t i = 1; i < x.dims.size(); ++i) dims.push_back(x.dims[i]);
        return {VarType::LOD_TENSOR, x.dtype, dims, 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return sum_rows(exec, x);
    }
};

struct expand_rows_op {
    static constexpr std::string_view name = "expand_rows";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<sum_rows_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& row, VarSpec const& like) {
        spec::dense("expand_rows: x", row);
        spec::dense("expand_rows: y", like);
        spec::same_dtype("expand_rows: y", like, row);
        spec::rank("expand_rows: y", like, row.dims.size() + 1, "one more than that of x");
        for (std::size_t i = 0; i < row.dims.size(); ++i)
            spec::same_dim("expand_rows: a dim of y", like.dims[i + 1], row.dims[i]);
        return like;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
        return expand_rows(exec, row, like);
    }
};

}  // namespace rowan::inline v0

// rowan/op/fc.hpp: fc, a fully connected layer.

namespace rowan::inline v0 {

/// The affine map x · w + b.
/// shapes   x [n, inputs], w [inputs, outputs], b [outputs] -> [n, outputs]
/// errors   ShapeError if ranks or dims do not match
/// cost     2 · n · inputs · outputs operations; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> fc(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b) {
    detail::check_rank("x", x, 2);
    detail::check_rank("w", w, 2);
    std::size_t const n = x.shape(0), inputs = x.shape(1), outputs = w.shape(1);
    if (w.shape(0) != inputs)
        throw ShapeError("w.shape(0)", std::to_string(w.shape(0)), std::to_string(inputs) + ", the width of x");
    if (b.dimension() != 1 || b.shape(0) != outputs)
        throw ShapeError("b.shape()", detail::shape_text(b.shape()), "[" + std::to_string(outputs) + "]");
    detail::ElementLoops<D>::check(exec, x, w, b);
    auto out = detail::new_tensor<T>(exec, {n, outputs});
    detail::ElementLoops<D>::repeat_row(exec, n, outputs, b.data(), out.data());
    detail::Products<D>::template multiply<T>(exec, n, outputs, inputs, {x.data(), inputs}, {w.data(), outputs},
                                              out.data(), true);
    return out;
}

template <class T, class Device>
Tensor<T, Device> fc(Tensor<T, Device> const& x, Tensor<T, Device> const& w, Tensor<T, Device> const& b) {
    return fc(x.device(), x, w, b);
}

struct fc_op {
    static constexpr std::string_view name = "fc";
    using inputs = slots<slot::x, slot::w, slot::b>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b001;
    using grad = grad_rules<grad_rule<mul_nt_op, uses<grad_of<slot::out>, slot::w>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_tn_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::w>>>,
                            grad_rule<sum_rows_op, uses<grad_of<slot::out>>, makes<grad_of<slot::b>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, VarSpec const& b) {
        spec::matrix("fc: x", x);
        spec::matrix("fc: w", w);
        spec::dense("fc: b", b);
        spec::rank("fc: b", b, 1, "1");
        spec::same_dtype("fc: w", w, x);
        spec::same_dtype("fc: b", b, x);
        spec::same_dim("fc: w.shape(0)", w.dims[0], x.dims[1]);
        return {VarType::LOD_TENSOR,
                x.dtype,
                {x.dims[0], spec::same_dim("fc: b.shape(0)", b.dims[0], w.dims[1])},
                x.lod_level};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b) {
        return fc(exec, x, w, b);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/fc.hpp: layer::fc, a fully connected layer with its own parameters.

namespace rowan::inline v0::layer {

/// The settings of layer::fc.
struct FcOptions {
    std::int64_t output_size = 0;        ///< 0: the width of the input
    std::optional<Uniform> weight = {};  ///< initial weights; default xavier
    Uniform bias = {};                   ///< initial bias; default zeros
};

/// x · w + b
/// shapes   x [n, width] -> [n, output_size], with the levels of x
/// errors   ShapeError if x is not a matrix, or its width is unknown, except in the step of an RnnProgram, where the
///          width is inferred later if output_size is given; ValueError if output_size is negative
/// cost     as rowan::fc, when the net runs; two parameters in the net
template <class T, class Device>
Var<T, Device> fc(Var<T, Device> const& x, FcOptions const& options = {}) {
    spec::matrix("layer::fc: x", x->spec());
    std::int64_t const width = x->spec().dims[1];
    std::int64_t const size = options.output_size == 0 ? width : options.output_size;
    if (options.output_size < 0) throw ValueError("output_size", static_cast<double>(size), "0 or more");
    if (size == UNK) throw ShapeError("layer::fc: output_size", "0", "a number where the width of x is not known");
    auto const w = [&] {
        if (width != UNK || !rowan::detail::depends_on_placeholder(*x))
            return parameter<T, Device>({width, size}, options.weight.value_or(xavier(width, size)));
        Variable& v = rowan::detail::outermost_scope().new_var("", tensor_spec<T>({UNK, size}), Role::parameter);
        v.set_width = [size, weight = options.weight](Variable& self, std::int64_t known) {
            begin_with<T, Device>(self, {known, size}, weight.value_or(xavier(known, size)));
        };
        return Var<T, Device>(v);
    }();
    auto const b = parameter<T, Device>({size}, options.bias);
    return apply<fc_op>({}, x, w, b);
}

ROWAN_TEMPLATE(Var<float> fc(Var<float> const&, FcOptions const&))
ROWAN_TEMPLATE(Var<double> fc(Var<double> const&, FcOptions const&))

}  // namespace rowan::inline v0::layer

// rowan/layer/feeds.hpp: Feeds, the values of a batch by name.

namespace rowan::inline v0 {

/// The value of one variable: a Tensor or a LoDTensor. Copies share its elements.
class Feed {
public:
    /// A tensor, moved or copied in.
    template <class T, class Device>
    Feed(Tensor<T, Device> value) : Feed(LoDTensor<T, Device>(std::move(value))) {}
    /// The same with levels.
    /// errors   std::bad_alloc
    /// cost     one allocation, plus a copy of the tensor unless it is moved in
    template <class T, class Device>
    Feed(LoDTensor<T, Device> value) : value_(std::make_shared<Value>()) {
        value_->set(std::move(value));
    }

    /// Returns an alias of the value.
    /// errors   std::bad_alloc
    /// cost     O(1), one allocation
    Value value() const { return value_->share(); }

private:
    std::shared_ptr<Value> value_;
};

/// A batch: values by variable name, such as {{"words", words}, {"label", labels}}.
using Feeds = std::map<std::string, Feed, std::less<>>;

ROWAN_TEMPLATE(Feed::Feed(Tensor<float>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<double>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<bool>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<float>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<double>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<bool>))

}  // namespace rowan::inline v0

// rowan/layer/full.hpp: layer::full, a constant tensor.

namespace rowan::inline v0::layer {

/// A tensor of these dims filled with `value`. It is not a parameter: training does not change it.
///     auto margin = layer::full<double>({1}, 0.5);
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; when the net runs, ValueError if T is an integer type that cannot represent
///          value
/// cost     one write of the elements on every run of the net
template <class T = float, class Device = Cpu>
Var<T, Device> full(Dims const& dims, double value) {
    return Var<T, Device>(*default_scope().new_op<full_op<T>, Device>({}, {dims, value}).outputs[0]);
}

}  // namespace rowan::inline v0::layer

// rowan/sparse/update_rows.hpp: update_rows, applies an update rule to the rows of a gradient.

namespace rowan::inline v0 {

namespace detail {

template <class Rule, class T, class... P>
inline constexpr bool is_rule = std::is_invocable_v<Rule const&, std::span<sum_t<T> const>, std::span<P>...>;

template <class T>
std::span<T> row_of(Tensor<T>& tensor, std::size_t row, std::size_t width) {
    return {tensor.data() + row * width, width};
}

inline std::string state_name(std::size_t i) { return i == 0 ? "param" : "state " + std::to_string(i - 1); }

// The parameter must have the gradient's trailing dims; a state may have any trailing dims.
template <class D, class T, class P, class... S>
void check_targets(Tensor<T, D> const& value, std::int64_t height, Tensor<P, D> const& param,
                   Tensor<S, D> const&... state) {
    std::size_t i = 0;
    check_height(state_name(i++).c_str(), param, height);
    (check_height(state_name(i++).c_str(), state, height), ...);
    check_trailing("param", param, value.shape());
    check_all_apart(state_name, param, state...);
}

// Rows are written in another order than the gradient is read, so these tensors must not overlap it.
template <class D, class T, class... P>
void check_sparse_targets(Tensor<T, D> const& value, std::int64_t height, Tensor<P, D> const&... param) {
    check_targets(value, height, param...);
    check_all_apart(
        [](std::size_t i) { return i == sizeof...(P) ? std::string("the gradient's value") : state_name(i); }, param...,
        value);
}

// A written tensor may be grad itself but must not partially overlap it: a thread could read elements that another has
// already written.
template <class D, class T, class... P>
void check_dense_targets(Tensor<T, D> const& grad, Tensor<P, D> const&... param) {
    check_rows("grad", grad);
    check_targets(grad, height_of(grad), param...);
    auto const read = detail::bytes_of(grad);
    std::size_t i = 0;
    auto const check = [&](std::string const& name, std::span<std::byte const> written) {
        if (written.data() == read.data() && written.size() == read.size()) return;
        check_apart(name.c_str(), written, "other elements of grad", read);
    };
    (check(state_name(i++), detail::bytes_of(param)), ...);
}

/// Whether a rule is element-wise and requires tensors of one shape, so that the loop need not respect row boundaries.
template <class Rule>
inline constexpr bool is_elementwise = false;

/// Applies rules to rows.
template <class D>
struct RowUpdates {
    static_assert(has_backend<D>,
                  "rowan: update_rows on a Thrust device needs #include <rowan/thrust/sparse/update_rows.hpp>");
};

template <>
struct RowUpdates<Cpu> {
    template <class Rule, class T, class... P>
    static constexpr void check_rule() {
        static_assert(
            is_rule<Rule, T, P...>,
            "rowan::update_rows: the rule must take a span of const sums of the gradient, then a span for param "
            "and each state");
    }

    template <class T, class Rule, class... P>
    static void planned(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, Rule const& rule,
                        Tensor<P>&... param) {
        auto const rows = plan.rows();
        std::size_t const width = value.row_size();
        auto const prefetch = [&](std::size_t k) {
            (prefetch_row<true>(param.data() + static_cast<std::size_t>(rows[k]) * param.row_size(),
                                param.row_size() * sizeof(P)),
             ...);
        };
        RowSums<T>(exec, plan, value).run(prefetch, [&](std::size_t k, sum_t<T> const* sum) {
            rule(std::span<sum_t<T> const>(sum, width),
                 row_of(param, static_cast<std::size_t>(rows[k]), param.row_size())...);
        });
    }

    template <class T, class Rule, class... P>
    static void dense(Cpu exec, Tensor<T> const& grad, Rule const& rule, Tensor<P>&... param) {
        using S = sum_t<T>;
        constexpr bool flat = is_elementwise<Rule>;
        std::size_t const width = flat ? 1024 : grad.row_size();
        std::size_t const rows = flat ? (grad.size() + width - 1) / width : grad.shape()[0];
        std::size_t const grain = serial_below / 8 / std::max<std::size_t>(width, 1) + 1;
        int const threads = threads_for(exec, grad.size());
        if (rows == 0) return;
        detail::Buffer<detail::Buffer<S>> wide(static_cast<std::size_t>(threads),
                                               detail::Buffer<S>(std::is_same_v<S, T> ? 0 : width));
        std::atomic<std::size_t> next{0};
        team(threads, [&](int t, int) {
            auto& buffer = wide[static_cast<std::size_t>(t)];
            for (std::size_t begin = next.fetch_add(grain); begin < rows; begin = next.fetch_add(grain)) {
                for (std::size_t i = begin; i < std::min(rows, begin + grain); ++i) {
                    std::size_t const n = flat ? std::min(width, grad.size() - i * width) : width;
                    S const* g = nullptr;
                    if constexpr (std::is_same_v<S, T>) {
                        g = grad.data() + i * width;
                    } else {
                        copy_lanes<S>(n, grad.data() + i * width, buffer.data());
                        g = buffer.data();
                    }
                    if constexpr (flat) {
                        rule(std::span<S const>(g, n), std::span<P>(param.data() + i * width, n)...);
                    } else {
                        rule(std::span<S const>(g, n), row_of(param, i, param.row_size())...);
                    }
                }
            }
        });
    }
};

}  // namespace detail

/// Calls `rule(g, p, s...)` once for each row of `grad`: `g` is a span of the row's summed gradient in dtype<T>::sum,
/// `p` and `s...` are spans of that row of `param` and of each state. Other rows are unchanged. A dense `grad` has all
/// rows.
///
/// On a Thrust device the spans are RowSpans, and nvcc requires the rule to be `__host__ __device__` (ROWAN_HD). One
/// thread calls a user's rule for a whole row, with sums from temporary memory. The optimizers of rowan/sparse use
/// several threads per row and are bit-identical on all devices, except ftrl with an lr_power other than -0.5.
///
///     update_rows(grad, [](auto g, auto p, auto count) { … }, table, counts);
///
/// shapes   grad of height h and row shape [...], param [h, ...], each state [h, any dims]
/// requires   several threads may call the rule concurrently
/// errors   ShapeError if heights or row shapes do not match; Error if two of param, the states and a sparse gradient
///          share memory, or if one of param and the states partially overlaps a dense gradient, which may be one of
///          them itself; exceptions of the rule, after which some rows have been updated
/// cost     O(n * width) and a sort of the rows, for a dense gradient no sort; duplicates are summed as in merge,
///          without a merged gradient in memory
template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, SelectedRows<T, D> const& grad, Rule const& rule, Tensor<P, D>& param,
                 Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    SelectedRows<T, D>::check_value(grad.value(), grad.rows().size());
    detail::check_exec(exec);
    detail::check_sparse_targets(grad.value(), grad.height(), param, state...);
    detail::RowUpdates<D>::planned(exec, RowPlan<D>(exec, grad), grad.value(), rule, param, state...);
}

template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, Tensor<T, D> const& grad, Rule const& rule, Tensor<P, D>& param,
                 Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    detail::check_exec(exec);
    detail::check_dense_targets(grad, param, state...);
    detail::RowUpdates<D>::dense(exec, grad, rule, param, state...);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value,
                 Rule const& rule, Tensor<P, D>& param, Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    SelectedRows<T, D>::check_value(value, plan.size());
    detail::check_exec(exec);
    detail::check_sparse_targets(value, plan.height(), param, state...);
    detail::RowUpdates<D>::planned(exec, plan, value, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(SelectedRows<T, Device> const& grad, Rule const& rule, Tensor<P, Device>& param,
                 Tensor<S, Device>&... state) {
    update_rows(grad.device(), grad, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(Tensor<T, Device> const& grad, Rule const& rule, Tensor<P, Device>& param,
                 Tensor<S, Device>&... state) {
    update_rows(grad.device(), grad, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(RowPlan<Device> const& plan, Tensor<T, Device> const& value, Rule const& rule,
                 Tensor<P, Device>& param, Tensor<S, Device>&... state) {
    update_rows(plan.device(), plan, value, rule, param, state...);
}

}  // namespace rowan::inline v0

// rowan/sparse/detail/optimizer.hpp: LaneRule, an element-wise formula as a rule, and checks of the optimizers.

namespace rowan::inline v0::detail {

/// Whether `G` is a gradient type of optimizers on `D`.
template <class G, class D>
inline constexpr bool is_gradient_on = false;
template <class T, class D>
inline constexpr bool is_gradient_on<Tensor<T, D>, D> = true;
template <class T, class D>
inline constexpr bool is_gradient_on<SelectedRows<T, D>, D> = true;
template <class G, class D>
concept gradient_on = is_gradient_on<G, D>;

/// An element-wise formula as a rule for update_rows.
template <class Formula>
struct LaneRule {
    Formula formula;

    /// Calls f with the formula.
    template <class F>
    void visit(F const& f) const {
        f(formula);
    }

    template <class G, class... P>
    void operator()(std::span<G const> g, std::span<P>... rows) const {
        for_lanes<std::common_type_t<G, sum_t<P>...>>(formula, g.size(), g.data(), rows.data()...);
    }
};

template <class Formula>
inline constexpr bool is_elementwise<LaneRule<Formula>> = true;

/// Checks that a state has the shape of the parameter.
template <class P, class S, class D>
void check_state(char const* field, Tensor<P, D> const& param, Tensor<S, D> const& state) {
    if (state.shape() != param.shape()) {
        throw ShapeError(std::string(field) + ".shape()", shape_text(state.shape()),
                         shape_text(param.shape()) + ", the shape of param");
    }
}

template <class G, class... P>
constexpr void check_types() {
    static_assert((!std::integral<sum_t<P>> && ...),
                  "rowan: an optimizer needs fractions, and integers have none: use scatter_add");
    static_assert((computes_from<P, G, P...> && ...),
                  "rowan: these element types do not compute together: their dtype<T>::sum need a common type that "
                  "converts to each");
}

/// Checks that a number is finite in the type in which formulas over `P...` are computed.
template <class... P>
void check_setting(char const* field, double value) {
    check_finite(field, value);
    if constexpr (std::floating_point<compute_t<P...>>) {
        if (std::abs(value) > static_cast<double>(std::numeric_limits<compute_t<P...>>::max())) {
            throw ValueError(field, value, "a number that fits the type of computation");
        }
    }
}

/// Checks that a decay rate is in [0, 1).
inline void check_decay(char const* field, double value) {
    if (!(value >= 0.0 && value < 1.0)) throw ValueError(field, value, "a number in [0, 1)");
}

}  // namespace rowan::inline v0::detail

// rowan/op/detail/optimizer_op.hpp: optimizer_op, the base of the optimizers' operators.

namespace rowan::inline v0::detail {

/// The inputs are the parameter, the states and the gradient; there are no outputs: the slots in `updates` are modified
/// in place. The gradient may be dense or row-sparse; overload resolution selects the algorithm.
template <class Attributes, class... State>
struct optimizer_op {
    using inputs = slots<slot::param, State..., slot::grad>;
    using outputs = slots<>;
    using updates = slots<slot::param, State...>;
    using attributes = Attributes;
    using grad = no_grad;

    template <std::same_as<VarSpec>... Spec>
    static constexpr std::array<VarSpec, 0> infer(VarSpec const& param, Spec const&... states_and_grad) {
        static_assert(sizeof...(Spec) == sizeof...(State) + 1,
                      "rowan: an optimizer takes param, its states and a gradient");
        std::array<VarSpec, sizeof...(Spec)> const rest{states_and_grad...};
        spec::dense("optimizer: param", param);
        for (VarSpec const& spec : rest) {
            spec::has_rows("optimizer: a state or the gradient", spec);
            spec::same_dim("optimizer: the height of a state or the gradient", spec.dims[0], param.dims[0]);
        }
        for (std::size_t i = 0; i + 1 < rest.size(); ++i) spec::dense("optimizer: a state", rest[i]);
        static_cast<void>(spec::same_dims("optimizer: grad", rest[sizeof...(State)], param));
        return {};
    }
};

}  // namespace rowan::inline v0::detail

// rowan/sparse/adagrad.hpp: adagrad, AdaGrad with one state per element.

namespace rowan::inline v0 {

/// The options of adagrad and rowwise_adagrad.
struct AdagradOptions {
    double learning_rate = 0.01;  ///< the step size
    double epsilon = 1e-6;        ///< added to the square root
};

namespace detail {

template <class... P>
void check(AdagradOptions const& options) {
    check_setting<P...>("learning_rate", options.learning_rate);
    check_setting<P...>("epsilon", options.epsilon);
}

struct adagrad_formula {
    AdagradOptions options;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, V& m) const {
        m = m + product(g, g);
        V const root = square_root(m) + constant<V>(options.epsilon);
        p = p - quotient(product(constant<V>(options.learning_rate), g), root);
    }
};

template <class D, class P, class M>
LaneRule<adagrad_formula> make_adagrad_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment,
                                            AdagradOptions options) {
    check<P, M>(options);
    check_state("moment", param, moment);
    return {{options}};
}

}  // namespace detail

/// One step of AdaGrad (Duchi et al. 2011) on the rows of `grad` (duplicates summed first):
///     m += g²;  p -= learning_rate · g / (√m + epsilon)
/// shapes   param and moment [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     O(n * width) and a sort of the rows; every contribution is read once, every touched row read and written
///          once
template <device D, class P, class M, detail::gradient_on<D> G>
void adagrad(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment, G const& grad, AdagradOptions options = {}) {
    detail::check_types<typename G::value_type, P, M>();
    update_rows(exec, grad, detail::make_adagrad_rule(param, moment, options), param, moment);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class M, class G>
void adagrad(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment,
             Tensor<G, D> const& value, AdagradOptions options = {}) {
    detail::check_types<G, P, M>();
    update_rows(exec, plan, value, detail::make_adagrad_rule(param, moment, options), param, moment);
}

template <class P, class M, class G, class Device>
requires detail::gradient_on<G, Device>
void adagrad(Tensor<P, Device>& param, Tensor<M, Device>& moment, G const& grad, AdagradOptions options = {}) {
    adagrad(param.device(), param, moment, grad, options);
}

template <class P, class M, class G, class Device>
void adagrad(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment,
             Tensor<G, Device> const& value, AdagradOptions options = {}) {
    adagrad(plan.device(), plan, param, moment, value, options);
}

ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&, AdagradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, AdagradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                            AdagradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&, AdagradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&, AdagradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                            AdagradOptions))

}  // namespace rowan::inline v0

// rowan/op/adagrad.hpp: adagrad_op, AdaGrad as an operator.

namespace rowan::inline v0 {

/// See adagrad; the gradient may be dense or row-sparse.
struct adagrad_op : detail::optimizer_op<AdagradOptions, slot::moment> {
    static constexpr std::string_view name = "adagrad";

    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, G const& grad,
                    AdagradOptions const& options = {}) {
        adagrad(exec, param, moment, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/adam.hpp: adam, lazy Adam: rows that are not in the gradient are unchanged.

namespace rowan::inline v0 {

/// The options of adam.
struct AdamOptions {
    double learning_rate = 0.001;  ///< the step size
    double beta1 = 0.9;            ///< decay rate of the mean gradient, in [0, 1)
    double beta2 = 0.999;          ///< decay rate of the mean square, in [0, 1)
    double epsilon = 1e-8;         ///< added to the square root
    /// The number of this step, counted from 1 by the caller, including batches that touch no row.
    std::int64_t step = 1;
};

namespace detail {

struct adam_formula {
    AdamOptions options;
    double correction1;
    double correction2;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, V& m, V& v) const {
        m = product(constant<V>(options.beta1), m) + product(constant<V>(1.0 - options.beta1), g);
        v = product(constant<V>(options.beta2), v) + product(constant<V>(1.0 - options.beta2), product(g, g));
        V const mean = quotient(m, constant<V>(correction1));
        V const root = square_root(quotient(v, constant<V>(correction2))) + constant<V>(options.epsilon);
        p = p - quotient(product(constant<V>(options.learning_rate), mean), root);
    }
};

/// x to the n-th power by multiplications only, bit-identical with all math libraries.
inline double power(double x, std::int64_t n) {
    double result = 1.0;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1) result *= x;
        x *= x;
    }
    return result;
}

template <class D, class P, class M, class V>
LaneRule<adam_formula> make_adam_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment1,
                                      Tensor<V, D> const& moment2, AdamOptions options) {
    check_setting<P, M, V>("learning_rate", options.learning_rate);
    check_decay("beta1", options.beta1);
    check_decay("beta2", options.beta2);
    check_setting<P, M, V>("epsilon", options.epsilon);
    if (options.step < 1) throw ValueError("step", static_cast<double>(options.step), "1 or more");
    check_state("moment1", param, moment1);
    check_state("moment2", param, moment2);
    return {{options, 1.0 - power(options.beta1, options.step), 1.0 - power(options.beta2, options.step)}};
}

}  // namespace detail

/// One step of Adam (Kingma and Ba 2015) on the rows of `grad` (duplicates summed first):
///     m = beta1 · m + (1 - beta1) · g;  v = beta2 · v + (1 - beta2) · g²
///     p -= learning_rate · (m / (1 - beta1^step)) / (√(v / (1 - beta2^step)) + epsilon)
/// Lazy: rows that are not in `grad` are unchanged, and their moments do not decay. With a dense `grad` this is
/// standard Adam.
/// shapes   param, moment1 and moment2 [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, a beta not in [0, 1) or step less than 1; ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class M, class V, detail::gradient_on<D> G>
void adam(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment1, Tensor<V, D>& moment2, G const& grad,
          AdamOptions options = {}) {
    detail::check_types<typename G::value_type, P, M, V>();
    update_rows(exec, grad, detail::make_adam_rule(param, moment1, moment2, options), param, moment1, moment2);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class M, class V, class G>
void adam(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment1, Tensor<V, D>& moment2,
          Tensor<G, D> const& value, AdamOptions options = {}) {
    detail::check_types<G, P, M, V>();
    update_rows(exec, plan, value, detail::make_adam_rule(param, moment1, moment2, options), param, moment1, moment2);
}

template <class P, class M, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void adam(Tensor<P, Device>& param, Tensor<M, Device>& moment1, Tensor<V, Device>& moment2, G const& grad,
          AdamOptions options = {}) {
    adam(param.device(), param, moment1, moment2, grad, options);
}

template <class P, class M, class V, class G, class Device>
void adam(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment1, Tensor<V, Device>& moment2,
          Tensor<G, Device> const& value, AdamOptions options = {}) {
    adam(plan.device(), plan, param, moment1, moment2, value, options);
}

ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                         Tensor<float> const&, AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                         Tensor<double> const&, AdamOptions))

}  // namespace rowan::inline v0

// rowan/op/adam.hpp: adam_op, Adam as an operator.

namespace rowan::inline v0 {

/// See adam; the gradient may be dense or row-sparse.
struct adam_op : detail::optimizer_op<AdamOptions, slot::moment, slot::moment2> {
    static constexpr std::string_view name = "adam";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& moment2, G const& grad,
                    AdamOptions const& options = {}) {
        adam(exec, param, moment, moment2, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/ftrl.hpp: ftrl, FTRL-proximal, whose L1 penalty makes small weights exactly 0.

namespace rowan::inline v0 {

/// The options of ftrl.
struct FtrlOptions {
    double learning_rate = 0.01;  ///< the step size; not 0
    double l1 = 0.0;              ///< L1 penalty, which makes small parameters exactly 0
    double l2 = 0.0;              ///< L2 penalty
    double lr_power = -0.5;       ///< in [-1, 0]; the usual -0.5 uses the square root
};

namespace detail {

struct ftrl_formula {
    FtrlOptions options;

    /// x to the power -lr_power: the square root for -0.5, else std::pow per element, or the pow of the device's
    /// library.
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V grown(V const& x) const {
        if (options.lr_power == -0.5) return square_root(x);
        if constexpr (is_batch<V>) {
            alignas(64) typename V::value_type lane[V::size];
            x.store_unaligned(lane);
            for (auto& value : lane) value = std::pow(value, static_cast<typename V::value_type>(-options.lr_power));
            return V::load_unaligned(lane);
        } else {
            return pow_of(x, constant<V>(-options.lr_power));
        }
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, V& s, V& l) const {
        V const zero = constant<V>(0.0);
        V const l1 = constant<V>(options.l1 + 1e-10);
        V const rate = constant<V>(options.learning_rate);
        V const sum = s + product(g, g);
        V const power = grown(sum);
        l = l + g - product(quotient(V(power - grown(s)), rate), p);
        V const y = quotient(power, rate) + constant<V>(2.0 * (options.l2 + 1e-10));
        V const x = choose(l > zero, l1 - l, zero - l1 - l);
        p = choose(choose(l > zero, l, zero - l) > l1, quotient(x, y), zero);
        s = sum;
    }
};

template <class D, class P, class S, class L>
LaneRule<ftrl_formula> make_ftrl_rule(Tensor<P, D> const& param, Tensor<S, D> const& squared,
                                      Tensor<L, D> const& linear, FtrlOptions options) {
    check_setting<P, S, L>("learning_rate", options.learning_rate);
    if (options.learning_rate == 0.0) throw ValueError("learning_rate", 0.0, "another number than 0");
    check_setting<P, S, L>("l1", options.l1);
    check_setting<P, S, L>("l2", options.l2);
    if (!(options.lr_power >= -1.0 && options.lr_power <= 0.0))
        throw ValueError("lr_power", options.lr_power, "a number in [-1, 0]");
    check_state("squared", param, squared);
    check_state("linear", param, linear);
    return {{options}};
}

}  // namespace detail

/// One step of FTRL-proximal (McMahan et al. 2013) on the rows of `grad` (duplicates summed first),
/// with q = -lr_power:
///     n = s + g²;  l += g - (n^q - s^q) / learning_rate · p;  s = n
///     p = (l1 · sign(l) - l) / (n^q / learning_rate + 2 · l2) where |l| > l1, else 0     (1e-10 is added to l1 and l2)
/// shapes   param, squared and linear [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, learning_rate 0 or lr_power not in [-1, 0]; ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class S, class L, detail::gradient_on<D> G>
void ftrl(D const& exec, Tensor<P, D>& param, Tensor<S, D>& squared, Tensor<L, D>& linear, G const& grad,
          FtrlOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, L>();
    update_rows(exec, grad, detail::make_ftrl_rule(param, squared, linear, options), param, squared, linear);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class S, class L, class G>
void ftrl(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& squared, Tensor<L, D>& linear,
          Tensor<G, D> const& value, FtrlOptions options = {}) {
    detail::check_types<G, P, S, L>();
    update_rows(exec, plan, value, detail::make_ftrl_rule(param, squared, linear, options), param, squared, linear);
}

template <class P, class S, class L, class G, class Device>
requires detail::gradient_on<G, Device>
void ftrl(Tensor<P, Device>& param, Tensor<S, Device>& squared, Tensor<L, Device>& linear, G const& grad,
          FtrlOptions options = {}) {
    ftrl(param.device(), param, squared, linear, grad, options);
}

template <class P, class S, class L, class G, class Device>
void ftrl(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& squared, Tensor<L, Device>& linear,
          Tensor<G, Device> const& value, FtrlOptions options = {}) {
    ftrl(plan.device(), plan, param, squared, linear, value, options);
}

ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                         Tensor<float> const&, FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                         Tensor<double> const&, FtrlOptions))

}  // namespace rowan::inline v0

// rowan/op/ftrl.hpp: ftrl_op, FTRL-proximal as an operator.

namespace rowan::inline v0 {

/// See ftrl; the gradient may be dense or row-sparse.
struct ftrl_op : detail::optimizer_op<FtrlOptions, slot::moment, slot::linear> {
    static constexpr std::string_view name = "ftrl";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& linear, G const& grad,
                    FtrlOptions const& options = {}) {
        ftrl(exec, param, moment, linear, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/momentum.hpp: momentum, gradient descent with momentum.

namespace rowan::inline v0 {

/// The options of momentum.
struct MomentumOptions {
    double learning_rate = 0.01;  ///< the step size
    double momentum = 0.9;        ///< mu: the momentum factor
    bool nesterov = false;        ///< the step uses g + mu · v instead of v
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · p is added to the gradient of touched rows
};

namespace detail {

template <bool nesterov>
struct momentum_formula {
    MomentumOptions options;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& grad, V& p, V& v) const {
        V const g = options.weight_decay == 0.0 ? grad : grad + product(constant<V>(options.weight_decay), p);
        v = product(constant<V>(options.momentum), v) + g;
        V const step = nesterov ? g + product(constant<V>(options.momentum), v) : v;
        p = p - product(constant<V>(options.learning_rate), step);
    }
};

struct momentum_rule {
    MomentumOptions options;

    /// Calls f with the formula.
    template <class F>
    void visit(F const& f) const {
        options.nesterov ? f(momentum_formula<true>{options}) : f(momentum_formula<false>{options});
    }

    template <class G, class P, class M>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> v) const {
        visit([&]<class Formula>(Formula const& formula) { LaneRule<Formula>{formula}(g, p, v); });
    }
};

template <>
inline constexpr bool is_elementwise<momentum_rule> = true;

template <class D, class P, class M>
momentum_rule make_momentum_rule(Tensor<P, D> const& param, Tensor<M, D> const& velocity, MomentumOptions options) {
    check_setting<P, M>("learning_rate", options.learning_rate);
    check_setting<P, M>("momentum", options.momentum);
    check_setting<P, M>("weight_decay", options.weight_decay);
    check_state("velocity", param, velocity);
    return {options};
}

}  // namespace detail

/// One step of gradient descent with momentum (Sutskever et al. 2013) on the rows of `grad`
/// (duplicates summed first):
///     g += weight_decay · p;  v = mu · v + g;  p -= learning_rate · v
///     Nesterov: p -= learning_rate · (g + mu · v)
/// Lazy: rows that are not in `grad` are unchanged, and their velocity does not decay.
/// shapes   param and velocity [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that
///          shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad
template <device D, class P, class V, detail::gradient_on<D> G>
void momentum(D const& exec, Tensor<P, D>& param, Tensor<V, D>& velocity, G const& grad, MomentumOptions options = {}) {
    detail::check_types<typename G::value_type, P, V>();
    update_rows(exec, grad, detail::make_momentum_rule(param, velocity, options), param, velocity);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class V, class G>
void momentum(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<V, D>& velocity,
              Tensor<G, D> const& value, MomentumOptions options = {}) {
    detail::check_types<G, P, V>();
    update_rows(exec, plan, value, detail::make_momentum_rule(param, velocity, options), param, velocity);
}

template <class P, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void momentum(Tensor<P, Device>& param, Tensor<V, Device>& velocity, G const& grad, MomentumOptions options = {}) {
    momentum(param.device(), param, velocity, grad, options);
}

template <class P, class V, class G, class Device>
void momentum(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<V, Device>& velocity,
              Tensor<G, Device> const& value, MomentumOptions options = {}) {
    momentum(plan.device(), plan, param, velocity, value, options);
}

ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                             MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                             MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                             MomentumOptions))

}  // namespace rowan::inline v0

// rowan/op/momentum.hpp: momentum_op, gradient descent with momentum as an operator.

namespace rowan::inline v0 {

/// See momentum; the gradient may be dense or row-sparse.
struct momentum_op : detail::optimizer_op<MomentumOptions, slot::velocity> {
    static constexpr std::string_view name = "momentum";

    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& velocity, G const& grad,
                    MomentumOptions const& options = {}) {
        momentum(exec, param, velocity, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/rmsprop.hpp: rmsprop, RMSProp, also centered.

namespace rowan::inline v0 {

/// The options of rmsprop.
struct RmspropOptions {
    double learning_rate = 0.01;  ///< the step size
    double rho = 0.9;             ///< decay rate of the averages, in [0, 1)
    double momentum = 0.0;        ///< the momentum factor
    double epsilon = 1e-6;        ///< added inside the square root
};

namespace detail {

struct rmsprop_formula {
    RmspropOptions options;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V average(double rho, V const& mean, V const& x) {
        return product(constant<V>(rho), mean) + product(constant<V>(1.0 - rho), x);
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void move(V const& g, V const& variance, V& p, V& v) const {
        V const root = square_root(V(variance + constant<V>(options.epsilon)));
        v = product(constant<V>(options.momentum), v) + quotient(product(constant<V>(options.learning_rate), g), root);
        p = p - v;
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, V& ms, V& v) const {
        ms = average(options.rho, ms, product(g, g));
        move(g, ms, p, v);
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, V& ms, V& mg, V& v) const {
        ms = average(options.rho, ms, product(g, g));
        mg = average(options.rho, mg, g);
        move(g, V(ms - product(mg, mg)), p, v);
    }
};

template <class... P>
LaneRule<rmsprop_formula> make_rmsprop_rule(RmspropOptions const& options) {
    check_setting<P...>("learning_rate", options.learning_rate);
    check_decay("rho", options.rho);
    check_setting<P...>("momentum", options.momentum);
    check_setting<P...>("epsilon", options.epsilon);
    return {{options}};
}

template <class D, class P, class S, class V>
LaneRule<rmsprop_formula> make_rmsprop_rule(Tensor<P, D> const& param, Tensor<S, D> const& mean_square,
                                            Tensor<V, D> const& velocity, RmspropOptions const& options) {
    check_state("mean_square", param, mean_square);
    check_state("velocity", param, velocity);
    return make_rmsprop_rule<P, S, V>(options);
}

template <class D, class P, class S, class A, class V>
LaneRule<rmsprop_formula> make_rmsprop_rule(Tensor<P, D> const& param, Tensor<S, D> const& mean_square,
                                            Tensor<A, D> const& mean_grad, Tensor<V, D> const& velocity,
                                            RmspropOptions const& options) {
    check_state("mean_grad", param, mean_grad);
    return make_rmsprop_rule(param, mean_square, velocity, options);
}

}  // namespace detail

/// One step of RMSProp (Tieleman and Hinton 2012) on the rows of `grad` (duplicates summed first):
///     ms = rho · ms + (1 - rho) · g²;  v = momentum · v + learning_rate · g / √(ms + epsilon);  p -= v
/// Lazy: rows that are not in `grad` are unchanged, and their averages do not decay.
/// shapes   param, mean_square and velocity [height, ...], grad a SelectedRows of that height and row shape, or a
///          Tensor of that shape
/// errors   ValueError if an option is not finite or rho not in [0, 1); ShapeError if shapes do not match; Error as
///          update_rows
/// cost     as adagrad, with two states
template <device D, class P, class S, class V, detail::gradient_on<D> G>
void rmsprop(D const& exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<V, D>& velocity, G const& grad,
             RmspropOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, V>();
    update_rows(exec, grad, detail::make_rmsprop_rule(param, mean_square, velocity, options), param, mean_square,
                velocity);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class S, class V, class G>
void rmsprop(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& mean_square,
             Tensor<V, D>& velocity, Tensor<G, D> const& value, RmspropOptions options = {}) {
    detail::check_types<G, P, S, V>();
    update_rows(exec, plan, value, detail::make_rmsprop_rule(param, mean_square, velocity, options), param, mean_square,
                velocity);
}

template <class P, class S, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void rmsprop(Tensor<P, Device>& param, Tensor<S, Device>& mean_square, Tensor<V, Device>& velocity, G const& grad,
             RmspropOptions options = {}) {
    rmsprop(param.device(), param, mean_square, velocity, grad, options);
}

template <class P, class S, class V, class G, class Device>
void rmsprop(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& mean_square,
             Tensor<V, Device>& velocity, Tensor<G, Device> const& value, RmspropOptions options = {}) {
    rmsprop(plan.device(), plan, param, mean_square, velocity, value, options);
}

/// The same, centered (Graves 2013), with the mean of the gradient as a third state:
///     mg = rho · mg + (1 - rho) · g, and √(ms - mg² + epsilon) instead of √(ms + epsilon)
/// cost     as adagrad, with three states
template <device D, class P, class S, class A, class V, detail::gradient_on<D> G>
void rmsprop(D const& exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<A, D>& mean_grad,
             Tensor<V, D>& velocity, G const& grad, RmspropOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, A, V>();
    update_rows(exec, grad, detail::make_rmsprop_rule(param, mean_square, mean_grad, velocity, options), param,
                mean_square, mean_grad, velocity);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class S, class A, class V, class G>
void rmsprop(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& mean_square,
             Tensor<A, D>& mean_grad, Tensor<V, D>& velocity, Tensor<G, D> const& value, RmspropOptions options = {}) {
    detail::check_types<G, P, S, A, V>();
    update_rows(exec, plan, value, detail::make_rmsprop_rule(param, mean_square, mean_grad, velocity, options), param,
                mean_square, mean_grad, velocity);
}

template <class P, class S, class A, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void rmsprop(Tensor<P, Device>& param, Tensor<S, Device>& mean_square, Tensor<A, Device>& mean_grad,
             Tensor<V, Device>& velocity, G const& grad, RmspropOptions options = {}) {
    rmsprop(param.device(), param, mean_square, mean_grad, velocity, grad, options);
}

template <class P, class S, class A, class V, class G, class Device>
void rmsprop(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& mean_square,
             Tensor<A, Device>& mean_grad, Tensor<V, Device>& velocity, Tensor<G, Device> const& value,
             RmspropOptions options = {}) {
    rmsprop(plan.device(), plan, param, mean_square, mean_grad, velocity, value, options);
}

ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                            RmspropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                            RmspropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                            Tensor<float> const&, RmspropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                            RmspropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                            RmspropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                            Tensor<double> const&, RmspropOptions))

}  // namespace rowan::inline v0

// rowan/op/rmsprop.hpp: rmsprop_op, RMSProp as an operator.

namespace rowan::inline v0 {

/// See rmsprop; the gradient may be dense or row-sparse.
struct rmsprop_op : detail::optimizer_op<RmspropOptions, slot::moment, slot::velocity> {
    static constexpr std::string_view name = "rmsprop";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& velocity, G const& grad,
                    RmspropOptions const& options = {}) {
        rmsprop(exec, param, moment, velocity, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/rowwise_adagrad.hpp: rowwise_adagrad, AdaGrad with one state per row.

namespace rowan::inline v0 {

namespace detail {

struct rowwise_adagrad_formula {
    AdagradOptions options;

    /// A row's new moment, from the old one and the sum of the squares of its n gradients.
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD_INLINE S moment(S const& old, S const& squares, std::size_t n) const {
        return old + quotient(squares, constant<S>(static_cast<double>(n)));
    }

    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD_INLINE S root(S const& moment) const {
        return square_root(moment) + constant<S>(options.epsilon);
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V const& root, V& p) const {
        p = p - quotient(product(constant<V>(options.learning_rate), g), root);
    }
};

struct rowwise_adagrad_rule {
    AdagradOptions options;

    template <class G, class P, class M>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> m) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        if (g.empty()) return;
        rowwise_adagrad_formula const formula{options};
        S const moment = formula.moment(load<S>(m.data()), interleaved_sum<S>(g.size(), g.data(), squared{}), g.size());
        store(moment, m.data());
        S const root = formula.root(moment);
        for_lanes<S>([&]<class V>(V const& x, V& to) { formula(x, V(root), to); }, g.size(), g.data(), p.data());
    }
};

template <class D, class P, class M>
rowwise_adagrad_rule make_rowwise_adagrad_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment,
                                               AdagradOptions options) {
    check<P, M>(options);
    check_rows("param", param);
    if (moment.dimension() != 1)
        throw ShapeError("moment rank", std::to_string(moment.dimension()), "1: one number per row");
    check_height("moment", moment, height_of(param));
    return {options};
}

}  // namespace detail

/// One step of row-wise AdaGrad (FBGEMM; Naumov et al. 2019) on the rows of `grad` (duplicates summed first):
///     m += mean of g² over the row;  p -= learning_rate · g / (√m + epsilon)
/// The squares are summed in 16 interleaved partial sums, reduced by a binary tree: bit-identical for all instruction
/// sets.
/// shapes   param [height, ...], moment [height], grad a SelectedRows of that height and row shape, or a Tensor of
///          param's shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad, with one cache line of state per row
template <device D, class P, class M, detail::gradient_on<D> G>
void rowwise_adagrad(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment, G const& grad,
                     AdagradOptions options = {}) {
    detail::check_types<typename G::value_type, P, M>();
    update_rows(exec, grad, detail::make_rowwise_adagrad_rule(param, moment, options), param, moment);
}

/// The same for a plan of the gradient's rows and the gradient's value.
template <device D, class P, class M, class G>
void rowwise_adagrad(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment,
                     Tensor<G, D> const& value, AdagradOptions options = {}) {
    detail::check_types<G, P, M>();
    update_rows(exec, plan, value, detail::make_rowwise_adagrad_rule(param, moment, options), param, moment);
}

template <class P, class M, class G, class Device>
requires detail::gradient_on<G, Device>
void rowwise_adagrad(Tensor<P, Device>& param, Tensor<M, Device>& moment, G const& grad, AdagradOptions options = {}) {
    rowwise_adagrad(param.device(), param, moment, grad, options);
}

template <class P, class M, class G, class Device>
void rowwise_adagrad(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment,
                     Tensor<G, Device> const& value, AdagradOptions options = {}) {
    rowwise_adagrad(plan.device(), plan, param, moment, value, options);
}

ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                                    AdagradOptions))
ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, AdagradOptions))
ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&,
                                    Tensor<float> const&, AdagradOptions))
ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                                    AdagradOptions))
ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                                    AdagradOptions))
ROWAN_TEMPLATE(void rowwise_adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&,
                                    Tensor<double> const&, AdagradOptions))

}  // namespace rowan::inline v0

// rowan/op/rowwise_adagrad.hpp: rowwise_adagrad_op, row-wise AdaGrad as an operator.

namespace rowan::inline v0 {

/// See rowwise_adagrad; the gradient may be dense or row-sparse.
struct rowwise_adagrad_op : detail::optimizer_op<AdagradOptions, slot::moment> {
    static constexpr std::string_view name = "rowwise_adagrad";

    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, G const& grad,
                    AdagradOptions const& options = {}) {
        rowwise_adagrad(exec, param, moment, grad, options);
    }
};

}  // namespace rowan::inline v0

// rowan/sparse/sgd.hpp: sgd, gradient descent with dense or row-sparse gradients.

namespace rowan::inline v0 {

namespace detail {

struct sgd_formula {
    double learning_rate;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& g, V& p) const {
        p = p - product(constant<V>(learning_rate), g);
    }
};

}  // namespace detail

/// Subtracts `learning_rate * grad` from the rows of `param` that are in `grad`, duplicates in input order (Robbins and
/// Monro 1951). On a Thrust device duplicates are summed first, as with a plan.
/// shapes   param [height, ...], grad of that height and row shape
/// errors   ValueError if learning_rate is not finite; ShapeError if shapes do not match; Error if param shares memory
///          with a sparse gradient
/// cost     O(n * width), every contribution read once, every touched row read and written; on the host at most 2 MiB
///          of temporary memory to divide lookups among threads, and bit-identical to the serial loop for any number of
///          threads; on a Thrust device a RowPlan
template <class P, class G, device D>
void sgd(D const& exec, Tensor<P, D>& param, SelectedRows<G, D> const& grad, double learning_rate) {
    detail::check_types<G, P>();
    detail::check_setting<P>("learning_rate", learning_rate);
    SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
    detail::check_exec(exec);
    detail::check_sparse_targets(grad.value(), grad.height(), param);
    detail::RowPairs<D>::apply(exec, detail::RowPairs<D>::prepare(exec, grad), grad.value(), param,
                               detail::sgd_formula{learning_rate});
}

/// The same for a dense gradient, which has the shape of `param`.
/// errors   Error if param partially overlaps grad; grad may be param itself
template <device D, class P, class G>
void sgd(D const& exec, Tensor<P, D>& param, Tensor<G, D> const& grad, double learning_rate) {
    detail::check_types<G, P>();
    detail::check_setting<P>("learning_rate", learning_rate);
    update_rows(exec, grad, detail::LaneRule<detail::sgd_formula>{{learning_rate}}, param);
}

/// The same for a plan of the gradient's rows and the gradient's value. Duplicates are summed first, as in merge.
template <device D, class P, class G>
void sgd(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<G, D> const& value, double learning_rate) {
    detail::check_types<G, P>();
    detail::check_setting<P>("learning_rate", learning_rate);
    update_rows(exec, plan, value, detail::LaneRule<detail::sgd_formula>{{learning_rate}}, param);
}

template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void sgd(Tensor<P, Device>& param, G const& grad, double learning_rate) {
    sgd(param.device(), param, grad, learning_rate);
}

template <class P, class G, class Device>
void sgd(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<G, Device> const& value, double learning_rate) {
    sgd(plan.device(), plan, param, value, learning_rate);
}

ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, SelectedRows<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, Tensor<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, SelectedRows<double> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, Tensor<double> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double> const&, double))

}  // namespace rowan::inline v0

// rowan/op/sgd.hpp: sgd_op, gradient descent as an operator.

namespace rowan::inline v0 {

/// The settings of sgd.
struct SgdOptions {
    double learning_rate = 0.01;  ///< step size
};

/// See sgd; the gradient may be dense or row-sparse.
struct sgd_op : detail::optimizer_op<SgdOptions> {
    static constexpr std::string_view name = "sgd";

    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, double learning_rate) {
        sgd(exec, param, grad, learning_rate);
    }
    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, SgdOptions const& options = {}) {
        sgd(exec, param, grad, options.learning_rate);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/optimizer.hpp: layer::Optimizer, the optimizer of train, and the built-in optimizers.

namespace rowan::inline v0 {

/// A list of element types.
template <class... T>
struct dtypes {};

namespace layer {

/// Stochastic gradient descent, see rowan::sgd.
struct Sgd {
    double learning_rate = 0.01;  ///< step size

    using op = sgd_op;
    SgdOptions options() const { return {learning_rate}; }
};

/// AdaGrad, see rowan::adagrad.
struct AdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root

    using op = adagrad_op;
    AdagradOptions options() const { return {learning_rate, epsilon}; }
};

/// AdaGrad with one scalar of state per row, see rowan::rowwise_adagrad.
struct RowwiseAdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root

    using op = rowwise_adagrad_op;
    static constexpr bool one_state_per_row = true;  ///< the state has the shape [height]
    AdagradOptions options() const { return {learning_rate, epsilon}; }
};

/// Gradient descent with momentum, see rowan::momentum.
struct Momentum {
    double learning_rate = 0.01;  ///< step size
    double momentum = 0.9;        ///< decay factor of the velocity
    bool nesterov = false;        ///< whether to use Nesterov momentum
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient

    using op = momentum_op;
    MomentumOptions options() const { return {learning_rate, momentum, nesterov, weight_decay}; }
};

/// Adam, see rowan::adam.
struct Adam {
    double learning_rate = 0.001;  ///< step size
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the running mean of the squared gradient
    double epsilon = 1e-8;         ///< added to the square root

    using op = adam_op;
    AdamOptions options() const { return {learning_rate, beta1, beta2, epsilon, 1}; }
};

/// RMSProp, see rowan::rmsprop.
struct RmsProp {
    double learning_rate = 0.01;  ///< step size
    double rho = 0.9;             ///< decay factor of the running mean of the squared gradient
    double momentum = 0.0;        ///< decay factor of the velocity
    double epsilon = 1e-6;        ///< added under the square root

    using op = rmsprop_op;
    RmspropOptions options() const { return {learning_rate, rho, momentum, epsilon}; }
};

/// FTRL-proximal with lr_power -0.5, the square root, see rowan::ftrl.
struct Ftrl {
    double learning_rate = 0.01;  ///< step size
    double l1 = 0.0;              ///< L1 penalty, which makes small parameters exactly 0
    double l2 = 0.0;              ///< L2 penalty

    using op = ftrl_op;
    FtrlOptions options() const { return {learning_rate, l1, l2, -0.5}; }
};

/// Requirements on an optimizer: it names an operator and returns its attributes.
template <class O>
concept optimizer_options = requires(O const& o) {
    typename O::op;
    { o.options() } -> std::same_as<typename O::op::attributes>;
};

/// One of the optimizers above, or a user-defined one with the same members, for parameters of given element types on a
/// device.
template <class Device>
class OptimizerOn {
public:
    /// For parameters of float and double.
    template <optimizer_options O>
    OptimizerOn(O const& o) : OptimizerOn(o, dtypes<float, double>{}) {}

    /// For parameters of other element types, such as user-defined ones.
    ///     Optimizer(AdaGrad{.learning_rate = 0.1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(number of types)
    template <optimizer_options O, class... T>
    OptimizerOn(O const& o, dtypes<T...>);

    /// The update of one parameter: its operator, its states, and the checks to run before the operator. Running the
    /// checks of all parameters before the first operator makes a step all-or-nothing.
    struct Update {
        Operator* op;                   ///< updates the parameter
        std::vector<Variable*> states;  ///< optimizer states, kept between steps
        bool has_rate;                  ///< whether it has a learning rate, which a schedule can scale
        /// Sets the step number, counted from 1, multiplies the initial learning rate by `factor`, and checks the
        /// options.
        /// errors   ValueError if the optimizer rejects an option
        std::function<void(std::int64_t step, double factor)> prepare;
        /// Checks the shape of the gradient.
        /// errors   ShapeError if it differs from the parameter's
        std::function<void()> check_gradient;
    };

    /// Adds the operator that updates a parameter, and its states, to a scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type; GraphError if the scope
    ///          already has states of these names
    /// cost     O(number of types), plus one operator and its states
    Update add(Scope& scope, ParameterGradient const& g) const;

private:
    struct Kind {
        std::int32_t wire;
        std::function<Update(Scope&, ParameterGradient const&)> make;
    };

    // States have the type dtype<T>::sum if that is an element type, else T.
    template <class T>
    static auto state_type() {
        if constexpr (element<typename dtype<T>::sum>) {
            return std::type_identity<typename dtype<T>::sum>{};
        } else {
            return std::type_identity<T>{};
        }
    }

    template <class T>
    static LoDTensor<T, Device> zeros(Dims const& dims, AnyExec exec = {});

    template <class T, class O>
    static Update make(O const& o, Scope& scope, ParameterGradient const& g);

    template <class T>
    static void check_shape(Variable const& param, Variable const& gradient);

    template <class T, class S, class Op, std::size_t... state>
    static op_kernel const& kernel_for(std::index_sequence<state...>);

    std::vector<Kind> kinds_;
};

template <class Device>
template <optimizer_options O, class... T>
OptimizerOn<Device>::OptimizerOn(O const& o, dtypes<T...>) {
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
    (kinds_.push_back(
         {dtype<T>::wire, [o](Scope& scope, ParameterGradient const& g) -> Update { return make<T>(o, scope, g); }}),
     ...);
}

template <class Device>
auto OptimizerOn<Device>::add(Scope& scope, ParameterGradient const& g) const -> Update {
    for (auto const& [wire, make] : kinds_) {
        if (wire == g.parameter->spec().dtype) return make(scope, g);
    }
    throw TypeError(g.parameter->name(), "of element type " + std::to_string(g.parameter->spec().dtype),
                    "one of the optimizer's");
}

template <class Device>
template <class T>
auto OptimizerOn<Device>::zeros(Dims const& dims, AnyExec exec) -> LoDTensor<T, Device> {
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    return Tensor<T, Device>::zeros(exec.or_default<Device>(), shape);
}

template <class Device>
template <class T, class O>
auto OptimizerOn<Device>::make(O const& o, Scope& scope, ParameterGradient const& g) -> Update {
    using S = typename decltype(state_type<T>())::type;
    Update update{};
    Dims dims = g.parameter->spec().dims;
    Dims rows_of_none = dims;  // running the operator on zero rows only checks its options
    rows_of_none[0] = 0;
    if constexpr (requires { O::one_state_per_row; }) dims = {dims[0]};
    Dims states_of_none = dims;
    states_of_none[0] = 0;
    std::vector<Variable*> inputs{g.parameter};
    auto const none = std::make_shared<std::vector<Value>>();
    auto const add_none = [&](auto&& t) { none->emplace_back().set(std::move(t)); };
    add_none(zeros<T>(rows_of_none));
    for (std::string_view const name : O::op::updates::names) {
        if (name == "param") continue;
        std::string full(g.parameter->name());
        full.append("@").append(O::op::name).append(".").append(name);
        Variable& state = scope.new_var(full, tensor_spec<S>(dims), Role::state);
        state.bring = &rowan::detail::bring<S, Device>;
        state.initialize = [dims](Value& value, std::optional<std::uint64_t>, AnyExec exec) {
            value.set(zeros<S>(dims, exec));
        };
        update.states.push_back(&state);
        inputs.push_back(&state);
        add_none(zeros<S>(states_of_none));
    }
    inputs.push_back(g.gradient);
    add_none(zeros<T>(rows_of_none));
    auto const attributes = std::make_shared<typename O::op::attributes>(o.options());
    op_kernel const& kernel = kernel_for<T, S, typename O::op>(std::make_index_sequence<O::op::updates::size - 1>{});
    update.has_rate = requires { attributes->learning_rate = 1.0; };
    update.prepare = [=, &kernel](std::int64_t step, double factor) {
        if constexpr (requires { attributes->step = step; }) attributes->step = step;
        if constexpr (requires { attributes->learning_rate = factor; })
            attributes->learning_rate = o.options().learning_rate * factor;
        Device exec{};
        std::vector<Value*> in;
        for (Value& value : *none) in.push_back(&value);
        kernel.run({.exec = exec, .in = in, .out = {}, .attributes = AttributesRef(*attributes)});
    };
    update.check_gradient = [g] { check_shape<T>(*g.parameter, *g.gradient); };
    update.op = &scope.new_op(kernel, std::move(inputs), attributes);
    return update;
}

template <class Device>
template <class T>
void OptimizerOn<Device>::check_shape(Variable const& param, Variable const& gradient) {
    auto const& want = param.value().get<LoDTensor<T, Device>>().value().shape();
    auto const check = [&](auto const& shape) {
        if (std::ranges::equal(shape, want)) return;
        throw ShapeError(std::string("the gradient ").append(gradient.name()).append(".shape()"),
                         rowan::detail::shape_text(shape),
                         rowan::detail::shape_text(want).append(", that of ").append(param.name()));
    };
    if (gradient.value().is<SelectedRows<T, Device>>()) {
        check(gradient.value().get<SelectedRows<T, Device>>().shape());
    } else {
        check(gradient.value().get<LoDTensor<T, Device>>().value().shape());
    }
}

template <class Device>
template <class T, class S, class Op, std::size_t... state>
op_kernel const& OptimizerOn<Device>::kernel_for(std::index_sequence<state...>) {
    return kernel_of<Op, Device, T, std::enable_if_t<(state >= 0), S>..., T>::value;
}

/// The optimizer for nets on the host.
using Optimizer = OptimizerOn<Cpu>;

ROWAN_TEMPLATE(class OptimizerOn<Cpu>)
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Sgd const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(AdaGrad const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(RowwiseAdaGrad const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Momentum const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Adam const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(RmsProp const&, dtypes<float, double>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Ftrl const&, dtypes<float, double>))

}  // namespace layer

}  // namespace rowan::inline v0

// rowan/sparse/squared_norm.hpp: squared_norm, the sum of the squares of a tensor or gradient.

namespace rowan::inline v0 {

namespace detail {

/// The sum of one number per row, in blocks of 64.
template <class S>
S sum_of_rows(std::vector<S> const& x) {
    if (x.empty()) return constant<S>(0.0);
    std::vector<std::int64_t> order(x.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return *BlockSum<S, S>(x.data(), 1, order.size())(order.data(), order.size(), 0);
}

/// Sums squares.
template <class D>
struct SquareSums {
    static_assert(has_backend<D>,
                  "rowan: squared_norm on a Thrust device needs #include <rowan/thrust/sparse/squared_norm.hpp>");
};

template <>
struct SquareSums<Cpu> {
    /// Of the sums of a plan's rows.
    template <class T>
    static sum_t<T> planned(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value) {
        using S = sum_t<T>;
        std::size_t const width = value.row_size();
        std::vector<S> squares(plan.rows().size());
        RowSums<T>(exec, plan, value)
            .run([](std::size_t) {},
                 [&](std::size_t k, S const* sum) { squares[k] = interleaved_sum<S>(width, sum, squared{}); });
        return sum_of_rows(squares);
    }

    template <class T>
    static sum_t<T> dense(Cpu exec, Tensor<T> const& x) {
        using S = sum_t<T>;
        std::size_t const rows = x.shape(0), width = x.row_size();
        std::vector<S> squares(rows);
        bool const serial = threads_for(exec, x.size()) == 1;
        std::size_t const grain = serial_below / 8 / std::max<std::size_t>(width, 1) + 1;
        parallel_for(exec, rows, serial ? rows : grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                squares[i] = interleaved_sum<S>(width, x.data() + i * width, squared{});
        });
        return sum_of_rows(squares);
    }
};

}  // namespace detail

/// The sum of the squares of the elements of merge(g): duplicates are summed before they are squared, as in the dense
/// tensor. The squares of a row are summed in 16 interleaved partial sums, the rows in ascending order in blocks of 64:
/// bit-identical for any number of threads and on all devices. A Thrust device synchronizes to return the number.
/// shapes   plan of n rows, value [n, ...]
/// errors   ShapeError if value does not have n rows; on a Thrust device those of synchronize
/// cost     O(n * width); temporary memory of two numbers per row of the plan, on a Thrust device of 17 and the sums of
///          duplicates
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value) {
    detail::check_exec(exec);
    SelectedRows<T, D>::check_value(value, plan.size());
    return detail::SquareSums<D>::planned(exec, plan, value);
}

/// The same for a gradient.
/// cost     as above, and a RowPlan: a sort of the rows unless they are merged
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    return squared_norm(exec, RowPlan<D>(exec, g), g.value());
}

/// The sum of the squares of a dense tensor's elements, bit-identical to that of a SelectedRows with all its rows.
/// shapes   x [rows, ...]
/// errors   ShapeError if x has rank 0
/// cost     one read of x; temporary memory of two numbers per row
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, Tensor<T, D> const& x) {
    detail::check_rows("x", x);
    return detail::SquareSums<D>::dense(exec, x);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(Tensor<T, Device> const& x) {
    return squared_norm(x.device(), x);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return squared_norm(plan.device(), plan, value);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(SelectedRows<T, Device> const& g) {
    return squared_norm(g.device(), g);
}

ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, RowPlan<> const&, Tensor<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, Tensor<double> const&))

}  // namespace rowan::inline v0

// rowan/op/clip_by_norm.hpp: clip_by_norm and clip_by_global_norm, gradients scaled down to a maximum norm.

namespace rowan::inline v0 {

/// The settings of clip_by_norm and clip_by_global_norm.
struct ClipByNormOptions {
    double max_norm = 1;  ///< the maximum norm

    static constexpr auto fields = std::tuple(field{"max_norm", &ClipByNormOptions::max_norm});
};

namespace detail {

inline void check_max_norm(double max_norm) {
    check_finite("max_norm", max_norm);
    if (max_norm < 0) throw ValueError("max_norm", max_norm, "0 or more");
}

/// The factor that scales values of this squared norm to max_norm, 1 if their norm is not greater; NaN propagates.
inline double norm_factor(double squared, double max_norm) {
    double const norm = std::sqrt(squared);
    return norm <= max_norm ? 1.0 : max_norm / norm;
}

template <class T, class D>
Tensor<T, D> scaled(D const& exec, Tensor<T, D> const& x, double factor) {
    static_assert(!std::integral<sum_t<T>>, "rowan::clip_by_norm: integers have no norm to be scaled to");
    return factor == 1.0 ? x.share() : scale(exec, x, factor);
}
template <class T, class D>
SelectedRows<T, D> scaled(D const& exec, SelectedRows<T, D> const& g, double factor) {
    return scale(exec, g, factor);
}

}  // namespace detail

/// Scales x to the Euclidean norm max_norm if its norm is greater. The norm of a row-sparse gradient is that of the
/// dense gradient: duplicates are summed before squaring. If the norm is not finite, the elements of the result are NaN
/// or 0 by IEEE arithmetic. Pascanu et al. 2013, On the difficulty of training recurrent neural networks.
/// shapes   x [n, ...], or a SelectedRows -> the same; a SelectedRows keeps its rows
/// errors   ValueError if max_norm is negative or not finite; ShapeError if x has rank 0
/// cost     two reads of x and one write of the result, and for a SelectedRows a RowPlan, which sorts the rows unless
///          they are merged; a dense x that needs no scaling is returned as an alias; waits for the device, because the
///          host needs the norm
template <class T, device D>
Tensor<T, D> clip_by_norm(D const& exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    return detail::scaled(exec, x, detail::norm_factor(static_cast<double>(squared_norm(exec, x)), options.max_norm));
}
template <class T, device D>
SelectedRows<T, D> clip_by_norm(D const& exec, SelectedRows<T, D> const& g, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    return detail::scaled(exec, g, detail::norm_factor(static_cast<double>(squared_norm(exec, g)), options.max_norm));
}

/// Scales all gradients, dense and row-sparse, by one factor to the global norm max_norm if their global norm, which is
/// √(Σ norm²), is greater. The squared norms, each computed in dtype<T>::sum, are added in double: those of the dense
/// gradients in order, then those of the row-sparse ones. Pascanu et al. 2013, as above.
/// shapes   any number of gradients of any shapes -> the same
/// errors   as clip_by_norm
/// cost     two reads of each gradient and one write of the results, and a RowPlan for each row-sparse gradient; waits
///          for the device once per gradient
template <class T, device D>
std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> clip_by_global_norm(
    D const& exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
    ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    double squared = 0;
    for (Tensor<T, D> const& x : dense) squared += static_cast<double>(squared_norm(exec, x));
    for (SelectedRows<T, D> const& g : sparse) squared += static_cast<double>(squared_norm(exec, g));
    double const factor = detail::norm_factor(squared, options.max_norm);
    std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> out;
    for (Tensor<T, D> const& x : dense) std::get<0>(out).push_back(detail::scaled(exec, x, factor));
    for (SelectedRows<T, D> const& g : sparse) std::get<1>(out).push_back(detail::scaled(exec, g, factor));
    return out;
}

/// See clip_by_norm.
struct clip_by_norm_op {
    static constexpr std::string_view name = "clip_by_norm";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using attributes = ClipByNormOptions;
    using grad = no_grad;  // clip_by_norm is applied to gradients

    static constexpr VarSpec infer(VarSpec const& x, ClipByNormOptions const& = {}) { return x; }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
        return clip_by_norm(exec, x, options);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, ClipByNormOptions const& options = {}) {
        return clip_by_norm(exec, x, options);
    }
};

/// See clip_by_global_norm. The slots `x` and `out` hold any number of gradients.
struct clip_by_global_norm_op {
    static constexpr std::string_view name = "clip_by_global_norm";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using attributes = ClipByNormOptions;
    using grad = no_grad;

    static std::vector<VarSpec> infer(std::span<VarSpec const> x, ClipByNormOptions const& = {}) {
        return {x.begin(), x.end()};
    }

    template <class T, class D>
    static auto run(D exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
                    ClipByNormOptions const& options = {}) {
        return clip_by_global_norm(exec, dense, sparse, options);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/gradient_clip.hpp: layer::GradientClip, gradient clipping before the optimizer's step.

namespace rowan::inline v0::layer {

// Duplicate rows of a row-sparse gradient are summed before they are clipped, so the result equals that of the dense
// gradient.

/// Clips every element to [min, max], which must contain 0 if a gradient is row-sparse.
struct ClipByValue {
    double min = -1;  ///< lower bound
    double max = 1;   ///< upper bound

    using op = clip_op;
    ClipOptions options() const { return {min, max}; }
};

/// Scales the gradient of each parameter to the Euclidean norm max_norm if its norm is greater.
struct ClipByNorm {
    double max_norm = 1;  ///< maximum norm

    using op = clip_by_norm_op;
    ClipByNormOptions options() const { return {max_norm}; }
};

/// Scales all gradients by one factor to the joint Euclidean norm max_norm if their joint norm is greater.
struct ClipByGlobalNorm {
    double max_norm = 1;  ///< maximum norm

    using op = clip_by_global_norm_op;
    static constexpr bool together = true;  ///< one operator clips all gradients
    ClipByNormOptions options() const { return {max_norm}; }
};

/// Requirements on a kind of clipping: it names an operator with one input and one output slot, and returns its
/// attributes.
template <class C>
concept gradient_clip_options = requires(C const& c) {
    typename C::op;
    { c.options() } -> std::same_as<typename C::op::attributes>;
    requires C::op::inputs::size == 1 && C::op::outputs::size == 1;
};

/// One of the kinds above, or a user-defined one with the same members, for gradients of given element types on a
/// device; or no clipping.
template <class Device>
class GradientClipOn {
public:
    GradientClipOn() = default;  ///< no clipping
    /// For gradients of float and double.
    template <gradient_clip_options C>
    GradientClipOn(C const& c) : GradientClipOn(c, dtypes<float, double>{}) {}

    /// For gradients of other element types, such as user-defined ones.
    ///     GradientClip(ClipByNorm{.max_norm = 1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(number of types)
    template <gradient_clip_options C, class... T>
    GradientClipOn(C const& c, dtypes<T...>);

    /// Adds the clipping operators to a scope and replaces the gradients by their results.
    /// errors   TypeError if the element type of a gradient is not supported, or gradients that are clipped jointly
    ///          differ in element type
    /// cost     one operator for each gradient, or one for all jointly
    void add(Scope& scope, std::vector<ParameterGradient>& gradients) const;

private:
    struct Kind {
        std::int32_t wire;
        std::function<std::vector<Variable*>(Scope&, std::vector<Variable*>)> make;
    };

    [[noreturn]] static void refuse(ParameterGradient const& g, std::string const& expected);

    std::vector<Kind> kinds_;
    bool together_ = false;
};

template <class Device>
template <gradient_clip_options C, class... T>
GradientClipOn<Device>::GradientClipOn(C const& c, dtypes<T...>) {
    if constexpr (requires { C::together; }) together_ = C::together;
    (kinds_.push_back({dtype<T>::wire,
                       [c](Scope& scope, std::vector<Variable*> g) {
                           return scope.new_op<typename C::op, Device, T>(std::move(g), c.options()).outputs;
                       }}),
     ...);
}

template <class Device>
void GradientClipOn<Device>::add(Scope& scope, std::vector<ParameterGradient>& gradients) const {
    if (kinds_.empty()) return;
    std::size_t const size = together_ ? gradients.size() : 1;
    for (std::size_t begin = 0; begin < gradients.size(); begin += size) {
        std::int32_t const wire = gradients[begin].gradient->spec().dtype;
        std::vector<Variable*> some;
        for (std::size_t i = begin; i < begin + size; ++i) {
            if (gradients[i].gradient->spec().dtype != wire)
                refuse(gradients[i], std::string("that of all, ").append(std::to_string(wire)));
            some.push_back(gradients[i].gradient);
        }
        auto const kind = std::ranges::find(kinds_, wire, &Kind::wire);
        if (kind == kinds_.end()) refuse(gradients[begin], "one that gradients are clipped of");
        auto const clipped = kind->make(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

template <class Device>
void GradientClipOn<Device>::refuse(ParameterGradient const& g, std::string const& expected) {
    throw TypeError(std::string("the element type of the gradient of ").append(g.parameter->name()),
                    std::to_string(g.gradient->spec().dtype), expected);
}

/// Gradient clipping for nets on the host.
using GradientClip = GradientClipOn<Cpu>;

ROWAN_TEMPLATE(class GradientClipOn<Cpu>)
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByValue const&, dtypes<float, double>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByNorm const&, dtypes<float, double>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByGlobalNorm const&, dtypes<float, double>))

}  // namespace rowan::inline v0::layer

// rowan/layer/detail/recurrent_cell.hpp: CellOptions and Gates, settings and parameters common to recurrent cells.

namespace rowan::inline v0::layer {

/// The settings of a recurrent cell.
struct CellOptions {
    std::int64_t size = 0;               ///< width of the state; for an LSTM, of output and cell each
    std::optional<Uniform> weight = {};  ///< initial weights and biases; default ±1/√size
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The contribution of the input to the gates of a cell, and weight and bias for the contribution of the state.
template <class T, class Device>
struct Gates {
    Gates(std::int64_t gates, layer::Var<T, Device> const& input, layer::CellOptions const& options)
        : first(first_values(options)), width(gates * options.size),
          x(layer::fc(input, {.output_size = width, .weight = first, .bias = first})),
          w(layer::parameter<T, Device>({options.size, width}, first)), b(layer::parameter<T, Device>({width}, first)) {
    }

    static layer::Uniform first_values(layer::CellOptions const& options) {
        auto const size = static_cast<double>(options.size);
        if (options.size < 1) throw ValueError("the size of a cell", size, "1 or more");
        return options.weight.value_or(layer::Uniform{-1 / std::sqrt(size), 1 / std::sqrt(size)});
    }

    layer::Uniform first;
    std::int64_t width;
    layer::Var<T, Device> x, w, b;
};

}  // namespace rowan::inline v0::detail

// rowan/op/detail/recurrent_cell.hpp: checks shared by the recurrent cells.

namespace rowan::inline v0::detail {

/// Checks the shapes of a step of n sequences; `gates` is the number of gates. b is left to fc.
/// shapes   x [n, gates · size], h_prev [n, size], w [size, gates · size], b [gates · size]
template <class T, class D>
void check_recurrent_cell(std::size_t gates, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& w) {
    check_rank("x", x, 2);
    check_rank("h_prev", h_prev, 2);
    check_rank("w", w, 2);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    auto const expect = [](char const* field, std::size_t actual, std::size_t expected, char const* why) {
        if (actual != expected) throw ShapeError(field, std::to_string(actual), std::to_string(expected) + why);
    };
    expect("x.shape(0)", x.shape(0), n, ", the rows of h_prev");
    expect("x.shape(1)", x.shape(1), gates * size, ", the gates times the width of h_prev");
    expect("w.shape(0)", w.shape(0), size, ", the width of h_prev");
    expect("w.shape(1)", w.shape(1), gates * size, ", the gates times the width of h_prev");
}

template <class T, class D>
void check_rows_like(char const* field, Tensor<T, D> const& x, std::size_t rows, std::size_t width) {
    typename Tensor<T, D>::shape_type like;
    like.push_back(rows);
    like.push_back(width);
    if (x.shape() != like) throw ShapeError(std::string(field) + ".shape()", shape_text(x.shape()), shape_text(like));
}

/// The same for specs, including b, at compile time or when a net is built.
constexpr void infer_recurrent_cell(std::int64_t gates, VarSpec const& x, VarSpec const& h_prev, VarSpec const& w,
                                    VarSpec const& b) {
    spec::matrix("cell: x", x);
    spec::matrix("cell: h_prev", h_prev);
    spec::matrix("cell: w", w);
    spec::dense("cell: b", b);
    spec::rank("cell: b", b, 1, "1");
    for (VarSpec const& spec : {h_prev, w, b}) spec::same_dtype("cell: h_prev, w or b", spec, x);
    spec::same_dim("cell: h_prev.shape(0)", h_prev.dims[0], x.dims[0]);
    std::int64_t const width = h_prev.dims[1] == UNK ? UNK : gates * h_prev.dims[1];
    spec::same_dim("cell: x.shape(1)", x.dims[1], width);
    spec::same_dim("cell: w.shape(0)", w.dims[0], h_prev.dims[1]);
    spec::same_dim("cell: w.shape(1)", w.dims[1], width);
    spec::same_dim("cell: b.shape(0)", b.dims[0], width);
}

}  // namespace rowan::inline v0::detail

// rowan/op/gru_unit.hpp: gru_unit, one step of a gated recurrent unit.

namespace rowan::inline v0 {

namespace detail {

/// Computes the gates of one step and the next state.
template <class T>
struct GruStep {
    T const *x, *hidden, *h_prev;
    T *saved, *h;
    std::size_t size;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(std::size_t row, std::size_t k) const {
        T const *const xs = x + row * 3 * size + k, *const gs = hidden + row * 3 * size + k;
        T* const keep = saved + row * 4 * size + k;
        V const one = constant<V>(1.0);
        V const r = logistic(V(load<V>(xs) + load<V>(gs)));
        V const z = logistic(V(load<V>(xs + size) + load<V>(gs + size)));
        V const g = load<V>(gs + 2 * size);
        V const c = hyperbolic_tangent(V(load<V>(xs + 2 * size) + product(r, g)));
        V const next = product(V(one - z), c) + product(z, load<V>(h_prev + row * size + k));
        store(r, keep);
        store(z, keep + size);
        store(c, keep + 2 * size);
        store(g, keep + 3 * size);
        store(next, h + row * size + k);
    }
};

/// Computes the gradients of the gates, and that of h_prev without the part that comes through h_prev · w.
template <class T>
struct GruGradStep {
    T const *saved, *h_prev, *h_grad;
    T *x_grad, *hidden_grad, *h_prev_grad;
    std::size_t size;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(std::size_t row, std::size_t k) const {
        T const* const keep = saved + row * 4 * size + k;
        T *const xs = x_grad + row * 3 * size + k, *const gs = hidden_grad + row * 3 * size + k;
        V const one = constant<V>(1.0);
        V const r = load<V>(keep), z = load<V>(keep + size);
        V const c = load<V>(keep + 2 * size), g = load<V>(keep + 3 * size);
        V const d = load<V>(h_grad + row * size + k);
        V const dc = product(product(d, V(one - z)), V(one - product(c, c)));
        V const dz = product(product(d, V(load<V>(h_prev + row * size + k) - c)), product(z, V(one - z)));
        V const dr = product(product(dc, g), product(r, V(one - r)));
        store(dr, xs);
        store(dr, gs);
        store(dz, xs + size);
        store(dz, gs + size);
        store(dc, xs + 2 * size);
        store(product(dc, r), gs + 2 * size);
        store(product(d, z), h_prev_grad + row * size + k);
    }
};

}  // namespace detail

/// One step of a GRU (Cho et al. 2014) in PyTorch's and cuDNN's form, which applies the reset gate after the matrix
/// product. With g = h_prev · w + b:
///     r = sigmoid(x_r + g_r);  z = sigmoid(x_z + g_z);  c = tanh(x_c + r · g_c);  h = (1 - z) · c + z · h_prev
/// `x` is the contribution of the input to the gates, which one matrix product can compute for all steps.
/// shapes   x [n, 3 · size] in the order r, z, c; h_prev [n, size], w [size, 3 · size], b [3 · size] -> h [n, size],
///          and r, z, c, g_c [n, 4 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     6 · n · size² operations, one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> gru_unit(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev,
                                                Tensor<T, D> const& w, Tensor<T, D> const& b) {
    detail::check_recurrent_cell(3, x, h_prev, w);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    detail::ElementLoops<D>::check(exec, x);
    auto const hidden = fc(exec, h_prev, w, b);
    auto h = detail::new_tensor<T>(exec, {n, size});
    auto saved = detail::new_tensor<T>(exec, {n, 4 * size});
    detail::GruStep<T> const step{x.data(), hidden.data(), h_prev.data(), saved.data(), h.data(), size};
    detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 3 * size, step);
    return {std::move(h), std::move(saved)};
}

/// The gradients of x, of g = h_prev · w + b, and of h_prev, from the values that gru_unit saved and the gradient of h.
/// shapes   saved [n, 4 · size], h_prev and h_grad [n, size], w [size, 3 · size] -> [n, 3 · size], [n, 3 · size],
///          [n, size]
/// errors   ShapeError if shapes do not match
/// cost     6 · n · size² operations, one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> gru_unit_grad(D const& exec, Tensor<T, D> const& saved,
                                                                   Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                                                                   Tensor<T, D> const& h_grad) {
    detail::check_rank("h_prev", h_prev, 2);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    detail::check_rows_like("saved", saved, n, 4 * size);
    detail::check_rows_like("h_grad", h_grad, n, size);
    detail::check_rows_like("w", w, size, 3 * size);
    detail::ElementLoops<D>::check(exec, saved, h_prev, w, h_grad);
    auto x_grad = detail::new_tensor<T>(exec, {n, 3 * size});
    auto hidden_grad = detail::new_tensor<T>(exec, {n, 3 * size});
    auto h_prev_grad = detail::new_tensor<T>(exec, {n, size});
    detail::GruGradStep<T> const step{saved.data(),       h_prev.data(),      h_grad.data(), x_grad.data(),
                                      hidden_grad.data(), h_prev_grad.data(), size};
    detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 3 * size, step);
    if (size != 0)
        detail::Products<D>::template multiply<T>(exec, n, size, 3 * size, {hidden_grad.data(), 3 * size},
                                                  {w.data(), 3 * size, true}, h_prev_grad.data(), true);
    return {std::move(x_grad), std::move(hidden_grad), std::move(h_prev_grad)};
}

namespace slot {

/// The gradient of h_prev · w + b.
struct hidden_grad {
    static constexpr std::string_view name = "hidden@GRAD";  ///< the name of the slot
};

}  // namespace slot

struct gru_unit_grad_op {
    static constexpr std::string_view name = "gru_unit_grad";
    using inputs = slots<slot::saved, slot::h_prev, slot::w, grad_of<slot::h>>;
    using outputs = slots<grad_of<slot::x>, slot::hidden_grad, grad_of<slot::h_prev>>;
    static constexpr unsigned row_inputs = 0b1011;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 3> infer(VarSpec const&, VarSpec const& h_prev, VarSpec const& w,
                                                  VarSpec const&) {
        VarSpec gates = h_prev;
        gates.dims[1] = w.dims[1];
        return {gates, gates, h_prev};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                    Tensor<T, D> const& h_grad) {
        return gru_unit_grad(exec, saved, h_prev, w, h_grad);
    }
};

/// See gru_unit. The gradients of w and b are sums over rows, so one product computes them for all steps.
struct gru_unit_op {
    static constexpr std::string_view name = "gru_unit";
    using inputs = slots<slot::x, slot::h_prev, slot::w, slot::b>;
    using outputs = slots<slot::h, slot::saved>;
    static constexpr unsigned row_inputs = 0b0011;
    using grad = grad_rules<grad_rule<gru_unit_grad_op>,
                            grad_rule<mul_tn_op, uses<slot::h_prev, slot::hidden_grad>, makes<grad_of<slot::w>>>,
                            grad_rule<sum_rows_op, uses<slot::hidden_grad>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& w,
                                                  VarSpec const& b) {
        detail::infer_recurrent_cell(3, x, h_prev, w, b);
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = h_prev.dims[1] == UNK ? UNK : 4 * h_prev.dims[1];
        return {h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                    Tensor<T, D> const& b) {
        return gru_unit(exec, x, h_prev, w, b);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/gru_unit.hpp: layer::gru_unit, one step of a gated recurrent unit with its own parameters.

namespace rowan::inline v0::layer {

/// The settings of layer::gru_unit.
using GruOptions = CellOptions;

/// Returns the state after one step, see rowan::gru_unit. Parameters: w_x [width of x, 3 · size] and b_x,
/// w_h [size, 3 · size] and b_h, with the gates in the order reset, update, candidate; w_x and w_h are PyTorch's,
/// transposed.
/// shapes   x [n, width], before [n, size] -> [n, size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if the width of `before` is not size
/// cost     as rowan::gru_unit, when the net runs, plus the product of x and w_x, which a recurrent layer computes once
///          for all steps
template <class T, class Device>
Var<T, Device> gru_unit(Var<T, Device> const& x, Var<T, Device> const& before, GruOptions const& options) {
    detail::Gates<T, Device> const gates(3, x, options);
    return apply<gru_unit_op>({}, gates.x, before, gates.w, gates.b);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/parameters.hpp: Parameters, the values of trained parameters and optimizer states by name.

namespace rowan::inline v0 {

/// Values by variable name. The names of optimizer states contain an @.
class Parameters {
public:
    /// Returns the tensor of that name.
    /// errors   GraphError if there is no such name; TypeError if the value is not a tensor of T on Device
    /// cost     O(log variables)
    template <class T, class Device = Cpu>
    Tensor<T, Device> const& get(std::string_view name) const {
        return find(name).get<LoDTensor<T, Device>>().value();
    }

    /// Returns the value of that name, of any kind.
    /// errors   GraphError if there is no such name
    /// cost     O(log variables)
    Value const& find(std::string_view name) const;
    bool contains(std::string_view name) const { return values_.contains(name); }  ///< whether there is such a name

    /// Sets or replaces the value of that name.
    /// errors   std::bad_alloc
    /// cost     O(log variables)
    void set(std::string name, Value value);

    /// Returns aliases of all values: they share the elements, so further training changes them.
    /// errors   TypeError if a value cannot be shared
    /// cost     O(variables)
    Parameters share() const;

    /// Iterates in the order of the names.
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }
    std::size_t size() const noexcept { return values_.size(); }

    std::int64_t steps = 0;  ///< number of batches trained

private:
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace rowan::inline v0

// rowan/layer/parameters_inl.hpp: definitions of rowan/layer/parameters.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION Value const& Parameters::find(std::string_view name) const {
    auto const found = values_.find(name);
    if (found == values_.end()) throw GraphError(std::string("there is no parameter \"").append(name).append("\""));
    return found->second;
}

ROWAN_FUNCTION void Parameters::set(std::string name, Value value) {
    values_.insert_or_assign(std::move(name), std::move(value));
}

ROWAN_FUNCTION Parameters Parameters::share() const {
    Parameters alias;
    for (auto const& [name, value] : values_) alias.set(name, value.share());
    alias.steps = steps;
    return alias;
}

}  // namespace rowan::inline v0

#endif

// rowan/layer/schedule.hpp: layer::Schedule, the learning rate as a function of the step, and the built-in schedules.

namespace rowan::inline v0::layer {

/// Returns the factor that multiplies the learning rate of every optimizer in a step. Steps are counted from 0; a
/// resumed training continues the count.
///     .schedule = [](std::int64_t step) { return 1 / (1 + 0.01 * static_cast<double>(step)); }
using Schedule = std::function<double(std::int64_t step)>;

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// Returns step / steps.
/// errors   ValueError if steps is less than 1
double part_of_steps(std::int64_t step, std::int64_t steps);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

// ExponentialDecay and CosineDecay use std::pow and std::cos of the C library; StepDecay only multiplies.

/// A constant factor.
struct ConstantRate {
    double factor = 1;  ///< returned for every step

    double operator()(std::int64_t) const { return factor; }  ///< returns factor
};

/// rate^(step / steps): decays to `rate` after `steps` steps.
struct ExponentialDecay {
    double rate = 0.96;         ///< factor per `steps` steps
    std::int64_t steps = 1000;  ///< number of steps for one factor of `rate`

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// rate^⌊step / steps⌋: multiplied by `rate` after every `steps` steps.
struct StepDecay {
    double rate = 0.1;          ///< factor per `steps` steps
    std::int64_t steps = 1000;  ///< number of steps between decays

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(log(step / steps))
    double operator()(std::int64_t step) const;
};

/// Decays from 1 to `least` along half a cosine wave over `steps` steps, then stays at `least` (Loshchilov and Hutter
/// 2017, without restarts).
struct CosineDecay {
    std::int64_t steps = 1000;  ///< number of steps until `least`
    double least = 0;           ///< final factor

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// Linear warm-up: step k < steps has the factor (k + 1) / steps · then(0); later steps have then(k - steps).
///     .schedule = layer::Warmup{.steps = 100, .then = layer::CosineDecay{.steps = 10'000}}
struct Warmup {
    std::int64_t steps = 1000;       ///< number of warm-up steps
    Schedule then = ConstantRate{};  ///< schedule after the warm-up

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1; what `then` throws
    /// cost     O(1), plus that of `then`
    double operator()(std::int64_t step) const;
};

}  // namespace rowan::inline v0::layer

// rowan/layer/schedule_inl.hpp: definitions of rowan/layer/schedule.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cmath>
#include <numbers>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION double part_of_steps(std::int64_t step, std::int64_t steps) {
    if (steps < 1) throw ValueError("steps", static_cast<double>(steps), "1 or more");
    return static_cast<double>(step) / static_cast<double>(steps);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

ROWAN_FUNCTION double ExponentialDecay::operator()(std::int64_t step) const {
    return std::pow(rate, rowan::detail::part_of_steps(step, steps));
}

ROWAN_FUNCTION double StepDecay::operator()(std::int64_t step) const {
    static_cast<void>(rowan::detail::part_of_steps(step, steps));
    return rowan::detail::power(rate, step / steps);
}

ROWAN_FUNCTION double CosineDecay::operator()(std::int64_t step) const {
    double const part = std::min(rowan::detail::part_of_steps(step, steps), 1.0);
    return least + (1 - least) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

ROWAN_FUNCTION double Warmup::operator()(std::int64_t step) const {
    double const part = rowan::detail::part_of_steps(step + 1, steps);
    return step < steps ? part * then(0) : then(step - steps);
}

}  // namespace rowan::inline v0::layer

#endif

// rowan/layer/detail/trainer.hpp: Trainer, runs a net on batches, and what train and infer have in common.

#include <sstream>

namespace rowan::inline v0::detail {

/// Checks that a value matches the declaration of its variable.
/// errors   TypeError if kind or element type differ; ShapeError if the rank, a known dim or the number of levels
///          differ
inline void check_fits(Variable const& v, Value const& value) {
    VarSpec const& spec = v.spec();
    if (spec.type != VarType::LOD_TENSOR) throw TypeError(v.name(), value.kind(), "a value that is no tensor");
    std::string const kind = kind_text(spec);
    auto const elements = [&] {
        try {
            return value.share().elements();
        } catch (TypeError const& e) {
            throw TypeError(v.name(), e.actual(), kind);
        }
    }();
    if (elements.dtype != spec.dtype) throw TypeError(v.name(), value.kind(), kind);
    auto const& dims = elements.dims;
    bool fits = dims.size() == spec.dims.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = spec.dims[i] == UNK || spec.dims[i] == dims[i];
    if (!fits) {
        std::ostringstream expected;
        expected << spec.dims;
        throw ShapeError(v.name() + ".shape()", shape_text(dims), expected.str());
    }
    if (value.lod().levels() != spec.lod_level)
        throw ShapeError(v.name() + ".lod().levels()", std::to_string(value.lod().levels()),
                         std::to_string(spec.lod_level));
}

/// Sets the data variables of a net to the values of a batch. The batch may contain variables that only another net of
/// the scope reads, such as labels for the cost; a name that is not declared is an error. Values that are not on the
/// net's device are copied to it.
/// errors   GraphError if the batch lacks a variable, or contains a name that neither the net nor the scope declares;
///          else as check_fits. On error, no variable has changed
template <class Device>
void feed(std::span<Variable* const> inputs, Feeds const& feeds, Scope const& scope, Device const& exec) {
    std::map<Variable*, Value> values;
    for (Variable* const v : inputs) {
        if (v->role() != Role::data) continue;
        auto const found = feeds.find(v->name());
        if (found == feeds.end())
            throw GraphError(std::string("the batch does not bring the variable \"").append(v->name()).append("\""));
        Value value = found->second.value();
        check_fits(*v, value);
        values.emplace(v, std::move(value));
    }
    for (auto const& named : feeds) {
        std::string const& name = named.first;
        if (std::ranges::any_of(values, [&](auto const& known) { return known.first->name() == name; })) continue;
        Variable const* const declared = scope.find(name);
        if (declared == nullptr || declared->role() != Role::data)
            throw GraphError(std::string("the batch brings \"")
                                 .append(name)
                                 .append("\", but there is no data variable of that name"));
    }
    for (auto& [v, value] : values) {
        if (v->bring != nullptr) v->bring(value, exec, false);
    }
    for (auto& [v, value] : values) v->value() = std::move(value);
}

/// Moves the values out of variables and restores them on destruction.
class KeptValues {
public:
    /// `variables` must outlive this.
    explicit KeptValues(std::span<Variable* const> variables) : variables_(variables) {
        values_.reserve(variables_.size());  // so that the loop does not throw
        for (Variable* const v : variables_) values_.push_back(std::exchange(v->value(), Value()));
    }
    KeptValues(KeptValues const&) = delete;
    KeptValues& operator=(KeptValues const&) = delete;
    ~KeptValues() {
        for (std::size_t i = 0; i < variables_.size(); ++i) variables_[i]->value() = std::move(values_[i]);
    }

private:
    std::span<Variable* const> variables_;
    Buffer<Value> values_;
};

/// An inner scope that, on destruction, removes its operators from the readers of outer variables.
class PassingScope {
public:
    explicit PassingScope(Scope& parent) : scope_(parent) {}
    PassingScope(PassingScope const&) = delete;
    PassingScope& operator=(PassingScope const&) = delete;
    ~PassingScope() { scope_.forget_readers(); }

    Scope& operator*() noexcept { return scope_; }

private:
    Scope scope_;
};

/// A net with its backward pass and the operators of its optimizers, which are removed with the trainer.
template <class T, class Device>
class Trainer {
public:
    /// errors   GraphError if `others` contains a name that is not a parameter of the net, or a schedule is given for
    ///          an optimizer without a learning rate
    Trainer(Variable& cost, layer::OptimizerOn<Device> const& optimizer,
            std::map<std::string, layer::OptimizerOn<Device>> const& others = {},
            layer::GradientClipOn<Device> const& clip = {}, layer::Schedule schedule = {});

    /// Initializes parameters and optimizer states, or sets them to the values of an earlier training.
    /// errors   ValueError if an optimizer rejects an option or the schedule's factor is not finite; GraphError or as
    ///          check_fits if the earlier training was of another net. On error, no variable has changed
    void begin(std::uint64_t seed, Parameters const* resume, Device exec = {});

    /// Trains on one batch and returns its cost. Either all parameters change or none: everything that an optimizer may
    /// reject is checked before the first one runs.
    double step(Feeds const& feeds, Device exec);

    /// Returns copies of parameters and states, complete when the call returns.
    Parameters parameters(Device exec = {}) const;

private:
    std::vector<Variable*> variables() const;

    /// Returns a copy, on the net's device, of a value on any device.
    static Value own_copy(Variable const& v, Value const& value, Device const& exec);

    double factor() const { return schedule_ ? schedule_(steps_) : 1.0; }

    /// Sets the optimizers' step number and learning rates for the next step.
    void prepare(double factor);

    /// The seed of the k-th random operator for this step; it differs from the seeds for initialization.
    LoDTensor<std::int64_t, Device> seed_of(std::size_t k, Device const& exec) const;

    Variable& cost_;
    MemoryPool pool_;
    PassingScope own_;
    layer::Schedule schedule_;
    Net<Device> net_, changes_;
    std::vector<Variable*> parameters_, seeds_;
    std::vector<typename layer::OptimizerOn<Device>::Update> updates_;
    std::int64_t steps_ = 0;
    std::uint64_t seed_ = 0;
    std::optional<double> first_factor_;  // of the step after begin, so that the schedule is called once for each step
};

template <class T, class Device>
Trainer<T, Device>::Trainer(Variable& cost, layer::OptimizerOn<Device> const& optimizer,
                            std::map<std::string, layer::OptimizerOn<Device>> const& others,
                            layer::GradientClipOn<Device> const& clip, layer::Schedule schedule)
    : cost_(cost), own_(cost.scope()), schedule_(std::move(schedule)) {
    static_cast<void>(Net<Device>::trace_and_build(cost));  // names the variables; names of states begin with these
    auto gradients = append_backward<T, Device>(cost, *own_);
    clip.add(*own_, gradients);
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : gradients) {
        outputs.push_back(g.gradient);
        parameters_.push_back(g.parameter);
    }
    net_ = Net<Device>::trace_and_build(outputs);
    for (Variable* const v : net_.inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
    }
    for (auto const& other : others) {
        if (std::ranges::none_of(parameters_, [&](Variable const* v) { return v->name() == other.first; }))
            throw GraphError(
                std::string("there is no parameter \"").append(other.first).append("\" for an optimizer of its own"));
    }
    for (auto const& g : gradients) {
        auto const other = others.find(g.parameter->name());
        updates_.push_back((other == others.end() ? optimizer : other->second).add(*own_, g));
        changes_.append(*updates_.back().op);
        if (schedule_ && !updates_.back().has_rate)
            throw GraphError(std::string("the optimizer of ")
                                 .append(g.parameter->name())
                                 .append(" has no learning_rate for the schedule"));
    }
}

template <class T, class Device>
void Trainer<T, Device>::begin(std::uint64_t seed, Parameters const* resume, Device exec) {
    steps_ = resume == nullptr ? 0 : resume->steps;
    seed_ = seed;
    first_factor_ = factor();
    prepare(*first_factor_);  // throws if an optimizer rejects an option or the factor is not finite
    auto const is_resumed = [&](Variable const& v) {
        return resume != nullptr && (v.role() == Role::parameter || resume->contains(v.name()));
    };
    for (Variable* const v : variables()) {
        if (is_resumed(*v)) check_fits(*v, resume->find(v->name()));
    }
    std::uint64_t number = 0;
    for (Variable* const v : variables()) {
        std::uint64_t const own = bits_at(seed, ++number);
        if (is_resumed(*v)) {
            v->value() = own_copy(*v, resume->find(v->name()), exec);
        } else if (v->initialize) {
            v->initialize(v->value(), own, exec);
        }
    }
}

template <class T, class Device>
double Trainer<T, Device>::step(Feeds const& feeds, Device exec) {
    MemoryPool::Guard const guard(pool_);
    auto const first = std::exchange(first_factor_, std::nullopt);
    prepare(first ? *first : factor());
    feed(net_.inputs(), feeds, cost_.scope(), exec);
    for (Variable const* v : net_.inputs()) {
        if (v->role() != Role::data) continue;
        Value const& value = v->value();
        if (value.rows() == 0)
            throw ShapeError(v->name() + ".shape(0)", "0", "at least 1: an empty batch teaches nothing");
    }
    {
        KeptValues const kept(seeds_);  // outside of this run, the seeds are empty
        for (std::size_t k = 0; k < seeds_.size(); ++k) seeds_[k]->value().set(seed_of(k, exec));
        in_order(exec, [&] { net_.run(*own_, exec); });
    }
    auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
    if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", shape_text(value.shape()), "[1]");
    auto const cost = static_cast<double>(dtype<T>::widen(first_element(exec, value)));
    if (!std::isfinite(cost)) throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
    for (auto const& update : updates_) update.check_gradient();
    changes_.run(*own_, exec);
    ++steps_;
    return cost;
}

template <class T, class Device>
Parameters Trainer<T, Device>::parameters(Device exec) const {
    Parameters result;
    result.steps = steps_;
    for (Variable* const v : variables()) result.set(v->name(), v->value().copy());
    synchronize(exec);
    return result;
}

template <class T, class Device>
std::vector<Variable*> Trainer<T, Device>::variables() const {
    std::vector<Variable*> all = parameters_;
    for (auto const& update : updates_) all.insert(all.end(), update.states.begin(), update.states.end());
    return all;
}

template <class T, class Device>
Value Trainer<T, Device>::own_copy(Variable const& v, Value const& value, Device const& exec) {
    if (v.bring == nullptr) return value.copy();
    Value mine = value.share();
    v.bring(mine, exec, true);
    return mine;
}

template <class T, class Device>
void Trainer<T, Device>::prepare(double factor) {
    if (!std::isfinite(factor))
        throw ValueError(std::string("the schedule's factor for step ").append(std::to_string(steps_)), factor,
                         "a finite number");
    for (auto const& update : updates_) run_named(*update.op, [&] { update.prepare(steps_ + 1, factor); });
}

template <class T, class Device>
LoDTensor<std::int64_t, Device> Trainer<T, Device>::seed_of(std::size_t k, Device const& exec) const {
    std::uint64_t const now = bits_at(bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    return to_device(exec, Tensor<std::int64_t>{static_cast<std::int64_t>(now)});
}

ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)
ROWAN_TEMPLATE(void feed(std::span<Variable* const>, Feeds const&, Scope const&, Cpu const&))

}  // namespace rowan::inline v0::detail

// rowan/layer/infer.hpp: infer, the value of a layer for a batch.

namespace rowan::inline v0 {

/// Returns the value of a layer for a batch and trained parameters.
///     auto y = infer(predict, {{"x", batch}}, parameters);
/// A batch may contain data that only other layers need, such as the labels of a cost. Dropout returns its input. On a
/// device, the call blocks until the result is ready, and parameters in host memory are copied to the device in every
/// call.
/// shapes   that of predict, with the dims of the batch
/// errors   GraphError if no operator writes predict, the batch or the parameters lack a variable, or the batch
///          contains a name that no layer::data declared; TypeError or ShapeError if the element type, rank, a dim or
///          the number of levels of a value in the batch or the parameters differs from the variable's; else as
///          Net::run
/// cost     that of the operators that predict depends on, plus tracing the net
template <class T, class Device>
LoDTensor<T, Device> infer(layer::Var<T, Device> const& predict, Feeds const& feeds, Parameters const& parameters,
                           Device exec = {}) {
    auto const net = Net<Device>::trace_and_build(*predict);
    if (predict->writers().empty()) throw GraphError(predict->name() + " is written by no operator");
    std::vector<Variable*> inputs;  // without variables that the program sets itself
    for (Variable* const v : net.inputs()) {
        if (v->role() == Role::parameter) detail::check_fits(*v, parameters.find(v->name()));
        if (v->role() == Role::parameter || v->role() == Role::data) inputs.push_back(v);
    }
    detail::KeptValues const kept(inputs);  // the values of a training in progress are restored
    detail::feed(inputs, feeds, predict->scope(), exec);
    for (Variable* const v : inputs) {
        if (v->role() != Role::parameter) continue;
        v->value() = parameters.find(v->name()).share();
        if (v->bring != nullptr) v->bring(v->value(), exec, false);
    }
    detail::in_order(exec, [&] { net.run(predict->scope(), exec); });
    synchronize(exec);
    return std::move(predict->value().template get<LoDTensor<T, Device>>());
}

ROWAN_TEMPLATE(LoDTensor<float> infer(layer::Var<float> const&, Feeds const&, Parameters const&, Cpu))
ROWAN_TEMPLATE(LoDTensor<double> infer(layer::Var<double> const&, Feeds const&, Parameters const&, Cpu))

}  // namespace rowan::inline v0

// rowan/op/detail/reduction.hpp: Reduction of the losses of a batch, and sums independent of the thread count.

namespace rowan::inline v0 {

/// How the losses of n rows are reduced: not at all, to their mean, or to their sum. The mean of no rows is 0.
enum class Reduction : std::int32_t { none = 0, mean = 1, sum = 2 };

namespace detail {

/// The number of elements that one thread sums, in 16 interleaved partial sums. The block sums are then added in the
/// same way.
inline constexpr std::size_t sum_block = 4096;

/// The sum of block(begin, end) over blocks of [0, n).
template <class S, class Block>
S blocked_sum(Cpu exec, std::size_t n, Block const& block) {
    Buffer<S> sums((n + sum_block - 1) / sum_block);
    bool const serial = threads_for(exec, n) == 1;
    parallel_for(exec, sums.size(), serial ? sums.size() : 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) sums[k] = block(k * sum_block, std::min(n, (k + 1) * sum_block));
    });
    return interleaved_sum<S>(sums.size(), static_cast<S const*>(sums.data()), [](auto const& a) { return a; });
}

/// total / n; 0 if n is 0
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD S mean_of(S const& total, std::size_t n) {
    return n == 0 ? constant<S>(0.0) : quotient(total, constant<S>(static_cast<double>(n)));
}

/// p, q -> (p - q)²
struct squared_difference {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& p, V const& q) const {
        return product(V(p - q), V(p - q));
    }
};

/// x, which the caller converts to another type
struct same_number {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return x;
    }
};

/// Reduces whole tensors on a device. The Thrust specialization is in rowan/thrust/op/detail/reduction.hpp.
template <class D>
struct Totals;

template <>
struct Totals<Cpu> {
    /// The sum or the mean of n numbers.
    template <class T>
    static void of_losses(Cpu exec, std::size_t n, sum_t<T> const* losses, bool mean, T* out) {
        using S = sum_t<T>;
        S const total = blocked_sum<S>(exec, n, [&](std::size_t begin, std::size_t end) {
            return interleaved_sum<S>(end - begin, losses + begin, same_number{});
        });
        *out = dtype<T>::narrow(mean ? mean_of(total, n) : total);
    }

    /// The mean of the squared differences of n elements.
    template <class T>
    static void mean_square(Cpu exec, std::size_t n, T const* a, T const* b, T* out) {
        using S = sum_t<T>;
        S const total = blocked_sum<S>(exec, n, [&](std::size_t begin, std::size_t end) {
            std::array<S, sum_block> squares;
            zip_lanes<S>(squared_difference{}, end - begin, squares.data(), a + begin, b + begin);
            return interleaved_sum<S>(end - begin, static_cast<S const*>(squares.data()), same_number{});
        });
        *out = dtype<T>::narrow(mean_of(total, n));
    }
};

/// Reduces the losses of the rows.
template <class T, class D, class Losses>
Tensor<T, D> reduce(D const& exec, Reduction reduction, Losses const& losses) {
    using S = sum_t<T>;
    std::size_t const n = losses.size();
    S const* const from = losses.data();
    if (reduction == Reduction::none) {
        auto out = new_tensor<T>(exec, {n});
        ElementLoops<D>::template zip<S>(exec, n, same_number{}, out.data(), from);
        return out;
    }
    auto out = new_tensor<T>(exec, {1});
    Totals<D>::of_losses(exec, n, from, reduction == Reduction::mean, out.data());
    return out;
}

/// Checks that the gradient has the shape of the reduced losses: [n], or [1].
template <class T, class D>
void check_reduced(char const* field, Tensor<T, D> const& out_grad, Reduction reduction, std::size_t n) {
    std::size_t const size = reduction == Reduction::none ? n : 1;
    if (out_grad.dimension() == 1 && out_grad.size() == size) return;
    throw ShapeError(std::string(field).append(".shape()"), shape_text(out_grad.shape()),
                     std::string("[").append(std::to_string(size)).append("]"));
}

/// Returns the gradient of the loss of each row.
template <class T>
struct LossGrads {
    T const* out_grad;
    Reduction reduction;
    std::size_t n;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()(std::size_t row) const {
        auto const g = load<sum_t<T>>(out_grad + (reduction == Reduction::none ? row : 0));
        return reduction == Reduction::mean ? mean_of(g, n) : g;
    }
};

/// The dims of the reduced losses of n rows.
constexpr Dims reduced_dims(Reduction reduction, std::int64_t n) {
    if (reduction == Reduction::none) return {n};
    return {1};
}

}  // namespace detail

}  // namespace rowan::inline v0

// rowan/op/cross_entropy.hpp: cross_entropy, the loss of probabilities against labels.

namespace rowan::inline v0 {

namespace detail {

/// Checks that there is one label for each row of x, in [0, classes).
template <class T, id_type I, class D>
void check_labels(D const& exec, char const* field, Tensor<T, D> const& x, Tensor<I, D> const& label) {
    check_rank(field, x, 2);
    check_one_per_row("label", label, x.shape(0));
    ElementLoops<D>::check(exec, x, label);
    ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(x.shape(1)));
}

template <class T, class D>
void check_soft_labels(Tensor<T, D> const& x, Tensor<T, D> const& label) {
    check_rank("x", x, 2);
    check_same_shape("label", label, x);
}

/// losses[row] = -log(x[row, label[row]])
template <class T, class I>
struct LabelLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        T const* const p = x + row * classes + static_cast<std::size_t>(label[row]);
        losses[row] = constant<sum_t<T>>(0.0) - log_of(load<sum_t<T>>(p));
    }
};

/// Its gradient at the label: -grad / x.
template <class T, class I>
struct LabelLossGrad {
    T const* x;
    I const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + static_cast<std::size_t>(label[row]);
        store(S(constant<S>(0.0) - quotient(grads(row), load<S>(x + at))), to + at);
    }
};

/// Whether x is 0; false for NaN.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE bool is_zero(S const& x) {
    S const zero = constant<S>(0.0);
    return !(x < zero) && !(x > zero) && !(x != x);
}

/// label · log(x), or 0 where the label is 0.
template <class T>
struct SoftLabelTerm {
    T const *x, *label;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()(std::size_t at) const {
        using S = sum_t<T>;
        S const share = load<S>(label + at);
        return is_zero(share) ? constant<S>(0.0) : product(share, log_of(load<S>(x + at)));
    }
};

/// The gradient of the loss, the negative sum of these terms: -grad · label / x, or 0 where the label is 0.
template <class T>
struct SoftLabelGrad {
    T const *x, *label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> of_row(std::size_t row) const { return constant<sum_t<T>>(0.0) - grads(row); }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(sum_t<T> const& g, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + column;
        S const share = load<S>(label + at);
        store(is_zero(share) ? constant<S>(0.0) : S(quotient(product(share, g), load<S>(x + at))), to + at);
    }
};

}  // namespace detail

/// -log(x[i, label[i]]) for every row i, or the mean or sum of these, computed in dtype<T>::sum; `log` is std::log or
/// found by ADL. Sums are formed in blocks of 4096 elements, each in 16 interleaved partial sums, and the block sums
/// are added in the same way. A probability of 0 has an infinite loss; softmax_with_cross_entropy avoids this. The
/// precision on Cuda is that of its `log`. Goodfellow et al.: Deep Learning, 2016, section 6.2.2.
/// shapes   x [n, classes] of probabilities, label [n] of int32 or int64 -> [1], or [n] without reduction
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     O(n); the same bits for any number of threads
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                           Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy: probabilities are fractions, convert x");
    detail::check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::ElementLoops<D>::each(exec, n, 1,
                                  detail::LabelLoss<T, I>{x.data(), label.data(), losses.data(), x.shape(1)});
    return detail::reduce<T>(exec, reduction, losses);
}

/// The same for labels that are probabilities: -Σ label · log(x) for every row; a term is 0 where its label is 0.
/// shapes   x [n, classes], label the same -> [1], or [n] without reduction
/// errors   ShapeError if x is not a matrix or label has another shape
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                           Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy: probabilities are fractions, convert x and label");
    detail::check_soft_labels(x, label);
    detail::ElementLoops<D>::check(exec, x, label);
    std::size_t const n = x.shape(0);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::SoftLabelTerm<T> const term{x.data(), label.data()};
    detail::MatrixRows<D>::template negative_sums<S>(exec, n, x.shape(1), term, losses.data());
    return detail::reduce<T>(exec, reduction, losses);
}

/// The gradient of x: -out_grad / x at the label, 0 elsewhere; divided by n for Reduction::mean.
/// shapes   x [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as cross_entropy; ShapeError if out_grad has another shape
/// cost     one write of the result
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy_grad: probabilities are fractions");
    std::size_t const n = x.dimension() == 0 ? 0 : x.shape(0);
    detail::check_labels(exec, "x", x, label);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, out_grad);
    std::size_t const classes = x.shape(1);
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::LabelLossGrad<T, I> const at_label{x.data(), label.data(), grads, x_grad.data(), classes};
    detail::ElementLoops<D>::zero_rows(exec, n, classes, x_grad.data(), at_label);
    return x_grad;
}

/// The gradient of x: -out_grad · label / x, or 0 where the label is 0; divided by n for Reduction::mean. The labels
/// have no gradient.
/// shapes   x [n, classes], label the same, out_grad [1], or [n] without reduction -> [n, classes]
/// errors   ShapeError if x is not a matrix or the shapes do not match
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(!std::integral<detail::sum_t<T>>, "rowan::cross_entropy_grad: probabilities are fractions");
    detail::check_soft_labels(x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, x, label, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::ElementLoops<D>::each_element(
        exec, n, classes, detail::SoftLabelGrad<T>{x.data(), label.data(), grads, x_grad.data(), classes});
    return x_grad;
}

template <class T, class L, class Device>
Tensor<T, Device> cross_entropy(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                Reduction reduction = Reduction::mean) {
    return cross_entropy(x.device(), x, label, reduction);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_grad(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                     Tensor<T, Device> const& out_grad, Reduction reduction = Reduction::mean) {
    return cross_entropy_grad(x.device(), x, label, out_grad, reduction);
}

struct cross_entropy_grad_op;

/// See cross_entropy. Labels are class indices of rank 1, or probabilities of the shape of x.
struct cross_entropy_op {
    static constexpr std::string_view name = "cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out>;
    using grad =
        grad_rule<cross_entropy_grad_op, uses<slot::x, slot::label, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        Reduction reduction = Reduction::mean;  ///< applied to the losses of the rows

        static constexpr auto fields = std::tuple(field{"reduction", &attributes::reduction});
    };

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("cross_entropy: x", x);
        spec::dense("cross_entropy: label", label);
        std::int64_t n = x.dims[0];
        if (label.dims.size() == 2) {
            n = spec::elementwise("cross_entropy: label", label, x).dims[0];
        } else {
            spec::rank("cross_entropy: label", label, 1, "1 of row numbers or 2 of probabilities");
            spec::ids("cross_entropy: label", label);
            n = spec::same_dim("cross_entropy: label.shape(0)", label.dims[0], n);
        }
        return {VarType::LOD_TENSOR, x.dtype, detail::reduced_dims(a.reduction, n), 0};
    }

    template <class T, class L, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, attributes const& a) {
        return cross_entropy(exec, x, label, a.reduction);
    }
};

struct cross_entropy_grad_op {
    static constexpr std::string_view name = "cross_entropy_grad";
    using inputs = slots<slot::x, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = cross_entropy_op::attributes;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        spec::elementwise("cross_entropy_grad: out@GRAD", out_grad, cross_entropy_op::infer(x, label, a));
        return x;
    }

    template <class T, class L, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, Tensor<T, D> const& out_grad,
                            attributes const& a) {
        return cross_entropy_grad(exec, x, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0

// rowan/op/mse.hpp: mse, the mean squared error.

namespace rowan::inline v0 {

namespace detail {

/// Twice the gradient of the mean.
template <class T>
struct MseFactor {
    LossGrads<T> grads;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()() const { return product(constant<sum_t<T>>(2.0), grads(0)); }
};

/// (a - b) · factor()
template <class Factor>
struct times_difference {
    Factor factor;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& a, V const& b) const {
        return product(V(a - b), V(factor()));
    }
};

}  // namespace detail

/// The mean of (x - y)² over all elements, computed in dtype<T>::sum; 0 if there are none. Sums are formed in blocks of
/// 4096 elements, each in 16 interleaved partial sums, and the block sums are added in the same way.
/// shapes   x [...], y [...] -> [1]
/// errors   ShapeError if the shapes differ
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> mse(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    static_assert(!std::integral<detail::sum_t<T>>,
                  "rowan::mse: a mean has fractions, convert x and y to a type that has them");
    detail::check_same_shape("y", y, x);
    detail::ElementLoops<D>::check(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {1});
    detail::Totals<D>::mean_square(exec, x.size(), x.data(), y.data(), out.data());
    return out;
}

/// The gradients of x and of y: 2 · (x - y) · out_grad / size and its negative.
/// shapes   x [...], y [...], out_grad [1] -> both [...]
/// errors   ShapeError if the shapes do not match
/// cost     two reads of both and two writes
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> mse_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                Tensor<T, D> const& out_grad) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::mse_grad: a mean has fractions");
    detail::check_same_shape("y", y, x);
    detail::check_reduced("out_grad", out_grad, Reduction::mean, 1);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto const factor =
        detail::ElementLoops<D>::value_of(detail::MseFactor<T>{{out_grad.data(), Reduction::mean, x.size()}});
    detail::times_difference<std::remove_const_t<decltype(factor)>> const formula{factor};
    return {detail::zip_elements<S>(exec, formula, x, y), detail::zip_elements<S>(exec, formula, y, x)};
}

template <class T, class Device>
Tensor<T, Device> mse(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return mse(x.device(), x, y);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> mse_grad(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                                          Tensor<T, Device> const& out_grad) {
    return mse_grad(x.device(), x, y, out_grad);
}

struct mse_grad_op {
    static constexpr std::string_view name = "mse_grad";
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>, grad_of<slot::y>>;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad) {
        VarSpec const both = spec::elementwise("mse_grad: y", y, x);
        spec::elementwise("mse_grad: out@GRAD", out_grad, {VarType::LOD_TENSOR, x.dtype, {1}, 0});
        return {both, both};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                      Tensor<T, D> const& out_grad) {
        return mse_grad(exec, x, y, out_grad);
    }
};

struct mse_op {
    static constexpr std::string_view name = "mse";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<mse_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::elementwise("mse: y", y, x);
        return {VarType::LOD_TENSOR, x.dtype, {1}, 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return mse(exec, x, y);
    }
};

}  // namespace rowan::inline v0

// rowan/op/softmax.hpp: softmax, the softmax of each row of a matrix.

namespace rowan::inline v0 {

/// exp(x - max) / Σ exp(x - max), row by row, computed in dtype<T>::sum and narrowed once; user-defined types need an
/// `exp` that ADL finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it contains a NaN or its
/// maximum is infinite. Goodfellow et al.: Deep Learning, 2016, section 4.1.
/// shapes   x [n, classes] -> [n, classes]
/// errors   ShapeError if x is not a matrix
/// cost     two reads of x and one write of the result, temporary memory of one row per thread; the same bits for any
///          number of threads
template <class T, device D>
Tensor<T, D> softmax(D const& exec, Tensor<T, D> const& x) {
    static_assert(!std::integral<detail::sum_t<T>>,
                  "rowan::softmax: integers have no softmax, convert x to a type with fractions");
    detail::check_rank("x", x, 2);
    detail::ElementLoops<D>::check(exec, x);
    auto out = detail::new_tensor<T>(exec, x.shape());
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax(exec, x.shape(0), x.shape(1), x.data(), out.data(), detail::NoRowLoss{});
    return out;
}

/// The gradient of x from the result and its gradient: out · (out_grad - Σ out · out_grad), row by row.
/// shapes   both [n, classes] -> [n, classes]
/// errors   ShapeError if out is not a matrix or the shapes differ
/// cost     two reads of both and one write of the result, temporary memory of one row per thread
template <class T, device D>
Tensor<T, D> softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    static_assert(!std::integral<detail::sum_t<T>>, "rowan::softmax_grad: integers have no softmax");
    detail::check_rank("out", out, 2);
    detail::check_same_shape("out_grad", out_grad, out);
    detail::ElementLoops<D>::check(exec, out, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, out.shape());
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax_grad(exec, out.shape(0), out.shape(1), out.data(), out_grad.data(),
                                            x_grad.data());
    return x_grad;
}

template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x) {
    return softmax(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return softmax_grad(out.device(), out, out_grad);
}

struct softmax_grad_op {
    static constexpr std::string_view name = "softmax_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        spec::matrix("softmax_grad: out", out);
        return spec::elementwise("softmax_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return softmax_grad(exec, out, out_grad);
    }
};

struct softmax_op {
    static constexpr std::string_view name = "softmax";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<softmax_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::matrix("softmax: x", x);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return softmax(exec, x);
    }
};

}  // namespace rowan::inline v0

// rowan/op/softmax_with_cross_entropy.hpp: softmax_with_cross_entropy, the cross entropy of logits.

namespace rowan::inline v0 {

namespace detail {

/// Writes the loss of a row, given its maximum and the sum of its exponentials.
template <class T, class I>
struct SoftmaxLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row, sum_t<T> const& greatest, sum_t<T> const& total) const {
        auto const found = load<sum_t<T>>(x + row * classes + static_cast<std::size_t>(label[row]));
        losses[row] = log_of(total) - (found - greatest);
    }
};

}  // namespace detail

/// log(Σ exp(x - max)) - (x[i, label[i]] - max) for every row i, or the mean or sum of these, and the softmax, which
/// the gradient needs. Computed in dtype<T>::sum; user-defined types need `exp` and `log` that ADL finds. The loss is
/// finite if the differences of the elements of a row are. Row sums are formed in 16 interleaved partial sums, sums of
/// losses as in cross_entropy. The precision of the loss on Cuda is that of its `log`. Goodfellow et al.: Deep
/// Learning, 2016, sections 4.1 and 6.2.2.
/// shapes   x [n, classes], label [n] of int32 or int64 -> the loss [1], or [n] without reduction, and the softmax
///          [n, classes]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     as softmax
template <class T, id_type I, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> softmax_with_cross_entropy(D const& exec, Tensor<T, D> const& x,
                                                                  Tensor<I, D> const& label,
                                                                  Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::softmax_with_cross_entropy: integers have no softmax, convert x");
    detail::check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    auto softmax = detail::new_tensor<T>(exec, x.shape());
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::SoftmaxLoss<T, I> const loss{x.data(), label.data(), losses.data(), classes};
    if (n != 0) detail::MatrixRows<D>::softmax(exec, n, classes, x.data(), softmax.data(), loss);
    return {detail::reduce<T>(exec, reduction, losses), std::move(softmax)};
}

/// The gradient of x from the softmax: (softmax - 1) · out_grad at the label, softmax · out_grad elsewhere; divided by
/// n for Reduction::mean.
/// shapes   softmax [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as softmax_with_cross_entropy; ShapeError if out_grad has another shape
/// cost     one read of the softmax and one write of the result
template <class T, id_type I, device D>
Tensor<T, D> softmax_with_cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                                             Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(!std::integral<detail::sum_t<T>>, "rowan::softmax_with_cross_entropy_grad: integers have no softmax");
    detail::check_labels(exec, "softmax", softmax, label);
    std::size_t const n = softmax.shape(0), classes = softmax.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, softmax.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::MatrixRows<D>::label_grad(exec, n, classes, softmax.data(), label.data(), grads, x_grad.data());
    return x_grad;
}

template <class T, class I, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> softmax_with_cross_entropy(Tensor<T, Device> const& x,
                                                                            Tensor<I, Device> const& label,
                                                                            Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy(x.device(), x, label, reduction);
}
template <class T, class I, class Device>
Tensor<T, Device> softmax_with_cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<I, Device> const& label,
                                                  Tensor<T, Device> const& out_grad,
                                                  Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy_grad(softmax.device(), softmax, label, out_grad, reduction);
}

struct softmax_with_cross_entropy_grad_op;

/// See softmax_with_cross_entropy. The slot `saved` holds the softmax.
struct softmax_with_cross_entropy_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out, slot::saved>;
    using grad = grad_rule<softmax_with_cross_entropy_grad_op, uses<slot::saved, slot::label, grad_of<slot::out>>,
                           makes<grad_of<slot::x>>>;
    using attributes = cross_entropy_op::attributes;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("softmax_with_cross_entropy: x", x);
        spec::dense("softmax_with_cross_entropy: label", label);
        spec::rank("softmax_with_cross_entropy: label", label, 1, "1");
        spec::ids("softmax_with_cross_entropy: label", label);
        VarSpec softmax = x;
        softmax.dims[0] = spec::same_dim("softmax_with_cross_entropy: label.shape(0)", label.dims[0], softmax.dims[0]);
        return {VarSpec{VarType::LOD_TENSOR, x.dtype, detail::reduced_dims(a.reduction, softmax.dims[0]), 0}, softmax};
    }

    template <class T, class I, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                      attributes const& a) {
        return softmax_with_cross_entropy(exec, x, label, a.reduction);
    }
};

struct softmax_with_cross_entropy_grad_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy_grad";
    using inputs = slots<slot::saved, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = cross_entropy_op::attributes;

    static constexpr VarSpec infer(VarSpec const& softmax, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        auto const forward = softmax_with_cross_entropy_op::infer(softmax, label, a);
        spec::elementwise("softmax_with_cross_entropy_grad: out@GRAD", out_grad, forward[0]);
        return forward[1];
    }

    template <class T, class I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return softmax_with_cross_entropy_grad(exec, softmax, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/loss.hpp: losses and softmax.

namespace rowan::inline v0::layer {

/// The mean squared error over all elements.
/// shapes   x and y [...] -> [1]
/// errors   ShapeError if the shapes differ
/// cost     as rowan::mse, when the net runs
template <class T, class Device>
Var<T, Device> mse(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<mse_op>({}, x, y);
}

/// Row-wise softmax, the probabilities of the classes, as rowan::softmax.
/// shapes   [n, classes] -> [n, classes]
/// errors   ShapeError if x is not a matrix
/// cost     as rowan::softmax, when the net runs
template <class T, class Device>
Var<T, Device> softmax(Var<T, Device> const& x) {
    return apply<softmax_op>({}, x);
}

/// The mean over the rows of -log(probability of the label), as rowan::cross_entropy.
/// shapes   x [n, classes] of probabilities, label [n] -> [1]
/// errors   ShapeError if x is not a matrix or label has a different number of rows; when the net runs, IndexError if a
///          label is not in [0, classes)
/// cost     as rowan::cross_entropy, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> cross_entropy(Var<T, Device> const& x, Var<I, Device> const& label) {
    return apply<cross_entropy_op>({}, x, label);
}

/// cross_entropy(softmax(x), label) in a numerically stable form, as rowan::softmax_with_cross_entropy.
/// shapes   x [n, classes] of scores, label [n] -> [1]
/// errors   as layer::cross_entropy
/// cost     as rowan::softmax_with_cross_entropy, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> softmax_with_cross_entropy(Var<T, Device> const& x, Var<I, Device> const& label) {
    return apply<softmax_with_cross_entropy_op>({}, x, label);
}

ROWAN_TEMPLATE(Var<float> mse(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> softmax(Var<float> const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<float> softmax_with_cross_entropy(Var<float> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<float> softmax_with_cross_entropy(Var<float> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<double> mse(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> softmax(Var<double> const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<double> softmax_with_cross_entropy(Var<double> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<double> softmax_with_cross_entropy(Var<double> const&, Var<std::int32_t> const&))

}  // namespace rowan::inline v0::layer

// rowan/layer/detail/run_parts.hpp: run_parts, runs the parts of a task in parallel, each on one thread.

namespace rowan::inline v0::detail {

/// Calls f(k, exec) for k in [0, parts) on the threads of `exec`. If there are several parts, the exec passed to f has
/// one thread. Rethrows the exception of the lowest k that threw, after all parts have run.
inline void run_parts(Cpu exec, std::size_t parts, std::function<void(std::size_t, AnyExec)> const& f) {
    if (parts == 1) return f(0, exec);
    Cpu const serial{.threads = 1};
    Buffer<std::exception_ptr> errors(parts);
    FreeBlocks* const pool = current_pool();
    parallel_for(exec, parts, 1, [&](std::size_t begin, std::size_t end) {
        FreeBlocks* const before = std::exchange(current_pool(), pool);
        for (std::size_t k = begin; k < end; ++k) {
            try {
                f(k, serial);
            } catch (...) {
                errors[k] = std::current_exception();
            }
        }
        current_pool() = before;
    });
    for (auto const& error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

}  // namespace rowan::inline v0::detail

// rowan/layer/memory.hpp: Memory, States and Step, the arguments and results of a recurrent layer.

namespace rowan::inline v0::layer {

/// A reference to a variable of any element type, or to none.
class AnyVar {
public:
    AnyVar() = default;  ///< no variable
    /// Refers to `v`.
    explicit AnyVar(Variable& v) : variable_(&v) {}
    /// Refers to the variable of `v`.
    template <class T, class Device>
    AnyVar(Var<T, Device> const& v) : variable_(&*v) {}
    Variable* get() const noexcept { return variable_; }  ///< nullptr if there is none

private:
    Variable* variable_ = nullptr;
};

/// A state of a recurrent layer. It is initialized with zeros of a given width, `Memory{.size = 64}`, or with one row
/// for each sequence, such as the last state of another layer, `Memory{.like = last}`.
struct Memory {
    std::int64_t size = 0;  ///< width of a state that is initialized with zeros
    AnyVar like = {};       ///< initial state, if given
};

/// One state, or a list of states.
template <class T, class Device>
class States {
public:
    /// One state.
    States(Var<T, Device> state) : all_{state} {}
    /// Several states.
    States(std::vector<Var<T, Device>> states) : all_(std::move(states)) {}
    /// Several states, in braces.
    States(std::initializer_list<Var<T, Device>> states) : all_(states) {}
    std::vector<Var<T, Device>> const& all() const noexcept { return all_; }  ///< in the order of the memories

private:
    std::vector<Var<T, Device>> all_;
};

/// The result of a step: its output, and the state for the next step or a list of states, one for each memory.
template <class T, class Device>
struct Step {
    Var<T, Device> output;                           ///< output of this step, one row for each sequence
    std::type_identity_t<States<T, Device>> memory;  ///< state for the next step
};
template <class T, class Device>
Step(Var<T, Device>, std::type_identity_t<States<T, Device>>) -> Step<T, Device>;

/// The result of a recurrent layer: one row for each row of the input, with the input's levels, and the last state of
/// each sequence.
template <class T, class Device>
struct Recurrence {
    Var<T, Device> output;  ///< one row for each row of the input
    Var<T, Device> last;    ///< state of each sequence after its last step
};

/// The same with one last state for each of several memories.
template <class T, class Device>
struct Recurrences {
    Var<T, Device> output;             ///< one row for each row of the input
    std::vector<Var<T, Device>> last;  ///< for each memory, the state of each sequence after its last step
};

/// How a recurrent layer iterates over sequences.
struct RnnOptions {
    bool reverse = false;       ///< iterate from the ends of the sequences to their beginnings
    std::ptrdiff_t level = -1;  ///< level whose sequences are iterated over; negative values count from the last
};

}  // namespace rowan::inline v0::layer

// rowan/layer/detail/recurrence.hpp: recurrence, which builds the net of a step and adds its operator.

namespace rowan::inline v0::detail {

/// The element type of states and results: State unless it is void, else T, or float if T is an integer type.
template <class State, class T>
using state_t = std::conditional_t<!std::is_void_v<State>, State, std::conditional_t<std::is_integral_v<T>, float, T>>;

/// A block with an empty scope within `outside`, for the steps of the sequences of x.
/// errors   ShapeError if x has no levels; ValueError if it does not have that level
std::shared_ptr<RnnBlock> new_rnn_block(Scope& outside, VarSpec const& x, layer::RnnOptions const& options);

/// Adds the states before a step to the scope of the block, and the initial states to `inputs`.
/// errors   ShapeError if an initial state is not a matrix; TypeError if its element type is not that of `state`;
///          ValueError if a memory has no size, or both a size and an initial state
std::vector<Variable*> add_memories(RnnBlock& block, std::span<layer::Memory const> memories, VarSpec const& state,
                                    std::vector<Variable*>& inputs);

/// Completes the net of a step with its output and the states after it.
/// errors   ShapeError if the states differ from those before the step in number or width, or do not have one row for
///          each sequence
void end_step(RnnBlock& block, Variable& output, std::span<Variable* const> before, std::span<Variable* const> after);

/// Calls `step(x_t, states)` once, to build the net of a step.
template <class R, class T, class Device, class F>
layer::Recurrences<R, Device> recurrence(layer::Var<T, Device> const& x, std::span<layer::Memory const> memories,
                                         layer::RnnOptions const& options, F const& step) {
    using layer::Var;
    Scope& outside = default_scope();
    auto const block = new_rnn_block(outside, x->spec(), options);
    WithdrawnScope refused{block->scope.get()};
    std::vector<Variable*> inputs{&*x};
    auto const before = add_memories(*block, memories, tensor_spec<R>({}), inputs);
    layer::Step<R, Device> const made = [&] {
        ScopeGuard const guard(*block->scope);
        std::vector<Var<R, Device>> states;
        for (Variable* const v : before) states.emplace_back(*v);
        return step(Var<T, Device>(*block->net.x), states);
    }();
    std::vector<Variable*> after;
    for (auto const& state : made.memory.all()) after.push_back(&*state);
    end_step(*block, *made.output, before, after);
    block->runs_whole = runs_whole<Device>;
    block->kernels = LoopKernels::of<R, Device>();
    block->for_parts = [](AnyExec exec, std::size_t parts, std::function<void(std::size_t, AnyExec)> const& f) {
        if constexpr (std::is_same_v<Device, Cpu>) {
            run_parts(exec.get<Cpu>(), parts, f);
        } else {
            for (std::size_t k = 0; k < parts; ++k) f(k, exec);
        }
    };
    inputs.insert(inputs.end(), block->net.outer.begin(), block->net.outer.end());
    Operator& op = outside.new_op(rnn_kernel, std::move(inputs), block);
    op.build_backward = [&net = block->net] { net.template build_backward<R, Device>(); };
    refused.scope = nullptr;
    layer::Recurrences<R, Device> result{Var<R, Device>(*op.outputs[before.size()]), {}};
    for (std::size_t m = 0; m < before.size(); ++m) result.last.emplace_back(*op.outputs[m]);
    return result;
}

}  // namespace rowan::inline v0::detail

// rowan/layer/detail/recurrence_inl.hpp: definitions of rowan/layer/detail/recurrence.hpp.

#if ROWAN_DEFINES_FUNCTIONS

#include <cstdint>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::shared_ptr<RnnBlock> new_rnn_block(Scope& outside, VarSpec const& x,
                                                       layer::RnnOptions const& options) {
    spec::has_levels("layer::rnn: x", x);
    auto const levels = static_cast<std::ptrdiff_t>(x.lod_level);
    if (options.level < -levels || options.level >= levels)
        throw ValueError("layer::rnn: level", static_cast<double>(options.level),
                         "a level of x, which has " + std::to_string(levels));
    auto block = std::make_shared<RnnBlock>();
    block->scope = std::make_unique<Scope>(outside);
    block->level = static_cast<std::size_t>(options.level < 0 ? options.level + levels : options.level);
    block->reverse = options.reverse;
    block->net.scope = block->scope.get();
    VarSpec x_t = x;
    x_t.lod_level -= block->level + 1;
    x_t.dims[0] = UNK;
    block->net.x = &block->scope->new_var("x", x_t);
    return block;
}

ROWAN_FUNCTION std::vector<Variable*> add_memories(RnnBlock& block, std::span<layer::Memory const> memories,
                                                   VarSpec const& state, std::vector<Variable*>& inputs) {
    std::vector<Variable*> before;
    for (layer::Memory const& memory : memories) {
        Variable* const boot = memory.like.get();
        if (boot != nullptr) {
            spec::matrix("layer::rnn: memory", boot->spec());
            if (boot->spec().dtype != state.dtype)
                throw TypeError("layer::rnn: memory.like", kind_text(boot->spec()), kind_text(state));
        }
        if (boot == nullptr ? memory.size < 1 : memory.size != 0)
            throw ValueError("layer::rnn: memory.size", static_cast<double>(memory.size),
                             boot == nullptr ? "1 or more" : "0 beside memory.like");
        VarSpec spec = state;
        spec.dims = {UNK, boot == nullptr ? memory.size : boot->spec().dims[1]};
        std::string const name = before.empty() ? "before" : "before_" + std::to_string(before.size());
        before.push_back(&block.scope->new_var(name, spec));
        block.has_boot.push_back(boot != nullptr);
        if (boot != nullptr) inputs.push_back(boot);
    }
    return before;
}

ROWAN_FUNCTION void end_step(RnnBlock& block, Variable& output, std::span<Variable* const> before,
                             std::span<Variable* const> after) {
    auto& net = block.net;
    if (after.size() != before.size())
        throw ShapeError("layer::rnn: the number of states after a step", std::to_string(after.size()),
                         std::to_string(before.size()));
    net.out = &output;
    for (std::size_t m = 0; m < before.size(); ++m) {
        Dims const &first = before[m]->spec().dims, &next = after[m]->spec().dims;
        if (!(next == first))
            throw ShapeError("layer::rnn: the width of the state after a step",
                             next.size() == 2 ? std::to_string(next[1]) : "no number", std::to_string(first[1]));
        net.memories.push_back({before[m], after[m]});
    }
    net.build();
    auto const check_rows = [&](Variable const& v) {
        if (!net.has_rows(v) || v.spec().dims.empty() || v.spec().dims[0] != UNK)
            throw ShapeError("layer::rnn: the output or the state of a step", "the same for all sequences",
                             "a row for each");
    };
    check_rows(output);
    for (Variable const* const v : after) check_rows(*v);
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/layer/rnn.hpp: layer::rnn, a recurrent layer whose step is a function of layers.

namespace rowan::inline v0::layer {

/// Runs `step(x_t, before)` for every step of the sequences of x and returns the outputs in the order of the input.
/// `step` is called once, to build the net of a step. Sequences are processed without padding, sorted by decreasing
/// length. Row-wise operators that depend only on x, or that the next step does not depend on, run once for all steps,
/// and so do the gradients of their weights; the gradient of a table that is looked up in the step stays row-sparse.
///
///     auto [h, last] = layer::rnn_with_last(x, layer::Memory{.size = 64}, [&](auto x_t, auto before) {
///         auto now = layer::gru_unit(x_t, before, {.size = 64});
///         return layer::Step{now, now};
///     });
///
/// If options.level is not the last level, x_t holds sequences of the levels below, which the step may pool or process
/// with a recurrent layer of its own. Except on Cuda, batches of 64 or more sequences are split into parts of at least
/// 32, which run in parallel on the host; the parts, and so the bits of the result, do not depend on the number of
/// threads. A step with an operator that needs all sequences at once, such as dropout or sum_rows, runs as one part.
/// shapes   x [n, ...] with levels -> output [n, ...] with the same levels, last [sequences, size]
/// errors   ShapeError if x has no levels, an initial state is not a matrix, the states after a step differ in number
///          or shape from those before it, or the output or a state of a step does not have one row for each sequence;
///          ValueError if there is no such level, or a memory has no size or both a size and an initial state;
///          TypeError if the element type of an initial state differs from that of the states; when the net runs,
///          ShapeError if an initial state does not have one row for each sequence
/// cost     that of the step's operators, some of which run once for all steps; no allocation while the shapes do not
///          change; the states of all steps are kept for the gradient
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, Memory const& memory, F const& step, RnnOptions const& options = {}) {
    using R = rowan::detail::state_t<State, T>;
    auto const made = rowan::detail::recurrence<R>(
        x, std::span(&memory, 1), options, [&](auto const& x_t, auto const& before) { return step(x_t, before[0]); });
    return Recurrence<R, Device>{made.output, made.last[0]};
}
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::int64_t size, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, Memory{.size = size}, step, options);
}

/// The same with several memories: `step(x_t, states)` takes a list of states and returns
/// `layer::Step{output, {state, ...}}`.
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::vector<Memory> const& memories, F const& step,
                   RnnOptions const& options = {}) {
    return rowan::detail::recurrence<rowan::detail::state_t<State, T>>(x, memories, options, step);
}

/// Returns the outputs alone, as rnn_with_last.
template <class State = void, class T, class Device, class M, class F>
requires std::constructible_from<std::vector<Memory>, M> || std::convertible_to<M, Memory> || std::integral<M>
auto rnn(Var<T, Device> const& x, M const& memory, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, memory, step, options).output;
}
template <class State = void, class T, class Device, class F>
auto rnn(Var<T, Device> const& x, std::vector<Memory> const& memories, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, memories, step, options).output;
}

}  // namespace rowan::inline v0::layer

// rowan/sparse/split.hpp: split, divides a gradient by sections of the height, for partitioned tables.

namespace rowan::inline v0 {

namespace detail {

/// The inclusive prefix sum of the heights: the ends of the sections.
/// errors   ShapeError as split
inline std::vector<std::int64_t> section_ends(Ids<> const& heights, std::int64_t height) {
    if (heights.shape().size() != 1) throw ShapeError("heights rank", std::to_string(heights.shape().size()), "1");
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (std::size_t k = 0; k < heights.size(); ++k) {
        if (heights[k] < 0 || heights[k] > height - end) {
            throw ShapeError("heights[" + std::to_string(k) + "]", std::to_string(heights[k]),
                             heights[k] < 0
                                 ? "0 or more"
                                 : "at most " + std::to_string(height - end) + ", what is left of the height");
        }
        ends.push_back(end += heights[k]);
    }
    if (end != height) throw ShapeError("sum of heights", std::to_string(end), std::to_string(height));
    return ends;
}

/// Finds the rows of a gradient in each section of the height.
template <class D>
struct RowSections {
    static_assert(has_backend<D>, "rowan: split on a Thrust device needs #include <rowan/thrust/sparse/split.hpp>");
};

template <>
struct RowSections<Cpu> {
    /// The positions of the rows before ends[0], then of those before ends[1], and so on, in input order.
    template <class T>
    static std::vector<Tensor<std::int64_t>> positions(Cpu, SelectedRows<T> const& g,
                                                       std::vector<std::int64_t> const& ends) {
        std::vector<std::vector<std::int64_t>> lists(ends.size());
        for (std::size_t i = 0; i < g.rows().size(); ++i) {
            auto const k = static_cast<std::size_t>(std::ranges::upper_bound(ends, g.rows()[i]) - ends.begin());
            lists[k].push_back(static_cast<std::int64_t>(i));
        }
        std::vector<Tensor<std::int64_t>> result;
        for (auto const& list : lists) result.push_back(RowNumbers<Cpu>::copy(list));
        return result;
    }

    /// Makes rows relative to the beginning of their section.
    static void rebase(Cpu, Tensor<std::int64_t>& rows, std::int64_t begin) {
        for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] -= begin;
    }
};

}  // namespace detail

/// One gradient per section. Part k has the rows in [s, s + heights[k]), where s = heights[0] + … + heights[k - 1], as
/// row - s, in input order. A Thrust device synchronizes once to get the number of rows of each part; there the parts
/// are merged() if `g` is.
///
///     split(g, {4, 6})      rows [8 0 4]  ->  height 4, rows [0]   and   height 6, rows [4 0]
///
/// shapes   heights [parts], with sum g.height()
/// errors   ShapeError if heights are not a flat list, a height is negative or their sum is not g.height()
/// cost     O(n * (width + log parts)); on a Thrust device a sort of n pairs on the bits that the number of parts
///          needs, and three kernels per part
template <class T, device D>
std::vector<SelectedRows<T, D>> split(D const& exec, SelectedRows<T, D> const& g, Ids<> heights) {
    using Access = detail::SelectedRowsAccess;
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    std::vector<std::int64_t> const ends = detail::section_ends(heights, g.height());
    detail::check_exec(exec);
    std::vector<SelectedRows<T, D>> parts;
    std::int64_t begin = 0;
    for (auto const& positions : detail::RowSections<D>::positions(exec, g, ends)) {
        std::int64_t const end = ends[parts.size()];
        auto rows = detail::rows_at(exec, Access::rows(g), positions);
        detail::RowSections<D>::rebase(exec, rows, begin);
        auto value = detail::rows_at(exec, g.value(), positions);
        parts.push_back(Access::adopt(end - begin, std::move(rows), std::move(value), g.merged()));
        begin = end;
    }
    return parts;
}

template <class T, class Device>
std::vector<SelectedRows<T, Device>> split(SelectedRows<T, Device> const& g, Ids<> heights) {
    return split(g.device(), g, heights);
}

ROWAN_TEMPLATE(std::vector<SelectedRows<float>> split(Cpu const&, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(std::vector<SelectedRows<double>> split(Cpu const&, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0

// rowan/op/split.hpp: split, a tensor split along one axis.

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_section(std::size_t k, std::int64_t section, std::int64_t left) {
    std::string const bound = std::string("at most ").append(std::to_string(left)).append(", what is left of the axis");
    throw ShapeError(part_name("sections", k), std::to_string(section), section < 0 ? "0 or more" : bound);
}

[[noreturn]] inline void bad_sum_of_sections(std::int64_t sum, std::int64_t dim) {
    throw ShapeError("sum of sections", std::to_string(sum), std::to_string(dim));
}

/// Checks that no section is negative and, if the dim is known, that the sections add up to it.
template <class Sections>
constexpr void check_sections(Sections const& sections, std::int64_t dim) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < sections.size(); ++k) {
        if (sections[k] < 0 || (dim != UNK && sections[k] > dim - sum)) bad_section(k, sections[k], dim - sum);
        sum += sections[k];
    }
    if (dim != UNK && sum != dim) bad_sum_of_sections(sum, dim);
}

}  // namespace detail

/// Splits x along an axis: part k has size sections[k] and begins at sections[0] + … + sections[k - 1]. Axis -1 is the
/// last one.
///
///     split([[1 2 3] [4 5 6]], {1, 2}, 1)   ->   [[1] [4]]   and   [[2 3] [5 6]]
///
/// shapes   x [..., Σ sections, ...] -> [..., sections[k], ...] for each k
/// errors   ValueError if the axis is out of range; ShapeError if sections is not of rank 1, a section is negative, or
///          they do not add up to the dim
/// cost     one read and one write of every element
template <class T, device D>
std::vector<Tensor<T, D>> split(D const& exec, Tensor<T, D> const& x, std::type_identity_t<Ids<>> sections,
                                std::int64_t axis = 0) {
    detail::ElementLoops<D>::check(exec, x);
    std::size_t const at = detail::checked_axis(axis, x.dimension());
    if (sections.shape().size() != 1) throw ShapeError("sections rank", std::to_string(sections.shape().size()), "1");
    detail::check_sections(sections, static_cast<std::int64_t>(x.shape(at)));
    return detail::cut_along(exec, x, at, sections);
}

template <class T, class Device>
std::vector<Tensor<T, Device>> split(Tensor<T, Device> const& x, std::type_identity_t<Ids<>> sections,
                                     std::int64_t axis = 0) {
    return split(x.device(), x, sections, axis);
}

struct split_grad_op;

/// See split. The slot `out` holds all parts as a std::vector.
struct split_op {
    static constexpr std::string_view name = "split";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<split_grad_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        std::vector<std::int64_t> sections;  ///< the size of each part along the axis
        std::int64_t axis = 0;               ///< negative values count from the end

        static constexpr auto fields =
            std::tuple(field{"sections", &attributes::sections}, field{"axis", &attributes::axis});
    };

    static constexpr bool row_wise(attributes const& a) { return a.axis > 0; }

    static constexpr std::vector<VarSpec> infer(VarSpec const& x, attributes const& a) {
        spec::dense("split: x", x);
        std::size_t const at = detail::checked_axis(a.axis, x.dims.size());
        detail::check_sections(a.sections, x.dims[at]);
        std::vector<VarSpec> parts;
        for (std::int64_t const section : a.sections) {
            parts.push_back(x);
            parts.back().dims[at] = section;
            if (at == 0) parts.back().lod_level = 0;
        }
        return parts;
    }

    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D exec, Tensor<T, D> const& x, attributes const& a) {
        return split(exec, x, a.sections, a.axis);
    }
};

/// Concatenates the gradients of the parts.
struct split_grad_op {
    static constexpr std::string_view name = "split_grad";
    using inputs = slots<grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = split_op::attributes;

    static constexpr VarSpec infer(std::span<VarSpec const> out_grad, attributes const& a) {
        return concat_op::infer(out_grad, {a.axis});
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& out_grad, attributes const& a) {
        return concat(exec, out_grad, a.axis);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/split.hpp: layer::split, the parts of a value along an axis.

namespace rowan::inline v0::layer {

/// Splits x along an axis; the dim of part k along it is sections[k]. A negative axis counts from the end.
///     auto const parts = layer::split(x, {2, 3}, 1);      // for x [n, 5]: parts[0] is [n, 2], parts[1] is [n, 3]
/// shapes   x [..., Σ sections, ...] -> [..., sections[k], ...] for each k; with the levels of x, or without levels
///          along axis 0
/// errors   ValueError if there is no such axis; ShapeError if a section is negative or the sections do not add up to
///          the dim (when the net runs, if the dim is unknown before)
/// cost     as rowan::split, when the net runs
template <class T, class Device>
std::vector<Var<T, Device>> split(Var<T, Device> const& x, std::vector<std::int64_t> sections, std::int64_t axis = 0) {
    std::vector<Var<T, Device>> parts;
    for (Variable* const part : default_scope().new_op<split_op, Device, T>({&*x}, {std::move(sections), axis}).outputs)
        parts.push_back(Var<T, Device>(*part));
    return parts;
}

}  // namespace rowan::inline v0::layer

// rowan/op/lstm_unit.hpp: lstm_unit, one step of a long short-term memory cell.

namespace rowan::inline v0 {

namespace detail {

/// Computes the gates of one step, the next cell and the next state.
template <class T>
struct LstmStep {
    T const *x, *hidden, *c_prev;
    T *saved, *h, *c;
    std::size_t size;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(std::size_t row, std::size_t k) const {
        T* const keep = saved + row * 5 * size + k;
        V const i = logistic(gate<V>(row, 0, k)), f = logistic(gate<V>(row, 1, k));
        V const u = hyperbolic_tangent(gate<V>(row, 2, k)), o = logistic(gate<V>(row, 3, k));
        V const now = product(f, load<V>(c_prev + row * size + k)) + product(i, u);
        V const t = hyperbolic_tangent(now);
        store(i, keep);
        store(f, keep + size);
        store(u, keep + 2 * size);
        store(o, keep + 3 * size);
        store(t, keep + 4 * size);
        store(now, c + row * size + k);
        store(product(o, t), h + row * size + k);
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V gate(std::size_t row, std::size_t j, std::size_t k) const {
        std::size_t const at = (row * 4 + j) * size + k;
        return V(load<V>(x + at) + load<V>(hidden + at));
    }
};

/// Computes the gradients of the gates and of c_prev.
template <class T>
struct LstmGradStep {
    T const *saved, *c_prev, *h_grad, *c_grad;
    T *x_grad, *c_prev_grad;
    std::size_t size;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(std::size_t row, std::size_t k) const {
        T const* const keep = saved + row * 5 * size + k;
        T* const xs = x_grad + row * 4 * size + k;
        std::size_t const here = row * size + k;
        V const one = constant<V>(1.0);
        V const i = load<V>(keep), f = load<V>(keep + size);
        V const u = load<V>(keep + 2 * size), o = load<V>(keep + 3 * size);
        V const t = load<V>(keep + 4 * size), dh = load<V>(h_grad + here);
        V const dc = load<V>(c_grad + here) + product(product(dh, o), V(one - product(t, t)));
        store(product(product(dc, u), slope(i)), xs);
        store(product(product(dc, load<V>(c_prev + here)), slope(f)), xs + size);
        store(product(product(dc, i), V(one - product(u, u))), xs + 2 * size);
        store(product(product(dh, t), slope(o)), xs + 3 * size);
        store(product(dc, f), c_prev_grad + here);
    }

    /// The derivative of a sigmoid whose value is y.
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V slope(V const& y) {
        return product(y, V(constant<V>(1.0) - y));
    }
};

}  // namespace detail

/// One step of an LSTM (Hochreiter and Schmidhuber 1997, with a forget gate). With g = x + h_prev · w + b:
///     i = sigmoid(g_i); f = sigmoid(g_f); u = tanh(g_u); o = sigmoid(g_o); c = f · c_prev + i · u; h = o · tanh(c)
/// `x` is the contribution of the input to the gates, which one matrix product can compute for all steps.
/// shapes   x [n, 4 · size] in PyTorch's order i, f, u, o; h_prev and c_prev [n, size], w [size, 4 · size],
///          b [4 · size] -> h and c [n, size], and i, f, u, o, tanh(c) [n, 5 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     8 · n · size² operations, one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> lstm_unit(D const& exec, Tensor<T, D> const& x,
                                                               Tensor<T, D> const& h_prev, Tensor<T, D> const& c_prev,
                                                               Tensor<T, D> const& w, Tensor<T, D> const& b) {
    detail::check_recurrent_cell(4, x, h_prev, w);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    detail::check_rows_like("c_prev", c_prev, n, size);
    detail::ElementLoops<D>::check(exec, x, c_prev);
    auto const hidden = fc(exec, h_prev, w, b);
    auto h = detail::new_tensor<T>(exec, {n, size});
    auto c = detail::new_tensor<T>(exec, {n, size});
    auto saved = detail::new_tensor<T>(exec, {n, 5 * size});
    detail::LstmStep<T> const step{x.data(), hidden.data(), c_prev.data(), saved.data(), h.data(), c.data(), size};
    detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 4 * size, step);
    return {std::move(h), std::move(c), std::move(saved)};
}

/// The gradients of the gates and of c_prev, from the values that lstm_unit saved and the gradients of h and c.
/// shapes   saved [n, 5 · size], c_prev, h_grad and c_grad [n, size] -> [n, 4 · size], [n, size]
/// errors   ShapeError if shapes do not match
/// cost     one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> lstm_unit_grad(D const& exec, Tensor<T, D> const& saved,
                                                      Tensor<T, D> const& c_prev, Tensor<T, D> const& h_grad,
                                                      Tensor<T, D> const& c_grad) {
    detail::check_rank("c_prev", c_prev, 2);
    std::size_t const n = c_prev.shape(0), size = c_prev.shape(1);
    detail::check_rows_like("saved", saved, n, 5 * size);
    detail::check_rows_like("h_grad", h_grad, n, size);
    detail::check_rows_like("c_grad", c_grad, n, size);
    detail::ElementLoops<D>::check(exec, saved, c_prev, h_grad, c_grad);
    auto x_grad = detail::new_tensor<T>(exec, {n, 4 * size});
    auto c_prev_grad = detail::new_tensor<T>(exec, {n, size});
    detail::LstmGradStep<T> const step{saved.data(),  c_prev.data(),      h_grad.data(), c_grad.data(),
                                       x_grad.data(), c_prev_grad.data(), size};
    detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 4 * size, step);
    return {std::move(x_grad), std::move(c_prev_grad)};
}

struct lstm_unit_grad_op {
    static constexpr std::string_view name = "lstm_unit_grad";
    using inputs = slots<slot::saved, slot::c_prev, grad_of<slot::h>, grad_of<slot::c>>;
    using outputs = slots<grad_of<slot::x>, grad_of<slot::c_prev>>;
    static constexpr unsigned row_inputs = 0b1111;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const&, VarSpec const& c_prev, VarSpec const&,
                                                  VarSpec const&) {
        VarSpec gates = c_prev;
        if (gates.dims[1] != UNK) gates.dims[1] *= 4;
        return {gates, c_prev};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& c_prev, Tensor<T, D> const& h_grad,
                    Tensor<T, D> const& c_grad) {
        return lstm_unit_grad(exec, saved, c_prev, h_grad, c_grad);
    }
};

/// See lstm_unit. The gradients of w and b are sums over rows, so one product computes them for all steps.
struct lstm_unit_op {
    static constexpr std::string_view name = "lstm_unit";
    using inputs = slots<slot::x, slot::h_prev, slot::c_prev, slot::w, slot::b>;
    using outputs = slots<slot::h, slot::c, slot::saved>;
    static constexpr unsigned row_inputs = 0b00111;
    using grad = grad_rules<grad_rule<lstm_unit_grad_op>,
                            grad_rule<mul_nt_op, uses<grad_of<slot::x>, slot::w>, makes<grad_of<slot::h_prev>>>,
                            grad_rule<mul_tn_op, uses<slot::h_prev, grad_of<slot::x>>, makes<grad_of<slot::w>>>,
                            grad_rule<sum_rows_op, uses<grad_of<slot::x>>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 3> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& c_prev,
                                                  VarSpec const& w, VarSpec const& b) {
        detail::infer_recurrent_cell(4, x, h_prev, w, b);
        static_cast<void>(spec::same_dims("lstm_unit: c_prev", c_prev, h_prev));
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = h_prev.dims[1] == UNK ? UNK : 5 * h_prev.dims[1];
        return {h, h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& c_prev,
                    Tensor<T, D> const& w, Tensor<T, D> const& b) {
        return lstm_unit(exec, x, h_prev, c_prev, w, b);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/lstm_unit.hpp: layer::lstm_unit, one step of a long short-term memory with its own parameters.

namespace rowan::inline v0::layer {

/// The settings of layer::lstm_unit.
using LstmOptions = CellOptions;

/// Computes one step, see rowan::lstm_unit. The state is the output concatenated with the cell, so a layer of `size`
/// has a memory of width 2 · size:
///     auto h = layer::rnn(x, 2 * 64,
///                         [](auto x_t, auto before) { return layer::lstm_unit(x_t, before, {.size = 64}); });
/// Parameters: w_x [width of x, 4 · size] and b_x, w_h [size, 4 · size] and b_h, with the gates in the order input,
/// forget, cell, output; w_x and w_h are PyTorch's, transposed.
/// shapes   x [n, width], before [n, 2 · size] -> output [n, size], memory [n, 2 · size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if the width of `before` is not
///          2 · size
/// cost     as rowan::lstm_unit, when the net runs, plus the product of x and w_x, which a recurrent layer computes
///          once for all steps; the state is copied when it is split and when output and cell are concatenated
template <class T, class Device>
Step<T, Device> lstm_unit(Var<T, Device> const& x, Var<T, Device> const& before, LstmOptions const& options) {
    detail::Gates<T, Device> const gates(4, x, options);
    auto const parts = split(before, {options.size, options.size}, 1);
    auto const& made =
        default_scope()
            .new_op<lstm_unit_op, Device, T, T, T, T, T>({&*gates.x, &*parts[0], &*parts[1], &*gates.w, &*gates.b})
            .outputs;
    Var<T, Device> const h(*made[0]);
    return {h, concat({h, Var<T, Device>(*made[1])}, 1)};
}

}  // namespace rowan::inline v0::layer

// rowan/layer/while_loop.hpp: layer::while_loop, layers that run repeatedly while a condition is true.

namespace rowan::inline v0::layer {

/// The settings of layer::while_loop.
struct WhileOptions {
    std::int64_t max_iterations = 0;  ///< running more iterations is an error; 0: no limit
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

template <class V>
struct loop_state {
    static constexpr bool value = false;
};
template <class T, class Device>
struct loop_state<layer::Var<T, Device>> {
    static constexpr bool value = true;
    using element = T;
    using device = Device;
};
template <class T, class Device>
struct loop_state<layer::Array<T, Device>> : loop_state<layer::Var<T, Device>> {};

/// The element type of gradients: that of the first state with a non-integer type, else float.
template <class... T>
struct gradient_element {
    using type = float;
};
template <class T, class... More>
struct gradient_element<T, More...> {
    using type =
        typename std::conditional_t<std::is_integral_v<T>, gradient_element<More...>, std::type_identity<T>>::type;
};

void check_state(std::size_t k, VarSpec const& after, VarSpec const& before);

/// Creates a loop with these initial states. The states of an iteration are variables of the loop's own scope.
std::shared_ptr<WhileBlock> begin_loop(Scope& outside, std::span<Variable* const> first,
                                       layer::WhileOptions const& options);

/// Adds the loop, once its condition and the states after an iteration are set. Gradients have elements of R.
template <class R, class Device>
Operator& finish_loop(Scope& outside, std::shared_ptr<WhileBlock> const& block, std::span<Variable* const> first) {
    auto& net = block->net;
    for (std::size_t k = 0; k < net.states.size(); ++k)
        check_state(k, net.states[k].after->spec(), net.states[k].before->spec());
    net.build();
    block->gradient_dtype = dtype<R>::wire;
    block->kernels = LoopKernels::of<R, Device>();
    block->holds = [](AnyExec exec, Value const& v) {
        auto const& flag = v.get<LoDTensor<bool, Device>>().value();
        if (flag.size() != 1) throw ShapeError("the condition's size", std::to_string(flag.size()), "1");
        return first_element(exec.get<Device>(), flag);
    };
    std::vector<Variable*> inputs(first.begin(), first.end());
    inputs.insert(inputs.end(), net.outer.begin(), net.outer.end());
    Operator& op = outside.new_op(while_kernel, std::move(inputs), block);
    op.build_backward = [&net] { net.template build_backward<R, Device>(); };
    return op;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Runs `body` while `condition` is true and returns the states after the last iteration. Both are called once, with
/// the states, to build the net of an iteration. A state is a Var or an Array. Gradients flow through all iterations;
/// the gradient of a table that is looked up in an iteration stays row-sparse.
///
///     auto [i, x] = layer::while_loop(
///         std::tuple(layer::full<std::int64_t>({1}, 0), x0),
///         [](auto i, auto) { return layer::less(i, 10); },
///         [&](auto i, auto x) {
///             return std::tuple(layer::scale(i, 1, 1), layer::tanh(layer::fc(x, {.output_size = 8})));
///         });
///
/// The body returns a tuple with as many states, of the same types; a single state needs no tuple. All iterations share
/// the parameters created in it. Gradients have the element type of the first state with a non-integer type; every
/// other state that needs a gradient must have the same type. Dropout has the same mask in all iterations. Within the
/// step of a recurrent layer, a loop runs on all sequences at once, so its result cannot be a state of the step.
/// shapes   as the states; the condition is [1]
/// errors   ShapeError or TypeError if a state after an iteration does not match the one before it; ValueError if
///          options.max_iterations is negative; when the net runs, ValueError if the loop exceeds
///          options.max_iterations, ShapeError if the condition does not have exactly one element
/// cost     that of the layers of every iteration; on a device, a synchronization for each condition; the values of
///          every iteration are kept if there is a gradient, else memory does not grow with the number of iterations
template <class Condition, class Body, class... State>
std::tuple<State...> while_loop(std::tuple<State...> const& first, Condition const& condition, Body const& body,
                                WhileOptions const& options = {}) {
    namespace d = rowan::detail;
    static_assert(sizeof...(State) > 0 && (d::loop_state<State>::value && ...),
                  "rowan::layer::while_loop: the states are a std::tuple of layer::Var and layer::Array");
    using Device = typename d::loop_state<std::tuple_element_t<0, std::tuple<State...>>>::device;
    using R = typename d::gradient_element<typename d::loop_state<State>::element...>::type;
    Scope& outside = default_scope();
    std::vector<Variable*> const inputs =
        std::apply([](State const&... s) { return std::vector<Variable*>{&*s...}; }, first);
    auto const block = d::begin_loop(outside, inputs, options);
    auto& net = block->net;
    d::WithdrawnScope refused{net.scope};
    {
        ScopeGuard const guard(*net.scope);
        auto const before = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::tuple<State...>{State(*net.states[k].before)...};
        }
        (std::index_sequence_for<State...>{});
        Var<bool, Device> const holds = std::apply(condition, before);
        auto const after = d::as_tuple(std::apply(body, before));
        static_assert(std::is_same_v<std::remove_const_t<decltype(after)>, std::tuple<State...>>,
                      "rowan::layer::while_loop: the body must give as many states as it is given, of the same types");
        net.condition = &*holds;
        std::size_t k = 0;
        std::apply([&](State const&... s) { ((net.states[k++].after = &*s), ...); }, after);
    }
    Operator& op = d::finish_loop<R, Device>(outside, block, inputs);
    refused.scope = nullptr;
    return [&]<std::size_t... k>(std::index_sequence<k...>) { return std::tuple<State...>{State(*op.outputs[k])...}; }
    (std::index_sequence_for<State...>{});
}

/// The same with one state.
template <class State, class Condition, class Body>
requires(rowan::detail::loop_state<State>::value) State
    while_loop(State const& first, Condition const& condition, Body const& body, WhileOptions const& options = {}) {
    return std::get<0>(while_loop(std::tuple<State>(first), condition, body, options));
}

}  // namespace rowan::inline v0::layer

// rowan/layer/while_loop_inl.hpp: definitions of rowan/layer/while_loop.hpp.

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_state(std::size_t k, VarSpec const& after, VarSpec const& before) {
    std::string const field =
        std::string("layer::while_loop: state ").append(std::to_string(k)).append(" after an iteration");
    if (after.type != before.type) throw TypeError(field, kind_text(after), kind_text(before));
    spec::same_dtype(field.c_str(), after, before);
    static_cast<void>(spec::same_dims(field.c_str(), after, before));
    if (after.lod_level != before.lod_level)
        throw ShapeError(field + ", its levels", std::to_string(after.lod_level), std::to_string(before.lod_level));
}

ROWAN_FUNCTION std::shared_ptr<WhileBlock> begin_loop(Scope& outside, std::span<Variable* const> first,
                                                      layer::WhileOptions const& options) {
    if (options.max_iterations < 0)
        throw ValueError("layer::while_loop: max_iterations", static_cast<double>(options.max_iterations), "0 or more");
    auto block = std::make_shared<WhileBlock>();
    block->max_iterations = options.max_iterations;
    block->scope = std::make_unique<Scope>(outside);
    auto& net = block->net;
    net.scope = block->scope.get();
    for (Variable const* v : first) {
        if (v->spec().type != VarType::LOD_TENSOR && v->spec().type != VarType::TENSOR_ARRAY)
            throw TypeError("layer::while_loop: a state", kind_text(v->spec()), "a tensor or an array");
        std::string const name = std::string("state_").append(std::to_string(net.states.size()));
        net.states.push_back({&net.scope->new_var(name, v->spec()), nullptr});
    }
    return block;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/layer/map_fn.hpp: layer::map_fn, layers applied to every element of sequences or arrays.

namespace rowan::inline v0::layer {

/// Applies `f` to each element of the sequences of a level of x; an element is a row, or a sequence of the levels
/// below. This is a recurrent layer without a memory: the row-wise operators of `f` run once for all elements.
///
///     auto sentences = layer::map_fn(
///         texts, [](auto sentence) { return layer::sequence_pool(sentence); }, {.level = 0});
///
/// shapes   x [n, ...] with levels -> [elements, ...] with the levels of x down to options.level, then those of the
///          result of `f`
/// errors   as layer::rnn
/// cost     as layer::rnn
template <class T, class Device, class F>
auto map_fn(Var<T, Device> const& x, F const& f, RnnOptions const& options = {}) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    auto const step = [&](Var<T, Device> const& x_t, auto const&) {
        return Step<R, Device>{f(x_t), std::vector<Var<R, Device>>{}};
    };
    return rowan::detail::recurrence<R>(x, std::span<Memory const>(), options, step).output;
}

/// Applies `f` to every slot of an array, in order.
/// shapes   n slots -> n slots of the shape of the result of `f`
/// errors   as layer::while_loop
/// cost     as layer::while_loop
template <class T, class Device, class F>
auto map_fn(Array<T, Device> const& array, F const& f) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    using Index = Var<std::int64_t, Device>;
    auto const size = array_size(array);
    auto const slot =
        std::make_shared<VarSpec>(rowan::detail::array_of(tensor_spec<R>({})));  // set below, from the result of f
    Array<R, Device> const none(
        rowan::detail::result_of<typename rowan::detail::array_kernels<R, Device>::create>({}, slot));
    auto const made = while_loop(
        std::tuple(full<std::int64_t, Device>({1}, 0), none),
        [&](Index const& i, auto const&) { return less(i, size); },
        [&](Index const& i, Array<R, Device> const& results) {
            Var<R, Device> const y = f(array_read(array, i));
            *slot = rowan::detail::array_of(y->spec());
            none->settle(*slot);
            results->settle(*slot);
            return std::tuple(scale(i, 1, 1), array_write(results, i, y));
        });
    return std::get<1>(made);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/matmul.hpp: layer::matmul, the product of two matrices.

namespace rowan::inline v0::layer {

/// The product x · y, with x or y transposed if its flag is set. For a product with a trainable weight, see layer::fc.
///     auto scores = layer::matmul(h, table, false, true);      // h · tableᵀ: the table of an embedding as a weight
/// shapes   x [n, k], y [k, m], after transposition -> [n, m], with the levels of x unless x is transposed
/// errors   ShapeError if x or y is not a matrix or the inner dims differ; ValueError if both flags are set
/// cost     as rowan::matmul, when the net runs
template <class T, class Device>
Var<T, Device> matmul(Var<T, Device> const& x, Var<T, Device> const& y, bool transpose_x = false,
                      bool transpose_y = false) {
    if (transpose_x && transpose_y)
        throw ValueError("transpose_y", 1, "0 where x is transposed: transpose the product of y and x instead");
    if (transpose_x) return apply<mul_tn_op>({}, x, y);
    if (transpose_y) return apply<mul_nt_op>({}, x, y);
    return apply<mul_op>({}, x, y);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/detail/step_program.hpp: StepProgram, the operators of a step, created before the recurrent layer.

namespace rowan::inline v0::detail {

/// Adds to a memory; the sum is the memory's value in the next step. The first input is the memory.
struct add_to_op : add_op {
    static constexpr std::string_view name = "add_to";
    using in_step = add_op;  ///< the operator in the built step, and so in files
};

/// The operators that compute a result from memories and the step's input, which are variables that no operator writes.
class StepProgram {
public:
    /// errors   GraphError if the result depends neither on the step's input nor on a memory, a memory is added to
    ///          twice, not at all or belongs to another layer, or an operator is a recurrent layer
    explicit StepProgram(Variable& result);

    std::span<Variable* const> memories() const { return memories_; }

    /// Infers the specs of the memories from that of the input.
    /// errors   ShapeError if the width of a memory cannot be inferred; what an operator's `infer` throws
    std::vector<VarSpec> memory_specs(VarSpec const& input) const;

    /// Adds copies of the operators to the default scope. Returns the result, and the value of each memory in the next
    /// step.
    std::pair<Variable*, std::vector<Variable*>> replay(Variable& input, std::span<Variable* const> before) const;

private:
    Variable& result_;
    std::vector<Operator*> order_;
    std::vector<Variable*> memories_, sums_;
    std::unordered_set<Variable const*> inputs_;
};

}  // namespace rowan::inline v0::detail

// rowan/layer/detail/step_program_inl.hpp: definitions of rowan/layer/detail/step_program.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION StepProgram::StepProgram(Variable& result) : result_(result) {
    std::unordered_set<Variable const*> within;
    for (Operator* const op : trace(std::array{&result})) {
        bool inside = false;
        for (std::size_t i = 0; i < op->inputs.size(); ++i) {
            Variable* const v = op->inputs[i];
            bool const is_memory = i == 0 && op->kernel->in_step != nullptr;
            if (is_memory && !is_placeholder(*v))
                throw GraphError("layer::add_to: the memory is that of another recurrent layer");
            if (!is_memory && is_placeholder(*v)) inputs_.insert(v);
            inside = inside || is_placeholder(*v) || within.contains(v);
            if (!is_memory) continue;
            if (std::ranges::find(memories_, v) != memories_.end())
                throw GraphError("layer::add_to: a memory of a step is added to twice");
            memories_.push_back(v);
            sums_.push_back(op->outputs[0]);
        }
        if (!inside) continue;
        if (op->kernel == &rnn_kernel)
            throw GraphError(
                "layer::rnn: a recurrent layer within the program of a step: write the step as a function");
        order_.push_back(op);
        within.insert(op->outputs.begin(), op->outputs.end());
    }
    for (Variable const* memory : memories_) inputs_.erase(memory);
    if (std::ranges::any_of(inputs_, [](Variable const* v) { return v->role() != Role::step_input; }))
        throw GraphError("layer::rnn: step_net has a memory to which nothing is added");
    if (order_.empty()) throw GraphError("layer::rnn: step_net depends neither on the step's input nor on a memory");
}

ROWAN_FUNCTION std::vector<VarSpec> StepProgram::memory_specs(VarSpec const& input) const {
    std::unordered_map<Variable const*, VarSpec> specs;
    for (Variable const* v : inputs_) specs.emplace(v, input);
    for (Variable const* v : memories_) specs.emplace(v, v->spec());
    for (std::size_t round = 0; round <= memories_.size(); ++round) {
        for (Operator const* op : order_) {
            std::vector<VarSpec> in;
            for (Variable const* v : op->inputs) in.push_back(specs.contains(v) ? specs.at(v) : v->spec());
            auto const made = op->kernel->infer(in, op->attributes);
            for (std::size_t i = 0; i < made.size(); ++i) specs.insert_or_assign(op->outputs[i], made[i]);
        }
        for (std::size_t m = 0; m < memories_.size(); ++m) specs.at(memories_[m]).dims = specs.at(sums_[m]).dims;
    }
    std::vector<VarSpec> result;
    for (Variable const* v : memories_) {
        VarSpec const& spec = specs.at(v);
        if (spec.dims.size() != 2 || spec.dims[1] == UNK)
            throw ShapeError("layer::rnn: the width of a memory", "UNK", "one that follows from the step's input");
        result.push_back(spec);
    }
    return result;
}

ROWAN_FUNCTION std::pair<Variable*, std::vector<Variable*>> StepProgram::replay(
    Variable& input, std::span<Variable* const> before) const {
    std::unordered_map<Variable const*, Variable*> now;
    for (Variable const* v : inputs_) now.emplace(v, &input);
    for (std::size_t m = 0; m < memories_.size(); ++m) now.emplace(memories_[m], before[m]);
    auto const of = [&](Variable* v) { return now.contains(v) ? now.at(v) : v; };
    for (Operator const* op : order_) {
        std::vector<Variable*> in;
        for (Variable* const v : op->inputs) in.push_back(of(v));
        for (Variable* const v : in) {
            if (!v->set_width) continue;
            v->set_width(*v, in[0]->spec().dims[in[0]->spec().dims.size() - 1]);
            v->set_width = nullptr;
        }
        op_kernel const& kernel = op->kernel->in_step != nullptr ? *op->kernel->in_step : *op->kernel;
        Operator& copy = default_scope().new_op(kernel, std::move(in), op->attributes);
        copy.build_backward = op->build_backward;
        for (std::size_t i = 0; i < copy.outputs.size(); ++i) now.insert_or_assign(op->outputs[i], copy.outputs[i]);
    }
    std::vector<Variable*> after;
    for (Variable* const v : sums_) after.push_back(of(v));
    return {of(&result_), after};
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/op/sequence_pool.hpp: sequence_pool_op, one pooled row for each sequence.

namespace rowan::inline v0 {

/// The settings of sequence_pool.
struct SequencePoolOptions {
    Pooling pool = Pooling::sum;  ///< the reduction of the rows of a sequence
    double pad_value = 0;         ///< the elements of the row of an empty sequence

    static constexpr auto fields =
        std::tuple(field{"pool", &SequencePoolOptions::pool}, field{"pad_value", &SequencePoolOptions::pad_value});
};

struct sequence_pool_grad_op {
    static constexpr std::string_view name = "sequence_pool_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using attributes = SequencePoolOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&, SequencePoolOptions const& = {}) { return x; }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad,
                               SequencePoolOptions const& options) {
        return sequence_pool_grad(exec, x, out_grad.value(), options.pool);
    }
};

/// See sequence_pool.
struct sequence_pool_op {
    static constexpr std::string_view name = "sequence_pool";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using attributes = SequencePoolOptions;
    using grad = grad_rule<sequence_pool_grad_op>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, SequencePoolOptions const& = {}) {
        spec::dense("sequence_pool: x", x);
        spec::has_rows("sequence_pool: x", x);
        spec::has_levels("sequence_pool: x", x);
        VarSpec out = x;
        out.dims[0] = UNK;
        --out.lod_level;
        return out;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, SequencePoolOptions const& options = {}) {
        return sequence_pool(exec, x, options.pool, options.pad_value);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/sequence_pool.hpp: layer::sequence_pool, one row for each sequence.

namespace rowan::inline v0::layer {

/// The sum, mean, … of the rows of each sequence, as rowan::sequence_pool.
/// shapes   x [n, ...] with levels -> [sequences, ...], with one level less
/// errors   ShapeError if x has no levels; when the net runs, as rowan::sequence_pool
/// cost     as rowan::sequence_pool, when the net runs
template <class T, class Device>
Var<T, Device> sequence_pool(Var<T, Device> const& x, SequencePoolOptions const& options = {}) {
    return apply<sequence_pool_op>(options, x);
}
/// The first row of each sequence, as layer::sequence_pool.
template <class T, class Device>
Var<T, Device> sequence_first(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::first});
}
/// The last row of each sequence, as layer::sequence_pool.
template <class T, class Device>
Var<T, Device> sequence_last(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::last});
}

}  // namespace rowan::inline v0::layer

// rowan/layer/rnn_program.hpp: layer::rnn in the form of Paddle's design documents, with an expression as the step.

namespace rowan::inline v0::layer {

/// Creates a memory of a step. Its width is inferred from what is added to it, and its initial state is zeros. Once the
/// recurrent layer is created, it holds the state of each sequence after its last step, [sequences, width].
/// shapes   [sequences, width]
/// errors   none
/// cost     one variable in the net
template <class T = float, class Device = Cpu>
Var<T, Device> tensor() {
    return Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK})));
}

/// Within a step, returns memory + x, which is also the memory's value in the next step.
/// shapes   memory and x [n, width] -> [n, width]
/// errors   ShapeError if the widths are known and differ
/// cost     one read of both and one write of the sum
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, Var<T, Device> const& x) {
    return apply<rowan::detail::add_to_op>({}, memory, x);
}
/// The same; nullptr stands for the step's input.
/// shapes   memory [n, width] -> [n, width]
/// errors   as above
/// cost     as above
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, std::nullptr_t) {
    return add_to(memory, Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK}), Role::step_input)));
}

/// A recurrent layer whose step is given as an expression.
template <class T = float, class Device = Cpu>
struct RnnProgram {
    Var<T, Device> input;       ///< input with levels of sequences
    Var<T, Device> step_net;    ///< output of a step, one row for each row of the step's input
    bool concat_output = true;  ///< return the rows of all steps, else those of the last steps only
    bool reverse = false;       ///< iterate from the ends of the sequences to their beginnings
};

/// A recurrent layer whose step consists of the operators that compute `step_net` from the memories and the step's
/// input, nullptr:
///
///     auto memory = layer::tensor();
///     auto out = layer::rnn({.input = layer::fc(x, {.output_size = 100}),
///                            .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 100})});
///
/// shapes   input [n, width] with levels -> [n, ...] with the same levels, or [sequences, ...] without concat_output
/// errors   as rnn_with_last; ShapeError if the width of a memory cannot be inferred; GraphError if step_net depends
///          neither on the step's input nor on a memory, contains a recurrent layer, a memory that nothing or more than
///          one value is added to, or a memory of another layer
/// cost     as rnn_with_last
template <class T = float, class Device = Cpu>  // the defaults are for a braced argument
Var<T, Device> rnn(RnnProgram<T, Device> const& program) {
    rowan::detail::StepProgram const step(*program.step_net);
    spec::has_levels("layer::rnn: input", program.input->spec());
    VarSpec input = program.input->spec();
    input.dims[0] = UNK;
    input.lod_level = 0;
    std::vector<Memory> memories;
    for (VarSpec const& memory : step.memory_specs(input)) memories.push_back({.size = memory.dims[1]});
    auto const made =
        rowan::detail::recurrence<T>(program.input, std::span<Memory const>(memories), {.reverse = program.reverse},
                                     [&](auto const& x_t, auto const& before) {
                                         std::vector<Variable*> states;
                                         for (auto const& state : before) states.push_back(&*state);
                                         auto const [result, next] = step.replay(*x_t, states);
                                         std::vector<Var<T, Device>> after;
                                         for (Variable* const v : next) after.emplace_back(*v);
                                         return Step<T, Device>{Var<T, Device>(*result), std::move(after)};
                                     });
    for (std::size_t m = 0; m < memories.size(); ++m)
        default_scope().write_to(*made.output->writers()[0], m, *step.memories()[m]);
    if (program.concat_output) return made.output;
    return program.reverse ? sequence_first(made.output) : sequence_last(made.output);
}
}  // namespace rowan::inline v0::layer

// rowan/sequence/sequence_expand.hpp: sequence_expand, which repeats rows or sequences.

namespace rowan::inline v0 {

namespace detail {

/// Instance i of x, rows [rows[i], rows[i + 1]), is written times[i + 1] - times[i] times, from row starts[i] of the
/// result on.
struct Expansion {
    std::span<std::int64_t const> times;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> starts;
    Lod lod;  // of the result

    std::size_t length(std::size_t i) const { return length_at(rows, i); }
    std::size_t repeats(std::size_t i) const { return length_at(times, i); }

    /// Replaces sequence offsets by those one level below.
    static void descend(std::span<std::int64_t const> offsets, std::vector<std::int64_t>& at) {
        for (auto& q : at) q = offsets[static_cast<std::size_t>(q)];
    }

    /// The exclusive prefix sum of repeats(i) * (at[i + 1] - at[i]), followed by the total. Throws ShapeError if that
    /// exceeds 2^60.
    std::vector<std::int64_t> sums(std::vector<std::int64_t> const& at) const;
};

template <class T, class D>
Expansion make_expansion(LoDTensor<T, D> const& x, Lod const& lod, std::optional<std::size_t> const& given) {
    x.check();
    check_levels("lod", lod);
    std::size_t const level = given.value_or(lod.levels() - 1);
    Expansion e;
    e.times = lod[level];
    std::size_t const n = e.times.size() - 1;
    if (x.size() != n)
        throw ShapeError("x.size()", std::to_string(x.size()),
                         std::to_string(n) + ", the number of sequences of level " + std::to_string(level));
    std::vector<std::int64_t> at(n + 1);
    std::iota(at.begin(), at.end(), std::int64_t{0});
    if (x.lod().empty()) {
        e.rows = std::move(at);
        e.starts.assign(e.times.begin(), e.times.end());
        e.lod = lod.slice_levels(level, level + 1);
        return e;
    }
    std::vector<std::size_t> sizes;
    for (std::size_t l = 0; l < x.lod().levels(); ++l) {
        sizes.push_back(static_cast<std::size_t>(e.sums(at).back()));
        Expansion::descend(x.lod()[l], at);
    }
    e.rows = at;
    e.starts = e.sums(at);
    auto const levels = std::make_shared<std::vector<std::vector<std::int64_t>>>();
    std::iota(at.begin(), at.end(), std::int64_t{0});
    for (std::size_t l = 0; l < x.lod().levels(); ++l) {
        auto const offsets = x.lod()[l];
        auto& out = levels->emplace_back();
        out.reserve(sizes[l] + 1);
        out.push_back(0);
        for (std::size_t i = 0; i < n; ++i) {
            if (at[i] == at[i + 1]) continue;
            for (std::size_t k = 0; k < e.repeats(i); ++k) {
                for (auto q = static_cast<std::size_t>(at[i]); q < static_cast<std::size_t>(at[i + 1]); ++q)
                    out.push_back(out.back() + offsets[q + 1] - offsets[q]);
            }
        }
        Expansion::descend(offsets, at);
    }
    e.lod = LodAccess::make(levels, *levels);
    return e;
}

/// Device-specific implementation of sequence_expand and of its gradient.
template <class D>
struct SequenceExpansion {
    static_assert(
        has_backend<D>,
        "rowan: sequence_expand on a Thrust device needs #include <rowan/thrust/sequence/sequence_expand.hpp>");
};

template <>
struct SequenceExpansion<Cpu> {
    template <class T>
    static void expand(Cpu exec, Expansion const& e, std::size_t width, T const* rows, T* out) {
        for_sequences(exec, e.starts, width, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                if (e.length(i) == 0) continue;
                detail::repeat(rows + static_cast<std::size_t>(e.rows[i]) * width, e.length(i) * width, e.repeats(i),
                               out + static_cast<std::size_t>(e.starts[i]) * width);
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, Expansion const& e, std::size_t width, T const* out_grad, T* x_grad) {
        using S = sum_t<T>;
        for_sequences(exec, e.starts, width, [&](std::size_t i, std::size_t end) {
            BlockSum<T, S> sum(out_grad, width, longest_of(e.times, i, end));
            std::vector<std::int64_t> positions;
            for (; i < end; ++i) {
                T* to = x_grad + static_cast<std::size_t>(e.rows[i]) * width;
                std::size_t const length = e.length(i);
                if (length == 0) continue;
                if (e.repeats(i) == 0) {
                    std::fill_n(to, length * width, zero<T>());
                    continue;
                }
                positions.resize(e.repeats(i));
                for (std::size_t k = 0; k < positions.size(); ++k)
                    positions[k] = e.starts[i] + static_cast<std::int64_t>(k * length);
                for (std::size_t r = 0; r < length; ++r, to += width) {
                    copy_lanes<S>(width, sum(positions.data(), positions.size(), 0), to);
                    for (auto& p : positions) ++p;
                }
            }
        });
    }
};

}  // namespace detail

/// Repeats instance i of x once for each element of sequence i of lod[level], by default the last level. An instance is
/// a row or, if x has levels, a first-level sequence with all that it contains.
///
///     x without levels     [a] [b]        sequences of 2 and 3   ->   [a a]  [b b b]
///     x {{0, 2, 4}}        [a b]  [c d]   of 2 and 1             ->   [a b]  [a b]  [c d]
///
/// shapes   x with one instance per sequence of the level -> [elements of the level, ...] with that level if x has no
///          levels, else the repeated sequences with as many levels as x
/// errors   ShapeError if x has another number of instances, lod has no levels, or the result is too large; IndexError
///          if lod has no such level
/// cost     one read of x and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_expand(D const& exec, LoDTensor<T, D> const& x, Lod const& lod,
                                std::optional<std::size_t> level = {}) {
    auto const e = detail::make_expansion(x, lod, level);
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(e.starts.back());
    auto result = detail::new_tensor<T>(exec, shape);
    detail::SequenceExpansion<D>::expand(exec, e, x.value().row_size(), x.value().data(), result.data());
    return {std::move(result), e.lod};
}

/// The adjoint of sequence_expand: the gradient of each row of x is the sum over its repeats, in their order and blocks
/// of 64. Only the shape and the levels of x are used.
/// shapes   out_grad as the result of sequence_expand -> [n, ...] with the levels of x
/// errors   as sequence_expand, and ShapeError if out_grad has another shape
/// cost     one read of out_grad and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_expand_grad(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                                     LoDTensor<T, D> const& x, Lod const& lod, std::optional<std::size_t> level = {}) {
    auto const e = detail::make_expansion(x, lod, level);
    detail::check_height("out_grad", out_grad, e.starts.back());
    detail::check_trailing("out_grad", out_grad, x.shape());
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceExpansion<D>::grad(exec, e, x_grad.row_size(), out_grad.data(), x_grad.data());
    return {std::move(x_grad), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_expand(LoDTensor<T, Device> const& x, Lod const& lod,
                                     std::optional<std::size_t> level = {}) {
    return sequence_expand(x.device(), x, lod, level);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_expand_grad(std::type_identity_t<Tensor<T, Device>> const& out_grad,
                                          LoDTensor<T, Device> const& x, Lod const& lod,
                                          std::optional<std::size_t> level = {}) {
    return sequence_expand_grad(out_grad.device(), out_grad, x, lod, level);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_expand_inl.hpp: definitions of rowan/sequence/sequence_expand.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> Expansion::sums(std::vector<std::int64_t> const& at) const {
    constexpr std::int64_t limit = std::numeric_limits<std::ptrdiff_t>::max() / 8;
    std::vector<std::int64_t> result{0};
    result.reserve(at.size());
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
        std::int64_t const one = at[i + 1] - at[i];
        std::int64_t const k = times[i + 1] - times[i];
        if (one != 0 && k > (limit - result.back()) / one) {
            throw ShapeError("x[" + std::to_string(i) + "] expanded",
                             std::to_string(one) + " rows or sequences " + std::to_string(k) + " times",
                             "at most 2^60 in all");
        }
        result.push_back(result.back() + k * one);
    }
    return result;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/op/sequence_expand.hpp: sequence_expand_op, rows or sequences repeated by another input's lengths.

namespace rowan::inline v0 {

/// The settings of sequence_expand.
struct SequenceExpandOptions {
    std::optional<std::size_t> level = {};  ///< a level of y; the last by default

    static constexpr auto fields = std::tuple(field{"level", &SequenceExpandOptions::level});
};

struct sequence_expand_grad_op {
    static constexpr std::string_view name = "sequence_expand_grad";
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;  // only the shape of x and the levels of y are used
    using outputs = slots<grad_of<slot::x>>;
    using attributes = SequenceExpandOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&, VarSpec const&,
                                   SequenceExpandOptions const& = {}) {
        return x;
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                               LoDTensor<T, D> const& out_grad, SequenceExpandOptions const& options = {}) {
        return sequence_expand_grad(exec, out_grad.value(), x, y.lod(), options.level);
    }
};

/// See sequence_expand; the levels are those of y.
struct sequence_expand_op {
    static constexpr std::string_view name = "sequence_expand";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using attributes = SequenceExpandOptions;
    using grad = grad_rule<sequence_expand_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, SequenceExpandOptions const& = {}) {
        spec::dense("sequence_expand: x", x);
        spec::has_rows("sequence_expand: x", x);
        spec::has_levels("sequence_expand: y", y);
        VarSpec out = x;
        out.dims[0] = UNK;
        if (out.lod_level == 0) out.lod_level = 1;
        return out;
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                               SequenceExpandOptions const& options = {}) {
        return sequence_expand(exec, x, y.lod(), options.level);
    }
};

}  // namespace rowan::inline v0

// rowan/layer/sequence_expand.hpp: layer::sequence_expand, rows repeated by the lengths of sequences.

namespace rowan::inline v0::layer {

/// Repeats row k of x, or sequence k if x has levels, once for each element of sequence k of y. Only the levels of y
/// are used.
///     auto context = layer::sequence_expand(last, words);      // a row for each sentence -> a row for each word
/// y has no gradient: train throws a GraphError if y depends on a parameter. Use a fed variable, such as the ids.
/// shapes   x [sequences, ...], y [n, ...] with levels -> [rows, ...], with the levels of x, or one level if it has
///          none
/// errors   ShapeError if y has no levels; when the net runs, ShapeError if the number of rows or sequences of x
///          differs from the number of sequences of y
/// cost     as rowan::sequence_expand, when the net runs
template <class T, class U, class Device>
Var<T, Device> sequence_expand(Var<T, Device> const& x, Var<U, Device> const& y,
                               SequenceExpandOptions const& options = {}) {
    return apply<sequence_expand_op>(options, x, y);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/sum_rows.hpp: layer::sum_rows, the sum of all rows.

namespace rowan::inline v0::layer {

/// The sum of all rows of a batch, see rowan::sum_rows. For the sum of each sequence, see layer::sequence_pool.
/// shapes   x [n, ...] -> [...]
/// errors   ShapeError if x has rank 0
/// cost     as rowan::sum_rows, when the net runs
template <class T, class Device>
Var<T, Device> sum_rows(Var<T, Device> const& x) {
    return apply<sum_rows_op>({}, x);
}

}  // namespace rowan::inline v0::layer

// rowan/layer/train.hpp: train, trains the parameters of a net on batches.

#include <chrono>

namespace rowan::inline v0 {

/// The report on one batch, passed to on_batch.
struct BatchReport {
    std::int64_t epoch;  ///< counted from 0
    std::int64_t batch;  ///< within the epoch, counted from 0
    double cost;         ///< cost of the batch
};

/// The settings of train for a net on a device.
template <class Device>
struct TrainOptionsOn {
    std::optional<layer::OptimizerOn<Device>> optimizer = {};           ///< default Sgd{}
    std::map<std::string, layer::OptimizerOn<Device>> optimizers = {};  ///< optimizers for single parameters, by name
    layer::GradientClipOn<Device> clip = {};  ///< gradient clipping, e.g. layer::ClipByGlobalNorm{.max_norm = 1}
    layer::Schedule schedule = {};            ///< learning-rate schedule, e.g. layer::CosineDecay{.steps = 10'000}
    std::int64_t epochs = 1;                  ///< number of epochs; each calls the reader once
    bool progress = false;                    ///< print a line to standard error for every epoch
    std::uint64_t seed = 0;                   ///< for the initialization of parameters and for dropout
    Device exec = {};                         ///< number of threads, or the stream
    std::function<void(BatchReport const&)> on_batch = {};                     ///< called after every batch
    std::function<void(std::int64_t epoch, Parameters const&)> on_epoch = {};  ///< called after every epoch
    Parameters const* resume = nullptr;  ///< result of an earlier training to continue from
};
/// The settings of train for a net on the host.
using TrainOptions = TrainOptionsOn<Cpu>;

/// Minimizes `cost`, batch by batch, over the parameters that it depends on, and returns them.
///
///     auto parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.05f}, .epochs = 3});
///
/// `reader` is called with the number of each epoch, counted from 0, and returns a range of Feeds. On a device, each
/// batch synchronizes once, to read its cost; bad ids are reported then. The returned parameters are in device memory.
/// shapes   cost [1]
/// errors   GraphError if cost does not depend on a parameter, an operator between them has no gradient, the net has a
///          cycle, options.optimizers contains a name that is not a parameter, a schedule is given for an optimizer
///          without a learning rate, options.resume lacks a parameter, or a batch lacks a variable or contains a name
///          that no layer::data declared; TypeError if the optimizer or options.clip does not support the element type
///          of a parameter or its gradient; TypeError or ShapeError if the element type, rank, a dim or the number of
///          levels of a value in a batch or in options.resume differs from the variable's; ShapeError if a batch has no
///          rows or the cost is not one number; ValueError if the cost of a batch or the schedule's factor is not
///          finite, or an optimizer rejects an option. On error, all parameters have the values from before that batch,
///          and the variables keep them
/// cost     for each batch, that of its operators; what train adds to the net is removed when it ends
template <class T, class Device, class Reader>
Parameters train(layer::Var<T, Device> const& cost, Reader&& reader,
                 TrainOptionsOn<std::type_identity_t<Device>> const& options = {}) {
    detail::Trainer<T, Device> trainer(*cost, options.optimizer.value_or(layer::Sgd{}), options.optimizers,
                                       options.clip, options.schedule);
    trainer.begin(options.seed, options.resume, options.exec);
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        auto const start = std::chrono::steady_clock::now();
        std::int64_t batch = 0;
        double sum = 0;
        for (Feeds const& feeds : reader(epoch)) {
            double const value = trainer.step(feeds, options.exec);
            sum += value;
            if (options.on_batch) options.on_batch({epoch, batch, value});
            ++batch;
        }
        if (options.on_epoch) options.on_epoch(epoch, trainer.parameters(options.exec));
        if (!options.progress) continue;
        std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
        std::fprintf(stderr, "epoch %lld: mean cost %g over %lld batches, %.3f s\n", static_cast<long long>(epoch + 1),
                     sum / static_cast<double>(std::max<std::int64_t>(batch, 1)), static_cast<long long>(batch),
                     seconds.count());
    }
    return trainer.parameters(options.exec);
}

}  // namespace rowan::inline v0

// rowan/op/builtin_ops.hpp: builtin_ops, the registry of rowan's operators.

namespace rowan::inline v0 {

/// All operators of rowan except the templates on an element type (cast_op<To>, full_op<T>); `builtin_ops::with<...>`
/// adds them.
using builtin_ops =
    registry<accuracy_op, adagrad_op, adam_op, add_op, any_op, cast_grad_op, clip_by_global_norm_op, clip_by_norm_op,
             clip_grad_op, clip_op, concat_grad_op, concat_op, cross_entropy_grad_op, cross_entropy_op, dropout_grad_op,
             dropout_op, elementwise_mul_op, equal_op, expand_rows_op, fc_op, full_like_op, ftrl_op, gru_unit_grad_op,
             gru_unit_op, identity_op, less_equal_op, less_op, logical_and_op, logical_not_op, logical_or_op,
             embedding_bag_grad_op, embedding_bag_op, lookup_table_grad_op, lookup_table_op, lstm_unit_grad_op,
             lstm_unit_op, momentum_op, mse_grad_op, mse_op, mul_nt_op, mul_op, mul_tn_op, negate_op, relu_grad_op,
             relu_op, rmsprop_op, rowwise_adagrad_op, scale_grad_op, scale_op, sequence_expand_grad_op,
             sequence_expand_op, sequence_pool_grad_op, sequence_pool_op, sgd_op, sigmoid_grad_op, sigmoid_op,
             softmax_grad_op, softmax_op, softmax_with_cross_entropy_grad_op, softmax_with_cross_entropy_op,
             split_grad_op, split_op, sub_op, sum_grad_op, sum_op, sum_rows_op, tanh_grad_op, tanh_op,
             weighted_embedding_bag_grad_op, weighted_embedding_bag_op>;

}  // namespace rowan::inline v0

// rowan/op/forward_ops.hpp: forward_ops, the operators that programs in files may contain.

namespace rowan::inline v0 {

/// All operators of rowan except those that only training needs and the templates on an element type (cast_op,
/// full_op), which programs provide for each of their element types. `forward_ops::with<my_op>` adds an operator.
using forward_ops =
    registry<accuracy_op, add_op, any_op, clip_op, clip_by_norm_op, concat_op, cross_entropy_op, dropout_op,
             elementwise_mul_op, equal_op, fc_op, full_like_op, gru_unit_op, identity_op, less_equal_op, less_op,
             logical_and_op, logical_not_op, logical_or_op, embedding_bag_op, lookup_table_op, lstm_unit_op, mse_op,
             mul_nt_op, mul_op, mul_tn_op, negate_op, relu_op, scale_op, sequence_expand_op, sequence_pool_op,
             sigmoid_op, softmax_op, softmax_with_cross_entropy_op, split_op, sub_op, sum_op, sum_rows_op, tanh_op,
             weighted_embedding_bag_op>;

/// Whether programs provide this operator for integers as well, such as the counter of a loop.
template <class Op>
inline constexpr bool takes_integers =
    registry<add_op, concat_op, elementwise_mul_op, equal_op, full_like_op, identity_op, less_equal_op, less_op,
             negate_op, scale_op, split_op, sub_op, sum_op>::has<Op>;

/// Whether programs provide this operator for bool as well.
template <class Op>
inline constexpr bool takes_truth_values =
    registry<any_op, equal_op, logical_and_op, logical_not_op, logical_or_op>::has<Op>;

}  // namespace rowan::inline v0

// rowan/op/lookup_bag.hpp: lookup_bag, the former name of embedding_bag, which a later version removes.

namespace rowan::inline v0 {

/// As embedding_bag.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag")]] LoDTensor<T, D> lookup_bag(D const& exec, Tensor<T, D> const& table,
                                                               LoDTensor<I, D> const& ids,
                                                               BagOptions const& options = {}) {
    return embedding_bag(exec, table, ids, options);
}
/// As embedding_bag.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag")]] LoDTensor<T, D> lookup_bag(D const& exec, Tensor<T, D> const& table,
                                                               LoDTensor<I, D> const& ids,
                                                               std::type_identity_t<Tensor<T, D>> const& weight,
                                                               BagOptions const& options = {}) {
    return embedding_bag(exec, table, ids, weight, options);
}

/// As embedding_bag_grad.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag_grad")]] SelectedRows<T, D> lookup_bag_grad(
    D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& out_grad, BagOptions const& options = {}) {
    return embedding_bag_grad(exec, table, ids, out_grad, options);
}
/// As embedding_bag_grad.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag_grad")]] std::tuple<SelectedRows<T, D>, Tensor<T, D>> lookup_bag_grad(
    D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& weight, std::type_identity_t<Tensor<T, D>> const& out_grad,
    BagOptions const& options = {}) {
    return embedding_bag_grad(exec, table, ids, weight, out_grad, options);
}

using lookup_bag_op [[deprecated("use embedding_bag_op")]] = embedding_bag_op;  ///< As embedding_bag_op.
using weighted_bag_op [[deprecated("use weighted_embedding_bag_op")]] = weighted_embedding_bag_op;  ///< As that.

}  // namespace rowan::inline v0

// rowan/sequence/map_fn.hpp: map_fn, a function applied to every slot of a TensorArray.

namespace rowan::inline v0 {

/// Returns an array whose slot i is f(array.read(i)). f is called on the host, in ascending order of i; the slots are
/// in the memory of the array's device. A result that f returns by lvalue reference is copied.
/// shapes   f takes a LoDTensor (or a Tensor, to which it converts) and returns either, of any element type
/// errors   IndexError if a slot was never written, before any call of f; ShapeError if results differ in rank,
///          trailing dims or number of levels; whatever f throws
/// cost     size() calls of f, on one thread; results that f returns by value are not copied
template <class F, class T, class Device>
auto map_fn(F&& f, TensorArray<T, Device> const& array) {
    using R = std::invoke_result_t<F&, LoDTensor<T, Device>>;
    TensorArray<typename std::remove_cvref_t<R>::value_type, Device> results;
    // Throws unless all slots were written.
    for (std::size_t i = 0; i < array.size(); ++i) static_cast<void>(array.read(i));
    for (std::size_t i = 0; i < array.size(); ++i)
        results.write(i, std::invoke(f, array.read(i)), !std::is_lvalue_reference_v<R>);
    return results;
}

}  // namespace rowan::inline v0

// rowan/sequence/padded.hpp: to_padded and from_padded, conversions between ragged batches and padded tensors.

namespace rowan::inline v0 {

/// A padded tensor and the mask of its valid entries.
template <class T, class Device = Cpu>
struct Padded {
    Tensor<T, Device> value;    ///< [sequences, longest of each level..., ...]
    Tensor<bool, Device> mask;  ///< of the same dims without those of a row; true for rows, false for padding
};

namespace detail {

/// The lines of the last level's sequences in a tensor of dims [n_0, m_0, m_1, …], in ascending order. A line is the
/// innermost of these dims; lines are numbered in row-major order.
template <class Shape>
std::vector<std::size_t> padded_lines(Lod const& lod, Shape const& dims) {
    std::vector<std::size_t> lines(lod.sequences(0));
    for (std::size_t s = 0; s < lines.size(); ++s) lines[s] = s;
    for (std::size_t l = 0; l + 1 < lod.levels(); ++l) {
        std::vector<std::size_t> below;
        below.reserve(lod.sequences(l + 1));
        for (std::size_t s = 0; s < lines.size(); ++s) {
            for (std::size_t k = 0; k < length_at(lod[l], s); ++k) below.push_back(lines[s] * dims[l + 1] + k);
        }
        lines = std::move(below);
    }
    return lines;
}

/// Enlarges dim l + 1, the length of the longest sequence of level l, to lengths[l]. Throws ShapeError if that is less.
template <class Shape>
void lengthen(Shape& shape, Ids<> const& lengths) {
    check_list("lengths", lengths);
    if (lengths.size() != shape.size() - 1)
        throw ShapeError("lengths.size()", std::to_string(lengths.size()),
                         std::to_string(shape.size() - 1) + ", the number of levels");
    for (std::size_t l = 0; l < lengths.size(); ++l) {
        if (std::cmp_less(lengths[l], shape[l + 1]))
            throw ShapeError("lengths[" + std::to_string(l) + "]", std::to_string(lengths[l]),
                             "at least " + std::to_string(shape[l + 1]) + ", the longest sequence of the level");
        shape[l + 1] = static_cast<std::size_t>(lengths[l]);
    }
}

/// The positions of sequences in a padded tensor: sequence s is at the start of line lines[s], which has length
/// `longest`.
struct PaddedPlaces {
    std::span<std::int64_t const> offsets;
    std::vector<std::size_t> lines;
    std::size_t places;  // the number of lines
    std::size_t longest;
};

/// Device-specific implementation of to_padded for rows of `width` elements.
template <class D>
struct Padding {
    static_assert(has_backend<D>,
                  "rowan: to_padded on a Thrust device needs #include <rowan/thrust/sequence/padded.hpp>");
};

template <>
struct Padding<Cpu> {
    template <class T>
    static void run(Cpu exec, PaddedPlaces const& to, std::size_t width, T const* rows, T padding, T* out, bool* mask) {
        std::size_t const line = to.longest * width;
        bool const serial = threads_for(exec, to.places * (line + to.longest)) == 1;
        parallel_for(exec, to.places, serial ? to.places : (std::size_t{1} << 16) / (line + 1),
                     [&](std::size_t i, std::size_t end) {
                         auto s = static_cast<std::size_t>(std::ranges::lower_bound(to.lines, i) - to.lines.begin());
                         for (; i < end; ++i) {
                             bool const present = s < to.lines.size() && to.lines[s] == i;
                             std::size_t const n = present ? length_at(to.offsets, s) : 0;
                             std::size_t const from = present ? static_cast<std::size_t>(to.offsets[s++]) * width : 0;
                             std::fill_n(std::copy_n(rows + from, n * width, out + i * line), line - n * width,
                                         padding);
                             std::fill_n(std::fill_n(mask + i * to.longest, n, true), to.longest - n, false);
                         }
                     });
    }
};

}  // namespace detail

/// Pads all levels. Level l becomes a dim whose size is its longest sequence, or lengths[l] if `lengths` are given.
///
///     [a b]  []  [c]   ->   value  a b      mask  1 1
///                                  . .            0 0
///                                  c .            1 0
///
/// shapes   x [n, ...] of n_0 sequences -> value [n_0, m_0, m_1, …, ...] and mask [n_0, m_0, m_1, …], where m_l is the
///          longest sequence of level l, or lengths[l]
/// errors   ShapeError if x has no levels, lengths are given but not one number per level, lengths[l] is less than the
///          longest sequence of level l, or the result is too large or has more than 8 dims; ValueError if the element
///          type is an integer and cannot represent pad_value
/// cost     one read of x and one write of the result; lengths in device memory are copied to the host, which
///          synchronizes, here and in from_padded
template <class T, device D>
Padded<T, D> to_padded(D const& exec, LoDTensor<T, D> const& x, double pad_value = 0,
                       std::type_identity_t<Ids<D>> lengths = {}) {
    detail::check_sequences(exec, "x", x);
    T const padding = detail::checked_number<T>("pad_value", pad_value);
    Lod const& lod = x.lod();
    typename Tensor<T, D>::shape_type shape{lod.sequences(0)};
    for (std::size_t l = 0; l < lod.levels(); ++l) shape.push_back(detail::longest_of(lod[l], 0, lod.sequences(l)));
    if (lengths.size() != 0) detail::lengthen(shape, detail::HostIds<D>(exec, lengths));
    Padded<T, D> result{{}, detail::new_tensor<bool>(exec, shape)};
    shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
    result.value = detail::new_tensor<T>(exec, shape);
    std::size_t const longest = shape[lod.levels()];
    if (longest == 0) return result;
    detail::PaddedPlaces const places{detail::last_level(lod), detail::padded_lines(lod, shape),
                                      result.mask.size() / longest, longest};
    detail::Padding<D>::run(exec, places, x.value().row_size(), x.value().data(), padding, result.value.data(),
                            result.mask.data());
    return result;
}

/// The inverse of to_padded and, for pad_value 0, its adjoint: collects the rows that belong to the sequences of `lod`.
/// Dims may be larger than the longest sequences. The adjoint of from_padded is to_padded whose lengths are these dims.
/// shapes   padded [n_0, m_0, m_1, …, ...], one m per level of lod -> [rows of lod, ...] with lod
/// errors   ShapeError if lod has no levels, or padded has too few dims, another n_0 or an m less than a sequence of
///          its level
/// cost     one read and one write of the rows of lod
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, Lod const& lod) {
    detail::check_exec(exec);
    detail::check_levels("lod", lod);
    auto const& dims = padded.shape();
    std::size_t const levels = lod.levels();
    if (dims.size() < levels + 1)
        throw ShapeError("padded rank", std::to_string(dims.size()), "at least " + std::to_string(levels + 1));
    detail::check_height("padded", padded, static_cast<std::int64_t>(lod.sequences(0)));
    for (std::size_t l = 0; l < levels; ++l) {
        auto const offsets = lod[l];
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            if (n <= dims[l + 1]) continue;
            throw ShapeError("padded.shape(" + std::to_string(l + 1) + ")", std::to_string(dims[l + 1]),
                             "at least " + std::to_string(n) + ", the length of sequence " + std::to_string(s) +
                                 " of level " + std::to_string(l));
        }
    }
    typename Tensor<T, D>::shape_type shape{static_cast<std::size_t>(lod.rows())};
    shape.insert(shape.end(), dims.begin() + static_cast<std::ptrdiff_t>(levels) + 1, dims.end());
    auto result = detail::new_tensor<T>(exec, shape);
    auto const lines = detail::padded_lines(lod, dims);
    auto const offsets = detail::last_level(lod);
    std::size_t const width = result.row_size();
    T const* const from = padded.data();
    detail::copy_blocks(
        exec, offsets, width * sizeof(T), [&](std::size_t s) { return from + lines[s] * dims[levels] * width; },
        detail::blocks_at(result.data(), offsets, width));
    return {std::move(result), lod};
}

/// The same for one level of sequences with the given lengths.
/// shapes   padded [n, m, ...], lengths [n] -> [Σ lengths, ...]
/// errors   as above; LodError if a length is negative
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, std::type_identity_t<Ids<D>> lengths) {
    detail::HostIds<D> const on_host(exec, lengths);
    return from_padded(exec, padded, Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
}

template <class T, class Device>
Padded<T, Device> to_padded(LoDTensor<T, Device> const& x, double pad_value = 0,
                            std::type_identity_t<Ids<Device>> lengths = {}) {
    return to_padded(x.device(), x, pad_value, lengths);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, Lod const& lod) {
    return from_padded(padded.device(), padded, lod);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, std::type_identity_t<Ids<Device>> lengths) {
    return from_padded(padded.device(), padded, lengths);
}

}  // namespace rowan::inline v0

// rowan/sequence/reorder.hpp: reorder, which permutes sequences into the order of a StepMap.

namespace rowan::inline v0 {

namespace detail {

/// Result j is row or first-level sequence from(j) of x; `from` is a permutation.
template <class T, class D, class From>
LoDTensor<T, D> permuted(D const& exec, LoDTensor<T, D> const& x, std::size_t sequences, From const& from) {
    x.check();
    if (x.size() != sequences)
        throw ShapeError("x.size()", std::to_string(x.size()),
                         std::to_string(sequences) + ", the number of sequences of the map");
    return pick_sequences(exec, x, sequences, from);
}

}  // namespace detail

/// Permutes the rows of x into the order of a map: result j is row map.order()[j]. If x has levels, permutes its
/// first-level sequences.
/// shapes   x of map.sequences() rows or first-level sequences -> as many
/// errors   ShapeError if x has another number of them
/// cost     O(rows): one read and one write of every row
template <class T, device D>
LoDTensor<T, D> reorder(D const& exec, LoDTensor<T, D> const& x, StepMap<D> const& map) {
    return detail::permuted(exec, x, map.sequences(),
                            [&](std::size_t j) { return static_cast<std::size_t>(map.sequence(j)); });
}

template <class T, device D>
Tensor<T, D> reorder(D const& exec, Tensor<T, D> const& x, StepMap<D> const& map) {
    return reorder(exec, LoDTensor<T, D>(x.share()), map);
}

/// The adjoint and inverse of reorder: permutes from the map's order to that of the batch.
/// shapes   out_grad of map.sequences() rows or first-level sequences -> as many
/// errors   as reorder
/// cost     as reorder, and 8 bytes per sequence
template <class T, device D>
LoDTensor<T, D> reorder_grad(D const& exec, LoDTensor<T, D> const& out_grad, StepMap<D> const& map) {
    std::vector<std::size_t> position(map.sequences());
    for (std::size_t j = 0; j < position.size(); ++j) position[static_cast<std::size_t>(map.sequence(j))] = j;
    return detail::permuted(exec, out_grad, map.sequences(), [&](std::size_t s) { return position[s]; });
}

template <class T, device D>
Tensor<T, D> reorder_grad(D const& exec, Tensor<T, D> const& out_grad, StepMap<D> const& map) {
    return reorder_grad(exec, LoDTensor<T, D>(out_grad.share()), map);
}

template <template <class, class> class X, class T, class Device>  // a Tensor or a LoDTensor
X<T, Device> reorder(X<T, Device> const& x, StepMap<Device> const& map) {
    return reorder(x.device(), x, map);
}
template <template <class, class> class X, class T, class Device>
X<T, Device> reorder_grad(X<T, Device> const& out_grad, StepMap<Device> const& map) {
    return reorder_grad(out_grad.device(), out_grad, map);
}

ROWAN_TEMPLATE(LoDTensor<float> reorder(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<float> reorder(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<float> reorder_grad(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<float> reorder_grad(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<double> reorder(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<double> reorder(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<double> reorder_grad(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<double> reorder_grad(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&))

}  // namespace rowan::inline v0

// rowan/sequence/sequence_concat.hpp: sequence_concat, which concatenates the i-th sequences of several batches.

namespace rowan::inline v0 {

namespace detail {

/// Throws ShapeError unless all Lods have equal upper levels and the same number of sequences in the last level.
void check_alike(std::string const& field, std::string const& member, std::span<Lod const> lods);

/// The row offsets of the blocks of the result: block s * lods.size() + j is sequence s of batch j.
Lod concat_starts(std::span<Lod const> lods);

template <class T, class D>
LoDTensor<T, D> concat(D const& exec, std::span<LoDTensor<T, D> const* const> inputs) {
    check_exec(exec);
    std::vector<Lod> lods;
    for (auto const* x : inputs) lods.push_back(x->lod());
    for (auto const* x : inputs) x->check();
    check_alike("inputs", ".lod()", lods);
    for (std::size_t j = 1; j < inputs.size(); ++j)
        check_trailing(("inputs[" + std::to_string(j) + "]").c_str(), inputs[j]->value(), inputs[0]->shape());
    Lod const blocks = concat_starts(lods);
    auto const starts = blocks[0];
    auto const offset = [&](std::size_t i) {
        return static_cast<std::size_t>(last_level(lods[i % lods.size()])[i / lods.size()]);
    };
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i < starts.size(); i += lods.size()) offsets.push_back(starts[i]);
    auto shape = inputs[0]->shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto result = new_tensor<T>(exec, shape);
    std::size_t const width = result.row_size();
    copy_blocks(
        exec, starts, width * sizeof(T),
        [&](std::size_t i) { return inputs[i % inputs.size()]->value().data() + offset(i) * width; },
        blocks_at(result.data(), starts, width));
    return {std::move(result), with_last_level(lods[0], std::move(offsets))};
}

template <class X>
struct lod_tensor_type {};
template <class T, class D>
struct lod_tensor_type<LoDTensor<T, D>> {
    using type = LoDTensor<T, D>;
    using device = D;
};

/// The LoDTensor type of a range of LoDTensors or of std::reference_wrappers to them.
template <class R>
using lod_tensor_in = typename lod_tensor_type<
    std::remove_cvref_t<std::unwrap_ref_decay_t<std::ranges::range_reference_t<R const>>>>::type;

/// The device type of these LoDTensors.
template <class R>
using device_of_tensors = typename lod_tensor_type<lod_tensor_in<R>>::device;

/// A range whose iterators return references to existing LoDTensors, not temporaries.
template <class R>
concept lod_tensors = std::ranges::forward_range<R const> && requires {
    typename lod_tensor_in<R>;
} && !std::same_as<std::ranges::range_reference_t<R const>, lod_tensor_in<R>>;

}  // namespace detail

/// Sequence i of the last level of the result is the concatenation of sequences i of all inputs. Inputs are separate
/// arguments, or a range of LoDTensors or of references to them.
///
///     [a b]  []  [c]   and   [d]  [e f]  []   ->   [a b d]  [e f]  [c]
///
/// shapes   inputs [n_j, ...] -> [Σ n_j, ...], with the upper levels of the first input
/// errors   ShapeError if there are no inputs or no levels, or if the number of sequences, the levels above the last,
///          or trailing dims differ
/// cost     one read and one write of every row; 8 bytes per sequence of each input
template <detail::lod_tensors R>
auto sequence_concat(detail::device_of_tensors<R> const& exec, R const& inputs) {
    using X = detail::lod_tensor_in<R>;
    std::vector<X const*> pointers;
    for (X const& x : inputs) pointers.push_back(&x);
    return detail::concat<typename X::value_type, detail::device_of_tensors<R>>(exec, pointers);
}
template <class T, device D, std::same_as<LoDTensor<T, D>>... More>
LoDTensor<T, D> sequence_concat(D const& exec, LoDTensor<T, D> const& first, More const&... more) {
    std::array<LoDTensor<T, D> const*, 1 + sizeof...(More)> const pointers{&first, &more...};
    return detail::concat<T, D>(exec, pointers);
}

/// The adjoint of sequence_concat: splits out_grad into the gradients of the inputs, whose levels are `lods`.
/// shapes   out_grad [Σ n_j, ...] -> [n_j, ...] with lods[j], for each j
/// errors   ShapeError if inputs with `lods` cannot be concatenated, or out_grad has another number of rows
/// cost     one read and one write of every row
template <class T, device D, std::ranges::contiguous_range R>
requires std::same_as<std::ranges::range_value_t<R>, Lod> std::vector<LoDTensor<T, D>> sequence_concat_grad(
    D const& exec, LoDTensor<T, D> const& out_grad, R const& lods) {
    detail::check_exec(exec);
    std::span<Lod const> const all(lods);
    detail::check_alike("lods", "", all);
    Lod const blocks = detail::concat_starts(all);
    auto const starts = blocks[0];
    detail::check_height("out_grad", out_grad.value(), starts.back());
    std::size_t const width = out_grad.value().row_size();
    std::vector<LoDTensor<T, D>> grads;
    grads.reserve(all.size());
    std::vector<T*> to;
    for (Lod const& lod : all) {
        auto shape = out_grad.shape();
        shape[0] = static_cast<std::size_t>(lod.rows());
        grads.emplace_back(detail::new_tensor<T>(exec, shape), lod);
        to.push_back(grads.back().value().data());
    }
    detail::copy_blocks(exec, starts, width * sizeof(T), detail::blocks_at(out_grad.value().data(), starts, width),
                        [&](std::size_t i) {
                            std::size_t const j = i % all.size();
                            return to[j] + static_cast<std::size_t>(detail::last_level(all[j])[i / all.size()]) * width;
                        });
    return grads;
}
template <class T, device D>
std::vector<LoDTensor<T, D>> sequence_concat_grad(D const& exec, LoDTensor<T, D> const& out_grad,
                                                  std::initializer_list<Lod> lods) {
    return sequence_concat_grad(exec, out_grad, std::span(lods.begin(), lods.size()));
}

template <detail::lod_tensors R>
auto sequence_concat(R const& inputs) {
    return sequence_concat(detail::device_of_first<detail::lod_tensor_in<R>>(inputs), inputs);
}
template <class T, class Device, std::same_as<LoDTensor<T, Device>>... More>
LoDTensor<T, Device> sequence_concat(LoDTensor<T, Device> const& first, More const&... more) {
    return sequence_concat(first.device(), first, more...);
}
template <class T, class Device, std::ranges::contiguous_range R>
auto sequence_concat_grad(LoDTensor<T, Device> const& out_grad, R const& lods) {
    return sequence_concat_grad(out_grad.device(), out_grad, lods);
}
template <class T, class Device>
auto sequence_concat_grad(LoDTensor<T, Device> const& out_grad, std::initializer_list<Lod> lods) {
    return sequence_concat_grad(out_grad.device(), out_grad, lods);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_concat_inl.hpp: definitions of rowan/sequence/sequence_concat.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_alike(std::string const& field, std::string const& member, std::span<Lod const> lods) {
    if (lods.empty()) throw ShapeError(field + ".size()", "0", "at least 1");
    auto const name = [&](std::size_t j) { return field + "[" + std::to_string(j) + "]" + member; };
    check_levels(name(0), lods[0]);
    std::string const like = ", as in " + field + "[0]";
    std::size_t const levels = lods[0].levels();
    for (std::size_t j = 1; j < lods.size(); ++j) {
        if (lods[j].levels() != levels)
            throw ShapeError(name(j) + ".levels()", std::to_string(lods[j].levels()), std::to_string(levels) + like);
        for (std::size_t l = 0; l < levels; ++l) {
            auto const offsets = lods[j][l];
            auto const want = lods[0][l];
            std::string const level = std::to_string(l);
            if (offsets.size() != want.size())
                throw ShapeError(name(j) + ".sequences(" + level + ")", std::to_string(offsets.size() - 1),
                                 std::to_string(want.size() - 1) + like);
            if (l + 1 == levels) continue;
            auto const differs = std::ranges::mismatch(offsets, want);
            if (differs.in1 == offsets.end()) continue;
            throw ShapeError(name(j) + "[" + level + "][" + std::to_string(differs.in1 - offsets.begin()) + "]",
                             std::to_string(*differs.in1), std::to_string(*differs.in2) + like);
        }
    }
}

ROWAN_FUNCTION Lod concat_starts(std::span<Lod const> lods) {
    std::size_t const n = last_level(lods[0]).size() - 1;
    std::vector<std::int64_t> lengths;
    lengths.reserve(n * lods.size());
    for (std::size_t s = 0; s < n; ++s) {
        for (Lod const& lod : lods) lengths.push_back(static_cast<std::int64_t>(length_at(last_level(lod), s)));
    }
    return Lod::from_lengths({lengths});
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sequence/sequence_erase.hpp: sequence_erase, which removes given tokens from sequences.

namespace rowan::inline v0 {

namespace detail {

/// Device-specific implementation of sequence_erase. `erased` is sorted; `starts` receives the last-level offsets of
/// the result, which has the rank of x.
template <class D>
struct SequenceErasure {
    static_assert(has_backend<D>,
                  "rowan: sequence_erase on a Thrust device needs #include <rowan/thrust/sequence/sequence_erase.hpp>");
};

template <>
struct SequenceErasure<Cpu> {
    template <class T>
    static Tensor<T> run(Cpu exec, std::span<std::int64_t const> offsets, Tensor<T> const& x,
                         std::vector<std::int64_t> const& erased, std::vector<std::int64_t>& starts) {
        auto const stays = [&](T token) {
            return !std::ranges::binary_search(erased, static_cast<std::int64_t>(dtype<T>::widen(token)));
        };
        T const* const rows = x.data();
        for_sequences(exec, offsets, 1, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) starts[s + 1] = std::count_if(rows + offsets[s], rows + offsets[s + 1], stays);
        });
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        auto shape = x.shape();
        shape[0] = static_cast<std::size_t>(starts.back());
        auto result = Tensor<T>::from_shape(shape);
        T* const out = result.data();
        for_sequences(exec, offsets, 1, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) std::copy_if(rows + offsets[s], rows + offsets[s + 1], out + starts[s], stays);
        });
        return result;
    }
};

}  // namespace detail

/// Removes the elements that equal one of `tokens` from the sequences of the last level; the others keep their order.
///
///     [3 1 4]  [1]  [5 1]   tokens {1}   ->   [3 4]  []  [5]
///
/// shapes   x [n] or [n, 1] …: rows of one element; tokens of any shape -> fewer rows, with the upper levels of x
/// errors   ShapeError if x has no levels or its rows have more or less than one element
/// cost     two reads of x and one write of the result, O(log tokens) per element; on a device the call synchronizes
template <class T, device D>
LoDTensor<T, D> sequence_erase(D const& exec, LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> tokens) {
    static_assert(std::integral<T>, "rowan::sequence_erase: tokens are integers, x must hold integers");
    detail::check_sequences(exec, "x", x);
    if (x.value().row_size() != 1) throw ShapeError("x.row_size()", std::to_string(x.value().row_size()), "1");
    detail::HostIds<D> const on_host(exec, tokens);
    Ids<> const& list = on_host;
    std::vector<std::int64_t> erased(list.size());
    for (std::size_t i = 0; i < erased.size(); ++i) erased[i] = list[i];
    std::ranges::sort(erased);
    auto const offsets = detail::last_level(x.lod());
    std::vector<std::int64_t> starts(offsets.size());
    auto result = detail::SequenceErasure<D>::run(exec, offsets, x.value(), erased, starts);
    return {std::move(result), detail::with_last_level(x.lod(), std::move(starts))};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_erase(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> tokens) {
    return sequence_erase(x.device(), x, tokens);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_mask.hpp: sequence_mask, a mask of the valid entries of padded sequences.

namespace rowan::inline v0 {

namespace detail {

inline constexpr std::int64_t longest_sequence = std::numeric_limits<std::int64_t>::max();

/// The lengths of a mask where a device needs them. The constructor throws IndexError for a negative length, as far as
/// the host can see it.
template <class D>
class MaskedLengths {
    static_assert(has_backend<D>,
                  "rowan: sequence_mask on a Thrust device needs #include <rowan/thrust/sequence/sequence_mask.hpp>");
};

template <>
class MaskedLengths<Cpu> {
public:
    MaskedLengths(Cpu exec, Ids<> const& lengths) : lengths_(lengths) {
        check_ids(exec, "lengths", lengths, longest_sequence);
    }

    /// The greatest length.
    std::size_t longest(Cpu) const {
        std::int64_t longest = 0;
        for (std::size_t i = 0; i < lengths_.size(); ++i) longest = std::max(longest, lengths_[i]);
        return static_cast<std::size_t>(longest);
    }

    /// Writes the mask of rows of `width` entries.
    void mark(Cpu exec, std::size_t width, bool* mask) const {
        if (width == 0) return;
        parallel_for(exec, lengths_.size(), (std::size_t{1} << 18) / width + 1, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                std::size_t const length = std::min(static_cast<std::size_t>(lengths_[i]), width);
                std::fill_n(std::fill_n(mask + i * width, length, true), width - length, false);
            }
        });
    }

private:
    Ids<> const& lengths_;
};

}  // namespace detail

/// Entry j of row i is j < lengths[i], for j in [0, max_length). max_length defaults to the greatest length. On a
/// device, lengths in device memory without max_length are copied to the host, which synchronizes; with it, the next
/// synchronize or copy to the host throws the IndexError of a negative one.
/// shapes   lengths of any shape -> lengths.shape + [max_length]
/// errors   IndexError if a length is negative; ShapeError if the result is too large or has more than 8 dims
/// cost     one write of the result
template <device D = Cpu>
Tensor<bool, D> sequence_mask(D const& exec, std::type_identity_t<Ids<D>> lengths,
                              std::optional<std::size_t> max_length = {}) {
    detail::MaskedLengths<D> const masked(exec, lengths);
    auto shape = lengths.shape();
    shape.push_back(max_length ? *max_length : masked.longest(exec));
    auto mask = detail::new_tensor<bool>(exec, shape);
    masked.mark(exec, shape.back(), mask.data());
    return mask;
}

template <device D = Cpu>  // lists are in host memory
Tensor<bool, D> sequence_mask(std::type_identity_t<Ids<D>> lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(D{}, lengths, max_length);
}
template <id_type I, device D>
Tensor<bool, D> sequence_mask(Tensor<I, D> const& lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(lengths.device(), lengths, max_length);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_reverse.hpp: sequence_reverse, which reverses the rows of each sequence.

namespace rowan::inline v0 {

namespace detail {

/// Device-specific implementation of sequence_reverse.
template <class D>
struct SequenceReversal {
    static_assert(
        has_backend<D>,
        "rowan: sequence_reverse on a Thrust device needs #include <rowan/thrust/sequence/sequence_reverse.hpp>");
};

template <>
struct SequenceReversal<Cpu> {
    template <class T>
    static void run(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
                if (width == 1) {
                    std::reverse_copy(rows + begin, rows + begin + n, out + begin);
                    continue;
                }
                for (std::size_t i = 0; i < n; ++i)
                    std::copy_n(rows + begin + (n - 1 - i) * width, width, out + begin + i * width);
            }
        });
    }
};

}  // namespace detail

/// Reverses the rows of each sequence of the last level. It is its own inverse and its own adjoint.
///
///     lod {{0, 3, 3, 5}}     [a b c]  []  [d e]   ->   [c b a]  []  [e d]
///
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     one read and one write of every row
template <class T, device D>
LoDTensor<T, D> sequence_reverse(D const& exec, LoDTensor<T, D> const& x) {
    detail::check_sequences(exec, "x", x);
    auto result = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceReversal<D>::run(exec, detail::last_level(x.lod()), x.value().row_size(), x.value().data(),
                                     result.data());
    return {std::move(result), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_reverse(LoDTensor<T, Device> const& x) {
    return sequence_reverse(x.device(), x);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_slice.hpp: sequence_slice, a slice of each sequence.

namespace rowan::inline v0 {

namespace detail {

/// The row offsets of the result. Throws unless there is one slice per sequence of the last level and each is inside
/// it.
std::vector<std::int64_t> slice_offsets(Lod const& lod, Ids<> const& offset, Ids<> const& length);

}  // namespace detail

/// Keeps rows [offset[i], offset[i] + length[i]) of sequence i of the last level.
///
///     [a b c]  [d e]   offset {1, 0}, length {2, 0}   ->   [b c]  []
///
/// shapes   x [n, ...], offset and length with one number per sequence -> [Σ length, ...], with the upper levels of x
/// errors   ShapeError if x has no levels, or offset or length is not a flat list of one number per sequence;
///          IndexError if a slice is not inside its sequence
/// cost     one read and one write of the rows that are kept; offsets and lengths in device memory are copied to the
///          host, which synchronizes
template <class T, device D>
LoDTensor<T, D> sequence_slice(D const& exec, LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> offset,
                               std::type_identity_t<Ids<D>> length) {
    detail::check_sequences(exec, "x", x);
    detail::HostIds<D> const host_offset(exec, offset), host_length(exec, length);
    Ids<> const& first = host_offset;
    auto starts = detail::slice_offsets(x.lod(), first, host_length);
    auto const offsets = detail::last_level(x.lod());
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto result = detail::new_tensor<T>(exec, shape);
    std::size_t const width = x.value().row_size();
    T const* const rows = x.value().data();
    detail::copy_blocks(
        exec, starts, width * sizeof(T),
        [&](std::size_t i) { return rows + static_cast<std::size_t>(offsets[i] + first[i]) * width; },
        detail::blocks_at(result.data(), starts, width));
    return {std::move(result), detail::with_last_level(x.lod(), std::move(starts))};
}

/// The adjoint of sequence_slice: the gradient of the rows that were kept, and zeros for the others. `x_lod` is the Lod
/// of x.
/// shapes   out_grad [Σ length, ...] -> [rows of x_lod, ...] with x_lod
/// errors   as sequence_slice, and ShapeError if out_grad has another number of rows
/// cost     one read of out_grad and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_slice_grad(D const& exec, LoDTensor<T, D> const& out_grad, Lod const& x_lod,
                                    std::type_identity_t<Ids<D>> offset, std::type_identity_t<Ids<D>> length) {
    detail::check_levels("x_lod", x_lod);
    detail::HostIds<D> const host_offset(exec, offset), host_length(exec, length);
    Ids<> const& first = host_offset;
    auto const starts = detail::slice_offsets(x_lod, first, host_length);
    detail::check_height("out_grad", out_grad.value(), starts.back());
    auto const offsets = detail::last_level(x_lod);
    auto shape = out_grad.shape();
    shape[0] = static_cast<std::size_t>(x_lod.rows());
    auto x_grad = detail::new_tensor<T>(exec, shape);
    std::vector<std::int64_t> places(offsets.begin(), offsets.end() - 1);
    for (std::size_t s = 0; s < places.size(); ++s) places[s] += first[s];
    detail::spread_blocks(exec, starts, places, x_grad.row_size(), out_grad.value().data(), detail::zero<T>(), shape[0],
                          x_grad.data());
    return {std::move(x_grad), x_lod};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_slice(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> offset,
                                    std::type_identity_t<Ids<Device>> length) {
    return sequence_slice(x.device(), x, offset, length);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_slice_grad(LoDTensor<T, Device> const& out_grad, Lod const& x_lod,
                                         std::type_identity_t<Ids<Device>> offset,
                                         std::type_identity_t<Ids<Device>> length) {
    return sequence_slice_grad(out_grad.device(), out_grad, x_lod, offset, length);
}

}  // namespace rowan::inline v0

// rowan/sequence/sequence_slice_inl.hpp: definitions of rowan/sequence/sequence_slice.hpp.

#if ROWAN_DEFINES_FUNCTIONS
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> slice_offsets(Lod const& lod, Ids<> const& offset, Ids<> const& length) {
    auto const offsets = last_level(lod);
    std::size_t const n = offsets.size() - 1;
    auto const check_size = [&](char const* field, Ids<> const& list) {
        if (list.size() != n)
            throw ShapeError(field, std::to_string(list.size()), std::to_string(n) + ", the number of sequences");
    };
    check_list("offset", offset);
    check_list("length", length);
    check_size("offset.size()", offset);
    check_size("length.size()", length);
    std::vector<std::int64_t> result{0};
    result.reserve(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t const most = offsets[i + 1] - offsets[i];
        check_at_most("offset", offset, i, most);
        check_at_most("length", length, i, most - offset[i]);
        result.push_back(result.back() + length[i]);
    }
    return result;
}

}  // namespace rowan::inline v0::detail

#endif

// rowan/sequence/sequence_softmax.hpp: sequence_softmax, the softmax over the rows of each sequence.

namespace rowan::inline v0 {

namespace detail {

/// exp(x - greatest)
struct shifted_exp {
    ROWAN_NO_EXEC_CHECK
    template <class S>
    ROWAN_HD_INLINE S operator()(S const& x, S const& greatest) const {
        return exp_of(S(x - greatest));
    }
};

/// x / total
struct share_of {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& total) const {
        return quotient(x, total);
    }
};

/// x · y
struct multiplied {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
        return product(x, y);
    }
};

/// out · (grad - dot), where dot is the sum of out · grad
struct softmax_slope {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& out, V const& grad, V const& dot) const {
        return product(out, V(grad - dot));
    }
};

/// Device-specific implementation of sequence_softmax and of its gradient.
template <class D>
struct SequenceSoftmax {
    static_assert(
        has_backend<D>,
        "rowan: sequence_softmax on a Thrust device needs #include <rowan/thrust/sequence/sequence_softmax.hpp>");
};

template <>
struct SequenceSoftmax<Cpu> {
    template <class T>
    static void run(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            ScratchRows<S> scratch(longest_of(offsets, s, end), width);
            std::vector<S> greatest(width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s), begin = static_cast<std::size_t>(offsets[s]) * width;
                if (n == 0) continue;
                detail::column_extremes<true>(rows + begin, n, width, greatest.data());
                for (std::size_t i = 0; i < n; ++i) {
                    T const* const from = rows + begin + i * width;
                    for (std::size_t k = 0; k < width; ++k)
                        scratch.row(i)[k] = shifted_exp{}(load<S>(from + k), greatest[k]);
                }
                S const* const sum = scratch.sum(n);
                for (std::size_t i = 0; i < n; ++i)
                    zip_lanes<S>(share_of{}, width, out + begin + i * width, scratch.row(i), sum);
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T const* grad,
                     T* to) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            ScratchRows<S> scratch(longest_of(offsets, s, end), width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s), begin = static_cast<std::size_t>(offsets[s]) * width;
                if (n == 0) continue;
                for (std::size_t i = 0, at = begin; i < n; ++i, at += width)
                    zip_lanes<S>(multiplied{}, width, scratch.row(i), rows + at, grad + at);
                S const* const dot = scratch.sum(n);
                for (std::size_t i = 0, at = begin; i < n; ++i, at += width)
                    zip_lanes<S>(softmax_slope{}, width, to + at, rows + at, grad + at, dot);
            }
        });
    }
};

}  // namespace detail

/// exp(x - max) / sum of exp(x - max), over the rows of each sequence of the last level, column by column. Computed in
/// dtype<T>::sum, whose `exp` is found by argument-dependent lookup, and rounded to T once; sums are formed in input
/// order and blocks of 64. A NaN or an infinite max makes its column of the sequence NaN. Paddle's sequence_softmax.
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     two reads of x and one write of the result; temporary memory for the longest sequence of each thread, on a
///          device for all of x; bitwise equal results for any number of threads, and on devices except for a GPU's own
///          exp
template <class T, device D>
LoDTensor<T, D> sequence_softmax(D const& exec, LoDTensor<T, D> const& x) {
    static_assert(!std::integral<detail::sum_t<T>>,
                  "rowan::sequence_softmax: integers have no softmax, convert x to a type with fractions");
    detail::check_sequences(exec, "x", x);
    auto result = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceSoftmax<D>::run(exec, detail::last_level(x.lod()), x.value().row_size(), x.value().data(),
                                    result.data());
    return {std::move(result), x.lod()};
}

/// The gradient of x from that of `out`, the result of sequence_softmax: out * (out_grad - sum of out * out_grad).
/// shapes   out [n, ...], out_grad the same -> [n, ...] with the levels of out
/// errors   ShapeError if out has no levels or out_grad another shape
/// cost     two reads of both and one write of the result; temporary memory for the longest sequence of each thread, on
///          a device for all of x
template <class T, device D>
LoDTensor<T, D> sequence_softmax_grad(D const& exec, LoDTensor<T, D> const& out,
                                      std::type_identity_t<Tensor<T, D>> const& out_grad) {
    static_assert(!std::integral<detail::sum_t<T>>, "rowan::sequence_softmax_grad: integers have no softmax");
    detail::check_sequences(exec, "out", out);
    detail::check_same_shape("out_grad", out_grad, out.value());
    auto x_grad = detail::new_tensor<T>(exec, out.shape());
    detail::SequenceSoftmax<D>::grad(exec, detail::last_level(out.lod()), out.value().row_size(), out.value().data(),
                                     out_grad.data(), x_grad.data());
    return {std::move(x_grad), out.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_softmax(LoDTensor<T, Device> const& x) {
    return sequence_softmax(x.device(), x);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_softmax_grad(LoDTensor<T, Device> const& out,
                                           std::type_identity_t<Tensor<T, Device>> const& out_grad) {
    return sequence_softmax_grad(out.device(), out, out_grad);
}

}  // namespace rowan::inline v0

// rowan/sequence/shrink.hpp: shrink, which removes the sequences that have ended before a step.

namespace rowan::inline v0 {

namespace detail {

/// The positions of the sequences that have a step t among `rows` rows, which stand for all sequences or for those that
/// have a step t - 1.
template <class D>
std::vector<std::int64_t> survivors(StepMap<D> const& map, std::size_t t, std::size_t rows) {
    std::vector<std::int64_t> kept;
    kept.reserve(map.step_size(t));
    auto const last = static_cast<std::int64_t>(t);
    bool const of_step = t > 0 && rows == map.step_size(t - 1);
    if (auto const before = of_step ? StepElements<D>::host_step(map, t - 1) : std::span<std::int64_t const>();
        !before.empty()) {
        auto const now = StepElements<D>::host_step(map, t);
        for (std::size_t r = 0; r < before.size() && kept.size() < now.size(); ++r) {
            if (now[kept.size()] == before[r] + 1) kept.push_back(static_cast<std::int64_t>(r));
        }
        return kept;
    }
    for (std::int64_t r = 0, j = 0; std::cmp_less(j, map.sequences()); ++j) {
        std::int64_t const length = map.length(static_cast<std::size_t>(j));
        if (length > last) kept.push_back(r);
        r += !of_step || length >= last;
    }
    return kept;
}

template <class D>
void check_shrink(StepMap<D> const& map, std::size_t t, std::size_t rows) {
    bool const before = t > 0 && rows == map.step_size(t - 1);
    if (map.sorted() ? rows >= map.step_size(t) && rows <= map.sequences() : before || rows == map.sequences()) return;
    throw ShapeError("x.size()", std::to_string(rows),
                     "the number of sequences, or of those that have a step " + std::to_string(t == 0 ? 0 : t - 1));
}

}  // namespace detail

/// Selects the rows of the sequences that have a step t. The rows of x stand for all sequences in the map's order, or
/// for those that have a step t - 1. If x has levels, selects first-level sequences instead of rows.
/// shapes   x of map.sequences() or map.step_size(t - 1) rows (sorted: any number from map.step_size(t) to
///          map.sequences()) -> map.step_size(t) rows
/// errors   ShapeError if x has another number of rows
/// cost     O(1) for a sorted map, also with levels: an alias of the first rows. Otherwise one pass over the rows of x
///          (on a device, over all sequences), 8 bytes per selected row, and a copy of these rows
template <class T, device D>
Tensor<T, D> shrink(D const& exec, Tensor<T, D> const& x, StepMap<D> const& map, std::size_t t) {
    detail::check_rows("x", x);
    detail::check_shrink(map, t, x.shape()[0]);
    std::size_t const count = map.step_size(t);
    if (map.sorted()) return x.slice(0, count);
    auto const kept = detail::survivors(map, t, x.shape()[0]);
    return detail::pick_sequences(exec, LoDTensor<T, D>(x.share()), count, [&](std::size_t i) { return kept[i]; });
}

template <class T, device D>
LoDTensor<T, D> shrink(D const& exec, LoDTensor<T, D> const& x, StepMap<D> const& map, std::size_t t) {
    x.check();
    if (x.lod().empty()) return shrink(exec, x.value(), map, t);
    detail::check_shrink(map, t, x.size());
    std::size_t const count = map.step_size(t);
    Lod const& lod = x.lod();
    if (!map.sorted()) {
        auto const kept = detail::survivors(map, t, x.size());
        return detail::pick_sequences(exec, x, count, [&](std::size_t i) { return kept[i]; });
    }
    std::array<std::span<std::int64_t const>, Lod::max_levels> levels;
    std::size_t last = count;
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        levels[l] = lod[l].first(last + 1);
        last = static_cast<std::size_t>(levels[l].back());
    }
    return {x.value().slice(0, last),
            detail::LodAccess::make(detail::LodAccess::memory(lod), std::span(levels.data(), lod.levels()))};
}

/// The adjoint of shrink for a Tensor: the gradient of the selected rows, and zeros for the others. `rows` is
/// x.shape(0).
/// shapes   out_grad [map.step_size(t), ...] -> [rows, ...]
/// errors   ShapeError if `rows` is not a valid number of rows of x for shrink, or out_grad does not have
///          map.step_size(t) rows
/// cost     one write of every row of the result, one read of every row of out_grad
template <class T, device D>
Tensor<T, D> shrink_grad(D const& exec, Tensor<T, D> const& out_grad, StepMap<D> const& map, std::size_t t,
                         std::size_t rows) {
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(map.step_size(t)));
    detail::check_shrink(map, t, rows);
    auto shape = out_grad.shape();
    shape[0] = rows;
    auto x_grad = Tensor<T, D>::zeros(exec, shape);
    std::size_t const width = out_grad.row_size();
    T const* const from = out_grad.data();
    T* const to = x_grad.data();
    if (map.sorted()) {
        std::array<std::int64_t, 2> const starts{0, static_cast<std::int64_t>(map.step_size(t))};
        detail::copy_blocks(
            exec, starts, width * sizeof(T), [=](std::size_t) { return from; }, [=](std::size_t) { return to; });
    } else {
        auto const kept = detail::survivors(map, t, rows);
        detail::OnDevice<std::int64_t, D> const places(exec, kept);
        detail::put_rows(exec, kept.size(), width, from, places.data(), to);
    }
    return x_grad;
}

/// The same for a batch with levels, where `x_lod` is the Lod of x: the rows of removed sequences are zeros.
/// shapes   out_grad of as many rows as the selected sequences -> [rows of x_lod, ...] with x_lod
/// errors   ShapeError if x_lod has no levels or its number of sequences is not valid for shrink, or out_grad has
///          another number of rows
/// cost     as above
template <class T, device D>
LoDTensor<T, D> shrink_grad(D const& exec, LoDTensor<T, D> const& out_grad, StepMap<D> const& map, std::size_t t,
                            Lod const& x_lod) {
    detail::check_levels("x_lod", x_lod);
    detail::check_shrink(map, t, x_lod.sequences(0));
    auto const kept = map.sorted() ? std::vector<std::int64_t>() : detail::survivors(map, t, x_lod.sequences(0));
    std::size_t const count = map.step_size(t);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int64_t> to_rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t begin = map.sorted() ? static_cast<std::int64_t>(i) : kept[i];
        std::int64_t end = begin + 1;
        for (std::size_t l = 0; l < x_lod.levels(); ++l) {
            begin = x_lod[l][static_cast<std::size_t>(begin)];
            end = x_lod[l][static_cast<std::size_t>(end)];
        }
        to_rows[i] = begin;
        starts.push_back(starts.back() + end - begin);
    }
    detail::check_height("out_grad", out_grad.value(), starts.back());
    auto shape = out_grad.shape();
    shape[0] = static_cast<std::size_t>(x_lod.rows());
    auto x_grad = detail::new_tensor<T>(exec, shape);
    detail::spread_blocks(exec, starts, to_rows, x_grad.row_size(), out_grad.value().data(), detail::zero<T>(),
                          shape[0], x_grad.data());
    return {std::move(x_grad), x_lod};
}

template <template <class, class> class X, class T, class Device>  // a Tensor or a LoDTensor
X<T, Device> shrink(X<T, Device> const& x, StepMap<Device> const& map, std::size_t t) {
    return shrink(x.device(), x, map, t);
}
template <class T, class Device>
Tensor<T, Device> shrink_grad(Tensor<T, Device> const& out_grad, StepMap<Device> const& map, std::size_t t,
                              std::size_t rows) {
    return shrink_grad(out_grad.device(), out_grad, map, t, rows);
}
template <class T, class Device>
LoDTensor<T, Device> shrink_grad(LoDTensor<T, Device> const& out_grad, StepMap<Device> const& map, std::size_t t,
                                 Lod const& x_lod) {
    return shrink_grad(out_grad.device(), out_grad, map, t, x_lod);
}

ROWAN_TEMPLATE(Tensor<float> shrink(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(LoDTensor<float> shrink(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(Tensor<float> shrink_grad(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&, std::size_t,
                                         std::size_t))
ROWAN_TEMPLATE(LoDTensor<float> shrink_grad(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&, std::size_t,
                                            Lod const&))
ROWAN_TEMPLATE(Tensor<double> shrink(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(LoDTensor<double> shrink(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(Tensor<double> shrink_grad(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&, std::size_t,
                                          std::size_t))
ROWAN_TEMPLATE(LoDTensor<double> shrink_grad(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&, std::size_t,
                                             Lod const&))

}  // namespace rowan::inline v0

// rowan/sparse/from_dense.hpp: from_dense, the nonzero rows of a tensor as SelectedRows.

namespace rowan::inline v0 {

namespace detail {

/// Whether an element is NaN or its absolute value exceeds a threshold.
template <class T>
class is_large {
    using S = sum_t<T>;

public:
    /// errors   ValueError if threshold is negative or not finite
    explicit is_large(double threshold) {
        check_finite("threshold", threshold);
        if (threshold < 0.0) throw ValueError("threshold", threshold, "0 or more");
        // no value of S exceeds such a threshold
        if constexpr (std::integral<S>) none_ = threshold >= static_cast<double>(std::numeric_limits<S>::max());
        if (none_) return;
        high_ = constant<S>(threshold);
        low_ = constant<S>(-threshold);
    }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD bool operator()(T const& x) const {
        S const s = dtype<T>::widen(x);
        return !none_ && !(s <= high_ && s >= low_);
    }

private:
    bool none_ = false;
    S high_{}, low_{};
};

/// Finds the rows of a tensor with a large element.
template <class D>
struct LargeRows {
    static_assert(has_backend<D>,
                  "rowan: from_dense on a Thrust device needs #include <rowan/thrust/sparse/from_dense.hpp>");
};

template <>
struct LargeRows<Cpu> {
    template <class T>
    static Tensor<std::int64_t> find(Cpu exec, Tensor<T> const& dense, is_large<T> const& large) {
        return RowGather<Cpu>::where(exec, dense.size() == 0 ? 0 : dense.shape()[0],
                                     [&](std::size_t i) { return std::ranges::any_of(dense.row(i), large); });
    }
};

}  // namespace detail

/// The rows of `dense` with an element that is NaN or whose absolute value exceeds `threshold`; merged. Threshold 0
/// keeps all nonzero rows. A Thrust device synchronizes once to get their number.
/// shapes   dense [height, ...] -> a SelectedRows of that height and row shape
/// errors   ShapeError for rank 0; ValueError if threshold is negative or not finite
/// cost     O(height * width); on a Thrust device temporary memory of up to 24 bytes per row of dense
template <class T, device D>
SelectedRows<T, D> from_dense(D const& exec, Tensor<T, D> const& dense, double threshold = 0.0) {
    detail::check_rows("dense", dense);
    detail::is_large<T> const large(threshold);
    detail::check_exec(exec);
    auto rows = detail::LargeRows<D>::find(exec, dense, large);
    auto value = detail::rows_at(exec, dense, rows);
    return detail::SelectedRowsAccess::adopt(detail::height_of(dense), std::move(rows), std::move(value), true);
}

template <class T, class Device>
SelectedRows<T, Device> from_dense(Tensor<T, Device> const& dense, double threshold = 0.0) {
    return from_dense(dense.device(), dense, threshold);
}

ROWAN_TEMPLATE(SelectedRows<float> from_dense(Cpu const&, Tensor<float> const&, double))
ROWAN_TEMPLATE(SelectedRows<double> from_dense(Cpu const&, Tensor<double> const&, double))

}  // namespace rowan::inline v0

// rowan/sparse/retain.hpp: retain, the part of a gradient in given rows.

namespace rowan::inline v0 {

namespace detail {

/// Finds the rows of a gradient that are wanted.
template <class D>
struct RowFilter {
    static_assert(has_backend<D>, "rowan: retain on a Thrust device needs #include <rowan/thrust/sparse/retain.hpp>");
};

template <>
struct RowFilter<Cpu> {
    /// The positions of the rows of `g` that are in `rows`, ascending.
    /// errors   IndexError if a row is not in [0, height)
    template <class T>
    static Tensor<std::int64_t> kept(Cpu exec, SelectedRows<T> const& g, Ids<> const& rows) {
        check_ids(exec, "rows", rows, g.height());
        std::vector<std::int64_t> wanted(rows.size());
        rows.visit([&](auto list) { std::ranges::copy(list, wanted.begin()); });
        std::ranges::sort(wanted);
        return RowGather<Cpu>::where(exec, g.rows().size(),
                                     [&](std::size_t i) { return std::ranges::binary_search(wanted, g.rows()[i]); });
    }
};

}  // namespace detail

/// The rows of `g` that are in `rows`, in the order of `g`, including duplicates. Rows that are not in `g` are ignored.
/// A Thrust device synchronizes once to get the number of rows kept; there the result is merged() if `g` is.
/// shapes   rows [m] -> a SelectedRows of the height and row shape of g
/// errors   ShapeError if rows are not a flat list; IndexError if a row is not in [0, height)
/// cost     O((n + m) log m + kept * width)
template <class T, device D>
SelectedRows<T, D> retain(D const& exec, SelectedRows<T, D> const& g, std::type_identity_t<Ids<D>> rows) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
    auto const kept = detail::RowFilter<D>::kept(exec, g, rows);
    auto kept_rows = detail::rows_at(exec, detail::SelectedRowsAccess::rows(g), kept);
    return detail::SelectedRowsAccess::adopt(g.height(), std::move(kept_rows), detail::rows_at(exec, g.value(), kept),
                                             g.merged());
}

template <class T, class Device>
SelectedRows<T, Device> retain(SelectedRows<T, Device> const& g, std::type_identity_t<Ids<Device>> rows) {
    return retain(g.device(), g, rows);
}

ROWAN_TEMPLATE(SelectedRows<float> retain(Cpu const&, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(SelectedRows<double> retain(Cpu const&, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0

// rowan/sparse/to_dense.hpp: to_dense, the dense tensor that a SelectedRows represents.

namespace rowan::inline v0 {

/// A tensor of zeros of shape g.shape(), to which the rows of `g` are added as by scatter_add.
/// shapes   g -> [height, ...]
/// errors   ShapeError if the result exceeds 2^63 - 1 bytes; std::bad_alloc if memory is insufficient
/// cost     O(height * width + n * width)
template <class T, device D>
Tensor<T, D> to_dense(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    auto dense = Tensor<T, D>::zeros(exec, g.shape());
    scatter_add(exec, dense, g);
    return dense;
}

template <class T, class Device>
Tensor<T, Device> to_dense(SelectedRows<T, Device> const& g) {
    return to_dense(g.device(), g);
}

ROWAN_TEMPLATE(Tensor<float> to_dense(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<double> to_dense(Cpu const&, SelectedRows<double> const&))

}  // namespace rowan::inline v0

// rowan/sparse/touched_rows.hpp: TouchedRows, the set of rows of a table that changed since the last checkpoint.

namespace rowan::inline v0 {

/// A set of rows of a table, stored as one bit per row of the table.
///
///     TouchedRows touched(table.shape(0));
///     touched.add(gradient.rows());                       in every step
///     delta.add("table", touched.of(table));              the new values of the rows, for a delta checkpoint
///     delta.add("table moment", touched.of(moment));
///     touched.clear();
class TouchedRows {
public:
    /// The empty set, for a table of this height.
    /// errors   ShapeError if height is negative
    /// cost     O(height / 64)
    explicit TouchedRows(Height height)
        : height_(height), bits_(static_cast<std::size_t>(height_ / 64 + (height_ % 64 != 0))) {}

    /// The rows whose bits differ, for tables whose changes were not recorded.
    /// shapes   before [h, ...], after of the same shape
    /// errors   ShapeError if shapes differ or the rank is 0
    /// cost     both tables are read once, on several threads
    template <class T>
    static TouchedRows between(Tensor<T> const& before, Tensor<T> const& after) {
        detail::check_rows("before", before);
        if (before.shape() != after.shape()) {
            throw ShapeError("after.shape()", detail::shape_text(after.shape()), detail::shape_text(before.shape()));
        }
        TouchedRows touched(before.shape()[0]);
        std::size_t const rows = before.shape()[0], bytes = before.row_size() * sizeof(T);
        if (bytes == 0) return touched;
        auto const* const a = reinterpret_cast<std::byte const*>(before.data());
        auto const* const b = reinterpret_cast<std::byte const*>(after.data());
        std::size_t const words = std::max<std::size_t>(1, (std::size_t{1} << 20) / bytes / 64);
        parallel_for(Cpu{}, touched.bits_.size(), words, [&](std::size_t first, std::size_t last) {
            for (std::size_t row = 64 * first; row < std::min(rows, 64 * last); ++row) {
                if (std::memcmp(a + row * bytes, b + row * bytes, bytes) != 0) touched.bits_[row / 64] |= bit(row);
            }
        });
        return touched;
    }

    TouchedRows(TouchedRows const&) = default;
    TouchedRows(TouchedRows&& other) noexcept
        : height_(std::exchange(other.height_, 0)), bits_(std::exchange(other.bits_, {})) {}
    TouchedRows& operator=(TouchedRows other) noexcept {
        std::swap(height_, other.height_);
        bits_.swap(other.bits_);
        return *this;
    }
    ~TouchedRows() = default;

    std::int64_t height() const noexcept { return height_; }  ///< the height of the table

    /// Adds rows, in any order; duplicates are allowed.
    /// errors   IndexError if a row is not in [0, height)
    /// cost     two passes over the rows
    void add(Ids<> rows) {
        detail::check_ids(Cpu{}, "rows", rows, height_);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto const row = static_cast<std::size_t>(rows[i]);
            bits_[row / 64] |= bit(row);
        }
    }

    /// As above, for rows in the memory of another device; blocks until they are copied.
    /// errors   as above, and as to_host
    /// cost     as above, and one blocking copy to the host
    template <id_type I, class Device>
    requires(!std::is_same_v<Device, Cpu>) void add(Tensor<I, Device> const& rows) { add(to_host(rows)); }

    /// The rows of the set, ascending.
    /// errors   std::bad_alloc
    /// cost     O(height / 64 + rows)
    std::vector<std::int64_t> rows() const {
        std::size_t count = 0;
        for (std::uint64_t const word : bits_) count += static_cast<std::size_t>(std::popcount(word));
        std::vector<std::int64_t> rows;
        rows.reserve(count);
        for (std::size_t i = 0; i < bits_.size(); ++i) {
            for (std::uint64_t word = bits_[i]; word != 0; word &= word - 1)
                rows.push_back(static_cast<std::int64_t>(64 * i) + std::countr_zero(word));
        }
        return rows;
    }

    /// The current values of these rows of a table.
    /// shapes   table [height, ...]
    /// errors   ShapeError if the table has another height
    /// cost     O(height / 64), and one read and one write of the rows
    template <class T, class Device>
    SelectedRows<T, Device> of(Tensor<T, Device> const& table) const {
        detail::check_height("table", table, height_);
        auto const ids = rows();
        return {height_, ids, gather(table, ids)};
    }

    void clear() noexcept { std::fill(bits_.begin(), bits_.end(), 0); }  ///< removes all rows

private:
    static std::uint64_t bit(std::size_t row) { return std::uint64_t{1} << row % 64; }

    std::int64_t height_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace rowan::inline v0
