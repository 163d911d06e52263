import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';

describe('what people write for commands and flags', () => {
  it.each([
    ...[
      ['check', '"check-config"'],
      ['validate', '"check-config"'],
      ['run', '"serve"'],
      ['apps', '"discover"'],
      ['config', '"print-config"'],
      ['--config', '"--config.file"'],
      ['--config=config.yaml', '"--config.file"'],
      ['-c', '"--config.file"'],
      ['-f', '"--config.file"'],
      ['--listen=:9126', '"--web.listen-address"'],
      ['--debug', '"--log.level"'],
    ].map(([word = '', meant = '']) => ({ argv: [word], says: `: did you mean ${meant}?` })),
    { argv: ['check-config', '-c', 'a.yaml'], says: '"-c": did you mean "--config.file"?' },
    { argv: ['help', 'backfil'], says: "unknown command 'backfil' (Did you mean backfill?)" },
  ])('is told what is meant: $argv', ({ argv, says }) => {
    const result = parseArguments(argv, {});

    expect(result).toMatchObject({ kind: 'error', message: expect.stringContaining(says) });
  });
});
