// expect: rowan::Checkpoint::add: takes a Tensor, a LoDTensor, a SelectedRows or a CheckpointEntry
#include <rowan/io/checkpoint.hpp>

#include <vector>

void save(rowan::Checkpoint& c) {
    c.add("w", std::vector<float>{1, 2});
}
