// SPDX-License-Identifier: MIT
/* Layouts: which are refused, the longest track, and the answers for a disk of unknown layout. */
#include "../../core/drive/platter.h"
#include "check.h"

#define CAPACITY 10000
#define TURN_NS 6000000ull

static struct track_zone zone[2];
static struct track_slip slip[3];
static struct tracks tracks;
static u64 turn_ns;

/*
 * Set two valid zones; the first has cylinders of 4 tracks and bands of 9, which end with spare
 * sectors.
 */
static void sound(void)
{
	turn_ns = TURN_NS;
	zone[0] = (struct track_zone){ .sectors = 98,
				       .slot = U64_MAX / 100,
				       .cylinder = { 4, 4 * 98 - 3, 0 },
				       .band = { 9, 9 * 98 - 2 * 3 - 5, 0 },
				       .surfaces = 2 };
	zone[1] = (struct track_zone){ .first = 5000,
				       .sectors = 64,
				       .slot = U64_MAX / 64 + 1 };
	slip[0] = (struct track_slip){ 0, 2 };
	slip[1] = (struct track_slip){ 300, 1 };
	slip[2] = (struct track_slip){ 5001, 7 };
	tracks = (struct tracks){ 2, 3, zone, slip, U64_MAX / turn_ns, 1 };
}

static int check(void)
{
	return tracks_check(&tracks, CAPACITY) ?: platter_check(&tracks, turn_ns);
}

/* Make one field invalid. */
#define REFUSED(...)                        \
	do {                                \
		sound();                    \
		CHECK_EQ(check(), 0);       \
		__VA_ARGS__;                \
		CHECK_EQ(check(), -EINVAL); \
	} while (0)

#define PASSES(...)                   \
	do {                          \
		sound();              \
		__VA_ARGS__;          \
		CHECK_EQ(check(), 0); \
	} while (0)

static void zones_are_those_of_the_disk(void)
{
	REFUSED(zone[0].first = 1);
	REFUSED(zone[0].sectors = 0);
	REFUSED(zone[1].first = 0);
	REFUSED(zone[1].first = CAPACITY);
	REFUSED(zone[1].first = CAPACITY - 63);
	PASSES(zone[1].first = CAPACITY - 64, tracks.nr_slips = 2);
	REFUSED(tracks.nr_zones = 0);
	REFUSED(tracks.nr_zones = TRACKS_ZONES_MAX + 1);
	REFUSED(zone[0].surfaces = TRACKS_SURFACES_MAX + 1);
	PASSES(zone[0].surfaces = TRACKS_SURFACES_MAX);
	REFUSED(zone[1].surfaces = 1);
	REFUSED(tracks.step = TRACKS_STEP_MAX + 1);
	PASSES(tracks.step = TRACKS_STEP_MAX);
}

static void each_track_of_a_level_has_a_sector(void)
{
	REFUSED(zone[0].cylinder.tracks = 0);
	REFUSED(zone[0].cylinder.tracks = 3);
	REFUSED(zone[0].cylinder.sectors++, zone[0].cylinder.sectors += 3);
	REFUSED(zone[0].cylinder.sectors = 3 * 98);
	PASSES(zone[0].cylinder.sectors = 3 * 98 + 1,
	       zone[0].band.sectors = 2 * (3 * 98 + 1) + 1);
	REFUSED(zone[0].band.sectors = 2 * (4 * 98 - 3));
	PASSES(zone[0].band.sectors = 2 * (4 * 98 - 3) + 1);
	PASSES(zone[0].band.sectors = 2 * (4 * 98 - 3) + 98);
	REFUSED(zone[0].band.sectors = 2 * (4 * 98 - 3) + 99);
	REFUSED(zone[1].band = zone[0].band);
	PASSES(zone[1].cylinder = (struct track_level){
		       TRACKS_OF_LEVEL_MAX, 64ull * TRACKS_OF_LEVEL_MAX, 0 });
	REFUSED(zone[1].cylinder =
			(struct track_level){ TRACKS_OF_LEVEL_MAX + 1,
					      64ull * (TRACKS_OF_LEVEL_MAX + 1), 0 });
}

/*
 * Slips must not make a sector's slot precede the slot before it; each zone starts with its own
 * slips.
 */
static void slips_lead_on(void)
{
	REFUSED(tracks.nr_slips = TRACKS_SLIPS_MAX + 1);
	REFUSED(slip[1].sector = 0);
	REFUSED(slip[2].sector = CAPACITY);
	REFUSED(slip[2].slipped = CAPACITY);
	REFUSED(slip[1].slipped = 0);
	PASSES(slip[2].sector = 5000, slip[2].slipped = 0);
	REFUSED(slip[2].sector = 4999, slip[2].slipped = 0, slip[1].slipped = 2);
}

static void angles_are_of_that_turn(void)
{
	REFUSED(tracks.velocity *= 2);
	REFUSED(turn_ns += 2);
	REFUSED(turn_ns -= 2);
	PASSES(turn_ns++);
	PASSES(turn_ns--);
	REFUSED(turn_ns = 2 * PLATTER_TURN_NS_MAX, tracks.velocity = U64_MAX / turn_ns);
	PASSES(turn_ns = PLATTER_TURN_NS_MAX, tracks.velocity = U64_MAX / turn_ns);
	REFUSED(zone[0].slot = PLATTER_SLOT_MIN - 1);
	PASSES(zone[0].slot = PLATTER_SLOT_MIN);
	REFUSED(zone[0].slot = U64_MAX / 97);
	REFUSED(zone[1].slot += 1);
	PASSES(zone[1].slot = 0, tracks.velocity = 0);
}

static void the_shortest_and_the_slowest(void)
{
	sound();
	CHECK_EQ(tracks_shortest(&tracks), 64);
	zone[0].cylinder.sectors = 3 * 98 + 20;
	CHECK_EQ(tracks_shortest(&tracks), 20);
	zone[0].band.sectors = 2 * zone[0].cylinder.sectors + 7;
	CHECK_EQ(tracks_shortest(&tracks), 7);
	CHECK_EQ(tracks_places_most(&tracks, 100), 100 + 2 + 7);
	CHECK_EQ(platter_slowest_ns(&tracks), TURN_NS / 64 + 1);
	zone[0].slot = U64_MAX / 50;
	CHECK_EQ(platter_slowest_ns(&tracks), TURN_NS / 50 + 1);
}

static void nobody_knows(void)
{
	sound();
	tracks = (struct tracks){ 0 };
	CHECK_EQ(check(), 0);
	CHECK_EQ(platter_slowest_ns(&tracks), 0);
	CHECK(tracks_end(&tracks, 5) == U64_MAX);
	CHECK(tracks_shortest(&tracks) == U64_MAX);
	CHECK_EQ(tracks_arm(&tracks, 5), 5);
}

/* The maximum numbers of zones and slips are accepted, and the longest track. */
static void the_largest_is_accepted(void)
{
	static struct track_zone zones[TRACKS_ZONES_MAX];
	static struct track_slip slips[TRACKS_SLIPS_MAX];
	const u64 each = TRACKS_SECTORS_MAX;
	u32 i;

	for (i = 0; i < TRACKS_ZONES_MAX; i++)
		zones[i] = (struct track_zone){ .first = i * each, .sectors = each };
	for (i = 0; i < TRACKS_SLIPS_MAX; i++)
		slips[i] = (struct track_slip){ i, i };
	tracks = (struct tracks){
		TRACKS_ZONES_MAX, TRACKS_SLIPS_MAX, zones, slips, 0, 0
	};
	CHECK_EQ(tracks_check(&tracks, TRACKS_ZONES_MAX * each), 0);
	CHECK_EQ(tracks_check(&tracks, TRACKS_ZONES_MAX * each - 1), -EINVAL);
	zones[7].sectors++;
	CHECK_EQ(tracks_check(&tracks, TRACKS_ZONES_MAX * each), -EINVAL);
}

int main(void)
{
	zones_are_those_of_the_disk();
	each_track_of_a_level_has_a_sector();
	slips_lead_on();
	angles_are_of_that_turn();
	the_shortest_and_the_slowest();
	nobody_knows();
	the_largest_is_accepted();
	return 0;
}
