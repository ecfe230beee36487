// SPDX-License-Identifier: MIT
/* Where tracks end, zone by zone, against counting them one after the other. */
#include "../../core/drive/tracks.h"
#include "check.h"

#define CAPACITY 1000

/* The last track of the first zone is cut short by the second one. */
static struct curve zones = { .nr_points = 3,
			      .point = { { 0, 30 }, { 100, 20 }, { 700, 7 } } };

static void ends_as_counted(void)
{
	const u64 zone_end[] = { 100, 700, U64_MAX };
	u64 sector, end = 0;
	u32 zone = 0;

	for (sector = 0; sector < CAPACITY; sector++) {
		if (sector == zone_end[zone])
			zone++;
		if (sector >= end) {
			end = sector + zones.point[zone].value;
			if (end > zone_end[zone])
				end = zone_end[zone];
		}
		CHECK_EQ(tracks_end(&zones, sector), end);
	}
	CHECK_EQ(tracks_shortest(&zones), 7);
}

static void nobody_knows(void)
{
	const struct curve none = { 0 };

	CHECK_EQ(tracks_check(&none, CAPACITY), 0);
	CHECK(tracks_end(&none, 5) == U64_MAX);
	CHECK(tracks_shortest(&none) == U64_MAX);
}

static void the_shortest_may_be_the_first(void)
{
	const struct curve inward = { 2, { { 0, 7 }, { 70, 30 } } };

	CHECK_EQ(tracks_shortest(&inward), 7);
}

static void refused(u32 zone, struct curve_point point)
{
	struct curve wrong = zones;

	wrong.point[zone] = point;
	CHECK_EQ(tracks_check(&wrong, CAPACITY), -EINVAL);
}

static void what_is_no_disk_is_refused(void)
{
	CHECK_EQ(tracks_check(&zones, CAPACITY), 0);
	CHECK_EQ(tracks_check(&zones, 707), 0);
	CHECK_EQ(tracks_check(&zones, 706), -EINVAL);
	refused(0, (struct curve_point){ 1, 30 });
	refused(0, (struct curve_point){ 0, 0 });
	refused(0, (struct curve_point){ 0, 101 });
	refused(1, (struct curve_point){ 700, 20 });
	refused(1, (struct curve_point){ 0, 20 });
	refused(2, (struct curve_point){ 700, TRACKS_SECTORS_MAX + 1 });
	refused(2, (struct curve_point){ 1000, 7 });
}

/* As many zones, and as long a track, as there may be. */
static void the_largest_is_accepted(void)
{
	static struct curve most = { .nr_points = CURVE_POINTS_MAX };
	const u64 each = TRACKS_SECTORS_MAX;
	u32 i;

	for (i = 0; i < CURVE_POINTS_MAX; i++)
		most.point[i] = (struct curve_point){ i * each, each };
	CHECK_EQ(tracks_check(&most, CURVE_POINTS_MAX * each), 0);
	most.nr_points++;
	CHECK_EQ(tracks_check(&most, (CURVE_POINTS_MAX + 1) * each), -EINVAL);
}

int main(void)
{
	ends_as_counted();
	nobody_knows();
	the_shortest_may_be_the_first();
	what_is_no_disk_is_refused();
	the_largest_is_accepted();
	return 0;
}
