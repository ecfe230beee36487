/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The mechanics of a profiled disk: how long the medium takes for one request,
 * given where the head is.  The papers' line, R/2 + S * (d/D) (PERFORM 2010 section 4,
 * Jones 2010 section 4.2), is a seek curve of two points and no zones.
 *
 * Distances are in sectors of the disk that stands in; whoever fills the curve
 * scales it to that size, so any virtual size stands in for any real one.
 */
#ifndef UNDERSTUDY_DISK_H
#define UNDERSTUDY_DISK_H

#include "port.h"

#define DISK_CURVE_POINTS_MAX 1024
#define DISK_ZONES_MAX 256

/**
 * struct disk_curve_point - one sample of the seek curve
 * @distance_sectors: how far the head moves
 * @seek_ns: how long that takes
 */
struct disk_curve_point {
	u64 distance_sectors;
	u64 seek_ns;
};

/**
 * struct disk_zone - tracks of equal density
 * @first_sector: where the zone begins; it ends where the next one begins
 * @sector_ps: time for one sector to pass under the head, picoseconds
 */
struct disk_zone {
	u64 first_sector;
	u64 sector_ps;
};

/**
 * struct disk - a disk without its cache
 * @capacity_sectors: size
 * @intercept_ns: what every request costs, whatever the distance
 * @nr_points: samples of the seek curve, at least 2: the first at distance 0,
 *	the last at @capacity_sectors, both columns ascending
 * @nr_zones: 0 if transfer takes no time of its own
 * @seek: the curve
 * @zone: the zones, ascending, the first at sector 0
 */
struct disk {
	u64 capacity_sectors;
	u64 intercept_ns;
	u32 nr_points;
	u32 nr_zones;
	struct disk_curve_point seek[DISK_CURVE_POINTS_MAX];
	struct disk_zone zone[DISK_ZONES_MAX];
};

/* The papers' line: the full stroke takes full_seek_ns. */
void disk_set_linear(struct disk *disk, u64 capacity_sectors, u64 intercept_ns,
		     u64 full_seek_ns);

/* 0, or -EINVAL if the curve or the zones are not as promised above. */
int disk_check(const struct disk *disk);

/* Service time from the medium, ns: intercept + seek + transfer, rounded down. */
u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors);

#endif
