// SPDX-License-Identifier: MIT
/*
 * What a drive knows of angles without a platter, times by hand: a turn is 6 ms and 600
 * sectors, and the arm is 3 ms on its way to any other place.
 */
#include "../../core/drive/estimate.h"
#include "round_drive.h"

#define WAY (3000 * US)
#define TURN (6000 * US)
#define TURN_SECTORS 600

static void set_turning(void)
{
	set_reading(0, 0);
	drive.random_phase = 1;
	drive.buffer.bus_ps = 0;
}

/* There after 3 ms; they pass from 80 us on, and a turn later. */
static void a_reset_puts_the_head_before_sector_0_at_time_0(void)
{
	set_turning();
	drive_serve(&drive, IO_READ, 50000, 8, 7777, &(bool){ false });
	drive_reset(&drive);
	reads(8, 8, TURN + 16 * SECTOR, false);
}

/* Sector 300 passes after 3 ms. */
static void what_is_just_there_is_not_missed(void)
{
	set_turning();
	reads(300, 8, WAY + 8 * SECTOR, false);
}

/* Of what is a whole turn ahead, or more, nothing is known. */
static void less_than_a_turn_ahead_is_near(void)
{
	struct draw draw;

	set_turning();
	reads(TURN_SECTORS - 1, 8, (TURN_SECTORS + 7) * SECTOR, false);
	set_turning();
	draw_seed(&draw, 0, 1ull << 32);
	reads(TURN_SECTORS, 8, WAY + draw_below(&draw, TURN) + 8 * SECTOR, false);
}

/*
 * Up to 16 by 6,160 us, and read on to 716, from where 4 is more than a turn away.  It passed
 * 12 sectors before 16 did, so it does at 18,040 us.
 */
static void around_the_last_request_it_is_known_too(void)
{
	set_turning();
	drive.buffer.segments.nr = 1;
	drive.buffer.segments.sectors = drive.buffer.ahead_sectors = 700;
	reads(8, 8, TURN + 16 * SECTOR, false);
	now = 14000 * US;
	CHECK_EQ(estimate_ns(&drive, IO_READ, 4, 4, now), 4040 * US);
	reads(4, 4, 4040 * US + 4 * SECTOR, false);
}

int main(void)
{
	a_reset_puts_the_head_before_sector_0_at_time_0();
	what_is_just_there_is_not_missed();
	less_than_a_turn_ahead_is_near();
	around_the_last_request_it_is_known_too();
	return 0;
}
