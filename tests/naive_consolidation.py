# SPDX-License-Identifier: MIT
"""SFQ(D) with merging, from the equations as they are printed; slow, for tests.

"IO Performance Prediction in Consolidated Virtualized Environments" (ICPE 2011), Eqs. 1
and 2 and Algorithm 1, with a check for an empty queue.  Tags are exact fractions, given at
arrival; every choice looks through all that wait.  What the paper leaves open: of equal
tags the request that arrived first is next, and at one instant completions come before
arrivals before choices.  It shares no code with what it checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MASK = 2**64 - 1
BUNDLE_STREAM = MASK - 2
NEVER = 2**70


class SplitMix64:
    """Steele, Lea and Flood's generator, as core/draw.h says that it is seeded."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed: int, stream: int) -> None:
        self.state = self.mix((self.mix((seed + self.STEP) & MASK) + stream) & MASK)

    @staticmethod
    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return x ^ (x >> 31)

    def fraction(self) -> Fraction:
        self.state = (self.state + self.STEP) & MASK
        return Fraction(self.mix(self.state), 2**64)


@dataclass
class Job:
    """One request of class k: when it comes, how long it takes, its tag, when it is done."""

    k: int
    arrival: int
    service: int
    start_tag: Fraction = Fraction(0)
    dispatch: int = -1
    completion: int = -1


class Queue:
    """All classes, D servers."""

    def __init__(self, weights: Sequence[int], servers: int, omega: Fraction, seed: int) -> None:
        self.weights = weights
        self.idle = servers
        self.omega = omega
        self.draw = SplitMix64(seed, BUNDLE_STREAM)
        self.virtual_time = Fraction(0)
        self.last_finish_tag = [Fraction(0)] * len(weights)
        self.waiting: list[Job] = []
        self.served: list[list[Job]] = []

    def get_int_value(self) -> int:
        whole = int(self.omega)
        rest = self.omega - whole
        return whole + (1 if rest and self.draw.fraction() < rest else 0)

    def arrive(self, job: Job) -> None:
        job.start_tag = max(self.virtual_time, self.last_finish_tag[job.k])
        share = Fraction(self.weights[job.k], sum(self.weights))
        self.last_finish_tag[job.k] = job.start_tag + job.service / share
        self.waiting.append(job)

    def merged(self) -> list[Job]:
        """The for loop of Algorithm 1; `min` takes the first of equals."""
        jobs: list[Job] = []
        for _ in range(self.get_int_value()):
            if not self.waiting:
                break
            job = min(self.waiting, key=lambda one: one.start_tag)
            if jobs and job.k != jobs[0].k:
                break
            self.waiting.remove(job)
            self.virtual_time = job.start_tag
            jobs.append(job)
        return jobs

    def schedule(self, now: int) -> None:
        while self.idle and self.waiting:
            jobs = self.merged()
            mean = sum(job.service for job in jobs) // len(jobs)
            for job in jobs:
                job.dispatch, job.completion = now, now + mean
            self.served.append(jobs)
            self.idle -= 1

    def complete(self, now: int) -> None:
        done = [jobs for jobs in self.served if jobs[0].completion == now]
        self.served = [jobs for jobs in self.served if jobs[0].completion != now]
        self.idle += len(done)


def simulated(
    jobs: Sequence[Job], weights: Sequence[int], servers: int, omega: Fraction, seed: int
) -> list[Job]:
    """In order of arrival, with what becomes of each; jobs of one instant in that given."""
    queue = Queue(weights, servers, omega, seed)
    ordered = sorted(jobs, key=lambda job: job.arrival)
    coming = list(ordered)
    while coming or queue.served or queue.waiting:
        ends = (served[0].completion for served in queue.served)
        now = min([*ends, coming[0].arrival if coming else NEVER])
        queue.complete(now)
        while coming and coming[0].arrival == now:
            queue.arrive(coming.pop(0))
        queue.schedule(now)
    return ordered
