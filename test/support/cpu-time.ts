/** CPU time that work takes, in milliseconds: unlike the time that passes, it is the same on a busy machine. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
