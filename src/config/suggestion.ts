import { distance } from 'fastest-levenshtein';
import type { YAMLError } from 'yaml';
import { documentUrl } from '../model/shown-text.ts';

/**
 * The candidate that was probably meant by `word`, if one is near enough. The first letter is hardly ever
 * mistyped: with another one a word means something else, as `avg_time` and `min_time`.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const shorter = Math.min(word.length, candidate.length);
    // Two swapped letters count as two changes; two of a word under four letters would leave nothing in common.
    const limit = Math.max(shorter < 4 ? 1 : 2, Math.floor(shorter / 3));
    if (candidate.charAt(0).toLowerCase() !== lower.charAt(0)) continue;
    // The difference in length is a lower bound: it saves the comparison of hopeless pairs.
    if (Math.abs(word.length - candidate.length) > limit) continue;
    const found = distance(lower, candidate.toLowerCase());
    if (found <= limit && found < candidate.length && found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/** What people and other programs call our words: the first that is a candidate counts. */
const otherKeyWords: readonly (readonly [word: string, others: RegExp])[] = [
  ['id', /^(?:app(?:lication)?_id|guid)$/u],
  ['apps', /^(?:applications|services|targets|jobs|modules|scrape_configs)$/u],
  ['poll', /^(?:globals?|defaults)$/u],
  ['include', /^(?:imports?|\w+_files)$/u],
  ['name', /^(?:app(?:lication)?_?name|application|service)$/u],
  ['match', /regexp?$|^(?:pattern|filter)$/u],
  ['exclude', /^(?:ignored?|drop|deny|blacklist|except|skip|disabled?)$/u],
  ['interval', /^(?:scrape|poll|refresh)_interval$|^(?:period|frequency|every)(?:_\w+)?$/u],
  ['window', /^(?:range|length|lookback|since)(?:_\w+)?$/u],
  ['delay', /^(?:offset|lag|delay_\w+)$/u],
  ['timeout', /timeout/u],
  ['requests_per_minute', /^(?:rate_?limit|rps|rpm|qps|requests_per_second|budget)$/u],
  ['concurrency', /^(?:parallelism|workers|threads|max_concurren\w+)$/u],
  ['base_url', /^(?:url|api_url|endpoint|server)$/u],
  ['proxy_url', /proxy$/u],
  ['api_key_file', /^(?:\w+_)?(?:token|credentials|key|password|secret)_(?:file|path)$/u],
  ['ca_file', /^(?:ca|tls_ca|ca_?cert|ca_bundle)$|^(?:insecure|tls|ssl|verify|skip)(?:_|$)/u],
  ['tags', /tags$/u],
  ['constant_labels', /^(?:static|extra|const|custom)_labels$/u],
  ['labels', /^(?:(?:static|extra|const|constant|custom|key)_labels)$/u],
  ['nerdgraph', /^(?:graphql|nrql)$/u],
  ['rest', /^(?:rest_?)?(?:api_?)?v?2$/u],
  ['as', /^(?:metric_)?name$/u],
  ['nrql', /^(?:query|expr|sql)$/u],
  ['help', /^(?:desc(?:ription)?|documentation|doc)$/u],
  ['response_time', /^(?:latency|duration|rt)$/u],
  ['errors', /^errors?_(?:rate|count|per_minute)$/u],
  ['throughput', /^(?:rpm|requests(?:_per_minute)?)$/u],
  ['gov', /gov|fedramp/u],
  ['us', /^(?:usa|america|us[-_]?\d+|us-(?:east|west|central).*)$/u],
  ['eu', /^(?:europe|emea|eu[-_]?\d+|eu-(?:west|central|north|south).*)$/u],
  ['jp', /^(?:japan|tokyo|jp[-_]?\d+|ap-northeast.*)$/u],
  ['other', /^(?:background|non-?web|tasks?|workers?|jobs?)$/u],
  ['database', /^db$/u],
  ['memory', /^mem$/u],
  ['cpu', /^cpu_(?:usage|utilization)$/u],
  ['average_response_time', /^(?:avg|average|mean)$/u],
  ['max_response_time', /^max(?:imum)?$/u],
  ['min_response_time', /^min(?:imum)?$/u],
];

const percentile = /^p\d|percentile|median|histogram/iu;

/** Keys of other programs that have no key here, but another place: of the file, or of a query. */
const otherPlaces: readonly (readonly [beside: string, others: RegExp, help: string])[] = [
  [
    'accounts',
    /^(?:listen|web|port|address|bind|host)(?:_\w+)?$/u,
    'that is the flag --web.listen-address',
  ],
  ['accounts', /^log(?:ging|ger)?(?:_\w+)?$/u, 'that is the flag --log.level'],
  [
    'nrql',
    /^(?:facet|group_by|where|from|select|limit)$/u,
    'write it in "nrql", such as FACET host LIMIT 100',
  ],
  ['nrql', /^type$/u, 'remove it: what a query gives is a gauge'],
  ['metric', /^(?:type|usage)$/u, 'remove it: every metric is a gauge'],
];

/** The help for a word that is not one of the candidates. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.includes('response_time') && percentile.test(word)) {
    return `percentiles come from "queries": ${documentUrl('queries.md')}`;
  }
  const lower = word.toLowerCase();
  const place = otherPlaces.find(([one, others]) => others.test(lower) && candidates.includes(one));
  if (place !== undefined) return place[2];
  const [other] =
    otherKeyWords.find(([one, others]) => others.test(lower) && candidates.includes(one)) ?? [];
  const near = other ?? closest(word, candidates);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

const columnHelp = 'begin the keys of a map, and the entries of a list, in the same column';

/** What helps against errors of the syntax. */
export const syntaxHelp: Partial<Record<YAMLError['code'], string>> = {
  BAD_DQ_ESCAPE: 'use single quotes, in which a backslash is an ordinary character, or write \\\\',
  BAD_ALIAS: 'put a text that begins with * or & in quotes',
  BAD_INDENT: `${columnHelp}, and close every bracket`,
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: `put a value that holds ": " in quotes, and ${columnHelp}`,
  MISSING_CHAR: `write a blank behind each colon, close every quote and bracket, and ${columnHelp}`,
  MULTILINE_IMPLICIT_KEY: 'write "key: value", with a blank after the colon',
  UNEXPECTED_TOKEN:
    'put the whole value in quotes; a quote inside of single quotes is written twice',
  TAB_AS_INDENT: 'indent with spaces',
  TAG_RESOLVE_FAILED: 'only plain values are allowed: remove the tag',
};

/** What other programs replace: `${NAME}` or `$(NAME)` anywhere, `$NAME` as the whole text, or `{{ }}`. */
const variable =
  /\$\{([A-Za-z_]\w*)(?::?[-=?+][^}]*)?\}|\$\(([A-Za-z_]\w*)\)|^\$([A-Za-z_]\w*)(?=$|\/)|\{\{.*?\}\}/u;

/** What helps if a text holds a variable; `undefined` if it holds none. */
export function variableHelp(text: string): string | undefined {
  const found = variable.exec(text);
  if (found === null) return undefined;
  const name = found.slice(1).join('');
  const what = name === '' ? `templates such as ${found[0]}` : `variables such as $${name}`;
  return `${what} are not replaced in this file: write the value itself, or let another program such as envsubst fill in the file`;
}

/** What helps if there is no file for an entry of `include`; `undefined` if its form does not tell. */
export function pathHelp(path: string): string | undefined {
  const [braces, before, list, after] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/su.exec(path) ?? [];
  if (path.startsWith('~')) return '"~" is not replaced: write the whole path';
  if (/^\w+:\/\//u.test(path)) return 'only files are included: let another program download it';
  if (braces === undefined || list === undefined) return variableHelp(path);
  const each = list.split(',').map((one) => JSON.stringify(`${before}${one.trim()}${after}`));
  return `braces stand for themselves: write ${each.join(', ')}`;
}
