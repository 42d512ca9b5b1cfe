"""What the tables say of the machine, the two builds of a program, and the arguments of the scripts that run one beside its peers."""

import argparse
import pathlib
import platform

ROOT = pathlib.Path(__file__).resolve().parents[2]


def numbers(text):
    return [int(number) for number in text.split(",")]


def arguments(doc, program, rounds=3):
    """A parser with the arguments of all such scripts; `program` is rowan's."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rowan", default=str(ROOT / "build/bench/tests/bench" / program), help="its program, as shipped")
    parser.add_argument("--venvs", default=str(ROOT / "build/venvs"), help="folder of the peers' environments")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    return parser


def processor():
    """The processor's name."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def native(program):
    """The same program, compiled for this processor; None if it was not built."""
    path = pathlib.Path(f"{program}_native")
    return str(path) if path.is_file() else None
