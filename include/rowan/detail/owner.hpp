// rowan/detail/owner.hpp: Owner, which owns an object of a class that is only declared.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <utility>

namespace rowan::inline v0::detail {

/// Owns an object, or none: as std::unique_ptr, which takes longer to compile. `destroy(object)`, of the object's namespace,
/// deletes it.
template <class T>
class Owner {
public:
    Owner() = default;
    explicit Owner(T* object) noexcept : object_(object) {}
    Owner(Owner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owner& operator=(Owner&& other) noexcept {
        Owner old(std::move(other));
        std::swap(object_, old.object_);
        return *this;
    }
    ~Owner() {
        if (object_ != nullptr) destroy(object_);
    }

    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }

private:
    T* object_ = nullptr;
};

}  // namespace rowan::inline v0::detail
