import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectlValidate, schemaReport } from './api-schemas.ts';
import { block, scaledObject } from './autoscalers.ts';

/**
 * What the triggers of KEDA 2.21 know, from the sources of its scalers: its schema takes any text as a
 * name here.
 */
const knownMetadata: Readonly<Record<string, readonly string[]>> = {
  prometheus: [
    'activationThreshold',
    'authModes',
    'awsRegion',
    'customHeaders',
    'identityOwner',
    'ignoreNullValues',
    'namespace',
    'query',
    'queryParameters',
    'serverAddress',
    'threshold',
    'timeout',
    'unsafeSsl',
  ],
  cpu: ['containerName', 'value'],
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-autoscaling-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function written(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

describe.skipIf(kubectlValidate.skip)(
  `the autoscalers in the documents${kubectlValidate.note}`,
  () => {
    const names = ['HorizontalPodAutoscaler', 'ScaledObject', 'TriggerAuthentication'];

    it.each(names)('%s: is what the schema of its API takes', async (name) => {
      const report = await schemaReport([await written(`${name}.yaml`, block(name))], '1.30');

      expect(report).toContain('OK');
      expect(report).not.toMatch(/error/iu);
    });

    it.each([
      { name: 'HorizontalPodAutoscaler', from: 'averageValue:', to: 'averageValues:' },
      { name: 'ScaledObject', from: 'failureThreshold:', to: 'failureThresholds:' },
      { name: 'ScaledObject', from: 'currentReplicasIfHigher', to: 'currentReplicasIfMore' },
      { name: 'TriggerAuthentication', from: 'parameter:', to: 'parameters:' },
    ])('$name: would be refused with $to', async ({ name, from, to }) => {
      const wrong = block(name).replace(from, to);

      expect(await schemaReport([await written(`${to}.yaml`, wrong)], '1.30')).toContain(
        to.replace(':', ''),
      );
    });
  },
);

describe('the ScaledObject in the documents', () => {
  it('has no setting that its triggers do not know', () => {
    const unknown = scaledObject.spec.triggers.flatMap(({ type, metadata }) =>
      Object.keys(metadata).filter((key) => knownMetadata[type]?.includes(key) !== true),
    );

    expect(scaledObject.spec.triggers.map(({ type }) => type)).toEqual(['prometheus', 'cpu']);
    expect(unknown).toEqual([]);
  });

  it('never takes an empty answer for 0, and never scales to zero', () => {
    expect(scaledObject.spec.triggers[0]?.metadata).toMatchObject({ ignoreNullValues: 'false' });
    expect(scaledObject.spec.minReplicaCount).toBeGreaterThan(0);
  });
});
