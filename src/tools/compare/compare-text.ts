import { countOf, countText, printable } from '../../model/shown-text.ts';
import { aligned } from '../survey/plain-text.ts';
import {
  type AccountComparison,
  type ComparedAccount,
  isObjection,
  type OneSidedApplication,
} from './compare-account.ts';
import {
  type ComparedValue,
  changeOf,
  type Disagreement,
  disagreements,
  type OfBoth,
  unknownHosts,
  type Verdict,
  verdicts,
} from './compare-values.ts';

/**
 * A comparison for people: the accounts, the values, and one sentence.
 *
 * @param all whether to show every value that agrees
 */
export function comparisonText(
  accounts: readonly AccountComparison[],
  { sentence }: Judgement,
  all: boolean,
): string {
  const compared = accounts.filter((account) => account.kind === 'compared');
  const values = compared.flatMap((account) => account.values);
  return [
    ...compared.flatMap((account) => [...accountLines(account), '']),
    ...tableLines(values, all),
    sentence,
    '',
  ].join('\n');
}

function accountLines(account: ComparedAccount): readonly string[] {
  const { applications, hosts, shortOfHosts, calls, elapsedMs, oneSided, renamed, values } =
    account;
  const facts = [
    ['applications', bothText(applications, countText)],
    ...oneSided.map((one) => [oneSidedTitle(one), oneSidedText(one)]),
    ...renamed.map(({ id, rest, nerdgraph }) => [
      'other name',
      `${id}: REST ${printable(rest)}, NerdGraph ${printable(nerdgraph)}`,
    ]),
    ['hosts', bothText(hosts, countText)],
    ...shortOfHosts.map((one) => [
      'few hosts',
      `${one.id} ${printable(one.name)}: ${bothText(one, countText)}`,
    ]),
    ['values', verdictsText(values)],
    ['calls', bothText(calls, countText)],
    ['time', bothText(elapsedMs, (ms) => `${Math.max(1, Math.round(ms / 1000))} s`)],
  ];
  return [`account ${account.account}`, ...aligned(facts).map((line) => `  ${line}`)];
}

function bothText({ rest, nerdgraph }: OfBoth<number>, textOf: (value: number) => string): string {
  return `REST ${textOf(rest)}, NerdGraph ${textOf(nerdgraph)}`;
}

function oneSidedTitle({ onlyIn }: OneSidedApplication): string {
  if (onlyIn === 'unclear') return 'not found yet';
  return onlyIn === 'rest' ? 'only REST' : 'only NerdGraph';
}

function oneSidedText({ id, name, reporting }: OneSidedApplication): string {
  return `${id} ${printable(name)}${reporting === false ? ', not reporting' : ''}`;
}

function verdictsText(values: readonly ComparedValue[]): string {
  const counts = countsOf(values);
  const parts = verdicts
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${countText(counts[verdict])} ${verdict}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** Enough to see that values are compared at all, and how. */
const agreeingShown = 10;

function tableLines(values: readonly ComparedValue[], all: boolean): readonly string[] {
  const agreeing = values.filter(isAgreeing);
  const others = values.filter((value) => !isAgreeing(value));
  const shown = all ? agreeing : agreeing.slice(0, agreeingShown);
  const rows = [...others, ...shown];
  if (rows.length === 0) return [];
  const header = [
    'account',
    'application',
    'host',
    'value',
    'REST',
    'NerdGraph',
    'difference',
    'verdict',
  ];
  const hidden = agreeing.length - shown.length;
  return [
    ...aligned(
      [header, ...rows.map(cellsOf)],
      ['left', 'left', 'left', 'left', 'right', 'right', 'right', 'left'],
    ),
    ...(hidden === 0 ? [] : [`and ${countText(hidden)} more that agree; --all shows them`]),
    '',
  ];
}

function isAgreeing({ verdict }: ComparedValue): boolean {
  return verdict === 'equal' || verdict === 'idle';
}

const none = '-';

function cellsOf(value: ComparedValue): readonly string[] {
  const { account, application, rest, nerdgraph, verdict, reason } = value;
  return [
    account,
    printable(application.name),
    hostText(value),
    gaugeText(value),
    rest === undefined ? none : valueText(rest),
    nerdgraph === undefined ? none : valueText(nerdgraph),
    differenceText(value),
    reason === undefined ? verdict : `${verdict}: ${printable(firstSentence(reason))}`,
  ];
}

function gaugeText({ series: { gauge, transactionType, labels } }: ComparedValue): string {
  const type = transactionType === undefined ? [] : [transactionType];
  const own = Object.entries(labels).map(([name, value]) => `${name}=${printable(value)}`);
  return [gauge.name.replace(/^newrelic_application_/u, ''), ...type, ...own].join(' ');
}

/** What follows is a remedy, which need not stand in every row. */
function firstSentence(reason: string): string {
  return reason.replace(/\. .*$/su, '');
}

function hostText({ host, hostIds }: ComparedValue): string {
  if (host === undefined) return none;
  if (host === unknownHosts) return 'all hosts';
  return hostIds > 1 ? `${printable(host)} (${hostIds} ids)` : printable(host);
}

function differenceText({ rest, nerdgraph, verdict }: ComparedValue): string {
  if (verdict !== 'differs' || rest === undefined || nerdgraph === undefined) return none;
  const sign = nerdgraph < rest ? '-' : '+';
  const share = rest === 0 ? '' : ` (${percentText(changeOf(rest, nerdgraph))})`;
  return `${sign}${valueText(Math.abs(nerdgraph - rest))}${share}`;
}

/** Twice as many digits as REST has. */
function valueText(value: number): string {
  return `${Number(value.toPrecision(6))}`;
}

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

function countsOf(values: readonly ComparedValue[]): Readonly<Record<Verdict, number>> {
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
    return `${countText(count)}${ofAll} ${predicateOf(verdict, count)}${largestOf(verdict, values)}`;
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
  if (accounts.length === 0) return 'there are no applications to compare';
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
      ? [`${countText(unread)} of ${valuesText(values.length)} could not be read`]
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
  const { idle } = countsOf(values);
  const agreeing = values.length - idle;
  const idleText =
    idle === 0
      ? ''
      : `; ${countText(idle)} ${idle === 1 ? 'is' : 'are'} 0 on one side and absent on the other`;
  const verb = values.length === 1 ? 'agrees' : 'agree';
  return `${countText(agreeing)} of ${valuesText(values.length)} ${verb} within REST's rounding${idleText}`;
}

function valuesText(count: number): string {
  return countOf(count, 'value', 'values', countText);
}

/** Two significant digits, but whole above 10 %. */
function percentText(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}
