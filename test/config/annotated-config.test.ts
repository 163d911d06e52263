import { describe, expect, it } from 'vitest';
import { parsed } from './parsed-annotated.ts';

describe('annotatedText', () => {
  it('has the origin of every value behind it', async () => {
    const { text } = await parsed('apps: [{ id: 1 }]');

    const lines = text.split('\n').filter((line) => line !== '' && !/^#|^\w+:$/u.test(line));
    expect(lines.filter((line) => !/ # (?:default|c\.yaml:1)$/u.test(line))).toEqual([]);
    expect(lines).toContain('  - id: 1 # c.yaml:1');
  });

  it('finds the metrics of poll if most entries have others', async () => {
    const file = `poll:
  metrics:
    - metric: M
      value: score
      as: x
apps:
  - id: 1
    metrics: &own
      - { metric: M, value: score, as: y }
  - { id: 2, metrics: *own }
  - id: 3`;

    const { text } = await parsed(file);

    expect(text).toContain('\n      as: "y" # c.yaml:9\n');
    expect(text).toContain('\n        as: x # c.yaml:5\n');
  });

  it('tells which metrics are those of the entry and which are those of poll', async () => {
    const file = `poll:
  metrics:
    - apdex
    - metric: M
      value: score
      as: x
      scale: 2
apps:
  - id: 1
  - id: 2
    metrics: [errors,
      cpu]
  - id: 3
    metrics:
      - memory
      - { metric: M, value: score, as: y }
  - id: 4
    interval: 5m`;

    const { text } = await parsed(file);

    const metrics = text
      .split('\n')
      .filter((line) => /apdex|cpu|memory|as:|scale:|metrics:|id:/u.test(line));
    expect(metrics.map((line) => line.trim())).toEqual([
      'metrics:',
      '- apdex # c.yaml:3',
      'as: x # c.yaml:6',
      'scale: 2 # c.yaml:7',
      '- id: 1 # c.yaml:9',
      '- id: 2 # c.yaml:10',
      'metrics: [ errors, cpu ] # c.yaml:11',
      '- id: 3 # c.yaml:13',
      'metrics:',
      '- memory # c.yaml:15',
      'as: "y" # c.yaml:16',
      'scale: 1 # default',
      '- id: 4 # c.yaml:17',
    ]);
  });
});
