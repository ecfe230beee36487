// SPDX-License-Identifier: MIT
/* The file system's disk of Pintos with the timing of a real one: a new file in devices/.
   docs/vesper.md says which lines call it, and with which version of Pintos it was tried.

   vesper_disk_init() registers a block device before the one that holds the file system, and gives it
   that role. The data stay on the IDE disk, which moves them at once in virtual time; then the thread
   waits until the modelled disk would have been ready.

   The time is that of the processor's time stamp counter, whose rate is measured at the start. The
   interrupt is the real-time clock's, which Pintos does not use otherwise: it asks for 8,192 a second,
   so a request completes some 100 us late. */

#include "devices/vesper_disk.h"
#include <debug.h>
#include <stdint.h>
#include <stdio.h>
#include "devices/block.h"
#include "devices/timer.h"
#include "devices/vesper.h"
#include "threads/interrupt.h"
#include "threads/io.h"
#include "threads/synch.h"

#ifndef VESPER_PROFILE
#define VESPER_PROFILE "vesper-zoned"
#endif

#define RTC_INDEX 0x70
#define RTC_DATA 0x71
#define RTC_A 0x0a
#define RTC_B 0x0b
#define RTC_C 0x0c
#define RTC_IRQ 0x28
#define RTC_8192_HZ 0x23 /* in register A */
#define RTC_PERIODIC 0x40 /* in register B */

static struct vesper vesper;
static struct block *behind; /* where the data are */
static struct lock one_at_a_time;
static struct semaphore completion;
static uint64_t start; /* of the time stamp counter */
static uint64_t tenth; /* what it counts in a tenth of a second */
static uint64_t measured_ns, modelled_ns;

static void
check (int result)
{
  if (result != VESPER_OK)
    PANIC ("vesper: %s", vesper_error (result));
}

static uint8_t
rtc_read (uint8_t reg)
{
  outb (RTC_INDEX, reg);
  return inb (RTC_DATA);
}

static void
rtc_write (uint8_t reg, uint8_t value)
{
  outb (RTC_INDEX, reg);
  outb (RTC_DATA, value);
}

static uint64_t
counter (void)
{
  uint32_t low, high;

  asm volatile ("rdtsc" : "=a" (low), "=d" (high));
  return (uint64_t) high << 32 | low;
}

static uint64_t
now_ns (void)
{
  uint64_t since = counter () - start;

  return since / tenth * 100000000 + since % tenth * 100000000 / tenth;
}

static void
measure_counter (void)
{
  int64_t tick = timer_ticks ();

  while (timer_ticks () == tick)
    barrier ();
  tick = timer_ticks ();
  start = counter ();
  while (timer_ticks () < tick + TIMER_FREQ / 10)
    barrier ();
  tenth = counter () - start;
}

static void
rtc_interrupt (struct intr_frame *frame UNUSED)
{
  rtc_read (RTC_C); /* without this read there is no other interrupt */
  check (vesper_advance (&vesper, now_ns ()));
}

static void
completed (void *context UNUSED, const struct vesper_done *done)
{
  measured_ns += vesper_now_ns (&vesper) - done->issued_ns;
  modelled_ns += done->done_ns - done->issued_ns;
  sema_up (&completion);
}

/* Waits as long as a request takes. */
static void
wait_for_disk (block_sector_t sector, bool writes)
{
  enum intr_level old_level = intr_disable ();

  check (vesper_advance (&vesper, now_ns ()));
  check (writes ? vesper_write (&vesper, sector, 1, NULL)
                : vesper_read (&vesper, sector, 1, NULL));
  intr_set_level (old_level);
  sema_down (&completion);
}

static void
vesper_disk_read (void *aux UNUSED, block_sector_t sector, void *buffer)
{
  lock_acquire (&one_at_a_time);
  block_read (behind, sector, buffer);
  wait_for_disk (sector, false);
  lock_release (&one_at_a_time);
}

static void
vesper_disk_write (void *aux UNUSED, block_sector_t sector, const void *buffer)
{
  lock_acquire (&one_at_a_time);
  block_write (behind, sector, buffer);
  wait_for_disk (sector, true);
  lock_release (&one_at_a_time);
}

static struct block_operations operations =
  {
    vesper_disk_read,
    vesper_disk_write
  };

/* Gives the file system's disk the timing of a real one. Call it once, when disks have their roles. */
void
vesper_disk_init (void)
{
  static struct vesper_config config;
  block_sector_t size;

  behind = block_get_role (BLOCK_FILESYS);
  if (behind == NULL)
    return;
  size = block_size (behind);
  lock_init (&one_at_a_time);
  sema_init (&completion, 0);
  measure_counter ();
  config.profile = VESPER_PROFILE;
  config.blocks = size;
  config.block_bytes = BLOCK_SECTOR_SIZE;
  config.interrupt = completed;
  config.timing_only = 1;
  check (vesper_init (&vesper, &config));
  block_set_role (BLOCK_FILESYS,
                  block_register ("vesper", BLOCK_FILESYS, VESPER_PROFILE, size,
                                  &operations, NULL));
  intr_register_ext (RTC_IRQ, rtc_interrupt, "RTC");
  rtc_write (RTC_A, RTC_8192_HZ);
  rtc_write (RTC_B, rtc_read (RTC_B) | RTC_PERIODIC);
  rtc_read (RTC_C);
}

/* Prints what the disk has done. */
void
vesper_disk_print_stats (void)
{
  struct vesper_totals t;

  if (vesper_statistics (&vesper, &t) != VESPER_OK)
    return;
  printf ("Vesper: %llu requests, us: measured %llu, modelled %llu\n", t.requests,
          measured_ns / 1000, modelled_ns / 1000);
  printf ("Vesper: us: elapsed %llu, seek %llu, rotation %llu, transfer %llu, "
          "cache %llu, idle %llu\n",
          t.elapsed_ns / 1000, t.seek_ns / 1000, t.rotation_ns / 1000,
          t.transfer_ns / 1000, t.cache_ns / 1000, t.idle_ns / 1000);
}
