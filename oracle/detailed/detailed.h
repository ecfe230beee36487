// SPDX-License-Identifier: MIT
/*
 * A model of a magnetic disk drive that serves one request at a time, in as much detail as the
 * literature describes.
 *
 * The model is an oracle for the project's own drive model, so the two models share no code.
 * Sources, with the short names that comments use:
 *
 *   RW94     Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 1994
 *   WGP94    Worthington, Ganger, Patt: Scheduling algorithms for modern disk drives, 1994
 *   WGPW95   Worthington, Ganger, Patt, Wilkes: On-line extraction of SCSI disk drive
 *            parameters, 1995
 *   SG99     Schindler, Ganger: Automated disk drive characterization (DIXtrac), 1999
 *   DISKSIM  Bucy and others: The DiskSim simulation environment, reference manual
 *   JW91     Jacobson, Wilkes: Disk scheduling algorithms based on rotational position, 1991
 *
 * Times are in ns. Between requests, the platters turn, read-ahead fills its segment, and dirty
 * data are destaged. All results depend only on the parameters and the requests. Python parses the
 * declarations below without a preprocessor, so they must not contain macros.
 */
#ifndef DRIVES_DETAILED_H
#define DRIVES_DETAILED_H

#include <stdint.h>

/* The order of the tracks of a zone (SG99, section 3.2; DISKSIM). */
enum detailed_layout {
	/* All heads of a cylinder from head 0 on, then those of the next cylinder. */
	DETAILED_CYLINDERS,
	/* Like DETAILED_CYLINDERS, but heads ascend in one cylinder and descend in the next. */
	DETAILED_CYLINDER_SERPENTINE,
	/*
	 * The cylinders of a band on one surface, then the same cylinders in reverse order on the
	 * next surface.
	 */
	DETAILED_SURFACE_SERPENTINE,
};

/* The order in which dirty data are destaged. */
enum detailed_order {
	DETAILED_SHORTEST_POSITIONING, /* JW91, WGP94 */
	DETAILED_CLOOK, /* in ascending order, then again from the lowest sector */
};

/* Adjacent cylinders whose tracks all have the same number of sectors (RW94, "Data layout"). */
struct detailed_zone {
	uint32_t cylinders;
	uint32_t sectors; /* addressable sectors of a track */
	uint32_t spare_sectors; /* at the end of each track, not addressable */
	uint32_t spare_tracks; /* at the end of the zone, not addressable */
	uint32_t track_skew; /* in sectors, from one head to the next */
	uint32_t cylinder_skew; /* in sectors, from one cylinder to the next */
};

struct detailed_parameters {
	/* Platters. */
	double period_ns;
	uint32_t heads;
	uint32_t layout; /* enum detailed_layout */
	uint32_t band_cylinders; /* surface serpentine; 0: all of the zone */
	uint32_t zones;
	struct detailed_zone zone[32];

	/*
	 * Arm (RW94, "Head positioning"). A seek over d cylinders takes a + b * sqrt(d) up to the
	 * threshold, and `slope` more for each cylinder beyond the threshold. The settling time is
	 * added to this.
	 */
	double seek_a_ns;
	double seek_b_ns;
	uint32_t seek_threshold;
	double seek_slope_ns;
	double read_settle_ns;
	double write_settle_ns;
	double head_switch_ns; /* time until another head can read */

	/* Controller and bus (RW94, "The disk controller"). */
	double read_hit_overhead_ns;
	double read_miss_overhead_ns;
	double write_overhead_ns;
	double bus_sector_ns;
	double bus_watermark; /* share of a miss, or of a segment, before the bus begins (SCSI) */

	/* Read cache: segments of equal size. The least recently used segment is replaced. */
	uint32_t segments; /* 0: none */
	uint32_t segment_sectors; /* also the size of a transfer's buffer */
	uint32_t ahead_sectors; /* maximum length of read-ahead after a request */
	uint32_t reach_sectors; /* a read at most this far ahead of the head waits */
	uint8_t ahead_keeps_request; /* read-ahead does not overwrite the last request's data */
	uint8_t ahead_stops_at_track_end;
	uint8_t ahead_stops_at_hits; /* at hits in other segments, and at cached writes */
	uint8_t ahead_after_hit; /* a sequential hit restarts read-ahead */

	/* Write cache. */
	uint32_t write_sectors; /* 0: write-through */
	uint32_t write_extents; /* maximum number of extents in the cache */
	uint32_t write_low_sectors; /* a full cache is destaged until it holds this */
	double write_idle_ns; /* idle time after which dirty data are destaged */
	uint32_t write_order; /* enum detailed_order */
	uint8_t write_whole_extent; /* reads wait for a whole extent, not only for a track */

	/* Command queueing. */
	uint32_t queue_depth;
	double queue_age_ns; /* a request that has waited longer is served first */
};

struct detailed_request {
	uint64_t sector;
	int64_t arrival_ns;
	uint32_t sectors;
	uint8_t write;
};

/* The location of a sector. The angle, in rotations, is that of the sector's beginning. */
struct detailed_place {
	uint32_t cylinder;
	uint32_t head;
	uint32_t slot; /* index on the track, counting spare sectors */
	double angle;
};

struct detailed_drive;

/* Returns NULL if no drive can have these parameters, or if there is no memory. */
struct detailed_drive *detailed_new(const struct detailed_parameters *parameters);
void detailed_free(struct detailed_drive *drive);

/* Reset to the initial state: caches empty, head at the beginning, time 0. */
void detailed_reset(struct detailed_drive *drive);

/*
 * Change the number of segments of the cache, and the maximum distance of read-ahead from the end
 * of a request. If the number of segments changes, all segments are emptied. Returns -1 and changes
 * nothing if the number of segments is 0 or exceeds the number in the parameters.
 */
int detailed_adapt(struct detailed_drive *drive, uint32_t segments,
		   uint32_t ahead_sectors);

uint64_t detailed_capacity(const struct detailed_drive *drive);
void detailed_locate(const struct detailed_drive *drive, uint64_t sector,
		     struct detailed_place *place);

/*
 * Returns the time at which a request that is sent at at_ns completes. Returns -1 and does nothing
 * if the request is empty or extends past the end of the drive, or if at_ns is before the last
 * completion.
 */
int64_t detailed_request(struct detailed_drive *drive, int write, uint64_t sector,
			 uint32_t sectors, int64_t at_ns);

/*
 * Returns the time at which all written data are on the medium, or -1 if at_ns is before the last
 * completion.
 */
int64_t detailed_flush(struct detailed_drive *drive, int64_t at_ns);

/*
 * Returns the index of the request that a drive with command queueing serves next, out of n pending
 * requests. This is the request whose first sector is soonest under the head (WGP94; JW91), unless
 * the oldest request has waited too long. Returns -1 if n is 0, or in the cases in which
 * detailed_request() does.
 */
int detailed_choose(struct detailed_drive *drive, const struct detailed_request *queue,
		    int n, int64_t now_ns);

/*
 * Serve n requests in order. Each request is sent at its at_ns, but not before think_ns after the
 * completion of the previous request. Returns the number of requests served, which is less than n
 * if a request is impossible.
 */
int64_t detailed_batch(struct detailed_drive *drive, int64_t n, const uint8_t *write,
		       const uint64_t *sector, const uint32_t *sectors,
		       const int64_t *at_ns, const int64_t *think_ns,
		       int64_t *completion_ns);

#endif
