"""Runs a program under MPI on 2 to 4 hosts of this machine, one rank or more on each, joined by links with a delay and a rate.

    python3 tests/bench/mpi/hosts.py --hosts 2 --delay-ms 1 --rate-gbit 1 PROGRAM ARGUMENTS...

A host is a network namespace with a host name, its share of the processors, and a TUN device as its only link. A thread of this script reads each
packet, holds it for as long as its way would take, and writes it to the device of the host it is for:

    host a --rate--> (delay) --rate--> host b        two hosts that send to b at once share its rate

Packets have up to 60,000 bytes, so that Python can keep up. A connection therefore begins with 600,000 bytes in flight; one with packets of 1,500
bytes begins slowly. Where hosts share a processor, ranks that wait for messages hold up the others: less with Open MPI, whose ranks then yield, than
with MPICH. At the end the script says how much of a processor the relay took, which the ranks did not have.

Needs root, ip, /dev/net/tun and Open MPI or MPICH, and removes all that it made when it ends. Variables of the environment go before its settings.
With OMPI_MCA_btl_tcp_links=2, two ranks can send large messages to each other at once; on the one connection of Open MPI's default, they often go one
after the other.
"""

import argparse
import contextlib
import ctypes
import fcntl
import heapq
import itertools
import os
import pathlib
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

PREFIX = f"rowan{os.getpid()}-"  # of the names of namespaces
DEVICE = "tun0"
MTU = 60_000
QUEUE_SECONDS = 0.2  # a link drops packets that would wait longer
ENDINGS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def name(host):
    return f"h{host}"


def address(host):
    return f"10.77.0.{host + 1}"


def ip(*arguments):
    return subprocess.run(["ip", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def add_host(host):
    space = PREFIX + name(host)
    ip("netns", "add", space)
    ip("-n", space, "tuntap", "add", "dev", DEVICE, "mode", "tun")
    ip("-n", space, "addr", "add", f"{address(host)}/24", "dev", DEVICE)
    ip("-n", space, "link", "set", DEVICE, "mtu", str(MTU), "up")
    ip("-n", space, "link", "set", "lo", "up")


def remove_host(host):
    """Ends the processes of a host and removes it; nothing if it was never added."""
    space = PREFIX + name(host)
    if pathlib.Path("/run/netns", space).exists():
        for pid in ip("netns", "pids", space).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        ip("netns", "del", space)


def enter(namespace):
    """Moves this thread into a network namespace, an open file."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns to {namespace.name}")


def open_device(host):
    """The descriptor from which one reads the packets that a host sends, and to which one writes those that it receives."""
    with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{PREFIX}{name(host)}") as namespace:
        enter(namespace)
        try:
            device = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
            return device
        finally:
            enter(home)


class Link:
    """One direction of a host's link."""

    def __init__(self, bytes_per_second):
        self.bytes_per_second = bytes_per_second
        self.free = 0.0  # when its last packet is through

    def seconds(self, packet):
        return len(packet) / self.bytes_per_second

    def through(self, begin, packet):
        """When a packet is through that comes at `begin`; None if it finds the queue too long."""
        if self.free - begin > QUEUE_SECONDS:
            return None
        self.free = max(begin, self.free) + self.seconds(packet)
        return self.free


class Relay(threading.Thread):
    """Carries packets between the devices of hosts, from start() to stop()."""

    def __init__(self, devices, delay, bytes_per_second):
        super().__init__(daemon=True)
        self.devices, self.delay = devices, delay
        self.hosts = {bytes(map(int, address(host).split("."))): host for host in range(len(devices))}
        self.outgoing = [Link(bytes_per_second) for _ in devices]
        self.incoming = [Link(bytes_per_second) for _ in devices]
        self.held, self.order = [], itertools.count()  # a heap of (time, order, what is to be done then, destination, packet)
        self.stopped, self.packets, self.dropped, self.share = False, 0, 0, 0.0

    def run(self):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # of this thread alone: ranks that poll must not hold it up
        started = time.monotonic()
        while not self.stopped:
            wait = self.held[0][0] - time.monotonic() if self.held else 0.05
            for device in select.select(self.devices, [], [], max(0, wait))[0]:
                self.send(self.devices.index(device))
            while self.held and self.held[0][0] <= time.monotonic():
                due, _, action, host, packet = heapq.heappop(self.held)
                action(due, host, packet)
        self.share = time.thread_time() / (time.monotonic() - started)

    def send(self, source):
        packet = os.read(self.devices[source], 65_536)
        host = self.hosts.get(packet[16:20])  # the destination of a packet of IPv4; those of IPv6 go nowhere
        if host is not None:
            self.packets += 1
            self.queue(self.outgoing[source], time.monotonic(), self.delay, self.arrive, host, packet)

    def arrive(self, due, host, packet):
        """The last byte of a packet comes to the link into its host; the link took its first byte when that came."""
        link = self.incoming[host]
        self.queue(link, due - link.seconds(packet), 0, self.deliver, host, packet)

    def deliver(self, _, host, packet):
        os.write(self.devices[host], packet)

    def queue(self, link, begin, delay, action, host, packet):
        """Puts a packet on a link, and has `action` done `delay` after it is through."""
        end = link.through(begin, packet)
        if end is None:
            self.dropped += 1
        else:
            heapq.heappush(self.held, (end + delay, next(self.order), action, host, packet))

    def stop(self):
        self.stopped = True
        self.join()
        for device in self.devices:
            os.close(device)


@contextlib.contextmanager
def joined_hosts(hosts, delay, bytes_per_second):
    """Hosts with a relay between them, which it yields; removes them at the end of the block, with all processes in them."""
    relay = None
    try:
        for host in range(hosts):
            add_host(host)
        relay = Relay([open_device(host) for host in range(hosts)], delay, bytes_per_second)
        relay.start()
        yield relay
    finally:
        for number in ENDINGS:
            signal.signal(number, signal.SIG_IGN)
        if relay and relay.ident:
            relay.stop()
        for host in range(hosts):
            remove_host(host)


def write_agent(hosts, folder):
    """Writes the script that MPI calls in place of ssh, `agent HOST COMMAND`, and returns its path."""
    processors = sorted(os.sched_getaffinity(0))
    shares = [processors[host::hosts] or [processors[host % len(processors)]] for host in range(hosts)]
    agent = pathlib.Path(folder, "agent")
    agent.write_text("\n".join([
        "#!/bin/sh",
        '[ "$1" = -x ] && shift  # an option of ssh, from MPICH',
        "host=$1; shift",
        "case $host in",
        *(f"{name(host)}) processors={','.join(map(str, share))} ;;" for host, share in enumerate(shares)),
        "esac",
        f'exec ip netns exec {PREFIX}$host unshare --uts taskset --cpu-list $processors sh -c "hostname $host && $*"', ""]))
    agent.chmod(0o755)
    return str(agent)


def launcher(mpi, hosts, ranks, agent, folder):
    """The words before a program that start `ranks` ranks on each host, and the variables for them."""
    names = ",".join(f"{name(host)}:{ranks}" for host in range(hosts))
    number = str(hosts * ranks)
    if mpi == "mpich":
        return (["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", agent, "-iface", DEVICE, "-n", number, "-hosts", names],
                {"UCX_TLS": "tcp,self" if ranks == 1 else "tcp,self,sm", "UCX_NET_DEVICES": DEVICE})
    settings = {"plm_rsh_agent": agent, "orte_tmpdir_base": folder, "oob_tcp_if_include": DEVICE, "pml": "ob1",
                "btl": "tcp,self" if ranks == 1 else "tcp,self,vader", "btl_tcp_if_include": DEVICE,
                "mpi_yield_when_idle": str(int(hosts * ranks > len(os.sched_getaffinity(0))))}
    return (["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "-np", number, "--host", names],
            {f"OMPI_MCA_{key}": value for key, value in settings.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2, choices=(2, 3, 4))
    parser.add_argument("--ranks", type=int, default=1, help="on each host")
    parser.add_argument("--delay-ms", type=float, default=1, help="from host to host, one way")
    parser.add_argument("--rate-gbit", type=float, default=1, help="Gbit/s of each host's link, in each direction")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENTS...")
    arguments = parser.parse_args()
    if not arguments.command or arguments.ranks < 1 or arguments.delay_ms < 0 or arguments.rate_gbit <= 0:
        parser.error("needs a program, at least one rank, a delay of at least 0 and a rate above 0")
    for number in ENDINGS:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory() as folder:
        with joined_hosts(arguments.hosts, arguments.delay_ms / 1e3, arguments.rate_gbit * 1e9 / 8) as relay:
            agent = write_agent(arguments.hosts, folder)
            words, variables = launcher(arguments.mpi, arguments.hosts, arguments.ranks, agent, folder)
            code = subprocess.call([agent, name(0), shlex.join([*words, *arguments.command])], env={**variables, **os.environ})
    print(f"relay: {relay.share:.0%} of a processor, {relay.packets} packets, {relay.dropped} dropped", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
