// SPDX-License-Identifier: MIT
//
// The program of the Vesper assignments (SIGCSE 2006 section 3.1) for xv6: ten processes read ten
// files of 10 KB, ten bytes at a time. The first run writes the files.
//

#include "kernel/types.h"
#include "kernel/stat.h"
#include "kernel/fcntl.h"
#include "user/user.h"

#define FILES 10
#define FILE_BYTES 10000
#define READ_BYTES 10

static void
fail(char *what, char *name)
{
  printf("concread: %s %s failed\n", what, name);
  exit(1);
}

static void
write_file(char *name, int number)
{
  int fd = open(name, O_CREATE | O_WRONLY);
  char bytes[500];

  if(fd < 0)
    fail("create", name);
  memset(bytes, 'a' + number, sizeof(bytes));
  for(int at = 0; at < FILE_BYTES; at += sizeof(bytes)){
    if(write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
      fail("write", name);
  }
  close(fd);
}

static void
read_file(char *name, int number)
{
  int fd = open(name, O_RDONLY);
  char bytes[READ_BYTES];

  if(fd < 0)
    fail("open", name);
  for(int at = 0; at < FILE_BYTES; at += READ_BYTES){
    if(read(fd, bytes, READ_BYTES) != READ_BYTES || bytes[0] != 'a' + number)
      fail("read", name);
  }
  exit(0);
}

int
main(int argc, char *argv[])
{
  char name[] = "file0";
  struct stat st;
  int began;

  for(int i = 0; i < FILES; i++){
    name[4] = '0' + i;
    if(stat(name, &st) < 0 || st.size != FILE_BYTES)
      write_file(name, i);
  }
  began = uptime();
  for(int i = 0; i < FILES; i++){
    name[4] = '0' + i * 7 % FILES;
    if(fork() == 0)
      read_file(name, i * 7 % FILES);
  }
  for(int i = 0; i < FILES; i++)
    wait(0);
  printf("concread: %d ticks\n", uptime() - began);
  exit(0);
}
