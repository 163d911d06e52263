import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import { isSameHostChoice, isSameSelector } from '../model/selector.ts';
import type { Machine } from './machine.ts';
import type { PreparedAccount } from './prepare-account.ts';

/** Entries that are compared without a break: a few milliseconds. */
const atATime = 500;

/** Whether the two would poll the same, in the same way. */
export async function isSamePrepared(
  left: PreparedAccount,
  right: PreparedAccount,
  { nextTurn }: Pick<Machine, 'nextTurn'>,
): Promise<boolean> {
  if (left.entries.length !== right.entries.length) return false;
  if (!isDeepStrictEqual([left.account, left.wire], [right.account, right.wire])) return false;
  for (const [index, entry] of right.entries.entries()) {
    if (index % atATime === atATime - 1) await nextTurn();
    const other = left.entries[index];
    if (other === undefined || !isSameEntry(entry, other)) return false;
  }
  return true;
}

function isSameEntry(left: AppEntry, right: AppEntry): boolean {
  const { selector, hosts, ...rest } = left;
  const { selector: otherSelector, hosts: otherHosts, ...otherRest } = right;
  return (
    isSameSelector(selector, otherSelector) &&
    isSameHostChoice(hosts, otherHosts) &&
    isDeepStrictEqual(rest, otherRest)
  );
}
