// tests/python/streams.cpp: streams for streams.py, which loads this library.
#include "shared.hpp"

#include <rowan/io/describe_paddle.hpp>
#include <rowan/io/paddle.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rowan::Lod, rowan::LoDTensor, rowan::SelectedRows, rowan::Tensor;

}  // namespace

/// A LoDTensor of 6 rows of 3 with two levels, or a SelectedRows of 4 rows of 3.
EXPORT char const* save(char const* type, bool selected_rows, char const* path) {
    return shared::said([&] {
        shared::with_type(type, [&]<class T>(T) {
            if (selected_rows) {
                rowan::save_paddle(path, SelectedRows<T>(10, {0, 4, 7, 4}, shared::counting<T>(4)));
            } else {
                rowan::save_paddle(path, LoDTensor<T>(shared::counting<T>(6), Lod{{0, 2, 2, 3}, {0, 1, 4, 6}}));
            }
        });
    });
}

/// Loads a value and saves it to another file.
EXPORT char const* copy(char const* type, bool selected_rows, char const* from, char const* to) {
    return shared::said([&] {
        shared::with_type(type, [&]<class T>(T) {
            if (selected_rows) {
                rowan::save_paddle(to, rowan::load_paddle<SelectedRows<T>>(from));
            } else {
                rowan::save_paddle(to, rowan::load_paddle<LoDTensor<T>>(from));
            }
        });
    });
}

/// The same for a file of float and int64 tensors one after the other.
EXPORT char const* copy_combined(char const* from, char const* to) {
    return shared::said([&] {
        std::vector<rowan::PaddleValue> values;
        std::vector<LoDTensor<float>> floats;
        std::vector<LoDTensor<std::int64_t>> longs;
        for (auto const& stream : rowan::describe_paddle(from)) {
            if (stream.tensor.data_type == rowan::dtype<float>::wire) {
                values.emplace_back(floats.emplace_back(rowan::load_paddle<LoDTensor<float>>(from, stream)));
            } else {
                values.emplace_back(longs.emplace_back(rowan::load_paddle<LoDTensor<std::int64_t>>(from, stream)));
            }
        }
        rowan::save_paddle_combined(to, values);
    });
}
