import { countOf } from '../../cli/one-shot.ts';
import type { AccountComparison, ComparedAccount } from './compare-account.ts';
import { isObjection, type OneSidedApplication } from './compare-lists.ts';
import type { ComparedValue } from './compare-values.ts';
import { changeOf, type Disagreement, disagreements, type Verdict } from './compare-verdict.ts';

/** Whether NerdGraph may replace REST. */
export interface Judgement {
  readonly safe: 'yes' | 'no' | 'unknown';
  /** Says whether, and why not. */
  readonly sentence: string;
}

/** A difference that was seen counts for more than something that was not compared. */
export function judgementOf(accounts: readonly AccountComparison[]): Judgement {
  const compared = accounts.filter((account) => account.kind === 'compared');
  const values = compared.flatMap((account) => account.values);
  const oneSided = compared.flatMap((account) => account.oneSided);
  const objections = [...valueObjections(values), ...listObjections(oneSided)];
  if (objections.length > 0) {
    return {
      safe: 'no',
      sentence: `Do not switch yet: ${objections.join(', ')}${rowsOf(values)}.`,
    };
  }
  const doubts = doubtsOf(accounts, compared);
  if (doubts !== undefined) {
    return { safe: 'unknown', sentence: `Switching cannot be judged: ${doubts}.` };
  }
  return { safe: 'yes', sentence: `Switching is safe: ${agreement(values)}.` };
}

export function countsOf(values: readonly ComparedValue[]): Readonly<Record<Verdict, number>> {
  const counts: Record<Verdict, number> = {
    equal: 0,
    idle: 0,
    differs: 0,
    'only REST': 0,
    'only NerdGraph': 0,
    'not read': 0,
  };
  for (const { verdict } of values) counts[verdict] += 1;
  return counts;
}

function valueObjections(values: readonly ComparedValue[]): readonly string[] {
  const counts = countsOf(values);
  const present = disagreements.filter((verdict) => counts[verdict] > 0);
  return present.map((verdict, index) => {
    const count = counts[verdict];
    const ofAll = index === 0 ? ` of ${valuesText(values.length)}` : '';
    return `${numberText(count)}${ofAll} ${predicateOf(verdict, count)}${largestOf(verdict, values)}`;
  });
}

function predicateOf(verdict: Disagreement, count: number): string {
  if (verdict === 'differs') return count === 1 ? 'differs' : 'differ';
  const place = verdict === 'only REST' ? 'REST' : 'NerdGraph';
  return `${count === 1 ? 'is' : 'are'} only in ${place}`;
}

function largestOf(verdict: Disagreement, values: readonly ComparedValue[]): string {
  if (verdict !== 'differs') return '';
  const changes = values
    .filter((value) => value.verdict === 'differs')
    .map(({ rest, nerdgraph }) => changeOf(rest, nerdgraph));
  const largest = changes.reduce((most, change) => Math.max(most, change), 0);
  return changes.length === 1
    ? ` (by ${percentText(largest)})`
    : ` (the largest by ${percentText(largest)})`;
}

function rowsOf(values: readonly ComparedValue[]): string {
  const counts = countsOf(values);
  const marks = disagreements.filter((verdict) => counts[verdict] > 0);
  return marks.length === 0 ? '' : `; see the rows marked ${marks.join(', ')}`;
}

function listObjections(oneSided: readonly OneSidedApplication[]): readonly string[] {
  return (['rest', 'nerdgraph'] as const).flatMap((onlyIn) => {
    const count = oneSided.filter((one) => isObjection(one) && one.onlyIn === onlyIn).length;
    if (count === 0) return [];
    const verb = count === 1 ? 'is' : 'are';
    const list = onlyIn === 'rest' ? 'REST' : 'NerdGraph';
    return [`${countOf(count, 'reporting application')} ${verb} only in the list of ${list}`];
  });
}

/** Why nothing can be said, if no difference was seen. */
function doubtsOf(
  accounts: readonly AccountComparison[],
  compared: readonly ComparedAccount[],
): string | undefined {
  const values = compared.flatMap((account) => account.values);
  const unread = countsOf(values)['not read'];
  const unclear = compared
    .flatMap((account) => account.oneSided)
    .filter(({ onlyIn }) => onlyIn === 'unclear').length;
  const uncompared = accounts.length - compared.length;
  const doubts = [
    ...(uncompared > 0
      ? [`${uncompared} of ${countOf(accounts.length, 'account')} could not be compared`]
      : []),
    ...(unread > 0
      ? [`${numberText(unread)} of ${valuesText(values.length)} could not be read`]
      : []),
    ...(unclear > 0
      ? [`New Relic has not said whether ${countOf(unclear, 'application')} of one list exists`]
      : []),
  ];
  if (doubts.length > 0) return doubts.join(', ');
  const unseen = [...hostDoubts(compared), ...compared.flatMap(idleDoubts)];
  return unseen.length === 0 ? undefined : unseen.join(', ');
}

function hostDoubts(compared: readonly ComparedAccount[]): readonly string[] {
  const count = compared.reduce((sum, { shortOfHosts }) => sum + shortOfHosts.length, 0);
  return count === 0
    ? []
    : [`NerdGraph has fewer than half of the hosts of ${countOf(count, 'application')}`];
}

/** A wrong question to NerdGraph and an idle account look alike, so only values above 0 show that they agree. */
function idleDoubts({
  account,
  values,
  asksForApplications,
  hosts,
}: ComparedAccount): readonly string[] {
  if (values.length === 0) {
    return [
      `neither REST nor NerdGraph has values of what the entries select in account ${account}`,
    ];
  }
  const busy = values.filter(isBusy);
  const idle = [
    ...(asksForApplications && busy.every(({ host }) => host !== undefined) ? ['application'] : []),
    ...(hosts.rest > 0 && busy.every(({ host }) => host === undefined) ? ['host'] : []),
  ];
  if (busy.length > 0 && idle.length === 0) return [];
  const what = busy.length === 0 ? 'nothing' : `no ${idle.join()}`;
  return [`${what} was busy in account ${account}: run compare again while there is traffic`];
}

function isBusy({ verdict, rest = 0, nerdgraph = 0 }: ComparedValue): boolean {
  return verdict === 'equal' && rest > 0 && nerdgraph > 0;
}

function agreement(values: readonly ComparedValue[]): string {
  const all = numberText(values.length);
  const { idle } = countsOf(values);
  const idleText =
    idle === 0
      ? ''
      : `; ${numberText(idle)} of them ${idle === 1 ? 'is' : 'are'} 0 on one side and absent on the other`;
  const verb = values.length === 1 ? 'agrees' : 'agree';
  return `${all} of ${valuesText(values.length)} ${verb} within REST's rounding${idleText}`;
}

/** With a comma for thousands: the counts go to some ten thousand. */
export function numberText(count: number): string {
  return count.toLocaleString('en-US');
}

function valuesText(count: number): string {
  return `${numberText(count)} ${count === 1 ? 'value' : 'values'}`;
}

/** Two significant digits, but whole above 10 %. */
export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}
