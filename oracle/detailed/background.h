// SPDX-License-Identifier: MIT
/*
 * The work of the mechanism while no request needs it: it reads ahead, destages dirty data, or
 * rests.
 *
 * The caller passes the current time to each function. background_advance() carries out the work up
 * to that time. For a request that needs the mechanism, the caller first calls
 * background_release(), then uses `arm`, and at the end calls background_rest() or
 * background_read_ahead().
 */
#ifndef DRIVES_BACKGROUND_H
#define DRIVES_BACKGROUND_H

#include "detailed.h"
#include "dirty.h"
#include "mechanism.h"
#include "segments.h"

enum activity { RESTING, READING_AHEAD, PUTTING_AWAY };

struct background {
	const struct detailed_parameters *parameters;
	const struct layout *layout;
	struct segments segments;
	struct dirty dirty;
	struct arm arm;
	uint64_t last_end; /* end of the last sectors that passed under the head */
	double advanced_ns;
	double idle_since_ns; /* infinite during a request */
	int pressed; /* there was no room: destage without waiting for idleness */

	enum activity activity;
	double free_ns; /* while resting: start of the rest; the arm may not have settled yet */

	/* Reading ahead (also after it has reached its end), or destaging. */
	double at_ns; /* the sectors before `next` have passed */
	uint64_t next, end;
	struct segment *segment; /* while reading ahead: the segment being filled */
};

void background_advance(struct background *b, double to_ns);

/*
 * Free the mechanism for a request: stop read-ahead and complete the write under way. Returns when
 * it is free.
 */
double background_release(struct background *b, double now_ns);

/* The same, but first destage all of [start, end). */
double background_put_range(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* The same, but first destage all dirty data. */
double background_put_all(struct background *b, double now_ns);

void background_stop_ahead(struct background *b, double now_ns);
void background_rest(struct background *b, double free_ns);

/* Destage until [start, end) fits into the cache; returns when. */
double background_make_room(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* Add [start, end), which fits, to the cache. */
void background_add_dirty(struct background *b, uint64_t start, uint64_t end);

/* Allow read-ahead from a segment's end on; background_follow() sets the end of read-ahead. */
void background_read_ahead(struct background *b, struct segment *segment,
			   double from_ns);

/*
 * The request [start, end) was served from the segment being read ahead. The request's last sector
 * leaves over the bus at completion_ns; until then the data of the request are not overwritten.
 */
void background_follow(struct background *b, uint64_t start, uint64_t end,
		       int in_sequence, double now_ns, double completion_ns);

/*
 * Returns when a request that arrives now could move the arm, and sets *arm to the arm position at
 * that time.
 */
double background_foresee(const struct background *b, double now_ns, struct arm *arm);

#endif
