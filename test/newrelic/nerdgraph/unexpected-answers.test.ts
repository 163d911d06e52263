import { expect, it } from 'vitest';
import { unexpectedAnswers } from '../../../src/model/telemetry.ts';
import { createUnexpectedAnswers } from '../../../src/newrelic/nerdgraph/unexpected-answers.ts';
import { createFakeLogger } from '../../support/fake-logger.ts';

it('gives each kind of unexpected answer a counter from the start', () => {
  const counted: string[] = [];
  const unexpected = (kind: string, count: number): void => {
    counted.push(`${kind} ${count}`);
  };
  createUnexpectedAnswers('main', { observer: { unexpected }, logger: createFakeLogger() });

  expect(counted).toEqual(unexpectedAnswers.map((kind) => `${kind} 0`));
});
