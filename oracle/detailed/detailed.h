// SPDX-License-Identifier: MIT
/*
 * A model of a magnetic disk drive that serves one request at a time, in as much detail as the
 * literature describes.
 *
 * It is an oracle: the project's own drive model is compared with it, so the two share no code.
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
 * Times are in ns. Between requests, the platters turn, read-ahead fills its segment and dirty data
 * are destaged. All results are a function of the parameters and of the requests. Python parses the
 * declarations below without a preprocessor, so they must not contain macros.
 */
#ifndef DRIVES_DETAILED_H
#define DRIVES_DETAILED_H

#include <stdint.h>

/* The order of the tracks of a zone (SG99, section 3.2; DISKSIM). */
enum detailed_layout {
	/* All heads of a cylinder, then the next cylinder, from head 0 again. */
	DETAILED_CYLINDERS,
	/* The same, but heads ascend in one cylinder and descend in the next. */
	DETAILED_CYLINDER_SERPENTINE,
	/* The cylinders of a band on one surface, then in reverse order on the next surface. */
	DETAILED_SURFACE_SERPENTINE,
};

/* The order in which dirty data are destaged. */
enum detailed_order {
	DETAILED_SHORTEST_POSITIONING, /* JW91, WGP94 */
	DETAILED_CLOOK, /* ascending, then from the lowest again */
};

/* Adjacent cylinders whose tracks all have the same number of sectors (RW94, "Data layout"). */
struct detailed_zone {
	uint32_t cylinders;
	uint32_t sectors; /* addressable sectors of a track */
	uint32_t spare_sectors; /* at each track's end, not addressable */
	uint32_t spare_tracks; /* at the zone's end, not addressable */
	uint32_t track_skew; /* in sectors, at a change of heads */
	uint32_t cylinder_skew; /* in sectors, at a change of cylinders */
};

struct detailed_parameters {
	/* Platters. */
	double period_ns;
	uint32_t heads;
	uint32_t layout; /* enum detailed_layout */
	uint32_t band_cylinders; /* surface serpentine; 0: the zone is one band */
	uint32_t zones;
	struct detailed_zone zone[32];

	/*
	 * Arm (RW94, "Head positioning"): a seek over d cylinders takes a + b * sqrt(d) up to the
	 * threshold, and `slope` more for each cylinder beyond it; the settling time is added.
	 */
	double seek_a_ns;
	double seek_b_ns;
	uint32_t seek_threshold;
	double seek_slope_ns;
	double read_settle_ns;
	double write_settle_ns;
	double head_switch_ns; /* time until another head is ready to read */

	/* Controller and bus (RW94, "The disk controller"). */
	double read_hit_overhead_ns;
	double read_miss_overhead_ns;
	double write_overhead_ns;
	double bus_sector_ns;
	double bus_watermark; /* share of a miss, or of a segment, before the bus begins (SCSI) */

	/* Read cache: segments of equal size, least recently used replacement. */
	uint32_t segments; /* 0: none */
	uint32_t segment_sectors; /* also the size of a transfer's buffer */
	uint32_t ahead_sectors; /* read-ahead ends at most this far after the request */
	uint32_t reach_sectors; /* a read at most this far ahead of the head waits */
	uint8_t ahead_keeps_request; /* read-ahead does not overwrite the last request's data */
	uint8_t ahead_stops_at_track_end;
	uint8_t ahead_stops_at_hits; /* at hits in other segments, and at cached writes */
	uint8_t ahead_after_hit; /* a hit in sequence restarts read-ahead */

	/* Write cache. */
	uint32_t write_sectors; /* 0: write-through */
	uint32_t write_extents; /* most extents that the cache holds */
	uint32_t write_low_sectors; /* a cache that was full is destaged down to this */
	double write_idle_ns; /* dirty data wait until the drive has been idle this long */
	uint32_t write_order; /* enum detailed_order */
	uint8_t write_whole_extent; /* reads wait for a whole extent, not only for a track */

	/* Command queueing. */
	uint32_t queue_depth;
	double queue_age_ns; /* a request that has waited longer goes first */
};

struct detailed_request {
	uint64_t sector;
	int64_t arrival_ns;
	uint32_t sectors;
	uint8_t write;
};

/* The location of a sector; the angle, in rotations, is that of the sector's beginning. */
struct detailed_place {
	uint32_t cylinder;
	uint32_t head;
	uint32_t slot; /* index on its track, counting spare sectors */
	double angle;
};

struct detailed_drive;

/* Returns NULL if the parameters are impossible for a drive or there is no memory. */
struct detailed_drive *detailed_new(const struct detailed_parameters *parameters);
void detailed_free(struct detailed_drive *drive);

/* Reset to the initial state: caches empty, head at the beginning, time 0. */
void detailed_reset(struct detailed_drive *drive);

/*
 * Change the number of segments of the cache, and how far after a request read-ahead ends. A change
 * of the number of segments empties them all. Returns -1, without effect, if the number is 0 or
 * above the number in the parameters.
 */
int detailed_adapt(struct detailed_drive *drive, uint32_t segments,
		   uint32_t ahead_sectors);

uint64_t detailed_capacity(const struct detailed_drive *drive);
void detailed_locate(const struct detailed_drive *drive, uint64_t sector,
		     struct detailed_place *place);

/*
 * Returns when a request that is sent at at_ns completes. Returns -1, without effect, if the
 * request is empty or extends past the end of the drive, or if at_ns is before the last completion.
 */
int64_t detailed_request(struct detailed_drive *drive, int write, uint64_t sector,
			 uint32_t sectors, int64_t at_ns);

/* Returns when all written data is on the medium, or -1 if at_ns is before the last completion. */
int64_t detailed_flush(struct detailed_drive *drive, int64_t at_ns);

/*
 * Returns the index of that one of n pending requests which a drive with command queueing serves
 * next: the one that is soonest under the head (WGP94; JW91), unless the oldest has waited too
 * long. Returns -1 in the same cases as detailed_request().
 */
int detailed_choose(struct detailed_drive *drive, const struct detailed_request *queue,
		    int n, int64_t now_ns);

/*
 * Serve n requests in order. Each is sent at its at_ns, but not before think_ns after the
 * completion of the previous request. Returns the number of requests served: fewer than n if one is
 * impossible.
 */
int64_t detailed_batch(struct detailed_drive *drive, int64_t n, const uint8_t *write,
		       const uint64_t *sector, const uint32_t *sectors,
		       const int64_t *at_ns, const int64_t *think_ns,
		       int64_t *completion_ns);

#endif
