// One step of training an embedding: only the rows that the batch touched are read and written.
//
//     table = [1 1]     words = [2 0 2]     gradient = [1 2]     rate = 0.5     ->     [-0.5 -1  ]
//             [1 1]                                    [3 4]                           [ 1    1  ]
//             [1 1]                                    [1 0]                           [ 0    0  ]
#include <rowan/sparse.hpp>

#include <iostream>

void print(char const* name, rowan::Tensor<float> const& t) {
    std::cout << name << '\n';
    for (std::size_t i = 0; i < t.shape(0); ++i) {
        for (float x : t.row(i)) std::cout << "  " << x;
        std::cout << '\n';
    }
}

int main() {
    auto table = rowan::Tensor<float>::full({3, 2}, 1.0f);

    auto embedded = rowan::gather(table, {2, 0, 2});                            // forward: one row per word
    rowan::Tensor<float> out_grad{{1, 2}, {3, 4}, {1, 0}};                      // from the rest of the net
    auto grad = rowan::lookup_table_grad({2, 0, 2}, out_grad, table.shape(0));  // backward: a SelectedRows
    rowan::sgd(table, grad, 0.5);

    std::cout << "gradient of height " << grad.height() << " in " << grad.rows().size() << " rows\n";
    print("table", table);

    try {
        rowan::gather(table, {0, 3});
    } catch (rowan::IndexError const& e) {
        std::cout << "refused: " << e.what() << '\n';
    }
}
