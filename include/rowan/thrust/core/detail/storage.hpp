// rowan/thrust/core/detail/storage.hpp: DeviceStorage, a part of a block of device memory.
#pragma once

#include <rowan/thrust/core/detail/system.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

/// A contiguous part of a block of device memory, which several tensors may share. A new block is uninitialised; it is
/// freed in stream order, after the work enqueued before on `exec`.
template <class T, class System>
class DeviceStorage {
public:
    using Exec = ThrustDevice<System>;

    DeviceStorage() = default;
    DeviceStorage(Exec const& exec, std::size_t n) : exec_(exec), size_(n) {
        using Memory = ThrustSystem<System>;
        Memory::check(exec);
        place_ = Memory::here();
        if (n == 0) return;
        void* const block = Memory::allocate(exec, n * sizeof(T));
        block_ = std::shared_ptr<T>(static_cast<T*>(block),
                                    [exec, place = place_](T* p) { Memory::deallocate(exec, place, p); });
    }

    DeviceStorage(DeviceStorage const& other) : DeviceStorage(other.exec_, other.size_) {
        if (size_ == 0) return;
        ThrustSystem<System>::check_place(other.place_);
        ThrustSystem<System>::copy(exec_, data(), other.data(), size_ * sizeof(T));
    }
    DeviceStorage(DeviceStorage&& other) noexcept
        : exec_(other.exec_), place_(other.place_), block_(std::move(other.block_)),
          size_(std::exchange(other.size_, 0)) {}
    /// Puts new contents into new memory: aliases keep the old contents.
    DeviceStorage& operator=(DeviceStorage other) noexcept {
        exec_ = other.exec_;
        place_ = other.place_;
        block_.swap(other.block_);
        size_ = other.size_;
        return *this;
    }
    ~DeviceStorage() = default;

    DeviceStorage alias(std::size_t begin, std::size_t n) const {
        DeviceStorage run;
        run.exec_ = exec_;
        run.place_ = place_;
        run.block_ = std::shared_ptr<T>(block_, block_.get() + begin);
        run.size_ = n;
        return run;
    }

    T* data() const noexcept { return block_.get(); }
    std::size_t size() const noexcept { return size_; }
    Exec const& device() const noexcept { return exec_; }
    auto place() const noexcept { return place_; }

private:
    Exec exec_;
    typename ThrustSystem<System>::Place place_{};
    std::shared_ptr<T> block_;
    std::size_t size_ = 0;
};

}  // namespace rowan::inline v0::detail
