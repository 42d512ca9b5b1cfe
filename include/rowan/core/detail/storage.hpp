// rowan/core/detail/storage.hpp: Storage, the elements of a Tensor, in a memory block that tensors may share.
#pragma once

#include <rowan/core/allocator.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

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
    std::shared_ptr<void const> memory() const noexcept { return block_; }  ///< a share in the elements
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
        auto block = share_memory(size_in_bytes(n, sizeof(T)), Allocator<T>::alignment);
        T* const first = static_cast<T*>(block.get());
        return std::shared_ptr<T>(std::move(block), first);
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
