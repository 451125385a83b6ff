"""A run lets other threads go on, and stops when it is told to."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from conftest import CHASSIS

import convsim

#: More replications than any machine runs before it is stopped.
ENDLESS = 50_000_000

INTERRUPTED = f"""
import _thread, convsim, signal, threading
# A shell starts what runs in its background with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
scenario = convsim.load({str(CHASSIS)!r}, configurations="pop 128")
started = threading.Event()

def interrupt():
    started.wait()
    _thread.interrupt_main()

threading.Thread(target=interrupt, daemon=True).start()
try:
    convsim.run(scenario, replications={ENDLESS}, progress=lambda done, all: done and started.set())
except KeyboardInterrupt:
    print("stopped")
print(len(convsim.run(scenario, replications=3)))
"""


def test_ctrl_c_stops_a_run_and_leaves_nothing_half_done():
    # What takes longer than this hangs.
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["stopped", "3"]


def test_other_threads_go_on_during_a_run():
    steps = 0
    running = threading.Event()
    ended = threading.Event()

    def count():
        nonlocal steps
        running.wait()
        while not ended.is_set():
            steps += 1

    def note(done, total):
        running.set()
        if steps > 1000:
            raise StopIteration

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(StopIteration):
        convsim.run(CHASSIS, configurations="pop 128", replications=ENDLESS, progress=note)
    ended.set()
    thread.join()


LOADING = """
import _thread, convsim, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    # A million points are minutes, if it is not stopped.
    convsim.plan(sys.argv[1], vary={"orchagent.pop_batch_size": "1..100000:linear:100000:whole",
                 "orchagent.flap.count": "1..10:linear:10:whole"}, max_points=10_000_000)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_stops_reading_a_scenario_with_very_many_points():
    done = subprocess.run(
        [sys.executable, "-c", LOADING, CHASSIS], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr


def test_other_threads_go_on_while_points_are_made_and_listed():
    steps = 0
    ended = threading.Event()

    def count():
        nonlocal steps
        while not ended.is_set():
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = steps
        loaded = (
            convsim.load(CHASSIS)._changed(vary={"orchagent.pop_batch_size": range(1, 2001)})._loaded
        )
        made = steps
        loaded.plan()
        listed = steps
    finally:
        ended.set()
        thread.join()
    # One that may go on now and then only does not come so far in between.
    assert made - before > 10_000
    assert listed - made > 10_000


def test_progress_counts_to_the_end():
    calls = []
    rows = convsim.run(
        CHASSIS, replications=20, progress=lambda done, total: calls.append((done, total))
    )
    assert calls[-1] == (len(rows), len(rows))


def test_several_runs_at_once_give_what_one_gives():
    alone = convsim.run(CHASSIS, replications=5)
    results = {}

    def run(name):
        results[name] = convsim.run(CHASSIS, replications=5)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(rows.equals(alone) for rows in results.values())
