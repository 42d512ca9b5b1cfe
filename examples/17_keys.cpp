// Keys instead of row numbers: a table that gets a row for each new key, and forgets the keys that are not used.
//
//     view("user 7", "shoes")   ->   at [0 1]   first values and optimizer states are ready
//     view("user 7", "loans")   ->   at [0 2]   a step by this view keeps its keys; without one they are gone
#include <rowan/sparse.hpp>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

struct Event {
    std::vector<std::string> words;
    float clicked;
};

int main() {
    // Logistic regression: the score of an event is the sum of the weights of its words.
    rowan::KeyedTable<float, std::string> weights({.width = 1, .keys = {.record_uses = true}});
    weights.add_state<float>("moment", {1});  // of AdaGrad; it grows with the table
    auto const score = [](rowan::Tensor<float> const& x) {
        float sum = 0;
        for (float const w : x) sum += w;
        return 1 / (1 + std::exp(-sum));
    };

    std::vector<Event> const log{{{"user 7", "shoes"}, 1}, {{"user 7", "loans"}, 0}, {{"user 9", "shoes"}, 1}, {{"user 9", "loans"}, 0}};
    auto const train = [&](Event const& event) {
        auto view = weights.view(event.words);
        float const slope = score(gather(view.rows(), view.at())) - event.clicked;
        rowan::adagrad(view, rowan::Tensor<float>::full({event.words.size(), 1}, slope), {.learning_rate = 0.1});
    };
    train({{"user 1", "hats"}, 1});
    for (int day = 1; day <= 30; ++day) {
        weights.set_step(day);
        for (Event const& event : log) train(event);
    }

    auto const ask = [&](std::vector<std::string> const& words) {  // unknown words have zeros
        float const probability = score(gather(weights.value(), weights.index(), words));
        std::cout << words[0] << " and " << words[1] << ": " << (probability > 0.5f ? "click" : "no click") << '\n';
    };
    ask({"user 7", "shoes"});
    ask({"somebody new", "loans"});

    std::cout << weights.size() << " keys; row 2 is that of " << weights.index().key(2) << '\n';
    auto const freed = weights.evict_unused(10);  // not used since day 10
    std::cout << freed.size() << " evicted; a new key gets row " << weights.find_or_insert({"user 11"})(0) << '\n';
}
