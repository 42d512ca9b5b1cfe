"""What the tables say of the machine, and the two builds of a program."""

import pathlib
import platform


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
