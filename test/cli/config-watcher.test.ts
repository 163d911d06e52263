import { afterEach, describe, expect, it } from 'vitest';
import { watchConfig } from '../../src/cli/config-watcher.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine, type FakeMachine } from '../support/fake-machine.ts';

interface Bench {
  readonly machine: FakeMachine;
  readonly files: Record<string, string>;
  /** The content at each call. */
  readonly changes: (string | undefined)[];
  readonly logger: FakeLogger;
}

const running: { machine: FakeMachine; done: Promise<void> }[] = [];

afterEach(async () => {
  for (const { machine, done } of running.splice(0)) {
    machine.stop();
    await done;
    expect(machine.clock.pendingTimers()).toBe(0);
  }
});

function aBench(): Bench {
  const files: Record<string, string> = { '/config.yaml': 'one' };
  const machine = createFakeMachine({ files });
  const logger = createFakeLogger();
  const changes: (string | undefined)[] = [];
  const done = watchConfig(
    { path: '/config.yaml', intervalMs: 30_000 },
    {
      machine,
      logger,
      changed: async () => {
        changes.push(files['/config.yaml']);
      },
    },
    machine.stopSignal,
  );
  running.push({ machine, done });
  return { machine, files, changes, logger };
}

describe('watchConfig', () => {
  it('does nothing while the content stays', async () => {
    const { machine, changes } = aBench();

    await machine.clock.advance(600_000);

    expect(changes).toEqual([]);
  });

  it('tells each new content once, whether it is good or not', async () => {
    const { machine, files, changes } = aBench();

    files['/config.yaml'] = 'two';
    await machine.clock.advance(300_000);
    files['/config.yaml'] = 'three';
    await machine.clock.advance(300_000);

    expect(changes).toEqual(['two', 'three']);
  });

  it('waits for a writer that is not done when the change is seen', async () => {
    const { machine, files, changes } = aBench();
    await machine.clock.advance(1000);

    files['/config.yaml'] = 'tw';
    await machine.clock.advance(29_500);
    files['/config.yaml'] = 'two';
    await machine.clock.advance(300_000);

    expect(changes).toEqual(['two']);
  });

  it('survives that the file is deleted and made anew, and warns once', async () => {
    const { machine, files, changes, logger } = aBench();
    await machine.clock.advance(1000);

    delete files['/config.yaml'];
    await machine.clock.advance(120_000);
    files['/config.yaml'] = 'two';
    await machine.clock.advance(60_000);

    expect(changes).toEqual(['two']);
    expect(logger.lines.map(({ message }) => message)).toEqual(['configuration file not readable']);
  });

  it('takes a file that came back unchanged for no change', async () => {
    const { machine, files, changes } = aBench();
    await machine.clock.advance(1000);

    delete files['/config.yaml'];
    await machine.clock.advance(60_000);
    files['/config.yaml'] = 'one';
    await machine.clock.advance(60_000);

    expect(changes).toEqual([]);
  });
});
