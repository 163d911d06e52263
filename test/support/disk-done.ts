import { settle } from './fake-clock.ts';

/** As Node calls what it has asked the system to do with a file. */
const fileRequest = /^(?:FSReq|CloseReq)/u;

/** Resolves when no file is being read or written: a fake clock must stand still until then. */
export async function diskDone(): Promise<void> {
  // What has just ended is still counted in the same turn.
  await settle();
  while (process.getActiveResourcesInfo().some((name) => fileRequest.test(name))) {
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
    await settle();
  }
}
