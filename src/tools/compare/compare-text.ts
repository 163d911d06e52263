import { aligned } from '../../cli/one-shot.ts';
import { printable } from '../../model/line-text.ts';
import type { AccountComparison, ComparedAccount } from './compare-account.ts';
import type { OfBoth, OneSidedApplication } from './compare-lists.ts';
import { countsOf, type Judgement, numberText, percentText } from './compare-summary.ts';
import { type ComparedValue, unknownHosts } from './compare-values.ts';
import { changeOf, verdicts } from './compare-verdict.ts';

export interface ComparisonTextOptions {
  /** Whether to show every value that agrees. */
  readonly all: boolean;
}

/** A comparison for people: the accounts, the values, and one sentence. */
export function comparisonText(
  accounts: readonly AccountComparison[],
  { sentence }: Judgement,
  { all }: ComparisonTextOptions,
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
    ['applications', bothText(applications, numberText)],
    ...oneSided.map((one) => [oneSidedTitle(one), oneSidedText(one)]),
    ...renamed.map(({ id, rest, nerdgraph }) => [
      'other name',
      `${id}: REST ${printable(rest)}, NerdGraph ${printable(nerdgraph)}`,
    ]),
    ['hosts', bothText(hosts, numberText)],
    ...shortOfHosts.map((one) => [
      'few hosts',
      `${one.id} ${printable(one.name)}: ${bothText(one, numberText)}`,
    ]),
    ['values', valuesText(values)],
    ['calls', bothText(calls, numberText)],
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

function valuesText(values: readonly ComparedValue[]): string {
  const counts = countsOf(values);
  const parts = verdicts
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${numberText(counts[verdict])} ${verdict}`);
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
    ...(hidden === 0 ? [] : [`and ${numberText(hidden)} more that agree; --all shows them`]),
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

/** Requests per minute go by their transaction type alone. */
function gaugeText({ series: { gauge, transactionType, labels, preset } }: ComparedValue): string {
  const type = transactionType === undefined ? [] : [transactionType];
  if (preset === 'throughput') return type.join('');
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
