/* SPDX-License-Identifier: MIT */
/*
 * Memory shared by `understudy serve-disk` and the filter in nbdkit. The command stores the
 * description of the disk in this memory, and the filter stores the lateness of its answers. The
 * memory outlives the server, so the report is complete even if the server crashes. Both programs
 * are compiled with this file (sim/binding.py) on one machine, so they share the model as a
 * structure and not as text.
 */
#ifndef UNDERSTUDY_SERVE_TIMED_DISK_H
#define UNDERSTUDY_SERVE_TIMED_DISK_H

#include "../../core/drive/device.h"
#include "../../sim/moments.h"

#define TIMED_ENOUGH_NS 1000000u

/**
 * struct lateness - lateness of the answers so far
 * @all: lateness of all answers: time of the answer - due time, ns
 * @distribution: histogram of the lateness of all answers
 * @late: number of answers whose data was ready only after the due time
 * @service: service times, multiplied by k, of the requests that take TIMED_ENOUGH_NS or more ...
 * @service_late: ... and the lateness of the answers to these requests
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
 * @address: address of this structure in the process that set its pointers to the samples, zones
 *	and slips
 * @device: the disk and its state
 * @capacity_sectors: size
 * @serves: whether the server accepts connections
 * @record_error: errno of the first record that could not be written; no later record is written
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
