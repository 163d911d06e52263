import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectlValidate, schemaReport } from './api-schemas.ts';
import { block, scaledObject } from './autoscalers.ts';

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
  },
);

describe('the ScaledObject in the documents', () => {
  it('never takes an empty answer for 0, and never scales to zero', () => {
    expect(scaledObject.spec.triggers[0]?.metadata).toMatchObject({ ignoreNullValues: 'false' });
    expect(scaledObject.spec.minReplicaCount).toBeGreaterThan(0);
  });
});
