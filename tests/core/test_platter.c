// SPDX-License-Identifier: MIT
/* Where sectors are and when they pass, against a walk over all slots in 128-bit arithmetic. */
#include "../../core/drive/platter.h"
#include "../../core/least.h"
#include "check.h"

#define CAPACITY 20000
#define ZONES 4
#define SLIPS 40
#define PLACES (2 * CAPACITY)

typedef unsigned __int128 u128;

static struct track_zone zone[ZONES];
static struct track_slip slip[SLIPS];
static struct tracks tracks;
static u64 switch_ns;
static u64 turn_ns;

/*
 * A sector as found by the walk: its zone, its track in the zone, and its distance from the zone's
 * start in 2^-64 rotations.
 */
static struct walked {
	const struct track_zone *zone;
	u64 track;
	u128 way;
} walked[CAPACITY];

/* Return a random angle; half of them are small, like skews. */
static u64 draw_angle(struct draw *draw)
{
	return draw_u64(draw) >> (draw_below(draw, 2) ? 0 : 5);
}

static u64 draw_spare(struct draw *draw, u64 sectors)
{
	return draw_below(draw, 2) ? draw_below(draw, sectors) : 0;
}

/* The spare sectors at the end of each zone's cylinders and bands, used by the walk. */
static u64 cylinder_spare[ZONES], band_spare[ZONES];

static void draw_zone(struct draw *draw, u32 i, u64 first)
{
	u64 sectors = 1 + draw_below(draw, 50);
	u64 slots = later(2, sectors + draw_below(draw, 3));
	u64 cylinder = draw_below(draw, 6);
	u64 band = cylinder ? draw_below(draw, 4 * cylinder) : 0;
	u64 within = band ? (band - 1) / cylinder : 0;

	cylinder_spare[i] = draw_spare(draw, sectors);
	band_spare[i] = draw_spare(draw, sectors);
	zone[i] = (struct track_zone){
		.first = first,
		.sectors = sectors,
		.slot = U64_MAX / slots + draw_below(draw, 2),
		.angle = draw_u64(draw),
		.skew = draw_angle(draw),
	};
	if (cylinder)
		zone[i].cylinder =
			(struct track_level){ cylinder,
					      cylinder * sectors - cylinder_spare[i],
					      draw_angle(draw) };
	if (band)
		zone[i].band = (struct track_level){
			band,
			band * sectors - within * cylinder_spare[i] - band_spare[i],
			draw_angle(draw)
		};
}

/*
 * Make random slips, or none in a third of all layouts; some slips are taken back, one slot for
 * each sector.
 */
static void draw_slips(struct draw *draw)
{
	u64 sector = draw_below(draw, 3) ? draw_below(draw, 1000) : CAPACITY;

	tracks.nr_slips = 0;
	while (sector < CAPACITY && tracks.nr_slips < SLIPS) {
		u64 before = tracks.nr_slips ? slip[tracks.nr_slips - 1].slipped : 0;
		u64 up = before && !draw_below(draw, 3);

		slip[tracks.nr_slips++] = (struct track_slip){
			sector,
			up ? before - 1
			   : before + draw_below(draw, draw_below(draw, 4) ? 3 : 200)
		};
		sector += 1 + draw_below(draw, up ? 3 : 1000);
	}
}

/* Walk over the slots of a zone. */
static u128 way_of[PLACES];
static u64 track_of[PLACES];

static void walk_places(u32 i)
{
	const struct track_zone *in = zone + i;
	u64 in_cylinder = 0, in_band = 0, track = 0, left = 0, skew = 0, spare = 0;
	u128 way = 0;
	u64 place;

	for (place = 0; place < PLACES; place++) {
		while (!left) {
			bool ends_band =
				in->band.tracks && in_band + 1 == in->band.tracks;
			bool ends_cylinder = in->cylinder.tracks &&
					     in_cylinder + 1 == in->cylinder.tracks;

			way += place ? (u128)spare * in->slot + skew : 0;
			track += !!place;
			spare = 0;
			skew = in->skew;
			in_cylinder++;
			in_band++;
			if (ends_band) {
				spare = band_spare[i];
				skew = in->band.skew;
				in_band = in_cylinder = 0;
			} else if (ends_cylinder) {
				spare = cylinder_spare[i];
				skew = in->cylinder.skew;
				in_cylinder = 0;
			}
			left = in->sectors - spare;
		}
		way_of[place] = way;
		track_of[place] = track;
		way += in->slot;
		left--;
	}
}

static void walk(void)
{
	u64 sector, place = 0;
	u32 i, s = 0;

	for (sector = 0, i = 0; sector < CAPACITY; sector++, place++) {
		u64 before = s && slip[s - 1].sector >= zone[i].first
				     ? slip[s - 1].slipped
				     : 0;

		if (i + 1 < tracks.nr_zones && sector == zone[i + 1].first)
			i++;
		if (sector == zone[i].first) {
			walk_places(i);
			place = before = 0;
		}
		if (s < tracks.nr_slips && sector == slip[s].sector)
			place += slip[s++].slipped - before;
		walked[sector] =
			(struct walked){ zone + i, track_of[place], way_of[place] };
	}
}

/* Make some zones of random length; the last track of each may be incomplete. */
static void draw_layout(struct draw *draw)
{
	u64 first = 0;
	u32 i;

	turn_ns = 1000 + draw_below(draw, 10000000);
	switch_ns = draw_below(draw, 2) ? draw_below(draw, turn_ns) : 0;
	tracks = (struct tracks){ .nr_zones = 1 + draw_below(draw, ZONES),
				  .zone = zone,
				  .slip = slip,
				  .velocity = U64_MAX / turn_ns };
	for (i = 0; i < tracks.nr_zones; i++) {
		draw_zone(draw, i, first);
		first += zone[i].sectors + draw_below(draw, CAPACITY / ZONES - 100);
	}
	do
		draw_slips(draw);
	while (tracks_check(&tracks,
			    CAPACITY)); /* no zone may start by taking back slips */
	CHECK_EQ(platter_check(&tracks, turn_ns), 0);
	walk();
}

static u64 angle_of(u64 sector)
{
	return walked[sector].zone->angle + (u64)walked[sector].way;
}

static bool begins(u64 sector)
{
	return walked[sector].zone->first == sector;
}

static u64 slot_of(u64 sector)
{
	return walked[sector].zone->slot;
}

static void angles_and_ends_as_walked(struct draw *draw)
{
	u64 end = CAPACITY;
	u64 sector;

	draw_layout(draw);
	for (sector = CAPACITY; sector-- > 0;) {
		CHECK(platter_angle(&tracks, sector) == angle_of(sector));
		CHECK(end == CAPACITY || tracks_end(&tracks, sector) == end);
		if (begins(sector) || walked[sector].track != walked[sector - 1].track)
			end = sector;
	}
}

/* Return the whole ns until the platters reach an angle. */
static u64 waited_ns(u64 angle, u64 from_ns)
{
	return (u64)(angle - (u64)((u128)from_ns * tracks.velocity)) / tracks.velocity;
}

/* Return when the head reaches a sector's angle, in 2^-64 rotations since time 0. */
static u128 reached(u64 sector, u64 from_ns)
{
	u128 now = (u128)from_ns * tracks.velocity;

	return now + (u64)(angle_of(sector) - (u64)now);
}

static void times_as_walked(struct draw *draw)
{
	u64 sector, first, from_ns;
	u128 at;
	u32 n;

	draw_layout(draw);
	first = sector = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	at = reached(sector, from_ns);
	for (n = 1; n <= 600; n++, sector++) {
		u64 end_ns = platter_end_ns(&tracks, switch_ns, first, n, from_ns);

		if (n > 1 && begins(sector))
			at = reached(sector, (u64)(at / tracks.velocity) + switch_ns);
		else if (n > 1)
			at += walked[sector].way - walked[sector - 1].way -
			      slot_of(sector);
		at += slot_of(sector);
		CHECK(end_ns == (u64)(at / tracks.velocity));
	}
	CHECK(platter_end_ns(&tracks, switch_ns, first, 0, from_ns) == from_ns);
}

/* A sector begins to pass one sector time before it has passed. */
static void begins_before_it_ends(struct draw *draw)
{
	u64 first, from_ns;
	u32 n;

	draw_layout(draw);
	first = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	for (n = 1; n <= 600; n++) {
		u64 begin_ns = platter_next_ns(&tracks, switch_ns, first, n, from_ns);
		u64 end_ns = platter_end_ns(&tracks, switch_ns, first, n + 1, from_ns);

		CHECK(end_ns - begin_ns - slot_of(first + n) / tracks.velocity <= 1);
	}
}

/* From the moment a sector begins to pass, it and all later sectors must still cross the bus. */
static void sent_after_it_passes(struct draw *draw)
{
	u64 first, from_ns, bus_ps, sent_ns, last_ns, want_ns;
	u32 n, i;

	draw_layout(draw);
	n = 1 + draw_below(draw, 300);
	first = draw_below(draw, CAPACITY - 300);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	bus_ps = draw_below(draw, 3000 * (slot_of(first) / tracks.velocity));
	sent_ns = platter_sent_ns(&tracks, switch_ns, first, n, from_ns, bus_ps,
				  &last_ns);
	CHECK_EQ(last_ns, platter_end_ns(&tracks, switch_ns, first, n, from_ns));
	want_ns = last_ns;
	for (i = 1; i < n; i++)
		want_ns = later(want_ns,
				platter_next_ns(&tracks, switch_ns, first, i, from_ns) +
					(n - i) * bus_ps / 1000);
	from_ns = platter_passes_ns(&tracks, platter_angle(&tracks, first), from_ns);
	want_ns = later(want_ns, from_ns + n * bus_ps / 1000);
	CHECK(sent_ns + 2 >= want_ns && sent_ns <= want_ns + 2); /* rounded apart */
}

/* Sectors that count as passed have ended by now, and the next sector has not. */
static void passed_as_timed(struct draw *draw)
{
	u64 sector, from_ns, now_ns, passed;
	u32 n, i;

	draw_layout(draw);
	sector = draw_below(draw, CAPACITY - 600);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	n = 1 + draw_below(draw, 600);
	for (i = 0; i < 100; i++) {
		now_ns =
			from_ns + draw_below(draw, (1 + draw_below(draw, n)) * turn_ns);
		passed = platter_passed(&tracks, switch_ns, sector, n, from_ns, now_ns);
		CHECK(passed <= n);
		CHECK(!passed || platter_end_ns(&tracks, switch_ns, sector, passed,
						from_ns) <= now_ns);
		CHECK(passed == n || platter_end_ns(&tracks, switch_ns, sector,
						    passed + 1, from_ns) >= now_ns);
	}
}

static void all_have_passed_at_their_end(struct draw *draw)
{
	u64 sector, from_ns, end_ns;
	u32 n;

	draw_layout(draw);
	from_ns = draw_below(draw, 1ull << draw_below(draw, 60));
	for (n = 1; n <= 100; n++) {
		sector = draw_below(draw, CAPACITY - 100);
		end_ns = platter_end_ns(&tracks, switch_ns, sector, n, from_ns);
		CHECK_EQ(platter_passed(&tracks, switch_ns, sector, n, from_ns, end_ns),
			 n);
	}
}

/* However long a transfer is and however it is split, the angle at its end is exact. */
static void no_rounding_accumulates(struct draw *draw)
{
	u64 from_ns, now_ns, sector;
	u32 turns;

	draw_layout(draw);
	from_ns = now_ns = draw_below(draw, 1ull << 40);
	for (turns = 0; turns < 20; turns++) {
		for (sector = 0; sector < CAPACITY;) {
			u64 n = nearer(1 + draw_below(draw, 300), CAPACITY - sector);
			u64 late;

			now_ns = platter_end_ns(&tracks, 0, sector, n, now_ns);
			sector += n;
			late = platter_angle(&tracks, sector - 1) +
			       slot_of(sector - 1) - now_ns * tracks.velocity;
			CHECK(late < tracks.velocity); /* less than a ns early */
		}
	}
	CHECK(now_ns - from_ns > 20 * turn_ns);
}

static void waits_less_than_a_turn(struct draw *draw)
{
	u64 angle = draw_u64(draw);
	u64 from_ns = draw_u64(draw) >> 1;
	u64 wait_ns;

	draw_layout(draw);
	wait_ns = platter_passes_ns(&tracks, angle, from_ns) - from_ns;
	CHECK(wait_ns <= turn_ns);
	CHECK(wait_ns == waited_ns(angle, from_ns));
	from_ns += wait_ns;
	CHECK_EQ(platter_passes_ns(&tracks, angle, from_ns), from_ns);
}

int main(void)
{
	check_seeds(50, angles_and_ends_as_walked);
	check_seeds(500, times_as_walked);
	check_seeds(500, begins_before_it_ends);
	check_seeds(500, sent_after_it_passes);
	check_seeds(500, passed_as_timed);
	check_seeds(500, all_have_passed_at_their_end);
	check_seeds(20, no_rounding_accumulates);
	check_seeds(100, waits_less_than_a_turn);
	return 0;
}
