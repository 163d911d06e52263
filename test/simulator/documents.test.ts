import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anAccount } from './account.ts';
import { sample, shapeOf } from './shape.ts';

function union(...shapes: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(shapes.flat())].toSorted();
}

function without(shape: readonly string[], paths: readonly string[]): readonly string[] {
  return shape.filter((entry) => !paths.includes(entry));
}

describe('documents', () => {
  it('lists applications with exactly the members of the samples', () => {
    const { read } = anAccount();

    const shape = shapeOf(read('/v2/applications.json'));

    expect(shape).toEqual(
      union(
        shapeOf(sample('01-applications-list-ruby-2015.json')),
        shapeOf(sample('03-applications-list-python-2019.json')),
      ),
    );
  });

  it('gives a reporting application at least the members of the older sample', () => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'web', hosts: 3, webRpm: 100 }] });

    const shape = shapeOf(read('/v2/applications.json'));

    expect(shape).toEqual(shapeOf(sample('01-applications-list-ruby-2015.json')));
  });

  it('leaves out the same members of a silent application as the sample', () => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'not_reporting', hosts: 3 }] });

    const document = read('/v2/applications/1.json');

    expect(without(shapeOf(document), ['$.application.links.alert_policy: number'])).toEqual(
      shapeOf(sample('06-application-not-reporting-go.json')),
    );
    expect(document).toMatchObject({
      application: {
        reporting: false,
        health_status: 'gray',
        links: { application_hosts: [], application_instances: [] },
      },
    });
  });

  it('counts hosts and instances in the summary, and lists their ids in the links', () => {
    const hosts = [
      { id: 11, instances: 2 },
      { id: 12, instances: 1 },
    ];
    const { read } = anAccount({
      traffic: 'flat',
      applications: [{ id: 1, name: 'A', kind: 'both', hosts, webRpm: 54.7, otherRpm: 9 }],
    });

    expect(read('/v2/applications/1.json')).toMatchObject({
      application: {
        id: 1,
        name: 'A',
        reporting: true,
        last_reported_at: '2026-09-01T10:00:00+00:00',
        application_summary: {
          host_count: 2,
          instance_count: 3,
          concurrent_instance_count: 1,
          throughput: expect.closeTo(54.7, 0),
        },
        links: { application_hosts: [11, 12], servers: [] },
      },
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

  it('shows a single host', () => {
    const { read } = anAccount({
      traffic: 'flat',
      applications: [
        { id: 1, name: 'A', kind: 'web', webRpm: 22.2, hosts: [{ id: 11, name: 'ip-10-1-19-12' }] },
      ],
    });

    expect(read('/v2/applications/1/hosts/11.json')).toMatchObject({
      application_host: {
        id: 11,
        application_name: 'A',
        host: 'ip-10-1-19-12',
        links: { application: 1 },
      },
    });
  });

  it('has an empty list in the shape of the sample when a filter matches nothing', () => {
    const { read } = anAccount();

    const document = read('/v2/applications.json?filter[ids]=1');

    expect({ ...z.looseObject({}).parse(document), links: undefined }).toEqual(
      sample('07-applications-list-empty.json'),
    );
  });

  it.each([
    {
      what: 'a series of the default range',
      query: 'names[]=HttpDispatcher',
      file: '12-metric-data-HttpDispatcher-found-docs-2016.json',
    },
    {
      what: 'an unknown name',
      query: 'names[]=Foo',
      file: '13-metric-data-not-found-docs-2016.json',
    },
  ])('answers $what in the shape of the sample', ({ query, file }) => {
    const { read } = anAccount({ applications: [{ id: 1, kind: 'web', hosts: 2, webRpm: 100 }] });

    const shape = shapeOf(read(`/v2/applications/1/metrics/data.json?${query}`));

    expect(shape).toEqual(shapeOf(sample(file)));
  });
});
