# SPDX-License-Identifier: MIT
"""Every table and figure of the five papers, in the papers' order.

`without` says why the project does not reproduce one; the modules in reproduce/results/ name those
that they reproduce.
"""

from dataclasses import dataclass

PERFORM, SLIDES, JONES, ICPE, SIGCSE = (
    "PERFORM 2010",
    "PERFORM 2010, slides",
    "Jones 2010",
    "ICPE 2011",
    "SIGCSE 2006",
)
TITLES = {
    PERFORM: "Geist, Jones and Westall: Predicting Disk Scheduling Performance with Virtual "
    "Machines",
    SLIDES: "the slides of the same paper",
    JONES: "Jones: A Framework for Virtual Device Driver Development and Virtual Device-Based "
    "Performance Modeling (dissertation)",
    ICPE: "Kraft, Casale, Krishnamurthy, Greer and Kilpatrick: IO Performance Prediction in "
    "Consolidated Virtualized Environments",
    SIGCSE: "DeRosa, Shen, Stewart and Pearson: Realism and Simplicity: Disk Simulation for "
    "Instructional OS Performance Evaluation",
}


@dataclass(frozen=True)
class Printed:
    """A table or a figure: its paper, its name there, what it shows."""

    paper: str
    name: str
    shows: str
    without: str = ""

    def __str__(self) -> str:
        """Return the paper and the name."""
        return f"{self.paper}, {self.name}"


DIAGRAM = "a diagram, without figures"
PICTURED = "a picture without figures in the text"
PEOPLE = "answers of the paper's students"

PRINTED = (
    Printed(PERFORM, "Table 1", "greedy order against the optimal order"),
    Printed(PERFORM, "Figure 1", "service time by distance, and the line fitted to it"),
    Printed(PERFORM, "Figure 2", "the loop of a process", "pseudo-code, without figures"),
    Printed(PERFORM, "Table 2", "three schedulers, O_DIRECT"),
    Printed(PERFORM, "section 6", "share of cache hits that CATS predicts"),
    Printed(PERFORM, "Table 3", "three schedulers, through the page cache"),
    Printed(SLIDES, "example", "orders of four requests"),
    Printed(SLIDES, "test platforms", "service time by distance, and the line fitted to it"),
    Printed(SLIDES, "results, O_DIRECT", "three schedulers, 64 processes"),
    Printed(SLIDES, "results, non-O_DIRECT", "three schedulers, 64 processes"),
    Printed(SLIDES, "results, picture", "unknown", "the slides' text does not say what it shows"),
    Printed(JONES, "Figure 3.1", "the virtual graphics card", DIAGRAM),
    Printed(JONES, "Figure 3.2", "screens while triangles are drawn", PICTURED),
    Printed(JONES, "Table 3.1", "seconds for a million triangles, real card and virtual card"),
    Printed(JONES, "Figure 3.3", "the card's price, as students guessed", PEOPLE),
    Printed(
        JONES,
        "Figure 4.1",
        "service times of a virtual disk on a NAS device, cached and not cached",
        "it measures the author's NAS device, and the text has none of its times",
    ),
    Printed(JONES, "Figure 4.2", "service time by distance, and the line fitted to it"),
    Printed(JONES, "Figure 4.3", "the same on the throttled virtual disk"),
    Printed(JONES, "Table 4.1", "three schedulers, O_DIRECT"),
    Printed(JONES, "Figure 4.4", "distribution of response times, O_DIRECT"),
    Printed(JONES, "Table 4.2", "three schedulers, through the page cache"),
    Printed(JONES, "Figure 4.5", "distribution of response times, through the page cache"),
    Printed(JONES, "section 5.1.1", "minutes of a build in six VMs, clones of one image and not"),
    Printed(
        JONES, "Table 5.1", "seconds of a computation, on the machine and in a VM, pinned and not"
    ),
    Printed(JONES, "Figure 5.1", "a card's registers in the generation utility", PICTURED),
    Printed(JONES, "Figure 5.2", "a register's fields in the generation utility", PICTURED),
    Printed(ICPE, "Figure 1", "the approach", DIAGRAM),
    Printed(ICPE, "Figure 2", "distribution of response times, alone and together"),
    Printed(ICPE, "Figure 3", "storage queues", DIAGRAM),
    Printed(ICPE, "Figure 4", "the method", DIAGRAM),
    Printed(ICPE, "Figure 5", "the queueing model", DIAGRAM),
    Printed(ICPE, "Table 1", "requests in the system: expected and measured"),
    Printed(ICPE, "Table 2", "configurations of the benchmarks", "settings, not measurements"),
    Printed(ICPE, "Figure 6", "sizes of requests"),
    Printed(ICPE, "Table 3", "times between arrivals, and service times"),
    Printed(ICPE, "Figure 7", "times between arrivals"),
    Printed(ICPE, "Figure 8", "times between arrivals, alone and together"),
    Printed(ICPE, "Table 4", "mean response times, alone and together"),
    Printed(ICPE, "Table 5", "errors of the predictions"),
    Printed(ICPE, "Table 6", "splitting and merging"),
    Printed(ICPE, "Figure 9", "response times of two VMs: measured and predicted"),
    Printed(ICPE, "Figure 10", "response times of three VMs: measured and predicted"),
    Printed(SIGCSE, "Figure 1", "seek time by distance, and throughput by place, of two drives"),
    Printed(SIGCSE, "Table 1", "error of the model"),
    Printed(SIGCSE, "Figure 2", "the device's interface", "a listing, without figures"),
    Printed(SIGCSE, "Figure 3", "gain of two schedulers over FCFS"),
    Printed(SIGCSE, "Figure 4", "gain of prefetching"),
    Printed(SIGCSE, "Figure 5", "distribution of grades", PEOPLE),
)
