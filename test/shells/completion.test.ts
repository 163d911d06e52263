import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { completionText } from '../../src/cli/completion.ts';
import { withFiles } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const execute = promisify(execFile);
const python = toolOrSkip('python3');

/**
 * Types into an interactive shell on a terminal, with the tab key where it is written. The program is a
 * function that says what it was called with. Prints these words as JSON.
 */
const typist = `
import json, os, pty, re, select, subprocess, sys, time
shell, folder, start, typed = sys.argv[1:5]
master, slave = pty.openpty()
argv = [shell, "--norc", "--noprofile", "-i"] if shell.endswith("bash") else [shell, "-f", "-i"]
child = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=folder, start_new_session=True,
                         env={"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb", "PS1": ""})
os.close(slave)
screen = ""
def read_until(pattern):
    global screen
    end = time.time() + 60
    while time.time() < end:
        found = re.search(pattern, screen)
        if found:
            return found
        if select.select([master], [], [], 0.1)[0]:
            screen += os.read(master, 65536).decode(errors="replace")
    sys.exit("the shell did not answer: " + screen)
def quiet():
    global screen
    # What is typed is echoed, and a tab that completes nothing rings the bell.
    select.select([master], [], [], 20)
    while select.select([master], [], [], 0.3)[0]:
        screen += os.read(master, 65536).decode(errors="replace")
os.write(master, (start + "; echo READ''Y\\n").encode())
read_until("READY")
while select.select([master], [], [], 0.3)[0]:
    os.read(master, 65536)
for part in filter(None, re.split("(<TAB>)", typed)):
    os.write(master, b"\\t" if part == "<TAB>" else part.encode())
    quiet()
os.write(master, b"\\n")
words = read_until(r"CALLED((?: <[^>]*>)*) END").group(1)
os.write(master, b"\\nexit\\n")
print(json.dumps(re.findall("<([^>]*)>", words)))
child.kill()
`;

const program = `newrelic-exporter() { printf 'CALL''ED'; printf ' <%s>' "$@"; printf ' END\\n'; }`;
const starts = {
  bash: `${program}; source ./completion`,
  zsh: `${program}; autoload -U compinit; compinit -u -D; source ./completion`,
} as const;

async function wordsAfter(shell: 'bash' | 'zsh', path: string, typed: string): Promise<unknown> {
  const files = { completion: completionText(shell), 'my-config.yaml': '' };
  return withFiles(files, async (folder) => {
    const args = ['-c', typist, path, folder, starts[shell], `newrelic-exporter ${typed}`];
    const { stdout } = await execute(python.path, args);
    return JSON.parse(stdout) as unknown;
  });
}

/** What is typed, and what the program is called with. */
const typings: readonly { readonly typed: string; readonly words: readonly string[] }[] = [
  { typed: 'sim<TAB>', words: ['simulate'] },
  { typed: 'completion zs<TAB>', words: ['completion', 'zsh'] },
  { typed: 'help heal<TAB>', words: ['help', 'healthcheck'] },
  { typed: 'plan my<TAB>', words: ['plan', 'my-config.yaml'] },
  { typed: '--log.l<TAB>deb<TAB>', words: ['--log.level=debug'] },
  { typed: '--log.level de<TAB>', words: ['--log.level', 'debug'] },
  { typed: '--config.file=my<TAB>', words: ['--config.file=my-config.yaml'] },
  { typed: 'discover -o ya<TAB>', words: ['discover', '-o', 'yaml'] },
  {
    typed: 'check-config --onl<TAB>my<TAB>',
    words: ['check-config', '--online', 'my-config.yaml'],
  },
  {
    typed: '--log.level=info dem<TAB>--demo.so<TAB>ner<TAB>',
    words: ['--log.level=info', 'demo', '--demo.source=nerdgraph'],
  },
  { typed: 'demo --demo.faults=slo<TAB>', words: ['demo', '--demo.faults=slow'] },
];

const bash = toolOrSkip('bash');
const zsh = toolOrSkip('zsh');
const fish = toolOrSkip('fish');

describe.each([
  { shell: 'bash' as const, tool: bash },
  { shell: 'zsh' as const, tool: zsh },
])('the completion of $shell', ({ shell, tool }) => {
  const skip = python.skip ? python : tool;

  it.skipIf(skip.skip).each(typings)(`makes $words of "$typed"${skip.note}`, async (typing) => {
    expect(await wordsAfter(shell, tool.path, typing.typed)).toEqual(typing.words);
  });

  it.skipIf(skip.skip)(`adds nothing where nothing fits${skip.note}`, async () => {
    expect(await wordsAfter(shell, tool.path, 'once --demo.ho<TAB>')).toEqual([
      'once',
      '--demo.ho',
    ]);
  });
});

describe.skipIf(fish.skip)(`the completion of fish${fish.note}`, () => {
  async function candidatesFor(line: string): Promise<readonly string[]> {
    const files = { completion: completionText('fish'), 'my-config.yaml': '' };
    return withFiles(files, async (folder) => {
      const script = 'source ./completion; complete -C $argv[1]';
      const { stdout } = await execute(
        fish.path,
        ['--no-config', '-c', script, `newrelic-exporter ${line}`],
        { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: folder } },
      );
      return stdout
        .split('\n')
        .filter((row) => row !== '')
        .map((row) => row.split('\t')[0] ?? '');
    });
  }

  it.each([
    { line: 'sim', candidates: ['simulate'] },
    { line: 'completion zs', candidates: ['zsh'] },
    { line: 'help heal', candidates: ['healthcheck'] },
    { line: 'plan my', candidates: ['my-config.yaml'] },
    { line: '--log.l', candidates: ['--log.level'] },
    { line: '--log.level de', candidates: ['debug'] },
    { line: '--log.level=de', candidates: ['--log.level=debug'] },
    { line: '--config.file my', candidates: ['my-config.yaml'] },
    { line: 'discover -o ya', candidates: ['yaml'] },
    { line: 'demo --demo.so', candidates: ['--demo.source'] },
    { line: 'once --demo.ho', candidates: [] },
    { line: 'once my', candidates: [] },
  ])('offers $candidates for "$line"', async ({ line, candidates }) => {
    expect(await candidatesFor(line)).toEqual(candidates);
  });
});
