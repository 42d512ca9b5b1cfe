# tests/python/libraries.py LIBRARY: the module and a shared library that contains rowan too train their nets in one
# process, whichever is loaded first. LIBRARY is that of tests/libraries.
import ctypes
import subprocess
import sys

if len(sys.argv) == 2:  # each order in a process of its own
    said = [subprocess.run([sys.executable, *sys.argv, order], check=True, capture_output=True, text=True).stdout
            for order in ("library, module", "module, library")]
    assert said[0] == said[1], said
    assert "0.25" in said[0], said[0]  # rows of the table without a gradient
    sys.exit()


def library():
    one = ctypes.CDLL(sys.argv[1])
    one.make_net.restype = ctypes.c_void_p
    one.run_net.argtypes = one.drop_net.argtypes = [ctypes.c_void_p]
    one.run_net.restype = ctypes.c_char_p
    net = one.make_net()
    said["library"] = one.run_net(net).decode()
    one.drop_net(net)


def module():
    import rowan
    from rowan import UNK, cpp, layer
    with cpp.ScopeGuard(cpp.Scope()):
        ids = layer.data("ids", [UNK], "int64", lod_level=1)
        states = layer.gru(layer.embedding(ids, 4, 2), 2)
        cost = layer.mse(layer.fc(states, 1), layer.data("y", [UNK, 1]))
        batch = {"ids": [[1, 3], [2]], "y": [[1.0], [2.0], [3.0]]}
        parameters = rowan.train(cost, lambda epoch: [batch] * 3, layer.Adam(learning_rate=0.1))
        said["module"] = [parameters[name].tolist() for name in parameters.trained()]


said = {}
for _ in range(2):  # each one is used again after the other
    for part in sys.argv[2].split(", "):
        globals()[part]()
print(sorted(said.items()))
