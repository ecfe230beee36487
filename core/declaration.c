// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "broken.h"
#include "declaration.h"

static bool is_empty(const char *text)
{
	return !text || !*text;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool is_made_of(const char *name, const char *others)
{
	const char *other;

	for (; *name; name++) {
		if ((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9'))
			continue;
		for (other = others; *other && *other != *name; other++)
			;
		if (!*other)
			return false;
	}
	return true;
}

static bool is_longer_than(const char *name, u32 characters)
{
	u32 i;

	for (i = 0; i <= characters; i++) {
		if (!name[i])
			return false;
	}
	return true;
}

static bool name_is_good(const char *name, char *text)
{
	if (is_empty(name))
		return broken_by(text, "it has no name", "", "");
	if (is_longer_than(name, SCHED_NAME_MAX))
		return broken_number(text, "its name has more than ", SCHED_NAME_MAX,
				     " characters");
	if (!is_made_of(name, "-_"))
		return broken_by(text, "its name, ", name,
				 ", is not made of a-z, 0-9, - and _");
	if (*name == '-' || *name == '_')
		return broken_by(text, "its name, ", name,
				 ", does not begin with a letter or a digit");
	return true;
}

static bool field_is_good(const struct sched_field *field, bool tunable,
			  size_t state_size, char *text)
{
	const char *what = tunable ? "its tunable " : "its counter ";

	if (is_empty(field->name))
		return broken_by(text, what, "without a name", " needs one");
	if (!is_made_of(field->name, "_"))
		return broken_by(text, what, field->name,
				 " has a name that is not made of a-z, 0-9 and _");
	if (is_empty(field->help))
		return broken_by(text, what, field->name, " has no help");
	if (state_size < sizeof(u64) || field->offset > state_size - sizeof(u64))
		return broken_by(text, what, field->name, " lies outside its state");
	if (field->offset % sizeof(u64))
		return broken_by(text, what, field->name,
				 " is not an aligned u64 of its state");
	if (tunable && (field->initial < field->min || field->initial > field->max))
		return broken_by(text, what, field->name,
				 " has an initial value outside its range");
	return true;
}

static const struct sched_field *field_at(const struct declaration *d, u32 i)
{
	return i < d->nr_tunables ? &d->tunables[i] : &d->counters[i - d->nr_tunables];
}

/* Tunables and counters share a folder in sysfs, so all their names must differ. */
static bool names_differ(const struct declaration *d, u32 i, char *text)
{
	const struct sched_field *field = field_at(d, i);
	u32 k;

	for (k = 0; k < i; k++) {
		if (same(field->name, field_at(d, k)->name))
			return broken_by(text, "two of its fields have the name ",
					 field->name, "");
		if (field->offset == field_at(d, k)->offset)
			return broken_by(text, "its field ", field->name,
					 " lies where another one is");
	}
	return true;
}

bool declaration_check_fields(const struct declaration *d, char *text)
{
	u32 i;

	if ((d->nr_tunables && !d->tunables) || (d->nr_counters && !d->counters))
		return broken_by(
			text, d->tunables || !d->nr_tunables ? "counters" : "tunables",
			" is missing", "");
	if (d->nr_tunables > SCHED_FIELDS_MAX || d->nr_counters > SCHED_FIELDS_MAX)
		return broken_number(text, "it has more than ", SCHED_FIELDS_MAX,
				     " tunables or counters");
	for (i = 0; i < d->nr_tunables + d->nr_counters; i++) {
		if (!field_is_good(field_at(d, i), i < d->nr_tunables, d->state_size,
				   text) ||
		    !names_differ(d, i, text))
			return false;
	}
	return true;
}

bool declaration_check_names(const struct declaration *d, char *text)
{
	if (!name_is_good(d->name, text))
		return false;
	return !is_empty(d->summary) || broken_by(text, "it has no summary", "", "");
}
