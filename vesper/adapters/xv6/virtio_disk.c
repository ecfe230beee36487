// SPDX-License-Identifier: MIT
//
// The disk of xv6-riscv with the timing of a real one: replaces kernel/virtio_disk.c, and keeps its
// functions. docs/vesper.md says which other lines change, and with which version it was tried.
//
// The file system's image is linked into the kernel, so the data are in memory. A request completes at
// an interrupt of the timer: the driver sets the CLINT's compare register to the time at which the disk
// is ready, if that is before the next tick of the clock.
//

#include "types.h"
#include "riscv.h"
#include "defs.h"
#include "param.h"
#include "memlayout.h"
#include "spinlock.h"
#include "sleeplock.h"
#include "fs.h"
#include "buf.h"
#include "vesper.h"

#ifndef VESPER_PROFILE
#define VESPER_PROFILE "vesper-zoned"
#endif
#define TIME_NS 100 // of the CLINT's clock on QEMU's machine virt, 10 MHz

extern char _binary_fs_img_start[]; // ld -r -b binary fs.img

static struct disk {
  struct spinlock lock;
  struct vesper vesper;
  int busy;           // a request is pending
  uint64 requests;    // and how long they took, for virtio_disk_report()
  uint64 measured_ns;
  uint64 modelled_ns;
} disk;

static uint64
now_ns(void)
{
  return *(volatile uint64*)CLINT_MTIME * TIME_NS;
}

// have the timer of this hart interrupt when the disk is ready.
static void
set_timer(void)
{
  volatile uint64 *compare = (uint64*)CLINT_MTIMECMP(cpuid());
  uint64 due = vesper_next_ns(&disk.vesper);

  if(due == VESPER_NEVER)
    return;
  due = (due + TIME_NS - 1) / TIME_NS;
  if(due < *compare)
    *compare = due;
}

static void
check(int result)
{
  if(result != VESPER_OK)
    panic((char*)vesper_error(result));
}

static struct buf *waiting;

static void
completed(void *context, const struct vesper_done *done)
{
  check(done->result);
  disk.requests++;
  disk.measured_ns += vesper_now_ns(&disk.vesper) - done->issued_ns;
  disk.modelled_ns += done->done_ns - done->issued_ns;
  disk.busy = 0;
  waiting->disk = 0;  // disk is done with buf
  wakeup(waiting);
  wakeup(&disk);
}

void
virtio_disk_init(void)
{
  static struct vesper_config config;

  initlock(&disk.lock, "vesper_disk");
  config.profile = VESPER_PROFILE;
  config.blocks = FSSIZE;
  config.block_bytes = BSIZE;
  config.interrupt = completed;
  config.memory = _binary_fs_img_start;
  config.now_ns = now_ns();
  check(vesper_init(&disk.vesper, &config));
}

void
virtio_disk_rw(struct buf *b, int write)
{
  acquire(&disk.lock);
  while(disk.busy)
    sleep(&disk, &disk.lock);
  disk.busy = 1;
  b->disk = 1;
  waiting = b;
  check(vesper_advance(&disk.vesper, now_ns()));
  if(write)
    check(vesper_write(&disk.vesper, b->blockno, 1, b->data));
  else
    check(vesper_read(&disk.vesper, b->blockno, 1, b->data));
  set_timer();
  while(b->disk == 1)
    sleep(b, &disk.lock);
  release(&disk.lock);
}

// called at each interrupt of the timer.
void
virtio_disk_intr(void)
{
  acquire(&disk.lock);
  check(vesper_advance(&disk.vesper, now_ns()));
  set_timer();
  release(&disk.lock);
}

// print what the disk has done; procdump() is a good place to call this function.
void
virtio_disk_report(void)
{
  struct vesper_totals t;

  vesper_statistics(&disk.vesper, &t);
  printf("disk " VESPER_PROFILE ": requests %d, us: measured %d, modelled %d\n",
         (int)disk.requests, (int)(disk.measured_ns / 1000), (int)(disk.modelled_ns / 1000));
  printf("us: elapsed %d, seek %d, rotation %d, transfer %d, cache %d, idle %d\n",
         (int)(t.elapsed_ns / 1000), (int)(t.seek_ns / 1000), (int)(t.rotation_ns / 1000),
         (int)(t.transfer_ns / 1000), (int)(t.cache_ns / 1000), (int)(t.idle_ns / 1000));
}
