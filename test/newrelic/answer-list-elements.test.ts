import { describe, expect, it } from 'vitest';
import { type CallSubject, listElementsOf } from '../../src/newrelic/answer.ts';
import { discoveryOf } from './an-application-list.ts';

const subject: CallSubject = { operation: 'list_hosts', applicationId: '1', hostId: undefined };
const elements = (count: number): readonly unknown[] => Array.from({ length: count }, () => 0);

describe('listElementsOf', () => {
  it.each([{ count: 0 }, { count: 200 }, { count: 1000 }])(
    'takes a page of $count',
    ({ count }) => {
      const list = elements(count);

      expect(listElementsOf({ application_hosts: list }, 'application_hosts', subject)).toBe(list);
    },
  );

  it('refuses a page that is longer, with the number', () => {
    const read = (): unknown =>
      listElementsOf({ application_hosts: elements(1001) }, 'application_hosts', subject);

    expect(read).toThrow('lists 1001 application_hosts on one page');
  });

  it.each([{ document: {} }, { document: { hosts: {} } }, { document: { hosts: null } }])(
    'refuses a document without a list: $document',
    ({ document }) => {
      expect(() => listElementsOf(document, 'hosts', subject)).toThrow('no list of hosts');
    },
  );

  it('keeps a list of applications that is too long from being looked at', async () => {
    const discovery = await discoveryOf({ applications: elements(1_000_000) });

    expect(discovery).toMatchObject({ applications: [], complete: false, logged: [] });
    expect(discovery.error).toMatchObject({ reason: 'schema' });
  });
});
