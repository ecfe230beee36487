/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A table of all settings of a device that are a single number: name, limits and help. The
 * throttle's files (kernel/vpt/sysfs_settings.c), the settings that Python passes
 * (understudy_devices/native/settings.py) and a table in docs/vpt-sysfs.md are all derived from
 * this table.
 *
 * A name ends in its unit: _ns, _ps, _sectors, _milli. A setting without a unit is a count, a
 * choice, or yes (1) or no (0). drive_check() checks conditions that concern several settings.
 */
#ifndef UNDERSTUDY_SETTINGS_H
#define UNDERSTUDY_SETTINGS_H

#include "../scheduler.h"
#include "device.h"

#define DEVICE_SETTINGS_MAX 64

/* Offsets are offsets in struct timed_device; `initial` is the value in a new device. */
extern const struct sched_field device_settings[];
extern const u32 nr_device_settings;

#endif
