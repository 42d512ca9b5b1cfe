// Sums the row-sparse gradients of the ranks of mpirun.
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/row_allreduce.hpp>

#include <iostream>

int main(int argc, char** argv) {
    return rowan::run_mpi(argc, argv, [](rowan::Mpi const& comm) {
        rowan::SelectedRows<float> const mine(100, {7, 10 + comm.rank()}, {{1, 2}, {3, 4}});
        auto const sum = rowan::row_allreduce(rowan::Cpu{}, comm, mine);
        if (comm.rank() != 0) return 0;
        for (std::size_t i = 0; i < sum.rows().size(); ++i)
            std::cout << "row " << sum.rows()[i] << ": " << sum.value()(i, 0) << ' ' << sum.value()(i, 1) << '\n';
        return 0;
    });
}
