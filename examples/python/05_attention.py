# A decoder that reads a whole sentence in every step by attention, and gradients that a program reads itself.
#   words [n], a sentence each --table--> rows --gru--> encoded      for each word, attention over its sentence:
#   context = sum over the sentence of softmax(before · encoded) · encoded       score [n, 1] = fc(gru(row, context))
# Label of a word: whether the sentence has a later word that is the same.
import numpy
import rowan
from rowan import UNK, layer

height, width = 6, 8


def reader(epoch):
    random = numpy.random.RandomState(epoch)
    for _ in range(50):
        sentences = [random.randint(0, height, random.randint(1, 7)).tolist() for _ in range(32)]
        labels = [int(word in s[i + 1:]) for s in sentences for i, word in enumerate(s)]
        yield {"words": sentences, "label": labels}  # nested lists have the levels of sequences


def step(row, before):
    source = layer.static_input(encoded)
    scores = layer.reduce_sum(source * layer.sequence_expand(before, source), [1], keep_dims=True)
    context = layer.sequence_pool(source * layer.sequence_softmax(scores))
    now = layer.gru_unit(layer.concat([row, context], 1), before, width)
    return now, now


words, label = layer.data("words", [UNK], "int64", lod_level=1), layer.data("label", [UNK], "int64")
rows = layer.embedding(words, height, width, name="table")
encoded = layer.gru(rows, width)
states = layer.rnn(layer.sequence_reverse(rows), width, step)
logits = layer.fc(layer.drop_levels(layer.sequence_reverse(states), 1), 2)
cost = layer.cross_entropy(logits, label)

parameters = rowan.train(cost, reader, layer.AdamW(learning_rate=0.02), epochs=12)
test = next(reader(100))
right = (rowan.infer(logits, test, parameters).argmax(1) == test["label"]).mean()
print("right:", "more than 9 of 10" if right > 0.9 else right)

# The gradient of the table has a row for each word of a batch.
(table, gradient), *others = rowan.append_backward(cost)
for name in parameters.trained():
    rowan.cpp.default_scope().find(name).value = parameters[name]
words.value, label.value = [[1, 4], [4]], [0, 0, 0]
rowan.Net(cost, gradient).run(rowan.cpp.default_scope())
print(table.name, gradient.value, "rows", gradient.value.rows.tolist(), "once each", gradient.value.merge().rows.tolist())
