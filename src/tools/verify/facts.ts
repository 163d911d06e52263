import { own } from '../../model/own.ts';
import { calls, rowsOf } from './calls.ts';
import { type Fact, seen } from './fact.ts';
import { judgements } from './judgements.ts';

/**
 * Everything that the exporter believes of New Relic and can ask, in the order of reports. Rows end with the names of
 * their calls, and `?` behind those that they can do without. Without a judgement it is enough that calls are accepted.
 */
export const facts: readonly Fact[] = rowsOf(
  `
| nerdgraph-key-header | NerdGraph takes the key in \`Api-Key\` and in \`X-Api-Key\` | D of REST, I | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is | entities; entities, other header |
| nerdgraph-date | An answer of NerdGraph has a header \`Date\` | I | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` | entities |
| nerdgraph-account | The key sees the account in this region | D | \`discovery failed\`: \`auth\` | Nothing can be polled with NerdGraph. Now: correct \`account_id\` or \`region\` (\`check-config --online\` helps) | accounts |
| nerdgraph-count | A page has 200 entities, and \`count\` is the number on all pages | D; exactly: U | \`discovery failed\`: \`schema\`, with both numbers | Each discovery counts as incomplete, and nothing ends that is gone. Now: stay with \`source: rest\` | entities |
| nerdgraph-order | Entities come in the order of their names | V | none | A list of several pages may skip one. Now: nothing, the next list finds it | entities |
| nerdgraph-cursor | A cursor leads to other entities | D; lifetime: U | \`discovery failed\` for more than 200 applications | Lists of several pages are not complete. Now: choose applications by id | entities; entities, second page |
| nerdgraph-ids | \`domainId IN\` finds several ids, and leaves out an unknown one | I | \`newrelic_exporter_app_missing\`; if it is refused, \`newrelic_exporter_api_requests_total{operation="list_applications",code="400"}\` | An application that is chosen by its id is missing; if it is refused, each discovery reads the whole list as well. Now: choose it by \`match\` | entities by id |
| nerdgraph-names | \`name IN\` finds whatever the list has under one of several names | I | as for \`domainId IN\` | An application that is chosen by its name is missing; if it is refused, each discovery reads the whole list as well. Now: choose it by \`match\` | entities by name; entities |
| nerdgraph-tags | Tags have a key and a list of values | D | labels of tags are empty | Labels of \`tags\` stay empty. Now: write \`labels\` instead | entities |
| nerdgraph-error-rate | \`errorRate\` of the summary is a share, not a percentage | U | none: it is not published | It can be published only as a percentage. Now: nothing | entities; histogram; groups of null |
| nerdgraph-numbers | \`appId IN (1)\` finds the application without quotes | U | no application has values; \`compare\`: \`only REST\` | No application has values. Now: stay with \`source: rest\` | calls; calls by id in quotes |
| nerdgraph-app-id | \`appId\` in a row is a number, or a text of digits | U | \`poll failed\`: \`schema\`: a row cannot be read | Every poll fails. Now: stay with \`source: rest\` | calls |
| nerdgraph-facets | Facets are a list in the order of the query, and members of the row | V | \`poll failed\`: \`schema\` | Polls of hosts fail. Now: stay with \`source: rest\` | values of its hosts |
| nerdgraph-sums | Answers state \`totalResult\` and \`otherResult\`, and rows and others add up | V of the members, I of the sum | \`poll failed\`: \`schema\`, with both sums | Every answer counts as incomplete. Now: stay with \`source: rest\` | values of the application; values of its hosts |
| nerdgraph-window | Half an hour of whole minutes is answered as it was asked for | D of longer ones; I | \`newrelic_exporter_unexpected_answers_total{kind="window"}\` | Values are those of another window, divided by its length. Now: choose a \`window\` of whole five minutes | calls |
| nerdgraph-nothing | \`filter(count)\` of nothing is 0, \`filter(average)\` of nothing is null | D, I | times of 0 that REST does not have | What is idle has no series, or a time of 0. Now: nothing | functions of nothing |
| nerdgraph-heartbeat | Each host has \`Agent/MetricsReported/count\` | U | \`newrelic_exporter_unexpected_answers_total{kind="no_heartbeat"}\`; \`compare\`: \`few hosts\` | A host without calls has no series. Now: stay with \`source: rest\` if that matters | values of its hosts |
| nerdgraph-length | A query of 4000 characters is accepted | U | \`too_large\`, or \`client\` | Many applications take more calls. Now: nothing | query of 4000 characters |
| nerdgraph-too-long | The refusal of a query that is too long is known as one | U | \`poll failed\`: \`client\` | A query that is refused is not divided. Now: fewer \`metrics\` | query of 8000 characters; query of 16000 characters; query of 32000 characters; query of 64000 characters |
| nerdgraph-too-many | More than 5000 rows are refused | D | none | Queries could be larger. Now: nothing | too many rows |
| query-percentile | \`percentile(x, 95)\` is an object with the member \`95\` | V | \`newrelic_exporter_invalid_samples_total\` | Gauges of percentiles are absent. Now: \`check-config --online\` shows what comes | percentile |
| query-percentile-member | \`percentile(x, 95)['95']\` is a number | C, doubted | \`newrelic_exporter_invalid_samples_total\` | A gauge of that has no value. Now: write \`percentile(x, 95)\` | member of a percentile |
| query-apdex | \`apdex(x, t: 0.5)\` is an object of numbers with \`score\` | V | \`newrelic_exporter_invalid_samples_total\` | A gauge of it has no value. Now: work it out with \`filter(count(*), …)\` | Apdex |
| query-histogram | \`histogram(x, 10, 5)\` is an object of numbers | C | \`newrelic_exporter_invalid_samples_total\` | None: no gauge can be made of it. Now: nothing | histogram |
| query-null | Rows without the attribute of a FACET are in no group | I | a series with an empty label | There is a series of what has no such attribute. Now: \`WHERE … IS NOT NULL\` | groups of null; histogram |
| query-total | The total of a query has only what has the facet | U | \`query failed\`: \`schema\`, with both sums | Queries with FACET fail where something lacks the attribute. Now: \`WHERE … IS NOT NULL\` | groups of null; histogram |
| query-syntax | A syntax error is known as a fault of the query | C of the words, U of the class | \`query failed\`: \`server\` | It is retried, and asked again and again. Now: correct the query | syntax error |
| query-event-types | \`SHOW EVENT TYPES\` lists \`eventType\` | D | \`check-config --online\` names no event types | \`check-config\` gives less advice. Now: nothing | event types |
| series-windows | \`TIMESERIES w SLIDE BY s\` takes milliseconds, and has each whole window of the range | D of the words; U | \`backfill\` fails: \`schema\`: the answer lacks minutes | The past cannot be fetched. Now: do without \`backfill\` | sliding windows |
| series-values | A window of TIMESERIES has the values of a query without it | I | a seam between past and present | The past differs from the present. Now: do without \`backfill\` | sliding windows; calls |
| series-most | 366 windows are accepted | C | \`backfill\` takes more calls than it says | It divides what is refused. Now: nothing | 366 buckets |
| series-past | Ten days ago there are values by the hour | D of REST | \`backfill\` has steps, or no values | The old past is coarser, or gone. Now: begin eight days ago | hours of ten days ago |
| rest-key-header | REST takes a user key in \`Api-Key\` and in \`X-Api-Key\` | D | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is | applications; applications, other header |
| rest-date | An answer of REST has a header \`Date\` | C | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` | applications |
| rest-pages | A page has 200 applications, and \`Link\` names the next one | D | \`discovery failed\`: \`schema\` | Applications of later pages are not found. Now: choose applications by id | applications |
| rest-order | No application is on two pages | U | applications come and go | A list of several pages may lack some. Now: choose applications by id | applications; applications, second page |
| rest-ids | \`filter[ids]\` takes several ids, and leaves out an unknown one | V of several, U of unknown | \`newrelic_exporter_app_missing\` | Entries by id miss applications. Now: choose them by name | applications by id |
| rest-silent | An application that does not report has no hosts | C | series of hosts that ended | Hosts that are gone take calls. Now: nothing | applications |
| rest-host-names | \`hosts.json\` has a name for each listed host | D | \`host_name\` is the id | Some hosts show their id. Now: nothing | applications; hosts |
| rest-quota | Good answers have no header about the quota | D | none | The budget could follow New Relic's numbers. Now: nothing; please report it | applications |
| rest-whole | An answer about several metrics has the values of all | D says that it may not | \`newrelic_exporter_unexpected_answers_total{kind="values_missing"}\` | Each kind of metric takes a call of its own. Now: fewer \`metrics\`, or \`source: nerdgraph\` | rounded values; values of one metric |
| rest-raw | With \`raw=true\` nothing is rounded | V | \`compare\`: \`differs\` with \`raw: true\` | \`raw: true\` does nothing. Now: leave it out | values; values of the application? |
| rest-rounding | Values have three significant digits | C | \`compare\`: \`differs\` by little | \`compare\` finds differences that are none. Now: compare with \`raw: true\` | values; rounded values |
| rest-window | A window of whole minutes is answered as it was asked for, in one slice | C | \`poll failed\`: \`schema\`: another window | Polls fail. Now: \`window: default\` | rounded values |
| rest-shortest | A window of a minute is accepted | D | \`poll failed\`: \`client\` | \`window: 1m\` fails. Now: a longer \`window\` | a minute |
| rest-too-short | Less than a minute is refused with 422 | D | none: it is not asked | None. Now: nothing | half a minute |
| rest-longest | A window of a day is accepted | D | \`poll failed\`: \`client\` | Long windows fail. Now: a shorter \`window\` | a day |
| rest-not-found | An unknown metric is in \`metrics_not_found\`, beside values of others | D | \`poll failed\`: \`schema\` | A misspelt metric takes all others with it. Now: look at \`metrics\` of the configuration | an unknown metric |
| rest-own-window | New Relic's own window ended 1 to 6 minutes before | C | \`newrelic_application_window_end_timestamp_seconds\` | Values are later than they seem. Now: write a \`window\` | values of its own window |
| both-values | All presets of an application are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it | values; values of the application |
| both-host-values | All presets of a host are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it | values of a host; values of its hosts; hosts |
| both-host-names | NerdGraph's hosts have the names that REST lists | U | \`compare\`: \`only REST\` and \`only NerdGraph\` in pairs | \`host_name\` changes with the switch. Now: adapt what selects by it | hosts; values of its hosts |
`,
).map((cells) => {
  const [, id = '', fact = '', source = '', sign = '', differs = '', names = ''] = cells;
  const asked = names.split('; ').flatMap((name) => {
    const call = calls.find((one) => one.name === name.replace('?', ''));
    return call === undefined ? [] : { ...call, isNeeded: !name.endsWith('?') };
  });
  const see = own(judgements, id) ?? (() => seen(true, 'accepted'));
  return { id, fact, source, sign, differs, calls: asked, see };
});
