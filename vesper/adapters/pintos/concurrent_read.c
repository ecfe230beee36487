// SPDX-License-Identifier: MIT
/* The program of the Vesper assignments (SIGCSE 2006 section 3.1) in the kernel of Pintos: ten threads
   read ten files of 10 KB, ten bytes at a time. A new file in devices/; call concurrent_read() when the
   file system is there, before run_actions(). */

#include "devices/vesper_disk.h"
#include <debug.h>
#include <stdio.h>
#include "devices/timer.h"
#include "filesys/file.h"
#include "filesys/filesys.h"
#include "threads/synch.h"
#include "threads/thread.h"

#define FILES 10
#define FILE_BYTES 10000
#define READ_BYTES 10

static struct semaphore finished;

static void
write_file (const char *name, int number)
{
  static char bytes[500];
  struct file *file;
  int i;

  for (i = 0; i < (int) sizeof bytes; i++)
    bytes[i] = 'a' + number;
  if (!filesys_create (name, FILE_BYTES) || (file = filesys_open (name)) == NULL)
    PANIC ("concurrent_read: no room for %s", name);
  for (i = 0; i < FILE_BYTES; i += sizeof bytes)
    ASSERT (file_write (file, bytes, sizeof bytes) == sizeof bytes);
  file_close (file);
}

static void
read_file (void *file)
{
  char bytes[READ_BYTES], first = 0;
  int at;

  for (at = 0; at < FILE_BYTES; at += READ_BYTES)
    {
      ASSERT (file_read (file, bytes, READ_BYTES) == READ_BYTES);
      first = first != 0 ? first : bytes[0];
      ASSERT (bytes[READ_BYTES - 1] == first);
    }
  file_close (file);
  sema_up (&finished);
}

void
concurrent_read (void)
{
  char name[] = "file0";
  struct file *file[FILES];
  int64_t began;
  int i;

  sema_init (&finished, 0);
  for (i = 0; i < FILES; i++)
    {
      name[4] = '0' + i;
      write_file (name, i);
      file[i] = filesys_open (name);
      ASSERT (file[i] != NULL);
    }
  began = timer_ticks ();
  for (i = 0; i < FILES; i++)
    thread_create ("reader", PRI_DEFAULT, read_file, file[i * 7 % FILES]);
  for (i = 0; i < FILES; i++)
    sema_down (&finished);
  printf ("concurrent read: %lld ticks\n", timer_elapsed (began));
}
