import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anAccount } from './account.ts';
import { sample, shapeOf } from './shape.ts';

function without(shape: readonly string[], paths: readonly string[]): readonly string[] {
  return shape.filter((entry) => !paths.includes(entry));
}

const range = 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:55:00Z&summarize=true';

describe('documents', () => {
  it('lists applications with exactly the members of the samples', () => {
    const { read } = anAccount();
    const samples = [
      '01-applications-list-ruby-2015.json',
      '03-applications-list-python-2019.json',
    ];

    const shape = shapeOf(read('/v2/applications.json'));

    const all = new Set(samples.flatMap((name) => shapeOf(sample(name))));
    expect(shape).toEqual([...all].toSorted());
  });

  it('leaves out the same members of a silent application as the sample', () => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'not_reporting', hosts: 3 }] });
    const list = z.object({ applications: z.tuple([z.unknown()]) });

    const [application] = list.parse(read('/v2/applications.json')).applications;

    expect(without(shapeOf({ application }), ['$.application.links.alert_policy: number'])).toEqual(
      shapeOf(sample('06-application-not-reporting-go.json')),
    );
    expect(application).toMatchObject({
      reporting: false,
      health_status: 'gray',
      links: { application_hosts: [], application_instances: [] },
    });
  });

  it('lists hosts like the sample, with the instance count that newer answers have', () => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'web', hosts: 2, webRpm: 100 }] });

    const shape = shapeOf(read('/v2/applications/1/hosts.json'));

    expect(
      without(shape, ['$.application_hosts[].application_summary.instance_count: number']),
    ).toEqual(
      without(shapeOf(sample('08-application-hosts-list-python-2014.json')), [
        '$.application_hosts[].links.server: number',
      ]),
    );
  });

  it('has an empty list in the shape of the sample when a filter matches nothing', () => {
    const document = anAccount().read('/v2/applications.json?filter[ids]=1');

    expect({ ...z.looseObject({}).parse(document), links: undefined }).toEqual(
      sample('07-applications-list-empty.json'),
    );
  });

  it.each([
    { name: 'HttpDispatcher', file: '12-metric-data-HttpDispatcher-found-docs-2016.json' },
    { name: 'Foo', file: '13-metric-data-not-found-docs-2016.json' },
  ])('answers for $name in the shape of the sample', ({ name, file }) => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'web', hosts: 2, webRpm: 100 }] });

    const shape = shapeOf(read(`/v2/applications/1/metrics/data.json?names[]=${name}&${range}`));

    expect(shape).toEqual(shapeOf(sample(file)));
  });
});
