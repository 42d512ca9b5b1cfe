"""The arguments of the workers that time rows of one width, as tests/bench/arguments.hpp."""

import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--file", help="a file to read")
    parser.add_argument("--op", help="only this operation")
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()
