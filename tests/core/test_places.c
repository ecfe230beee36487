// SPDX-License-Identifier: MIT
/* The arm's way in tracks: against an arm that walks along surfaces, there and back. */
#include "../../core/drive/disk.h"
#include "check.h"

#define TRACK 10 /* sectors */
#define TRACKS 1000
#define CAPACITY (2 * TRACKS * TRACK)

static struct disk disk;

/* Two zones; the arm needs a ns a place. */
static void sound(u64 step, u64 cylinder, u64 surfaces)
{
	const struct platter_zone zone = { .slot = 1ull << 60,
					   .cylinder = cylinder,
					   .step = step,
					   .surfaces = surfaces };

	disk = (struct disk){ 0 };
	disk_set_linear(&disk, CAPACITY, 0, CAPACITY);
	disk.rotation_ns = 1 << 20;
	disk.tracks.nr_points = disk.platter.nr_zones = 2;
	disk.tracks.point[0] = (struct curve_point){ 0, TRACK };
	disk.tracks.point[1] = (struct curve_point){ TRACKS * TRACK, TRACK };
	disk.platter.velocity = 1ull << 44;
	disk.platter.zone[0] = disk.platter.zone[1] = zone;
	disk.platter.zone[1].place = step * TRACKS >> 16;
	CHECK_EQ(disk_check(&disk), 0);
}

static u64 place(u64 track)
{
	return platter_place(&disk.platter, &disk.tracks,
			     track * TRACK + track % TRACK);
}

/* Cylinders are passed one by one; at a surface's end the head is another one. */
static void as_walked(struct draw *draw)
{
	u64 step = 1 + draw_below(draw, 20 << 16), cylinder = 1 + draw_below(draw, 40);
	u64 surfaces = 1 + draw_below(draw, 6);
	u64 band = 0, at = 0, left = cylinder, surface = 0, track;
	bool back = false;

	sound(step, cylinder, surfaces);
	for (track = 0; track < TRACKS; track++) {
		u64 along = (band * cylinder + at) * surfaces;

		CHECK_EQ(place(track), step * along >> 16);
		CHECK_EQ(place(TRACKS + track),
			 (step * TRACKS >> 16) + (step * along >> 16));
		if (--left) {
			at += back ? -1 : 1;
			continue;
		}
		left = cylinder;
		back = !back;
		if (++surface == surfaces) {
			surface = at = 0;
			back = false;
			band++;
		}
	}
}

static void track_by_track(void)
{
	u64 track;

	sound(5 << 16, 4, 0);
	for (track = 0; track < 2 * TRACKS; track++)
		CHECK_EQ(place(track), 5 * track);
	CHECK_EQ(disk_reach_ns(&disk, 70 * TRACK + 1, 100 * TRACK + 3), 150);
	CHECK_EQ(disk_reach_ns(&disk, 100 * TRACK + 3, 70 * TRACK), 150);
	CHECK_EQ(disk_reach_ns(&disk, 70 * TRACK + 1, 71 * TRACK - 1), 0);
	CHECK_EQ(disk_reach_ns(&disk, 0, TRACK - 1), 0);
}

/* Who has read a track to its end is not on the next one. */
static void the_arm_stays_at_a_track_s_end(void)
{
	sound(5 << 16, 4, 0);
	CHECK_EQ(disk_reach_ns(&disk, 71 * TRACK, 70 * TRACK), 0);
	CHECK_EQ(disk_reach_ns(&disk, 71 * TRACK, 71 * TRACK), 5);
	CHECK_EQ(disk_reach_ns(&disk, 71 * TRACK + 1, 71 * TRACK), 0);
}

static void by_sectors_unless_somebody_says(void)
{
	sound(0, 4, 0);
	CHECK_EQ(disk_reach_ns(&disk, 70, 1003), 933);
	disk.platter.nr_zones = 0;
	CHECK_EQ(disk_reach_ns(&disk, 70, 1003), 933);
}

static void what_is_no_way_is_refused(void)
{
	sound(1 << 16, 4, 3);
	disk.platter.zone[1].step = 0;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	sound(1 << 16, 4, 3);
	disk.platter.zone[1].surfaces = PLATTER_SURFACES_MAX + 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	sound(1 << 16, 4, 3);
	disk.platter.zone[0].cylinder = PLATTER_TRACKS_MAX + 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
}

int main(void)
{
	check_seeds(100, as_walked);
	track_by_track();
	the_arm_stays_at_a_track_s_end();
	by_sectors_unless_somebody_says();
	what_is_no_way_is_refused();
	return 0;
}
