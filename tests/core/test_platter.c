// SPDX-License-Identifier: MIT
/* Where sectors are and when they pass, against a walk over the tracks in 128 bits. */
#include "../../core/least.h"
#include "../../core/drive/platter.h"
#include "check.h"

#define CAPACITY 20000
#define ZONES 4

typedef unsigned __int128 u128;

static struct curve tracks;
static struct platter platter;
static u64 switch_ns;
static u64 turn_ns;

/* An angle; half of them are small, as skews are. */
static u64 draw_angle(struct draw *draw)
{
	return draw_u64(draw) >> (draw_below(draw, 2) ? 0 : 5);
}

static struct platter_zone draw_zone(struct draw *draw, u64 sectors, u64 slots)
{
	u64 cylinder = 1 + draw_below(draw, 5);

	return (struct platter_zone){
		.slot = U64_MAX / slots + draw_below(draw, 2),
		.angle = draw_u64(draw),
		.skew = draw_angle(draw),
		.cylinder = cylinder,
		.cylinder_skew = draw_angle(draw),
		.band = cylinder * draw_below(draw, 4),
		.band_skew = draw_angle(draw),
		.spare = draw_below(draw, 2) ? draw_below(draw, sectors) : 0,
	};
}

/* Some zones of any lengths; the last track of each may be cut short. */
static void draw_platter(struct draw *draw)
{
	u64 first = 0;
	u32 i;

	turn_ns = 1000 + draw_below(draw, 10000000);
	switch_ns = draw_below(draw, 2) ? draw_below(draw, turn_ns) : 0;
	platter.velocity = U64_MAX / turn_ns;
	platter.nr_zones = tracks.nr_points = 1 + draw_below(draw, ZONES);
	for (i = 0; i < tracks.nr_points; i++) {
		u64 sectors = 1 + draw_below(draw, 50);

		tracks.point[i] = (struct curve_point){ first, sectors };
		platter.zone[i] = draw_zone(draw, sectors,
					    later(2, sectors + draw_below(draw, 3)));
		first += sectors + draw_below(draw, CAPACITY / ZONES - 100);
	}
	CHECK_EQ(tracks_check(&tracks, CAPACITY), 0);
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
}

/* Of the zone that a sector is the first of, or NULL. */
static const struct platter_zone *begins(u64 sector)
{
	u32 i;

	for (i = 0; i < tracks.nr_points; i++) {
		if (tracks.point[i].at == sector)
			return &platter.zone[i];
	}
	return NULL;
}

/* Of a track of its zone. */
static bool is_first(u64 sector)
{
	u32 zone = tracks_zone(&tracks, sector);
	u64 a_track = tracks.point[zone].value;
	u64 a_cylinder =
		platter.zone[zone].cylinder * a_track - platter.zone[zone].spare;

	return (sector - tracks.point[zone].at) % a_cylinder % a_track == 0;
}

/* The skew before a sector that has one in its zone. */
static u64 skew_before(u64 sector)
{
	u32 zone = tracks_zone(&tracks, sector);
	const struct platter_zone *turn = &platter.zone[zone];
	u64 in_zone = sector - tracks.point[zone].at;
	u64 a_cylinder = turn->cylinder * tracks.point[zone].value - turn->spare;
	u64 cylinder = in_zone / a_cylinder;

	if (in_zone % a_cylinder == 0)
		return turn->band && cylinder * turn->cylinder % turn->band == 0
			       ? turn->band_skew
			       : turn->cylinder_skew;
	return in_zone % a_cylinder % tracks.point[zone].value ? 0 : turn->skew;
}

static u64 slot_of(u64 sector)
{
	return platter.zone[tracks_zone(&tracks, sector)].slot;
}

static void angles_as_walked(struct draw *draw)
{
	u64 angle = 0;
	u64 sector;

	draw_platter(draw);
	for (sector = 0; sector < CAPACITY; sector++) {
		if (begins(sector))
			angle = begins(sector)->angle;
		else
			angle += skew_before(sector);
		CHECK(platter_angle(&platter, &tracks, sector) == angle);
		angle += slot_of(sector);
	}
}

/* Behind a track's last sector is the one that has a skew, or begins a zone. */
static void tracks_end_as_walked(struct draw *draw)
{
	u64 end = CAPACITY;
	u64 sector;

	draw_platter(draw);
	for (sector = CAPACITY - 1; sector; sector--) {
		CHECK(end == CAPACITY ||
		      platter_track_end(&platter, &tracks, sector) == end);
		if (begins(sector) || is_first(sector))
			end = sector;
	}
}

/* Whole ns until an angle comes by. */
static u64 waited_ns(u64 angle, u64 from_ns)
{
	return (u64)(angle - (u64)((u128)from_ns * platter.velocity)) /
	       platter.velocity;
}

/* In 2^-64 turns from the time 0: when the head reaches a sector's angle. */
static u128 reached(u64 sector, u64 from_ns)
{
	u128 now = (u128)from_ns * platter.velocity;

	return now + (u64)(platter_angle(&platter, &tracks, sector) - (u64)now);
}

static void times_as_walked(struct draw *draw)
{
	u64 sector, first, from_ns;
	u128 at;
	u32 n;

	draw_platter(draw);
	first = sector = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	at = reached(sector, from_ns);
	for (n = 1; n <= 600; n++, sector++) {
		u64 end_ns =
			platter_end_ns(&platter, &tracks, switch_ns, first, n, from_ns);

		if (n > 1 && begins(sector))
			at = reached(sector, (u64)(at / platter.velocity) + switch_ns);
		else if (n > 1)
			at += skew_before(sector);
		at += slot_of(sector);
		CHECK(end_ns == (u64)(at / platter.velocity));
	}
	CHECK(platter_end_ns(&platter, &tracks, switch_ns, first, 0, from_ns) ==
	      from_ns);
}

/* One begins to pass a sector's time before it has passed. */
static void begins_before_it_ends(struct draw *draw)
{
	u64 first, from_ns;
	u32 n;

	draw_platter(draw);
	first = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	for (n = 1; n <= 600; n++) {
		u64 begin_ns = platter_next_ns(&platter, &tracks, switch_ns, first, n,
					       from_ns);
		u64 end_ns = platter_end_ns(&platter, &tracks, switch_ns, first, n + 1,
					    from_ns);

		CHECK(end_ns - begin_ns - slot_of(first + n) / platter.velocity <= 1);
	}
}

/* Whoever of them begins to pass has itself and all behind it still to go over the bus. */
static void sent_after_it_passes(struct draw *draw)
{
	u64 first, from_ns, bus_ps, sent_ns, last_ns, want_ns;
	u32 n, i;

	draw_platter(draw);
	n = 1 + draw_below(draw, 300);
	first = draw_below(draw, CAPACITY - 300);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	bus_ps = draw_below(draw, 3000 * (slot_of(first) / platter.velocity));
	sent_ns = platter_sent_ns(&platter, &tracks, switch_ns, first, n, from_ns,
				  bus_ps, &last_ns);
	CHECK_EQ(last_ns,
		 platter_end_ns(&platter, &tracks, switch_ns, first, n, from_ns));
	want_ns = last_ns;
	for (i = 1; i < n; i++)
		want_ns = later(want_ns, platter_next_ns(&platter, &tracks, switch_ns,
							 first, i, from_ns) +
						 (n - i) * bus_ps / 1000);
	from_ns = platter_passes_ns(&platter, platter_angle(&platter, &tracks, first),
				    from_ns);
	want_ns = later(want_ns, from_ns + n * bus_ps / 1000);
	CHECK(sent_ns + 2 >= want_ns && sent_ns <= want_ns + 2); /* rounded apart */
}

/* What has passed by now ended by now, and the next one did not before. */
static void passed_as_timed(struct draw *draw)
{
	u64 sector, from_ns, now_ns, passed;
	u32 n, i;

	draw_platter(draw);
	sector = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	n = 1 + draw_below(draw, 600);
	for (i = 0; i < 100; i++) {
		now_ns =
			from_ns + draw_below(draw, (1 + draw_below(draw, n)) * turn_ns);
		passed = platter_passed(&platter, &tracks, switch_ns, sector, n,
					from_ns, now_ns);
		CHECK(passed <= n);
		CHECK(!passed || platter_end_ns(&platter, &tracks, switch_ns, sector,
						passed, from_ns) <= now_ns);
		CHECK(passed == n ||
		      platter_end_ns(&platter, &tracks, switch_ns, sector, passed + 1,
				     from_ns) >= now_ns);
	}
}

static void all_have_passed_at_their_end(struct draw *draw)
{
	u64 sector, from_ns, end_ns;
	u32 n;

	draw_platter(draw);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	for (n = 1; n <= 100; n++) {
		sector = draw_below(draw, CAPACITY - 100);
		end_ns = platter_end_ns(&platter, &tracks, switch_ns, sector, n,
					from_ns);
		CHECK_EQ(platter_passed(&platter, &tracks, switch_ns, sector, n,
					from_ns, end_ns),
			 n);
	}
}

/* However long it takes, in however many pieces: the angle of the end is where it is. */
static void no_rounding_accumulates(struct draw *draw)
{
	u64 from_ns, now_ns, sector;
	u32 turns;

	draw_platter(draw);
	from_ns = now_ns = draw_below(draw, 1ull << 40);
	for (turns = 0; turns < 20; turns++) {
		for (sector = 0; sector < CAPACITY;) {
			u64 n = nearer(1 + draw_below(draw, 300), CAPACITY - sector);
			u64 late;

			now_ns =
				platter_end_ns(&platter, &tracks, 0, sector, n, now_ns);
			sector += n;
			late = platter_angle(&platter, &tracks, sector - 1) +
			       slot_of(sector - 1) - now_ns * platter.velocity;
			CHECK(late < platter.velocity); /* less than a ns early */
		}
	}
	CHECK(now_ns - from_ns > 20 * turn_ns);
}

static void waits_less_than_a_turn(struct draw *draw)
{
	u64 angle = draw_u64(draw);
	u64 from_ns = draw_u64(draw) >> 1;
	u64 wait_ns;

	draw_platter(draw);
	wait_ns = platter_passes_ns(&platter, angle, from_ns) - from_ns;
	CHECK(wait_ns <= turn_ns);
	CHECK(wait_ns == waited_ns(angle, from_ns));
	from_ns += wait_ns;
	CHECK_EQ(platter_passes_ns(&platter, angle, from_ns), from_ns);
}

static void sound(void)
{
	turn_ns = 6000000;
	platter = (struct platter){
		.velocity = U64_MAX / turn_ns,
		.nr_zones = 2,
		.zone = { { .slot = U64_MAX / 100, .cylinder = 4, .band = 8 },
			  { .slot = U64_MAX / 64 + 1, .cylinder = 1 } },
	};
	tracks = (struct curve){ 2, { { 0, 98 }, { 980, 64 } } };
}

/* Spoil one thing. */
#define REFUSED(...)                                                          \
	do {                                                                  \
		sound();                                                      \
		CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);       \
		__VA_ARGS__;                                                  \
		CHECK_EQ(platter_check(&platter, &tracks, turn_ns), -EINVAL); \
	} while (0)

static void what_is_no_platter_is_refused(void)
{
	REFUSED(platter.velocity = 0);
	REFUSED(platter.velocity *= 2);
	REFUSED(turn_ns += 2);
	REFUSED(turn_ns -= 2);
	REFUSED(turn_ns = 2 * PLATTER_TURN_NS_MAX,
		platter.velocity = U64_MAX / turn_ns);
	REFUSED(platter.nr_zones = 1);
	REFUSED(platter.nr_zones = PLATTER_ZONES_MAX + 1,
		tracks.nr_points = PLATTER_ZONES_MAX + 1);
	REFUSED(tracks.nr_points = 0);
	REFUSED(platter.zone[0].slot = 0);
	REFUSED(platter.zone[0].slot = PLATTER_SLOT_MIN - 1);
	REFUSED(platter.zone[0].slot = U64_MAX / 97);
	REFUSED(platter.zone[1].slot += 1);
	REFUSED(platter.zone[0].cylinder = 0);
	REFUSED(platter.zone[0].band = 9);
	REFUSED(platter.zone[0].spare = 98);
}

static void at_its_limits(void)
{
	sound();
	platter.zone[0].slot = PLATTER_SLOT_MIN;
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
	turn_ns = PLATTER_TURN_NS_MAX;
	platter.velocity = U64_MAX / turn_ns;
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns - 1), 0);
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns + 1), 0);
}

/* One more is refused, above. */
static void with_as_many_zones_as_there_may_be(void)
{
	u32 i;

	sound();
	platter.nr_zones = tracks.nr_points = PLATTER_ZONES_MAX;
	for (i = 0; i < PLATTER_ZONES_MAX; i++) {
		platter.zone[i] = platter.zone[1];
		tracks.point[i] = (struct curve_point){ 64 * i, 64 };
	}
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
}

static void with_the_largest_bands(void)
{
	sound();
	platter.zone[0].surfaces = PLATTER_SURFACES_MAX;
	platter.zone[1].cylinder = PLATTER_TRACKS_MAX;
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
	REFUSED(platter.zone[0].surfaces = PLATTER_SURFACES_MAX + 1);
	REFUSED(platter.zone[1].cylinder = PLATTER_TRACKS_MAX + 1);
}

static void nobody_knows(void)
{
	sound();
	platter = (struct platter){ 0 };
	CHECK_EQ(platter_check(&platter, &tracks, turn_ns), 0);
	CHECK_EQ(platter_slowest_ns(&platter), 0);
}

static void the_slowest_sector(void)
{
	sound();
	CHECK_EQ(platter_slowest_ns(&platter), 6000000 / 64 + 1);
	platter.zone[2].slot = U64_MAX / 10; /* no zone of it */
	platter.zone[0].slot = U64_MAX / 50;
	CHECK_EQ(platter_slowest_ns(&platter), 6000000 / 50 + 1);
}

int main(void)
{
	check_seeds(50, angles_as_walked);
	check_seeds(50, tracks_end_as_walked);
	check_seeds(500, times_as_walked);
	check_seeds(500, begins_before_it_ends);
	check_seeds(500, sent_after_it_passes);
	check_seeds(500, passed_as_timed);
	check_seeds(500, all_have_passed_at_their_end);
	check_seeds(20, no_rounding_accumulates);
	check_seeds(1000, waits_less_than_a_turn);
	what_is_no_platter_is_refused();
	at_its_limits();
	with_as_many_zones_as_there_may_be();
	with_the_largest_bands();
	nobody_knows();
	the_slowest_sector();
	return 0;
}
