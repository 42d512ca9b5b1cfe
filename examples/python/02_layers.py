# The layers of the operator page, written in Python from variables and operators, and the contents of the scope.
#   x [n, 3]   W [3, 2]   b [2]
#      \          |        /
#       `-------- fc -----'  -->  predict [n, 2]   y [n, 2]
#                                        `-- mse --'  -->  cost [1]
# The page's statements, with one correction: an operator's variables are lists, as a set has no order.
import numpy
import rowan


def data(name):
    return rowan.cpp.variable(rowan.cpp.default_scope(), name)


def fc(input, output_size):
    output = rowan.cpp.variable(rowan.cpp.default_scope())
    W = rowan.cpp.variable(rowan.cpp.default_scope(), label="parameter")
    b = rowan.cpp.variable(rowan.cpp.default_scope(), label="parameter")
    rowan.cpp.operator("FC", read=[input, W, b], output_size=output_size, write=[output])
    return output


def mse(input1, input2):
    output = rowan.cpp.variable(rowan.cpp.default_scope())
    rowan.cpp.operator("MSE", read=[input1, input2], write=[output])
    return output


x = data("x")
predict = fc(x, output_size=2)
cost = mse(predict, data("y"))

batch = {"x": numpy.array([[1, 2, 3]], "float32"), "y": numpy.array([[1, 0]], "float32")}
parameters = rowan.train(cost, lambda epoch: [batch])
for operator in rowan.cpp.Net(cost).operators:
    print(operator.name, "reads", [v.name for v in operator.reads], "writes", [v.name for v in operator.writes])
for v in predict.writers[0].reads:
    print(v, "label", v.label, "readers", [operator.name for operator in v.readers])

# A net runs on the values of its variables.
scope = rowan.cpp.default_scope()
for name, value in batch.items():
    scope.find(name).value = value
net = rowan.cpp.Net(cost)
for W in [[1, 0], [0, 1], [0, 0]], [[1, 0], [0, 0], [0, 0]]:
    scope.find("fc_0.w_0").value = numpy.array(W, "float32")
    scope.find("fc_0.b_0").value = numpy.zeros(2, "float32")
    net.run(scope)
    print("cost", cost.value.tolist())
