/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An arm that goes to the edge of the disk although no request is there, for SCAN and C-SCAN. SCAN
 * and C-SCAN differ only in where the arm begins to serve again after reaching the edge.
 *
 * A scheduler cannot send the head to a given sector: the head moves only to serve a request. A
 * scheduler can imitate only the duration of a trip to the edge, and the requests that the arm
 * meets on the way. So when requests are pending but none is ahead, the head stays and an imaginary
 * arm moves alone, at a constant speed. The arm crosses the whole disk in full_seek_ns. A trip has
 * two legs:
 *
 * - OUT, to the edge in its direction.
 * - BACK, to the head. SCAN's arm turns at the edge and serves on the way back. C-SCAN's arm
 *   returns to sector 0 without serving, and serves on the way up from there.
 *
 * The next request to be served is the nearest request ahead of the arm, not of the head. The
 * request is handed out as soon as the arm is as near to the request as the head is. On the way
 * out, this is the case at once. On the way back, if the request is beyond the head, SCAN's arm
 * must first be back at the head. So where the seek time is proportional to distance, the head
 * reaches the request when a real arm would. Only a request that arrives during the trip may be
 * reached later.
 *
 * A trip begins when the host calls next while requests are pending but none is ahead of the head.
 * A trip ends when a request is handed out. It also ends when the arm is back at the head, if no
 * request was pending ahead of the arm. The arm does not pass a request; it waits at the request
 * until the host calls next.
 */
#ifndef UNDERSTUDY_TRIP_H
#define UNDERSTUDY_TRIP_H

#include "sweep.h"

enum trip_leg {
	TRIP_NONE, /* the arm is where the head is */
	TRIP_OUT,
	TRIP_BACK,
};

/**
 * struct trip - an arm with its trips; the first member of a scheduler's state
 * @sweep: the arm and its pending requests
 * @full_seek_ns: time from edge to edge; 0: a trip takes no time
 * @wraps: number of times that a circular arm reached the upper edge
 * @edge_sectors: how many sectors farther the arm has travelled than the head
 * @circular: true for C-SCAN, whose arm never goes down
 * @leg: the arm's current leg
 * @left_ns: when the arm left the head
 * @come: how far the arm has travelled since then, in sectors
 * @out: distance from the head to the edge. @out, @serves and @all are in sectors along the arm's
 *	path, counted from the head, and fixed when the arm leaves the head
 * @serves: distance after which the arm begins to serve on leg BACK
 * @all: distance after which the arm is at the head again
 * @serves_from: the sector at which the arm begins to serve on leg BACK
 */
struct trip {
	struct sweep sweep;

	u64 full_seek_ns;

	u64 wraps;
	u64 edge_sectors;

	bool circular;
	enum trip_leg leg;
	u64 left_ns;
	u64 come;
	u64 out;
	u64 serves;
	u64 all;
	u64 serves_from;
};

#define TRIP_FULL_SEEK                                               \
	SCHED_TUNABLE(trip, full_seek_ns, 5250000, 0, 3600000000000, \
		      "time that the arm takes from edge to edge")
#define TRIP_WRAPS SCHED_COUNTER(trip, wraps, "returns from the upper edge")
#define TRIP_EDGE                         \
	SCHED_COUNTER(trip, edge_sectors, \
		      "sectors that trips to the edge add to that distance")

/* Operations of struct scheduler; the other operations are those of struct sweep. */
void trip_add(void *state, struct io_request *rq, u64 now_ns);
struct io_request *trip_next(void *state, u64 now_ns, u64 *wake_ns);

#endif
