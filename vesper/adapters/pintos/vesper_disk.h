/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VESPER_DISK_H
#define DEVICES_VESPER_DISK_H

void vesper_disk_init (void);
void vesper_disk_print_stats (void);

/* concurrent_read.c */
void concurrent_read (void);

#endif /* devices/vesper_disk.h */
