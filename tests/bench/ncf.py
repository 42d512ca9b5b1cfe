#!/usr/bin/env python3
"""Runs rowan_bench_ncf, which trains a net with lazy, dense and deferred Adam, and draws its losses by steps and by seconds as an SVG.

    python3 tests/bench/ncf.py [--svg tests/bench/deferred/ncf.svg] [--threads 1]
"""

import json
import pathlib
import subprocess

from machine import arguments, processor

HERE = pathlib.Path(__file__).resolve().parent

parser = arguments(__doc__, "rowan_bench_ncf", rounds=1)
parser.add_argument("--threads", default="1")
parser.add_argument("--svg", default=str(HERE / "deferred/ncf.svg"))
args = parser.parse_args()

command = [args.rowan, "--threads", args.threads] + (["--tiny"] if args.tiny else [])
lines = [json.loads(line) for line in subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()]
curves = {}  # how -> lines
for line in lines:
    curves.setdefault(line["how"], []).append(line)

same = [line["bits"] for line in curves["dense"]] == [line["bits"] for line in curves["deferred"]]
print(f"Processor: {processor()}. Losses of dense and deferred have {'the same bits' if same else 'OTHER BITS'}.\n")
print("| Adam | loss after all steps | ms a step | steps to the last loss of lazy |\n| --- | ---: | ---: | ---: |")
least = curves["lazy"][-1]["loss"]
for how, points in curves.items():
    reached = next((point["step"] for point in points if point["loss"] <= least), "")
    print(f"| {how} | {points[-1]['loss']:.4f} | {points[-1]['ms']:.2f} | {reached} |")

W, H, LEFT, TOP = 330, 240, 60, 30
COLOURS = {"lazy": "#c44e52", "dense": "#4c72b0", "deferred": "#222222"}
losses = [line["loss"] for line in lines]
low, high = min(losses), max(losses)


def panel(x0, title, of):
    most = max(of(line) for line in lines)

    def at(line):
        return f"{x0 + W * of(line) / most:.1f},{TOP + H * (high - line['loss']) / ((high - low) or 1):.1f}"

    parts = [f'<rect x="{x0}" y="{TOP}" width="{W}" height="{H}" fill="none" stroke="#999"/>',
             f'<text x="{x0 + W / 2}" y="{TOP + H + 32}" text-anchor="middle">{title}</text>',
             f'<text x="{x0}" y="{TOP + H + 15}">0</text>',
             f'<text x="{x0 + W}" y="{TOP + H + 15}" text-anchor="end">{most:.0f}</text>']
    for how, points in curves.items():
        if how == "deferred":
            parts += [f'<circle cx="{at(p).split(",")[0]}" cy="{at(p).split(",")[1]}" r="2.5" fill="{COLOURS[how]}"/>' for p in points]
        else:
            parts.append(f'<polyline points="{" ".join(map(at, points))}" fill="none" stroke="{COLOURS[how]}" stroke-width="1.5"/>')
    return parts


parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 320" font-family="sans-serif" font-size="12">',
         '<rect width="800" height="320" fill="white"/>',
         f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{high:.3f}</text>',
         f'<text x="{LEFT - 6}" y="{TOP + H}" text-anchor="end">{low:.3f}</text>',
         f'<text x="{LEFT}" y="18">Loss on held-out ratings with Adam: <tspan fill="{COLOURS["lazy"]}">lazy</tspan>, '
         f'<tspan fill="{COLOURS["dense"]}">dense</tspan>, deferred (dots)</text>']
parts += panel(LEFT, "steps", lambda line: line["step"])
parts += panel(LEFT + W + 50, "seconds in steps", lambda line: line["step"] * line["ms"] / 1000)
pathlib.Path(args.svg).write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
