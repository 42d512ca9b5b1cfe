# Word2vec: skip-gram with negative sampling. A pair of a word and its context scores high, one with a random word low.
#   word [n] --table--> [n, 16] --.
#                                  * --sum--> score [n, 1]    cost = mean of log(1 + exp(±score)), + for random contexts
#   context [n] --table--> [n, 16] -'
# The text is made up: each sentence is of one of three topics, and most words occur in one topic only.
import numpy
import rowan
from rowan import UNK, layer

topics = "cat dog horse cow sheep", "pot pan knife spoon bowl", "red blue green yellow black"
names = [name for topic in topics for name in topic.split()] + ["the", "a"]
height, width, negatives = len(names), 16, 4


def reader(epoch):
    random = numpy.random.RandomState(epoch)
    for _ in range(100):
        topic = random.randint(0, 3, (64, 1))
        sentences = numpy.where(random.uniform(size=(64, 6)) < 0.2, random.randint(15, 17, (64, 6)),
                                5 * topic + random.randint(0, 5, (64, 6)))
        word, context = sentences[:, :-1].reshape(-1, 1), sentences[:, 1:].reshape(-1, 1)
        others = random.randint(0, height, (len(word), negatives))
        contexts = numpy.hstack([context, others])
        label = numpy.zeros_like(contexts)
        label[:, 0] = 1
        yield {"word": word.repeat(1 + negatives), "context": contexts.ravel(), "label": label.ravel()}


word, context, label = (layer.data(name, [UNK], "int64") for name in ("word", "context", "label"))
rows = layer.embedding(word, height, width, name="words")
scores = layer.reduce_sum(
    layer.apply("mul", rows, layer.embedding(context, height, width, name="contexts")),
    axes=[1], keep_dims=True)
logits = layer.apply("concat", layer.apply("scale", scores, factor=0, bias=0), scores, axis=1)
cost = layer.cross_entropy(logits, label)

# The next batch is made while the net runs. Tables have one number of state for each row, as there are many rows.
parameters = rowan.train(cost, rowan.prefetch(reader), layer.RowwiseAdaGrad(learning_rate=0.1), epochs=4,
                         schedule=layer.Warmup(steps=20, then=layer.CosineDecay(steps=400)))

table = parameters["words"]
table = table / numpy.linalg.norm(table, axis=1, keepdims=True)
for name in "cat", "pot", "red":
    near = numpy.argsort(-table @ table[names.index(name)])[1:5]
    print(name, "is near to", ", ".join(sorted(names[i] for i in near)))
