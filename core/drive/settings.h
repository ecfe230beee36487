/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What of a device is one number: its name, limits and a line for people, said once.  From it
 * follow the throttle's files (kernel/vpt/sysfs_settings.c), what Python sets
 * (understudy/native/settings.py) and a table in docs/vpt-sysfs.md.
 *
 * A name ends in its unit: _ns, _ps, _sectors, _milli; otherwise it is a number of things, a
 * choice, or yes (1) and no.  What several settings have to keep together, drive_check() says.
 */
#ifndef UNDERSTUDY_SETTINGS_H
#define UNDERSTUDY_SETTINGS_H

#include "../scheduler.h"
#include "device.h"

#define DEVICE_SETTINGS_MAX 64

/* Offsets are in struct timed_device, and `initial` is what a device begins with. */
extern const struct sched_field device_settings[];
extern const u32 nr_device_settings;

#endif
