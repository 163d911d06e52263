import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { goToolOrSkip } from '../support/go-tool.ts';
import type { Tool } from '../support/tools.ts';

const run = promisify(execFile);

export const kubectlValidate: Tool = goToolOrSkip('kubectl-validate');
/** Beside the tools: the definitions of custom resources. */
const customResources = join(dirname(kubectlValidate.path), '../custom-resources');

/** What the schemas of a version of Kubernetes and of custom resources have against files or a folder. */
export async function schemaReport(paths: readonly string[], version: string): Promise<string> {
  const args = ['--version', version, '--local-crds', customResources, ...paths];
  const { stdout, stderr } = await run(kubectlValidate.path, args, {
    env: { ...process.env, KUBECONFIG: '/dev/null' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => error as { readonly stdout: string; readonly stderr: string });
  return `${stdout}${stderr}`;
}
