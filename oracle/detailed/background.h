// SPDX-License-Identifier: MIT
/*
 * The work of the mechanism while no request needs it: the mechanism reads ahead, destages dirty
 * data, or rests.
 *
 * The caller passes the current time to each function. background_advance() simulates the work up
 * to that time. If a request needs the mechanism, the caller first calls background_release(), then
 * uses `arm`, and finally calls background_rest() or background_read_ahead().
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
	int pressed; /* a write found no space, so destage without waiting for idleness */

	enum activity activity;
	double free_ns; /* start of the rest; at first the arm may not have settled yet */

	/* Valid while destaging or reading ahead, even if read-ahead has reached its end. */
	double at_ns; /* time at which the sectors before `next` have passed */
	uint64_t next, end;
	struct segment *segment; /* the segment that read-ahead fills */
};

void background_advance(struct background *b, double to_ns);

/*
 * Free the mechanism for a request: stop read-ahead, and finish the present destage up to the end
 * of its track or extent. Returns when it is free.
 */
double background_release(struct background *b, double now_ns);

/* Like background_release(), but first destage all dirty extents that overlap [start, end). */
double background_put_range(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* Like background_release(), but first destage all dirty data. */
double background_put_all(struct background *b, double now_ns);

void background_stop_ahead(struct background *b, double now_ns);
void background_rest(struct background *b, double free_ns);

/* Destage until [start, end) fits into the cache. Returns the time at which it fits. */
double background_make_room(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* Add [start, end) to the cache, where it must fit. */
void background_add_dirty(struct background *b, uint64_t start, uint64_t end);

/*
 * Begin read-ahead at a segment's end, without reading any sector. background_follow() sets the end
 * of read-ahead.
 */
void background_read_ahead(struct background *b, struct segment *segment,
			   double from_ns);

/*
 * Set the end of read-ahead after the request [start, end) was served from the segment that
 * read-ahead fills. The request's last sector crosses the bus at completion_ns. Until then,
 * read-ahead does not overwrite the request's data.
 */
void background_follow(struct background *b, uint64_t start, uint64_t end,
		       int in_sequence, double now_ns, double completion_ns);

/*
 * Returns the time at which a request that arrives now could move the arm, and sets *arm to the
 * arm's position at that time.
 */
double background_foresee(const struct background *b, double now_ns, struct arm *arm);

#endif
