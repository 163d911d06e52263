import { describe, expect, it } from 'vitest';
import { unexpectedAnswers } from '../../src/model/telemetry.ts';
import { createSurprises } from '../../src/nerdgraph/surprises.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function aBench() {
  const counted: string[] = [];
  const logger = createFakeLogger();
  const observer = {
    unexpected: (kind: string, count: number): void => {
      counted.push(`${kind} ${count}`);
    },
  };
  return { counted, logger, surprises: createSurprises({ observer, logger }) };
}

describe('surprises', () => {
  it('have a counter from the start, each kind of them', () => {
    expect(aBench().counted).toEqual(unexpectedAnswers.map((kind) => `${kind} 0`));
  });

  it('are counted every time, and logged loudly once for each kind', () => {
    const { counted, logger, surprises } = aBench();
    counted.splice(0);

    surprises.saw('row', { row: 'a: null' });
    surprises.saw('window', {});
    surprises.saw('row', { row: 'b: null' });

    expect(counted).toEqual(['row 1', 'window 1', 'row 1']);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'an answer was not as documented',
        fields: { kind: 'row', row: 'a: null' },
      },
      { level: 'warn', message: 'an answer was not as documented', fields: { kind: 'window' } },
      {
        level: 'debug',
        message: 'an answer was not as documented',
        fields: { kind: 'row', row: 'b: null' },
      },
    ]);
  });
});
