// Sums the duplicates of a gradient, unpacks a batch of sentences, and prints the package's options.
#include <rowan/rowan.hpp>
#ifdef WITH_NANOPB
#include <rowan/io.hpp>
#endif
#ifdef WITH_MPI
#include <rowan/distributed/mpi.hpp>
#endif

#include <iostream>

int main() {
    auto const merged = rowan::merge(rowan::SelectedRows<float>(3, {2, 0, 2}, {{1, 2}, {3, 4}, {1, 0}}));
    std::cout << "rows";
    for (auto row : merged.rows()) std::cout << ' ' << row;

    rowan::LoDTensor<float> const sentences(rowan::Tensor<float>{{1}, {2}, {10}}, rowan::Lod::from_lengths({{2, 1}}));
    auto const [steps, map] = rowan::TensorArray<float>::unpack(sentences, {.level = 0, .sort_by_length = true});
    std::cout << ", steps " << steps.size() << ", with";
#ifdef _OPENMP
    std::cout << " openmp";
#endif
#ifdef WITH_BLAS
    std::cout << " blas";
#endif
#ifdef WITH_NANOPB
    rowan::TensorDesc const desc{.data_type = rowan::dtype<float>::wire, .dims = {rowan::UNK, 640, 480}};
    auto const bytes = rowan::encode(desc);
    if (rowan::decode<rowan::TensorDesc>(bytes) == desc) std::cout << " nanopb";
#endif
#ifdef WITH_MPI
    std::cout << " mpi";
#endif
#ifdef WITH_CUDA
    std::cout << " cuda";
#endif
#ifdef WITH_COMPILED
    std::cout << " compiled";
#endif
    std::cout << '\n';
}
