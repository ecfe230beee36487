// SPDX-License-Identifier: MIT
#include <math.h>

#include "mechanism.h"

/*
 * Tolerance for rounding errors, as a share of a rotation. If a sector's beginning seems to have
 * passed less than this ago, it is treated as still to come.
 */
#define ROUNDING 1e-6

double mechanism_seek_ns(const struct detailed_parameters *p, uint32_t cylinders)
{
	if (cylinders == 0)
		return 0;
	if (cylinders <= p->seek_threshold)
		return p->seek_a_ns + p->seek_b_ns * sqrt(cylinders);
	return p->seek_a_ns + p->seek_b_ns * sqrt(p->seek_threshold) +
	       p->seek_slope_ns * (cylinders - p->seek_threshold);
}

/*
 * Time to move the arm. The head switch overlaps the seek; a write needs a longer settling time
 * (RW94).
 */
static double move_ns(const struct detailed_parameters *p, const struct arm *from,
		      const struct detailed_place *to, int write)
{
	double switching_ns = from->head == to->head ? 0 : p->head_switch_ns;
	uint32_t cylinders = from->cylinder > to->cylinder
				     ? from->cylinder - to->cylinder
				     : to->cylinder - from->cylinder;
	double settle_ns = write ? p->write_settle_ns : p->read_settle_ns;

	if (cylinders)
		return fmax(mechanism_seek_ns(p, cylinders) + settle_ns, switching_ns);
	if (from->head == to->head)
		return 0;
	return switching_ns + settle_ns - p->read_settle_ns;
}

static double until_angle_ns(const struct detailed_parameters *p, double now_ns,
			     double angle)
{
	double turn = angle - fmod(now_ns, p->period_ns) / p->period_ns;

	turn -= floor(turn);
	return turn > 1 - ROUNDING ? 0 : turn * p->period_ns;
}

void mechanism_find_run(const struct layout *layout, const struct arm *arm,
			double now_ns, double ready_ns, uint64_t sector, uint64_t end,
			int write, struct run *run)
{
	const struct detailed_parameters *p = layout->parameters;
	struct place place;
	double from_ns;

	layout_find(layout, sector, &place);
	run->arm.cylinder = place.at.cylinder;
	run->arm.head = place.at.head;
	run->settled_ns = now_ns + move_ns(p, arm, &place.at, write);
	from_ns = fmax(run->settled_ns, ready_ns);
	run->begin_ns = from_ns + until_angle_ns(p, from_ns, place.at.angle);
	run->sector_ns = p->period_ns / place.slots;
	run->sectors = end - sector < place.left ? end - sector : place.left;
}

double run_end_ns(const struct run *run)
{
	return run->begin_ns + run->sectors * run->sector_ns;
}

/*
 * The last sector of a run is sent once all earlier sectors have been sent and the last sector has
 * passed under the head. Sectors pass at equal intervals, so it is enough to look at the times at
 * which the first and the last sector pass (RW94, "Bus interface").
 */
static void bus_carry(struct bus *bus, const struct run *run)
{
	double first_ns = run->begin_ns + run->sector_ns;

	bus->free_ns =
		fmax(fmax(bus->free_ns, first_ns) + run->sectors * bus->sector_ns,
		     run_end_ns(run) + bus->sector_ns);
}

double mechanism_pass(const struct layout *layout, struct arm *arm, double now_ns,
		      double ready_ns, uint64_t sector, uint64_t end, int write,
		      struct bus *bus)
{
	struct run run;

	while (sector < end) {
		mechanism_find_run(layout, arm, now_ns, ready_ns, sector, end, write,
				   &run);
		*arm = run.arm;
		now_ns = run_end_ns(&run);
		sector += run.sectors;
		if (bus)
			bus_carry(bus, &run);
	}
	return now_ns;
}
