/* SPDX-License-Identifier: MIT */
/*
 * Memory shared by `understudy serve-disk` and the filter in nbdkit. The command describes the disk
 * in it, and the filter reports its lateness. The memory outlives both, so the report is complete
 * however the server ended. Both are compiled from this file (sim/binding.py), on one machine, so
 * the model need not be written or parsed as text.
 */
#ifndef UNDERSTUDY_SERVE_TIMED_DISK_H
#define UNDERSTUDY_SERVE_TIMED_DISK_H

#include "../../core/drive/device.h"
#include "../../sim/moments.h"

#define TIMED_ENOUGH_NS 1000000u

/**
 * struct lateness - lateness of the answers so far
 * @all: time of the answer - due time, ns
 * @distribution: distribution of the same
 * @late: number of answers whose data was there only after the due time
 * @service: total service time, k included, of the requests that take TIMED_ENOUGH_NS or more
 *	...
 * @service_late: ... and their total lateness
 */
struct lateness {
	struct moments all;
	struct histogram distribution;
	u64 late;
	struct moments service;
	struct moments service_late;
};

/**
 * struct timed_disk - the disk that is served
 * @bytes: sizeof(struct timed_disk); the drive's samples, zones and slips follow it
 * @address: address of this structure in the process that set those pointers
 * @device: the disk and its state
 * @capacity_sectors: size
 * @serves: the server accepts connections
 * @record_error: errno of a record that could not be written; no records follow it
 * @lateness: the filter's report
 */
struct timed_disk {
	u64 bytes;
	u64 address;
	struct timed_device device;
	u64 capacity_sectors;
	u64 serves;
	u64 record_error;
	struct lateness lateness;
};

#endif
