// SPDX-License-Identifier: MIT
/* Properties of any buffer under any load, and the settings that are refused. */
#include "round_drive.h"

static u64 below(struct draw *draw, u64 n)
{
	return draw_below(draw, n);
}

static struct drive any_buffer(struct draw *draw)
{
	struct drive any = {
		.bus = { .watermark_percent = below(draw, 2) * below(draw, 101) },
		.ahead = { .sectors = below(draw, 120),
			   .reach_sectors = below(draw, 120),
			   .to_track_end = below(draw, 2),
			   .overwrites = below(draw, 2),
			   .after_hit = below(draw, 3),
			   .segments = { .nr = below(draw, 5),
					 .sectors = 1 + below(draw, 100) } },
		.writes = { .spans_max = below(draw, 5),
			    .sectors_max = 1 + below(draw, 100),
			    .idle_ns = below(draw, 2) * below(draw, 9000 * US),
			    .full_idle_ns = below(draw, 2),
			    .low_sectors = below(draw, 100),
			    .order = below(draw, 4),
			    .settle_ns = below(draw, 1000 * US) },
	};

	return any;
}

/*
 * Segments hold valid spans, except the segment being filled, whose end is set when
 * read-ahead stops.
 */
static void segments_are_spans(void)
{
	const struct segments *segments = &drive.ahead.segments;
	u32 i;

	for (i = 0; i < segments->nr; i++) {
		const struct segment *segment = &segments->segment[i];

		CHECK(segment->start <= CAPACITY);
		if (i == drive.ahead.into)
			continue;
		CHECK(segment->start <= segment->end);
		CHECK(segment->end - segment->start <= segments->sectors);
	}
}

/* For any load: service ends within the bound, no write is lost, and a reset repeats all times. */
static void bounds(struct draw *draw)
{
	struct draw again = *draw;
	u64 sum[2] = { 0, 0 };
	u32 round, i;

	set(any_buffer(draw));
	drive.arm.random_phase = below(draw, 2);
	SAMPLE(drive.disk.transfer, 0).value += below(draw, 1000 * SECTOR);
	again = *draw;
	for (round = 0; round < 2; round++) {
		*draw = again;
		drive_reset(&drive);
		now = 0;
		for (i = 0; i < 300; i++) {
			u32 sectors = 1 + below(draw, 90);
			u64 sector = below(draw, 2) ? below(draw, 300)
						    : below(draw, CAPACITY - 90);
			bool write = below(draw, 3) == 0, hit;
			u64 ns = drive_serve(&drive, write ? IO_WRITE : IO_READ, sector,
					     sectors, now, &hit);

			CHECK(ns && ns <= drive_slowest_ns(&drive, sectors));
			CHECK(!hit || ns >= HIT + sectors * BUS);
			CHECK(write || ns >= sectors * BUS);
			segments_are_spans();
			now += ns + below(draw, 2) * below(draw, 5000 * US);
			sum[round] += ns;
		}
		CHECK(drive_flush(&drive, now) <= drive_slowest_ns(&drive, 0));
		CHECK_EQ(drive.writes.nr, 0);
	}
	CHECK_EQ(sum[0], sum[1]);
}

/* Change settings one by one, as a user does; the buffer keeps its contents. */
static void change(struct draw *draw)
{
	struct drive other = any_buffer(draw), *buffer = &drive;
	struct drive before = drive;

	buffer->writes.settle_ns = other.writes.settle_ns;
	buffer->ahead.sectors = other.ahead.sectors;
	buffer->ahead.reach_sectors = other.ahead.reach_sectors;
	buffer->ahead.after_hit = other.ahead.after_hit;
	buffer->ahead.segments.nr = other.ahead.segments.nr;
	buffer->ahead.segments.sectors = other.ahead.segments.sectors;
	buffer->writes.spans_max = other.writes.spans_max;
	buffer->writes.sectors_max = other.writes.sectors_max;
	buffer->writes.low_sectors = other.writes.low_sectors;
	buffer->writes.order = other.writes.order;
	drive.disk.intercept_ns = below(draw, 5000 * US);
	if (drive_check(&drive))
		drive = before;
}

/* The bound covers what is already in the buffer, even after the settings shrink. */
static void changes_keep_to_the_limit(struct draw *draw)
{
	u32 i;

	set(any_buffer(draw));
	for (i = 0; i < 300; i++) {
		u32 sectors = 1 + below(draw, 90);
		u64 limit_ns, ns;
		bool hit;

		if (below(draw, 8) == 0)
			change(draw);
		limit_ns = drive_slowest_ns(&drive, sectors);
		ns = drive_serve(&drive, below(draw, 3) ? IO_WRITE : IO_READ,
				 below(draw, 400), sectors, now, &hit);
		CHECK(ns <= limit_ns);
		now += ns + below(draw, 2) * below(draw, 5000 * US);
	}
}

static void asks(u8 op, u32 sectors)
{
	bool hit;

	drive_serve(&drive, op, 5000, sectors, now, &hit);
}

/* Pending read-ahead and writes count in the bound, even if the new settings do not allow them. */
static void what_was_begun_counts(void)
{
	u64 slowest_ns;

	set_writing(1, 100);
	slowest_ns = drive_slowest_ns(&drive, 1);
	asks(IO_WRITE, 100);
	drive.writes.sectors_max = 1;
	CHECK_EQ(drive_slowest_ns(&drive, 1), slowest_ns);

	set_reading(1, 90);
	slowest_ns = drive_slowest_ns(&drive, 1);
	asks(IO_READ, 1);
	drive.ahead.sectors = 0;
	CHECK_EQ(drive_slowest_ns(&drive, 1), slowest_ns);

	set_reading(1, TRACK * TRACKS_AHEAD_MAX);
	drive.ahead.segments.sectors = CAPACITY;
	asks(IO_READ, 1);
	drive.ahead.sectors = 0;
	CHECK_EQ(drive_check(&drive), 0);
	drive.disk.rotation_ns /= 5; /* one rotation covers several tracks this short */
	ZONE(drive.disk, 0).sectors = TRACK / 5;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

/* Accept a value up to its limit, and refuse more. */
static void goes_up_to(u64 *value, u64 limit)
{
	*value = limit;
	CHECK_EQ(drive_check(&drive), 0);
	*value = limit + 1;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

static void limits_are_held(void)
{
	struct drive *buffer = &drive;
	struct {
		u64 *value;
		u64 limit;
	} limits[] = {
		{ &drive.bus.hit_ns, DISK_NS_MAX },
		{ &buffer->bus.sector_ps, DISK_SECTOR_PS_MAX },
		{ &buffer->bus.write_ns, DISK_NS_MAX },
		{ &buffer->writes.settle_ns, DISK_NS_MAX },
		{ &buffer->ahead.sectors, (u64)TRACK * TRACKS_AHEAD_MAX + TRACK - 1 },
		{ &buffer->ahead.reach_sectors, U32_MAX },
		{ &buffer->ahead.segments.nr, SEGMENTS_MAX },
		{ &buffer->ahead.segments.sectors, U32_MAX },
		{ &buffer->writes.spans_max, WRITE_BACK_SPANS_MAX },
		{ &buffer->writes.idle_ns, DISK_NS_MAX },
		{ &buffer->bus.watermark_percent, 100 },
		{ &buffer->writes.full_idle_ns, DISK_NS_MAX },
		{ &buffer->writes.low_sectors, U32_MAX },
		{ &buffer->writes.order, WRITE_ASCENDING_FROM_LAST },
		{ &buffer->ahead.after_hit, AFTER_HIT_RETURN },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		set_writing(1, 100);
		goes_up_to(limits[i].value, limits[i].limit);
	}
	set_writing(1, 100);
	drive.disk.tracks.nr_zones = 0;
	goes_up_to(&buffer->ahead.sectors, U32_MAX);
}

static void what_contradicts_itself_is_refused(void)
{
	set_writing(1, 100);
	drive.writes.sectors_max = 0;
	CHECK_EQ(drive_check(&drive), -EINVAL);
	set_writing(1, 100);
	drive.ahead.segments.sectors = 0;
	CHECK_EQ(drive_check(&drive), -EINVAL);
	drive.ahead.segments.nr = 0;
	CHECK_EQ(drive_check(&drive), 0);
	set_writing(1, 100);
	ZONE(drive.disk, 0).sectors = 600 / (TRACKS_IN_TURN_MAX + 1) + 1;
	CHECK_EQ(drive_check(&drive), 0);
	ZONE(drive.disk, 0).sectors--;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

int main(void)
{
	check_seeds(3000, bounds);
	check_seeds(3000, changes_keep_to_the_limit);
	what_was_begun_counts();
	limits_are_held();
	what_contradicts_itself_is_refused();
	return 0;
}
