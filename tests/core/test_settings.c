// SPDX-License-Identifier: MIT
/* The table of settings: each has a unique number, a name and consistent limits. */
#include <string.h>

#include "../../core/drive/settings.h"
#include "check.h"
#include "laid_out.h"

static struct timed_device device;

static void each_is_a_number_of_its_own(void)
{
	u32 i, j;

	for (i = 0; i < nr_device_settings; i++) {
		const struct sched_field *setting = &device_settings[i];

		CHECK(setting->offset + sizeof(u64) <= sizeof(device));
		CHECK(!(setting->offset % sizeof(u64)));
		CHECK(setting->min <= setting->initial);
		CHECK(setting->initial <= setting->max);
		CHECK(setting->max > setting->min);
		CHECK(strspn(setting->name, "abcdefghijklmnopqrstuvwxyz_") ==
		      strlen(setting->name));
		CHECK(strlen(setting->help) > 5);
		for (j = 0; j < i; j++) {
			CHECK(strcmp(setting->name, device_settings[j].name));
			CHECK(setting->offset != device_settings[j].offset);
		}
	}
}

static const struct sched_field *named(const char *name)
{
	u32 i = 0;

	while (strcmp(device_settings[i].name, name))
		CHECK(++i < nr_device_settings);
	return &device_settings[i];
}

/*
 * A drive accepts the maximum of each setting, and no more, while all other settings are at their
 * defaults.
 */
static void the_most_is_what_a_drive_takes(const char *name)
{
	const struct sched_field *setting = named(name);

	device = (struct timed_device){ 0 };
	linear(&device.drive.disk, 1000, 0, 0);
	*sched_field_value(&device, setting) = setting->max;
	CHECK_EQ(drive_check(&device.drive), 0);
	(*sched_field_value(&device, setting))++;
	CHECK_EQ(drive_check(&device.drive), -EINVAL);
}

int main(void)
{
	each_is_a_number_of_its_own();
	the_most_is_what_a_drive_takes("intercept_ns");
	the_most_is_what_a_drive_takes("rotation_ns");
	the_most_is_what_a_drive_takes("track_switch_ns");
	the_most_is_what_a_drive_takes("hit_ns");
	the_most_is_what_a_drive_takes("cache_segments");
	the_most_is_what_a_drive_takes("queue_depth");
	the_most_is_what_a_drive_takes("queue_age_limit_ns");
	CHECK_EQ(named("scale_milli")->initial, 1000);
	CHECK_EQ(named("scale_milli")->min, 1);
	return 0;
}
