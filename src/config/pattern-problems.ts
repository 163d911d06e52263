import { errorAt, type Problem } from './diagnostic.ts';
import { type Located, mapsUnder, textEntry } from './located.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

function problemOf(source: string, compile: CompilePattern): string | undefined {
  try {
    compile(source);
    return undefined;
  } catch (error) {
    // The engine repeats the whole expression behind what is wrong with it.
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^error parsing regexp: /u, '').replace(/: `.*`$/su, '');
  }
}

/** The regular expressions that cannot be used. An empty one is left to the schema. */
export async function patternProblems(root: Located): Promise<readonly Problem[]> {
  const patterns = mapsUnder(root, 'apps')
    .map((app) => textEntry(app, 'match'))
    .filter((entry) => entry !== undefined && entry.text !== '');
  if (patterns.length === 0) return [];
  const compile = await loadPatternCompiler();
  return patterns.flatMap((entry) => {
    if (entry === undefined) return [];
    const problem = problemOf(entry.text, compile);
    const help = 'the syntax is that of RE2, as in Prometheus';
    return problem === undefined
      ? []
      : [errorAt(entry.span, `"match" is not a valid regular expression: ${problem}`, help)];
  });
}
