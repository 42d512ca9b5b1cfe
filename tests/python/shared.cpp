// tests/python/shared.cpp: tensors and files for peers.py, which loads this library.
#include "shared.hpp"

#include <rowan/io/dlpack.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/sequence/lod.hpp>

#include <any>
#include <cstdint>
#include <utility>

namespace {

using rowan::dlpack::DLManagedTensor, rowan::dlpack::DLManagedTensorVersioned;

std::any held;  // one of rowan's tensors, or one from Python

template <class T>
rowan::Tensor<T>& hold(rowan::Tensor<T> tensor) {
    return held.emplace<rowan::Tensor<T>>(std::move(tensor));
}

}  // namespace

/// Keeps [[0, 1, 2], [3, 4, 5]] and exports it.
EXPORT char const* share(char const* type, bool versioned, void** managed) {
    return shared::said([&] {
        shared::with_type(type, [&]<class T>(T) {
            auto const& t = hold(shared::counting<T>(2));
            *managed = versioned ? static_cast<void*>(rowan::to_dlpack(t)) : rowan::to_dlpack<DLManagedTensor>(t);
        });
    });
}

/// Imports a tensor and keeps it.
EXPORT char const* take(char const* type, bool versioned, void* managed) {
    return shared::said([&] {
        shared::with_type(type, [&]<class T>(T) {
            hold(versioned ? rowan::from_dlpack<T>(static_cast<DLManagedTensorVersioned*>(managed))
                           : rowan::from_dlpack<T>(static_cast<DLManagedTensor*>(managed)));
        });
    });
}

/// Adds 1 to every element of the tensor, in place.
EXPORT char const* add_one(char const* type) {
    return shared::said([&] {
        shared::with_type(type, [&]<class T>(T) {
            for (T& x : std::any_cast<rowan::Tensor<T>&>(held)) x = rowan::dtype<T>::narrow(rowan::dtype<T>::widen(x) + 1);
        });
    });
}

EXPORT void let_go() { held.reset(); }

EXPORT char const* save_npy(char const* type, char const* path) {
    return shared::said([&] { shared::with_type(type, [&]<class T>(T) { rowan::save_npy(path, shared::counting<T>(2)); }); });
}

/// Loads an array and saves it to another file.
EXPORT char const* copy_npy(char const* type, char const* from, char const* to) {
    return shared::said([&] { shared::with_type(type, [&]<class T>(T) { rowan::save_npy(to, rowan::load_npy<T>(from)); }); });
}

/// The offsets of {{0, 2, 2, 3}, {0, 1, 4, 6}}, which live as long as the library.
EXPORT std::int64_t const* lod_offsets(std::uint64_t level, std::uint64_t* count) {
    static rowan::Lod const lod{{0, 2, 2, 3}, {0, 1, 4, 6}};
    *count = lod[level].size();
    return lod[level].data();
}
