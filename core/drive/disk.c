// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "disk.h"
#include "../least.h"

void disk_set_linear(struct disk *disk, struct curve_point line[2],
		     u64 capacity_sectors, u64 intercept_ns, u64 full_seek_ns)
{
	line[0] = (struct curve_point){ 0, 0 };
	line[1] = (struct curve_point){ capacity_sectors, full_seek_ns };
	disk->capacity_sectors = capacity_sectors;
	disk->intercept_ns = intercept_ns;
	disk->rotation_ns = 0;
	disk->seek = (struct curve){ 2, line };
	disk->transfer = (struct curve){ 0 };
}

static const void *moved(const void *pointer, u64 from, const void *to)
{
	return pointer ? (const char *)to + ((unsigned long)pointer - from) : NULL;
}

void disk_moved(struct disk *disk, u64 from, const void *to)
{
	disk->seek.point = moved(disk->seek.point, from, to);
	disk->transfer.point = moved(disk->transfer.point, from, to);
	disk->tracks.zone = moved(disk->tracks.zone, from, to);
	disk->tracks.slip = moved(disk->tracks.slip, from, to);
}

int disk_check(const struct disk *disk)
{
	u64 end = disk->capacity_sectors;

	if (disk->intercept_ns > DISK_NS_MAX || disk->rotation_ns > DISK_NS_MAX)
		return -EINVAL;
	if (disk->switch_ns > DISK_NS_MAX || tracks_check(&disk->tracks, end))
		return -EINVAL;
	if (curve_check(&disk->seek, end, DISK_NS_MAX))
		return -EINVAL;
	if (platter_check(&disk->tracks, disk->rotation_ns))
		return -EINVAL;
	if (!disk->transfer.nr_points)
		return 0;
	return curve_check(&disk->transfer, end, DISK_SECTOR_PS_MAX);
}

u64 disk_place(const struct disk *disk, u64 sector)
{
	return tracks_arm(&disk->tracks, sector);
}

u64 disk_arm_place(const struct disk *disk, u64 head)
{
	return disk_place(disk, head - (disk_counts_tracks(disk) && head));
}

u64 disk_track_end(const struct disk *disk, u64 sector)
{
	return tracks_end(&disk->tracks, sector);
}

u64 disk_move_ns(const struct disk *disk, u64 from, u64 to)
{
	u64 distance = to > from ? to - from : from - to;

	return disk->intercept_ns + curve_value(&disk->seek, distance);
}

u64 disk_reach_ns(const struct disk *disk, u64 head, u64 sector)
{
	return disk_move_ns(disk, disk_arm_place(disk, head), disk_place(disk, sector));
}

static u64 sector_ps(const struct disk *disk, u64 sector)
{
	return disk->transfer.nr_points ? curve_value(&disk->transfer, sector) : 0;
}

u64 disk_turn(const struct disk *disk, u64 sector)
{
	u64 ps = sector_ps(disk, sector);

	return ps ? port_mul_div(disk->rotation_ns, 1000, ps) : 0;
}

static u64 switches_ns(const struct disk *disk, u64 sector, u64 sectors)
{
	u64 end = sector + sectors;
	u64 ns = 0;

	if (!disk->switch_ns)
		return 0;
	while ((sector = tracks_end(&disk->tracks, sector)) < end)
		ns += disk->switch_ns;
	return ns;
}

u64 disk_transfer_ns(const struct disk *disk, u64 sector, u64 sectors)
{
	return port_mul_div(sector_ps(disk, sector), sectors, 1000) +
	       switches_ns(disk, sector, sectors);
}

u64 disk_end_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns)
{
	if (disk_knows_angles(disk))
		return platter_end_ns(&disk->tracks, disk->switch_ns, sector, sectors,
				      from_ns);
	return from_ns + disk_transfer_ns(disk, sector, sectors);
}

/*
 * Return when the bus would have sent all these sectors if it only had to wait until the first
 * sector on each track begins to pass.
 */
static u64 sent_in_turn_ns(const struct disk *disk, u64 sector, u64 end, u64 from_ns,
			   u64 bus_ps)
{
	u64 sent_ns = 0;

	for (;;) {
		u64 next = disk->switch_ns ? tracks_end(&disk->tracks, sector) : end;

		sent_ns = later(sent_ns, over_bus_ns(from_ns, end - sector, bus_ps));
		if (next >= end)
			return sent_ns;
		from_ns = disk_next_ns(disk, sector, next - sector, from_ns);
		sector = next;
	}
}

u64 disk_sent_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		 u64 bus_ps, u64 *last_ns)
{
	if (disk_knows_angles(disk))
		return platter_sent_ns(&disk->tracks, disk->switch_ns, sector, sectors,
				       from_ns, bus_ps, last_ns);
	*last_ns = from_ns + disk_transfer_ns(disk, sector, sectors);
	return later(*last_ns,
		     sent_in_turn_ns(disk, sector, sector + sectors, from_ns, bus_ps));
}

u64 disk_next_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns)
{
	u64 next = sector + sectors;

	if (!sectors)
		return from_ns;
	if (disk_knows_angles(disk))
		return platter_next_ns(&disk->tracks, disk->switch_ns, sector, sectors,
				       from_ns);
	from_ns += disk_transfer_ns(disk, sector, sectors);
	return tracks_end(&disk->tracks, next - 1) == next ? from_ns + disk->switch_ns
							   : from_ns;
}

/*
 * Return how many of these sectors pass in this time; the inverse of disk_transfer_ns(). No sector
 * passes during a switch.
 */
static u64 passed_after(const struct disk *disk, u64 sector, u64 sectors, u64 ns)
{
	u64 ps = sector_ps(disk, sector);
	u64 end = sector + sectors;
	u64 at = sector;

	while (at < end) {
		u64 track_end = disk->switch_ns ? tracks_end(&disk->tracks, at) : end;
		u64 stop = track_end < end ? track_end : end;
		u64 needed_ns = port_mul_div(ps, stop - at, 1000);

		if (needed_ns > ns)
			return at - sector + port_mul_div(ns, 1000, ps);
		at = stop;
		if (at == end || ns - needed_ns < disk->switch_ns)
			break;
		ns -= needed_ns + disk->switch_ns;
	}
	return at - sector;
}

u64 disk_passed(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		u64 now_ns)
{
	if (disk_knows_angles(disk))
		return platter_passed(&disk->tracks, disk->switch_ns, sector, sectors,
				      from_ns, now_ns);
	return passed_after(disk, sector, sectors, now_ns - from_ns);
}

u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors)
{
	return disk_reach_ns(disk, head, sector) + disk->rotation_ns / 2 +
	       disk_transfer_ns(disk, sector, sectors);
}

u64 disk_slowest_ns(const struct disk *disk, u64 sectors)
{
	u64 places = tracks_places_most(&disk->tracks, sectors);
	u64 switches = port_mul_div(places, 1, tracks_shortest(&disk->tracks)) + 1;
	u64 arm_ns = disk->intercept_ns + curve_max(&disk->seek) + disk->rotation_ns;
	u64 switch_ns = disk->switch_ns;
	u64 transfer_ns = port_mul_div(curve_max(&disk->transfer), sectors, 1000);

	if (disk_knows_angles(disk)) {
		switch_ns += 2 * disk->rotation_ns; /* a skew, and spare sectors */
		transfer_ns =
			product_at_most(places, platter_slowest_ns(&disk->tracks));
	}
	return sum_at_most(
		arm_ns, sum_at_most(transfer_ns, product_at_most(switches, switch_ns)));
}
