# The plain network of the operator page: a fully connected layer, trained, saved, loaded and run.
#   x [n, 3]  --fc-->  predict [n, 100]    cost = mean of (predict - y)²    column j of y = j · (x · [0.1, -0.2, 0.3])
# The page's statements, with these corrections:
#   data      gets its width from the first batch, and then the fc that reads it gets its W
#   train     takes the batches, and the options of training
#   infer     takes a batch and the parameters; the page ends before them
import os
import tempfile

import numpy
import rowan


weights = numpy.outer([0.1, -0.2, 0.3], numpy.arange(100)).astype("float32")


def reader(epoch):
    random = numpy.random.RandomState(epoch)
    for _ in range(50):
        x = random.randint(-4, 5, (16, 3)).astype("float32")
        yield {"x": x, "y": x @ weights}


filename = os.path.join(tempfile.mkdtemp(), "filename")

predict = rowan.layer.fc(
    rowan.layer.data(name="x"),
    output_size=100)

cost = rowan.layer.mse(
    predict,
    rowan.layer.data(name="y"))

parameters = rowan.train(cost, reader, rowan.layer.Sgd(learning_rate=4), epochs=2)
rowan.save_model(cost, reader, parameters, filename)

p = rowan.load_model(predict, filename)
y = rowan.infer(predict, {"x": numpy.array([[3, 1, 2], [0, 0, 1]], "float32")}, p)

for name in p:
    print(name, p[name].shape, "column 50 is", p[name][..., 50].round(2).tolist())
print("columns 10 and 50 are", y[:, [10, 50]].round(2).tolist())
