# The recurrent networks of the operator page: a step is an expression of a memory and the step's input, which is NULL.
#     movements of four accounts      the first net: the balance after each      the second: what is there at the end
#       +3 -1 +2                        3  2  4                                     4
#       -2                             -2                                          -2
#                                                                                   0
#       +1 +1                           1  2                                        2
# The page's statements, with these corrections:
#   x and labels     say that they are sequences; the labels of the second net are not
#   fc(rnn(...))     says its output_size; without one it would be as wide as its input
#   add_to           leaves accum as it is, and makes the sum: what accum holds in the next step
import numpy
import rowan

NULL = None


def batch(accounts, labels):
    lod = numpy.concatenate([[0], numpy.cumsum([len(a) for a in accounts])]).tolist()
    column = lambda values: numpy.array(values, "float32").reshape(-1, 1)
    balances = [numpy.cumsum(a) for a in accounts]
    given = {"x": (column(numpy.concatenate(accounts)), [lod])}
    if labels == "balances":
        given[labels] = (column(numpy.concatenate(balances)), [lod])
    if labels == "ends":
        given[labels] = column([b[-1] if len(b) else 0 for b in balances])
    return given


def reader(labels):
    def batches(epoch):
        random = numpy.random.RandomState(epoch)
        for _ in range(50):
            yield batch([random.uniform(-1, 1, random.randint(1, 7)) for _ in range(16)], labels)
    return batches


accum = rowan.framework.tensor()
balance = rowan.layer.fc(
    rowan.layer.rnn(
        input=rowan.layer.fc(
            rowan.layer.data(name="x", lod_level=1),
            output_size=100),
        step_net=rowan.layer.fc(
            rowan.framework.add_to(accum, NULL),
            output_size=100),
        concat_output=True),
    output_size=1)
cost = rowan.layer.mse(balance, rowan.layer.data(name="balances", lod_level=1))
first = rowan.train(cost, reader("balances"), rowan.layer.Adam(learning_rate=0.001), epochs=8)

end = rowan.layer.fc(accum, output_size=1)
cost = rowan.layer.mse(end, rowan.layer.data(name="ends"))
second = rowan.train(cost, reader("ends"), rowan.layer.Adam(learning_rate=0.001), epochs=8)

asked = batch([[3, -1, 2], [-2], [], [1, 1]], labels=None)
values, lod = rowan.infer(balance, asked, first)
print([int(v) for v in values.round().ravel()], "cut at", lod[0])
print([int(v) for v in rowan.infer(end, asked, second).round().ravel()])
