/** An instruction with its continuation lines joined; comments are gone. */
interface Instruction {
  readonly name: string;
  readonly rest: string;
}

function instructionsOf(text: string): readonly Instruction[] {
  return text
    .replaceAll(/^\s*#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(/\s+/u);
      return { name: name.toUpperCase(), rest: rest.join(' ') };
    });
}

function baseProblems(instructions: readonly Instruction[]): readonly string[] {
  const defaults = new Map(
    instructions
      .filter(({ name }) => name === 'ARG')
      .map(({ rest }) => [rest.split('=')[0] ?? '', rest.split('=')[1] ?? '']),
  );
  return instructions
    .filter(({ name }) => name === 'FROM')
    .flatMap(({ rest }) => {
      const base = /(?:--platform=\S+ )?(\S+)/u.exec(rest)?.[1] ?? '';
      const argument = /^\$\{(\w+)\}$/u.exec(base)?.[1];
      if (argument === undefined) return [`FROM ${base}: the base is no build argument`];
      const tag = /:([^:/@]+)(?:@sha256:[0-9a-f]{64})?$/u.exec(defaults.get(argument) ?? '')?.[1];
      return tag === undefined || tag === 'latest' ? [`ARG ${argument}: no fixed tag`] : [];
    });
}

function formProblems(instructions: readonly Instruction[]): readonly string[] {
  return instructions.flatMap(({ name, rest }) => {
    const command = name === 'HEALTHCHECK' ? rest.replace(/^.*?CMD /u, '') : rest;
    const needsExecForm = ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].includes(name);
    if (needsExecForm && !command.startsWith('[')) return [`${name}: not the exec form`];
    if (name === 'ADD') return ['ADD: COPY says what it does'];
    const secret = /\b\w*(?:KEY|TOKEN|PASSWORD|SECRET)\w*=/u.exec(rest)?.[0];
    if ((name === 'ENV' || name === 'ARG') && secret !== undefined) {
      return [`${name} ${secret}: a secret stays in the image`];
    }
    return [];
  });
}

/** What a Dockerfile of ours must not have; the linters know nothing of most of it. */
export function dockerfileProblems(text: string): readonly string[] {
  const instructions = instructionsOf(text);
  const lastFrom = instructions.findLastIndex(({ name }) => name === 'FROM');
  const final = instructions.slice(lastFrom);
  const user = final.findLast(({ name }) => name === 'USER')?.rest ?? '';
  const missing = ['ENTRYPOINT', 'HEALTHCHECK', 'LABEL', 'EXPOSE'].filter(
    (wanted) => !final.some(({ name }) => name === wanted),
  );
  return [
    ...baseProblems(instructions),
    ...formProblems(instructions),
    ...(/^[1-9]\d*:[1-9]\d*$/u.test(user) ? [] : [`USER ${user}: not numeric, or root`]),
    ...(final.some(({ name }) => name === 'RUN') ? ['RUN: the final image has no shell'] : []),
    ...missing.map((name) => `no ${name}`),
  ];
}
