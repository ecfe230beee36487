// SPDX-License-Identifier: MIT
/*
 * What the mechanism does when no request needs it: it reads ahead, puts dirty data away,
 * or rests.
 *
 * Time is told: background_advance() does what happened up to then.  A request that needs
 * the mechanism gets it from background_release(), uses `arm`, and leaves it with
 * background_rest() or background_read_ahead().
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
	uint64_t last_end; /* of what passed under the head last */
	double advanced_ns;
	double idle_since_ns; /* infinite during a request */
	int pressed; /* room was short: put away without waiting for idleness */

	enum activity activity;
	double free_ns; /* resting: since when; the arm may still settle */

	/* Reading ahead, also when it has reached its end, or putting away. */
	double at_ns; /* the sectors before `next` have passed */
	uint64_t next, end;
	struct segment *segment; /* reading ahead: for it */
};

void background_advance(struct background *b, double to_ns);

/* The mechanism for a request: read-ahead stops, the write under way is done first. */
double background_release(struct background *b, double now_ns);

/* The same once nothing in [start, end) is dirty any more. */
double background_put_range(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* The same once nothing is dirty. */
double background_put_all(struct background *b, double now_ns);

void background_stop_ahead(struct background *b, double now_ns);
void background_rest(struct background *b, double free_ns);

/* Put away until [start, end) fits into the cache; when. */
double background_make_room(struct background *b, double now_ns, uint64_t start,
			    uint64_t end);

/* It is in the cache now; it fits. */
void background_add_dirty(struct background *b, uint64_t start, uint64_t end);

/* Read-ahead for a segment from its end on can begin; background_follow() says how far. */
void background_read_ahead(struct background *b, struct segment *segment,
			   double from_ns);

/*
 * The request [start, end) was served from the segment being read ahead, and its last
 * sector has left at completion_ns: until then its data are not overwritten.
 */
void background_follow(struct background *b, uint64_t start, uint64_t end,
		       int in_sequence, double now_ns, double completion_ns);

/* When a request that comes now could move the arm, and from where. */
double background_foresee(const struct background *b, double now_ns, struct arm *arm);

#endif
