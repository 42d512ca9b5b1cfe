# The plain network of the operator page: a fully connected layer, trained, saved, loaded, asked.
#   x [n, 3]  --fc-->  predict [n, 2]      cost = mean of (predict - y)²,   y = x · [1 0; 0 2; -1 1]
# The page's statements, with these corrections:
#   train        is given the batches, and how to learn from them
#   infer        is given the question and the parameters, where the page breaks off
#   output_size  is 2, as wide as y is here
import os
import tempfile

import numpy
import rowan


def reader(epoch):
    random = numpy.random.RandomState(epoch)
    for _ in range(50):
        x = random.randint(-4, 5, (16, 3)).astype("float32")
        yield {"x": x, "y": x @ numpy.array([[1, 0], [0, 2], [-1, 1]], "float32")}


filename = os.path.join(tempfile.mkdtemp(), "filename")

predict = rowan.layer.fc(
    rowan.layer.data(name="x"),
    output_size=2)

cost = rowan.layer.mse(
    predict,
    rowan.layer.data(name="y"))

parameters = rowan.train(cost, reader, rowan.layer.Sgd(learning_rate=0.05), epochs=4)
rowan.save_model(cost, reader, parameters, filename)

p = rowan.load_model(predict, filename)
y = rowan.infer(predict, {"x": numpy.array([[3, 1, 2], [0, 0, 1]], "float32")}, p)

for name in p:
    print(name, p[name].round(2).tolist())
print(y.round(2).tolist())
