// tests/consume/two_files/a.cpp: compiled with other options than b.cpp; both must compute the same bits.
#include "bits.hpp"

#include <iostream>

std::string bits_of_b(int threads);

int main() {
    std::string const serial = bits(1);
    for (int i = 0; i < 2; ++i) {
        for (int threads : {1, 2, 4}) {
            if (bits(threads) == serial && bits_of_b(threads) == serial) continue;
            std::cout << "other bits with " << threads << " threads\n";
            return 1;
        }
    }
    std::cout << "the same bits\n";
}
