// SPDX-License-Identifier: GPL-2.0
/*
 * Reports what a driver does wrong to the kernel: a record in the journal, and a line in the
 * kernel's log that begins with the record's number.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "card.h"

/*
 * The caller fills in the record's value, an enum vpcib_misuse, and what else it knows.  Context:
 * any.
 */
void misuse_note(u32 slot, struct vpcib_access access, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list arguments;
	u64 number;

	access.what = VPCIB_MISUSE;
	number = journal_note_slot(slot, access);
	va_start(arguments, format);
	text.va = &arguments;
	pr_err("misuse, record %llu: %pV\n", number, &text);
	va_end(arguments);
}
