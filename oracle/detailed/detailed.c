// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background.h"
#include "detailed.h"

struct detailed_drive {
	struct detailed_parameters parameters;
	struct layout layout;
	struct background background;
	int64_t completion_ns;
};

/* ---- parameters ------------------------------------------------------------------- */

static int is_time(double ns)
{
	return ns >= 0 && ns < 1e15;
}

static int zone_is_possible(const struct detailed_parameters *p,
			    const struct detailed_zone *zone)
{
	return zone->cylinders && zone->sectors &&
	       zone->sectors + (uint64_t)zone->spare_sectors < UINT32_MAX &&
	       zone->spare_tracks < (uint64_t)zone->cylinders * p->heads;
}

static int zones_are_possible(const struct detailed_parameters *p)
{
	uint64_t cylinders = 0;
	uint32_t i;

	if (p->zones == 0 || p->zones > LAYOUT_ZONES || p->heads == 0)
		return 0;
	for (i = 0; i < p->zones; i++) {
		if (!zone_is_possible(p, &p->zone[i]))
			return 0;
		cylinders += p->zone[i].cylinders;
	}
	return cylinders < UINT32_MAX;
}

static int times_are_possible(const struct detailed_parameters *p)
{
	return p->period_ns >= 1 && is_time(p->period_ns) && is_time(p->seek_a_ns) &&
	       is_time(p->seek_b_ns) && is_time(p->seek_slope_ns) &&
	       is_time(p->read_settle_ns) && p->write_settle_ns >= p->read_settle_ns &&
	       is_time(p->write_settle_ns) && is_time(p->head_switch_ns) &&
	       is_time(p->read_hit_overhead_ns) && is_time(p->read_miss_overhead_ns) &&
	       is_time(p->write_overhead_ns) && p->bus_sector_ns > 0 &&
	       p->bus_watermark >= 0 && p->bus_watermark <= 1 &&
	       is_time(p->bus_sector_ns) && is_time(p->write_idle_ns) &&
	       is_time(p->queue_age_ns);
}

static int caches_are_possible(const struct detailed_parameters *p)
{
	return p->segment_sectors >= 2 &&
	       (p->write_sectors == 0 || p->write_extents > 0) &&
	       p->layout <= DETAILED_SURFACE_SERPENTINE &&
	       p->write_order <= DETAILED_CLOOK;
}

struct detailed_drive *detailed_new(const struct detailed_parameters *parameters)
{
	struct detailed_drive *d;
	struct background *b;

	if (!zones_are_possible(parameters) || !times_are_possible(parameters) ||
	    !caches_are_possible(parameters))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->parameters = *parameters;
	layout_init(&d->layout, &d->parameters);
	b = &d->background;
	b->parameters = &d->parameters;
	b->layout = &d->layout;
	if (segments_init(&b->segments, parameters->segments,
			  parameters->segment_sectors) |
	    dirty_init(&b->dirty, parameters->write_extents,
		       parameters->write_sectors)) {
		detailed_free(d);
		return NULL;
	}
	detailed_reset(d);
	return d;
}

void detailed_free(struct detailed_drive *d)
{
	if (!d)
		return;
	segments_exit(&d->background.segments);
	dirty_exit(&d->background.dirty);
	free(d);
}

void detailed_reset(struct detailed_drive *d)
{
	struct background *b = &d->background;

	segments_clear(&b->segments);
	dirty_clear(&b->dirty);
	memset(&b->arm, 0, sizeof(b->arm));
	b->last_end = 0;
	b->advanced_ns = 0;
	b->idle_since_ns = 0;
	b->pressed = 0;
	background_rest(b, 0);
	d->completion_ns = 0;
}

int detailed_adapt(struct detailed_drive *d, uint32_t segments, uint32_t ahead_sectors)
{
	struct background *b = &d->background;

	if (segments == 0 || segments > d->parameters.segments)
		return -1;
	d->parameters.ahead_sectors = ahead_sectors;
	if (segments != b->segments.n) {
		background_stop_ahead(b, d->completion_ns);
		segments_cut(&b->segments, segments);
		d->parameters.segment_sectors = b->segments.sectors;
	}
	return 0;
}

uint64_t detailed_capacity(const struct detailed_drive *d)
{
	return layout_capacity(&d->layout);
}

void detailed_locate(const struct detailed_drive *d, uint64_t sector,
		     struct detailed_place *place)
{
	struct place found;

	layout_find(&d->layout, sector, &found);
	*place = found.at;
}

/* ---- reads ------------------------------------------------------------------------ */

/*
 * Read from the medium through the buffer onto the bus, half a buffer at a time. If the bus is
 * slower than the medium, the head waits until there is space for the next half. `before` is the
 * number of the request's sectors that are already in the buffer.
 */
static double read_medium(struct detailed_drive *d, double now_ns, uint64_t start,
			  uint64_t end, uint64_t before, struct bus *bus)
{
	struct background *b = &d->background;
	uint64_t room = d->parameters.segment_sectors;

	while (start < end) {
		uint64_t part = end - start < room / 2 ? end - start : room / 2;
		double ready_ns = 0;

		if (before + part > room)
			ready_ns = bus->free_ns - (room - part) * bus->sector_ns;
		now_ns = mechanism_pass(&d->layout, &b->arm, now_ns, ready_ns, start,
					start + part, 0, bus);
		start += part;
		before += part;
	}
	b->last_end = end;
	return now_ns;
}

/*
 * Start read-ahead when the medium has read the whole request, although the bus may still be busy.
 */
static double end_read(struct detailed_drive *d, struct segment *segment,
		       uint64_t start, uint64_t end, double medium_ns,
		       const struct bus *bus)
{
	struct background *b = &d->background;
	int in_sequence = segment && segment->host_end == start;

	if (!segment) {
		background_rest(b, medium_ns);
		return bus->free_ns;
	}
	segment_grow(&b->segments, segment, end);
	segment_use(&b->segments, segment, end);
	background_read_ahead(b, segment, medium_ns);
	background_follow(b, start, end, in_sequence, medium_ns, bus->free_ns);
	return bus->free_ns;
}

/*
 * Read until the bus may begin: when the buffer holds the watermark, or is full. Returns the first
 * sector that was not read.
 */
static uint64_t read_to_watermark(struct detailed_drive *d, double *now_ns,
				  uint64_t start, uint64_t end, struct bus *bus)
{
	uint64_t whole = end - start, room = d->parameters.segment_sectors;
	uint64_t mark = d->parameters.bus_watermark * (whole < room ? whole : room);

	if (!mark)
		return start;
	*now_ns = mechanism_pass(&d->layout, &d->background.arm, *now_ns, 0, start,
				 start + mark, 0, NULL);
	bus->free_ns = fmax(bus->free_ns, *now_ns) + mark * bus->sector_ns;
	return start + mark;
}

/*
 * Read from the medium the part of a request that no segment holds. `part` is the segment that
 * holds the request's beginning, or NULL.
 */
static double read_miss(struct detailed_drive *d, double at_ns, uint64_t start,
			uint64_t end, struct segment *part)
{
	struct background *b = &d->background;
	double ready_ns = at_ns + d->parameters.read_miss_overhead_ns;
	double now_ns = fmax(ready_ns, background_put_range(b, at_ns, start, end));
	struct segment *segment = part ? part : segments_take(&b->segments, start);
	uint64_t from = part ? part->end : start;
	struct bus bus = { ready_ns, d->parameters.bus_sector_ns };

	bus.free_ns += (from - start) * bus.sector_ns;
	if (from == start)
		from = read_to_watermark(d, &now_ns, start, end, &bus);
	now_ns = read_medium(d, now_ns, from, end, from - start, &bus);
	return end_read(d, segment, start, end, now_ns, &bus);
}

/* Return whether read-ahead is about to reach the sector, or has just passed it. */
static int comes_by(const struct background *b, uint64_t start)
{
	if (b->activity != READING_AHEAD || b->next == b->end ||
	    start < b->segment->start)
		return 0;
	return start <= b->next ||
	       (start < b->end && start - b->next <= b->parameters->reach_sectors);
}

static double read_passing(struct detailed_drive *d, double at_ns, uint64_t start,
			   uint64_t end)
{
	struct background *b = &d->background;
	struct bus bus = { at_ns + d->parameters.read_hit_overhead_ns,
			   d->parameters.bus_sector_ns };
	uint64_t before = start < b->next ? b->next - start : 0;
	double now_ns = b->at_ns;

	bus.free_ns += before * bus.sector_ns;
	if (b->next < start)
		now_ns = mechanism_pass(&d->layout, &b->arm, now_ns, 0, b->next, start,
					0, NULL);
	now_ns = read_medium(d, now_ns, start + before, end, before, &bus);
	return end_read(d, b->segment, start, end, now_ns, &bus);
}

static void hit_elsewhere(struct background *b, double at_ns)
{
	if (b->parameters->ahead_stops_at_hits)
		background_stop_ahead(b, at_ns);
}

/* Serve a hit. A sequential hit extends read-ahead. */
static double read_hit(struct detailed_drive *d, double at_ns, uint64_t start,
		       uint64_t end, struct segment *segment)
{
	struct background *b = &d->background;
	double begin_ns = at_ns + d->parameters.read_hit_overhead_ns;
	double completion_ns = begin_ns + (end - start) * d->parameters.bus_sector_ns;
	int in_sequence = start <= segment->host_end && segment->host_end <= end;

	if (b->activity == READING_AHEAD && b->segment != segment)
		hit_elsewhere(b, at_ns);
	segment_use(&b->segments, segment, end);
	if (!in_sequence)
		return completion_ns;
	if (d->parameters.ahead_after_hit &&
	    (b->activity == RESTING || (b->activity == READING_AHEAD &&
					b->next == b->end && b->segment != segment)))
		background_read_ahead(b, segment, fmax(begin_ns, b->free_ns));
	if (b->activity == READING_AHEAD && b->segment == segment)
		background_follow(b, start, end, 1, begin_ns, completion_ns);
	return completion_ns;
}

static double read_dirty(struct detailed_drive *d, double at_ns, uint64_t start,
			 uint64_t end)
{
	hit_elsewhere(&d->background, at_ns);
	return at_ns + d->parameters.read_hit_overhead_ns +
	       (end - start) * d->parameters.bus_sector_ns;
}

static double read_sectors(struct detailed_drive *d, double at_ns, uint64_t start,
			   uint64_t end)
{
	struct background *b = &d->background;
	struct segment *segment;

	if (dirty_holds(&b->dirty, start, end))
		return read_dirty(d, at_ns, start, end);
	if (dirty_overlapping(&b->dirty, start, end) >= 0)
		return read_miss(d, at_ns, start, end, NULL);
	segment = segments_find(&b->segments, start);
	if (segment && end <= segment->end)
		return read_hit(d, at_ns, start, end, segment);
	if (comes_by(b, start))
		return read_passing(d, at_ns, start, end);
	return read_miss(d, at_ns, start, end, segment);
}

/* ---- writes ----------------------------------------------------------------------- */

/*
 * Write sectors that arrive over the bus one by one, beginning at bus_ns. The write of each track
 * begins as soon as the bus is sure to deliver all of the track's sectors in time.
 */
static double write_part(struct detailed_drive *d, double now_ns, double bus_ns,
			 uint64_t start, uint64_t end)
{
	double sector_ns = d->parameters.bus_sector_ns;

	while (start < end) {
		struct place place;
		uint64_t n;
		double ready_ns;

		layout_find(&d->layout, start, &place);
		n = end - start < place.left ? end - start : place.left;
		ready_ns = fmax(sector_ns,
				n * sector_ns - (n - 1) * d->parameters.period_ns /
							place.slots);
		now_ns = mechanism_pass(&d->layout, &d->background.arm, now_ns,
					bus_ns + ready_ns, start, start + n, 1, NULL);
		bus_ns += n * sector_ns;
		start += n;
	}
	return now_ns;
}

/*
 * Write from the bus through the buffer, half a buffer at a time: the bus transfers one half while
 * the medium writes the previous half.
 */
static double write_medium(struct detailed_drive *d, double now_ns, double bus_ns,
			   uint64_t start, uint64_t end)
{
	uint64_t half = d->parameters.segment_sectors / 2;
	double last_ns = 0, before_last_ns = 0;

	while (start < end) {
		uint64_t part = end - start < half ? end - start : half;

		bus_ns = fmax(bus_ns, before_last_ns);
		now_ns = write_part(d, now_ns, bus_ns, start, start + part);
		bus_ns += part * d->parameters.bus_sector_ns;
		start += part;
		before_last_ns = last_ns;
		last_ns = now_ns;
	}
	d->background.last_end = end;
	return now_ns;
}

static double write_through(struct detailed_drive *d, double at_ns, uint64_t start,
			    uint64_t end)
{
	struct background *b = &d->background;
	double bus_ns = at_ns + d->parameters.write_overhead_ns;
	double now_ns = fmax(bus_ns, background_put_range(b, at_ns, start, end));

	now_ns = write_medium(d, now_ns, bus_ns, start, end);
	background_rest(b, now_ns);
	return now_ns;
}

/*
 * Write into the cache. The data can be destaged only when all of them have arrived. Other writes
 * may use up the space until then.
 */
static double write_back(struct detailed_drive *d, double at_ns, uint64_t start,
			 uint64_t end)
{
	struct background *b = &d->background;
	double completion_ns;

	hit_elsewhere(b, at_ns);
	completion_ns = fmax(background_make_room(b, at_ns, start, end),
			     at_ns + d->parameters.write_overhead_ns) +
			(end - start) * d->parameters.bus_sector_ns;
	background_advance(b, completion_ns);
	completion_ns = background_make_room(b, completion_ns, start, end);
	background_add_dirty(b, start, end);
	return completion_ns;
}

static double write_sectors(struct detailed_drive *d, double at_ns, uint64_t start,
			    uint64_t end)
{
	struct background *b = &d->background;

	if (b->activity == READING_AHEAD && start < b->end && b->segment->start < end)
		background_stop_ahead(b, at_ns);
	segments_forget(&b->segments, start, end);
	if (end - start > d->parameters.write_sectors)
		return write_through(d, at_ns, start, end);
	return write_back(d, at_ns, start, end);
}

/* ---- requests --------------------------------------------------------------------- */

static int begin_request(struct detailed_drive *d, int64_t at_ns)
{
	struct background *b = &d->background;

	if (at_ns < d->completion_ns)
		return -1;
	background_advance(b, at_ns);
	b->idle_since_ns = INFINITY;
	return 0;
}

static int64_t end_request(struct detailed_drive *d, double completion_ns)
{
	struct background *b = &d->background;

	d->completion_ns = (int64_t)ceil(completion_ns);
	if (b->advanced_ns < completion_ns)
		b->advanced_ns = completion_ns;
	b->idle_since_ns = completion_ns;
	return d->completion_ns;
}

static int is_possible(const struct detailed_drive *d, uint64_t sector,
		       uint32_t sectors)
{
	uint64_t capacity = layout_capacity(&d->layout);

	return sectors && sector < capacity && sectors <= capacity - sector;
}

int64_t detailed_request(struct detailed_drive *d, int write, uint64_t sector,
			 uint32_t sectors, int64_t at_ns)
{
	if (!is_possible(d, sector, sectors) || begin_request(d, at_ns))
		return -1;
	return end_request(d, (write ? write_sectors : read_sectors)(d, at_ns, sector,
								     sector + sectors));
}

int64_t detailed_flush(struct detailed_drive *d, int64_t at_ns)
{
	double ready_ns = at_ns + d->parameters.write_overhead_ns;

	if (begin_request(d, at_ns))
		return -1;
	if (d->background.dirty.n == 0)
		return end_request(d, ready_ns);
	return end_request(d,
			   fmax(ready_ns, background_put_all(&d->background, at_ns)));
}

int64_t detailed_batch(struct detailed_drive *d, int64_t n, const uint8_t *write,
		       const uint64_t *sector, const uint32_t *sectors,
		       const int64_t *at_ns, const int64_t *think_ns,
		       int64_t *completion_ns)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		int64_t thought_ns = d->completion_ns + think_ns[i];
		int64_t sent_ns = at_ns[i] < thought_ns ? thought_ns : at_ns[i];

		completion_ns[i] =
			detailed_request(d, write[i], sector[i], sectors[i], sent_ns);
		if (completion_ns[i] < 0)
			break;
	}
	return i;
}

/* ---- command queueing ------------------------------------------------------------- */

static int is_cached(const struct background *b, const struct detailed_request *request)
{
	uint64_t start = request->sector, end = start + request->sectors;
	const struct segment *segment;

	if (request->write)
		return request->sectors <= b->parameters->write_sectors &&
		       dirty_fits(&b->dirty, start, end);
	segment = segments_find(&b->segments, start);
	return dirty_holds(&b->dirty, start, end) || (segment && end <= segment->end);
}

/*
 * Return when the first sector of the request would be under the head, or now_ns if the request
 * does not need the medium.
 */
static double begins_ns(const struct detailed_drive *d,
			const struct detailed_request *request, double now_ns)
{
	const struct detailed_parameters *p = &d->parameters;
	double overhead_ns =
		request->write ? p->write_overhead_ns : p->read_miss_overhead_ns;
	struct arm arm;
	struct run run;
	double free_ns;

	if (is_cached(&d->background, request))
		return now_ns;
	free_ns = background_foresee(&d->background, now_ns, &arm);
	mechanism_find_run(&d->layout, &arm, fmax(free_ns, now_ns + overhead_ns), 0,
			   request->sector, request->sector + request->sectors,
			   request->write, &run);
	return run.begin_ns;
}

static int oldest_of(const struct detailed_request *queue, int n)
{
	int i, oldest = 0;

	for (i = 1; i < n; i++) {
		if (queue[i].arrival_ns < queue[oldest].arrival_ns)
			oldest = i;
	}
	return oldest;
}

int detailed_choose(struct detailed_drive *d, const struct detailed_request *queue,
		    int n, int64_t now_ns)
{
	double best_ns = INFINITY;
	int i, best = -1, oldest;

	if (now_ns < d->completion_ns || n <= 0)
		return -1;
	if (n > (int64_t)d->parameters.queue_depth && d->parameters.queue_depth)
		n = d->parameters.queue_depth;
	for (i = 0; i < n; i++) {
		if (!is_possible(d, queue[i].sector, queue[i].sectors))
			return -1;
	}
	oldest = oldest_of(queue, n);
	if (now_ns - queue[oldest].arrival_ns > d->parameters.queue_age_ns)
		return oldest;
	background_advance(&d->background, now_ns);
	for (i = 0; i < n; i++) {
		double begin_ns = begins_ns(d, &queue[i], now_ns);

		if (begin_ns < best_ns) {
			best_ns = begin_ns;
			best = i;
		}
	}
	return best;
}
