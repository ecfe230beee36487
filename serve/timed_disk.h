/* SPDX-License-Identifier: MIT */
/*
 * What `understudy serve-disk` and the filter in nbdkit share: a piece of memory in which the one
 * says what the disk is and the other how late it was.  It outlives either, so the report is
 * whole however the server ended.  Both are compiled from this file (sim/binding.py), on
 * one machine, so nobody writes the model as text and nobody parses it.
 */
#ifndef UNDERSTUDY_SERVE_TIMED_DISK_H
#define UNDERSTUDY_SERVE_TIMED_DISK_H

#include "../core/drive/device.h"
#include "../sim/moments.h"

#define TIMED_ENOUGH_NS 1000000u

/**
 * struct lateness - of the answers so far
 * @all: answer handed over - due, ns
 * @distribution: of the same
 * @late: those whose data was there only after they were due
 * @service: what those should take that take TIMED_ENOUGH_NS and more, k included ...
 * @service_late: ... and how late they were
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
 * @address: of this structure, as whoever set those pointers sees it
 * @device: the disk in motion
 * @capacity_sectors: size
 * @serves: connections are taken
 * @record_error: errno of a record that could not be written; there are none after it
 * @lateness: the filter's answer
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
