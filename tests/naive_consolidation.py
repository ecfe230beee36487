# SPDX-License-Identifier: MIT
"""SFQ(D) with merging, and service times of a MAP, slowly and directly from the papers' equations.

The source is "IO Performance Prediction in Consolidated Virtualized Environments" (ICPE 2011), Eqs.
1 and 2 and Algorithm 1.  Additions are a check for an empty queue, and a merge value for each
class.  Tags are exact fractions, assigned at arrival; every choice searches all waiting requests.
Two points are open in the paper.  Of equal tags, the request that arrived first is next.  At one
instant, completions come first, then arrivals, then choices.  The code shares nothing with the code
under test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MASK = 2**64 - 1
BUNDLE_STREAM = MASK - 2
NEVER = 2**70


class SplitMix64:
    """Steele, Lea and Flood's generator, seeded as documented in core/draw.h."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed: int, stream: int) -> None:
        self.state = self.mix((self.mix((seed + self.STEP) & MASK) + stream) & MASK)

    @staticmethod
    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return x ^ (x >> 31)

    def value(self) -> int:
        self.state = (self.state + self.STEP) & MASK
        return self.mix(self.state)

    def fraction(self) -> Fraction:
        return Fraction(self.value(), 2**64)

    def exponential(self) -> float:
        return -math.log((self.value() + 1) / 2**64)


@dataclass
class Job:
    """A piece of a request of class k: arrival, service time, tag and completion.

    request: the request's number in its class.
    """

    k: int
    arrival: int
    service: int
    request: int = 0
    start_tag: Fraction = Fraction(0)
    dispatch: int = -1
    completion: int = -1


class Queue:
    """The queue of all classes for D servers."""

    def __init__(
        self, weights: Sequence[int], servers: int, omega: Sequence[Fraction], seed: int
    ) -> None:
        self.weights = weights
        self.idle = servers
        self.omega = omega
        self.draw = SplitMix64(seed, BUNDLE_STREAM)
        self.virtual_time = Fraction(0)
        self.last_finish_tag = [Fraction(0)] * len(weights)
        self.waiting: list[Job] = []
        self.served: list[list[Job]] = []

    def get_int_value(self, k: int) -> int:
        whole = int(self.omega[k])
        rest = self.omega[k] - whole
        return whole + (1 if rest and self.draw.fraction() < rest else 0)

    def arrive(self, job: Job) -> None:
        job.start_tag = max(self.virtual_time, self.last_finish_tag[job.k])
        share = Fraction(self.weights[job.k], sum(self.weights))
        self.last_finish_tag[job.k] = job.start_tag + job.service / share
        self.waiting.append(job)

    def merged(self) -> list[Job]:
        """The loop of Algorithm 1; the first job's class decides the number of rounds."""
        jobs = [self.take()]
        for _ in range(self.get_int_value(jobs[0].k) - 1):
            if not self.waiting or self.first().k != jobs[0].k:
                break
            jobs.append(self.take())
        return jobs

    def first(self) -> Job:
        """Of equal tags, `min` returns the first."""
        return min(self.waiting, key=lambda one: one.start_tag)

    def take(self) -> Job:
        job = self.first()
        self.waiting.remove(job)
        self.virtual_time = job.start_tag
        return job

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
    jobs: Sequence[Job], weights: Sequence[int], servers: int, omega: Sequence[Fraction], seed: int
) -> list[Job]:
    """Simulate the jobs and return them in order of arrival; jobs of one instant keep the given
    order."""
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


def responses(jobs: Sequence[Job], k: int) -> list[int]:
    """Return each request's response time in a class: the mean over its pieces (Eq. 6), rounded
    down."""
    pieces: dict[int, list[int]] = {}
    for job in jobs:
        if job.k == k:
            pieces.setdefault(job.request, []).append(job.completion - job.arrival)
    return [sum(each) // len(each) for each in pieces.values()]


def service_times(
    rates: Sequence[float],
    cumulative: Sequence[Sequence[float]],
    start: Sequence[float],
    count: int,
    draw: SplitMix64,
) -> list[float]:
    """Draw times by a walk through the phases: stay, then choose a transition.  A single
    possible transition takes no draw."""
    phase = outcome(start, draw)
    times = []
    for _ in range(count):
        time, ended = 0.0, False
        while not ended:
            time += draw.exponential() / rates[phase]
            move = outcome(cumulative[phase], draw)
            phase, ended = move % len(rates), move >= len(rates)
        times.append(time)
    return times


def outcome(cumulative: Sequence[float], draw: SplitMix64) -> int:
    """Return the first index whose cumulative probability exceeds a uniform draw."""
    possible = [
        place
        for place, value in enumerate(cumulative)
        if value > (cumulative[place - 1] if place else 0)
    ]
    if len(possible) == 1:
        return possible[0]
    threshold = draw.fraction()
    return next(place for place in possible if Fraction(cumulative[place]) > threshold)
