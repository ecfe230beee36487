// SPDX-License-Identifier: MIT
/*
 * Tests random drives, most of them tiny and unusual, with random requests. After each request,
 * checks that the state of the drive is consistent.
 *
 *	fuzz SEED DRIVES REQUESTS     prints a digest of all completions
 */
#include <stdio.h>

#include "detailed.c"

static uint64_t state;

/* splitmix64 */
static uint64_t draw(uint64_t below)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

static void check(int true, const char *what)
{
	if (true)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	exit(1);
}

#define CHECK(condition) check(condition, #condition)

static void draw_zones(struct detailed_parameters *p)
{
	uint32_t i;

	p->zones = 1 + draw(4);
	for (i = 0; i < p->zones; i++) {
		struct detailed_zone *zone = &p->zone[i];

		zone->cylinders = 1 + draw(draw(2) ? 4 : 300);
		zone->sectors = 1 + draw(draw(2) ? 8 : 500);
		zone->spare_sectors = draw(3);
		zone->spare_tracks = draw((uint64_t)zone->cylinders * p->heads);
		zone->track_skew = draw(50);
		zone->cylinder_skew = draw(50);
	}
}

static void draw_times(struct detailed_parameters *p)
{
	p->period_ns = 1e6 * (4 + draw(8));
	p->seek_a_ns = draw(1000000);
	p->seek_b_ns = draw(100000);
	p->seek_threshold = draw(300);
	p->seek_slope_ns = draw(10000);
	p->read_settle_ns = draw(1000000);
	p->write_settle_ns = p->read_settle_ns + draw(500000);
	p->head_switch_ns = draw(2000000);
	p->read_hit_overhead_ns = draw(500000);
	p->read_miss_overhead_ns = draw(500000);
	p->write_overhead_ns = draw(500000);
	p->bus_sector_ns = 1 + draw(draw(2) ? 5000 : 200000);
	p->bus_watermark = draw(2) ? 0 : draw(101) / 100.0;
	p->write_idle_ns = draw(2) ? 0 : draw(50000000);
	p->queue_age_ns = draw(100000000);
}

static void draw_caches(struct detailed_parameters *p)
{
	p->segments = draw(4);
	p->segment_sectors = 2 + draw(draw(2) ? 10 : 500);
	p->ahead_sectors = draw(2) ? draw(1000) : p->segment_sectors;
	p->reach_sectors = draw(2) ? 0 : draw(500);
	p->ahead_keeps_request = draw(2);
	p->ahead_stops_at_track_end = draw(2);
	p->ahead_stops_at_hits = draw(2);
	p->ahead_after_hit = draw(2);
	p->write_sectors = draw(3) ? 1 + draw(draw(2) ? 20 : 500) : 0;
	p->write_extents = 1 + draw(5);
	p->write_low_sectors = draw(1 + (uint64_t)p->write_sectors);
	p->write_order = draw(2);
	p->write_whole_extent = draw(2);
	p->queue_depth = draw(6);
}

static struct detailed_drive *draw_drive(void)
{
	struct detailed_parameters p = { 0 };
	struct detailed_drive *d;

	p.heads = 1 + draw(5);
	p.layout = draw(3);
	p.band_cylinders = draw(6);
	draw_zones(&p);
	draw_times(&p);
	draw_caches(&p);
	d = detailed_new(&p);
	CHECK(d != NULL);
	return d;
}

static void check_segments(const struct background *b)
{
	uint32_t i;

	for (i = 0; i < b->segments.n; i++) {
		const struct segment *segment = &b->segments.segment[i];

		CHECK(segment->start <= segment->end);
		CHECK(segment->end - segment->start <= b->segments.sectors);
		CHECK(segment->end <= layout_capacity(b->layout));
		CHECK(dirty_overlapping(&b->dirty, segment->start, segment->end) < 0);
	}
}

static void check_dirty(const struct dirty *dirty)
{
	uint64_t sum = 0;
	uint32_t i, j;

	CHECK(dirty->n <= dirty->max);
	CHECK(dirty->sectors <= dirty->max_sectors);
	for (i = 0; i < dirty->n; i++) {
		CHECK(dirty->extent[i].start < dirty->extent[i].end);
		sum += dirty->extent[i].end - dirty->extent[i].start;
		for (j = 0; j < i; j++)
			CHECK(dirty->extent[i].end <= dirty->extent[j].start ||
			      dirty->extent[j].end <= dirty->extent[i].start);
	}
	CHECK(sum == dirty->sectors);
}

static void check_activity(const struct background *b)
{
	CHECK(isfinite(b->at_ns) && isfinite(b->free_ns));
	if (b->activity == RESTING)
		return;
	CHECK(b->next <= b->end && b->end <= layout_capacity(b->layout));
	if (b->activity == READING_AHEAD) {
		CHECK(b->segment->end == b->next);
		CHECK(dirty_overlapping(&b->dirty, b->next, b->end) < 0);
		return;
	}
	CHECK(b->dirty.under_way);
	CHECK(b->dirty.extent[0].start == b->next && b->dirty.extent[0].end == b->end);
}

static void check_drive(const struct detailed_drive *d)
{
	check_segments(&d->background);
	check_dirty(&d->background.dirty);
	check_activity(&d->background);
}

/* A random request, often near the previous one, so that cached extents are hit and joined. */
static struct detailed_request draw_request(const struct detailed_drive *d,
					    uint64_t near)
{
	uint64_t capacity = detailed_capacity(d), most = draw(8) ? 16 : 700;
	struct detailed_request request = { 0 };

	if (draw(4) == 0)
		request.sector = draw(capacity);
	else
		request.sector = (near + draw(draw(2) ? 1 : 40)) % capacity;
	if (capacity - request.sector < most)
		most = capacity - request.sector;
	request.sectors = 1 + draw(most);
	request.write = draw(2);
	request.arrival_ns = d->completion_ns - (int64_t)draw(200000000);
	return request;
}

static double least_ns(const struct detailed_drive *d, const struct detailed_request *r)
{
	const struct detailed_parameters *p = &d->parameters;
	double overhead_ns =
		r->write ? p->write_overhead_ns
			 : fmin(p->read_hit_overhead_ns, p->read_miss_overhead_ns);

	return overhead_ns + r->sectors * p->bus_sector_ns - 1;
}

static int64_t serve(struct detailed_drive *d, const struct detailed_request *r,
		     int64_t at_ns)
{
	int64_t completion_ns =
		detailed_request(d, r->write, r->sector, r->sectors, at_ns);

	CHECK(completion_ns >= at_ns + least_ns(d, r));
	check_drive(d);
	return completion_ns;
}

static void flush(struct detailed_drive *d, int64_t at_ns)
{
	CHECK(detailed_flush(d, at_ns) >= at_ns);
	CHECK(d->background.dirty.n == 0);
	check_drive(d);
}

static void adapt(struct detailed_drive *d)
{
	uint32_t segments = draw(5);
	int possible = segments > 0 && segments <= d->parameters.segments;

	CHECK(detailed_adapt(d, segments, draw(1000)) == (possible ? 0 : -1));
	check_drive(d);
}

static uint64_t try_drive(int requests)
{
	struct detailed_drive *d = draw_drive();
	struct detailed_request queue[3];
	uint64_t digest = 0, near = 0;
	int i, j;

	for (i = 0; i < requests; i++) {
		int64_t at_ns = d->completion_ns + (draw(2) ? 0 : draw(30000000));

		if (draw(50) == 0)
			flush(d, at_ns);
		if (draw(50) == 0)
			adapt(d);
		at_ns = at_ns < d->completion_ns ? d->completion_ns : at_ns;
		for (j = 0; j < 3; j++)
			queue[j] = draw_request(d, near);
		j = draw(3) ? 0 : detailed_choose(d, queue, 3, at_ns);
		CHECK(j >= 0 && j < 3);
		digest = digest * 31 + (uint64_t)serve(d, &queue[j], at_ns);
		near = queue[j].sector + queue[j].sectors;
	}
	CHECK(detailed_request(d, 0, 0, 1, d->completion_ns - 1) == -1);
	CHECK(detailed_request(d, 0, detailed_capacity(d), 1, d->completion_ns) == -1);
	CHECK(detailed_request(d, 0, 0, 0, d->completion_ns) == -1);
	detailed_free(d);
	return digest;
}

int main(int argc, char **argv)
{
	uint64_t digest = 0;
	int i, drives;

	CHECK(argc == 4);
	state = strtoull(argv[1], NULL, 10);
	drives = atoi(argv[2]);
	for (i = 0; i < drives; i++)
		digest = digest * 31 + try_drive(atoi(argv[3]));
	printf("%016llx\n", (unsigned long long)digest);
	return 0;
}
