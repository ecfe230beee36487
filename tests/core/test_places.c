// SPDX-License-Identifier: MIT
/* The arm's distance in tracks, against an arm that walks back and forth over surfaces. */
#include "../../core/drive/disk.h"
#include "check.h"
#include "laid_out.h"

#define TRACK 10 /* sectors */
#define TRACKS 1000
#define CAPACITY (2 * TRACKS * TRACK)

static struct disk disk;

/* Set two zones; the arm takes 1 ns for a sector. */
static void sound(u64 step, u64 cylinder, u64 surfaces)
{
	struct track_zone zone = { .sectors = TRACK,
				   .cylinder = { cylinder, cylinder * TRACK, 0 },
				   .surfaces = surfaces };
	struct track_zone second = zone;

	second.first = TRACKS * TRACK;
	second.before = TRACKS;
	disk = (struct disk){ 0 };
	linear(&disk, CAPACITY, 0, CAPACITY);
	disk.tracks = ZONES(zone, second);
	disk.tracks.step = step;
	CHECK_EQ(disk_check(&disk), 0);
}

static u64 place(u64 track)
{
	return tracks_arm(&disk.tracks, track * TRACK + track % TRACK);
}

/* The walk passes cylinders one by one; at the end of a surface the next head continues. */
static void as_walked(struct draw *draw)
{
	u64 step = 1 + draw_below(draw, 20 << 16), cylinder = 1 + draw_below(draw, 40);
	u64 surfaces = 1 + draw_below(draw, 6);
	u64 band = 0, at = 0, left = cylinder, surface = 0, track;
	bool back = false;

	sound(step, cylinder, surfaces);
	for (track = 0; track < TRACKS; track++) {
		u64 along = (band * cylinder + at) * surfaces; /* tracks */

		CHECK_EQ(place(track), step * along >> 16);
		CHECK_EQ(place(TRACKS + track), step * (TRACKS + along) >> 16);
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

/* After reading a track to its end, the arm is still on that track. */
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
}

/* A slip moves later sectors on by a track, and the arm's distance includes that track. */
static void slipped_tracks_count(void)
{
	static const struct track_slip slip = { 5 * TRACK, 2 * TRACK };

	sound(5 << 16, 4, 0);
	disk.tracks.slip = &slip;
	disk.tracks.nr_slips = 1;
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(place(4), 5 * 4);
	CHECK_EQ(place(5), 5 * 7);
	CHECK_EQ(place(TRACKS), 5 * TRACKS);
}

int main(void)
{
	check_seeds(100, as_walked);
	track_by_track();
	the_arm_stays_at_a_track_s_end();
	by_sectors_unless_somebody_says();
	slipped_tracks_count();
	return 0;
}
