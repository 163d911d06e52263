import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { chart } from './chart.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const raw = 'https://raw.githubusercontent.com/newrelic-exporter/newrelic-exporter/main/';
const pages =
  /^https:\/\/github\.com\/newrelic-exporter\/newrelic-exporter\/(?:blob|tree)\/main\//u;

const read = (path: string): string => readFileSync(join(chart, path), 'utf8');
const listIn = <Entry>(schema: z.ZodType<Entry>): z.ZodType<readonly Entry[]> =>
  z.string().transform((text) => z.array(schema).min(1).parse(parse(text)));

const metadata = z
  .object({
    version: z.string(),
    appVersion: z.string(),
    icon: z.string(),
    annotations: z.object({
      'artifacthub.io/license': z.string(),
      'artifacthub.io/category': z.literal('monitoring-logging'),
      'artifacthub.io/links': listIn(z.strictObject({ name: z.string(), url: z.string() })),
      'artifacthub.io/changes': listIn(
        z.strictObject({
          kind: z.enum(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']),
          description: z.string(),
        }),
      ),
      'artifacthub.io/images': listIn(z.strictObject({ name: z.string(), image: z.string() })),
      'artifacthub.io/screenshots': listIn(z.strictObject({ title: z.string(), url: z.string() })),
    }),
  })
  .parse(parse(read('Chart.yaml')));

/** The part of an address below the repository. */
function pathIn(url: string): string {
  if (url.startsWith(raw)) return url.slice(raw.length);
  if (pages.test(url)) return url.replace(pages, '');
  throw new Error(`${url} is not in this repository`);
}

describe('Chart.yaml', () => {
  const { annotations } = metadata;

  it.each([
    metadata.icon,
    ...annotations['artifacthub.io/links'].map(({ url }) => url),
    ...annotations['artifacthub.io/screenshots'].map(({ url }) => url),
  ])('leads to what is in the repository: %s', (url) => {
    expect(existsSync(join(root, pathIn(url)))).toBe(true);
  });

  it('names the image that the chart runs', () => {
    const { image } = parse(read('values.yaml')) as {
      readonly image: { readonly registry: string; readonly repository: string };
    };

    expect(annotations['artifacthub.io/images']).toEqual([
      {
        name: 'newrelic-exporter',
        image: `${image.registry}/${image.repository}:${metadata.appVersion}`,
      },
    ]);
  });
});
