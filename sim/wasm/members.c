// SPDX-License-Identifier: MIT
#include <string.h>

#include "../../core/drive/settings.h"
#include "module.h"

/* A number, or the address of an array, and the bytes of the number or of an entry. */
struct member {
	const char *name;
	size_t offset;
	u32 bytes;
};

#define NUMBER(path)                                       \
	{                                                  \
#path, offsetof(struct module, path),      \
			sizeof(((struct module *)0)->path) \
	}
#define ARRAY(path)                                         \
	{                                                   \
#path, offsetof(struct module, path),       \
			sizeof(*((struct module *)0)->path) \
	}

static const struct member numbers[] = {
	NUMBER(input.requests),
	NUMBER(input.depth),
	NUMBER(input.max_pending),
	NUMBER(input.merge_sectors),
	NUMBER(input.gap_ns),
	NUMBER(input.ask_ns),
	NUMBER(input.array.servers),
	NUMBER(input.array.mean_service_ns),
	NUMBER(input.array.exponential),
	NUMBER(input.cache.bytes),
	NUMBER(input.cache.page_sectors),
	NUMBER(input.cache.read_ahead_pages),
	NUMBER(input.world.capacity_sectors),
	NUMBER(input.world.seed),
	NUMBER(input.world.processes),
	NUMBER(input.world.layout.files),
	NUMBER(device.drive.disk.capacity_sectors),
	NUMBER(device.drive.disk.seek.nr_points),
	NUMBER(device.drive.disk.transfer.nr_points),
	NUMBER(device.drive.disk.tracks.nr_zones),
	NUMBER(device.drive.disk.tracks.nr_slips),
	NUMBER(rows),
	NUMBER(extents),
};

static const struct member arrays[] = {
	ARRAY(input.tunables),
	ARRAY(input.parameters),
	ARRAY(input.weight),
	ARRAY(input.io_class),
	ARRAY(input.level),
	ARRAY(input.cache.policies.prefetcher_tunables),
	ARRAY(input.cache.policies.replacer_tunables),
	ARRAY(input.world.layout.bytes),
	ARRAY(input.world.layout.first),
	ARRAY(input.world.layout.start),
	ARRAY(input.world.layout.length),
	ARRAY(input.world.rows.first),
	ARRAY(input.world.rows.think_ns),
	ARRAY(input.world.rows.sector),
	ARRAY(input.world.rows.cost_ns),
	ARRAY(input.world.rows.sectors),
	ARRAY(input.world.rows.owner),
	ARRAY(input.world.rows.op),
	ARRAY(device.drive.disk.seek.point),
	ARRAY(device.drive.disk.transfer.point),
	ARRAY(device.drive.disk.tracks.zone),
	ARRAY(device.drive.disk.tracks.slip),
	ARRAY(columns.arrival_ns),
	ARRAY(columns.dispatch_ns),
	ARRAY(columns.start_ns),
	ARRAY(columns.completion_ns),
	ARRAY(columns.sector),
	ARRAY(columns.request_id),
	ARRAY(columns.model_service_ns),
	ARRAY(columns.idle_ns),
	ARRAY(columns.sectors),
	ARRAY(columns.owner),
	ARRAY(columns.op),
	ARRAY(columns.reason),
	ARRAY(columns.hit),
	ARRAY(summary.counters),
	ARRAY(summary.prefetcher_counters),
	ARRAY(summary.replacer_counters),
};

static const struct member *find(const struct member *members, size_t count,
				 const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(members[i].name, name))
			return &members[i];
	}
	return NULL;
}

static void *at(struct module *module, const struct member *member)
{
	return (char *)module + member->offset;
}

static bool set_setting(struct timed_device *device, const char *name, u64 value)
{
	u32 i;

	for (i = 0; i < nr_device_settings; i++) {
		if (!strcmp(device_settings[i].name, name)) {
			*sched_field_value(device, &device_settings[i]) = value;
			return value >= device_settings[i].min &&
			       value <= device_settings[i].max;
		}
	}
	return false;
}

bool module_set(struct module *module, const char *name, u64 value)
{
	const struct member *number = find(numbers, ARRAY_SIZE(numbers), name);

	if (!number)
		return set_setting(&module->device, name, value);
	memcpy(at(module, number), &value,
	       number->bytes); /* the low bytes come first */
	return number->bytes == sizeof(value) || !(value >> 8 * number->bytes);
}

void *module_array(struct module *module, const char *name, u32 bytes)
{
	const struct member *array = find(arrays, ARRAY_SIZE(arrays), name);
	void **address;

	if (!array || bytes % array->bytes)
		return NULL;
	address = at(module, array);
	port_free(*address);
	*address = port_zalloc(bytes);
	return *address;
}

void module_free(struct module *module)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		port_free(*(void **)at(module, &arrays[i]));
}
