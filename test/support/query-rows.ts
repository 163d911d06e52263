/**
 * NerdGraph's answer to a request for a query that is grouped by `name`: so many rows, of which each has
 * a name of so many characters that is like those of all others at its end.
 */
export function answerOfRows(body: string, rows: number, characters: number): string {
  const [, begin, end] = /SINCE (\d+) UNTIL (\d+)/u.exec(body) ?? [];
  const [, query = ''] = /FROM (\w+)/u.exec(body) ?? [];
  const results = Array.from({ length: rows }, (_, index) => {
    const name = `${query} ${index} `.padEnd(characters, '0123456789');
    return { facet: name, name, n: index };
  });
  const timeWindow = { begin: Number(begin), end: Number(end) };
  const totalResult = { n: (rows * (rows - 1)) / 2 };
  const nrql = { results, totalResult, metadata: { facets: ['name'], timeWindow } };
  return JSON.stringify({ data: { actor: { account: { nrql } } } });
}
