import { describe, expect, it } from 'vitest';
import { mergedApplication } from '../../src/model/application.ts';
import { anApplication } from '../support/builders.ts';

describe('mergedApplication', () => {
  it('is the known application when nothing of it has changed', () => {
    const known = anApplication({ hostIds: ['1', '2'], instances: 1 });

    const merged = mergedApplication(known, anApplication({ hostIds: ['1', '2'], instances: 1 }));

    expect(merged).toBe(known);
  });

  it.each([
    { what: 'another name', found: { name: 'renamed' }, sameHosts: true },
    { what: 'other instances', found: { instances: 2 }, sameHosts: true },
    { what: 'another host', found: { hostIds: ['1', '3'] }, sameHosts: false },
    { what: 'one host less', found: { hostIds: ['1'] }, sameHosts: false },
  ])('is as found, with the known list of hosts if it is the same: $what', (row) => {
    const parts = { hostIds: ['1', '2'], instances: 1 };
    const known = anApplication(parts);
    const found = anApplication({
      hostIds: [...parts.hostIds],
      instances: 1,
      ...row.found,
    });

    const merged = mergedApplication(known, found);

    expect(merged).toEqual(found);
    expect(merged.hostIds === known.hostIds).toBe(row.sameHosts);
  });

  it('keeps the known hosts where none are listed', () => {
    const known = anApplication({ hostIds: ['1', '2'] });

    expect(mergedApplication(known, anApplication({ hostIds: undefined })).hostIds).toBe(
      known.hostIds,
    );
  });
});
