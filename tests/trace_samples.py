# SPDX-License-Identifier: MIT
"""Samples of formats of traces, made by hand after the tools' own output."""

SPC = b"0,303567,3584,w,0.000000\n1,55590,3072,W,0.026214\n0,0,1,r,0.5\n"
MQSIM = b"48513000 0 1274296 8 1\n48513900  1\t8 1 0\n48514000 0 0 2 1\n"
DISKSIM = b"0.047912 0 1274296 8 1\n0.5 1 8 1 4\n1.25 0 0 2 3\n"
FIU = b"""\
89966104381 4892 syslogd 904265560 8 W 6 0 531e779c5ed2
89967181297 4892 syslogd 904265568 8 R 6 0 ffff0000
"""
FTRACE = b"""\
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
    dd-4120    [001] .....   100.000000: block_rq_issue: 8,0 R 4096 () 2048 + 8 none,0,0 [dd]
          <idle>-0       [001] ..s1.   100.004000: block_rq_complete: 8,0 R () 2048 + 8 none,0,0 [0]
CPU:1 [LOST 7 EVENTS]
 kworker/0:1H-56 (  56)  [000] ....    100.005000: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [x]
 jbd2/sda1-8-99          [001] .....   100.005001: sched_switch: prev_comm=x
 jbd2/sda1-8-99          [001] .....   100.005001: block_bio_queue: 8,16 WS 2056 + 8 [jbd2]
 jbd2/sda1-8-99          [001] .....   100.005100: block_rq_issue: 8,16 WS 4096 () 2056 + 8 [jbd2]
          <idle>-0       [001] ..s1.   100.009500: block_rq_complete: 8,16 WS () 2056 + 8 [0]
"""
PERF = b"""\
             fio 12001 [002]  5000.100000: block:block_rq_issue: 259,0 R 4096 () 81920 + 8 [fio]
         swapper     0 [002]  5000.100090: block:block_rq_complete: 259,0 R () 81920 + 8 [0]
   web worker 7/9 [002]  5000.100100123: block:block_rq_issue: 259,0 W 4096 () 81928 + 8 [fio]
         swapper     0 [002]  5000.100130123: block:block_rq_complete: 259,0 W () 81928 + 8 [0]
"""
NVME = b"""\
  fio-901  [003] .....   400.000000: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=101, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=2048, len=7, ctrl=0x0, dsmgmt=0, reftag=0)
  fio-901  [003] .....   400.000010: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=5, cmdid=101, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0)
  fio-901  [003] .....   400.000020: nvme_setup_cmd: nvme0: qid=0, cmdid=3, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_admin_identify cns=1, ctrlid=0)
  <idle>-0 [003] d.h1.   400.000085: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4, cmdid=101
  <idle>-0 [003] d.h1.   400.000086: nvme_complete_rq: nvme0: disk=nvme0n1, qid=5, cmdid=101
  <idle>-0 [003] d.h1.   400.000087: nvme_complete_rq: nvme0: disk=nvme0n1, qid=5, cmdid=999
"""
BIOSNOOP = b"""\
Tracing block device I/O... Hit Ctrl-C to end.
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)
0.000004    supervise      1950   xvda1   W 13092560   4096      0.74
0.000178    Web Content    0      xvda1   R 13092432   512       0.61
1.446701    ?              0      xvda1   WS 0         0         2.00
Possibly lost 3 samples
^C
"""
BIOSNOOP_QUEUE = b"""\
TIME(s)     COMM           PID    DISK    T    SECTOR     BYTES   QUE(ms) LAT(ms)
3.000004    dd             7      nvme0n1 RA   16         8192    0.250   1.500
"""
BIOSNOOP_BT = b"""\
Attaching 4 probes...
TIME(ms)     DISK    COMM             PID    LAT(ms)
611          nvme0n1 bash             4179        10
627          nvme0n1 Web Content      4179         0
"""
BIOSNOOP_IDS = b"""\
TIME(ms)     DISK ID        COMM             PID    LAT(ms)
             MAJOR MINOR
611          259   0        bash             4179        10
"""
ETW = b"""\
BeginHeader
   DiskRead,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
  DiskWrite,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
  DiskFlush,  TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime,  DiskNum
EndHeader
OS Version: 10.0.1
   DiskRead,  8612, xperf.exe (3984), 11844, 1, 0xffff, 0x018f0b8000, 0x00001000, 283, 0, \
0x060043, 183, 3, Original, 0xffff, "C:\\a, b"
  DiskFlush,  8700, System (4), 1, 0xffff, 9, 0
  DiskWrite,  9000, System (   4), 8, 1, 0xffff, 512, 1025, 300, 1, 0x1, 400, 3, Original, 0x0, "x"
"""
