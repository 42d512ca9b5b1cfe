// Merges a row-sparse gradient and keeps tensors in an array: the program of the projects that have no app.cpp.
#include <rowan/sequence/tensor_array.hpp>
#include <rowan/sparse.hpp>

#include <iostream>

int main() {
    rowan::SelectedRows<float> const grad(4, {3, 1, 3}, {{1, 2}, {3, 4}, {10, 20}});
    rowan::SelectedRows<float> const sums = rowan::merge(grad);
    for (std::size_t i = 0; i < sums.rows().size(); ++i) {
        std::cout << "row " << sums.rows()[i] << ": " << sums.value()(i, 0) << ' ' << sums.value()(i, 1) << '\n';
    }
    rowan::TensorArray<float> array;
    array.write(0, sums.value());
    array.write(1, grad.value());
    std::cout << array.concat().shape(0) << " rows of " << array.size() << " tensors\n";
    try {
        array.read(2);
    } catch (rowan::IndexError const& e) {
        std::cout << "refused: " << e.what() << '\n';
    }
}
