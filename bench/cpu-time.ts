import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts the processor time of a process in hundredths of a second. */
const msPerTick = 10;

function threadMs(path: string): number {
  const [onCpu = '0'] = readFileSync(`${path}/schedstat`, 'utf8').split(' ');
  return Number(onCpu) / 1e6;
}

/** CPU time of the main thread of this process: other work on the machine does not count. */
export function mainThreadMs(): number {
  return threadMs(`/proc/self/task/${process.pid}`);
}

/** CPU time of the threads that a process has now, to the microsecond. */
export function threadsMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + threadMs(`/proc/${pid}/task/${thread}`), 0);
}

/** CPU time of all threads that a process has had, to the hundredth of a second. */
export function processMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold blanks; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

function statusMb(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`^${name}:\\s+(\\d+)`, 'mu').exec(status)?.[1]) * 1024) / 1e6;
}

/** What is resident, and the part of it that no file stands behind. */
export function memoryMb(pid: number): { readonly rss: number; readonly anonymous: number } {
  return { rss: statusMb(pid, 'VmRSS'), anonymous: statusMb(pid, 'RssAnon') };
}

/** The most that was resident so far. */
export function peakRssMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}
