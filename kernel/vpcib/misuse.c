// SPDX-License-Identifier: GPL-2.0
/*
 * Reports what a driver does wrong to the kernel, or against a rule of its card: a record in the
 * journal, and a line in the kernel's log that begins with the record's number.  Of each kind,
 * MOST are reported.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>

#include "card.h"

#define MOST 64

static atomic_t counts[VPCIB_MISUSES];

static void note(u32 number, struct vpcib_access access, struct va_format *text)
{
	if (atomic_inc_return(&counts[access.value]) > MOST)
		return;
	access.what = VPCIB_MISUSE;
	pr_err("misuse, record %llu: %pV\n", journal_note_number(number, access), text);
}

/*
 * The caller fills in the record's value, an enum vpcib_misuse, and what else it knows.  Context:
 * any.
 */
void misuse_note(u32 number, struct vpcib_access access, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list arguments;

	va_start(arguments, format);
	text.va = &arguments;
	note(number, access, &text);
	va_end(arguments);
}

void vpcib_mistake(struct vpcib_card *card, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list arguments;

	va_start(arguments, format);
	text.va = &arguments;
	note(card->number,
	     (struct vpcib_access){ .value = VPCIB_BREAKS_RULE, .context = VPCIB_CARD },
	     &text);
	va_end(arguments);
}
EXPORT_SYMBOL_GPL(vpcib_mistake);
