// Paragraphs of sentences of words: steps of the upper level are whole sentences, with their words.
//
//     level 0   0   2     3         2 paragraphs, of 2 and 1 sentences
//     level 1   0   3  4  6         3 sentences, of 3, 1 and 2 words
//     words     1 2 3  4  5 6
#include <rowan/sequence.hpp>

#include <iostream>

using rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::TensorArray;

void print(char const* name, LoDTensor<float> const& x) {
    std::cout << name << " lod " << x.lod() << " rows";
    for (float row : x.value()) std::cout << ' ' << row;
    std::cout << '\n';
}

int main() {
    LoDTensor<float> words({1, 2, 3, 4, 5, 6}, Lod{{0, 2, 3}, {0, 3, 4, 6}});

    // A step of level 0 is the first, second … sentence of every paragraph that has one.
    auto [steps, map] = TensorArray<float>::unpack(words, {.level = 0});
    for (std::size_t t = 0; t < steps.size(); ++t) print("sentences", steps.read(t));

    // Each step is a batch of sentences again: take their means, and put those together to paragraphs.
    auto const means = map_fn([](LoDTensor<float> const& sentences) { return sequence_pool(sentences, Pooling::mean); }, steps);
    LoDTensor<float> const paragraphs = means.pack(0, map);
    print("sentence means", paragraphs);
    print("paragraph means", sequence_pool(paragraphs, Pooling::mean));

    std::cout << "same again: " << std::boolalpha << (steps.pack(0, map) == words) << '\n';
}
