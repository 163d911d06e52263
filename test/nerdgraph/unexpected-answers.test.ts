import { describe, expect, it } from 'vitest';
import { unexpectedAnswers } from '../../src/model/telemetry.ts';
import { createUnexpectedAnswers } from '../../src/nerdgraph/unexpected-answers.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function aBench() {
  const counted: string[] = [];
  const logger = createFakeLogger();
  const observer = {
    unexpected: (kind: string, count: number): void => {
      counted.push(`${kind} ${count}`);
    },
  };
  return { counted, logger, unexpected: createUnexpectedAnswers('main', { observer, logger }) };
}

describe('unexpected answers', () => {
  it('have a counter from the start, each kind of them', () => {
    expect(aBench().counted).toEqual(unexpectedAnswers.map((kind) => `${kind} 0`));
  });

  it('are counted every time, and logged loudly once for each kind, with the account', () => {
    const { counted, logger, unexpected } = aBench();
    counted.splice(0);

    unexpected.saw('row', { row: 'a: null' });
    unexpected.saw('window', {});
    unexpected.saw('row', { row: 'b: null' });

    expect(counted).toEqual(['row 1', 'window 1', 'row 1']);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'an answer was not as documented',
        fields: { account: 'main', kind: 'row', row: 'a: null' },
      },
      {
        level: 'warn',
        message: 'an answer was not as documented',
        fields: { account: 'main', kind: 'window' },
      },
      {
        level: 'debug',
        message: 'an answer was not as documented',
        fields: { account: 'main', kind: 'row', row: 'b: null' },
      },
    ]);
  });
});
