// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "trip.h"

/* Return how long after the start of the trip the arm has travelled this many sectors, ns. */
static u64 way_ns(const struct trip *trip, u64 sectors)
{
	u64 capacity = trip->sweep.capacity_sectors;
	u64 ns = port_mul_div(trip->full_seek_ns, sectors, capacity);

	if (!trip->full_seek_ns)
		return 0;
	return port_mul_div(ns, capacity, trip->full_seek_ns) < sectors ? ns + 1 : ns;
}

static void leave(struct trip *trip, u64 now_ns)
{
	u64 edge = trip->sweep.down ? 0 : trip->sweep.capacity_sectors;

	trip->leg = TRIP_OUT;
	trip->left_ns = now_ns;
	trip->serves_from = trip->circular ? 0 : edge;
	trip->out = sweep_distance(trip->sweep.head, edge);
	trip->serves = trip->out + sweep_distance(edge, trip->serves_from);
	trip->all = trip->serves + sweep_distance(trip->serves_from, trip->sweep.head);
}

static void turn(struct trip *trip)
{
	trip->leg = TRIP_BACK;
	if (trip->circular)
		trip->wraps++;
	else
		sweep_turn(&trip->sweep);
}

/*
 * End the trip after the arm has travelled this many sectors; from now on the arm is where the head
 * is.
 */
static void end(struct trip *trip, u64 sectors)
{
	trip->edge_sectors += sectors;
	trip->leg = TRIP_NONE;
	trip->come = 0;
}

static struct io_request *ahead(const struct trip *trip)
{
	u64 from = trip->sweep.head;
	u64 gone = trip->come;

	if (trip->leg == TRIP_BACK) {
		from = trip->serves_from;
		gone = gone > trip->serves ? gone - trip->serves : 0;
	}
	return sweep_ahead(&trip->sweep, trip->sweep.down ? from - gone : from + gone);
}

/*
 * Return the distance that the arm travels from the head to this request or, if rq is NULL, to the
 * end of its leg.
 */
static u64 way_to(const struct trip *trip, const struct io_request *rq)
{
	if (!rq)
		return trip->leg == TRIP_OUT ? trip->out : trip->all;
	if (trip->leg == TRIP_BACK)
		return trip->serves + sweep_distance(trip->serves_from, rq->sector);
	return sweep_distance(trip->sweep.head, rq->sector);
}

/* Return the distance that the arm must have travelled before this request is handed out. */
static u64 way_before(const struct trip *trip, const struct io_request *rq)
{
	return way_to(trip, rq) -
	       (rq ? sweep_distance(trip->sweep.head, rq->sector) : 0);
}

/* Move the arm along its leg, at most to the next request, where the arm waits. */
static void go(struct trip *trip, u64 now_ns)
{
	const struct io_request *rq = ahead(trip);
	u64 most = way_to(trip, rq);
	u64 gone_ns = now_ns - trip->left_ns;
	u64 come;

	if (most > trip->all)
		most = trip->all;
	if (gone_ns < way_ns(trip, most)) {
		come = port_mul_div(gone_ns, trip->sweep.capacity_sectors,
				    trip->full_seek_ns);
	} else {
		come = most;
		if (rq)
			trip->left_ns = now_ns - way_ns(trip, most);
	}
	/* Do not move the arm backwards if full_seek_ns was raised during the trip. */
	if (come > trip->come)
		trip->come = come;
}

static void follow(struct trip *trip, u64 now_ns)
{
	if (trip->leg == TRIP_OUT) {
		go(trip, now_ns);
		if (trip->come >= trip->out)
			turn(trip);
	}
	if (trip->leg == TRIP_BACK) {
		go(trip, now_ns);
		if (trip->come >= trip->all)
			end(trip, trip->all);
	}
}

/* Move the arm to its current position before adding the request. */
void trip_add(void *state, struct io_request *rq, u64 now_ns)
{
	follow(state, now_ns);
	sweep_add(state, rq, now_ns);
}

struct io_request *trip_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct trip *trip = state;
	struct io_request *rq;
	u64 before;

	if (!trip->sweep.pending.count)
		return NULL;
	follow(trip, now_ns);
	if (trip->leg == TRIP_NONE && !ahead(trip)) {
		leave(trip, now_ns);
		follow(trip, now_ns);
	}
	rq = ahead(trip);
	before = way_before(trip, rq);
	if (trip->come < before) {
		*wake_ns = trip->left_ns + way_ns(trip, before);
		return NULL;
	}
	end(trip, before);
	return sweep_serve(&trip->sweep, rq);
}
