// Describes the table of an embedding, updates the rows that a batch used, and prints both.
#include <rowan/io.hpp>
#include <rowan/sparse.hpp>

#include <iostream>

int main() {
    auto table = rowan::Tensor<float>::full({3, 2}, 1.0f);
    rowan::sgd(table, rowan::SelectedRows<float>(3, {2}, {{1, 2}}), 0.5);

    rowan::TensorDesc const desc{.data_type = rowan::dtype<float>::wire, .dims = {3, 2}};
    auto const bytes = rowan::encode(desc);
    std::cout << bytes.size() << " bytes say " << rowan::decode<rowan::TensorDesc>(bytes) << "; the last row is";
    for (float x : table.row(2)) std::cout << ' ' << x;
    std::cout << '\n';
}
