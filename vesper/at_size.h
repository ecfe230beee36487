/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A profile at one size: turns a table into a drive, as understudy_devices/device/timing.py does
 * with a profile, to the last bit. So a run on this disk and a run of the simulator have the same
 * times.
 *
 * The drive counts in units: sectors of 512 bytes or, on a disk with smaller blocks, these blocks.
 */
#ifndef VESPER_AT_SIZE_H
#define VESPER_AT_SIZE_H

#include "../core/drive/device.h"
#include "vesper.h"

#define AT_SIZE_POINTS 512
#define SECTOR_BYTES 512

/* Memory for the curves of the disk. */
struct curve_room {
	struct curve_point seek[AT_SIZE_POINTS];
	struct curve_point transfer[AT_SIZE_POINTS];
};

/**
 * struct size - the size of a disk
 * @units: number of units
 * @unit_bytes: bytes of a unit, at most 512
 * @scaling: enum vesper_scaling
 */
struct size {
	u64 units;
	u32 unit_bytes;
	int scaling;
};

/*
 * Set the drive of a zeroed device. Returns VESPER_OK; VESPER_BAD_SIZE if the profile has another
 * size; or VESPER_NO_PROFILE if the table is not one that the exporter makes.
 */
int drive_at_size(struct timed_device *device, struct curve_room *room,
		  const struct vesper_profile *profile, const struct size *size);

#endif
