// SPDX-License-Identifier: MIT
#include <math.h>
#include <stddef.h>

#include "background.h"

/*
 * Rounding error, in sectors. A sector counts as passed if no more than this part of it is missing.
 */
#define ROUNDING 1e-6

static void find_run(const struct background *b, struct run *run)
{
	mechanism_find_run(b->layout, &b->arm, b->at_ns, 0, b->next, b->end,
			   b->activity == PUTTING_AWAY, run);
}

void background_rest(struct background *b, double free_ns)
{
	b->activity = RESTING;
	b->free_ns = free_ns;
}

static void put_up_to(struct background *b, uint64_t sector)
{
	dirty_put(&b->dirty, sector);
	if (b->dirty.sectors <= b->parameters->write_low_sectors)
		b->pressed = 0;
	if (sector == b->end)
		background_rest(b, b->at_ns);
}

static void passed(struct background *b, const struct run *run, uint32_t sectors)
{
	b->arm = run->arm;
	b->at_ns = run->begin_ns + sectors * run->sector_ns;
	b->next += sectors;
	b->last_end = b->next;
	if (b->activity == READING_AHEAD)
		segment_grow(&b->segments, b->segment, b->next);
	else
		put_up_to(b, b->next);
}

static uint32_t passed_by(const struct run *run, double now_ns)
{
	double sectors = floor((now_ns - run->begin_ns) / run->sector_ns + ROUNDING);

	if (sectors >= run->sectors)
		return run->sectors;
	return sectors > 0 ? sectors : 0;
}

/*
 * Advance to to_ns by whole sectors. A sector that is partly under the head then counts in the next
 * step.
 */
static void step_to(struct background *b, double to_ns)
{
	while (b->activity != RESTING && b->next < b->end) {
		struct run run;
		uint32_t sectors;

		find_run(b, &run);
		sectors = passed_by(&run, to_ns);
		if (sectors)
			passed(b, &run, sectors);
		if (sectors < run.sectors)
			return;
	}
}

/* Stop read-ahead. A seek in progress is completed. */
void background_stop_ahead(struct background *b, double now_ns)
{
	struct run run;
	double free_ns = b->at_ns;

	if (b->activity != READING_AHEAD)
		return;
	if (b->next < b->end && b->at_ns < now_ns) {
		find_run(b, &run);
		b->arm = run.arm;
		free_ns = run.settled_ns;
	}
	background_rest(b, free_ns);
}

static void begin_put(struct background *b, uint32_t extent, double now_ns)
{
	dirty_begin(&b->dirty, extent);
	b->activity = PUTTING_AWAY;
	b->at_ns = now_ns;
	b->next = b->dirty.extent[0].start;
	b->end = b->dirty.extent[0].end;
}

/* Return the extent with the shortest time of seek plus rotation (JW91, WGP94). */
static uint32_t soonest(const struct background *b, double now_ns)
{
	double best_ns = INFINITY;
	uint32_t i, best = 0;

	for (i = 0; i < b->dirty.n; i++) {
		const struct extent *extent = &b->dirty.extent[i];
		struct run run;

		mechanism_find_run(b->layout, &b->arm, now_ns, 0, extent->start,
				   extent->end, 1, &run);
		if (run.begin_ns < best_ns) {
			best_ns = run.begin_ns;
			best = i;
		}
	}
	return best;
}

static uint32_t next_up(const struct background *b)
{
	const struct extent *extent = b->dirty.extent;
	uint32_t i, best = 0;

	for (i = 1; i < b->dirty.n; i++) {
		int ahead = extent[i].start >= b->last_end;

		if (ahead != (extent[best].start >= b->last_end)
			    ? ahead
			    : extent[i].start < extent[best].start)
			best = i;
	}
	return best;
}

static void put_next(struct background *b, double now_ns)
{
	if (b->parameters->write_order == DETAILED_CLOOK)
		begin_put(b, next_up(b), now_ns);
	else
		begin_put(b, soonest(b, now_ns), now_ns);
}

static double put_due_ns(const struct background *b)
{
	if (b->dirty.n == 0)
		return INFINITY;
	if (b->pressed)
		return b->advanced_ns;
	return fmax(b->advanced_ns, b->idle_since_ns + b->parameters->write_idle_ns);
}

/* End read-ahead when data are due for destaging. */
void background_advance(struct background *b, double to_ns)
{
	for (;;) {
		double due_ns;

		if (b->activity == PUTTING_AWAY)
			step_to(b, to_ns);
		if (b->activity == PUTTING_AWAY)
			break;
		due_ns = put_due_ns(b);
		step_to(b, fmin(due_ns, to_ns));
		if (due_ns >= to_ns)
			break;
		background_stop_ahead(b, due_ns);
		if (b->free_ns >= to_ns)
			break;
		put_next(b, fmax(due_ns, b->free_ns));
	}
	b->advanced_ns = to_ns;
}

static void finish_put(struct background *b)
{
	step_to(b, INFINITY);
}

/* Destage up to the end of the extent or of the track. */
static void finish_part(struct background *b)
{
	struct run run;

	if (b->parameters->write_whole_extent) {
		finish_put(b);
		return;
	}
	find_run(b, &run);
	passed(b, &run, run.sectors);
	if (b->activity == PUTTING_AWAY) {
		dirty_pause(&b->dirty);
		background_rest(b, b->at_ns);
	}
}

double background_release(struct background *b, double now_ns)
{
	background_stop_ahead(b, now_ns);
	if (b->activity == PUTTING_AWAY)
		finish_part(b);
	return fmax(now_ns, b->free_ns);
}

double background_put_range(struct background *b, double now_ns, uint64_t start,
			    uint64_t end)
{
	int i;

	now_ns = background_release(b, now_ns);
	while ((i = dirty_overlapping(&b->dirty, start, end)) >= 0) {
		begin_put(b, i, now_ns);
		finish_put(b);
		now_ns = b->free_ns;
	}
	return now_ns;
}

double background_put_all(struct background *b, double now_ns)
{
	background_stop_ahead(b, now_ns);
	if (b->activity == PUTTING_AWAY)
		finish_put(b);
	now_ns = fmax(now_ns, b->free_ns);
	while (b->dirty.n) {
		put_next(b, now_ns);
		finish_put(b);
		now_ns = b->free_ns;
	}
	return now_ns;
}

/* Destage until there is enough space, but at most to the end of one track. */
static double put_some(struct background *b, uint64_t lacks)
{
	struct run run;

	find_run(b, &run);
	passed(b, &run, lacks && lacks < run.sectors ? lacks : run.sectors);
	return b->at_ns;
}

double background_make_room(struct background *b, double now_ns, uint64_t start,
			    uint64_t end)
{
	while (!dirty_fits(&b->dirty, start, end)) {
		b->pressed = 1;
		background_stop_ahead(b, now_ns);
		if (b->activity == RESTING)
			put_next(b, fmax(now_ns, b->free_ns));
		now_ns = fmax(now_ns, put_some(b, dirty_lacks(&b->dirty, start, end)));
	}
	return now_ns;
}

void background_add_dirty(struct background *b, uint64_t start, uint64_t end)
{
	dirty_add(&b->dirty, start, end);
	if (b->activity == PUTTING_AWAY)
		b->end = b->dirty.extent[0].end;
}

void background_read_ahead(struct background *b, struct segment *segment,
			   double from_ns)
{
	b->activity = READING_AHEAD;
	b->segment = segment;
	b->next = b->end = segment->end;
	b->at_ns = from_ns;
}

/* Set the end of read-ahead. If read-ahead has reached an earlier end, it resumes. */
static void set_end(struct background *b, uint64_t end, double now_ns)
{
	if (b->next == b->end && b->at_ns < now_ns)
		b->at_ns = now_ns;
	b->end = end;
}

static uint64_t track_end(const struct layout *layout, uint64_t sector)
{
	struct place place;

	layout_find(layout, sector, &place);
	return sector + place.left;
}

/*
 * Return the end of the last track from which read-ahead may read. After a sequential read this is
 * the next track, otherwise the request's track.
 */
static uint64_t last_track_end(const struct background *b, int in_sequence)
{
	uint64_t end = track_end(b->layout, b->segment->host_end - 1);

	if (in_sequence && end < layout_capacity(b->layout))
		end = track_end(b->layout, end);
	return end;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return the end of read-ahead, given that it must not overwrite the sectors from `kept` on. */
static uint64_t ahead_end(const struct background *b, uint64_t kept, int in_sequence)
{
	const struct detailed_parameters *p = b->parameters;
	uint64_t end = lesser(kept + p->segment_sectors,
			      b->segment->host_end + p->ahead_sectors);

	end = lesser(end, layout_capacity(b->layout));
	if (p->ahead_stops_at_track_end)
		end = lesser(end, last_track_end(b, in_sequence));
	return end > b->next ? dirty_first(&b->dirty, b->next, end) : b->next;
}

void background_follow(struct background *b, uint64_t start, uint64_t end,
		       int in_sequence, double now_ns, double completion_ns)
{
	const struct detailed_parameters *p = b->parameters;
	uint64_t kept = p->ahead_keeps_request ? start : end;

	set_end(b, ahead_end(b, start, in_sequence), now_ns);
	step_to(b, completion_ns);
	set_end(b, ahead_end(b, kept, in_sequence), completion_ns);
}

double background_foresee(const struct background *b, double now_ns, struct arm *arm)
{
	struct run run;

	*arm = b->arm;
	if (b->activity == RESTING)
		return fmax(now_ns, b->free_ns);
	if (b->activity == READING_AHEAD)
		return now_ns;
	if (b->parameters->write_whole_extent)
		return mechanism_pass(b->layout, arm, b->at_ns, 0, b->next, b->end, 1,
				      NULL);
	find_run(b, &run);
	*arm = run.arm;
	return run_end_ns(&run);
}
