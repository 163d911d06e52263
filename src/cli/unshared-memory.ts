import { readFileSync } from 'node:fs';

/**
 * The memory that a process alone takes, as Linux tells it; `undefined` if the process has ended, or if
 * this is not Linux. Files that it has mapped are not in it, since the kernel can drop them.
 */
export function unsharedBytesOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = /^RssAnon:\s*(\d+) kB$/mu.exec(status)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
