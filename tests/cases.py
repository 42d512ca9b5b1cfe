#!/usr/bin/env python3
"""tests/cases.py BUILD --rooms ROOM... --words [WORD...] --jobs N --log FILE --again TEXT: builds the files that the chosen tests of a
build folder need, and runs the tests.

A test is what ctest lists by the name `room: test`. One process runs many of Catch2's cases; ctest starts a process for each. A word selects
the tests whose name contains it, and Catch2 cases with this tag or file name. run.sh reads the lines of FILE."""
import argparse
import collections
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import traceback

patience = 900  # seconds without a word
chunk = 24  # cases that one process runs


def ctest(build):
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stdout + said.stderr)
    return [Test(one) for one in json.loads(said.stdout)["tests"]]


class Test:
    def __init__(self, one):
        self.name = one["name"]
        self.room, _, self.rest = self.name.partition(": ")
        self.command = one.get("command")
        values = {p["name"]: p["value"] for p in one.get("properties", [])}
        labels = values.get("LABELS", [])
        self.cases = "cases" in labels
        self.needs = [label[6:] for label in labels if label.startswith("needs=")]
        self.folder = values.get("WORKING_DIRECTORY")
        self.must_say = values.get("PASS_REGULAR_EXPRESSION", [])
        self.skip_says = values.get("SKIP_REGULAR_EXPRESSION", [])
        self.cost = values.get("COST", 0)


def names(program, pattern):
    """The cases that Catch2 lists, by the option of version 2 or that of version 3."""
    for dialect in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        said = subprocess.run([program, "-#", *dialect, pattern], capture_output=True, text=True)
        if "nrecognised token" not in said.stdout + said.stderr:
            return set(said.stdout.splitlines())
    return set()


def chosen(tests, words):
    """The tests whose name has all words, and the Catch2 cases with the words as a tag or file name."""
    for word in words:
        found = {}
        left = []
        for test in tests:
            if word.lower() in test.name.lower() or not test.command and test.cases:
                left.append(test)
            elif test.cases:
                program = test.command[0]
                if program not in found:
                    found[program] = set()
                    for pattern in (f"[{word}]", f"[#{word}]"):
                        found[program] |= names(program, pattern)
                if test.rest in found[program]:
                    left.append(test)
        tests = left
    return tests


class Runner:
    def __init__(self, tests, jobs):
        self.total = len(tests)
        self.jobs = jobs
        self.done = 0
        self.passed, self.failed, self.skipped = [], [], []
        self.lock = threading.Lock()
        self.children = set()
        queue = collections.defaultdict(list)
        self.work = []
        for test in tests:
            if test.cases and test.command:
                queue[test.command[0]].append(test)
            else:
                self.work.append([test])
        for cases in queue.values():
            pieces = (len(cases) + chunk - 1) // chunk
            self.work += [cases[i::pieces] for i in range(pieces)]  # neighbours take about as long

    def end(self, test, how, seconds, said="", why=""):
        with self.lock:
            self.done += 1
            {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}[how].append(
                (test, why) if how == "skipped" else test)
            mark = {"passed": "", "failed": "  FAILED", "skipped": f"  SKIPPED: {why}"}[how]
            slow = f"  {seconds:.0f} s" if seconds >= 5 else ""
            if how == "failed" and said.strip():
                print(said.rstrip()[-8000:])
            print(f"[{self.done}/{self.total}] {test.name}{slow}{mark}", flush=True)

    def start(self, command, test, **more):
        environment = {"OMP_WAIT_POLICY": "passive", **os.environ, **more}  # other tests run on these cores
        child = subprocess.Popen(command, cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", start_new_session=True, env=environment)
        self.children.add(child)
        return child

    def watch(self, child):
        """Ends a child that has been silent for too long."""
        state = {"last": time.monotonic(), "silent": False}

        def look():
            while child.poll() is None:
                if time.monotonic() - state["last"] > patience:
                    state["silent"] = True
                    os.killpg(child.pid, signal.SIGKILL)
                    return
                time.sleep(0.5)

        threading.Thread(target=look, daemon=True).start()
        return state

    def one(self, test):
        if not test.command:
            self.end(test, "failed", 0, f"{test.name}: the program is not built")
            return
        start = time.monotonic()
        child = self.start(test.command, test)
        state = self.watch(child)
        said = child.communicate()[0]
        self.children.discard(child)
        skip = re.search(r"SKIPPED (.*)", said)
        if state["silent"]:
            ok, said = False, said + f"\nkilled after {patience} s"
        elif test.must_say:
            ok = any(re.search(pattern, said) for pattern in test.must_say)
        else:
            ok = child.returncode == 0
        took = time.monotonic() - start
        if ok and skip and any(re.search(p, said) for p in test.skip_says):
            self.end(test, "skipped", took, why=skip[1])
        else:
            self.end(test, "passed" if ok else "failed", took, said)
            for line in re.findall(r"SKIPPED (.*)", said) if ok and not test.must_say else []:  # a part of the test is skipped
                self.skipped.append((None, line))

    def many(self, tests):
        """Runs cases of one program. If a case ends the program, a new process runs the others."""
        left = {test.rest: test for test in tests}
        while left:
            first = next(iter(left.values()))
            child = self.start([first.command[0], ",".join(test.command[1] for test in left.values())], first, ROWAN_PROGRESS="1")
            state = self.watch(child)
            now, said, count, bad = None, [], len(left), 0
            for line in child.stdout:
                state["last"] = time.monotonic()
                if line.startswith("@@start "):
                    now, said, start = line[8:-1], [], state["last"]
                elif line.startswith("@@end ") and now is not None:
                    how = line.split()
                    text = "".join(said)
                    skip = re.search(r"^\s*SKIPPED (.*)", text, re.M)
                    test = left.pop(now, None)
                    if test and how[1] == "passed" and skip:
                        self.end(test, "skipped", float(how[2]), why=skip[1])
                    elif test:
                        bad += how[1] == "failed"
                        self.end(test, how[1], float(how[2]), text)
                    now, said = None, []
                else:
                    said.append(line)
            child.wait()
            self.children.discard(child)
            text = "".join(said)
            if state["silent"]:
                text += f"\nkilled after {patience} s without a word"
            if now is not None and now in left:
                self.end(left.pop(now), "failed", time.monotonic() - start, f"{text}\nthe program ended with status {child.returncode}")
            elif len(left) == count:  # it runs none of them, or fails before it does
                skip = re.search(r"SKIPPED (.*)", text)
                for test in left.values():
                    if skip and child.returncode == 0:
                        self.end(test, "skipped", 0, why=skip[1].split(": ")[-1])
                    else:
                        self.end(test, "failed", 0, text)
                        text = ""
                left = {}
            elif not left and child.returncode and not bad:  # all passed, but it ends badly: a leak
                self.total += 1
                summary = re.search(r"^SUMMARY: (.*)", text, re.M)
                why = summary[1] if summary else f"status {child.returncode}"
                self.end(Test({"name": f"{first.room}: the end of the program: {why}"}), "failed", 0, text)

    def run(self):
        self.work.sort(key=lambda piece: (-piece[0].cost, not piece[0].cases))  # long tests first, then pieces with many cases

        def worker():
            while True:
                with self.lock:
                    if not self.work:
                        return
                    piece = self.work.pop(0)
                try:
                    (self.many if piece[0].cases and piece[0].command else lambda p: self.one(p[0]))(piece)
                except Exception:
                    ended = {id(test) for test in [*self.passed, *self.failed, *(one for one, _ in self.skipped)]}
                    for test in piece:
                        if id(test) not in ended:
                            self.end(test, "failed", 0, traceback.format_exc())

        threads = [threading.Thread(target=worker, daemon=True) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            for child in list(self.children):
                os.killpg(child.pid, signal.SIGKILL)
            sys.exit(130)


class Targets:
    """The parts of a build folder that tests need."""
    def __init__(self, folder):
        self.folder, self.root = folder, folder + "/"
        said = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True).stdout
        self.known = {line.split(":")[0] for line in said.splitlines()}

    def of(self, test):
        files = [word.removeprefix(self.root) for word in test.command or [] if word.startswith(self.root)]
        return {*test.needs, *(file for file in files if file in self.known)}

    def build(self, tests, jobs):
        """Builds the targets that the tests need. Returns those that fail."""
        needed = sorted(set().union(*(self.of(test) for test in tests)))
        if not needed:
            return set()
        ninja = subprocess.Popen(["ninja", "-C", self.folder, "-k", "0", "-j", str(jobs), *needed], stdout=subprocess.PIPE, text=True)
        bad = set()
        for line in ninja.stdout:
            print(line, end="", flush=True)
            if line.startswith("FAILED: "):
                bad.update(line.split()[1:])
        if ninja.wait() == 0:
            return set()
        return {target for target in needed if not bad or bad & {target, *self.inputs(target)}}

    def inputs(self, target):
        return subprocess.run(["ninja", "-C", self.folder, "-t", "inputs", target], capture_output=True, text=True).stdout.split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rooms", nargs="+")
    parser.add_argument("--words", nargs="*")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--log")
    parser.add_argument("--again")
    arguments = parser.parse_args()
    folder = os.path.realpath(arguments.folder)

    def all_of_rooms():
        return [test for test in ctest(folder) if test.room in arguments.rooms]

    start = time.monotonic()
    tests = [test for test in all_of_rooms() if test.cases or chosen([test], arguments.words)]  # the build may add cases
    targets = Targets(folder)
    stale = targets.build(tests, arguments.jobs)
    minutes_built = (time.monotonic() - start) / 60
    tests = chosen(all_of_rooms(), arguments.words)
    if not tests:
        print(f"no test of {' '.join(arguments.rooms)} has {' '.join(arguments.words)}", file=sys.stderr)
        sys.exit(2)
    runner = Runner([test for test in tests if not targets.of(test) & stale], arguments.jobs)
    runner.total = len(tests)
    runner.run()
    for test in tests:
        if targets.of(test) & stale:
            runner.end(test, "failed", 0, f"does not build: {', '.join(targets.of(test) & stale)}")
    minutes = (time.monotonic() - start) / 60
    failed = [(test.name, f"{arguments.again} {test.room}" + (" " + shlex.quote(test.rest) if test.command else "")) for test in runner.failed]
    skipped = sorted({f"{test.name}: {why.removeprefix(test.name + ': ')}" if test else why for test, why in runner.skipped})
    print(f"{minutes:.1f} minutes, {minutes_built:.1f} of them to build")
    with open(arguments.log, "a") as log:
        log.writelines(f"failed\t{name}\t{how}\n" for name, how in failed)
        log.writelines(f"skipped\t{one}\n" for one in skipped)
        log.write(f"total\t{len(runner.passed) + len(runner.failed)}\n")
    sys.exit(bool(failed))


main()
